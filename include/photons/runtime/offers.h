/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads with long work offer to workers without any: see parts.h, and loop_parts() in loop.h. */
#ifndef PHOTONS_RUNTIME_OFFERS_H
#define PHOTONS_RUNTIME_OFFERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** Work in parts. It lives on the stack of the thread that has the work. */
struct parts {
  void (*function)(void *context, uint32_t i);
  void *context;
  uint32_t n;
  _Atomic uint32_t next; /**< the next part to take */
  bool of_loop; /**< any thread may help; a worker takes one part and then looks for a task again */
  bool beside;  /**< of an output beside the steps: some workers stay free for tasks */
  /** Called by a thread that has helped, with the time in us of starpu_timing_now(). */
  void (*helped)(const struct parts *p, double start, double end);
};

/** Run one part after the other until none is left. @return whether there was one */
bool parts_take(struct parts *p);

/** Run all parts with the help of others, and wait for these. Within a part a thread may call this function again; three
 * calls deep it runs all parts itself. Not on workers of GPUs. */
void offer_parts(struct parts *p);

/** Called by a thread that has nothing to do, no worker of a GPU: help another one with its parts, those of loops
 * alone where the thread is no worker.
 * @return whether there was a part left */
bool offers_help(void);

#endif
