/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ghosts: groups of other ranks that are neighbours of this rank's groups. Of their trees and positions, only
 * the branches that are needed are sent, with the nodes above them; of far groups of isolated systems only upper
 * levels of the tree. The owner of a group finds them and tells the other rank. */
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"

/* A message with fewer bytes takes longer to begin and to end than to travel. A task that packs one has a slot for each
 * of its ghosts and their trees, masses and types. */
enum { BUNDLE_BYTES = 1 << 20, BUNDLE_GHOSTS = 64 };

#define FOR_GHOSTS(list, g) \
  for (struct ghost *g = (list)->ghost; g && g < (list)->ghost + (list)->count; g++)

static int compare_ghosts(const void *a, const void *b) {
  const struct ghost *x = a, *y = b;
  return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                            : (x->group > y->group) - (x->group < y->group);
}

void ghosts_sort(struct ghosts *g) {
  qsort(g->ghost, g->count, sizeof *g->ghost, compare_ghosts);
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->count; i++)
    if (n == 0 || compare_ghosts(&g->ghost[n - 1], &g->ghost[i]) != 0) g->ghost[n++] = g->ghost[i];
  g->count = n;
}

/** The same where forces tell ranks of each other's groups. */
static struct ghosts list_told(const struct domain *d, bool sent) {
  struct ghosts g = {.count = sent ? d->told.count : d->met_count};
  g.ghost = allocate(g.count, sizeof *g.ghost, "ghosts");
  for (uint32_t i = 0; i < g.count; i++)
    g.ghost[i] = sent ? d->told.ghost[i]
                      : (struct ghost){.group = d->met[i].index, .rank = d->met[i].owner};
  ghosts_sort(&g);
  return g;
}

/** List this rank's groups to send, or the groups to receive, with the other rank: the sources of
 * targets there, or here. If A is a neighbour of B, then B is one of A, so both ends find the same
 * list. */
