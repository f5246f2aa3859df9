/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on what walks of other ranks open in isolated systems: the groups of one rank are dealt to as many as if there
 * were several. What a rank would send of a group has all that walks of the other one's targets open. */
#include "src/tree/ghost_bounds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/step/step.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

enum { COUNT = 8192, GROUP = 256, GROUPS = COUNT / GROUP, RANKS = 8, OWN = GROUPS / RANKS };
/* Levels of the branches of small and of large groups. */
enum { TOP_LEAST = 6, TOP_MOST = 7, WORDS = 1 << (TOP_MOST - 5) };

/** What targets are like, and how pairs of nodes are judged. */
struct setting {
  const char *name;
  enum mac_kind kind;
  double tolerance;
  unsigned active; /* of so many particles of every second group one is active; 1: all, not packed */
  unsigned top;    /* level of branches */
  double unknown;  /* share of the particles without acceleration */
  bool masses;     /* differ by up to 9 */
};

/** Trees of all groups and of their targets, on the host. */
struct trees {
  struct nbody *n;
  struct node *nodes[GROUPS], *targets[GROUPS];
  uint32_t *first[GROUPS]; /* tables of the leaves of packed targets, or NULL */
  unsigned depth[GROUPS];  /* of the targets */
  float *mass[GROUPS];     /* of nodes, where masses differ */
};

/** Clumps of sizes that differ by up to 100, in a volume some ten times as wide as the largest one. */
static struct particles clumps(void) {
  struct particles s = particles_create(COUNT, 1.0, 1.0);
  double centre[3] = {0}, radius = 0.0;
  seed = 7;
  for (size_t i = 0; i < COUNT; i++) {
    const bool next = i % (COUNT / 16) == 0;
    if (next) radius = 0.02 * pow(100.0, -uniform());
    for (size_t c = 0; c < 3; c++) {
      if (next) centre[c] = 0.4 + 0.2 * uniform();
      const double x = centre[c] + radius * (2.0 * uniform() - 1.0);
      s.position[c * COUNT + i] = position_to_integer(x, s.box);
    }
    s.id[i] = i + 1;
  }
  return s;
}

static struct nbody *system_of(const struct setting *of) {
  struct parameters p;
  parameters_default(&p);
  p.box.boundary = BOUNDARY_ISOLATED;
  p.gravity.mac = of->kind;
  p.gravity.mac_tolerance = p.gravity.delta_acc = of->tolerance;
  p.gravity.softening = 1e-4;
  p.gravity.softening_kernel = SOFTENING_PLUMMER;
  p.time.step = STEP_BLOCK;
  p.runtime.group_size = GROUP;
  p.runtime.leaf_size = GROUP >> of->top;
  struct nbody *n = nbody_create(&p, clumps());
  assert_int_equal(n->domain.particles.blocks, GROUPS);
  assert_int_equal(n->domain.depth, of->top);
  n->domain.top_depth = of->top;
  if (of->masses) n->short_range.heaviest = 9.0f;
  return n;
}

/** Accelerations that differ by up to 1000 from group to group, and by up to 3 within one. */
static float *accelerations(const struct setting *of, float factor, uint32_t count) {
  const double size = 1e4 * pow(1000.0, uniform());
  float *a = allocate(3 * (size_t)count, sizeof *a, "accelerations");
  for (uint32_t i = 0; i < count; i++)
    if (uniform() >= of->unknown) a[i] = factor * (float)(size * (1.0 + 2.0 * uniform()));
  return a;
}

/** Masses of all nodes, from 1 to 9 a particle. */
static float *node_masses(uint32_t count, unsigned depth) {
  float *mass = allocate(tree_nodes(depth), sizeof *mass, "masses"), each[GROUP];
  for (uint32_t i = 0; i < count; i++) each[i] = (float)(1.0 + 8.0 * uniform());
  for (uint32_t node = 1; node < tree_nodes(depth); node++)
    for (uint32_t i = node_first(count, node); i < node_end(count, node); i++)
      mass[node] += each[i];
  return mass;
}

/** Pack the active ones of a group, and fit their tree.
 * @param most  one of so many is active in every second group, and one of the root of this number in the others */
