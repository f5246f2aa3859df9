/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges.h"

#include <math.h>

#include "column.h"

#define JUMP_MAX 0x1p55 /* units; with some tens of these at one edge all terms are below 2^63 */

const int edge_ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static int64_t cross(const int64_t a[2], const int64_t b[2]) { return a[0] * b[1] - a[1] * b[0]; }

bool edges_find_jumps(const int64_t p[4][2], double scale, double mass, double result[6]) {
  int64_t d[3][2];
  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 2; a++) d[k][a] = p[k + 1][a] - p[0][a];
  /* Whole numbers: their sum is zero exactly, and so are the jumps' sums above the tetrahedron. */
  const int64_t c1 = cross(d[1], d[2]), c2 = cross(d[2], d[0]), c3 = cross(d[0], d[1]);
  const double area = scale * scale;
  const double c[4] = {(double)-(c1 + c2 + c3) * area, (double)c1 * area, (double)c2 * area,
                       (double)c3 * area};
  const double all = -6.0 * mass / (c[0] * c[1] * c[2] * c[3]);
  bool fine = true;
  for (int e = 0; e < 6; e++) {
    const int i = edge_ends[e][0], j = edge_ends[e][1];
    result[e] = all * c[i] * c[j];
    fine &= fabs(result[e] * scale * (double)(p[j][0] - p[i][0])) < JUMP_MAX;
  }
  return fine;
}

struct column {
  size_t rows;
  uint64_t *difference;
};

/** A piece of an edge inside one pixel; its ends are h0 and h1 below the upper border.
 * @param weight  J times the piece's extent in x */
static inline void deposit_piece(const struct column *c, long row, double weight, double h0,
                                 double h1) {
  column_add_tail(c->difference, c->rows, (size_t)row,
                  units(weight * (1.0 / 6.0) * (h0 * h0 + h0 * h1 + h1 * h1)),
                  units(weight * (0.5 + 0.5 * (h0 + h1))), units(weight));
}

/** A piece of an edge inside one column, from y0 up to y1.
 * @param weight   J times the piece's extent in x
 * @param per_row  the same for a piece that goes through a whole pixel */
static inline void deposit_in_column(const struct column *c, double y0, double y1, double weight,
                                     double per_row) {
  const long first = pixel_of(y0), last = pixel_of(y1);
  if (first == last) {
    const double top = (double)(first + 1);
    deposit_piece(c, first, weight, top - y0, top - y1);
    return;
  }
  /* The pieces' weights sum up to the whole in spite of rounding. */
  const double sign = copysign(1.0, weight);
  double rest = fabs(weight), part = lesser(rest, fabs(per_row) * ((double)(first + 1) - y0));
  deposit_piece(c, first, sign * part, (double)(first + 1) - y0, 0.0);
  rest -= part;
  for (long row = first + 1; row < last; row++, rest -= part) {
    part = lesser(rest, fabs(per_row));
    deposit_piece(c, row, sign * part, 1.0, 0.0);
  }
  deposit_piece(c, last, sign * rest, 1.0, (double)(last + 1) - y1);
}

void edge_deposit(const double a[2], const double b[2], double jump, size_t pixels, uint64_t *map) {
  const double *left = a[0] < b[0] ? a : b, *right = a[0] < b[0] ? b : a;
  const double dx = right[0] - left[0], dy = right[1] - left[1];
  if (!(dx > 0.0)) return; /* has no jump */
  const double slope = dy / dx, all = jump * dx, per_row = all * fabs(dx / dy);
  const double low = lesser(left[1], right[1]), high = greater(left[1], right[1]);
  double x = left[0], y = left[1];
  for (long i = pixel_of(x); x < right[0]; i++) {
    const double next = lesser(right[0], (double)(i + 1));
    const double end = next < right[0]
                           ? lesser(greater(left[1] + (next - left[0]) * slope, low), high)
                           : right[1];
    const struct column c = {pixels, map + wrap(i, pixels) * pixels};
    deposit_in_column(&c, lesser(y, end), greater(y, end), all * (next - x), per_row);
    x = next;
    y = end;
  }
}
