/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/offers.h"

#include <sched.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <stddef.h>

#include "photons/runtime/background.h"

/* Threads beside the workers that may offer parts at a time: that of the steps, and that of outputs beside them. */
enum { OTHERS = 2, THREADS = STARPU_NMAXWORKERS + OTHERS };
/* Offers of a thread: within a part of one it may make another. */
enum { DEEP = 3 };

/** What a thread offers. Who wants to look at the parts counts himself as a helper first. The thread takes
 * the offer back and then waits until no helper is left, so that no helper sees parts that have gone. */
static struct offer {
  _Atomic(struct parts *) parts;
  atomic_uint helpers;
  atomic_bool open; /* there may be parts to take: workers without a task look at this alone */
  char padding[44]; /* a cache line each */
} offers[THREADS][DEEP];
static atomic_uint offered;             /* open offers */
static atomic_bool taken[OTHERS];       /* rows of `offers` behind those of workers */
static _Thread_local struct offer *own; /* the row of the calling thread, while it offers parts */
static _Thread_local int depth;         /* offers of the calling thread */

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

/** A row of offers for the calling thread; NULL: there is none. */
static struct offer *find_row(void) {
  const int worker = starpu_is_initialized() ? starpu_worker_get_id() : -1;
  if (worker >= 0) return offers[worker];
  for (int k = 0; k < OTHERS; k++)
    if (!atomic_exchange(&taken[k], true)) return offers[STARPU_NMAXWORKERS + k];
  return NULL;
}

static void give_row_back(void) {
  const ptrdiff_t k = (own - offers[STARPU_NMAXWORKERS]) / DEEP;
  if (k >= 0) atomic_store(&taken[k], false);
  own = NULL;
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
  if (depth == 0) own = find_row();
  if (!own || depth == DEEP) {
    (void)parts_take(p);
    return;
  }
  share(&own[depth++], p);
  if (--depth == 0) give_row_back();
}

/** Take parts. @return whether there were any */
static bool help_with(struct parts *p) {
  const double start = starpu_timing_now();
  const bool helped = p->of_loop ? take_one(p) : parts_take(p);
  if (helped) p->helped(p, start, starpu_timing_now());
  return helped;
}

/** Parts of tasks use what workers have, as their scratch memory. */
static bool may_help(const struct parts *p) { return p->of_loop || starpu_worker_get_id() >= 0; }

/** Help with the parts of an offer. The helper leaves after helped() has ended. */
static bool help(struct offer *offer) {
  atomic_fetch_add(&offer->helpers, 1);
  struct parts *p = atomic_load(&offer->parts);
  bool helped = false;
  if (p && may_help(p)) {
    const bool enters = p->beside && !background_works();
    if (!enters || background_enter()) {
      helped = help_with(p);
      if (enters) background_leave();
    }
  }
  if (p && atomic_load(&p->next) >= p->n) close_offer(offer);
  atomic_fetch_sub(&offer->helpers, 1);
  return helped;
}

static bool help_thread(struct offer *row) {
  for (int k = 0; k < DEEP; k++)
    if (atomic_load_explicit(&row[k].open, memory_order_relaxed) && help(&row[k])) return true;
  return false;
}

bool offers_help(void) {
  if (atomic_load_explicit(&offered, memory_order_relaxed) == 0) return false;
  const unsigned first = (unsigned)(starpu_worker_get_id() + 1),
                 workers = starpu_worker_get_count();
  bool helped = false;
  starpu_worker_relax_on(); /* others may change the state of this worker meanwhile */
  for (unsigned k = 0; k < workers + OTHERS && !helped; k++) {
    const unsigned row = (first + k) %
                         (workers + OTHERS); /* idle workers begin at different offers */
    helped = help_thread(offers[row < workers ? row : STARPU_NMAXWORKERS + row - workers]);
  }
  starpu_worker_relax_off();
  return helped;
}
