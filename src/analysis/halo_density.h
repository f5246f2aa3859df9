/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities of the particles of halos in phase space, from their nearest neighbours there. Workers find them halo by halo, or
 * tasks, which GPUs run, for many halos at a time. Both find the same bits. */
#ifndef PHOTONS_HALO_DENSITY_H
#define PHOTONS_HALO_DENSITY_H

#include "halo_part.h"
#include "halo_tree.h"

struct densities {
  size_t
      linked; /**< neighbours of each particle: HALO_LINKED, or all particles where these are fewer */
  double *density; /**< [body], in an arbitrary unit; HUGE_VAL: the neighbours are at one place */
  uint32_t *neighbour; /**< [body][linked] by rising distance, itself first */
};

/** Room for the densities of so many particles. */
struct densities densities_create(size_t n);
/** Find densities on this thread, with the help of workers that have nothing to do. @param t  of phase space */
struct densities densities_of(const struct halo_tree *t);
void densities_free(struct densities *d);

/** The same as densities_of() for many trees, by tasks. Waits for the tasks. Not within a loop or a task.
 * @param task            most particles of a task
 * @param tree            [count] of phase space; without their coordinates and nodes on return
 * @param[out] densities  [count] */
void densities_by_tasks(uint32_t task, size_t count, struct halo_tree *const *tree,
                        struct densities *const *densities);

#endif
