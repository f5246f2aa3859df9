/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/task_graph.h"

#include <inttypes.h>

#include "photons/runtime/background.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/task_log.h"

static FILE *record;
static uint64_t jobs;

const char task_graph_header[] = "job,kind,stage,group,priority,lasts,begin_us,end_us,data";

void task_graph_record(FILE *out) { record = out; }

struct job job_begin(void) {
  if (background_here()) return (struct job){.number = 0};
  return (struct job){.number = ++jobs, .begin = record ? starpu_timing_now() : 0.0};
}

static const char *mode_name(enum starpu_data_access_mode mode) {
  return (mode & STARPU_RW) == STARPU_RW ? "rw" : mode & STARPU_W ? "w" : "r";
}

static void write_data(const struct starpu_data_descr *data, const char *before) {
  const struct data_home home = owner_home(data->handle);
  fprintf(record, "%s%p:%s:%zu", before, (void *)data->handle, mode_name(data->mode),
          starpu_data_get_size(data->handle));
  if (home.parts) fprintf(record, ":%u/%u%s", home.part, home.parts, home.shared ? "*" : "");
}

void job_end(struct job job, enum job_kind kind, const char *name, uint32_t group, int64_t priority,
             const struct starpu_data_descr *data, size_t count) {
  static const char *const kinds[] = {"task", "loop", "send", "receive", "wait", "acquire", "free"};
  if (!record || background_here()) return;
  fprintf(record, "%" PRIu64 ",%s,%s,%" PRId64 ",%" PRId64 ",%d,%.3f,%.3f,", job.number,
          kinds[kind], name, group == NO_OWNER ? -1 : (int64_t)group, priority, job.lasts,
          job.begin, starpu_timing_now());
  for (size_t i = 0; i < count; i++) write_data(&data[i], i > 0 ? " " : "");
  fprintf(record, "\n");
}

void job_end_data(struct job job, enum job_kind kind, starpu_data_handle_t data,
                  enum starpu_data_access_mode mode) {
  const struct starpu_data_descr one = {.handle = data, .mode = mode};
  job_end(job, kind, "", NO_OWNER, 0, &one, data ? 1 : 0);
}
