/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of the sheet on a CPU: an edge is kept until all its tetrahedra have been seen. */
#include <stdlib.h>

#include "photons/base/error.h"
#include "sheet_cell.h"

enum { ROWS = 3 }; /* of the lattice whose edges are kept at a time */

/** What is known of the edges that begin at points (i, j, k) and (i + 1, j, k) of the lattice: the
 * jumps of column density (edges.h) by the tetrahedra in the cells between i and i + 1. An edge
 * ends at the point that is d / 4, d / 2 % 2 and d % 2 farther along the three axes. */
typedef double jumps[KINDS][2][8];

/** @param row  jumps of rows j and j + 1 of the lattice */
static void deposit_cell(const struct sheet_part *p, size_t i, size_t j, size_t k,
                         jumps *const row[2]) {
  const uint32_t *corner[8];
  double(*at[8])[2][8];
  for (int c = 0; c < 8; c++) {
    const size_t above = k + (size_t)c % 2;
    corner[c] = corner_at(p, i, j, k, c);
    at[c] = row[c / 2 % 2][above < p->side ? above : 0];
  }
  for (int t = 0; t < TETRAHEDRA; t++) {
    int c[4];
    tetrahedron_corners(t, c);
    const uint32_t *const vertex[4] = {corner[c[0]], corner[c[1]], corner[c[2]], corner[c[3]]};
    double jump[6];
    const enum kind kind = is_whole(p) ? find_jumps(p, vertex, jump) : NOT_BY_EDGES;
    if (kind == NOT_BY_EDGES) {
      deposit_images(p, vertex);
      continue;
    }
    for (int e = 0; e < 6; e++) {
      const int begin = c[edge_begin(e)], end = c[edge_end(e)];
      at[begin][kind][begin / 4][end - begin] += jump[e];
    }
  }
}

/** Deposit the edges that begin at points (i, j, k) and (i + 1, j, k) for all k, and forget
 * them. */
static void deposit_row(const struct sheet_part *p, size_t i, size_t j, jumps *row) {
  for (size_t k = 0; k < p->side; k++)
    for (size_t above = 0; above < 2; above++)
      for (int d = 1; d < 8; d++)
        for (enum kind kind = 0; kind < KINDS; kind++) {
          const double jump = row[k][kind][above][d];
          row[k][kind][above][d] = 0.0;
          if (jump != 0.0)
            deposit_edge(p, point_at(p, i + above, j, k), corner_at(p, i + above, j, k, d), kind,
                         jump);
        }
}

/** Deposit the cells of one plane. The edges of a row of points are complete when the cells on both
 * sides of the row have been seen; row 0 also has cells of the last row. Edges between two planes
 * of cells are deposited with either plane, so that rounding is the same for any number of
 * parts. */
static void deposit_plane(const struct sheet_part *p, size_t i, jumps *first) {
  const size_t n = p->side;
  for (size_t j = 0; j < n; j++) {
    jumps *const row[2] = {j == 0 ? first : first + (1 + j % 2) * n,
                           j + 1 == n ? first : first + (1 + (j + 1) % 2) * n};
    for (size_t k = 0; k < n; k++) deposit_cell(p, i, j, k, row);
    if (j > 0) deposit_row(p, i, j, row[0]);
  }
  deposit_row(p, i, 0, first);
}

void sheet_deposit(const struct sheet_part *p) {
  jumps *first = allocate(ROWS * p->side, sizeof *first, "edges of a picture's lattice");
  for (size_t i = 0; i < p->planes; i++) deposit_plane(p, i, first);
  free(first);
}