static void pack_targets(struct trees *t, struct group *g, const uint32_t *x, const float *a,
                         unsigned most) {
  const struct short_range *s = &t->n->short_range;
  const struct walk_kernels *kernels = &s->kernels->walk;
  uint8_t rung[GROUP];
  const uint32_t k = g->index;
  const double one_of = k % 2 == 0 ? most : sqrt(most);
  g->targets = 0;
  for (uint32_t i = 0; i < g->count; i++) g->targets += rung[i] = uniform() * one_of < 1.0;
  if (g->targets == 0) g->targets += rung[0] = 1;
  const unsigned depth = t->depth[k] = targets_packed_depth(s, g->targets);
  uint32_t index[GROUP], packed_x[3 * GROUP];
  float packed_a[3 * GROUP];
  t->first[k] = allocate((1u << depth) + 1, sizeof **t->first, "leaves");
  t->targets[k] = allocate(tree_nodes(depth), sizeof **t->targets, "nodes");
  kernels->pack(g->count, rung, 1, x, a, g->targets, depth, index, t->first[k], packed_x, packed_a);
  kernels->refit(g->targets, depth, t->first[k], 1, t->n->domain.geometry.scale, 1.0f / s->factor,
                 true, packed_x, packed_a, t->targets[k]);
}

static struct trees make_trees(const struct setting *of) {
  struct trees t = {.n = system_of(of)};
  struct domain *d = &t.n->domain;
  const struct short_range *s = &t.n->short_range;
  domain_acquire(d);
  FOR_GROUPS(d, g) {
    const uint32_t k = g->index;
    const struct particle_block b = particles_block(&d->particles, k);
    float *a = accelerations(of, s->factor, g->count);
    t.nodes[k] = allocate(tree_nodes(d->depth), sizeof **t.nodes, "nodes");
    s->kernels->walk.refit(g->count, d->depth, NULL, 1, d->geometry.scale, 1.0f / s->factor, true,
                           b.x[0], a, t.nodes[k]);
    g->top = t.nodes[k]; /* has the upper levels first */
    g->root = g->top[1];
    g->targets = g->count;
    t.depth[k] = d->depth;
    if (of->active > 1) pack_targets(&t, g, b.x[0], a, of->active);
    if (of->masses) t.mass[k] = node_masses(g->count, d->depth);
    free(a);
  }
  domain_release(d);
  return t;
}

static void free_trees(struct trees *t) {
  for (uint32_t k = 0; k < GROUPS; k++) {
    free(t->nodes[k]);
    free(t->targets[k]);
    free(t->first[k]);
    free(t->mass[k]);
    t->n->domain.groups[k].top = NULL;
  }
  t->n->domain.top_depth = 0;
  nbody_free(t->n);
}

/** Walk the targets of a group with its own group and a source.
 * @param part  what is here of the source */
static struct walk_result walk_pair(const struct trees *t, uint32_t target, uint32_t source,
                                    const struct tree_part *part, struct interaction_list list[2]) {
  const struct short_range *s = &t->n->short_range;
  const struct group *g = &t->n->domain.groups[target];
  static struct walk_scratch scratch;
  const bool packed = t->first[target];
  return s->kernels->walk.walk(
      &s->acceptance, g->targets, t->depth[target], t->first[target],
      packed ? t->targets[target] : t->nodes[target], 2,
      (const struct node *[]){t->nodes[target], t->nodes[source]},
      (uint32_t[]){g->count, t->n->domain.groups[source].count},
      t->mass[0] ? (const float *[]){t->mass[target], t->mass[source]} : NULL,
      (const struct tree_part *[]){NULL, part}, &scratch, &list[0], &list[1]);
}

/** Open what a part must have above an entry of a list of source 1, and of a leaf the particles. */
static void require_entry(uint64_t *need, unsigned top, unsigned depth, uint32_t entry, bool near) {
  const uint32_t node = entry & ((2u << depth) - 1);
  const uint32_t leaves = 1u << depth;
  const unsigned level = near ? depth : node_level(node);
  if (entry >> (depth + 1) == 0) return;
  if (level > top || near) {
    const uint32_t at = near ? node & ((1u << depth) - 1) : node - (1u << level);
    part_open(need, (1u << top) + (at >> (level - top)));
  }
  for (uint32_t above = near ? leaves + node % leaves : node / 2; above > 0; above /= 2)
    if (above < 1u << top) part_open(need, above);
}

