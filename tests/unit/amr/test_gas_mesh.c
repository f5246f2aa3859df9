/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The octree of the adaptive mesh of gas: places, neighbours, proper nesting, and which patches
 * flags refine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/amr/batches.h"
#include "photons/amr/topology.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/comoving.h"
#include "src/amr/topology_keys.h"

#include <cmocka.h>

#include "support/failure.h"

static const enum gas_boundary periodic[3][2];
static const enum gas_boundary mixed[3][2] = {
    {GAS_OUTFLOW, GAS_REFLECTING}, {GAS_PERIODIC, GAS_PERIODIC}, {GAS_OUTFLOW, GAS_OUTFLOW}};

static const uint32_t root[3] = {4, 1, 2};

/** A place has a key and the key has the place; the keys of a root level are all there, and rise.
 */
static void test_places(void **state) {
  (void)state;
  const uint32_t place[3] = {1234567, 7, 2097151};
  uint32_t back[3];
  morton_place(morton_key(place), back);
  assert_memory_equal(place, back, sizeof place);
  assert_int_equal(morton_key((const uint32_t[3]){1, 0, 0}), 1);
  assert_int_equal(morton_key((const uint32_t[3]){0, 1, 1}), 6);

  struct topology t;
  topology_init(&t, root, mixed, 2);
  assert_int_equal(t.level[0].count, 8);
  for (uint32_t i = 0; i < 8; i++) {
    const uint32_t *p = t.level[0].group[i].place;
    assert_true(p[0] < 4 && p[1] < 1 && p[2] < 2);
    assert_true(i == 0 || t.level[0].key[i] > t.level[0].key[i - 1]);
  }
  topology_free(&t);
}

/** Keys of a root level that is no cube of a power of two: all there, rising, and found by their numbers. */
static void test_root_level(void **state) {
  (void)state;
  struct topology t;
  const uint32_t sides[3] = {5, 3, 6};
  topology_init(&t, sides, mixed, 0);
  for (uint32_t i = 0; i < 90; i++) {
    uint32_t place[3];
    const uint64_t key = t.level[0].key[i];
    morton_place(key, place);
    assert_true(i == 0 || key > t.level[0].key[i - 1]);
    for (int c = 0; c < 3; c++) assert_true(place[c] < sides[c]);
    assert_int_equal(root_key(sides, i), key);
    assert_int_equal(root_with_key(sides, key), i);
  }
  assert_int_equal(root_with_key(sides, morton_key((const uint32_t[3]){5, 0, 0})), NO_GROUP);
  assert_int_equal(root_with_key(sides, morton_key((const uint32_t[3]){1, 2, 900})), NO_GROUP);
  topology_free(&t);
}

/** Neighbours are beside a group, through periodic boundaries and through no others. */
static void test_neighbours(void **state) {
  (void)state;
  struct topology t;
  topology_init(&t, root, mixed, 2);
  for (uint32_t i = 0; i < t.level[0].count; i++) {
    const struct gas_group *g = &t.level[0].group[i];
    assert_int_equal(g->near[MYSELF], i);
    assert_int_equal(g->near[MYSELF - 3], i); /* one group along y, periodic */
    const uint32_t right = g->near[MYSELF + 1], above = g->near[MYSELF + 9];
    assert_true((right == NO_GROUP) == (g->place[0] == 3));
    assert_true((above == NO_GROUP) == (g->place[2] == 1));
    if (right != NO_GROUP) assert_int_equal(t.level[0].group[right].place[0], g->place[0] + 1);
  }
  /* Patches: from one group to the next, and out of the box. */
  const uint32_t corner = topology_find(&t, 0, (const int64_t[3]){0, 0, 0});
  struct patch_number n = topology_patch_neighbour(&t, 0, corner, 1, MYSELF + 1);
  assert_int_equal(t.level[0].group[n.group].place[0], 1);
  assert_int_equal(n.patch, 0);
  n = topology_patch_neighbour(&t, 0, corner, 2, MYSELF + 3);
  assert_int_equal(n.group, corner);
  assert_int_equal(n.patch, 0);
  n = topology_patch_neighbour(&t, 0, corner, 0, MYSELF - 1);
  assert_true(n.outside && n.group == NO_GROUP);
  topology_free(&t);
}

