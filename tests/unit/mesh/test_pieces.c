/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of the mesh that ranks send each other: each cell once, and where it belongs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "photons/mesh/copies.h"
#include "src/mesh/unite.h"

enum { N = 12, BOXES_MOST = 40 };

static uint64_t state_of_random = 7;

/** A number below n. */
static uint32_t random_below(uint32_t n) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((state_of_random >> 33) % n);
}

static struct mesh_box random_box(void) {
  struct mesh_box box;
  for (int c = 0; c < 3; c++) {
    box.first[c] = random_below(N);
    box.end[c] = box.first[c] + 1 + random_below(N - box.first[c]);
  }
  return box;
}

/** How many of the boxes have each cell. */
static void count_cells(const struct mesh_boxes *list, uint32_t count[N][N][N]) {
  memset(count, 0, N * sizeof *count);
  for (size_t i = 0; i < list->count; i++) {
    const struct mesh_box *b = &list->box[i];
    for (uint32_t x = b->first[0]; x < b->end[0]; x++)
      for (uint32_t y = b->first[1]; y < b->end[1]; y++)
        for (uint32_t z = b->first[2]; z < b->end[2]; z++) count[x][y][z]++;
  }
}

static bool is_rising(const struct mesh_boxes *list) {
  for (size_t i = 1; i < list->count; i++) {
    const uint32_t *a = list->box[i - 1].first, *b = list->box[i].first;
    const int c = a[0] != b[0] ? 0 : a[1] != b[1] ? 1 : 2;
    if (a[c] >= b[c]) return false;
  }
  return true;
}

/* Random boxes: the cells of all of them, each once, in order. Boxes of one cell each with the same cells, in any order,
 * give the same list. */
static void test_unite(void **state) {
  (void)state;
  static uint32_t before[N][N][N], after[N][N][N];
  for (uint32_t trial = 0; trial < 200; trial++) {
    struct mesh_boxes list = {0}, cells = {0};
    for (uint32_t n = random_below(BOXES_MOST); n > 0; n--) boxes_add(&list, random_box());
    count_cells(&list, before);
    boxes_unite(&list);
    count_cells(&list, after);
    for (uint32_t x = 0; x < N; x++)
      for (uint32_t y = N; y-- > 0;)
        for (uint32_t z = 0; z < N; z++) {
          assert_int_equal(after[x][y][z], before[x][y][z] > 0);
          if (before[x][y][z] > 0)
            boxes_add(&cells, (struct mesh_box){{x, y, z}, {x + 1, y + 1, z + 1}});
        }
    assert_true(is_rising(&list));
    boxes_unite(&cells);
    assert_int_equal(cells.count, list.count);
    for (size_t i = 0; i < list.count; i++)
      assert_memory_equal(&cells.box[i], &list.box[i], sizeof list.box[i]);
    free(cells.box);
    free(list.box);
  }
}

/* Boxes of 4 x 4 x 4 groups that reach over each other are one box; with one longer than all others two more, before
 * and behind whose row the box ends. */
static void test_groups(void **state) {
  (void)state;
  for (uint32_t longer = 0; longer < 2; longer++) {
    struct mesh_boxes list = {0};
    for (uint32_t g = 0; g < 64; g++) {
      const uint32_t x = g / 16 * 8, y = g / 4 % 4 * 8, z = g % 4 * 8;
      boxes_add(&list,
                (struct mesh_box){{x, y, z}, {x + 13, y + 13, z + 13 + (g == 23 ? longer : 0)}});
    }
    boxes_unite(&list);
    const size_t boxes[] = {
        1, 5}; /* x before and behind; y before and behind; the rows of the longer one */
    assert_int_equal(list.count, boxes[longer]);
    const struct mesh_box whole = {{0, 0, 0}, {37, 37, 37}};
    if (!longer) assert_memory_equal(list.box, &whole, sizeof whole);
    free(list.box);
  }
}

/** The cell of an array at a place, modulo N. */
static float *cell_at(float *data, const struct cell_layout *l, const uint32_t at[3]) {
  return data + at[0] * l->plane + at[1] * l->row + at[2];
}

/* From an array of random place and size to one that may reach around the box, and in z over itself: each cell that the first
 * one has is copied to all its places in the second one, and nothing else is written. */
static void test_copies(void **state) {
  (void)state;
  enum { ROW = N + 7 };
  static float source[N][N][ROW], target[N][N][ROW];
  for (uint32_t trial = 0; trial < 2000; trial++) {
    const struct mesh_box box = random_box();
    struct cell_layout from = {.plane = N * ROW, .row = ROW}, to = from;
    for (int c = 0; c < 3; c++) {
      from.first[c] = box.first[c];
      from.size[c] = box.end[c] - box.first[c];
      to.first[c] = random_below(N);
      to.size[c] = 1 + random_below(N);
    }
    if (trial % 4 == 0) to.size[2] = N + 4;
    float number = 1;
    for (uint32_t i = 0; i < N * N * ROW; i++) (&source[0][0][0])[i] = number++;
    memset(target, 0, sizeof target);
    struct cell_copies list = {0};
    copies_add(&list, N, &from, source[0][0], &to, target[0][0]);
    assert_int_equal(list.count > 0, cells_meet(N, &from, &to));
    copies_run(&list);
    uint32_t copied = 0, rows = 0;
    for (uint32_t x = 0; x < to.size[0]; x++)
      for (uint32_t y = 0; y < to.size[1]; y++)
        for (uint32_t z = 0; z < to.size[2]; z++) {
          const uint32_t at[3] = {x, y, z};
          uint32_t there[3], inside = 1;
          for (int c = 0; c < 3; c++) {
            there[c] = (to.first[c] + at[c]) % N -
                       from.first[c]; /* wraps to a large number below */
            inside = inside && there[c] < from.size[c];
          }
          const float expected = inside ? *cell_at(source[0][0], &from, there) : 0;
          assert_true(*cell_at(target[0][0], &to, at) == expected);
          copied += inside;
        }
    for (uint32_t i = 0; i < N * N * ROW; i++) copied -= (&target[0][0][0])[i] != 0;
    assert_int_equal(copied, 0);
    for (uint32_t i = 0; i < list.count; i++) {
      assert_int_equal(list.copy[i].before, rows);
      rows += list.copy[i].planes * list.copy[i].rows;
    }
    assert_int_equal(list.rows, rows);
    copies_free(&list);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_unite), cmocka_unit_test(test_groups),
                                     cmocka_unit_test(test_copies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