/** Add what a walk opens of a source. */
static void require_pair(const struct trees *t, uint32_t target, uint32_t source, uint64_t *need) {
  struct interaction_list list[2] = {{0}, {0}};
  const struct walk_result r = walk_pair(t, target, source, NULL, list);
  assert_int_equal(r.lacks, 0);
  for (uint32_t kind = 0; kind < 2; kind++)
    for (uint32_t i = 0; i < list[kind].entries; i++)
      require_entry(need, t->n->domain.top_depth, t->n->domain.depth, list[kind].entry[i],
                    kind == 0);
  for (uint32_t kind = 0; kind < 2; kind++) interaction_list_free(&list[kind]);
}

/** The last of the nodes that are open; 0: none. */
static uint32_t last_open(const uint64_t *below, unsigned top) {
  uint32_t node = (2u << top) - 1;
  while (node > 0 && part_count_open(below, node, node + 1) == 0) node--;
  return node;
}

/** A walk with no more than it needs lacks nothing, and one without one of these branches, or levels, does. */
static void check_lacking(const struct trees *t, uint32_t target, uint32_t source) {
  const unsigned top = t->n->domain.top_depth;
  struct interaction_list list[2] = {{0}, {0}};
  uint64_t need[WORDS] = {0};
  require_pair(t, target, source, need);
  struct tree_part part = tree_part_of(need, top);
  assert_int_equal(walk_pair(t, target, source, &part, list).lacks, 0);
  const uint32_t last = last_open(need, top);
  if (last > 0) {
    need[last / 64] &= ~(UINT64_C(1) << last % 64);
    part = tree_part_of(need, top);
    const uint32_t lacks = walk_pair(t, target, source, &part, list).lacks;
    assert_true(lacks >= last);
    assert_int_equal(lacks >> (node_level(lacks) - node_level(last)), last);
  }
  for (uint32_t kind = 0; kind < 2; kind++) interaction_list_free(&list[kind]);
}

/** Of pairs of a rank and a group of another one: branches, and whether only upper levels or nothing is sent. */
struct sums {
  uint64_t needed, sent;
  uint32_t upper, nothing;
};

static void check_ranks(const struct trees *t, uint32_t to, uint32_t from, struct sums *sums) {
  const struct short_range *s = &t->n->short_range;
  const struct group *group = t->n->domain.groups;
  const struct rank_targets targets = ghost_targets(s, group + (size_t)to * OWN, OWN);
  for (uint32_t source = from * OWN; source < (from + 1) * OWN; source++) {
    uint64_t need[WORDS] = {0}, sent[WORDS] = {0};
    for (uint32_t target = to * OWN; target < (to + 1) * OWN; target++)
      require_pair(t, target, source, need);
    ghost_part(s, &group[source], &targets, sent);
    for (size_t k = 0; k < WORDS; k++) assert_int_equal(need[k] & ~sent[k], 0);
    const unsigned top = t->n->domain.top_depth;
    const struct tree_part part = tree_part_of(sent, top);
    sums->needed += tree_part_of(need, top).branches;
    sums->sent += part.branches;
    sums->upper += part.branches == 0 && last_open(sent, top) > 0;
    sums->nothing += last_open(sent, top) == 0;
  }
}

/** Walk the targets of a group with its own group and a node above others, which has no tree below it. */
static uint32_t walk_above(const struct trees *t, uint32_t target, const struct group *above,
                           float mass) {
  const struct short_range *s = &t->n->short_range;
  const struct group *g = &t->n->domain.groups[target];
  struct interaction_list list[2] = {{0}, {0}};
  static struct walk_scratch scratch;
  const bool packed = t->first[target];
  const struct node root[2] = {above->root, above->root}; /* the first is not read */
  const struct tree_part part = {.below = NULL};
  const struct walk_result r = s->kernels->walk.walk(
      &s->acceptance, g->targets, t->depth[target], t->first[target],
      packed ? t->targets[target] : t->nodes[target], 2,
      (const struct node *[]){t->nodes[target], root}, (uint32_t[]){g->count, above->count},
      t->mass[0] ? (const float *[]){t->mass[target], (float[]){0.0f, mass}} : NULL,
      (const struct tree_part *[]){NULL, &part}, &scratch, &list[0], &list[1]);
  for (uint32_t kind = 0; kind < 2; kind++) interaction_list_free(&list[kind]);
  return r.lacks;
}

