/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The evolution of gas: steps by level, and the topology that follows the flow. */
#ifndef PHOTONS_GAS_EVOLVE_H
#define PHOTONS_GAS_EVOLVE_H

#include "photons/gas/gas_ic.h"
#include "photons/pm/particles.h"

/** Totals over the box, and what limits the next step. */
struct gas_totals {
  double conserved[GAS_VARIABLES_MAX]; /**< integrals over the volume, by enum gas_variable */
  double longest_step;                 /**< of the root level, at a Courant number of 1 */
  double courant;          /**< largest Courant number of the gas in the last steps of levels
                                            that do not divide theirs */
  int courant_level;       /**< and its level */
  double first_order;      /**< faces of cells that got fluxes of first order since the last call */
  double home_bytes;       /**< of messages between homes of a rank since the last call */
  double potential_energy; /**< of self-gravity; 0 without it */
  struct particle_totals particles; /**< 0 without particles */
};

/** The state after a step, for logs. */
struct gas_record {
  double time, dt;
  int levels; /**< that there may be */
  uint64_t patches[GAS_LEVELS_MAX];
  uint64_t updates[GAS_LEVELS_MAX]; /**< of cells in the step */
  struct gas_physics physics;
  struct gas_totals totals;
};

/** Measure totals and speeds; potentials are those of the present time. Ends the run if a density
 * or a pressure is not positive. */
struct gas_totals gas_measure(struct gas *g);
/** Submit the tasks of gas_measure(). A step does so, that no worker waits for the host before. */
void gas_measure_begin(struct gas *g);

/**
 * One step of the root level, after Schive et al. (2010), section 2.1: a level takes its step, then the
 * next finer one two of half the length, or more of them where self-gravity has made its gas too fast.
 * advance() in evolve.c has the order of all parts of a step.
 * @param dt  in comoving coordinates the drift (cosmology_drift()) from gas.time on
 */
void gas_step(struct gas *g, double dt);
/** The same to a time, or a scale factor; and the dt of such a step. */
void gas_step_to(struct gas *g, double end);
double gas_step_length(const struct gas *g, double end);

/** Whether a level divides steps that have become too long. */
bool gas_divides(const struct gas *g, int level);

/** Set the cells of all levels from initial conditions, refining as flags say. */
void gas_begin(struct gas *g, const struct gas_ic *ic);

/** Give the particles of a level and of all finer ones, which are at the same time, their levels and
 * groups, and these the densities of the particles. Without particles nothing happens. */
void gas_place_particles(struct gas *g, int level);

/** Find the flags of levels, which are at the same time, for gas_regrid(). Those of a level are as good after a coarser
 * one has been regridded, unless its own groups are new, or particles have moved to other levels.
 * @param weight  time of the first level within the last step of the next coarser one */
void gas_find_flags(struct gas *g, int first, int last, double weight);
/** Let the groups of level + 1 follow the flags of a level, which are found if they are not known. Tasks may
 * still move cells when it returns. Potentials of groups that are not the same as before are lost.
 * @param weight  time of the level within the last step of the next coarser one
 * @param ic      fills new groups; NULL: they are interpolated
 * @return  whether groups changed */
bool gas_regrid(struct gas *g, int level, double weight, const struct gas_ic *ic);

#endif
