/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the loop of a run (run.c) drives: signals, outputs, checkpoints and the report are the
 * loop's, the physics is a solver's. Each kind of system has its solver. All functions are collective. */
#ifndef PHOTONS_APP_SOLVER_H
#define PHOTONS_APP_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/app/step_log.h"
#include "photons/app/step_record.h"
#include "photons/config/parameters.h"
#include "photons/step/timeline.h"

/** Before all moments. */
#define NO_OUTPUT (-1.0)

/** Where a run stands: what every solver's checkpoint has. */
struct progress {
  double a;             /**< scale factor; of systems that do not expand the time */
  double start_a;       /**< of the initial conditions */
  int64_t step;         /**< steps done */
  int64_t outputs_done; /**< outputs written: the number of the next */
  double last_output;   /**< a of the last one; NO_OUTPUT: none */
  double wall_seconds;  /**< spent so far, earlier sessions of a restarted run included */
};

struct solver {
  /** How its steps are told. */
  const struct step_log *log;

  /** A time of the run, for messages: "z = 3.2", "t = 125 Myr". */
  struct moment_text (*moment)(const struct parameters *p, double a);

  /** Before StarPU runs: take no more devices than make a run faster; NULL: it takes all. */
  void (*choose_devices)(const struct parameters *p);

  /** Before StarPU runs: end the program where this machine cannot hold what is known of the run, because
   * the kernel kills who uses memory that was promised freely.
   * @param begins  the run makes initial conditions; it goes on from no checkpoint */
  void (*require_possible)(const struct parameters *p, bool begins);

  /** For --dry-run, in the place of create(): check everything, print parameters, memory and what a run
   * would use. StarPU need not run, and no file changes. */
  void (*dry)(struct parameters *p, const char *checkpoint, struct progress *now,
              struct timeline *timeline);

  /** Initial conditions or the checkpoint at `checkpoint` (NULL: none), and what steps need. StarPU runs.
   * @param[in,out] p  what the initial conditions' file and not config.ini says is stored here; the
   *                   caller keeps it until end()
   * @param[out] now   where the run stands
   * @param[out] timeline  of the run
   * @return the state that all functions below take */
  void *(*create)(struct parameters *p, const char *checkpoint, struct progress *now,
                  struct timeline *timeline);

  /** What the banner says of the run. */
  void (*describe)(void *state, FILE *out);

  /** First forces, or after a restart whatever a checkpoint does not have. Fills the record.
   * @return false: there was nothing to compute that a log should show */
  bool (*begin)(void *state, bool restarted, struct step_record *record);

  /** Why the next step would be too short to get anywhere, and what to change; NULL: it would not.
   * @param[out] sound  whether the present state is worth a checkpoint */
  const char *(*stuck)(void *state, const struct progress *now, bool *sound);

  /** Take a step from `now.a`; sets now.a to its end and fills the record.
   * @param output_due  tells whether an output is due at a scale factor: then the solver may begin
   *                    it beside the forces of this step */
  void (*step)(void *state, struct progress *now, bool (*output_due)(void *context, double a),
               void *context, struct step_record *record);

  /** Write output `number` of the present state, or begin to write it beside the next steps. The solver itself ends
   * that before the next output and before a checkpoint.
   * @return seconds of it that ran beside a step's tasks */
  double (*write)(void *state, const struct progress *now, size_t number);

  /** Wait until what write() began is written; NULL: that never writes beside steps. */
  void (*settle)(void *state);

  /** Scale factor at which the next step will end. */
  double (*next)(void *state, const struct progress *now);

  /** Draw a frame of the movie at this path: the present state. */
  void (*frame)(void *state, const struct progress *now, const char *path);

  void (*checkpoint)(void *state, const char *path, const struct progress *now);

  /** Free everything; StarPU still runs. */
  void (*end)(void *state);
};

#endif