/** The boxes, numbers and masses of nodes above groups. @param[out] node, mass  [2 GROUPS] in heap order */
static void fit_above(const struct trees *t, struct group *node, float *mass) {
  const struct domain *d = &t->n->domain;
  for (uint32_t k = 0; k < GROUPS; k++) {
    node[GROUPS + k] = d->groups[k];
    mass[GROUPS + k] = t->mass[k] ? t->mass[k][1] : (float)d->groups[k].count;
  }
  for (uint32_t k = GROUPS - 1; k > 0; k--) {
    t->n->short_range.kernels->walk.join(d->geometry.scale, &node[2 * k].root,
                                         &node[2 * k + 1].root, &node[k].root);
    node[k].count = node[2 * k].count + node[2 * k + 1].count;
    mass[k] = mass[2 * k] + mass[2 * k + 1];
  }
}

/** Walks accept all nodes above groups that they begin with, and ranks are told of what is below others. */
static void check_above(const struct trees *t, uint32_t accepted[2]) {
  struct group node[2 * GROUPS] = {{0}};
  float mass[2 * GROUPS];
  fit_above(t, node, mass);
  const struct short_range *s = &t->n->short_range;
  for (uint32_t target = 0; target < GROUPS; target++) {
    const struct group *g = &t->n->domain.groups[target];
    const struct rank_targets rank = ghost_targets(s, g - target % OWN, OWN);
    for (uint32_t k = 1; k < GROUPS; k++) {
      const bool open = ghost_may_open_above(s, g, &node[k]);
      assert_true(!open || ghost_may_open_above_any(s, &rank, &node[k]));
      const uint32_t lacks = walk_above(t, target, &node[k], mass[k]);
      assert_true(open || lacks == 0);
      accepted[0] += lacks == 0;
      accepted[1] += !open;
    }
  }
}

static void ranks_get_all_that_walks_open(void **state) {
  (void)state;
  static const struct setting settings[] = {
      {"all particles", MAC_RELATIVE, 1e-3, 1, TOP_LEAST, 0.0, false},
      {"all particles, sharp", MAC_RELATIVE, 3e-5, 1, TOP_MOST, 0.0, false},
      {"all particles, some without acceleration", MAC_RELATIVE, 1e-3, 1, TOP_LEAST, 0.01, false},
      {"all particles, none with acceleration", MAC_RELATIVE, 1e-3, 1, TOP_MOST, 1.0, false},
      {"masses differ", MAC_RELATIVE, 1e-3, 1, TOP_LEAST, 0.0, true},
      {"one of 4 is active", MAC_RELATIVE, 1e-3, 4, TOP_MOST, 0.0, false},
      {"one of 100 is active", MAC_RELATIVE, 1e-3, 100, TOP_LEAST, 0.0, false},
      {"one of 10 is active, some without acceleration", MAC_RELATIVE, 1e-3, 10, TOP_MOST, 0.3,
       true},
      {"GOTHIC", MAC_GOTHIC, 1e-2, 1, TOP_LEAST, 0.0, false},
      {"GOTHIC, one of 10 is active", MAC_GOTHIC, 1e-2, 10, TOP_MOST, 0.0, true},
      {"geometric", MAC_GEOMETRIC, 0.0, 1, TOP_LEAST, 0.0, false},
      {"geometric, one of 10 is active", MAC_GEOMETRIC, 0.0, 10, TOP_MOST, 0.0, false},
  };
  struct sums all = {0};
  uint32_t above = 0;
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
    struct trees t = make_trees(&settings[k]);
    struct sums sums = {0};
    for (uint32_t to = 0; to < RANKS; to++)
      for (uint32_t from = 0; from < RANKS; from++)
        if (to != from) check_ranks(&t, to, from, &sums);
    for (uint32_t source = 1; source < GROUPS; source++) check_lacking(&t, 0, source);
    uint32_t accepted[2] = {0};
    check_above(&t, accepted);
    print_message("%u pairs of a group and a node above others: %u can be accepted, %u are\n",
                  GROUPS * (GROUPS - 1), accepted[0], accepted[1]);
    above += accepted[1];
    print_message("%s: %llu branches needed, %llu sent; of %u groups %u upper levels, %u roots\n",
                  settings[k].name, (unsigned long long)sums.needed, (unsigned long long)sums.sent,
                  GROUPS * (RANKS - 1), sums.upper, sums.nothing);
    assert_true(sums.needed > 0);
    all.upper += sums.upper;
    free_trees(&t);
  }
  assert_true(all.upper > 0 && above > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_get_all_that_walks_open)};
  return cmocka_run_group_tests(tests, start, stop);
}
