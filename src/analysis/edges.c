/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges.h"

#include <math.h>

#include "column.h"

#define JUMP_MAX 0x1p55 /* units; the terms of an edge with some tens of these are below 2^63 */

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

/** The borders of pixels that an edge crosses along one axis. */
struct crossing {
  double begin, extent; /* of the edge */
  double inverse;       /* of the extent */
  double border;        /* the next one */
  double step;          /* from there to the one behind it */
};

static struct crossing crossing_from(double begin, double end) {
  const double extent = end - begin, low = (double)pixel_of(begin);
  return (struct crossing){.begin = begin,
                           .extent = extent,
                           .inverse = extent == 0.0 ? 1.0 : 1.0 / extent,
                           .border = low + (extent == 0.0 ? INFINITY : extent > 0.0),
                           .step = extent > 0.0 ? 1.0 : -1.0};
}

/* An edge is cut at all borders of pixels that it crosses. A piece of the width w, whose ends are
 * h0 and h1 below the upper border of its pixel, adds J w (h0^2 + h0 h1 + h1^2) / 6 to this pixel,
 * J w (1 + h0 + h1) / 2 to the pixel above, and J w more to each pixel than to the one below it
 * from there on. */
void edge_deposit(const double a[2], const double b[2], double jump, size_t pixels, uint64_t *map) {
  const double *left = a[0] < b[0] ? a : b, *right = a[0] < b[0] ? b : a;
  if (!(right[0] > left[0])) return; /* has no jump */
  struct crossing x = crossing_from(left[0], right[0]), y = crossing_from(left[1], right[1]);
  const long first = pixel_of(left[0]), up = y.extent < 0.0 ? -1 : 1;
  long row = pixel_of(left[1]);
  const long pieces = 1 + (pixel_of(right[0]) - first) + up * (pixel_of(right[1]) - row);
  uint64_t *column = map + wrap(first, pixels) * pixels;
  const double all = jump * x.extent * x.extent;
  double t0 = 0.0, h0 = (double)(row + 1) - y.begin;
  for (long k = 0; k < pieces; k++) {
    const double tx = (x.border - x.begin) * x.inverse, ty = (y.border - y.begin) * y.inverse;
    const bool across = tx <= ty;
    const double t1 = lesser(1.0, across ? tx : ty);
    const double h1 = (double)(row + 1) - (y.begin + t1 * y.extent);
    const double weight = all * (t1 - t0);
    column_add_tail(column, pixels, row,
                    units(weight * (1.0 / 6.0) * (h0 * h0 + h0 * h1 + h1 * h1)),
                    units(weight * (0.5 + 0.5 * (h0 + h1))), units(weight));
    x.border += across ? 1.0 : 0.0;
    y.border += across ? 0.0 : y.step;
    h0 = h1 + (across ? 0.0 : y.step);
    t0 = t1;
    row += across ? 0 : up;
    column += across ? pixels : 0;
    if (column == map + pixels * pixels) column = map;
  }
}
