/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long tasks in parts: workers without a task help those that have one. */
#ifndef PHOTONS_RUNTIME_PARTS_H
#define PHOTONS_RUNTIME_PARTS_H

#include <stdint.h>

/**
 * Within a task on a core: run function(context, i) for all i < n, and return when all have ended. The
 * worker takes one part after the other; CPU workers that have no task take parts, too. Parts must not
 * depend on each other. They may use what belongs to the worker on which they run (worker_number()). A
 * part should take 20 us or more. The task log has the time of each helper as time of the task's stage.
 *
 * A step has few long tasks where few groups are active, fewer than a large node has workers. Smaller
 * groups would need more tasks, which one thread submits.
 *
 * Elsewhere than in a task on a core, and within a part on a worker that helps, the calling thread runs all parts.
 */
void parts_run(uint32_t n, void (*function)(void *context, uint32_t i), void *context);

#endif