/** Refine a level with these flags. @return the number of groups of the finer level */
static uint32_t refine(struct topology *t, int level, const uint32_t (*flags)[8]) {
  const struct new_groups new = topology_refined(t, level, flags);
  topology_replace(t, level + 1, new.key, new.count);
  return new.all;
}

/** Flags of one patch. */
static uint32_t refine_one(struct topology *t, int level, uint32_t group, int patch,
                           uint32_t mask) {
  uint32_t(*flags)[8] = allocate(t->level[level].count, sizeof *flags, "flags");
  flags[group][patch] = mask;
  const uint32_t count = refine(t, level, (const uint32_t(*)[8])flags);
  free(flags);
  return count;
}

/** A flag refines its patch; its buffers refine the neighbours that they name, and those alone. */
static void test_buffers(void **state) {
  (void)state;
  struct topology t;
  topology_init(&t, root, periodic, 3);
  assert_int_equal(refine_one(&t, 0, 0, 0, 1u << MYSELF), 1);
  assert_int_equal(t.level[1].group[0].father, 0);
  assert_int_equal(t.level[0].group[0].son[0], 0);

  const uint32_t mask = 1u << MYSELF | 1u << (MYSELF - 1) | 1u << (MYSELF + 1 + 9);
  assert_int_equal(refine_one(&t, 0, 0, 0, mask), 3);
  for (int n = 0; n < NEIGHBOURS; n++)
    assert_true((topology_finer_neighbour(&t, 0, 0, 0, n) != NO_GROUP) == (mask >> n & 1));
  /* Without flags all goes again. */
  assert_int_equal(refine_one(&t, 0, 0, 0, 0), 0);
  assert_int_equal(topology_levels(&t), 1);
  topology_free(&t);
}

/** Whether all neighbours of refined patches exist. */
static bool nested(const struct topology *t) {
  for (int level = 0; level < t->finest; level++)
    for (uint32_t i = 0; i < t->level[level].count; i++)
      for (int p = 0; p < 8; p++)
        for (int n = 0; n < NEIGHBOURS && t->level[level].group[i].son[p] != NO_GROUP; n++) {
          const struct patch_number at = topology_patch_neighbour(t, level, i, p, n);
          if (at.group == NO_GROUP && !at.outside) return false;
        }
  return true;
}

/** A patch at the edge of its level is not refined: its neighbour does not exist. */
static void test_nesting_limits(void **state) {
  (void)state;
  struct topology t;
  topology_init(&t, root, periodic, 3);
  assert_int_equal(refine_one(&t, 0, 0, 0, 1u << MYSELF), 1);
  assert_int_equal(refine_one(&t, 1, 0, 0, 1u << MYSELF), 0);
  /* With all neighbours of the first patch, diagonal ones included, it is. */
  assert_int_equal(refine_one(&t, 0, 0, 0, (1u << NEIGHBOURS) - 1), 3 * 2 * 3);
  const uint32_t middle = t.level[0].group[0].son[0];
  assert_int_equal(refine_one(&t, 1, middle, 3, 1u << MYSELF), 1);
  assert_true(nested(&t));
  topology_free(&t);
}

/** What a finer level needs stays, whatever the flags of the coarser one say. */
static void test_nesting_keeps(void **state) {
  (void)state;
  struct topology t;
  topology_init(&t, root, periodic, 3);
  refine_one(&t, 0, 0, 0, (1u << NEIGHBOURS) - 1);
  assert_int_equal(refine_one(&t, 1, t.level[0].group[0].son[0], 3, 1u << MYSELF), 1);
  /* Patch 3 of the son: its neighbours are in the sons of two patches along x, of two along y
   * (which are both there are), and of two along z. */
  assert_int_equal(refine_one(&t, 0, 0, 0, 0), 2 * 2 * 2);
  assert_true(nested(&t));
  topology_free(&t);
}

/** At boundaries that are not periodic nothing is needed beyond. */
static void test_boundaries(void **state) {
  (void)state;
  struct topology t;
  topology_init(&t, (const uint32_t[3]){1, 1, 1}, mixed, 3);
  uint32_t flags[8] = {0};
  for (int p = 0; p < 8; p++) flags[p] = 1u << MYSELF;
  assert_int_equal(refine(&t, 0, (const uint32_t(*)[8]) & flags), 8);
  assert_int_equal(refine_one(&t, 1, 0, 0, 1u << MYSELF), 1);
  assert_true(nested(&t));
  topology_free(&t);
}

