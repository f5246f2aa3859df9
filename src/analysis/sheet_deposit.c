/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of the sheet on a CPU: an edge is kept until all its tetrahedra have been seen. */
#include <stdbool.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "sheet_cell.h"

enum { ROWS = 3 }; /* of the lattice whose edges are kept at a time */

/** What is known of the edges that begin at points (i, j, k) and (i + 1, j, k) of the lattice. */
struct edges {
  double jump[KINDS][2][8]; /* of column density (edges.h) by the tetrahedra in the cells between i
                               and i + 1; an edge ends at the point that is d / 4, d / 2 % 2 and
                               d % 2 farther along the three axes */
  bool seen[KINDS];         /* whether there are any */
};

/** @param row  edges of rows j and j + 1 of the lattice */
static void deposit_cell(const struct sheet_part *p, size_t i, size_t j, size_t k,
                         struct edges *const row[2]) {
  const uint32_t *corner[8];
  for (int c = 0; c < 8; c++) corner[c] = corner_at(p, i, j, k, c);
  if (share_of(p, corner, 8) == NOTHING) return;
  const size_t above = k + 1 < p->side ? k + 1 : 0;
  struct edges *const at[4] = {&row[0][k], &row[0][above], &row[1][k], &row[1][above]};
  for (int t = 0; t < TETRAHEDRA; t++) {
    int c[4];
    tetrahedron_corners(t, c);
    const uint32_t *const vertex[4] = {corner[c[0]], corner[c[1]], corner[c[2]], corner[c[3]]};
    double jump[6];
    const enum kind kind = find_jumps(p, vertex, jump);
    if (kind == BY_ITSELF) deposit_images(p, vertex);
    if (kind >= KINDS) continue;
    for (int e = 0; e < 6; e++) {
      const int begin = c[edge_begin(e)], end = c[edge_end(e)];
      at[begin % 4]->jump[kind][begin / 4][end - begin] += jump[e];
      at[begin % 4]->seen[kind] = true;
    }
  }
}

/** Deposit the edges that begin at points (i, j, k) and (i + 1, j, k), and forget them. */
static void deposit_point(const struct sheet_part *p, size_t i, size_t j, size_t k,
                          struct edges *edges) {
  for (enum kind kind = 0; kind < KINDS; kind++) {
    if (!edges->seen[kind]) continue;
    edges->seen[kind] = false;
    for (size_t above = 0; above < 2; above++)
      for (int d = 1; d < 8; d++) {
        const double jump = edges->jump[kind][above][d];
        edges->jump[kind][above][d] = 0.0;
        if (jump != 0.0)
          deposit_edge(p, point_at(p, i + above, j, k), corner_at(p, i + above, j, k, d), kind,
                       jump);
      }
  }
}

static void deposit_row(const struct sheet_part *p, size_t i, size_t j, struct edges *row) {
  for (size_t k = 0; k < p->side; k++) deposit_point(p, i, j, k, &row[k]);
}

/** Deposit the cells of one plane. The edges of a row of points are complete when the cells on both
 * sides of the row have been seen; row 0 also has cells of the last row. Edges between two planes
 * of cells are deposited with either plane, so that rounding is the same for any number of
 * parts. */
static void deposit_plane(const struct sheet_part *p, size_t i, struct edges *first) {
  const size_t n = p->side;
  for (size_t j = 0; j < n; j++) {
    struct edges *const row[2] = {j == 0 ? first : first + (1 + j % 2) * n,
                                  j + 1 == n ? first : first + (1 + (j + 1) % 2) * n};
    for (size_t k = 0; k < n; k++) deposit_cell(p, i, j, k, row);
    if (j > 0) deposit_row(p, i, j, row[0]);
  }
  deposit_row(p, i, 0, first);
}

void sheet_deposit(const struct sheet_part *p) {
  struct edges *first = allocate(ROWS * p->side, sizeof *first, "edges of a picture's lattice");
  for (size_t i = 0; i < p->planes; i++) deposit_plane(p, i, first);
  free(first);
}
