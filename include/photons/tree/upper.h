/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes above groups. In isolated systems each group attracts each other one, but far ones together: the ORB tree
 * goes on above the groups. A group's walk begins with as few nodes of it as the acceptance criterion allows, and with
 * the trees of the groups that are below none of them. Which nodes these are follows from the boxes of all groups and
 * never from ranks or workers. A rank makes the nodes that have its own groups alone. Of those of another rank it
 * receives the highest ones that no group of this rank may open, and groups where there are none; from them and from its
 * own ones it makes the nodes that have groups of several ranks, of which the multipoles have the bits of one rank. */
#ifndef PHOTONS_TREE_UPPER_H
#define PHOTONS_TREE_UPPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/domain.h"

struct rank_targets;
struct short_range;

/** Levels of nodes of which one task makes the multipoles. */
enum { UPPER_LEVELS = 6 };
/** The owner of nodes that this rank makes. */
enum { UPPER_OWNER = -1 };

/** A node of the ORB tree above two groups or more that this rank makes. */
struct upper_node {
  /** What walks see: a group whose tree is a root alone and whose particles are not here, of index_above(). First, so that
   * children can be groups of any kind. */
  struct group group;
  struct node nodes[2]; /**< its tree, tree_nodes(0) */
  starpu_data_handle_t multipole;
  struct group *child[2]; /**< such nodes, groups of this rank, or what other ranks have told of */
  atomic_bool wanted;     /**< in the next forces */
  bool below;             /**< the task of a node above it makes it, too */
};

struct upper {
  struct upper_node *own,
      *top; /**< with groups of this rank alone, and those above; parents come before children */
  uint32_t own_count, top_count;
  struct group **highest; /**< [highest_count] own nodes and groups below no other own node */
  uint32_t highest_count;
  struct group *root; /**< above all groups, or the only group */
  struct upper_node *
      *task; /**< [tasks] the highest nodes of those that a task makes, parents before children */
  uint32_t tasks, first_own; /**< the first of own nodes; those before need what is received */
};

/** Whether forces of this system use nodes above groups. Known before any of them. */
bool upper_used(const struct short_range *s);
/** After domain_find_neighbours() of groups whose boxes are those of the forces that come next: tell other ranks of
 * those groups and nodes that their targets need. No task that writes trees or that uses nodes above groups may be at work. Collective.
 * @param targets  [comm_size()] bounds on the targets of ranks */
void upper_tell(struct short_range *s, const struct rank_targets *targets);
/** After that: find the sources of this rank's groups with targets, which become their neighbours, and which nodes
 * must be made for them and for other ranks. */
void upper_find(struct short_range *s);
/** Forget the nodes and free their memory. */
void upper_free(struct short_range *s);
/** The node that this is; NULL: a group, or a node of another rank. */
static inline struct upper_node *upper_node_of(const struct group *g) {
  return g->owner == UPPER_OWNER ? (struct upper_node *)g : NULL;
}
/** Levels from the nodes that a task reads to its highest one. */
unsigned upper_levels(const struct short_range *s, const struct upper_node *node);

#endif