/** Neighbours of all patches are where their places say. */
static void check_neighbours(const struct topology *t, int level) {
  for (uint32_t i = 0; i < t->level[level].count; i++)
    for (int p = 0; p < 8; p++)
      for (int n = 0; n < NEIGHBOURS; n++) {
        const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        int64_t group[3];
        int patch = 0;
        bool outside = false;
        for (int c = 0; c < 3; c++) {
          const int64_t side = (int64_t)t->root[c] << level;
          const int64_t place = 2 * (int64_t)t->level[level].group[i].place[c] + (p >> c & 1) +
                                direction[c];
          patch |= (int)(place & 1) << c;
          group[c] = (place + 2) / 2 - 1;
          outside |= t->boundary[c][0] != GAS_PERIODIC && (group[c] < 0 || group[c] >= side);
        }
        const struct patch_number at = topology_patch_neighbour(t, level, i, p, n);
        assert_int_equal(at.group, topology_find(t, level, group));
        assert_int_equal(at.patch, patch);
        assert_int_equal(at.outside, outside);
      }
}

/** Whether a patch is to be refined, as topology_refined() defines it. */
static bool to_refine(const struct topology *t, int level, const uint32_t (*flags)[8], uint32_t i,
                      int p) {
  bool wanted = false;
  for (int n = 0; n < NEIGHBOURS; n++) {
    const struct patch_number at = topology_patch_neighbour(t, level, i, p, n);
    if (at.group == NO_GROUP && !at.outside) return false;
    if (at.group != NO_GROUP) wanted |= flags[at.group][at.patch] >> (NEIGHBOURS - 1 - n) & 1;
  }
  const uint32_t son = t->level[level].group[i].son[p];
  for (int q = 0; q < 8 && son != NO_GROUP; q++)
    for (int n = 0; n < NEIGHBOURS; n++)
      wanted |= topology_finer_neighbour(t, level + 1, son, q, n) != NO_GROUP;
  return wanted;
}

/** What the flags refine, of all groups and of those of this rank. */
static void check_refined(const struct topology *t, const struct topology *one, int level,
                          const uint32_t (*flags)[8]) {
  const struct group_span own = one->level[level].own;
  const struct new_groups new = topology_refined(t, level, flags),
                          mine = topology_refined(one, level, flags + own.first);
  uint32_t k = 0, m = 0;
  for (uint32_t i = 0; i < t->level[level].count; i++)
    for (int p = 0; p < 8; p++)
      if (to_refine(t, level, flags, i, p)) {
        const uint64_t key = t->level[level].key[i] << 3 | (uint32_t)p;
        assert_true(k < new.count);
        assert_int_equal(new.key[k++], key);
        if (!is_in_span(own, i)) continue;
        assert_true(m < mine.count);
        assert_int_equal(mine.key[m++], key);
      }
  const struct gas_tree_level *before = &t->level[level + 1];
  const bool same = new.count == before->count &&
                    (k == 0 || memcmp(new.key, before->key, k * sizeof *new.key) == 0);
  assert_int_equal(k, new.count);
  assert_int_equal(k, mine.all);
  assert_int_equal(m, mine.count);
  assert_int_equal(new.changed, !same);
  assert_int_equal(mine.changed, !same);
  free(new.key);
  free(mine.key);
}

/** Uneven shares, and none of small levels for some ranks. */
static struct group_span share_of_rank(const void *context, int level, uint32_t count, int rank) {
  const uint32_t me = (uint32_t)rank, ranks = (uint32_t)comm_size();
  (void)context;
  (void)level;
  return (struct group_span){count * me * me / (ranks * ranks),
                             count * (me + 1) * (me + 1) / (ranks * ranks)};
}

/** Whether a rank must know a group: if it is its own, above one of its own ones of a finer level, or beside such a
 * group. */
