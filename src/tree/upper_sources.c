/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes above groups walks begin with, and which tasks make them. */
#include <stdlib.h>

#include "ghost_bounds.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/owner_computes.h"
#include "photons/tree/short_range.h"
#include "upper_nodes.h"

LOOP_STAGE(sources, 0xaaaaaa);

/** Add a source, or those below it, to the neighbours of a group. */
static void add_sources(struct short_range *s, struct group *targets, struct group *source) {
  struct upper_node *u = upper_node_of(source);
  const bool above = source->index >= s->domain->group_count;
  if (source == targets) return; /* already there */
  if (above && (source->count == 0 || ghost_may_open_above(s, targets, source))) {
    if (!u)
      fail(EXIT_RUN_FAILED,
           "internal error: group %u opens node %u above groups of rank %d, which has told of none "
           "below it",
           targets->index, source->index, source->owner);
    for (uint32_t k = 0; k < 2; k++) add_sources(s, targets, u->child[k]);
    return;
  }
  neighbours_add(&targets->near, source);
  if (u) atomic_store_explicit(&u->wanted, true, memory_order_relaxed);
}

/** Groups whose sources a part of the loop finds. */
enum { SEARCHED = 16 };

static void find_sources(void *context, uint32_t part) {
  struct short_range *s = context;
  const size_t own = s->domain->particles.blocks, end = ((size_t)part + 1) * SEARCHED;
  for (size_t i = (size_t)part * SEARCHED; i < own && i < end; i++) {
    struct group *g = &s->domain->groups[i];
    g->near.count = 0;
    neighbours_add(&g->near, g);
    if (g->targets > 0) add_sources(s, g, s->upper.root);
  }
}

/** Levels of a node above the groups. */
static unsigned height(const struct short_range *s, const struct upper_node *node) {
  const uint32_t groups = s->domain->group_count;
  return node_level(groups) - node_level(node->group.index - groups);
}

static bool is_top(const struct short_range *s, const struct upper_node *node) {
  return node >= s->upper.top && node < s->upper.top + s->upper.top_count;
}

unsigned upper_levels(const struct short_range *s, const struct upper_node *node) {
  /* what is below a top node has any number of levels */
  return is_top(s, node) ? 1 : (height(s, node) - 1) % UPPER_LEVELS + 1;
}

/** Want the nodes so many levels below a node. */
static void want_below(struct upper_node *node, unsigned levels) {
  for (uint32_t k = 0; k < 2; k++) {
    struct upper_node *child = upper_node_of(node->child[k]);
    if (!child) continue;
    if (levels == 1)
      atomic_init(&child->wanted, true);
    else
      want_below(child, levels - 1);
  }
}

/** The children of an own node, but for those that its task reads, are made by the task that makes the node. */
static void pass_below(const struct short_range *s, struct upper_node *node) {
  if (is_top(s, node) || upper_levels(s, node) == 1) return;
  for (uint32_t k = 0; k < 2; k++) {
    struct upper_node *child = upper_node_of(node->child[k]);
    if (child) child->below = node->below || node->wanted;
  }
}

/** The first group below an own node. */
static const struct group *first_below(const struct upper_node *u) {
  const struct group *g = &u->group;
  while (upper_node_of(g)) g = upper_node_of(g)->child[0];
  return g;
}

/** Handles of a node that is wanted, and its tree. The GPU that owns the first group below an own node makes its
 * multipole. */
static void fit_handles(struct short_range *s, struct upper_node *u) {
  const size_t floats = tree_nodes(0) * fmm_multipole_size(s->order);
  if (!u->group.tree) {
    u->group.tree = handle_register(u->nodes, tree_nodes(0), sizeof *u->nodes);
    u->multipole = handle_make(floats, sizeof(float));
    if (!is_top(s, u)) owner_share(u->multipole, group_place(s->domain, first_below(u)), s->count);
    if (particles_have(&s->domain->particles, COLUMN_relative_mass))
      u->group.node_mass = handle_make(tree_nodes(0), sizeof(float));
  }
  handle_acquire(u->group.tree, STARPU_W);
  u->nodes[1] = u->group.root;
  starpu_data_release(u->group.tree);
}

/** List the tasks that make those of some nodes that are wanted. */
static void list_tasks(struct short_range *s, struct upper_node *nodes, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    struct upper_node *u = &nodes[k];
    pass_below(s, u);
    if (!u->wanted) continue;
    fit_handles(s, u);
    if (u->below) continue;
    s->upper.task[s->upper.tasks++] = u;
    want_below(u, upper_levels(s, u));
  }
}

/** Want the nodes that other ranks have been told of. */
static void want_told(const struct domain *d) {
  for (uint32_t i = 0; i < d->told.count; i++) {
    struct upper_node *u = upper_node_of(group_known(d, d->told.ghost[i].group));
    if (u) atomic_init(&u->wanted, true);
  }
}

/** Bytes of the nodes and of the lists of sources. */
static void count_kept(const struct short_range *s) {
  const struct upper *u = &s->upper;
  size_t bytes = (u->own_count + u->top_count) * (sizeof *u->own + sizeof *u->task) +
                 (u->highest_count + u->own_count) * sizeof(struct group *);
  FOR_GROUPS(s->domain, g) bytes += g->near.count * sizeof(struct group *);
  kept_set(KEPT_WALKS, bytes);
}

static bool any_targets(const struct domain *d) {
  bool any = false;
  FOR_GROUPS(d, g) any |= g->targets > 0;
  return any;
}

void upper_find(struct short_range *s) {
  const uint32_t own = (uint32_t)s->domain->particles.blocks;
  struct upper *u = &s->upper;
  const bool targets = any_targets(s->domain);
  u->tasks = 0;
  upper_make_top(s, targets);
  if (targets) loop_run(&sources_stage, (own + SEARCHED - 1) / SEARCHED, find_sources, s);
  free(u->task);
  u->task = allocate((size_t)u->own_count + u->top_count, sizeof(struct upper_node *), "tasks");
  want_told(s->domain);
  list_tasks(s, u->top, u->top_count);
  u->first_own = u->tasks;
  list_tasks(s, u->own, u->own_count);
  count_kept(s);
}
