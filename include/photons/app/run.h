/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run from the first particle to the last output: what main.c calls once options and parameters
 * are known. */
#ifndef PHOTONS_RUN_H
#define PHOTONS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/config/parameters.h"

struct run_options {
  bool dry_run;   /**< check everything, print parameters, memory and groups, run nothing */
  bool restart;   /**< go on from the newest checkpoint in output.dir */
  bool overwrite; /**< first remove what an earlier run left in output.dir */
  int64_t steps;  /**< stop after so many steps, counted from the start of the run; -1: no limit; 0:
                    initial conditions and first forces only */
  bool steps_more; /**< the steps are counted from the present one, which a checkpoint may say */
  int verbosity;   /**< 0 quiet, 1 normal, 2 verbose */
};

/**
 * Run the simulation. Returns the exit code of the program: 0, or 128 + n when signal n stopped the
 * run after a checkpoint. Failures end the program through fail().
 */
int run_simulation(struct parameters *p, const struct run_options *options);

#endif