static bool is_needed(const struct topology *all, const struct topology *one, int level,
                      uint32_t i) {
  for (int n = 0; n < NEIGHBOURS; n++) {
    const uint32_t near = all->level[level].group[i].near[n];
    if (near == NO_GROUP) continue;
    for (int finer = level; finer <= all->finest; finer++) {
      const struct group_span own = one->level[finer].own,
                              in = topology_own_below(all, level, all->level[level].key[near],
                                                      finer);
      if (in.first < in.end && in.first < own.end && in.end > own.first) return true;
    }
  }
  return false;
}

/** What a rank knows is what it needs and nothing else, and is right; and so is what it finds of groups around. */
static void check_rank(const struct topology *all, const struct topology *one) {
  for (int l = 0; l <= all->finest; l++)
    for (uint32_t i = 0; i < all->level[l].count; i++) {
      const struct gas_group *right = &all->level[l].group[i], *known = topology_known(one, l, i);
      uint32_t place[3];
      assert_int_equal(known != NULL, is_needed(all, one, l, i));
      assert_int_equal(topology_owner(one, l, i) == comm_rank(), is_in_span(one->level[l].own, i));
      if (!known) continue;
      assert_memory_equal(known, right, sizeof *right);
      assert_int_equal(topology_key(one, l, i), all->level[l].key[i]);
      for (int p = 0; p < 8; p++) {
        const uint32_t son = right->son[p];
        if (son == NO_GROUP) continue;
        topology_place(one, l + 1, son, place);
        assert_memory_equal(place, all->level[l + 1].group[son].place, sizeof place);
        assert_int_equal(topology_ancestor(one, l + 1, son, l), i);
        if (is_in_span(one->level[l].own, i))
          assert_int_equal(topology_there(one, l + 1, son), all->level[l + 1].group[son].there);
      }
    }
}

/** The same of any group, when the rank has asked for what is around it. */
static void check_asking(const struct topology *all, struct topology *one, uint32_t random) {
  struct topology view = topology_view(one);
  struct key_wants wants = {0};
  double at[3];
  for (int c = 0; c < 3; c++) at[c] = ((random >> 8 * c & 255) + 0.5) / 256.0 * root[c];
  topology_want_at(&wants, &view, view.finest, at);
  topology_fetch(&view, &wants);
  uint32_t group = topology_find(
      &view, 0, (const int64_t[3]){(int64_t)at[0], (int64_t)at[1], (int64_t)at[2]});
  for (int l = 0; group != NO_GROUP; l++) {
    const struct gas_group *right = &all->level[l].group[group];
    uint32_t place[3];
    int patch = 0;
    topology_place(&view, l, group, place);
    assert_memory_equal(place, right->place, sizeof place);
    for (int n = 0; n < NEIGHBOURS; n++)
      assert_int_equal(topology_near(&view, l, group, n), right->near[n]);
    for (int c = 0; c < 3; c++) patch |= ((int)(ldexp(at[c], l + 1)) & 1) << c;
    if (l == view.finest) break;
    group = topology_son(&view, l, group, patch);
    assert_int_equal(group, right->son[patch]);
  }
  topology_view_free(&view);
}

/** Give the octree of this rank the groups of a level, and check it. */
static void check_ranks(const struct topology *all, struct topology *one, int level) {
  const struct gas_tree_level *l = &all->level[level];
  const size_t first = comm_first(l->count, comm_rank()),
               end = comm_first(l->count, comm_rank() + 1);
  uint64_t *keys = allocate(end - first, sizeof *keys, "patch groups");
  if (end > first) memcpy(keys, l->key + first, (end - first) * sizeof *keys);
  topology_replace(one, level, keys, (uint32_t)(end - first));
  assert_int_equal(one->level[level].count, l->count);
  check_rank(all, one);
}

/** Random flags at all levels, many times: levels are nested, links are right, and what is refined is
 * what the flags and nesting ask for. */
