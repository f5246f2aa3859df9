/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles on the adaptive mesh, which attract and are attracted by the mesh's potential.
 *
 * A particle is a cloud as large as a cell (Hockney & Eastwood 1981, section 5-2). It belongs to the
 * finest level on which the eight cells that its cloud touches exist, and to the group of this
 * level that contains its position. It takes the steps of its level. Its mass goes to these cells;
 * what a finer level refines of them gets the same density. Coarser levels have the means of the
 * finer ones, so that the sum over all cells that are not refined, and that over the root level,
 * are the mass of the particles to rounding. The force is interpolated between the same eight
 * cells.
 *
 * Particles change their level when both levels are at the same time. A particle that leaves its
 * level in the middle of a step of the coarser one stays in its group till the end of this step.
 *
 * The particles of a level are in the order of groups, those of a group in the order of their
 * numbers, whatever batches, workers and ranks there are: sums over them have the same bits. Tasks
 * on cores find them in their level's array. Where this rank uses a GPU, the handles of batches are
 * those of their parts of the array, so that StarPU copies particles to the GPU and back; else the
 * handles have no data, and order the tasks. GPUs add up densities as integers
 * (cuda/pm/cloud_sums.cuh): their bits are the same from run to run, but not those of cores.
 *
 * A rank has the particles of its own groups. Beside them it has copies of those particles of
 * other ranks whose clouds touch its groups, as gas_particles_settle() found them. Tasks move own
 * particles alone, so that copies are up to date for densities until the next step. */
#ifndef PHOTONS_PM_PARTICLES_H
#define PHOTONS_PM_PARTICLES_H

#include "photons/amr/gas.h"
#include "photons/pm/particle.h"
#include "photons/potential/gravity.h"

struct parameters;

/** Copies of particles of a batch of another rank, where this rank uses a GPU. */
struct particle_copies {
  uint32_t batch;
  starpu_data_handle_t handle;
};

struct particle_level {
  size_t count;
  struct gas_particle *particle; /**< [count] of this rank's groups: a part of `all` */
  struct gas_particle *all; /**< in the order of groups, with copies of particles of other ranks */
  uint32_t own_first, own_end; /**< this rank's groups */
  uint32_t others, *other;     /**< groups of other ranks of which there are copies, rising */
  uint32_t below;              /**< those of them that come before own groups */
  size_t *
      first; /**< [listed + 1] where own and those groups begin in `all`: particle_first(); NULL: there are none */
  uint64_t *key;                  /**< [own group] which groups these are: gas_tree_level.key */
  uint64_t settled;               /**< gas_tree_level.changes of these */
  uint32_t begin;                 /**< this rank's first batch */
  uint32_t batches, batch_groups; /**< own batches, and groups of one */
  starpu_data_handle_t *handle;   /**< [batches] the same as gas_batch.particles */
  uint32_t copies;
  struct particle_copies *copy; /**< [copies] by rising batches */
  struct particle_sums *sums;   /**< [own group], when they have been measured */
  starpu_data_handle_t readers; /**< handle_make_empty(), of tasks that look at these tables. NULL:
                                     there are no groups yet */
};

/** Groups whose particles are in particle_level.all, own ones and others. */
static inline uint32_t particle_listed(const struct particle_level *l) {
  return l->own_end - l->own_first + l->others;
}
/** How many of the groups of other ranks come before a group. */
uint32_t particle_others_before(const struct particle_level *l, uint32_t group);
/** The place of a group among the listed ones; of one that is not listed that of the next. */
static inline uint32_t particle_place(const struct particle_level *l, uint32_t group) {
  const uint32_t own = l->own_end - l->own_first;
  if (group - l->own_first < own) return l->below + group - l->own_first;
  return particle_others_before(l, group) + (group < l->own_first ? 0 : own);
}
/** Where the particles of a group begin in particle_level.all; those of the next group where they end. */
static inline size_t particle_first(const struct particle_level *l, uint32_t group) {
  return l->first[particle_place(l, group)];
}
/** The particles of a batch; NULL: there are none here, or not for GPUs. */
starpu_data_handle_t particle_handle(const struct particle_level *l, uint32_t batch);

struct particle_past;
struct gas_leaving;

struct gas_particles {
  size_t count; /**< particles of all ranks */
  double mass;  /**< of all particles of all ranks */
  size_t seen;  /**< particles that the host has looked at in the last gas_particles_settle() */
  struct particle_level level[GAS_LEVELS_MAX];
  struct gas_leaving
      *leaving[GAS_LEVELS_MAX]; /**< of gas_particles_list(); NULL: they are not listed */
  struct particle_past *past[GAS_LEVELS_MAX]; /**< what tasks of the last settling of a level read */
};

