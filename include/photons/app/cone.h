/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The light cone of a run: its files in the folder lightcone/ of the output. */
#ifndef PHOTONS_APP_CONE_H
#define PHOTONS_APP_CONE_H

#include <stdio.h>

#include "photons/app/type_masses.h"
#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/io/snapshot.h"
#include "photons/step/light_cone.h"
#include "photons/step/nbody.h"

/** End the run where its particles have no light cone: they begin too late, or their masses are too far apart for maps.
 * @param masses   of the particles; without any they are not looked at
 * @param start_a  scale factor of the initial conditions */
void cone_require(const struct parameters *p, const struct particles *s,
                  const struct type_masses *masses, double start_a);

/** The light cone of a run, for whose particles cone_require() returned; NULL: the run has none.
 * @param c  stays in use */
struct light_cone *cone_create(const struct parameters *p, const struct cosmology *c,
                               const struct particles *s, const struct type_masses *masses);

/** What the light cone will consist of, for people; nothing without one. */
void cone_print(FILE *out, const struct parameters *p, const struct particles *s);

/** Files of a step that are written, beside the next step or at once; or all zero. */
struct cone_files {
  struct light_cone cone;       /**< crossings and maps, which belong to the files */
  struct parameters parameters; /**< the run may change its own */
  int64_t step;
  bool begun;     /**< on the thread beside the steps (background.h) */
  uint32_t count; /**< of them */
  double seconds; /**< of writing them */
  double written; /**< seconds of writing earlier files, until someone takes them, */
  double waited;  /**< and of these those in which the run waited; */
  /** Likewise earlier files, and those of them that were written beside a step. */
  uint32_t files, beside;
};

/**
 * Write what the last step found: the particles that crossed, and the maps of the shells that the light
 * cone has passed: beside the next step where the memory suffices and no output is written there. Those of the step
 * before are waited for. Collective.
 * @param ended  whether that was the last step of the run: all open maps are written, and stay open,
 *         for a run that goes on to a later end
 */
void cone_write(struct cone_files *f, struct nbody *n, const struct parameters *p, int64_t step,
                bool ended);
/** Wait until the files of the last step are written, if they are begun. Collective. */
void cone_settle(struct cone_files *f);

/** Put the map that is open between two steps into the state of a checkpoint. Collective. */
void cone_save(struct nbody *n, struct checkpoint_state *state);
/** Take it out of the state, which gives up its memory. */
void cone_restore(struct nbody *n, struct checkpoint_state *state);

#endif
