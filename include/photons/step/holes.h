/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The black holes of an isolated system, whose pairs bound steps (pair_steps.h). All ranks have the table of all
 * of them. */
#ifndef PHOTONS_STEP_HOLES_H
#define PHOTONS_STEP_HOLES_H

#include <starpu.h>
#include <stdbool.h>

#include "photons/step/pair_steps.h"

struct nbody;
struct parameters;

struct system_holes {
  struct holes all;            /**< of the run */
  starpu_data_handle_t table;  /**< of `all`, which kicks read */
  struct holes *of_group;      /**< [group of this rank] */
  starpu_data_handle_t *found; /**< [group of this rank] of these */
  size_t groups;
  double softening2; /**< of two black holes, Mpc^2 */
};

/** What the system needs for steps of pairs, with StarPU running; NULL: time.pair_type names no type. Ends the
 * program where there is only one type of particles. */
struct system_holes *holes_start(const struct parameters *p, size_t groups, bool types);
void holes_free(struct system_holes *holes);
/** Groups of this rank leave it or come to it. No task may run. */
void holes_unregister(struct system_holes *holes);
void holes_register(struct system_holes *holes, size_t groups);
/** Submit the tasks that find the black holes, where they now are. */
void holes_submit(struct nbody *n);
/** Make the table of all ranks from what these tasks find. Collective. */
void holes_gather(struct nbody *n);

#endif
