/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The domain: the particles of all ranks, cut into groups by orthogonal recursive bisection (ORB), who
 * owns which group, and which groups of other ranks are known here (ghosts). It knows nothing of
 * forces: analysis uses it without a solver. */
#ifndef PHOTONS_DOMAIN_DOMAIN_H
#define PHOTONS_DOMAIN_DOMAIN_H

#include <starpu.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/comm.h"
#include "photons/domain/geometry.h"
#include "photons/domain/kick_largest.h"
#include "photons/domain/particles.h"
#include "photons/domain/tree.h"

struct parameters;

/** Sizes of the groups and trees. They depend on N and on whether any rank uses GPUs, never on the
 * number of workers or ranks, so that results are reproducible. */
struct domain_layout {
  uint32_t leaf_size;   /**< most particles of a leaf */
  uint32_t group_count; /**< of all ranks, a power of two */
  unsigned depth;       /**< of every group's tree */
};
struct domain_layout domain_layout_choose(const struct parameters *p, size_t particles);

/** Groups in reach of a group: slot 0 is the group itself, the others follow by rising index. */
struct neighbours {
  uint32_t count;
  uint32_t *group; /**< [slot] index */
  uint32_t room;   /**< slots that there is memory for */
};

/** An ORB subtree: unit of data, work, ownership and communication. Every rank has a table of all
 * groups; in memory are the data of its own groups, and of others what they sent. */
struct group {
  uint32_t index, count;
  int owner;        /**< rank */
  struct node root; /**< box of all its particles, of the last refit */
  struct node *nodes; /**< tree_nodes(depth); own groups */
  struct node *top;   /**< tree_nodes(top_depth): upper levels, for the host; own groups and ghosts */
  struct neighbours near;
  struct kick_largest largest; /**< of the last kick */
  /** NULL: not here. Of ghosts there are position and tree. */
  starpu_data_handle_t column[PARTICLE_COLUMN_COUNT], tree;
};

/** A group that is near a group of another rank: an own one that is sent there, or one that is received
 * from there. Of its positions only those in some branches of its tree travel. */
struct ghost {
  uint32_t group;
  int rank;                    /**< the other end */
  uint32_t count;              /**< particles in the branches */
  uint64_t branches;           /**< bits: nodes of level top_depth */
  starpu_data_handle_t packed; /**< their positions, [3][count] */
};
struct ghosts {
  struct ghost *ghost; /**< by rank, then group */
  uint32_t count;
};
enum { TOP_DEPTH_MOST = 6 }; /* 64 branches, the bits of `branches` */

struct domain {
  struct particles particles;
  struct geometry geometry;
  unsigned depth;        /**< of every group's tree */
  unsigned top_depth;    /**< of the part of it that other ranks are told first; 0 on one rank */
  uint32_t group_count;  /**< of all ranks, a power of two */
  struct group *groups;
  uint32_t *owner_first; /**< [rank] first group of each, and the end; NULL: dealt out evenly */
  double *group_seconds; /**< [group] spent on tasks, of one core; balance.h resets them */
  double *group_cost;    /**< [group] measured in the recent past; NULL: not yet (balance.h) */
  bool registered;       /**< StarPU knows where the particles are */
  struct node *nodes, *top; /**< memory of this rank's groups' rows, in group order */
  struct node *ghost_top;   /**< and of ghosts, in the order of `received` */
  struct ghosts sent, received;
};

/**
 * Take over particles, with no groups in memory yet: enough for domain_rebuild().
 * @param geometry  only neighbours and ghosts need its r_cut
 */
struct domain domain_make(struct particles particles, const struct domain_layout *layout,
                          struct geometry geometry);
/** Groups, their memory and their handles; rebuilds first where the particles are not in groups. */
void domain_start(struct domain *d);
/** The end of it; the particles are freed. */
void domain_free(struct domain *d);

/**
 * Sort the particles of all ranks into groups and trees (ORB by exact medians along the longest side,
 * ties in the order of the particles) and move them to their groups' owners. Collective. Where handles
 * are registered: between domain_acquire() and domain_release().
 */
void domain_rebuild(struct domain *d);
/** The same for particles of which nothing else is wanted, e.g. those of a snapshot. */
void domain_sort_particles(struct particles *p, const struct domain_layout *layout);

/** First group of a rank; rank comm_size(): the end. */
uint32_t group_first(const struct domain *d, int rank);
/** The rank that has a group. */
int group_owner(const struct domain *d, uint32_t group);
/** For each group of this rank. */
#define FOR_GROUPS(d, g)                                                                  \
  for (struct group *g = (d)->groups + group_first((d), comm_rank()),                     \
                    *end_of_groups = (d)->groups + group_first((d), comm_rank() + 1);     \
       g < end_of_groups; g++)

/** Handles of this rank's groups and their memory; and the end: what tasks wrote comes back. */
void domain_register(struct domain *d);
void domain_unregister(struct domain *d);
/** Give groups new owners: rank r gets groups owner_first[r] .. owner_first[r + 1] - 1. Collective,
 * with handles unregistered. */
void domain_migrate(struct domain *d, const uint32_t *owner_first);

/** The host may touch the particles between these two; all tasks are done. */
void domain_acquire(struct domain *d);
void domain_release(struct domain *d);
/** The host may read positions and ids between these two; tasks that do not write them may run. */
void domain_acquire_positions(struct domain *d);
void domain_release_positions(struct domain *d);

/** After refit: tell all ranks the boxes of all groups, and find this rank's groups' neighbours. Collective. */
void domain_find_neighbours(struct domain *d);
/** After that: find which groups go to and come from other ranks, and which of their particles, and make
 * room for them. Collective. */
void domain_find_ghosts(struct domain *d);
void domain_drop_ghosts(struct domain *d);
/** Is it a group of another rank whose position and tree are here? */
static inline bool group_is_ghost(const struct group *g) {
  return g->owner != comm_rank() && g->tree != NULL;
}

/** Squared gap between two boxes, nearest images, units of r_cut. */
float box_gap_squared(const struct geometry *geometry, const struct node *a, const struct node *b);

#endif
