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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The edges 01, 02, 03, 12, 13, 23 of a tetrahedron by their vertices. */
extern const int edge_ends[6][2];

/**
 * Find J_ij / |x_j - x_i| of a tetrahedron's edges. Local.
 * @param p       x and y of the vertices, position units; no two differ by 2^30 or more
 * @param scale   pixels per position unit
 * @param mass    of the tetrahedron, in units of the map
 * @param result  in units of the map over pixels^4
 * @return whether sums of these jumps can be rounded to units; false where a face is seen
 *         edge-on or nearly so
 */
bool edges_find_jumps(const int64_t p[4][2], double scale, double mass, double result[6]);

/**
 * Deposit J max(0, y - y(x)) above an edge from a to b. Local.
 * @param a, b    x in (-pixels, 2 pixels), any y: pixels outside of the map in y do not exist
 * @param jump    J over the extent of the edge in x
 * @param pixels  a side of the map
 * @param map     [x][y], second differences along y (column.h)
 */
void edge_deposit(const double a[2], const double b[2], double jump, size_t pixels, uint64_t *map);

#endif
