/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of finished tasks, and the times of stages, devices and groups computed from them. */
#include "photons/runtime/task_log.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/scheduler.h"

static bool logging;

void task_log_begin(void) {
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  logging = true;
}

void task_log_end(void) { logging = false; }

/** To the log of a worker, whose own thread calls this function. */
static void add_record(uint32_t worker, const struct task_record *record) {
  struct task_log *log = worker_log(worker);
  if (log->count == log->capacity) {
    log->capacity = 2 * log->capacity + 256;
    log->record = reallocate(log->record, log->capacity, sizeof *log->record, "records of tasks");
  }
  log->record[log->count++] = *record;
}

void task_log_add(const struct stage *stage, uint32_t owner, uint64_t job) {
  const struct starpu_task *task = starpu_task_get_current();
  struct starpu_profiling_task_info *info = task ? task->profiling_info : NULL;
  if (!logging || !info) return;
  add_record(
      (uint32_t)info->workerid,
      &(struct task_record){.submit = 1e-6 * starpu_timing_timespec_to_us(&info->submit_time),
                            .start = 1e-6 * starpu_timing_timespec_to_us(&info->start_time),
                            .end = 1e-6 * starpu_timing_timespec_to_us(&info->end_time),
                            .predicted = task->predicted > 0.0 ? 1e-6 * task->predicted : NAN,
                            .owner = owner,
                            .stage = stage,
                            .job = job});
}

void task_log_add_part(const struct stage *stage, uint32_t owner, double start, double end) {
  if (logging)
    add_record(worker_number(), &(struct task_record){start, start, end, NAN, owner, stage, 0});
}

/** The start or the end of a task on a device. */
struct event {
  double time;
  const struct task_record *record;
  int change;
};

static int compare_events(const void *a, const void *b) {
  const struct event *x = a, *y = b;
  return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : y->change - x->change;
}

/**
 * Divide the time of a device among the tasks in its workers' logs.
 * @param weight  factor for the device's seconds in `owners`
 */
static void add_device(const uint32_t *workers, uint32_t n, double weight, struct usage *u,
                       const struct owner_seconds *owners) {
  size_t count = 0, events = 0;
  for (uint32_t i = 0; i < n; i++) count += worker_log(workers[i])->count;
  struct event *event = allocate(2 * count + 1, sizeof *event, "times of tasks");
  for (uint32_t i = 0; i < n; i++) {
    const struct task_log *log = worker_log(workers[i]);
    for (const struct task_record *r = log->record; r < log->record + log->count; r++) {
      event[events++] = (struct event){r->start, r, 1};
      event[events++] = (struct event){r->end, r, -1};
    }
  }
  qsort(event, events, sizeof *event, compare_events);
  /* starts sort before ends of the same time, so that a task of no length starts before it ends */
  const struct task_record **running = allocate(count + 1, sizeof(struct task_record *),
                                                "running tasks");
  double busy = 0.0;
  size_t runs = 0;
  for (size_t i = 0; i < events; i++) {
    const double span = i > 0 ? event[i].time - event[i - 1].time : 0.0;
    if (runs > 0) busy += span;
    for (size_t k = 0; k < runs; k++) {
      u->seconds[running[k]->stage->number] += span / (double)runs;
      if (owners && running[k]->owner - owners->first < owners->count)
        owners->seconds[running[k]->owner - owners->first] += weight * span / (double)runs;
    }
    if (event[i].change > 0) {
      running[runs++] = event[i].record;
    } else {
      size_t k = 0;
      while (k < runs && running[k] != event[i].record) k++;
      if (k < runs) running[k] = running[--runs];
    }
  }
  u->busy += busy;
  u->busiest = fmax(u->busiest, busy);
  u->units++;
  free(running);
  free(event);
}

const char task_log_header[] =
    "step,worker,device,stage,group,submit_us,start_us,end_us,predicted_us,job";

static void write_rows(int64_t step, uint32_t worker, FILE *out) {
  const bool gpu = starpu_worker_get_type((int)worker) == STARPU_CUDA_WORKER;
  const struct task_log *log = worker_log(worker);
  for (const struct task_record *r = log->record; r < log->record + log->count; r++) {
    fprintf(out, "%" PRId64 ",%u,%s%d,%s,%" PRId64 ",%.3f,%.3f,%.3f", step, worker,
            gpu ? "GPU" : "CPU", starpu_worker_get_devid((int)worker), stage_name(r->stage),
            r->owner == NO_OWNER ? -1 : (int64_t)r->owner, 1e6 * r->submit, 1e6 * r->start,
            1e6 * r->end);
    fprintf(out, isnan(r->predicted) ? "," : ",%.3f", 1e6 * r->predicted);
    fprintf(out, ",%" PRIu64 "\n", r->job);
  }
}

void task_log_take(int64_t step, struct usage *cores, struct usage *gpus, FILE *rows,
                   const struct owner_seconds *owners) {
  *cores = *gpus = (struct usage){0};
  int device[STARPU_NMAXWORKERS];
  (void)stage_count(); /* sets the numbers of the stages */
  const uint32_t n = engine_workers(), gpu_count = scheduler_gpus(device);
  uint32_t *streams = allocate(n, sizeof *streams, "workers of a GPU");
  for (uint32_t g = 0; g < gpu_count; g++) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < n; w++)
      if (starpu_worker_get_type((int)w) == STARPU_CUDA_WORKER &&
          starpu_worker_get_devid((int)w) == device[g])
        streams[count++] = w;
    add_device(streams, count, fmax((double)starpu_cpu_worker_get_count() / gpu_count, 1.0), gpus,
               owners);
  }
  for (uint32_t w = 0; w < n; w++) {
    if (starpu_worker_get_type((int)w) == STARPU_CPU_WORKER) add_device(&w, 1, 1.0, cores, owners);
    if (rows) write_rows(step, w, rows);
    worker_log(w)->count = 0;
  }
  free(streams);
}

void task_log_forget_owners(void) {
  for (uint32_t w = 0; w < engine_workers(); w++) {
    const struct task_log *log = worker_log(w);
    for (size_t i = 0; i < log->count; i++) log->record[i].owner = NO_OWNER;
  }
}

void task_log_write_stages(FILE *out) {
  fprintf(out, "stage,family,colour\n");
  for (uint32_t i = 0; i < stage_count(); i++) {
    const struct stage *s = stage_at(i);
    fprintf(out, "%s,%s,#%06x\n", stage_name(s), s->family ? s->family : "other",
            s->codelet->color);
  }
}
