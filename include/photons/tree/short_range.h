/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short-range force: what the groups of a domain have for it, beside particles and trees. */
#ifndef PHOTONS_TREE_SHORT_RANGE_H
#define PHOTONS_TREE_SHORT_RANGE_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/domain.h"
#include "photons/runtime/engine.h"
#include "photons/tree/kernels.h"
#include "photons/tree/lists.h"
#include "photons/tree/split.h"

struct parameters;
struct gpu_split;

/** What a group has for the short-range force. Of ghosts there are the multipoles. */
struct group_expansions {
  starpu_data_handle_t multipole, local; /**< [node][terms]; NULL: not here */
  struct lists lists;
  uint64_t pairs; /**< particle pairs of the last p2p */
};

/** Scratch memory of a worker. */
struct tree_scratch {
  struct p2p_scratch p2p;
  struct walk_scratch walk;
  char padding[64]; /* workers do not share cache lines */
};

struct short_range {
  struct domain *domain;
  const struct tree_kernels *kernels;
  struct split split;
  struct p2p_law law;
  struct acceptance acceptance;
  float factor; /**< G m / r_cut^2: unit of short-range accelerations */
  struct group_expansions *groups; /**< [group] of the domain */
  float *multipole, *local;        /**< memory of this rank's groups' rows, in group order */
  struct tree_scratch *scratch;    /**< [worker] */
  struct gpu_split **gpu;          /**< [worker] the split's tables on its GPU; NULL on cores */
};

/** Radii of the split: r_split and r_cut of the parameters, which count in mesh cells, in Mpc/h.
 * @param cell  side of a mesh cell, Mpc/h */
void short_range_start(struct short_range *s, struct domain *d, const struct parameters *p,
                       double cell);
void short_range_free(struct short_range *s);
/** Change the comoving softening (Mpc/h), as output of an upper limit in physical units. */
void short_range_set_softening(struct short_range *s, const struct parameters *p, double softening);

/** Handles of expansions and lists, and their memory; and their end. With domain_register(). */
void short_range_register(struct short_range *s);
void short_range_unregister(struct short_range *s);
/** After domain_find_ghosts(): room for the multipoles of ghosts, and only of these. */
void short_range_follow_ghosts(struct short_range *s);

static inline struct group_expansions *expansions_of(struct short_range *s, const struct group *g) {
  return &s->groups[g->index];
}
static inline struct tree_scratch *tree_scratch(struct short_range *s) {
  return &s->scratch[worker_number()];
}

/** Pairs, expansions and visited pairs of nodes of the last forces, all ranks. Collective. */
struct work_counts {
  uint64_t pairs;        /**< of particles */
  uint64_t interactions; /**< of nodes, by expansions */
  uint64_t visits;       /**< pairs of nodes looked at by walks */
};
struct work_counts short_range_work(const struct short_range *s);

#endif
