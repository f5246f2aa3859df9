/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks open a node of a source where a node of targets is too near, too wide or too heavy for it. The bounds on
 * targets are those of all nodes of their trees. */
#include "ghost_bounds.h"

#include <math.h>

#include "photons/tree/short_range.h"

/* More than floats round off, here and in walks: of distances, and of the half widths of boxes. */
#define SHORTER 0.999f
#define WIDER 1e-4f
/* More than floats round off where the boxes of some groups are judged in the place of the box of one. */
#define NEARER 0.9999f

static float length(const float half[3]) {
  return sqrtf(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
}

/** The widest leaf of a group's targets: they are inside the nodes of the group's tree. */
static float widest_leaf(const struct short_range *s, const struct group *g) {
  const unsigned leaves = targets_packed_depth(s, g->targets), top = s->domain->top_depth,
                 level = leaves < top ? leaves : top;
  float widest = 0.0f;
  for (uint32_t node = 1u << level; node < 2u << level; node++)
    widest = fmaxf(widest, length(g->top[node].half));
  return widest;
}

static float mass_of_targets(const struct short_range *s, const struct group *g) {
  return packed_weight(&s->acceptance, g->targets, g->count) * (float)g->targets * s->heaviest;
}

static struct region region_of(const struct short_range *s, const struct group *g) {
  return (struct region){.box = g->top[1],
                         .leaf = widest_leaf(s, g),
                         .widest = length(g->top[1].half),
                         .mass = mass_of_targets(s, g)};
}

/** Make a region hold another one, too. */
static void add_region(const struct geometry *geometry, struct region *r,
                       const struct region *more) {
  const float least = fminf(r->box.acc_min, more->box.acc_min);
  r->box = box_around(geometry, &r->box, &more->box);
  r->box.acc_min = least;
  r->leaf = fmaxf(r->leaf, more->leaf);
  r->widest = fmaxf(r->widest, more->widest);
  r->mass = fmaxf(r->mass, more->mass);
}

struct rank_targets ghost_targets(const struct short_range *s, const struct group *group,
                                  size_t groups) {
  const struct geometry *geometry = &s->domain->geometry;
  struct rank_targets t = {.regions = 0};
  uint32_t last = UINT32_MAX;
  unsigned bits = 0;
  while (groups > 0 && (group[groups - 1].index >> bits) - (group->index >> bits) >= REGIONS_MOST)
    bits++;
  for (const struct group *g = group; g < group + groups; g++) {
    if (g->targets == 0) continue;
    const struct region region = region_of(s, g);
    if (t.regions == 0)
      t.all = region;
    else
      add_region(geometry, &t.all, &region);
    if (g->index >> bits == last)
      add_region(geometry, &t.region[t.regions - 1], &region);
    else
      t.region[t.regions++] = region;
    last = g->index >> bits;
  }
  return t;
}

/** No pair of points of a region and of a box is nearer. */
static float least_distance(const struct short_range *s, const struct region *r,
                            const struct node *box) {
  return SHORTER * sqrtf(box_gap_squared(&s->domain->geometry, &r->box, box)) -
         WIDER * length(r->box.half);
}

/** A node of a source as walks judge it at most. */
struct judged {
  const struct node *node;
  float targets; /* radius of the widest node of targets with which the verdict counts */
  float leaves;  /* see shared_leaves() */
  float mass;
  float nearer; /* distances are taken as so much shorter */
};

/** Whether the estimated error may be too large for a pair of nodes: see judge_batch() in src/tree/kernels/walk.c. */
static bool error_may_be_large(const struct acceptance *a, const struct region *r,
                               const struct judged *j, float distance) {
  const float size = j->targets + j->node->radius, large = fmaxf(j->targets, j->node->radius);
  float power = j->leaves * a->factor / (distance * distance), sum = j->leaves * a->factor;
  for (int k = 0; k < a->exponent; k++) {
    power *= size / distance;
    sum *= large / distance;
  }
  return !(power * j->mass <= a->tolerance * r->box.acc_min &&
           power * r->mass <= a->tolerance * j->node->acc_min && sum <= a->sum_tolerance);
}

static struct node centre_of(const struct node *n) {
  return (struct node){.centre = {n->centre[0], n->centre[1], n->centre[2]}};
}

/** Whether a walk of targets in a region may open a node of a source, or need the particles of a leaf. It does not
 * where the verdict on it is ACCEPT with all nodes of targets that are not opened themselves. A leaf of packed targets
 * may have no known acceleration although its region has. */
static bool may_open(const struct short_range *s, const struct region *r, const struct judged *j) {
  const struct acceptance *a = &s->acceptance;
  const bool known = j->node->acc_min > 0.0f;
  const struct node centre = centre_of(j->node);
  const float distance = j->nearer * least_distance(s, r, &centre),
              theta = a->kind == MAC_GEOMETRIC ? a->theta : fminf(a->theta, a->theta_first);
  if (!(j->nearer * least_distance(s, r, j->node) > a->separation) ||
      !(j->targets + j->node->radius < theta * distance))
    return true;
  if (!known || a->kind == MAC_GEOMETRIC) return false;
  /* A target whose acceleration is not known hides those of the others. */
  return !(r->box.acc_min > 0.0f) || error_may_be_large(a, r, j, distance);
}

/** The same for a node of a group. Nodes of targets that are not opened themselves are leaves, and those that are
 * smaller than the source. */
static bool may_open_node(const struct short_range *s, const struct region *r,
                          const struct node *source, uint32_t node, float mass) {
  const bool leaf = node >= 1u << s->acceptance.depth;
  const struct judged j = {source, leaf ? r->leaf : fmaxf(r->leaf, source->radius),
                           shared_leaves(&s->acceptance, node, node), mass, 1.0f};
  return may_open(s, r, &j);
}

/** The same for a node above groups. Walks count the leaves of the root of the targets. */
static bool may_open_above(const struct short_range *s, const struct region *r,
                           const struct group *above, float nearer) {
  const struct judged j = {&above->root, r->widest, shared_leaves(&s->acceptance, 1, 1),
                           (float)above->count * s->heaviest, nearer};
  return may_open(s, r, &j);
}

bool ghost_may_open_above(const struct short_range *s, const struct group *targets,
                          const struct group *above) {
  const struct region r = {.box = targets->root,
                           .widest = length(targets->root.half),
                           .mass = mass_of_targets(s, targets)};
  return may_open_above(s, &r, above, 1.0f);
}

bool ghost_may_open_above_any(const struct short_range *s, const struct rank_targets *targets,
                              const struct group *above) {
  if (targets->regions == 0 || !may_open_above(s, &targets->all, above, NEARER)) return false;
  for (uint32_t k = 0; k < targets->regions; k++)
    if (may_open_above(s, &targets->region[k], above, NEARER)) return true;
  return false;
}

/** A search for the nodes of a source that the targets of a region may open. */
struct opening {
  const struct short_range *s;
  const struct region *region;
  const struct group *source;
  uint64_t *below; /* as in struct tree_part */
};

/** Whether all branches at or below a node are found to be needed. */
static bool all_needed(const struct opening *o, uint32_t node) {
  const unsigned levels = o->s->domain->top_depth - node_level(node);
  if (!(o->below[node / 64] >> node % 64 & 1)) return false;
  return part_count_open(o->below, node << levels, (node + 1) << levels) == 1u << levels;
}

/** @param whole  the mass of the largest node of which leaves of targets have opened the parts: see push_children()
 *                in src/tree/kernels/walk.c */
static void open_node(struct opening *o, uint32_t node, float whole) {
  const struct node *source = &o->source->top[node];
  const uint32_t all = o->source->count;
  const float mass = (float)(node_end(all, node) - node_first(all, node)) * o->s->heaviest,
              sources = fmaxf(whole, mass);
  if (all_needed(o, node) || !may_open_node(o->s, o->region, source, node, sources)) return;
  part_open(o->below, node);
  if (node >= 1u << o->s->domain->top_depth) return;
  const float kept = source->radius <= o->region->leaf ? sources : 0.0f;
  open_node(o, 2 * node, kept);
  open_node(o, 2 * node + 1, kept);
}

void ghost_part(const struct short_range *s, const struct group *source,
                const struct rank_targets *targets,
                uint64_t *below) { /* NOLINT(readability-non-const-parameter) */
  struct opening o = {.s = s, .source = source, .below = below};
  const float mass = (float)source->count * s->heaviest;
  if (targets->regions == 0 || !may_open_node(s, &targets->all, &source->top[1], 1, mass)) return;
  for (uint32_t k = 0; k < targets->regions; k++) {
    o.region = &targets->region[k];
    open_node(&o, 1, 0.0f);
  }
}
