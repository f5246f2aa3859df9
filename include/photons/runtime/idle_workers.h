/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workers do that find no task. */
#ifndef PHOTONS_IDLE_WORKERS_H
#define PHOTONS_IDLE_WORKERS_H

#include <stdbool.h>

struct starpu_sched_policy;

/**
 * A scheduling policy like the given one, whose idle CPU workers let others work. StarPU's workers poll
 * for tasks without pause. On a node of 64 cores they pass the cache lines of the scheduler and of the
 * memory nodes round, and slow down those that have a task.
 *
 * A CPU worker without a task helps others whose work is in parts (parts.h, loop.h). First of all it helps with work
 * beside the steps (background.h). One that has found nothing
 * for a time t sleeps for t/8, 1 ms at most, before it looks again.
 * The first `awake` CPU workers poll without pause: they find short tasks at once. With `crowded`, all CPU
 * workers give up their core after each look instead. Workers of GPUs always poll.
 *
 * StarPU's own ways cost more: blocking drivers wake workers one by one, and with an idle hook each look
 * takes a lock that all workers share 16 times (StarPU 1.4.10, src/core/idle_hook.c).
 *
 * @param policy  is copied
 * @param crowded  the host has fewer cores than threads that poll
 * @return for one starpu_init(); the next call makes it anew
 */
struct starpu_sched_policy *idle_workers_policy(const struct starpu_sched_policy *policy,
                                                unsigned awake, bool crowded);

/** Whether idle workers may help with tasks: not under schedulers with performance models (dm*), which would learn how
 * long tasks take with help, nor on a crowded host. Loops have help in any case. */
bool idle_workers_help_tasks(void);
/** CPU workers that found no task when they looked last, and may help with tasks. */
unsigned idle_workers_now(void);

#endif
