/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The domain: the particles of all ranks, cut into groups by orthogonal recursive bisection (ORB),
 * the owner of each group, and the groups of other ranks that are known here (ghosts). The domain
 * knows nothing of forces: the analysis uses it without a solver. */
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
/** Choose the layout from runtime.leaf_size, runtime.group_size and the number of particles N. */
struct domain_layout domain_layout_choose(const struct parameters *p, size_t particles);
/** The level of a group's tree down to which the host knows the nodes, struct domain.top_depth.
 * @param reach_all  isolated systems: all groups are sources of all */
unsigned domain_top_depth(const struct domain_layout *l, size_t particles, bool reach_all);

struct group;

/** Groups that are, or may be, within r_cut of a group. Slot 0 is the group itself; the others
 * follow by rising index. */
struct neighbours {
  struct group **group; /**< [slot]; until the next search for neighbours */
  uint32_t count, room; /**< slots, and those for which memory is allocated */
};

/** An ORB subtree: the unit of data, work, ownership and communication. A rank knows its own groups, and those
 * of other ranks that may be within reach of its domain. The data of its own groups are in memory; of ghosts,
 * those parts that their owners sent. */
struct group {
  uint32_t index, count;
  int owner;        /**< rank */
  uint32_t targets; /**< particles whose forces are computed next, and */
  float moved;      /**< how far particles may have moved since the last refit, units of r_cut: the
                       *   owner sets both, and domain_find_neighbours() tells them to the ranks around */
  struct node root; /**< box of all its particles at the last refit */
  struct tree_part part; /**< that is on this rank */
  struct node *nodes;    /**< tree_nodes(depth); own groups */
  /** Upper levels of the tree, tree_nodes(top_depth) nodes, for the host; own groups. */
  struct node *top;
  struct neighbours near;
  struct kick_largest largest; /**< of its particles at the last kick */
  /** NULL: not on this rank. Ghosts have position and tree, relative_mass and type if there are
   * such columns, and momentum if domain.ghost_momenta. */
  starpu_data_handle_t column[PARTICLE_COLUMN_COUNT], tree;
  /** Sums of relative_mass of all nodes, tree_nodes(depth), set by a refit; NULL: masses are 1. */
  starpu_data_handle_t node_mass;
};

/** A group that has a neighbour on another rank: one of this rank's groups that is sent to that
 * rank, or a group that is received from there. Of its tree some branches are sent, with their
 * positions and the nodes above them. Where there are none, only upper nodes are. */
struct ghost {
  uint32_t group;
  int rank;       /**< rank that it is sent to or received from */
  uint32_t count; /**< particles in the branches */
  uint32_t
      bits; /**< ghosts before this one whose parts have bits: all but nodes above groups, of which the root is sent */
  struct tree_part part; /**< of the group, that is sent */
};
/** Which part of its groups a rank sends to another one. */
struct ghost_rule {
  /** @param g  a group of this rank with its `top`; no node above groups
   *  @param rank  another one, which has targets
   *  @param[out] below  as in struct tree_part; no bit is set before */
  void (*part)(const void *context, const struct group *g, int rank, uint64_t *below);
  const void *context;
};
/** What a message carries of ghosts: their particles and trees, ... */
enum bundle_kind { BUNDLE_PARTICLES, BUNDLE_MULTIPOLES, BUNDLE_MOMENTA, BUNDLE_KINDS };
/** Ghosts of a rank whose data go in one message, first .. end - 1 of their list. Both ends have the same ones. */
struct bundle {
  uint32_t first, end;
  starpu_data_handle_t data[BUNDLE_KINDS]; /**< see ghosts_transfer() */
};
struct ghosts {
  struct ghost *ghost; /**< by rank, then group */
  uint64_t *below;     /**< of their parts, one after the other: see ghost.bits */
  uint32_t count, bundles;
  struct bundle *bundle;
};

struct domain {
  struct particles particles;
  struct geometry geometry;
  unsigned depth; /**< of every group's tree */
  /** Of the upper part, whose lowest nodes are the branches of ghosts: 64, or more of large groups; 0 for one rank. */
  unsigned top_depth;
  uint32_t group_count; /**< of all ranks, a power of two */
  struct group *groups; /**< [particles.blocks] this rank's groups, by rising index */
  struct group *met; /**< [met_count] groups of other ranks that may be within reach of this rank's
                         *   domain, by rising index, since domain_find_neighbours(); with sources_later those
                         *   that others have told of, and nodes above groups, since domain_tell() */
  uint32_t met_count;
  uint32_t *owner_first; /**< [comm_size() + 1] first group of each rank; NULL: dealt out evenly */
  double *group_seconds; /**< [own group] core seconds of its tasks; balance.h resets them */
  double *
      unit_cost; /**< mean of the recent past, of units of groups (balance.h); NULL: not measured yet */
  bool registered;          /**< the particles' memory is registered with StarPU */
  struct node *nodes, *top; /**< memory of group.nodes and group.top of this rank's groups, in group
                             *   order */
  struct ghosts sent, received;
  bool ghost_momenta; /**< ghosts have momenta, ghosts_momenta_submit() */
  /** All groups are sources of all. Forces tell ranks of each other's groups (domain_tell()), and make the lists of
   * neighbours themselves, of nodes above groups (photons/tree/upper.h). */
  bool sources_later;
  struct group *
      *above; /**< [above_count] such nodes that have groups of this rank alone, by rising index */
  uint32_t above_count;
  struct ghosts told; /**< what this rank has told others of, by rank, then index */
};

