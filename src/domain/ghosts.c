/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ghosts: groups of other ranks that are neighbours of this rank's groups. Of their positions, only
 * those in branches of the tree within reach are sent. The owner of a ghost finds these branches and
 * tells the other rank which ones they are. */
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"
#include "photons/runtime/handle.h"

/* A message with fewer bytes takes longer to begin and to end than to travel. A task that packs one has a slot for each
 * of its ghosts and their trees, masses and types. */
enum { BUNDLE_BYTES = 1 << 20, BUNDLE_GHOSTS = 64 };

static int compare_ghosts(const void *a, const void *b) {
  const struct ghost *x = a, *y = b;
  return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                            : (x->group > y->group) - (x->group < y->group);
}

/** Sort by rank and group, and remove duplicates. */
static void sort_ghosts(struct ghosts *g) {
  qsort(g->ghost, g->count, sizeof *g->ghost, compare_ghosts);
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->count; i++)
    if (n == 0 || compare_ghosts(&g->ghost[n - 1], &g->ghost[i]) != 0) g->ghost[n++] = g->ghost[i];
  g->count = n;
}

/** List this rank's groups to send, or the groups to receive, with the other rank: the sources of
 * targets there, or here. If A is a neighbour of B, then B is one of A, so both ends find the same
 * list. */
static struct ghosts list_ghosts(const struct domain *d, bool sent) {
  const int me = comm_rank();
  size_t most = 0;
  FOR_GROUPS(d, own) most += own->near.count;
  struct ghosts g = {.ghost = allocate(most, sizeof *g.ghost, "ghosts")};
  FOR_GROUPS(d, own)
  for (uint32_t k = 1; k < own->near.count; k++) {
    const struct group *other = own->near.group[k];
    if (other->owner != me && (sent ? other : own)->targets > 0)
      g.ghost[g.count++] = (struct ghost){.group = sent ? own->index : other->index,
                                          .rank = other->owner};
  }
  sort_ghosts(&g);
  g.ghost = reallocate(g.ghost, g.count, sizeof *g.ghost, "ghosts");
  return g;
}

/** The box that holds all boxes of targets of a group, packed (targets.h) or not. Along an axis on
 * which particles may be more than half the box apart, the nearest images of packed targets may lie
 * on either side of each other: their box may reach beyond the group's, all around. */
static struct node box_of_targets(const struct geometry *geometry, const struct group *g) {
  const float half_box = 0.5f * (float)POSITION_TURN * geometry->scale;
  struct node box = g->root;
  for (int c = 0; c < 3; c++)
    if (2.0f * (box.half[c] + g->moved) > half_box) box.half[c] = half_box;
  return box;
}

/** Bits of the branches of a group's tree, below a node, that are, or may be, within reach of the
 * targets of another group. For nodes above the leaves rounding may hide a gap of 1e-4 in units of
 * r_cut^2. */
static uint64_t branches_near(const struct domain *d, const struct node *top, uint32_t node,
                              const struct node *targets, float moved) {
  const float reach = R_CUT + moved;
  if (box_gap_squared(&d->geometry, &top[node], targets) >= reach * reach + 1e-4f) return 0;
  const uint32_t branches = 1u << d->top_depth;
  if (node >= branches) return (uint64_t)1 << (node - branches);
  return branches_near(d, top, 2 * node, targets, moved) |
         branches_near(d, top, 2 * node + 1, targets, moved);
}

static struct ghost *find_ghost(const struct ghosts *g, uint32_t group, int rank) {
  const struct ghost key = {.group = group, .rank = rank};
  if (g->count == 0) return NULL;
  return bsearch(&key, g->ghost, g->count, sizeof key, compare_ghosts);
}

/** Find the branches of this rank's groups that are within reach of any group of the other rank. */
static void find_branches(struct domain *d) {
  FOR_GROUPS(d, own)
  for (uint32_t k = 1; k < own->near.count; k++) {
    const struct group *other = own->near.group[k];
    if (other->owner == own->owner || other->targets == 0) continue;
    const struct node targets = box_of_targets(&d->geometry, other);
    find_ghost(&d->sent, own->index, other->owner)->branches |= branches_near(
        d, own->top, 1, &targets, other->moved);
  }
}

/** Tell the ranks that receive ghosts which branches are sent. Both ends have the ghosts in the same order. */
static void exchange_branches(const struct domain *d) {
  const size_t ranks = (size_t)comm_size(), sent = d->sent.count, received = d->received.count;
  size_t *bytes = allocate(2 * ranks, sizeof *bytes, "message sizes");
  uint64_t *branches = allocate(sent + received, sizeof *branches, "ghosts"),
           *told = branches + sent;
  for (size_t i = 0; i < sent; i++) {
    branches[i] = d->sent.ghost[i].branches;
    bytes[d->sent.ghost[i].rank] += sizeof *branches;
  }
  for (size_t i = 0; i < received; i++)
    bytes[ranks + (size_t)d->received.ghost[i].rank] += sizeof *branches;
  comm_exchange(branches, bytes, told, bytes + ranks);
  for (size_t i = 0; i < received; i++) d->received.ghost[i].branches = told[i];
  free(branches);
  free(bytes);
}

