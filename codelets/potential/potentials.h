/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slots of potentials, for the stages of self-gravity. */
#ifndef PHOTONS_CODELETS_POTENTIAL_POTENTIALS_H
#define PHOTONS_CODELETS_POTENTIAL_POTENTIALS_H

#include "codelets/amr/batches.h"
#include "cuda/potential/gpu_potential.h"
#include "photons/potential/codelets.h"
#include "photons/potential/gravity.h"
#include "photons/potential/potential_blocks.h"

/** A potential of a batch. */
starpu_data_handle_t potential_handle(const struct gas *g, int level, uint32_t batch,
                                      enum gas_potential which);

/** What potential_block() is to read of a batch's surroundings. */
struct surroundings {
  const struct gas *gas;
  int level;
  uint32_t batch;
  bool near;                 /**< batches of its own level */
  bool coarse;               /**< those of the next coarser level */
  double weight;             /**< time of the level within the step of the coarser one, 0 .. 1 */
  enum gas_potential which;  /**< of its own level */
  double change;             /**< of potential_sources */
  enum gas_potential before; /**< of the coarser level: what the change begins with */
};
/** What kicks by POTENTIAL_END read. @param weight  of struct surroundings */
static inline struct surroundings surroundings_of_kick(const struct batch_argument *a,
                                                       double weight) {
  return (struct surroundings){.gas = a->gas,
                               .level = a->level,
                               .batch = a->batch,
                               .near = true,
                               .coarse = true,
                               .weight = weight,
                               .which = POTENTIAL_END};
}
/** Slots for it. */
void surroundings_slots(struct slots *s, const struct surroundings *a);
/** The sources that these slots are, from `first` on. @param[out] addresses  free() it */
struct potential_sources surroundings_of(const struct surroundings *a, void *buffers[],
                                         size_t first, const char ***addresses);

/** What the solution of groups reads of a batch's surroundings. */
struct surroundings surroundings_of_solution(const struct batch_argument *a,
                                             struct potential_task how);
/** Whether a group of the batch's level is one of those that are solved. */
bool is_solved(const struct batch_argument *a, struct potential_task how, uint32_t group);
/** Solve a group directly. */
void solve_directly(const struct potential_sources *sources, uint32_t group, const double *source,
                    double *cube);
/** Take a change more than once. @param old, cube  before and after it */
void exceed(const double *old, double excess, double *cube);

/** Number of these slots. */
size_t surroundings_count(const struct surroundings *a);
/** The same sources for a GPU. The links (slots_add_links) are in slot `links`. */
struct gpu_potentials gpu_potentials_of(const struct surroundings *a, void *buffers[], size_t first,
                                        size_t links, const char ***addresses);

/** A slot for a potential of a batch that a task of this or of a finer level reads or writes. */
void potential_slot(struct slots *s, int level, uint32_t batch, enum gas_potential which,
                    enum starpu_data_access_mode mode);
/** A slot for gas_batch.shares of a batch that a task of a coarser level reads. */
void shares_slot(struct slots *s, int level, uint32_t batch);

/** A slot for the densities of a batch's particles, where there are particles. */
void matter_slot(struct slots *s, const struct gas *g, int level, uint32_t batch);
/** Number of these slots. */
static inline size_t matter_slots(const struct gas *g) { return g->particles != NULL; }
/** Add factor times the density of the particles of group i to a source.
 * @param buffers  from this slot on
 * @return factor times the sum of these densities */
double add_matter(const struct gas *g, void *buffers[], uint32_t i, double factor, double *source);

/** Whether stages that solve find densities in gas_level.density: cells of other homes are on other GPUs. */
static inline bool reads_densities(const struct gas *g) {
  return g->tasks.together && g->tasks.homes > 1;
}
/** Slots for the density of a batch: cells and, where there are particles, their densities, or gas_level.density. */
void density_slots(struct slots *s, const struct gas *g, int level, uint32_t batch);
/** Number of these slots. */
static inline size_t density_slots_count(const struct gas *g) {
  return reads_densities(g) ? 1 : 1 + matter_slots(g);
}
/** The source that they make for a GPU. @param buffers  from these slots on @param mass  as below */
struct gpu_density gpu_density_in(const struct batch_argument *a, void *buffers[], void *mass,
                                  double factor);

/** A source of the potential for a GPU.
 * @param mass    slot of pseudo-mass; NULL: there is none
 * @param matter  slot of particles' densities, where there are particles */
struct gpu_density gpu_density_of(const struct gas *g, void *cells, void *mass, void *matter,
                                  double factor);

/** Group i of a batch's potentials. */
static inline double *nth_potential(void *buffer, uint32_t i) {
  return nth(buffer, GAS_GROUP_CELLS * sizeof(double), i);
}

#endif
