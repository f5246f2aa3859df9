/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of particles for the CUDA versions of the stages that have clouds. */
#ifndef PHOTONS_CODELETS_PM_CLOUDS_H
#define PHOTONS_CODELETS_PM_CLOUDS_H

#include "codelets/amr/batches.h"
#include "cuda/pm/gpu_pm.h"
#include "photons/pm/codelets.h"
#include "photons/pm/particles.h"

/** The box as particles of a level see it. */
struct gpu_particle_box particle_box_of(const struct gas *g, int level);

enum { CLOUD_FOREIGN = -1 };
/** A batch with particles. */
struct cloud_batch {
  int level; /**< CLOUD_FOREIGN: all particles of finer levels that other ranks have */
  uint32_t batch;
};
struct cloud_tables {
  struct gpu_clouds clouds;
  uint32_t *first;
  struct gpu_particle_range *range;
  size_t room;                          /**< ranges */
  struct cloud_batch *batch;            /**< [clouds.batches] of clouds_below() */
  const struct particle_level *foreign; /**< while they are made: of clouds_below() */
};

/** The particles of a batch's level in the groups of gas_batch.near.
 * @param near  the particles of these batches, in device memory; not read where there are none */
struct cloud_tables clouds_near(const struct batch_argument *a, const char *const *near);
/** The batches with particles of finer levels in these groups, clouds.batches and `batch`, without tables.
 * @param foreign  of gas_ahead_submit(), which may be NULL */
struct cloud_tables clouds_below(const struct batch_argument *a,
                                 const struct particle_level *foreign);
/** Make the tables of these batches. They are made in a task: there are many groups.
 * @param batch  the batches' particles, in device memory */
void clouds_find_below(struct cloud_tables *t, const struct batch_argument *a,
                       const char *const *batch);
void cloud_tables_free(struct cloud_tables *t);

#endif
