/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of self-gravity, one task a batch of groups where nothing else is said. */
#ifndef PHOTONS_POTENTIAL_CODELETS_H
#define PHOTONS_POTENTIAL_CODELETS_H

#include "photons/amr/codelets.h"
#include "photons/potential/gravity.h"
#include "photons/potential/stress.h"

/** Kinds of messages of the root level on GPUs, see MESSAGE_KINDS: between batches and slabs, and between
 * slabs and lines. */
enum {
  MESSAGE_ROOT_SOURCE = MESSAGE_GAS + GHOST_KINDS,
  MESSAGE_ROOT_PIECE,
  MESSAGE_ROOT_POTENTIAL,
  ROOT_KINDS = 3
};

/** What a potential is made from, besides the coarser level. */
enum potential_mode {
  POTENTIAL_INTERPOLATE, /**< nothing else */
  POTENTIAL_RELAX,       /**< POTENTIAL_END of neighbours; groups that are not solved keep theirs */
  POTENTIAL_REPEAT,      /**< POTENTIAL_OLD of neighbours */
  POTENTIAL_CORRECT,     /**< POTENTIAL_END of neighbours, and the change of the coarser level from
                         POTENTIAL_OLD to POTENTIAL_END */
  POTENTIAL_FOLLOW /**< POTENTIAL_BEGIN of neighbours, and the change of the coarser level since
                         then, a part of that from POTENTIAL_BEGIN to POTENTIAL_END */
};
struct potential_task {
  double weight; /**< time of the level within the step of the next coarser one, 0 .. 1 */
  enum potential_mode mode;
  bool odd;     /**< odd groups are solved, else even ones: topology_is_odd() */
  bool massive; /**< with the pseudo-mass of gas_batch.sheets */
  double
      change; /**< POTENTIAL_CORRECT: 1; POTENTIAL_FOLLOW: this part of the coarser level's step has
                    passed; else 0 */
  double
      excess; /**< POTENTIAL_RELAX: over-relaxation; what a solution changes is taken 1 + excess times */
};
/** Solve the potential of every other group of a batch of a level finer than the root, into
 * POTENTIAL_NEXT. */
void gas_potential_submit(struct gas *g, int level, uint32_t batch, struct potential_task how);
/** Find the densities of all groups that a home of this rank has of some levels: its gas_level.density. */
void gas_density_submit(struct gas *g, int first, int last, uint32_t home);
/** The same as gas_potential of all groups of a level finer than the root, where GPUs solve groups directly: even and odd
 * ones in turn, in one task, in POTENTIAL_END. Between solutions of small levels there is no time to begin other tasks.
 * All batches are of one home, or gas_tasks.together says that one home finds all potentials.
 * @param first      of the solutions, with a weight above 0; the others are further ones
 * @param solutions  one that is not POTENTIAL_RELAX is followed by others: odd groups have no potential yet */
void gas_potentials_submit(struct gas *g, int level, struct potential_task first, int solutions);
/** Solution k of `solutions` of the groups of a level. */
struct potential_task potential_solution(struct potential_task first, int k, int solutions);
/** Set gas_batch.shares, from POTENTIAL_END, where the level and the next coarser one are at the
 * same time. @param stress  with stresses, which kicks read after the last correction, of gas without particles */
void gas_share_submit(struct gas *g, int level, uint32_t batch, bool massive, bool stress);
/** Set gas_batch.sheets, and POTENTIAL_NEXT to POTENTIAL_END with finer means in refined
 * patches. */
void gas_sheet_submit(struct gas *g, int level, uint32_t batch);
/** Accelerate a batch for a time, by POTENTIAL_END. @param weight  of potential_task */
void gas_kick_submit(struct gas *g, int level, uint32_t batch, double dt, double weight);
/** A kick of a level. */
struct kick_task {
  double dt, weight; /**< weight: of potential_task */
  bool closing;      /**< the second of a step */
};
/** Accelerate the cells of a batch beside refined patches, besides gas_kick or gas_work: gravity_kernels.border. */
void gas_border_submit(struct gas *g, int level, uint32_t batch, struct kick_task kick);
/** Add what the stress on the sides of a batch's groups does in a kick to gas_batch.stresses, for the next coarser level.
 * @param weight  of potential_task, where the stress is to be found from POTENTIAL_END; below 0: shares have it */
void gas_stress_submit(struct gas *g, int level, uint32_t batch, struct stress_kick kick,
                       double weight);
/** Correct the energy of a batch, gravity_kernels.work, and accelerate it for the second half of its step. */
void gas_work_submit(struct gas *g, int level, uint32_t batch, struct gravity_step step);
/** Where one home has all levels and finds all potentials, let tasks that come before gas_gravity_begin() be part of the same
 * task: those that find densities. */
void gas_gravity_open(struct gas *g);
/** With gas_tasks.together, let tasks of the stages above that are submitted until gas_gravity_end() be one task of the
 * home that finds all potentials. @param first, last  levels whose densities they read */
void gas_gravity_begin(struct gas *g, int first, int last);
void gas_gravity_end(struct gas *g);
/** Set gas_level.field, from POTENTIAL_END, when all levels are at the same time. */
void gas_field_submit(struct gas *g, int level, uint32_t batch);

#endif
