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
#include "src/mesh/fields.h"
#include "src/mesh/met.h"

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

enum { FIELDS = 3 };

/** Add to a list of boxes those of a message, whose parts follow each other in it. */
static void add_parts(const struct mesh_message *message, struct mesh_boxes *list) {
  size_t at = 0;
  for (uint32_t i = 0; i < message->parts; i++) {
    const struct field_part *p = &message->field[i];
    struct mesh_box box;
    size_t floats = FIELDS;
    for (int c = 0; c < 3; c++) {
      box.first[c] = p->first[c];
      box.end[c] = p->first[c] + p->size[c];
      floats *= p->size[c];
    }
    assert_int_equal(p->at, at);
    at += floats;
    boxes_add(list, box);
  }
  assert_int_equal(message->floats, at);
}

/* Messages of 200 floats at most have all cells of the boxes, those of larger boxes in parts, and are numbered. */
static void test_division(void **state) {
  (void)state;
  enum { MOST = 200 };
  static uint32_t before[N][N][N], after[N][N][N];
  for (uint32_t trial = 0; trial < 50; trial++) {
    struct mesh_boxes boxes = {0}, parts = {0};
    struct mesh_messages messages = {0};
    for (uint32_t n = 1 + random_below(BOXES_MOST); n > 0; n--) boxes_add(&boxes, random_box());
    boxes_unite(&boxes);
    struct listing listing = messages_begin(&messages, sizeof(struct field_part), MOST);
    fields_add(&listing, 0, 0, &boxes, FIELDS);
    for (uint32_t k = 0; k < messages.count; k++) {
      assert_true(messages.message[k].floats <= MOST);
      assert_int_equal(messages.message[k].number, k);
      add_parts(&messages.message[k], &parts);
    }
    count_cells(&boxes, before);
    count_cells(&parts, after);
    assert_memory_equal(before, after, sizeof before);
    free(listing.last);
    messages_free(&messages);
    free(boxes.box);
    free(parts.box);
  }
}

/** The parts of a message that have cells of a box. @param[in,out] looks  parts that are looked at */
static uint32_t count_near(const struct mesh_message *message, uint32_t cells,
                           const struct cell_layout *box, uint32_t *looks) {
  uint32_t node = 0, near = 0;
  const struct field_part *end;
  for (const struct field_part *p; (p = parts_near(message, cells, box, &node, &end));)
    for (; p < end; p++, ++*looks)
      near += cells_meet(cells,
                         &(struct cell_layout){.first = {p->first[0], p->first[1], p->first[2]},
                                               .size = {p->size[0], p->size[1], p->size[2]}},
                         box);
  return near;
}

/* Every other one of 12^3 groups of a rank, with gaps between them. A group that reaches around the box finds all parts with its cells, and
 * looks at the parts of a few leaves of 8 to 16 parts each. */
static void test_search(void **state) {
  (void)state;
  enum { SIDE = 12, APART = 10, CELLS = SIDE * APART, GROUPS = SIDE * SIDE * SIDE };
  struct mesh_boxes boxes = {0};
  for (uint32_t g = 0; g < GROUPS; g++) {
    const uint32_t place[] = {g / SIDE / SIDE, g / SIDE % SIDE, g % SIDE};
    struct mesh_box box;
    if ((place[0] + place[1] + place[2]) % 2 > 0) continue;
    for (int c = 0; c < 3; c++) {
      box.first[c] = APART * place[c] + random_below(3);
      box.end[c] = APART * (place[c] + 1) - random_below(3);
    }
    boxes_add(&boxes, box);
  }
  boxes_unite(&boxes);
  struct mesh_messages messages = {0};
  struct listing listing = messages_begin(&messages, sizeof(struct field_part), SIZE_MAX);
  fields_add(&listing, 0, 0, &boxes, FIELDS);
  struct mesh_message *message = messages.message;
  part_tree_make(message);
  uint32_t looks = 0;
  for (uint32_t g = 0; g < GROUPS; g++) {
    const struct cell_layout group = {
        .first = {random_below(CELLS), random_below(CELLS), random_below(CELLS)},
        .size = {APART + 4, APART + 4, APART + 4}};
    uint32_t near = 0;
    for (uint32_t i = 0; i < message->parts; i++) {
      const struct field_part *p = &message->field[i];
      const struct cell_layout part = {.first = {p->first[0], p->first[1], p->first[2]},
                                       .size = {p->size[0], p->size[1], p->size[2]}};
      near += cells_meet(CELLS, &part, &group);
    }
    assert_int_equal(count_near(message, CELLS, &group, &looks), near);
  }
  assert_true(message->parts >= GROUPS / 2);
  assert_true(looks < 10 * 16 * GROUPS);
  free(listing.last);
  messages_free(&messages);
  free(boxes.box);
}

/* Of groups with 10^6 pieces, two of each rank, each rank is told once. To compare all pieces with each other would take
 * hours. */
static void test_told(void **state) {
  (void)state;
  enum { RANKS = 500000, PIECES = 2 * RANKS, GROUPS = 3 };
  struct mesh_piece *piece = calloc(PIECES, sizeof *piece);
  uint32_t *latest = calloc(RANKS, sizeof *latest);
  struct told told = {.rank = NULL};
  for (uint32_t k = 0; k < PIECES; k++) piece[k].rank = (int)(k % RANKS);
  for (uint32_t g = 0; g < GROUPS; g++) tell_ranks(&told, g, piece, PIECES, latest);
  assert_int_equal(told.count, GROUPS * (RANKS - 1)); /* not to itself, rank 0 */
  for (uint32_t k = 0; k < told.count; k++) {
    assert_int_equal(told.group[k], k / (RANKS - 1));
    assert_int_equal(told.rank[k], 1 + k % (RANKS - 1));
  }
  free(told.rank);
  free(told.group);
  free(latest);
  free(piece);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_unite),  cmocka_unit_test(test_groups),
                                     cmocka_unit_test(test_copies), cmocka_unit_test(test_division),
                                     cmocka_unit_test(test_search), cmocka_unit_test(test_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
