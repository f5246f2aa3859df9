/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of particles, one task a batch of groups. */
#ifndef PHOTONS_PM_CODELETS_H
#define PHOTONS_PM_CODELETS_H

#include "photons/amr/codelets.h"

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
/** Kick particles, by POTENTIAL_END, and drift them, as gas_particles_open() does with dt > 0 and
 * gas_particles_close() with dt = 0; or, with dt < 0, set particle_level.acceleration. */
void gas_push_submit(struct gas *g, int level, uint32_t batch, double dt, double weight);

#endif
