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

/** The next border of pixels that an edge crosses along one axis. */
struct crossing {
  double at, step; /* coordinate of the border relative to the edge's begin; to the next one */
  double inverse;  /* of the edge's extent */
  double t;        /* fraction of the edge in front of the border */
};

static struct crossing crossing_from(double begin, double extent) {
  const double low = (double)pixel_of(begin);
  return (struct crossing){(extent > 0.0 ? low + 1.0 : low) - begin, extent > 0.0 ? 1.0 : -1.0,
                           1.0 / extent, extent == 0.0 ? INFINITY : 0.0};
}

void edge_deposit(const double a[2], const double b[2], double jump, size_t pixels, uint64_t *map) {
  const double *left = a[0] < b[0] ? a : b, *right = a[0] < b[0] ? b : a;
  const double dx = right[0] - left[0], dy = right[1] - left[1], all = jump * dx * dx;
  if (!(dx > 0.0)) return; /* has no jump */
  struct crossing x = crossing_from(left[0], dx), y = crossing_from(left[1], dy);
  if (x.t == 0.0) x.t = x.at * x.inverse;
  if (y.t == 0.0) y.t = y.at * y.inverse;
  long row = pixel_of(left[1]), column = pixel_of(left[0]);
  const long up = dy > 0.0 ? 1 : -1;
  const long pieces = 1 + (pixel_of(right[0]) - column) + up * (pixel_of(right[1]) - row);
  column = (long)wrap(column, pixels);
  double t0 = 0.0, h0 = (double)(row + 1) - left[1];
  for (long k = 0; k < pieces; k++) {
    const bool across = x.t <= y.t;
    const double t1 = lesser(1.0, across ? x.t : y.t);
    const double weight = all * (t1 - t0), h1 = (double)(row + 1) - (left[1] + t1 * dy);
    column_add_tail(map + (size_t)column * pixels, pixels, row,
                    units(weight * (1.0 / 6.0) * (h0 * h0 + h0 * h1 + h1 * h1)),
                    units(weight * (0.5 + 0.5 * (h0 + h1))), units(weight));
    t0 = t1;
    const double cx = across ? 1.0 : 0.0, cy = across ? 0.0 : y.step;
    x.at += cx;
    y.at += cy;
    h0 = h1 + cy;
    column += across ? 1 : 0;
    row += across ? 0 : up;
    if (column == (long)pixels) column = 0;
    x.t = x.at * x.inverse;
    y.t = y.at * y.inverse;
    if (dy == 0.0) y.t = INFINITY;
  }
}
