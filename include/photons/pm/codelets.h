/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of particles, one task a batch of groups. */
#ifndef PHOTONS_PM_CODELETS_H
#define PHOTONS_PM_CODELETS_H

#include "photons/amr/codelets.h"
#include "photons/potential/gravity.h"

struct particle_level;
struct gas_leaving;
struct gas_arriving;

/** Set gas_batch.matter from the particles of the level and the densities of the next coarser one.
 * @param ahead  the level is ahead of the finer ones, whose densities stay; else they become 0 */
void gas_deposit_submit(struct gas *g, int level, uint32_t batch, bool ahead);
/** Let the particles of finer levels move on for a time: add what that changes to gas_batch.matter. On
 * a GPU; on cores a loop takes the place of this stage (src/pm/particle_ahead.c).
 * @param foreign  those of other ranks, by groups of the level, with one handle; NULL: none */
void gas_ahead_submit(struct gas *g, int level, uint32_t batch, double time,
                      const struct particle_level *foreign);
/** Add the densities of the next finer level to gas_batch.matter. */
void gas_collect_submit(struct gas *g, int level, uint32_t batch);
/** List the particles of an old batch that may have left their groups (settling.h). */
void gas_leave_submit(const struct gas_leaving *leaving, uint32_t batch);
/** Make the particles of a new batch. Both arguments must stay until the tasks have ended. */
void gas_arrive_submit(const struct gas_arriving *arriving, uint32_t batch);
/** What gas_push does with the particles of a batch, and with its gas. */
struct push_task {
  enum push_kind { PUSH_OPENS, PUSH_CLOSES, PUSH_MEASURES } kind;
  struct gravity_step step;
  const struct gas_leaving
      *leaving; /**< of a step that opens: list particles that leave; NULL: it does not */
};
/** Kick particles, by POTENTIAL_END, and drift them, where a step opens; kick them where it closes; or find
 * particle_level.sums. Steps accelerate the batch's gas, too, as gas_kick and gas_work do. */
void gas_push_submit(struct gas *g, int level, uint32_t batch, struct push_task how);

#endif
