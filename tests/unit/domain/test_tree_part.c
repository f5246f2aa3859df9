/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of trees: the nodes that are sent are the root and the children of all nodes below which walks may look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "photons/domain/tree.h"

enum { DEPTH_MOST = 11, TOP_MOST = 9, WORDS = 1 << (TOP_MOST - 5) };

static uint64_t next_random(void) {
  static uint64_t seed = 1;
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return seed >> 32;
}

/** Open a node, and some of what is below it. */
static void open_some(uint64_t *below, unsigned top, uint32_t node) {
  if (next_random() % 5 == 0) return;
  part_open(below, node);
  if (node >= 1u << top) return;
  open_some(below, top, 2 * node);
  open_some(below, top, 2 * node + 1);
}

/** Whether an element of a heap is in a part. Element 0 is none, and goes along. */
static bool is_in(const struct tree_part *p, uint32_t element) {
  return element <= 1 || part_has_below(p, element / 2);
}

static void check_nodes(const struct tree_part *p, unsigned depth) {
  uint32_t runs, element = 0, nodes = 0;
  struct array_run *run = part_node_runs(p, depth, &runs);
  const uint32_t room = part_room(p, depth);
  for (uint32_t k = 0; k < runs; k++) {
    assert_true(run[k].count > 0);
    for (; element < run[k].first; element++) assert_false(is_in(p, element));
    for (; element < run[k].first + run[k].count; element++, nodes++)
      assert_true(is_in(p, element));
  }
  free(run);
  assert_true(element <= room);
  for (; element < tree_nodes(depth); element++) assert_false(is_in(p, element));
  assert_int_equal(part_nodes(p, depth), nodes);
}

/** Particles are those of the leaves below branches. */
static void check_particles(const struct tree_part *p, unsigned depth) {
  const uint32_t leaves = 1u << depth, all = 5 * leaves / 2;
  uint32_t runs, particle = 0;
  struct array_run *run = part_particle_runs(p, all, &runs);
  for (uint32_t k = 0; k <= runs; k++) {
    const uint32_t first = k < runs ? run[k].first : all, count = k < runs ? run[k].count : 0;
    for (; particle < first; particle++)
      assert_false(part_has_below(p, leaves + level_node(all, depth, particle)));
    for (; particle < first + count; particle++)
      assert_true(part_has_below(p, leaves + level_node(all, depth, particle)));
  }
  free(run);
}

/** Branches of all levels: bits are less than a word, one, or more. */
static void test_runs(void **state) {
  (void)state;
  for (unsigned depth = 0; depth <= DEPTH_MOST; depth++)
    for (unsigned top = 0; top <= depth && top <= TOP_MOST; top++)
      for (int i = 0; i < 20; i++) {
        uint64_t below[WORDS] = {0};
        open_some(below, top, 1);
        const struct tree_part p = tree_part_of(below, top);
        uint32_t branches = 0;
        for (uint32_t node = 1u << top; node < 2u << top; node++)
          branches += part_has_below(&p, node);
        assert_int_equal(p.branches, branches);
        check_nodes(&p, depth);
        check_particles(&p, depth);
      }
}

/** All that is opened: the whole tree. Every second branch: as many runs as there can be. */
static void test_extremes(void **state) {
  (void)state;
  uint64_t every[WORDS], second[WORDS];
  memset(every, 0xff, sizeof every);
  memset(second, 0xff, sizeof second);
  memset(second + WORDS / 2, 0x55, sizeof second / 2);
  const struct tree_part whole = tree_part_of(every, TOP_MOST), own = {.branches = 1}, none = {0},
                         combed = tree_part_of(second, TOP_MOST);
  assert_int_equal(part_nodes(&whole, 30), tree_nodes(30));
  assert_int_equal(part_nodes(&own, 30), tree_nodes(30));
  assert_int_equal(part_nodes(&none, DEPTH_MOST), tree_nodes(0));
  assert_int_equal(part_room(&none, DEPTH_MOST), tree_nodes(0));
  check_nodes(&whole, DEPTH_MOST);
  check_nodes(&own, DEPTH_MOST);
  check_nodes(&none, DEPTH_MOST);
  check_nodes(&combed, DEPTH_MOST);
  assert_int_equal(part_nodes(&combed, DEPTH_MOST), 1024 + 256 * (8 - 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_extremes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
