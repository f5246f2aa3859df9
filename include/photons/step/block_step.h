/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block time steps: every particle has a step of its own, the base step divided by a power of two
 * (rungs.h), which its acceleration chooses. The scheme is kick-drift-kick on dyadic steps (Makino
 * 1991, PASJ 43, 859; Springel 2005, MNRAS 364, 1105, section 4.3): between two ticks all particles
 * drift with their momenta, which are constant over a particle's own step, so that no position is
 * predicted; at a tick the active particles get new forces from all particles. The forces of the
 * mesh kick at the ends of the base step, and between where the mesh is finer than that of the
 * beginning (policy.h). All functions are collective. */
#ifndef PHOTONS_STEP_BLOCK_STEP_H
#define PHOTONS_STEP_BLOCK_STEP_H

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/nbody.h"
#include "photons/step/policy.h"

/** A base step from a0 to a1. */
struct base_step {
  const struct parameters *parameters;
  const struct cosmology *cosmology;
  double r_cut; /**< Mpc/h */
  double a0, a1;
  uint32_t tick;       /**< now, of 2^RUNG_MOST */
  uint32_t mesh_ticks; /**< from one force of the mesh to the next */
  /** When block_advance() sorts or makes new groups. NULL, as block_open() leaves it: never. Only of
   * isolated systems, where all groups drift together. */
  struct renewal_policy *policy;
  struct fresh_work fresh;

  /* What was done, of all ranks: */
  uint32_t sub_steps, sorts, rebuilds;
  uint64_t
      particles[RUNGS];  /**< kicked at the ends of steps, by the coarsest rung active with them */
  uint64_t pairs[RUNGS]; /**< of their forces */
  struct work_counts work; /**< of all of them */
  struct work_counts last; /**< of the last one, of all particles */
};

/**
 * Open the kicks. The rungs are those that block_close() chose at the end of the last base step; in
 * the first one they are chosen from the accelerations, and with time.criterion = pairs from the rates of
 * pairs, too, for which all forces are computed again. The accelerations are those at a0, and
 * mesh_acceleration is set: block_close() and step_first_forces() leave them so.
 * @param a0, a1  scale factors
 */
struct base_step block_open(struct nbody *n, const struct parameters *p, const struct cosmology *c,
                            double a0, double a1);

/**
 * Drift all particles to the next tick where a step ends. If that is not the end of the base step,
 * compute forces on the active particles and kick them.
 * @return whether it was; if not, all particles are at a1, with refitted trees, and block_close()
 *         must follow
 */
bool block_advance(struct nbody *n, struct base_step *b);

/** The forces on all particles at a1, the closing kicks, and the rungs of the next base step.
 * @param meanwhile  see step_forces() */
void block_close(struct nbody *n, struct base_step *b, void (*meanwhile)(void *context),
                 void *context);

/** The number of particles of the run on each rung. */
void block_rungs(const struct nbody *n, uint64_t particles[RUNGS]);

#endif