/** Whether a run has particles. */
bool gas_particles_wanted(const struct parameters *p);
/** NULL: there are none. The particles are those of gas_particles_add(). */
struct gas_particles *gas_particles_make(const struct parameters *p);
/** @param s  may be NULL */
void gas_particles_free(struct gas_particles *s);
/** Bytes of memory that a group's densities take up; and that so many particles do in a run, the
 * most at a time, without copies for other ranks. */
double gas_particles_bytes_per_group(const struct parameters *p);
double gas_particles_bytes(size_t count);
/** Add this rank's part of the first particles, at any places; gas_particles_settle(g, 0, finest)
 * follows. Collective.
 * @param particle  [count], copied */
void gas_particles_add(struct gas *g, const struct gas_particle *particle, size_t count);
/** Add those of the initial conditions. Collective. */
void gas_particles_begin(struct gas *g, const struct parameters *p);
/** End the program if the file of the initial conditions is none. Collective.
 * @return the number of particles of all ranks */
size_t gas_particles_look(const struct parameters *p);

/** Give the particles of levels `first` to `last`, which are at the same time, the finest of these
 * levels that they can have, and their groups; those whose groups other ranks own go there. The run
 * ends if a particle has left an isolated box. Collective. */
void gas_particles_settle(struct gas *g, int first, int last);

/** Begin to list the particles of a level that may leave their groups: they have come to their places, and the groups of
 * the level and of the next finer one are those that gas_particles_settle() will find. It then finds the lists, and
 * no GPU waits while they are made. On several ranks, which ask each other for groups meanwhile, it begins them itself.
 * @param last  as of gas_particles_settle() */
void gas_particles_list(struct gas *g, int level, int last);
/** Whether the densities of a level that is ahead of the finer ones need its particles in their present groups. GPUs
 * add up integers, in any order, and particles may be beside their groups; sums of cores follow the order of groups, and
 * other ranks need copies of those that come near. */
bool gas_particles_need_groups(void);

/** Give all levels from `level` on, which are at the same time, the densities of the particles. */
void gas_particles_deposit(struct gas *g, int level);
/** Give levels from `first` on, up to `end`, what the densities of finer levels have become. Their groups and particles
 * are the same as in gas_particles_deposit(), and so are the groups of level `end`. */
void gas_particles_collect(struct gas *g, int first, int end);
/** The same for one level that is ahead of the finer ones by a time: particles of these are taken to
 * move on at their velocities, with clouds of the level. Collective. */
void gas_particles_deposit_ahead(struct gas *g, int level, double time);

/** Kick the particles of a level for half a step and drift them for the step; or kick them for what
 * is owed. The same tasks accelerate the gas of batches with particles. gravity_send_around() comes before.
 * @param weight  as of that
 * @param list    then list them as gas_particles_list() does, to the finest level
 * @param step    the step that ends */
void gas_particles_open(struct gas *g, int level, double dt, double weight, bool list);
void gas_particles_close(struct gas *g, int level, struct gravity_step step);

/** Sums over all particles, and what limits the step. */
struct particle_totals {
  double mass, momentum[3], kinetic_energy;
  double longest_step; /**< of the root level, at a Courant number of 1 */
};
/** Submit the task that finds those of a batch; and when the tasks of all batches have ended, and no particles have settled
 * since, add up. */
void gas_particles_measure_begin(struct gas *g, int level, uint32_t batch);
struct particle_totals gas_particles_measure(struct gas *g); /**< collective */

/** Take over this rank's particles from tasks, and give them back. */
void gas_particles_acquire(struct gas *g, int first);
void gas_particles_release(struct gas *g, int first);

/* The arithmetic of a group. */

/** Which neighbours of a group a cloud touches whose particle belongs to the group: bits 1 << n as of
 * gas_group.near. MYSELF is always among them. */
uint32_t gas_particles_touched(const struct gas *g, int level, uint32_t group,
                               const double position[3]);
/** Densities of a group from the clouds of its level's particles. */
void gas_particles_assign(const struct gas *g, int level, uint32_t group,
                          double density[GAS_GROUP_CELLS]);
/** Add to the densities of a group what moves when particles of finer levels move on for a time.
 * @param moving  the finer levels' particles, by groups of this level */
void gas_particles_move_on(const struct gas *g, int level, uint32_t group,
                           const struct particle_level *moving, double time,
                           double density[GAS_GROUP_CELLS]);
/** Kick the particles of a group, and drift them.
 * @param potential  [WIDE_CELLS]
 * @param dt         of a step that begins; 0: one that ends */
void gas_particles_push(const struct gas *g, int level, uint32_t group, const double *potential,
                        double dt);
/** Set particle_level.sums of a group. */
void gas_particles_feel(const struct gas *g, int level, uint32_t group, const double *potential);

#endif
