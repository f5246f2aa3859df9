/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/offers.h"

#include <sched.h>
#include <starpu.h>
#include <starpu_scheduler.h>

/** What a worker offers. Who wants to look at the parts counts himself as a helper first. The worker takes
 * the offer back and then waits until no helper is left, so that no helper sees parts that have gone. */
static struct offer {
  _Atomic(struct parts *) parts;
  atomic_uint helpers;
  atomic_bool open; /* there may be parts to take: workers without a task look at this alone */
  char padding[44]; /* a cache line each */
} offers[STARPU_NMAXWORKERS];
static atomic_uint offered; /* open offers */

/** Whoever finds no part left closes the offer, so that others do not look while the last parts run. */
static void close_offer(struct offer *offer) {
  if (atomic_exchange(&offer->open, false)) atomic_fetch_sub(&offered, 1);
}

bool parts_take(struct parts *p) {
  uint32_t i = atomic_fetch_add(&p->next, 1);
  if (i >= p->n) return false;
  for (; i < p->n; i = atomic_fetch_add(&p->next, 1)) p->function(p->context, i);
  return true;
}

bool offers_allowed(void) {
  const int worker = starpu_worker_get_id();
  return worker >= 0 && starpu_worker_get_type(worker) == STARPU_CPU_WORKER &&
         !atomic_load(&offers[worker].parts);
}

void offer_parts(struct parts *p) {
  struct offer *offer = &offers[starpu_worker_get_id_check()];
  atomic_store(&offer->parts, p);
  atomic_fetch_add(&offered, 1);
  atomic_store(&offer->open, true);
  (void)parts_take(p);
  close_offer(offer);
  atomic_store(&offer->parts, NULL);
  while (atomic_load(&offer->helpers) > 0) sched_yield();
}

/** Help with the parts of an offer. The helper leaves after helped() has ended. */
static bool help(struct offer *offer) {
  atomic_fetch_add(&offer->helpers, 1);
  struct parts *p = atomic_load(&offer->parts);
  const double start = starpu_timing_now();
  const bool helped = p && parts_take(p);
  if (p) close_offer(offer);
  if (helped) p->helped(p, start, starpu_timing_now());
  atomic_fetch_sub(&offer->helpers, 1);
  return helped;
}

bool offers_help(void) {
  if (atomic_load_explicit(&offered, memory_order_relaxed) == 0) return false;
  const unsigned workers = starpu_worker_get_count(), own = (unsigned)starpu_worker_get_id();
  bool helped = false;
  starpu_worker_relax_on(); /* others may change the state of this worker meanwhile */
  for (unsigned k = 1; k < workers && !helped; k++) { /* idle workers begin at different offers */
    struct offer *offer = &offers[(own + k) % workers];
    if (atomic_load_explicit(&offer->open, memory_order_relaxed)) helped = help(offer);
  }
  starpu_worker_relax_off();
  return helped;
}
