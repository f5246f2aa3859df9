/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals that ask a run to stop: INT, TERM, USR1 (which mpirun passes on and waits), HUP, XCPU.
 *
 * The loop of the run looks at stop_signal() between steps and leaves a checkpoint. Where that
 * takes too long, a thread of this file ends the process, and all others of the run, with one line
 * that says which checkpoint stands:
 * - until the first forces are there, at once: there is nothing to keep;
 * - in a step that is not over within the grace time. All that the tasks of the step have changed
 *   is worthless then. Tasks not yet begun are dropped by ending the process, not one by one: host
 *   code and other ranks would go on with what the dropped tasks had not made;
 * - at any time at a second signal, some seconds after the first. Launchers and batch systems send
 *   the same signal twice within milliseconds: that is one wish. */
#ifndef PHOTONS_APP_STOP_H
#define PHOTONS_APP_STOP_H

enum stop_phase {
  STOP_AT_ONCE, /**< until the first forces are there */
  STOP_STEP,    /**< in a step */
  STOP_SAVING /**< before, between and after steps: outputs and checkpoints are written to their end */
};

/** End the process at a signal, with one line, until stop_listen().
 * @param when  at most 100 characters, kept: what the line says after the signal's number */
void stop_listen_early(const char *when);
/** Leave signals to the system again, after stop_listen_early(). */
void stop_listen_no_longer(void);
/** Hear signals from now on, in the phase STOP_AT_ONCE. Local, as is all of this. */
void stop_listen(void);
/** The first signal that came; 0: none. */
int stop_signal(void);
/** @param patience  seconds from the signal on that the run may stay in STOP_STEP */
void stop_enter(enum stop_phase phase, double patience);
/** The run can go on from this checkpoint. @param moment  its time, for people; "": not known yet */
void stop_checkpoint_stands(const char *path, const char *moment);
/** What the last line says of that: "there is no checkpoint to go on from", or the checkpoint. */
const char *stop_what_stands(void);

#endif
