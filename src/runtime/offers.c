/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/offers.h"

#include <sched.h>
#include <starpu.h>
#include <starpu_scheduler.h>

/* Threads beside the workers that may offer parts at a time: that of the steps, and that of outputs beside them. */
enum { OTHERS = 2, OFFERS = STARPU_NMAXWORKERS + OTHERS };

/** What a thread offers. Who wants to look at the parts counts himself as a helper first. The thread takes
 * the offer back and then waits until no helper is left, so that no helper sees parts that have gone. */
static struct offer {
  _Atomic(struct parts *) parts;
  atomic_uint helpers;
  atomic_bool open;  /* there may be parts to take: workers without a task look at this alone */
  atomic_bool taken; /* by a thread that is no worker */
  char padding[43];  /* a cache line each */
} offers[OFFERS];
static atomic_uint offered;             /* open offers */
static _Thread_local struct offer *own; /* of the calling thread, while it offers parts */

/** Whoever finds no part left closes the offer, so that others do not look while the last parts run. */
static void close_offer(struct offer *offer) {
  if (atomic_exchange(&offer->open, false)) atomic_fetch_sub(&offered, 1);
}

static bool take_one(struct parts *p) {
  const uint32_t i = atomic_fetch_add(&p->next, 1);
  if (i >= p->n) return false;
  p->function(p->context, i);
  return true;
}

bool parts_take(struct parts *p) {
  if (!take_one(p)) return false;
  while (take_one(p)) {}
  return true;
}

/** An offer that the calling thread may make; NULL: there is none. */
static struct offer *find_offer(void) {
  if (own || !starpu_is_initialized()) return NULL;
  const int worker = starpu_worker_get_id();
  if (worker >= 0) return &offers[worker];
  for (int k = STARPU_NMAXWORKERS; k < OFFERS; k++)
    if (!atomic_exchange(&offers[k].taken, true)) return &offers[k];
  return NULL;
}

/** Make the offer, and wait for those who have helped. */
static void share(struct offer *offer, struct parts *p) {
  atomic_store(&offer->parts, p);
  atomic_fetch_add(&offered, 1);
  atomic_store(&offer->open, true);
  (void)parts_take(p);
  close_offer(offer);
  atomic_store(&offer->parts, NULL);
  while (atomic_load(&offer->helpers) > 0) sched_yield();
}

void offer_parts(struct parts *p) {
  struct offer *offer = find_offer();
  if (!offer) {
    (void)parts_take(p);
    return;
  }
  own = offer;
  share(offer, p);
  own = NULL;
  atomic_store(&offer->taken, false);
}

/** Help with the parts of an offer. The helper leaves after helped() has ended. */
static bool help(struct offer *offer) {
  atomic_fetch_add(&offer->helpers, 1);
  struct parts *p = atomic_load(&offer->parts);
  const double start = starpu_timing_now();
  const bool helped = p && (p->singly ? take_one(p) : parts_take(p));
  if (p && atomic_load(&p->next) >= p->n) close_offer(offer);
  if (helped) p->helped(p, start, starpu_timing_now());
  atomic_fetch_sub(&offer->helpers, 1);
  return helped;
}

bool offers_help(void) {
  if (atomic_load_explicit(&offered, memory_order_relaxed) == 0) return false;
  const unsigned first = (unsigned)(starpu_worker_get_id() + 1);
  bool helped = false;
  starpu_worker_relax_on(); /* others may change the state of this worker meanwhile */
  for (unsigned k = 0; k < OFFERS && !helped; k++) { /* idle workers begin at different offers */
    struct offer *offer = &offers[(first + k) % OFFERS];
    if (atomic_load_explicit(&offer->open, memory_order_relaxed)) helped = help(offer);
  }
  starpu_worker_relax_off();
  return helped;
}
