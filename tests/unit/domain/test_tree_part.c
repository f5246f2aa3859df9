/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of trees: the nodes that are sent are the root and the children of all nodes below which walks may look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "photons/domain/tree.h"

enum { DEPTH_MOST = 9 };

static uint64_t next_random(void) {
  static uint64_t seed = 1;
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return seed >> 32;
}

/** Open a node, and some of what is below it. */
static void open_some(struct tree_part *p, uint32_t node) {
  if (next_random() % 3 == 0) return;
  if (node >= 1u << p->top) {
    p->branches |= UINT64_C(1) << (node - (1u << p->top));
    return;
  }
  p->opened |= UINT64_C(1) << node;
  open_some(p, 2 * node);
  open_some(p, 2 * node + 1);
}

/** Whether an element of a heap is in a part. Element 0 is none, and goes along. */
static bool is_in(const struct tree_part *p, uint32_t element) {
  return element <= 1 || part_has_below(p, element / 2);
}

static void check_runs(const struct tree_part *p, unsigned depth) {
  struct node_run run[NODE_RUNS_MOST];
  const uint32_t runs = part_runs(p, depth, run), room = part_room(p, depth);
  uint32_t element = 0, nodes = 0;
  assert_true(runs <= NODE_RUNS_MOST);
  for (uint32_t k = 0; k < runs; k++) {
    assert_true(run[k].count > 0);
    for (; element < run[k].first; element++) assert_false(is_in(p, element));
    for (; element < run[k].first + run[k].count; element++, nodes++)
      assert_true(is_in(p, element));
  }
  assert_true(element <= room);
  for (; element < tree_nodes(depth); element++) assert_false(is_in(p, element));
  assert_int_equal(part_nodes(p, depth), nodes);
}

static void test_runs(void **state) {
  (void)state;
  for (unsigned depth = 0; depth <= DEPTH_MOST; depth++)
    for (int i = 0; i < 200; i++) {
      struct tree_part p = {.top = depth < 6 ? depth : 6};
      open_some(&p, 1);
      check_runs(&p, depth);
    }
}

/** All that is opened: the whole tree. Every second branch: as many runs as there can be. */
static void test_extremes(void **state) {
  (void)state;
  const struct tree_part whole = {UINT64_MAX, UINT64_MAX, 6}, none = {.top = 6},
                         combed = {UINT64_C(0x5555555555555555), UINT64_MAX, 6};
  assert_int_equal(part_nodes(&whole, 30), tree_nodes(30));
  assert_int_equal(part_nodes(&none, DEPTH_MOST), tree_nodes(0));
  assert_int_equal(part_room(&none, DEPTH_MOST), tree_nodes(0));
  check_runs(&whole, DEPTH_MOST);
  check_runs(&combed, DEPTH_MOST);
  assert_int_equal(part_nodes(&combed, DEPTH_MOST), 128 + 32 * (16 - 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_extremes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
