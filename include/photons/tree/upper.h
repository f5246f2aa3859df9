/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes above groups. In isolated systems each group attracts each other one, but far ones together: the ORB tree
 * goes on above the groups, and a group's walk begins with as few nodes of it as the acceptance criterion allows, and
 * with the trees of the groups that are below none of them. Which nodes these are follows from the boxes of all groups
 * and never from ranks or workers. */
#ifndef PHOTONS_TREE_UPPER_H
#define PHOTONS_TREE_UPPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/domain.h"

struct short_range;

/** Levels of nodes of which one task makes the multipoles. */
enum { UPPER_LEVELS = 6 };

/** A node of the ORB tree above two groups or more. */
struct upper_node {
  /** What walks see: a group whose tree is a root alone and whose particles are not here. Its index is the number of
   * groups plus that of the node; it has no owner. */
  struct group group;
  struct node nodes[2]; /**< its tree, tree_nodes(0) */
  starpu_data_handle_t multipole;
  atomic_bool wanted; /**< in the next forces */
};

/** Runs with GPUs have none: their walks begin with all groups. */
struct upper {
  struct upper_node *node; /**< [group_count] in heap order, node 1 is above all groups; NULL: none */
  uint32_t *task; /**< [tasks] the highest nodes of those that a task makes, above before below */
  uint32_t tasks;
};

/** Whether forces of this system use nodes above groups. Known before any of them. */
bool upper_used(const struct short_range *s);
/** After domain_find_neighbours() of groups whose boxes are those of the forces that come next: find the sources of
 * this rank's groups with targets, which become their neighbours, and which nodes must be made for them. No task
 * may be at work. */
void upper_find(struct short_range *s);
/** Forget the nodes and free their memory. */
void upper_free(struct short_range *s);
/** A node, or a group that this rank knows, by its place in the heap of 2 group_count nodes. */
const struct group *upper_at(const struct short_range *s, uint32_t node);
/** Levels from the nodes that a task reads to its highest one. */
unsigned upper_levels(const struct short_range *s, uint32_t node);

#endif