static void count_particles(const struct domain *d, struct ghosts *g) {
  for (uint32_t i = 0; i < g->count; i++) {
    struct ghost *ghost = &g->ghost[i];
    const uint32_t all = group_known(d, ghost->group)->count;
    /* StarPU requires an initialised handle, so at least one branch is sent. */
    if (ghost->branches == 0) ghost->branches = 1;
    for (uint32_t b = 0; b < 1u << d->top_depth; b++)
      if (ghost->branches >> b & 1)
        ghost->count += level_first(all, d->top_depth, b + 1) - level_first(all, d->top_depth, b);
  }
}

/** Divide the ghosts of each rank into bundles. Bundles of the same place on the list of before keep their handles. */
static void make_bundles(const struct domain *d, struct ghosts *g) {
  const uint32_t before = g->bundles;
  struct bundle *bundle = allocate(g->count > before ? g->count : before, sizeof *bundle,
                                   "bundles of ghosts");
  for (uint32_t i = 0; i < before; i++) bundle[i] = g->bundle[i];
  free(g->bundle);
  size_t bytes = 0;
  g->bundles = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const size_t more = 3 * sizeof(uint32_t) * g->ghost[i].count +
                        tree_nodes(d->depth) * sizeof(struct node);
    struct bundle *last = g->bundles > 0 ? &bundle[g->bundles - 1] : NULL;
    if (!last || g->ghost[last->first].rank != g->ghost[i].rank || bytes + more > BUNDLE_BYTES ||
        i - last->first == BUNDLE_GHOSTS) {
      last = &bundle[g->bundles++];
      last->first = i;
      bytes = 0;
    }
    last->end = i + 1;
    bytes += more;
  }
  for (uint32_t i = g->bundles; i < before; i++)
    for (int k = 0; k < BUNDLE_KINDS; k++) handle_drop(&bundle[i].data[k]);
  g->bundle = reallocate(bundle, g->bundles, sizeof *bundle, "bundles of ghosts");
}

/**
 * Replace a list of ghosts.
 * @param received  groups of ghosts that are only on the old list are dropped
 */
static void replace(struct domain *d, struct ghosts *old, struct ghosts new, bool received) {
  for (uint32_t i = 0; i < old->count && received; i++) {
    const struct ghost *ghost = &old->ghost[i];
    struct group *group = find_ghost(&new, ghost->group, ghost->rank)
                              ? NULL
                              : group_known(d, ghost->group);
    if (group) ghost_drop(group); /* else it was dropped when it was out of reach */
  }
  free(old->ghost);
  old->ghost = new.ghost;
  old->count = new.count;
}

void ghost_drop(struct group *g) {
  handle_drop(&g->column[COLUMN_position]);
  handle_drop(&g->column[COLUMN_relative_mass]);
  handle_drop(&g->column[COLUMN_type]);
  handle_drop(&g->column[COLUMN_momentum]);
  handle_drop(&g->tree);
  handle_drop(&g->node_mass);
}

static void make_tree(const struct domain *d, struct group *g) {
  const size_t nodes = tree_nodes(d->depth);
  if (g->column[COLUMN_position]) return;
  g->column[COLUMN_position] = handle_make(3 * (size_t)g->count, sizeof(uint32_t));
  g->tree = handle_make(nodes, sizeof(struct node));
  if (d->ghost_momenta)
    g->column[COLUMN_momentum] = handle_make(3 * (size_t)g->count, sizeof(float));
  if (particles_have(&d->particles, COLUMN_type))
    g->column[COLUMN_type] = handle_make(g->count, sizeof(uint8_t));
  if (!particles_have(&d->particles, COLUMN_relative_mass)) return;
  g->column[COLUMN_relative_mass] = handle_make(g->count, sizeof(float));
  g->node_mass = handle_make(nodes, sizeof(float));
}

void domain_find_ghosts(struct domain *d) {
  if (comm_size() == 1) return;
  replace(d, &d->sent, list_ghosts(d, true), false);
  replace(d, &d->received, list_ghosts(d, false), true);
  find_branches(d);
  exchange_branches(d);
  count_particles(d, &d->sent);
  count_particles(d, &d->received);
  make_bundles(d, &d->sent);
  make_bundles(d, &d->received);
  for (uint32_t i = 0; i < d->received.count; i++)
    make_tree(d, group_known(d, d->received.ghost[i].group));
  kept_set(KEPT_GHOSTS,
           (d->sent.count + d->received.count) * (sizeof *d->sent.ghost + sizeof(uint64_t)) +
               (d->sent.bundles + d->received.bundles) * sizeof *d->sent.bundle);
}

bool domain_leaf_here(const struct domain *d, const struct group *g, uint32_t leaf) {
  if (g->owner == comm_rank()) return true;
  const struct ghost *ghost = find_ghost(&d->received, g->index, g->owner);
  return ghost && ghost->branches >> (leaf >> (d->depth - d->top_depth)) & 1;
}

void domain_drop_ghosts(struct domain *d) {
  replace(d, &d->sent, (struct ghosts){0}, false);
  replace(d, &d->received, (struct ghosts){0}, true);
  make_bundles(d, &d->sent);
  make_bundles(d, &d->received);
  free(d->sent.bundle);
  free(d->received.bundle);
  d->sent.bundle = d->received.bundle = NULL;
}
