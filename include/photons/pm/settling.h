/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles get new groups: the arithmetic of the stages gas_leave and gas_arrive, for cores and GPUs.
 *
 * gas_leave looks at all particles of a batch, and lists those that have left their group, and the few of
 * which it cannot tell. The host looks at the listed ones alone. gas_arrive makes the particles of a new batch: of each group
 * those that stay, and those that arrive, in the order of their numbers. */
#ifndef PHOTONS_PM_SETTLING_H
#define PHOTONS_PM_SETTLING_H

#include "photons/amr/topology.h"
#include "photons/base/host_device.h"
#include "photons/pm/particle.h"

/** What tells which particles stay in a group. */
struct gas_fence {
  uint32_t place[3];           /**< of struct gas_group */
  uint32_t inside;             /**< a bit for each of NEIGHBOURS: this rank has the group there */
  uint32_t finer[GAS_PATCHES]; /**< gas_group.there of the group that refines a patch and may take its
                                    particles over; 0: there is none */
  uint32_t open;               /**< 1: all particles may leave */
};

/** The groups that have the eight cells of the cloud at a position inside a group: a bit for each of NEIGHBOURS.
 * @param at  from the low corner of the group, in cells of its level */
static HOST_DEVICE inline uint32_t cloud_groups(const double at[3]) {
  int direction[3];
  uint32_t groups = 0;
  for (int c = 0; c < 3; c++)
    direction[c] = at[c] < 0.5 ? -1 : at[c] >= GAS_GROUP_SIDE - 0.5 ? 1 : 0;
  for (int k = 0; k < 8; k++)
    groups |= 1u << (MYSELF + (k & 1) * direction[0] + 3 * (k >> 1 & 1) * direction[1] +
                     9 * (k >> 2) * direction[2]);
  return groups;
}

/** Whether groups have the eight cells of the cloud at a position inside a group.
 * @param there  a bit for each of NEIGHBOURS of the group: the group there counts
 * @param at     as of cloud_groups() */
static HOST_DEVICE inline bool have_cloud(uint32_t there, const double at[3]) {
  return (cloud_groups(at) & ~there) == 0;
}

/** Whether a particle at a position may have left its group: if it is in another group, if its cloud
 * reaches groups that do not exist or that other ranks have, or if finer groups have its cloud of the next
 * finer level.
 * @param cell  side of a cell of the group's level */
static HOST_DEVICE inline bool may_leave(const struct gas_fence *f, double cell,
                                         const double position[3]) {
  double at[3], finer[3]; /* finer: in cells of half the side, which is exact */
  int patch = 0;
  if (f->open) return true;
  for (int c = 0; c < 3; c++) {
    const double cells = position[c] / cell;
    at[c] = cells - GAS_GROUP_SIDE * (double)f->place[c];
    if (!(at[c] >= 0.0 && at[c] < GAS_GROUP_SIDE)) return true;
    const int upper = at[c] >= GAS_PATCH_SIDE;
    finer[c] = 2.0 * cells - GAS_GROUP_SIDE * (2.0 * (double)f->place[c] + upper);
    patch |= upper << c;
  }
  return !have_cloud(f->inside, at) || have_cloud(f->finer[patch], finer);
}

/** The same of a particle that is at its place and also moves on for a time. */
static HOST_DEVICE inline bool may_leave_till(const struct gas_fence *f, double cell, double time,
                                              const struct gas_particle *p) {
  double later[3];
  if (may_leave(f, cell, p->position)) return true;
  if (time == 0.0) return false;
  for (int c = 0; c < 3; c++) later[c] = p->position[c] + time * p->velocity[c];
  return may_leave(f, cell, later);
}

/** A particle that may leave its group. */
struct gas_leaver {
  struct gas_particle particle;
  uint64_t index; /**< among the particles of its batch */
};

/** Where the particles of a new group come from. */
struct gas_arrival {
  uint32_t from;              /**< which of the old batches that a task reads has the group */
  uint32_t old, olds;         /**< the first of its particles there, and their number */
  uint32_t leaver, leavers;   /**< indices of those that leave, in gas_arrivals.leaver, rising */
  uint32_t arrival, arrivals; /**< those that arrive, in gas_arrivals.particle, by their numbers */
  uint32_t first;             /**< where its first particle is in the new batch */
};

/** Tables of a new batch in one piece of memory, which is pinned where there are GPUs. */
struct gas_arrivals {
  char *memory;
  size_t bytes;
  uint32_t particles, leavers, batches;
  struct gas_particle *particle; /**< [particles] */
  struct gas_arrival *group;     /**< [group of the batch] */
  uint32_t *leaver;              /**< [leavers] */
  uint32_t *batch;               /**< [batches] old batches that the task reads; in plain memory */
};

struct gas;
struct particle_level;

/** What gas_leave tasks of a level's particles have in common. */
struct gas_leaving {
  const struct gas *gas;
  const struct particle_level *from;
  int level;     /**< of the groups that are to be left */
  int last;      /**< the finest level that may take particles over */
  uint32_t *now; /**< [own group of `from`] which of these groups the particles are in; or NO_GROUP */
  double time;   /**< also particles are listed that leave if they move on for this time */
  uint64_t changes;          /**< of the groups that fences tell of: leaving_changes() */
  struct gas_leaver *leaver; /**< [from->count] those of each group begin where its particles do */
  uint32_t *leavers;         /**< [own group of `from`] number of these; both in pinned memory */
};

/** What gas_arrive tasks of a level have in common. */
struct gas_arriving {
  const struct gas *gas;
  int level;
  const struct particle_level *from, *to;
  const struct gas_arrivals *arrivals; /**< [own batch] */
};

/** The number of leavers with a smaller index. */
static HOST_DEVICE inline uint32_t leavers_before(const uint32_t *leaver, uint32_t count,
                                                  uint32_t index) {
  uint32_t low = 0;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (leaver[low + half] < index) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

/** The number of particles, which are in the order of their numbers, with a smaller number. */
static HOST_DEVICE inline uint32_t particles_before(const struct gas_particle *particle,
                                                    uint32_t count, uint64_t number) {
  uint32_t low = 0;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (particle[low + half].number < number) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

#endif
