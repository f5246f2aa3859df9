/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes above groups walks begin with, and which tasks make them. */
#include "photons/tree/upper.h"

#include <stdlib.h>

#include "ghost_bounds.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/scheduler.h"
#include "photons/tree/short_range.h"

LOOP_STAGE(sources, 0xaaaaaa);

bool upper_used(const struct short_range *s) {
  return s->split.kind == SPLIT_NEWTON && !scheduler_any_gpu();
}

/** Of all groups, which are all known here. */
static const struct group *group_at(const struct domain *d, uint32_t index) {
  const size_t first = d->particles.first_block, own = d->particles.blocks;
  if (index < first) return &d->met[index];
  return index < first + own ? &d->groups[index - first] : &d->met[index - own];
}

const struct group *upper_at(const struct short_range *s, uint32_t node) {
  const uint32_t groups = s->domain->group_count;
  return node < groups ? &s->upper.node[node].group : group_at(s->domain, node - groups);
}

/** Levels of a node above the groups. */
static unsigned height(const struct short_range *s, uint32_t node) {
  return node_level(s->domain->group_count) - node_level(node);
}

unsigned upper_levels(const struct short_range *s, uint32_t node) {
  return (height(s, node) - 1) % UPPER_LEVELS + 1;
}

static void make_nodes(struct short_range *s) {
  const uint32_t groups = s->domain->group_count;
  s->upper.node = allocate(groups, sizeof *s->upper.node, "nodes above groups");
  s->upper.task = allocate(groups, sizeof *s->upper.task, "nodes above groups");
  for (uint32_t k = 1; k < groups; k++)
    s->upper.node[k].group = (struct group){.index = groups + k, .owner = -1};
}

void upper_free(struct short_range *s) {
  for (uint32_t k = 1; s->upper.node && k < s->domain->group_count; k++) {
    struct upper_node *u = &s->upper.node[k];
    handle_drop(&u->group.tree);
    handle_drop(&u->group.node_mass);
    handle_drop(&u->multipole);
  }
  free(s->upper.node);
  free(s->upper.task);
  s->upper = (struct upper){0};
}

/** The boxes of all nodes. More particles than a walk can count are 0. */
static void fit_boxes(struct short_range *s) {
  for (uint32_t k = s->domain->group_count - 1; k > 0; k--) {
    struct upper_node *u = &s->upper.node[k];
    const struct group *left = upper_at(s, 2 * k), *right = upper_at(s, 2 * k + 1);
    const uint64_t count = (uint64_t)left->count + right->count;
    s->kernels->walk.join(s->domain->geometry.scale, &left->root, &right->root, &u->group.root);
    u->group.count = left->count > 0 && right->count > 0 && count <= INT32_MAX ? (uint32_t)count
                                                                               : 0;
    atomic_init(&u->wanted, false);
  }
}

/** Add the sources below a node to those of a group. */
static void add_sources(struct short_range *s, struct group *targets, uint32_t node) {
  struct group *source = (struct group *)upper_at(s, node);
  const bool single = node >= s->domain->group_count;
  if (single || (source->count > 0 && !ghost_may_open_above(s, targets, source))) {
    if (source != targets) neighbours_add(&targets->near, source);
    if (!single)
      atomic_store_explicit(&s->upper.node[node].wanted, true, memory_order_relaxed);
    return;
  }
  add_sources(s, targets, 2 * node);
  add_sources(s, targets, 2 * node + 1);
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
    if (g->targets > 0) add_sources(s, g, 1);
  }
}

/** Want the nodes that the task of a node reads. */
static void want_below(struct short_range *s, uint32_t node) {
  const unsigned levels = upper_levels(s, node);
  if (height(s, node) == levels) return; /* groups */
  for (uint32_t k = node << levels; k < (node + 1) << levels; k++)
    atomic_init(&s->upper.node[k].wanted, true);
}

/** Handles of a node that is wanted, and its tree. */
static void fit_handles(struct short_range *s, struct upper_node *u) {
  const size_t floats = tree_nodes(0) * fmm_multipole_size(s->order);
  if (!u->group.tree) {
    u->group.tree = handle_register(u->nodes, tree_nodes(0), sizeof *u->nodes);
    u->multipole = handle_make(floats, sizeof(float));
    if (particles_have(&s->domain->particles, COLUMN_relative_mass))
      u->group.node_mass = handle_make(tree_nodes(0), sizeof(float));
  }
  handle_acquire(u->group.tree, STARPU_W);
  u->nodes[1] = u->group.root;
  starpu_data_release(u->group.tree);
}

/** List the tasks that make all nodes that are wanted, and what they read. */
static void list_tasks(struct short_range *s) {
  struct upper *u = &s->upper;
  bool *below = allocate(s->domain->group_count, sizeof *below, "nodes above groups");
  u->tasks = 0;
  for (uint32_t k = 1; k < s->domain->group_count; k++) {
    const bool highest = upper_levels(s, k) == UPPER_LEVELS; /* that the task of its father reads */
    below[k] = k > 1 && !highest && (below[k / 2] || u->node[k / 2].wanted);
    if (!u->node[k].wanted) continue;
    fit_handles(s, &u->node[k]);
    if (below[k]) continue;
    u->task[u->tasks++] = k;
    want_below(s, k);
  }
  free(below);
}

/** Bytes of the nodes and of the lists of sources. */
static void count_kept(const struct short_range *s) {
  size_t bytes = s->domain->group_count * (sizeof *s->upper.node + sizeof *s->upper.task);
  FOR_GROUPS(s->domain, g) bytes += g->near.count * sizeof *g->near.group;
  kept_set(KEPT_WALKS, bytes);
}

void upper_find(struct short_range *s) {
  const uint32_t own = (uint32_t)s->domain->particles.blocks;
  DEBUG_CHECK(own + s->domain->met_count == s->domain->group_count,
              "of %u groups %u are known", s->domain->group_count, own + s->domain->met_count);
  if (!s->upper.node) make_nodes(s);
  fit_boxes(s);
  loop_run(&sources_stage, (own + SEARCHED - 1) / SEARCHED, find_sources, s);
  list_tasks(s);
  count_kept(s);
}