static void test_random_flags(void **state) {
  (void)state;
  struct topology t, one;
  topology_init(&t, root, mixed, 3);
  topology_init_divided(&one, root, mixed, 3, share_of_rank, NULL);
  uint32_t random = 12345, deepest = 0;
  for (int k = 0; k < 40; k++) {
    const int level = k % 3;
    const uint32_t count = t.level[level].count;
    uint32_t(*flags)[8] = allocate(count, sizeof *flags, "flags");
    for (uint32_t i = 0; i < 8 * count; i++) {
      random = random * 1664525 + 1013904223;
      if (random >> 28 < 5) flags[i / 8][i % 8] = 1u << MYSELF | random >> 5;
    }
    check_refined(&t, &one, level, (const uint32_t(*)[8])flags);
    refine(&t, level, (const uint32_t(*)[8])flags);
    free(flags);
    check_ranks(&t, &one, level + 1);
    check_asking(&t, &one, random);
    for (int l = 0; l <= 3; l++) check_neighbours(&t, l);
    assert_true(nested(&t));
    deepest += t.level[3].count > 0;
    for (int l = 1; l <= 3; l++)
      for (uint32_t i = 0; i < t.level[l].count; i++) {
        const struct gas_group *g = &t.level[l].group[i], *f = &t.level[l - 1].group[g->father];
        for (int c = 0; c < 3; c++) assert_int_equal(f->place[c], g->place[c] / 2);
        assert_int_equal(f->son[t.level[l].key[i] & 7], i);
      }
  }
  assert_true(deepest > 10); /* the test was about something */
  topology_free(&t);
  topology_free(&one);
}

/** Temperatures in the units of comoving gas: ionised gas of 10^4 K has the sound speed 15.1 km/s. */
static void test_units_of_comoving_gas(void **state) {
  (void)state;
  static struct parameters p;
  const double sound = sqrt(5.0 / 3.0 * comoving_heat(1.0, 1e4, 0.6));
  assert_true(fabs(sound / 15.137 - 1.0) < 1e-3);
  assert_true(fabs(comoving_heat(0.1, 100.0, 1.2) / comoving_heat(1.0, 1e4, 1.2) - 1e-4) < 1e-12);
  const struct cosmology c = {.omega_m = 0.3};
  assert_true(fabs(comoving_mean_density(&c) / 8.32650 - 1.0) < 1e-5);
  assert_true(fabs(primordial_temperature(1.0 / 1101.0) / 3000.8 - 1.0) < 1e-3);
  assert_true(fabs(primordial_temperature(0.01) / 197.5 - 1.0) < 1e-3);
  parameters_default(&p);
  p.ic.z_init = 99.0;
  assert_true(fabs(comoving_initial_heat(&p) / comoving_heat(0.01, 197.5, 0.6) - 1.0) < 1e-3);
  p.ic.temperature = 50.0;
  assert_true(comoving_initial_heat(&p) == comoving_heat(0.01, 50.0, 0.6));
}

/** A mesh of two levels, with one batch each, whose task, of batch number 1, reads the batches and their neighbours. */
static void read_batch(void *context) {
  const struct gas *g = context;
  struct slots slots = slots_of("gas_flag", g, 1, 1);
  slots_add_sources(&slots, g, 1, &g->level[1].batch[0], 1.0);
  slots_add_links(&slots, &g->level[1].batch[0]);
  free(slots.data);
}

/** Builds with --enable-debug-checks name the stage and the group of a task that would read old ghosts
 * or links. */
static void test_invariants(void **state) {
  (void)state;
  if (!DEBUG_CHECKS) skip();
  struct gas_batch batch[2] = {{0}, {.first = 64}};
  struct gas g = {.tasks = {.homes = 1, .batch = 64}};
  topology_init(&g.topology, root, periodic, 1);
  for (int level = 0; level < 2; level++) {
    g.level[level].batch = &batch[level];
    g.level[level].batch_groups = 64;
    g.level[level].linked = topology_changes(&g.topology, level);
  }
  read_batch(&g);
  g.level[0].stale = true;
  expect_failure(read_batch, &g, EXIT_RUN_FAILED,
                 "gas_flag of level 1, from group 64 on, reads ghost cells of level 0");
  g.level[0].stale = false;
  uint64_t *keys = allocate(1, sizeof *keys, "patch groups");
  topology_replace(&g.topology, 1, keys, 1);
  expect_failure(read_batch, &g, EXIT_RUN_FAILED,
                 "gas_flag of level 1, from group 64 on, reads links of level 1");
  topology_free(&g.topology);
}

