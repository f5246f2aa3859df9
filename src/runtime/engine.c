/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU's start and end, and the data that its workers keep between tasks. */
#include "photons/runtime/engine.h"

#include <hdf5.h>
#include <starpu.h>
#include <stdlib.h>
#include <string.h>

#include "memory_guard.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/gpu.h"
#include "photons/runtime/host_share.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/trace.h"
#include "start_guard.h"

enum { START_BYTES = 24 << 20 };

struct worker {
  struct gpu *gpu; /* CUDA workers only */
  struct task_log log;
  char padding[64]; /* so that workers do not share cache lines */
};

static struct {
  struct worker *workers;
  uint32_t worker_count, variant;
  bool gpu, heteroprio;
  struct pinned_pool *pool;
} engine;

#ifdef PHOTONS_CUDA
/** Count scratch memory as StarPU's, which otherwise fills nine tenths of the GPU with data that no
 * task may need again. */
static void count_scratch(int64_t bytes) {
  const unsigned node = starpu_worker_get_local_memory_node();
  if (bytes < 0)
    starpu_memory_deallocate(node, (size_t)-bytes);
  else if (starpu_memory_allocate(node, (size_t)bytes, STARPU_MEMORY_OVERFLOW) != 0)
    fail(EXIT_RUN_FAILED, "StarPU cannot count %lld bytes of a GPU's memory", (long long)bytes);
}
#endif

static void create_gpu(void *context) {
  (void)context;
  engine.workers[worker_number()].gpu = GPU_CALL(
      gpu_create(starpu_cuda_get_local_stream(), count_scratch));
}

static void free_gpu(void *context) {
  (void)context;
  GPU_CALL(gpu_free(worker_gpu()));
}

void engine_start(const struct parameters *p, struct trace *trace) {
  struct starpu_conf conf;
  host_share(p); /* before starpu_conf_init(), which reads the environment */
  const long workers = scheduler_check(p);
  if (starpu_conf_init(&conf) != 0)
    fail(EXIT_RUN_FAILED, "StarPU does not start: starpu_conf_init() failed");
  scheduler_configure(&conf, p);
  conf.catch_signals = 0;
  if (trace) trace_prepare(trace, p);
  /* Two threads more than workers. Libraries that get no memory abort, too: the least run has it. */
  start_guard_probe((unsigned)workers + 2, START_BYTES);
  start_guard_begin();
  if (H5open() < 0)
    fail(EXIT_RUN_FAILED, "HDF5 does not start: most likely memory does not suffice");
  const int status = starpu_init(&conf);
  start_guard_end();
  if (status != 0)
    fail(EXIT_RUN_FAILED, "StarPU does not start: %s; check the STARPU_* environment variables",
         strerror(-status));
  if (starpu_cpu_worker_get_count() == 0)
    fail(EXIT_RUN_FAILED, "StarPU has no CPU worker: check STARPU_NCPU and runtime.workers");
  engine.gpu = starpu_cuda_worker_get_count() > 0;
  if (p->runtime.gpu == GPU_REQUIRE && !engine.gpu)
    fail(EXIT_BAD_USAGE,
         "runtime.gpu = require, but StarPU uses no GPU: check that StarPU is built with CUDA");
  memory_guard_begin();
  scheduler_started();
  engine.heteroprio = scheduler_is_heteroprio();
  engine.worker_count = starpu_worker_get_count();
  engine.workers = allocate(engine.worker_count, sizeof *engine.workers, "workers");
  if (!engine.gpu) return;
  engine.pool = pinned_pool_create();
  engine_on_gpu_workers(create_gpu, NULL);
}

void engine_stop(void) {
  memory_guard_end();
  starpu_task_wait_for_all(); /* callbacks of loops may still be running */
  if (engine.gpu) engine_on_gpu_workers(free_gpu, NULL);
  pinned_pool_free(engine.pool);
  starpu_shutdown();
  for (uint32_t w = 0; w < engine.worker_count; w++) free(engine.workers[w].log.record);
  free(engine.workers);
  memset(&engine, 0, sizeof engine);
}

bool engine_gpu(void) { return engine.gpu; }
uint32_t engine_workers(void) { return engine.worker_count; }
struct pinned_pool *engine_pool(void) {
  return engine.pool;
}

uint32_t worker_number(void) { return starpu_worker_get_id_check(); }
struct gpu *worker_gpu(void) {
  return engine.workers[worker_number()].gpu;
}
struct task_log *worker_log(uint32_t worker) {
  return &engine.workers[worker].log;
}

void engine_on_gpu_workers(void (*function)(void *), void *context) {
  starpu_execute_on_each_worker(function, context, STARPU_CUDA);
}

void engine_set_variant(uint32_t variant) { engine.variant = variant; }
uint32_t engine_variant(void) { return engine.variant; }

int engine_priority(enum priority priority, bool host_only) {
  if (engine.heteroprio) return scheduler_bucket((int)priority, PRIORITY_HIGHEST, host_only);
  return (int)priority;
}
