/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which parts of the trees of isolated systems ranks need of each other's groups. Walks open a node of a source
 * where a node of targets is too near, too wide or too heavy for it. Ranks tell each other where their targets are
 * and how wide, heavy and weakly accelerated these can be. The owner of a source then finds the nodes that a walk
 * over there can open, and sends what is below them and nothing else. Nodes that are sent and not opened change no bits. */
#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/tree/short_range.h"

enum { REGIONS_MOST = 16 };

/* More than floats round off, here and in walks: of distances, and of the half widths of regions. */
#define SHORTER 0.999f
#define WIDER 1e-4f

/** Where some targets are. */
struct region {
  struct node box; /* of all; its acc_min is the least of any node */
  float leaf;      /* radius of the widest leaf, at most */
  float mass;      /* of the heaviest group's targets, at most */
};

/** The targets of a rank. */
struct rank_targets {
  uint32_t regions;
  struct region all, region[REGIONS_MOST];
};

/** What finding parts needs. */
struct finding {
  const struct short_range *s;
  const struct rank_targets *of_rank; /* [rank] */
};

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

static struct region region_of(const struct short_range *s, const struct group *g) {
  const float weight = packed_weight(&s->acceptance, g->targets, g->count);
  return (struct region){.box = g->top[1],
                         .leaf = widest_leaf(s, g),
                         .mass = weight * (float)g->targets * s->heaviest};
}

/** Make a region hold another one, too. */
static void add_region(const struct geometry *geometry, struct region *r,
                       const struct region *more) {
  const float least = fminf(r->box.acc_min, more->box.acc_min);
  r->box = box_around(geometry, &r->box, &more->box);
  r->box.acc_min = least;
  r->leaf = fmaxf(r->leaf, more->leaf);
  r->mass = fmaxf(r->mass, more->mass);
}

/** The targets of this rank. A region has the groups of a node of the ORB tree, the lowest level of which all have
 * room. */
