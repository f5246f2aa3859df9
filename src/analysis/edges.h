/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mass of uniform tetrahedra projected along z, from their edges alone.
 *
 * The column density f(x, y) of a tetrahedron of mass m is linear between the projections of its
 * six edges, and zero outside. It is a simplex spline (Micchelli 1980, Rocky Mt. J. Math. 10, 485).
 * At the edge from vertex i to vertex j its slope along y jumps by J_ij:
 *
 *     J_ij = -6 m |x_j - x_i| / (c_k c_l),
 *     f(x, y) = sum over edges of J_ij max(0, y - y_ij(x)),
 *
 * where k and l are the other vertices, and the edge runs along y_ij(x) between x_i and x_j. The
 * four projected points p have numbers c with sum c = 0 and sum c p = 0; |c_k| is twice the
 * projected area of the face opposite to k. (If k and l project to one point, f is 3 m over the
 * area |c_k|/2 there. It falls to zero at the edge, so that J is 6 m / |c_k| over the distance
 * |c_k| / |x_j - x_i|.)
 *
 * Jumps of tetrahedra that share an edge add up, and the edge is followed through the pixels once.
 * Above a tetrahedron the sum of its edges is zero but for rounding. Its six edges must therefore
 * be deposited at the same images of the box in y. */
#ifndef PHOTONS_EDGES_H
#define PHOTONS_EDGES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "column.h"

/** The edges 01, 02, 03, 12, 13, 23 of a tetrahedron by their vertices. */
static HOST_DEVICE inline int edge_begin(int e) { return (e > 2) + (e > 4); }
static HOST_DEVICE inline int edge_end(int e) { return e < 3 ? e + 1 : e < 5 ? e - 1 : 3; }
/** The edge between two vertices, begin < end. */
static HOST_DEVICE inline int edge_between(int begin, int end) {
  return begin == 0 ? end - 1 : begin + end;
}

#define JUMP_MAX 0x1p55 /* units; the terms of an edge with some tens of these are below 2^63 */

static HOST_DEVICE inline int64_t whole_cross(const int64_t a[2], const int64_t b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

/**
 * Find J_ij / |x_j - x_i| of a tetrahedron's edges. Local.
 * @param p       x and y of the vertices, position units; no two differ by 2^30 or more
 * @param scale   pixels per position unit
 * @param mass    of the tetrahedron, in units of the map
 * @param result  in units of the map over pixels^4
 * @return whether sums of these jumps can be rounded to units; false where a face is seen
 *         edge-on or nearly so
 */
static HOST_DEVICE inline bool edges_find_jumps(const int64_t p[4][2], double scale, double mass,
                                                double result[6]) {
  int64_t d[3][2];
  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 2; a++) d[k][a] = p[k + 1][a] - p[0][a];
  /* Whole numbers: their sum is zero exactly, and so are the jumps' sums above the tetrahedron. */
  const int64_t c1 = whole_cross(d[1], d[2]), c2 = whole_cross(d[2], d[0]),
                c3 = whole_cross(d[0], d[1]);
  const double area = scale * scale;
  const double c[4] = {(double)-(c1 + c2 + c3) * area, (double)c1 * area, (double)c2 * area,
                       (double)c3 * area};
  const double all = -6.0 * mass / (c[0] * c[1] * c[2] * c[3]);
  bool fine = true;
  for (int e = 0; e < 6; e++) {
    const int i = edge_begin(e), j = edge_end(e);
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

static HOST_DEVICE inline struct crossing crossing_from(double begin, double end) {
  const double extent = end - begin, low = (double)pixel_of(begin);
  return (struct crossing){.begin = begin,
                           .extent = extent,
                           .inverse = extent == 0.0 ? 1.0 : 1.0 / extent,
                           .border = low + (extent == 0.0 ? INFINITY : extent > 0.0),
                           .step = extent > 0.0 ? 1.0 : -1.0};
}

/**
 * Deposit J max(0, y - y(x)) above an edge from a to b. Local.
 * @param a, b    x in (-pixels, 2 pixels), any y: pixels outside of the map in y do not exist
 * @param jump    J over the extent of the edge in x
 * @param pixels  a side of the map
 * @param map     [x][y], second differences along y (column.h)
 *
 * An edge is cut at all borders of pixels that it crosses. A piece of the width w, whose ends are
 * h0 and h1 below the upper border of its pixel, adds J w (h0^2 + h0 h1 + h1^2) / 6 to this pixel,
 * J w (1 + h0 + h1) / 2 to the pixel above, and J w more to each pixel than to the one below it
 * from there on. */
static HOST_DEVICE inline void edge_deposit(const double a[2], const double b[2], double jump,
                                            size_t pixels, uint64_t *map) {
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

#endif
