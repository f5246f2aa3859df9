/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The N-body system: the domain with its short-range and long-range forces. */
#ifndef PHOTONS_STEP_NBODY_H
#define PHOTONS_STEP_NBODY_H

#include "photons/domain/domain.h"
#include "photons/mesh/long_range.h"
#include "photons/step/kernels.h"
#include "photons/step/net_force.h"
#include "photons/tree/short_range.h"

struct external;
struct system_holes;
struct parameters;
struct light_cone;

/** Of a group, with block time steps. */
struct group_rungs {
  uint32_t particles[RUNGS]; /**< by rung */
  uint32_t tick;             /**< to which its particles have drifted */
  float fastest;             /**< no particle has a larger |momentum|, km/s */
};

/** What a step knows of those before it, which checkpoints contain. */
struct step_state {
  /** Block time steps: the base step in ln a that the rungs belong to; 0: there are no rungs yet. */
  double dlna;
  /** Whether expansions replace enough pairs: on cores sub-steps then use them, with GPUs forces on all
   * particles do. */
  int64_t expansions;
};

struct nbody {
  const struct parameters *parameters;
  struct domain domain;
  struct short_range short_range;
  struct long_range long_range;
  struct external *external;  /**< potentials that act on all particles; NULL: there are none */
  struct system_holes *holes; /**< whose pairs bound steps; NULL: there are none */
  const struct step_kernels *kernels;
  struct group_rungs *rungs; /**< [group of this rank]; NULL: global steps */
  bool mesh_alone; /**< time.step = pm: the mesh has the whole force, and no group has targets */
  struct step_state steps;
  struct net_force net_force; /**< that the last forces on all particles had */
  struct light_cone *cone;    /**< of an observer, see light_cone.h; NULL: there is none */
  int64_t step;               /**< what is being computed: the number of the step, */
  double a;                   /**< and the scale factor at its end; 1 until it is set */
  /** Has no data. All tasks of move_submit() read it, so that the host can wait for them at once. */
  starpu_data_handle_t moves;
};

static inline struct group_rungs *rungs_of(const struct nbody *n, const struct group *g) {
  return &n->rungs[group_place(&n->domain, g)];
}

/**
 * Make an N-body system that owns the particles, and register all data with StarPU, which must run
 * (engine_start()). Particles that are not in groups are sorted into groups. Accelerations keep
 * their values (those of a restart are valid). Collective.
 * @param p  softening, split and mesh; must outlive the system
 */
struct nbody *nbody_create(const struct parameters *p, struct particles particles);
/** Whether there is a long-range part: not in isolated systems. */
static inline bool nbody_has_mesh(const struct nbody *n) { return n->long_range.mesh; }
/** Cells a side of the mesh; 0: there is none. */
uint32_t nbody_mesh_cells(const struct nbody *n);
/** Another mesh, and with it another division of the force. All tasks must have ended; trees must
 * be refitted, and the softening limited anew. Accelerations stay those by the mesh before. Collective. */
void nbody_change_mesh(struct nbody *n, uint32_t cells);
/** Whether memory that only forces need is given back between them, and so belongs to outputs. */
static inline bool nbody_rests(const struct nbody *n) {
  return nbody_has_mesh(n) && n->long_range.rests;
}
/** Unregister all data and free the system with its particles. */
void nbody_free(struct nbody *n);

/**
 * Take particles out: a new system of the others, in the place of @p n, which is freed. They keep
 * their accelerations; step_measure() must follow. Collective, when all tasks have ended.
 * @param keep  as in particles_select()
 */
struct nbody *nbody_keep(struct nbody *n, const bool *keep);

/** Move groups to new owners: rank r gets groups owner_first[r] .. owner_first[r + 1] - 1. All
 * tasks must have ended, and a refit must follow. Collective. */
void nbody_migrate(struct nbody *n, const uint32_t *owner_first);

/** Sizes that follow from the parameters and N, and the memory that particles and trees need, in
 * bytes over all ranks. */
struct layout {
  struct domain_layout domain;
  struct mesh_layout mesh;
  column_set columns; /**< of the particles, as far as the parameters tell */
  double bytes_particles, bytes_tree;
};
/** The layout for N = `particles`. It also depends on scheduler_any_gpu(). */
struct layout layout_choose(const struct parameters *p, size_t particles);

#endif
