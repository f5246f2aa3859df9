/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workers with a long task offer to those without one: see parts.h. */
#ifndef PHOTONS_RUNTIME_OFFERS_H
#define PHOTONS_RUNTIME_OFFERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** A task in parts. It lives on the stack of the worker that has the task. */
struct parts {
  void (*function)(void *context, uint32_t i);
  void *context;
  uint32_t n;
  _Atomic uint32_t next; /**< the next part to take */
  /** Called by a worker that has helped, with the time in us of starpu_timing_now(). */
  void (*helped)(const struct parts *p, double start, double end);
};

/** Run one part after the other until none is left. @return whether there was one */
bool parts_take(struct parts *p);

/** Whether the calling thread is a CPU worker that offers nothing: it may call offer_parts(). */
bool offers_allowed(void);
/** Run all parts with the help of others, and wait for these. */
void offer_parts(struct parts *p);

/** Called by a CPU worker that has no task: help another one with its parts.
 * @return whether there was a part left */
bool offers_help(void);

#endif
