/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/mesh/copies.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"

/** Cells of both arrays along an axis: `count` from these places on. */
struct overlap {
  uint32_t from, to, count;
};

/* Of the first array, behind each other: the second one begins in the first of them and is at most four cells
 * longer than the box. */
enum { IMAGES = 3 };

/** @return the number of runs of cells, several where the second array reaches around the box */
static int find_overlaps(uint32_t cells, const struct cell_layout *from,
                         const struct cell_layout *to, int axis, struct overlap found[IMAGES]) {
  int n = 0;
  for (uint32_t image = 0; image < IMAGES; image++) {
    const uint32_t first = from->first[axis] + image * cells, end = first + from->size[axis],
                   to_first = to->first[axis], to_end = to_first + to->size[axis],
                   begin = first > to_first ? first : to_first, least = end < to_end ? end : to_end;
    if (begin < least)
      found[n++] = (struct overlap){begin - first, begin - to_first, least - begin};
  }
  return n;
}

bool cells_meet(uint32_t cells, const struct cell_layout *from, const struct cell_layout *to) {
  struct overlap found[IMAGES];
  for (int c = 0; c < 3; c++)
    if (find_overlaps(cells, from, to, c, found) == 0) return false;
  return true;
}

static void add_copy(struct cell_copies *list, struct cell_copy copy) {
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->copy = reallocate(list->copy, list->room, sizeof *list->copy, "copies of cells");
  }
  copy.before = list->rows;
  list->rows += copy.planes * copy.rows;
  list->copy[list->count++] = copy;
}

void copies_add(struct cell_copies *list, uint32_t cells, const struct cell_layout *from,
                const float *source, const struct cell_layout *to, float *target) {
  struct overlap along[3][IMAGES];
  int n[3];
  for (int c = 0; c < 3; c++) {
    n[c] = find_overlaps(cells, from, to, c, along[c]);
    if (n[c] == 0) return;
  }
  for (int i = 0; i < n[0]; i++)
    for (int j = 0; j < n[1]; j++)
      for (int k = 0; k < n[2]; k++) {
        const struct overlap *x = &along[0][i], *y = &along[1][j], *z = &along[2][k];
        add_copy(list, (struct cell_copy){
                           .from = source + x->from * from->plane + y->from * from->row + z->from,
                           .to = target + x->to * to->plane + y->to * to->row + z->to,
                           .cells = z->count,
                           .rows = y->count,
                           .planes = x->count,
                           .from_plane = from->plane,
                           .from_row = from->row,
                           .to_plane = to->plane,
                           .to_row = to->row});
      }
}

void copies_run(const struct cell_copies *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    const struct cell_copy *c = &list->copy[i];
    for (uint32_t plane = 0; plane < c->planes; plane++)
      for (uint32_t row = 0; row < c->rows; row++)
        memcpy(c->to + plane * c->to_plane + row * c->to_row,
               c->from + plane * c->from_plane + row * c->from_row, c->cells * sizeof *c->to);
  }
}

void copies_free(struct cell_copies *list) {
  free(list->copy);
  *list = (struct cell_copies){0};
}