/** A level of so many groups, divided for so many GPUs. @param few  of gas_tasks */
static struct gas divided(uint32_t homes, uint32_t groups, bool few) {
  struct gas g = {.tasks = {.homes = homes, .few = few}};
  g.topology.level[1].count = g.level[1].groups = groups;
  g.level[1].batch_groups = gas_batch_groups(&g, 1, groups);
  g.level[1].batch_count = (groups + g.level[1].batch_groups - 1) / g.level[1].batch_groups;
  return g;
}

/** Homes have consecutive batches of a level, all of it. Each batch, and each group, is in the home that says so. The
 * batches take turns so that in each turn no home has two. */
static void require_homes(struct gas *g) {
  const struct gas_level *l = &g->level[1];
  const uint32_t homes = g->tasks.homes;
  assert_int_equal(gas_home_batch(g, 1, 0), 0);
  assert_int_equal(gas_home_batch(g, 1, homes), l->batch_count);
  for (uint32_t i = 0; i < l->batch_count; i++) {
    const uint32_t home = gas_home_of_batch(g, 1, i);
    assert_true(gas_home_batch(g, 1, home) <= i && i < gas_home_batch(g, 1, home + 1));
    assert_int_equal(gas_home(g, 1, i * l->batch_groups), home);
  }
  gas_set_turns(g, 1);
  assert_int_equal(l->own, l->batch_count);
  uint32_t turns[64] = {0};
  for (uint32_t k = 0; k < l->own; k++) {
    const uint32_t home = gas_home_of_batch(g, 1, l->turn[k]);
    assert_int_equal(l->turn[k], gas_home_batch(g, 1, home) + turns[home]++);
    for (uint32_t h = 0; h < homes; h++)
      assert_true(turns[h] + 1 >= turns[home] ||
                  gas_home_batch(g, 1, h + 1) - gas_home_batch(g, 1, h) == turns[h]);
  }
  free(l->turn);
}

/** With GPUs levels have batches of their own: each GPU has some, which are neither so small that a GPU is not full nor
 * so many that their tasks take longer to submit than to run. Small levels are on few of several GPUs. */
static void test_division(void **state) {
  (void)state;
  if (comm_size() > 1) skip(); /* the GPUs are those of one rank */
  static const struct {
    uint32_t homes, groups, batch;
    uint32_t used; /* homes that have groups */
    bool few;      /* of gas_tasks */
  } cases[] = {{1, 32768, 256, 1, false}, {4, 32768, 256, 4, false}, {8, 32768, 256, 8, false},
               {1, 296, 80, 1, false},    {4, 296, 256, 2, false},   {4, 1024, 256, 4, false},
               {2, 4096, 256, 2, false},  {1, 40, 40, 1, false},     {4, 200, 256, 1, false},
               {1, 700, 352, 1, true},    {2, 700, 352, 2, true},    {1, 400, 416, 1, true},
               {2, 200, 208, 1, true},    {4, 8192, 512, 4, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct gas g = divided(cases[i].homes, cases[i].groups, cases[i].few);
    uint32_t used = 0;
    for (uint32_t h = 0; h < cases[i].homes; h++)
      used += gas_home_batch(&g, 1, h + 1) > gas_home_batch(&g, 1, h);
    assert_int_equal(g.level[1].batch_groups, cases[i].batch);
    assert_int_equal(used, cases[i].used);
  }
  for (uint32_t k = 0; k < 16; k++)
    for (uint32_t groups = 0; groups < 20000; groups = groups * 5 / 4 + 7) {
      struct gas g = divided(1 + k / 2, groups, k % 2);
      require_homes(&g);
      assert_true(g.level[1].batch_groups <= gas_batch_groups_most(&g));
    }
  /* Of four batches at once none is left over. */
  for (uint32_t groups = 1025; groups <= 3072; groups++)
    assert_int_equal(divided(1, groups, false).level[1].batch_count % 4, 0);
}

int main(int argc, char **argv) {
  comm_start(&argc, &argv);
  comm_started();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_root_level),
      cmocka_unit_test(test_neighbours),
      cmocka_unit_test(test_buffers),
      cmocka_unit_test(test_nesting_limits),
      cmocka_unit_test(test_nesting_keeps),
      cmocka_unit_test(test_boundaries),
      cmocka_unit_test(test_random_flags),
      cmocka_unit_test(test_units_of_comoving_gas),
      cmocka_unit_test(test_invariants),
      cmocka_unit_test(test_division),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
