/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short-range force: the data that groups need for it, in addition to particles and trees. */
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
#include "photons/tree/targets.h"
#include "photons/tree/upper.h"

struct parameters;
struct gpu_split;

/** The data of a group of this rank for the short-range force. */
struct group_expansions {
  starpu_data_handle_t multipole, local; /**< [node][terms] */
  struct targets targets;
  struct lists lists;
  uint64_t pairs; /**< particle pairs of the last p2p task */
  /** While potentials are computed: [particle] the potential, [node] L_0 (fmm.h). */
  starpu_data_handle_t potential, constant;
  /** Over the particles of each type, of the last potential, in units of 1/r_cut. */
  double potential_sum[PARTICLE_TYPES];
};

/** Of a ghost there are only multipoles. */
struct ghost_multipole {
  uint32_t group;
  starpu_data_handle_t multipole; /**< [node][terms] */
};
struct ghost_multipoles {
  struct ghost_multipole *ghost; /**< by rising group */
  uint32_t count;
};

/** Scratch memory of a worker. */
struct tree_scratch {
  struct p2p_scratch p2p;
  struct walk_scratch walk;
  char padding[64]; /* so that workers do not share cache lines */
};

struct short_range {
  struct domain *domain;
  const struct tree_kernels *kernels;
  struct split split;
  struct p2p_law law;
  struct acceptance acceptance;
  int order; /**< of the expansions in memory: acceptance.order, or more, short_range_set_order() */
  bool expansions;                 /**< walks may accept pairs of nodes, short_range_expansions() */
  float theta, theta_first;        /**< of the acceptance, while they may */
  float factor;                    /**< G m / r_cut^2: unit of short-range accelerations */
  float heaviest;                  /**< relative mass of any particle of all ranks, at most */
  float eta_pair;                  /**< steps follow rates of pairs, pair_rates.h; 0: they do not */
  bool keep_near;                  /**< pair_rates reads the near lists of p2p after it */
  struct group_expansions *groups; /**< of this rank's groups */
  uint32_t first, count;           /**< the first of these groups, and their number */
  struct ghost_multipoles ghosts;
  struct upper upper;
  float *multipole, *local;     /**< memory of this rank's groups, in group order */
  struct tree_scratch *scratch; /**< [worker] */
  struct gpu_split **gpu;       /**< [worker] the split's tables on its GPU; NULL on CPU
                                    *   workers */
};

/** Units of lengths in expansions per position unit: `scale` of struct fmm_operators. */
static inline float expansion_scale(const struct short_range *s) {
  return s->split.unit * s->domain->geometry.scale;
}

/** Set up the short-range force of a domain, with the domain's r_cut. */
void short_range_start(struct short_range *s, struct domain *d, const struct parameters *p);
void short_range_free(struct short_range *s);
/** The domain has another r_cut, in units of which lengths are. The softening has no upper limit
 * after this. */
void short_range_rescale(struct short_range *s, const struct parameters *p);
/** Set the softening of all types of particles: softening_of_type(), which varies if its physical
 * length is limited.
 * @param most  no length is larger; comoving, kpc/h */
void short_range_set_softening(struct short_range *s, const struct parameters *p, double most);

/** Whether the next forces may use expansions. Without them all pairs in reach are summed directly.
 */
void short_range_expansions(struct short_range *s, bool use);

/** Make room for expansions of this order, with which nodes interact wherever those of
 * acceptance.order may. The expansions that there are are lost. No task may run. */
void short_range_set_order(struct short_range *s, int order);

/** Allocate and register expansions and lists; and the reverse. To be called with domain_register()
 * and domain_unregister(). */
void short_range_register(struct short_range *s);
void short_range_unregister(struct short_range *s);
/** After domain_find_neighbours() and refits: find the ghosts of the next forces, and make handles for what is
 * received of them; and where domain.sources_later the sources of groups. In isolated systems ranks receive what their walks can open, by bounds that hold for the
 * acceptance as it is now. No task that writes trees or that uses sources may be at work. Collective. */
void short_range_find_ghosts(struct short_range *s);
/** After domain_find_ghosts(): make handles for the multipoles of ghosts, and drop those of groups
 * that are no longer ghosts. */
void short_range_follow_ghosts(struct short_range *s);

static inline struct group_expansions *expansions_of(struct short_range *s, const struct group *g) {
  return &s->groups[g->index - s->first];
}
/** Of a group of this rank, of a ghost, or of a node above groups; NULL: of another group. */
starpu_data_handle_t multipole_of(struct short_range *s, const struct group *g);
static inline struct tree_scratch *tree_scratch(struct short_range *s) {
  return &s->scratch[worker_number()];
}

/** Work of the last force computation, summed over all ranks. */
struct work_counts {
  uint64_t pairs;        /**< particle pairs in direct sums */
  uint64_t interactions; /**< node pairs by expansions */
  uint64_t visits;       /**< node pairs that walks have judged */
};
/** The work of the last force computation; see struct work_counts. Collective. */
struct work_counts short_range_work(const struct short_range *s);

#endif
