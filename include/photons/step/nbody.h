/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles and the forces between them: the domain with a short-range and a long-range force. */
#ifndef PHOTONS_STEP_NBODY_H
#define PHOTONS_STEP_NBODY_H

#include "photons/domain/domain.h"
#include "photons/mesh/long_range.h"
#include "photons/step/kernels.h"
#include "photons/tree/short_range.h"

struct parameters;

struct nbody {
  struct domain domain;
  struct short_range short_range;
  struct long_range long_range;
  const struct step_kernels *kernels;
  int64_t step; /**< what is being computed, for messages: the number of the step */
  double a;     /**< and the scale factor at its end; 1 until it is set */
};

/**
 * Take over the particles and register all data with StarPU, which must run (engine_start()); particles
 * that are not in groups are sorted into groups. Softening and other lengths come from the parameters;
 * accelerations keep their values (a restart has them). Collective.
 */
struct nbody *nbody_create(const struct parameters *p, struct particles particles);
void nbody_free(struct nbody *n);

/** Hand groups over so that rank r has groups owner_first[r] .. owner_first[r + 1] - 1. All tasks done;
 * refit must follow. Collective. */
void nbody_migrate(struct nbody *n, const uint32_t *owner_first);

/** Sizes that follow from the parameters and N, and the memory that particles and trees take. */
struct layout {
  struct domain_layout domain;
  struct mesh_layout mesh;
  double bytes_particles, bytes_tree;
};
struct layout layout_choose(const struct parameters *p, size_t particles);

#endif
