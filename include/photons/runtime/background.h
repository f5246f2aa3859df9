/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work beside the steps: a thread, whose loops CPU workers help with that have no task. None of it
 * is a task of StarPU, so that no step waits for it. */
#ifndef PHOTONS_BACKGROUND_H
#define PHOTONS_BACKGROUND_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Begin work(context) on a thread of its own. The work of before must have been waited for. Collective functions
 * that it calls (comm.h) have messages of their own; all ranks begin the same work. A loop_run() in it does not
 * become tasks, and it may submit none itself. What it uses must not change, and no one else may use HDF5 meanwhile
 * where background_possible() is false.
 */
void background_begin(void (*work)(void *context), void *context);
/** Whether work was begun and has not been waited for. */
bool background_begun(void);
/** Whether such work has ended: background_wait() returns at once. */
bool background_ended(void);
/** Wait for the work, if it was begun. All CPU workers that have no task help. */
void background_wait(void);

/** Whether other threads may use HDF5 beside the work: this library of HDF5 has a lock of its own. */
bool background_possible(void);

/** Whether the calling thread is that of the work. */
bool background_here(void);
/** On that thread: run function(i) for all i < n with the help of workers, and wait for these. */
void background_loop(uint32_t n, void (*function)(void *context, uint32_t i), void *context);
/** Whether the calling thread works on it: that thread, or a worker that helps. */
bool background_works(void);
/** Begin to help, where enough workers are left for tasks of steps. @return false: they are not */
bool background_enter(void);
/** End the help that background_enter() began. */
void background_leave(void);
/** Called by a CPU worker without a task: run one i of such a loop. @return whether there was one left */
bool background_help(void);

#endif