/**
 * Make a domain that owns the particles, with no groups in memory yet.
 * @param geometry  only neighbours and ghosts need its r_cut
 */
struct domain domain_make(struct particles particles, const struct domain_layout *layout,
                          struct geometry geometry);
/** Allocate the groups and register their handles. Particles that are not sorted into groups are
 * sorted first, as by domain_rebuild(). */
void domain_start(struct domain *d);
/** Free a domain and its particles. */
void domain_free(struct domain *d);

/**
 * Sort the particles of all ranks into groups and trees (ORB by exact medians along the longest
 * side; ties keep the order of the particles), and move them to the owners of their groups. Waits
 * for all tasks first. With GPUs tasks do all this, and the sorts of the groups (sort_submit())
 * may not have ended. A refit must follow. Collective.
 */
void domain_rebuild(struct domain *d);
/** The same for particles without a domain, e.g. those of a snapshot. The host sorts all. */
void domain_sort_particles(struct particles *p, const struct domain_layout *layout);

/** First group of a rank; the number of groups for rank comm_size(). */
uint32_t group_first(const struct domain *d, int rank);
/** The rank that owns a group. */
int group_owner(const struct domain *d, uint32_t group);
/** For each group of this rank. */
#define FOR_GROUPS(d, g) \
  for (struct group *g = (d)->groups; g < (d)->groups + (d)->particles.blocks; g++)
/** The number of a group of this rank among the groups of this rank. */
static inline uint32_t group_place(const struct domain *d, const struct group *g) {
  return g->index - (uint32_t)d->particles.first_block;
}
/** Index of a node above groups, by its place in a heap of 2 group_count nodes whose leaves are the groups. */
static inline uint32_t index_above(const struct domain *d, uint32_t node) {
  return d->group_count + node;
}
/** A group that this rank owns or has met, or such a node above groups, by its index; NULL: neither. */
struct group *group_known(const struct domain *d, uint32_t index);
/** Register handles for this rank's groups and their memory; unregister them, after copying the
 * data back to host memory. */
void domain_register(struct domain *d);
void domain_unregister(struct domain *d);
/** Give groups new owners: rank r gets groups owner_first[r] .. owner_first[r + 1] - 1. Collective.
 * Handles must be unregistered. */
void domain_migrate(struct domain *d, const uint32_t *owner_first);

/** Between these two calls the host may change the particles. domain_acquire() waits for all
 * tasks. */
void domain_acquire(struct domain *d);
void domain_release(struct domain *d);
/** Double the side of the frame of an isolated system, and r_cut with it. No particle moves by more
 * than half a position unit. Nodes count lengths in units of r_cut: a refit must follow. Between
 * domain_acquire() and domain_release(). Local, but all ranks must call it. */
void domain_double_frame(struct domain *d);

/** Between these two calls the host may read positions and ids, while tasks run that do not write
 * them. */
void domain_acquire_positions(struct domain *d);
void domain_release_positions(struct domain *d);

/** Note the boxes of this rank's groups at their last refit. Unless domain.sources_later send them, and `targets` and
 * `moved` of groups, to the ranks whose domains they may reach, and find the neighbours of this rank's groups, or all that may be
 * neighbours where particles may have moved. No task may run that knows a group of another rank. Collective. */
void domain_find_neighbours(struct domain *d);
/** Whether a group of this rank has targets, or a neighbour that has some. After
 * domain_find_neighbours(), unless domain.sources_later. */
bool domain_source_wanted(const struct group *g);
/** Where domain.sources_later: tell ranks of groups of this rank and of domain.above, their boxes and targets. What is
 * told here replaces the groups that were met before. Collective.
 * @param told  by rank and in any order; the domain frees it
 * @param held  bytes for each rank that the caller has meanwhile, for log/ranks.csv */
void domain_tell(struct domain *d, struct ghosts told, size_t held);
/** Sort by rank and group, and remove duplicates. */
void ghosts_sort(struct ghosts *g);
/** Add a group to a list of neighbours. */
void neighbours_add(struct neighbours *near, struct group *group);
/** After domain_find_neighbours(): find the groups to send to and receive from other ranks, because
 * they are neighbours of groups with targets, and the parts of their trees that are needed; and
 * make handles for them. Collective.
 * @param rule  that says which parts; NULL: the branches that are within r_cut of targets */
void domain_find_ghosts(struct domain *d, const struct ghost_rule *rule);
/** Whether particles of a group are on this rank, so that its columns have handles. */
static inline bool group_has_particles(const struct group *g) { return g->part.branches != 0; }
/** The number of neighbours of a group whose particles are on this rank. */
uint32_t near_with_particles(const struct neighbours *near);
/** Forget all ghosts and free their memory. */
void domain_drop_ghosts(struct domain *d);
/** Forget what a group of another rank has here as a ghost. */
void ghost_drop(struct group *g);
/** Whether a group belongs to another rank and a part of its tree is received here. */
static inline bool group_is_ghost(const struct group *g) {
  return g->owner != comm_rank() && g->tree != NULL;
}

/** Squared gap between the nearest images of two boxes, in units of r_cut^2. */
float box_gap_squared(const struct geometry *geometry, const struct node *a, const struct node *b);
/** A box around the nearest images of two boxes, widened by more than the rounding of floats. */
struct node box_around(const struct geometry *geometry, const struct node *a, const struct node *b);

#endif