static struct ghosts list_ghosts(const struct domain *d, bool sent) {
  if (d->sources_later) return list_told(d, sent);
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
  ghosts_sort(&g);
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

/** Add the nodes of a group's upper tree, from a node on, that are, or may be, within reach of the targets of another group.
 * Walks may open these. For nodes above the leaves rounding may hide a gap of 1e-4 in units of r_cut^2. */
static void open_near(const struct domain *d, const struct node *top, uint32_t node,
                      const struct node *targets, float moved, uint64_t *below) {
  const float reach = R_CUT + moved;
  if (box_gap_squared(&d->geometry, &top[node], targets) >= reach * reach + 1e-4f) return;
  part_open(below, node);
  if (node >= 1u << d->top_depth) return;
  open_near(d, top, 2 * node, targets, moved, below);
  open_near(d, top, 2 * node + 1, targets, moved, below);
}

static struct ghost *find_ghost(const struct ghosts *g, uint32_t group, int rank) {
  const struct ghost key = {.group = group, .rank = rank};
  if (g->count == 0) return NULL;
  return bsearch(&key, g->ghost, g->count, sizeof key, compare_ghosts);
}

/** Whether the part of a ghost has bits. */
static bool has_bits(const struct domain *d, const struct ghost *ghost) {
  return ghost->group < d->group_count;
}

/** The bits of the part of a ghost. */
static uint64_t *bits_of(const struct domain *d, const struct ghosts *g,
                         const struct ghost *ghost) {
  return has_bits(d, ghost) ? g->below + (size_t)ghost->bits * part_words(d->top_depth) : NULL;
}

LOOP_STAGE(ghost_parts, 0xaaaa77);

/** Find the parts of one of this rank's groups that are within reach of any group of other ranks. */
static void find_parts_of_group(void *context, uint32_t place) {
  const struct domain *d = context;
  const struct group *own = &d->groups[place];
  for (uint32_t k = 1; k < own->near.count; k++) {
    const struct group *other = own->near.group[k];
    if (other->owner == own->owner || other->targets == 0) continue;
    const struct node targets = box_of_targets(&d->geometry, other);
    const struct ghost *ghost = find_ghost(&d->sent, own->index, other->owner);
    open_near(d, own->top, 1, &targets, other->moved, bits_of(d, &d->sent, ghost));
  }
}

/** The same of all groups, whose ghosts are different ones. StarPU requires an initialised handle, so at least one branch
 * is sent. */
static void find_parts_in_reach(struct domain *d) {
  loop_run(&ghost_parts_stage, (uint32_t)d->particles.blocks, find_parts_of_group, d);
  for (uint32_t i = 0; i < d->sent.count; i++) {
    uint64_t *below = bits_of(d, &d->sent, &d->sent.ghost[i]);
    if (tree_part_of(below, d->top_depth).branches == 0) part_open(below, 1u << d->top_depth);
  }
}

/** A search for the parts of ghosts by a rule. */
struct rule_search {
  const struct domain *domain;
  const struct ghost_rule *rule;
};

static void find_part(void *context, uint32_t i) {
  const struct rule_search *s = context;
  const struct domain *d = s->domain;
  const struct ghost *ghost = &d->sent.ghost[i];
  if (has_bits(d, ghost))
    s->rule->part(s->rule->context, group_known(d, ghost->group), ghost->rank,
                  bits_of(d, &d->sent, ghost));
}

static void find_parts(struct domain *d, const struct ghost_rule *rule) {
  loop_run(&ghost_parts_stage, d->sent.count, find_part, &(struct rule_search){d, rule});
}

/** Bytes of the bits of a ghost's part. */
static size_t part_bytes(const struct domain *d, const struct ghost *ghost) {
  return has_bits(d, ghost) ? part_words(d->top_depth) * sizeof(uint64_t) : 0;
}

/** Tell the ranks that receive ghosts which parts are sent. Both ends have the ghosts in the same order. */
static void exchange_parts(const struct domain *d) {
  const size_t ranks = (size_t)comm_size();
  size_t *bytes = allocate(2 * ranks, sizeof *bytes, "message sizes");
  FOR_GHOSTS(&d->sent, g) bytes[g->rank] += part_bytes(d, g);
  FOR_GHOSTS(&d->received, g) bytes[ranks + (size_t)g->rank] += part_bytes(d, g);
  comm_exchange(d->sent.below, bytes, d->received.below, bytes + ranks);
  free(bytes);
}

/** Note the parts of ghosts by their bits, and count their particles. */
static void note_parts(const struct domain *d, struct ghosts *g, bool received) {
  for (uint32_t i = 0; i < g->count; i++) {
    struct ghost *ghost = &g->ghost[i];
    struct group *group = group_known(d, ghost->group);
    const uint64_t *bits = bits_of(d, g, ghost);
    ghost->part = bits ? tree_part_of(bits, d->top_depth)
                       : (struct tree_part){.below = NULL, .top = d->top_depth};
    if (received) group->part = ghost->part;
    uint32_t runs;
    struct array_run *run = part_particle_runs(&ghost->part, group->count, &runs);
    for (uint32_t k = 0; k < runs; k++) ghost->count += run[k].count;
    free(run);
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
                        part_nodes(&g->ghost[i].part, d->depth) * sizeof(struct node);
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
  free(old->below);
  old->ghost = new.ghost;
  old->count = new.count;
  size_t bytes = 0;
  uint32_t bits = 0;
  FOR_GHOSTS(old, g) {
    g->bits = bits;
    bits += has_bits(d, g);
    bytes += part_bytes(d, g);
  }
  old->below = allocate(bytes, 1, "parts of ghosts");
}

void ghost_drop(struct group *g) {
  handle_drop(&g->column[COLUMN_position]);
  handle_drop(&g->column[COLUMN_relative_mass]);
  handle_drop(&g->column[COLUMN_type]);
  handle_drop(&g->column[COLUMN_momentum]);
  handle_drop(&g->tree);
  handle_drop(&g->node_mass);
  g->part = (struct tree_part){.below = NULL};
}

/** Make a handle of so many elements, or none, unless there is one of this size. */
static void fit_handle(starpu_data_handle_t *handle, size_t n, size_t size) {
  if (*handle && starpu_vector_get_nx(*handle) == n) return;
  handle_drop(handle);
  if (n > 0) *handle = handle_make(n, size);
}

/** Handles for what is received of a group. */
static void fit_handles(const struct domain *d, struct group *g) {
  const size_t nodes = part_room(&g->part, d->depth), n = group_has_particles(g) ? g->count : 0;
  const bool masses = particles_have(&d->particles, COLUMN_relative_mass),
             types = particles_have(&d->particles, COLUMN_type);
  fit_handle(&g->column[COLUMN_position], 3 * n, sizeof(uint32_t));
  fit_handle(&g->column[COLUMN_momentum], d->ghost_momenta ? 3 * n : 0, sizeof(float));
  fit_handle(&g->column[COLUMN_type], types ? n : 0, sizeof(uint8_t));
  fit_handle(&g->column[COLUMN_relative_mass], masses ? n : 0, sizeof(float));
  fit_handle(&g->tree, nodes, sizeof(struct node));
  fit_handle(&g->node_mass, masses ? nodes : 0, sizeof(float));
}

static void count_kept(const struct domain *d) {
  const size_t ghosts = d->sent.count + d->received.count + d->told.count;
  size_t bits = 0;
  FOR_GHOSTS(&d->sent, g) bits += part_bytes(d, g);
  FOR_GHOSTS(&d->received, g) bits += part_bytes(d, g);
  kept_set(KEPT_GHOSTS, ghosts * sizeof(struct ghost) + bits +
                            (d->sent.bundles + d->received.bundles) * sizeof(struct bundle));
}

void domain_find_ghosts(struct domain *d, const struct ghost_rule *rule) {
  if (comm_size() == 1) return;
  replace(d, &d->sent, list_ghosts(d, true), false);
  replace(d, &d->received, list_ghosts(d, false), true);
  if (rule)
    find_parts(d, rule);
  else
    find_parts_in_reach(d);
  exchange_parts(d);
  note_parts(d, &d->sent, false);
  note_parts(d, &d->received, true);
  make_bundles(d, &d->sent);
  make_bundles(d, &d->received);
  for (uint32_t i = 0; i < d->received.count; i++)
    fit_handles(d, group_known(d, d->received.ghost[i].group));
  count_kept(d);
}

void domain_drop_ghosts(struct domain *d) {
  replace(d, &d->sent, (struct ghosts){0}, false);
  replace(d, &d->received, (struct ghosts){0}, true);
  make_bundles(d, &d->sent);
  make_bundles(d, &d->received);
  free(d->sent.below);
  free(d->received.below);
  free(d->sent.bundle);
  free(d->received.bundle);
  free(d->told.ghost);
  d->told = (struct ghosts){0};
  d->sent.below = d->received.below = NULL;
  d->sent.bundle = d->received.bundle = NULL;
}
