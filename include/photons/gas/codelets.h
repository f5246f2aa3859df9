/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of gas, one task a batch of groups. What order they have to each other follows from
 * the batches that they read and write. */
#ifndef PHOTONS_GAS_CODELETS_H
#define PHOTONS_GAS_CODELETS_H

#include "photons/gas/gas.h"

struct particle_level;
struct gas_leaving;
struct gas_arriving;

/** Where the groups of a new batch get their cells. */
struct gas_moves {
  struct gas_move *move; /**< [group of the batch] its place in `data`; see links.h */
  uint32_t count;
  starpu_data_handle_t *data; /**< [count] cells of other groups */
};

/** Fill the blocks of a batch with its present cells and their ghost cells.
 * @param weight  time of the level within the last step of the next coarser one, 0 .. 1
 * @return the handle of the blocks, one of gas.block */
starpu_data_handle_t gas_prepare_submit(struct gas *g, int level, uint32_t batch, double weight);
/** Advance a batch by a time step from its blocks: writes the cells that are not present ones, and
 * the fluxes. @param least_heat  of gas_physics, at the end of the step */
void gas_solve_submit(struct gas *g, int level, uint32_t batch, double dt, double least_heat,
                      starpu_data_handle_t block);
/** Add the fluxes of a batch to those through the sides of its groups.
 * @param share  of the step in that of the next coarser level
 * @param first  of the steps in it */
void gas_close_submit(struct gas *g, int level, uint32_t batch, double share, bool first);
/** The three stages above as one. @param begin, share  of the step, in that of the next coarser
 * level: where it begins, 0 .. 1, and how long it is */
void gas_advance_submit(struct gas *g, int level, uint32_t batch, double dt, double begin,
                        double share, double least_heat);
/** Make the fluxes through the sides of refined patches those of the finer level (Berger & Colella
 * 1989, J. Comput. Phys. 82, 64). @param dt  of the step that the level has taken
 * @param least_heat  as of gas_solve_submit() */
void gas_fix_submit(struct gas *g, int level, uint32_t batch, double dt, double least_heat);
/** Give refined patches the means of those finer cells that this rank has. */
void gas_restrict_submit(struct gas *g, int level, uint32_t batch);
/** Set gas_level.flags of a batch. @param weight  as of gas_prepare_submit() */
void gas_flag_submit(struct gas *g, int level, uint32_t batch, double weight);
/** Fill a new batch: copy the groups that stay, interpolate the others from the end of the next
 * coarser level's step. @param moves  must stay until the task has ended */
void gas_regrid_submit(struct gas *g, int level, uint32_t batch, const struct gas_moves *moves);
/** Set gas_level.speed. */
void gas_cfl_submit(struct gas *g, int level, uint32_t batch);
/** Set gas_level.sum. */
void gas_sum_submit(struct gas *g, int level, uint32_t batch);

/** Kinds of messages, see MESSAGE_KINDS: MESSAGE_GAS + enum ghost_kind. */
enum { MESSAGE_GAS = 16 };
/** Send and receive all ghosts of a kind and level; for means, those of the level's groups. */
void gas_ghosts_submit(struct gas *g, int level, enum ghost_kind kind);
/** The same of GHOST_POTENTIALS, of one of the potentials of a level. */
void gas_potential_ghosts_submit(struct gas *g, int level, enum gas_potential which);

/** What a potential is made from, besides the coarser level. */
enum potential_mode {
  POTENTIAL_INTERPOLATE, /**< nothing else */
  POTENTIAL_RELAX,       /**< POTENTIAL_END of neighbours; groups that are not solved keep theirs */
  POTENTIAL_REPEAT,      /**< POTENTIAL_OLD of neighbours */
  POTENTIAL_CORRECT      /**< POTENTIAL_END of neighbours, and the change of the coarser level from
                         POTENTIAL_OLD to POTENTIAL_END */
};
struct potential_task {
  double weight; /**< time of the level within the step of the next coarser one, 0 .. 1 */
  enum potential_mode mode;
  bool odd;     /**< odd groups are solved, else even ones: topology_is_odd() */
  bool massive; /**< with the pseudo-mass of gas_batch.sheets */
};
/** Solve the potential of every other group of a batch of a level finer than the root, into
 * POTENTIAL_NEXT. */
void gas_potential_submit(struct gas *g, int level, uint32_t batch, struct potential_task how);
/** Set gas_batch.shares, from POTENTIAL_END, where the level and the next coarser one are at the
 * same time. */
void gas_share_submit(struct gas *g, int level, uint32_t batch, bool massive);
/** Set gas_batch.sheets, and POTENTIAL_NEXT to POTENTIAL_END with finer means in refined
 * patches. */
void gas_sheet_submit(struct gas *g, int level, uint32_t batch);
/** Accelerate a batch for a time, by POTENTIAL_END. @param weight  of potential_task */
void gas_kick_submit(struct gas *g, int level, uint32_t batch, double dt, double weight);
/** Set gas_level.field, from POTENTIAL_END, when all levels are at the same time. */
void gas_field_submit(struct gas *g, int level, uint32_t batch);

/** Set gas_batch.matter from the particles of the level and the densities of the next coarser one.
 * @param ahead  the level is ahead of the finer ones, whose densities stay; else they become 0 */
void gas_deposit_submit(struct gas *g, int level, uint32_t batch, bool ahead);
/** Let the particles of finer levels move on for a time: add what that changes to gas_batch.matter. On
 * a GPU; on cores a loop takes the place of this stage (src/gas/particle_ahead.c).
 * @param foreign  those of other ranks, by groups of the level, with one handle; NULL: none */
void gas_ahead_submit(struct gas *g, int level, uint32_t batch, double time,
                      const struct particle_level *foreign);
/** Add the densities of the next finer level to gas_batch.matter. */
void gas_collect_submit(struct gas *g, int level, uint32_t batch);
/** List the particles of an old batch that may have left their groups (settling.h). */
void gas_leave_submit(const struct gas_leaving *leaving, uint32_t batch);
/** Make the particles of a new batch. Both arguments must stay until the tasks have ended. */
void gas_arrive_submit(const struct gas_arriving *arriving, uint32_t batch);
/** Kick particles, by POTENTIAL_END, and drift them, as gas_particles_open() does with dt > 0 and
 * gas_particles_close() with dt = 0; or, with dt < 0, set particle_level.acceleration. */
void gas_push_submit(struct gas *g, int level, uint32_t batch, double dt, double weight);

#endif