static struct rank_targets targets_here(const struct short_range *s) {
  const struct domain *d = s->domain;
  const size_t first = d->particles.first_block, groups = d->particles.blocks;
  struct rank_targets t = {.regions = 0};
  unsigned bits = 0;
  while (groups > 0 && ((first + groups - 1) >> bits) - (first >> bits) >= REGIONS_MOST) bits++;
  uint32_t last = UINT32_MAX;
  FOR_GROUPS(d, g) {
    if (g->targets == 0) continue;
    const struct region region = region_of(s, g);
    if (t.regions == 0)
      t.all = region;
    else
      add_region(&d->geometry, &t.all, &region);
    if (g->index >> bits == last)
      add_region(&d->geometry, &t.region[t.regions - 1], &region);
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

/** Whether the estimated error may be too large for a pair of nodes: see judge_batch() in src/tree/kernels/walk.c.
 * @param size   most of the sum of both radii
 * @param large  most of the larger one
 * @param sources  most that a source's mass is judged as */
static bool error_may_be_large(const struct acceptance *a, const struct region *r,
                               const struct node *source, uint32_t node, float sources, float size,
                               float large, float distance) {
  const float leaves = shared_leaves(a, node, node), factor = a->factor;
  float power = leaves * factor / (distance * distance), sum = leaves * factor;
  for (int k = 0; k < a->exponent; k++) {
    power *= size / distance;
    sum *= large / distance;
  }
  return !(power * sources <= a->tolerance * r->box.acc_min &&
           power * r->mass <= a->tolerance * source->acc_min && sum <= a->sum_tolerance);
}

/** Whether a walk of targets in a region may open a node of a source, or need the particles of a leaf. It does not
 * where the verdict on it is ACCEPT with all nodes of targets that are not opened themselves: leaves, and those that
 * are smaller than the source. A leaf of packed targets may have no known acceleration although its region has. */
static bool may_open(const struct short_range *s, const struct region *r, const struct node *source,
                     uint32_t node, float sources) {
  const struct acceptance *a = &s->acceptance;
  const struct node centre = {.centre = {source->centre[0], source->centre[1], source->centre[2]}};
  const bool leaf = node >= 1u << a->depth, known = source->acc_min > 0.0f;
  const float targets = leaf ? r->leaf : fmaxf(r->leaf, source->radius),
              size = targets + source->radius, large = fmaxf(targets, source->radius),
              distance = least_distance(s, r, &centre),
              theta = a->kind == MAC_GEOMETRIC ? a->theta : fminf(a->theta, a->theta_first);
  if (!(least_distance(s, r, source) > a->separation) || !(size < theta * distance)) return true;
  if (!known || a->kind == MAC_GEOMETRIC) return false;
  /* A target whose acceleration is not known hides those of the others. */
  return !(r->box.acc_min > 0.0f) ||
         error_may_be_large(a, r, source, node, sources, size, large, distance);
}

/** A search for the nodes of a source that the targets of a region may open. */
struct opening {
  const struct short_range *s;
  const struct region *region;
  const struct group *source;
  struct tree_part part;
};

/** Whether all branches at or below a node are found to be needed. */
static bool all_needed(const struct tree_part *p, uint32_t node) {
  const unsigned levels = p->top - node_level(node);
  const uint64_t below = UINT64_MAX >> (64 - (1u << levels));
  return ((p->branches >> ((node << levels) - (1u << p->top))) & below) == below;
}

/** @param whole  the mass of the largest node of which leaves of targets have opened the parts: see push_children()
 *                in src/tree/kernels/walk.c */
static void open_node(struct opening *o, uint32_t node, float whole) {
  const struct node *source = &o->source->top[node];
  const uint32_t all = o->source->count;
  const unsigned level = node_level(node);
  const float mass = (float)(node_end(all, node) - node_first(all, node)) * o->s->heaviest,
              sources = fmaxf(whole, mass);
  if (all_needed(&o->part, node) || !may_open(o->s, o->region, source, node, sources)) return;
  if (level == o->part.top) {
    o->part.branches |= (uint64_t)1 << (node - (1u << level));
    return;
  }
  if (o->part.levels < level + 1) o->part.levels = level + 1;
  const float kept = source->radius <= o->region->leaf ? sources : 0.0f;
  open_node(o, 2 * node, kept);
  open_node(o, 2 * node + 1, kept);
}

/** As in struct ghost_rule. */
static struct tree_part find_part(const void *context, const struct group *g, int rank) {
  const struct finding *f = context;
  const struct rank_targets *t = &f->of_rank[rank];
  struct opening o = {.s = f->s, .source = g, .part = {.top = f->s->domain->top_depth}};
  if (!may_open(f->s, &t->all, &g->top[1], 1, (float)g->count * f->s->heaviest)) return o.part;
  for (uint32_t k = 0; k < t->regions; k++) {
    o.region = &t->region[k];
    open_node(&o, 1, 0.0f);
  }
  if (o.part.branches != 0) o.part.levels = f->s->domain->depth;
  return o.part;
}

/** Bytes of what is received of ghosts. */
static size_t bytes_received(const struct short_range *s) {
  const struct domain *d = s->domain;
  const size_t node = sizeof(struct node) + fmm_multipole_size(s->order) * sizeof(float);
  size_t bytes = 0;
  for (uint32_t i = 0; i < d->received.count; i++) {
    const struct group *g = group_known(d, d->received.ghost[i].group);
    bytes += tree_nodes(g->levels) * node;
    if (group_has_particles(g)) bytes += (size_t)g->count * 3 * sizeof(uint32_t);
  }
  return bytes;
}

void short_range_find_ghosts(struct short_range *s) {
  if (comm_size() == 1) return;
  struct rank_targets *of_rank = NULL;
  if (s->acceptance.newton) {
    const struct rank_targets mine = targets_here(s);
    of_rank = allocate((size_t)comm_size(), sizeof *of_rank, "targets of ranks");
    comm_gather_all(&mine, sizeof mine, of_rank);
    kept_set(KEPT_BOXES, (size_t)comm_size() * sizeof *of_rank);
  }
  const struct finding f = {s, of_rank};
  domain_find_ghosts(s->domain, of_rank ? &(struct ghost_rule){find_part, &f} : NULL);
  free(of_rank);
  short_range_follow_ghosts(s);
  kept_set(KEPT_SOURCES, bytes_received(s));
}
