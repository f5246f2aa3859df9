/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/parts.h"

#include <sched.h>
#include <starpu_scheduler.h>
#include <stdatomic.h>
#include <stddef.h>

#include "codelets/runtime/task.h"
#include "photons/runtime/task_log.h"

/** A task in parts. It lives on the stack of the worker that has the task. */
struct parts {
  void (*function)(void *context, uint32_t i);
  void *context;
  uint32_t n;
  _Atomic uint32_t next; /* the next part to take */
  const struct stage *stage;
  uint32_t owner; /* group of the task */
};

/** What a worker offers. Who wants to look at the parts counts himself as a helper first. The worker takes
 * the offer back and then waits until no helper is left, so that no helper sees parts that have gone. */
static struct offer {
  _Atomic(struct parts *) parts;
  atomic_uint helpers;
  char padding[48]; /* a cache line each */
} offers[STARPU_NMAXWORKERS];
static atomic_uint offered; /* offers with parts */

/** @return whether a part was left */
static bool take(struct parts *p) {
  uint32_t i = atomic_fetch_add(&p->next, 1);
  if (i >= p->n) return false;
  for (; i < p->n; i = atomic_fetch_add(&p->next, 1)) p->function(p->context, i);
  return true;
}

/** The offer of the worker that calls; NULL on other threads, on workers of GPUs, and while the worker
 * has made one: within a part. */
static struct offer *own_offer(void) {
  const int worker = starpu_worker_get_id();
  if (worker < 0 || starpu_worker_get_type(worker) != STARPU_CPU_WORKER) return NULL;
  return atomic_load(&offers[worker].parts) ? NULL : &offers[worker];
}

void parts_run(uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  struct parts p = {.function = function, .context = context, .n = n};
  struct offer *offer = n > 1 ? own_offer() : NULL;
  p.stage = offer ? task_stage(&p.owner) : NULL;
  if (!p.stage) {
    (void)take(&p);
    return;
  }
  atomic_store(&offer->parts, &p);
  atomic_fetch_add(&offered, 1);
  (void)take(&p);
  atomic_fetch_sub(&offered, 1);
  atomic_store(&offer->parts, NULL);
  while (atomic_load(&offer->helpers) > 0) sched_yield();
}

/** Help with the parts of an offer. The helper leaves after it has written to the log: when the task ends,
 * its log is complete. */
static bool help(struct offer *offer) {
  atomic_fetch_add(&offer->helpers, 1);
  struct parts *p = atomic_load(&offer->parts);
  const double start = starpu_timing_now();
  const bool helped = p && take(p);
  if (helped && !p->stage->untimed)
    task_log_add_part(p->stage, p->owner, 1e-6 * start, 1e-6 * starpu_timing_now());
  atomic_fetch_sub(&offer->helpers, 1);
  return helped;
}

bool parts_help(void) {
  if (atomic_load_explicit(&offered, memory_order_relaxed) == 0) return false;
  const unsigned workers = starpu_worker_get_count(), own = (unsigned)starpu_worker_get_id();
  bool helped = false;
  starpu_worker_relax_on(); /* others may change the state of this worker meanwhile */
  for (unsigned k = 1; k < workers && !helped; k++) { /* idle workers begin at different offers */
    struct offer *offer = &offers[(own + k) % workers];
    if (atomic_load_explicit(&offer->parts, memory_order_relaxed)) helped = help(offer);
  }
  starpu_worker_relax_off();
  return helped;
}
