/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of finished tasks and what follows from them. */
#include "photons/runtime/task_log.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/runtime/scheduler.h"

static const char *const stage_names[STAGES] = {
    "rebuild", "sort",   "refit",   "ghost_cut", "ghost_paste", "p2m",       "m2m",       "walk",   "walk_fill",
    "p2p",     "m2l",    "l2l",     "l2p",       "pm_assign",   "patch_cut", "patch_add", "fft_yz", "fft_x",
    "ifft_yz", "pm_cut", "pm_read", "put",       "get",         "kick",      "drift"};

const char *stage_name(enum stage stage) { return stage_names[stage]; }

enum stage stage_named(const char *name) {
  int i = 0;
  while (i < STAGES && strcmp(name, stage_names[i]) != 0) i++;
  return (enum stage)i;
}

void task_log_begin(struct simulation *s) {
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  s->logging = true;
}

void task_log_end(struct simulation *s) {
  s->logging = false;
  for (uint32_t w = 0; w < s->worker_count; w++) {
    free(s->workers[w].log.record);
    s->workers[w].log = (struct task_log){0};
  }
}

void task_log_add(struct simulation *s, enum stage stage, uint32_t group) {
  const struct starpu_task *task = starpu_task_get_current();
  struct starpu_profiling_task_info *info = task ? task->profiling_info : NULL;
  if (!s->logging || !info || stage == STAGES) return;
  struct task_log *log = &s->workers[info->workerid].log; /* of the worker whose thread this is */
  if (log->count == log->capacity) {
    log->capacity = 2 * log->capacity + 256;
    log->record = reallocate(log->record, log->capacity, sizeof *log->record, "records of tasks");
  }
  log->record[log->count++] = (struct task_record){.submit = 1e-6 * starpu_timing_timespec_to_us(&info->submit_time),
                                                   .start = 1e-6 * starpu_timing_timespec_to_us(&info->start_time),
                                                   .end = 1e-6 * starpu_timing_timespec_to_us(&info->end_time),
                                                   .predicted = task->predicted > 0.0 ? 1e-6 * task->predicted : NAN,
                                                   .group = group,
                                                   .stage = stage};
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

/** Share the time of a device among the tasks that its workers' logs have. @param weight  of its seconds in those of groups */
static void add_device(struct simulation *s, const uint32_t *workers, uint32_t n, double weight, struct usage *u) {
  size_t count = 0, events = 0;
  for (uint32_t i = 0; i < n; i++) count += s->workers[workers[i]].log.count;
  struct event *event = allocate(2 * count + 1, sizeof *event, "times of tasks");
  for (uint32_t i = 0; i < n; i++) {
    const struct task_log *log = &s->workers[workers[i]].log;
    for (const struct task_record *r = log->record; r < log->record + log->count; r++) {
      event[events++] = (struct event){r->start, r, 1};
      event[events++] = (struct event){r->end, r, -1};
    }
  }
  qsort(event, events, sizeof *event, compare_events);
  /* starts come before ends of the same time: a task of no length is begun before it is ended */
  const struct task_record **running = allocate(count + 1, sizeof(struct task_record *), "running tasks");
  double busy = 0.0;
  size_t runs = 0;
  for (size_t i = 0; i < events; i++) {
    const double span = i > 0 ? event[i].time - event[i - 1].time : 0.0;
    if (runs > 0) busy += span;
    for (size_t k = 0; k < runs; k++) {
      u->seconds[running[k]->stage] += span / (double)runs;
      if (running[k]->group != NO_GROUP) s->groups[running[k]->group].seconds += weight * span / (double)runs;
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

const char task_log_header[] = "step,worker,device,stage,group,submit_us,start_us,end_us,predicted_us";

static void write_rows(const struct simulation *s, int64_t step, uint32_t worker, FILE *out) {
  const bool gpu = starpu_worker_get_type((int)worker) == STARPU_CUDA_WORKER;
  const struct task_log *log = &s->workers[worker].log;
  for (const struct task_record *r = log->record; r < log->record + log->count; r++)
    fprintf(out, "%" PRId64 ",%u,%s%d,%s,%" PRId64 ",%.3f,%.3f,%.3f,%.3f\n", step, worker, gpu ? "GPU" : "CPU",
            starpu_worker_get_devid((int)worker), stage_name(r->stage), r->group == NO_GROUP ? -1 : (int64_t)r->group,
            1e6 * r->submit, 1e6 * r->start, 1e6 * r->end, 1e6 * r->predicted);
}

void task_log_take(struct simulation *s, int64_t step, struct usage *cores, struct usage *gpus, FILE *rows) {
  *cores = *gpus = (struct usage){0};
  int device[STARPU_NMAXWORKERS];
  const uint32_t n = s->worker_count, gpu_count = scheduler_gpus(device);
  uint32_t *streams = allocate(n, sizeof *streams, "workers of a GPU");
  for (uint32_t g = 0; g < gpu_count; g++) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < n; w++)
      if (starpu_worker_get_type((int)w) == STARPU_CUDA_WORKER && starpu_worker_get_devid((int)w) == device[g])
        streams[count++] = w;
    add_device(s, streams, count, fmax((double)starpu_cpu_worker_get_count() / gpu_count, 1.0), gpus);
  }
  for (uint32_t w = 0; w < n; w++) {
    if (starpu_worker_get_type((int)w) == STARPU_CPU_WORKER) add_device(s, &w, 1, 1.0, cores);
    if (rows) write_rows(s, step, w, rows);
    s->workers[w].log.count = 0;
  }
  free(streams);
}
