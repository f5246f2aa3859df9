/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes above groups of this rank, and what other ranks are told of. */
#include "photons/tree/upper.h"

#include <stdlib.h>

#include "ghost_bounds.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/tree/short_range.h"
#include "upper_nodes.h"

bool upper_used(const struct short_range *s) { return s->split.kind == SPLIT_NEWTON; }

/** Groups of all ranks below a place in the heap, first .. end - 1. */
struct span {
  size_t first, end;
};
static struct span span_of(const struct domain *d, uint32_t node) {
  const unsigned below = node_level(d->group_count) - node_level(node);
  return (struct span){((size_t)node << below) - d->group_count,
                       (((size_t)node + 1) << below) - d->group_count};
}

static struct upper_node *new_node(struct upper_node *nodes, uint32_t *count,
                                   const struct domain *d, uint32_t node) {
  struct upper_node *u = &nodes[(*count)++];
  *u = (struct upper_node){.group = {.index = index_above(d, node), .owner = UPPER_OWNER}};
  return u;
}

/** Nodes that have groups of this rank alone. */
static struct group *make_own(struct short_range *s, uint32_t node) {
  const struct domain *d = s->domain;
  if (node >= d->group_count) return group_known(d, node - d->group_count);
  struct upper_node *u = new_node(s->upper.own, &s->upper.own_count, d, node);
  for (uint32_t k = 0; k < 2; k++) u->child[k] = make_own(s, 2 * node + k);
  return &u->group;
}

/** The highest of these nodes below a node. */
static void make_highest(struct short_range *s, uint32_t node) {
  const struct particles *p = &s->domain->particles;
  const struct span span = span_of(s->domain, node);
  if (span.end <= p->first_block || span.first >= p->first_block + p->blocks) return;
  if (span.first >= p->first_block && span.end <= p->first_block + p->blocks) {
    s->upper.highest[s->upper.highest_count++] = make_own(s, node);
    return;
  }
  make_highest(s, 2 * node);
  make_highest(s, 2 * node + 1);
}

static int compare_index(const void *a, const void *b) {
  const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
  return (x->index > y->index) - (x->index < y->index);
}

static void make_nodes(struct short_range *s) {
  struct domain *d = s->domain;
  struct upper *u = &s->upper;
  const size_t own = d->particles.blocks;
  u->own = allocate(own, sizeof *u->own, "nodes above groups");
  u->highest = allocate(own, sizeof(struct group *), "nodes above groups");
  make_highest(s, 1);
  d->above = allocate(own, sizeof(struct group *), "nodes above groups");
  d->above_count = u->own_count;
  for (uint32_t k = 0; k < u->own_count; k++) d->above[k] = &u->own[k].group;
  qsort(d->above, d->above_count, sizeof *d->above, compare_index);
}

static void drop_handles(struct upper_node *nodes, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    handle_drop(&nodes[k].group.tree);
    handle_drop(&nodes[k].group.node_mass);
    handle_drop(&nodes[k].multipole);
  }
}

static void drop_top(struct upper *u) {
  drop_handles(u->top, u->top_count);
  free(u->top);
  u->top = NULL;
  u->top_count = 0;
}

void upper_free(struct short_range *s) {
  struct upper *u = &s->upper;
  drop_handles(u->own, u->own_count);
  drop_top(u);
  free(u->own);
  free(u->highest);
  free(u->task);
  free(s->domain->above);
  s->domain->above = NULL;
  s->domain->above_count = 0;
  *u = (struct upper){0};
}

/** Find the boxes of some nodes from those of their children, and forget which are wanted. More particles than a walk can
 * count are 0: such a node is always opened. */
static void fit(const struct short_range *s, struct upper_node *nodes, uint32_t count) {
  for (uint32_t k = count; k-- > 0;) {
    struct upper_node *u = &nodes[k];
    const struct group *left = u->child[0], *right = u->child[1];
    const uint64_t particles = (uint64_t)left->count + right->count;
    const bool few = left->count > 0 && right->count > 0 && particles <= INT32_MAX;
    s->kernels->walk.join(s->domain->geometry.scale, &left->root, &right->root, &u->group.root);
    u->group.count = few ? (uint32_t)particles : 0;
    u->below = false;
    atomic_init(&u->wanted, false);
  }
}

/** Of a node and those below it: what a rank may not open. */
static void tell_below(struct short_range *s, const struct rank_targets *targets, int rank,
                       struct group *g, struct ghosts *told, uint32_t *room) {
  struct upper_node *u = upper_node_of(g);
  if (u && (g->count == 0 || ghost_may_open_above_any(s, targets, g))) {
    for (uint32_t k = 0; k < 2; k++) tell_below(s, targets, rank, u->child[k], told, room);
    return;
  }
  if (told->count == *room) {
    *room = 2 * *room + 64;
    told->ghost = reallocate(told->ghost, *room, sizeof *told->ghost, "ghosts");
  }
  told->ghost[told->count++] = (struct ghost){.group = g->index, .rank = rank};
}

void upper_tell(struct short_range *s, const struct rank_targets *targets) {
  struct upper *u = &s->upper;
  if (!u->own) make_nodes(s);
  fit(s, u->own, u->own_count);
  if (comm_size() == 1) return;
  struct ghosts told = {0};
  uint32_t room = 0;
  for (int r = 0; r < comm_size(); r++) {
    if (r == comm_rank() || targets[r].regions == 0) continue;
    for (uint32_t k = 0; k < u->highest_count; k++)
      tell_below(s, &targets[r], r, u->highest[k], &told, &room);
  }
  domain_tell(s->domain, told, sizeof *targets);
}

/** Nodes that have groups of several ranks. */
static struct group *make_top(struct short_range *s, uint32_t node) {
  const struct domain *d = s->domain;
  struct group *known = group_known(d, node < d->group_count ? index_above(d, node)
                                                             : node - d->group_count);
  if (known) return known;
  if (node >= d->group_count)
    fail(EXIT_RUN_FAILED, "internal error: no rank has told of group %u", node - d->group_count);
  struct upper_node *u = new_node(s->upper.top, &s->upper.top_count, d, node);
  for (uint32_t k = 0; k < 2; k++) u->child[k] = make_top(s, 2 * node + k);
  return &u->group;
}

void upper_make_top(struct short_range *s, bool targets) {
  struct upper *u = &s->upper;
  const size_t most = (size_t)u->highest_count + s->domain->met_count;
  drop_top(u);
  if (!targets) return;
  u->top = allocate(most, sizeof *u->top, "nodes above groups");
  u->root = make_top(s, 1);
  fit(s, u->top, u->top_count);
}
