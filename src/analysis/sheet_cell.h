/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of the sheet: their tetrahedra, and what these add to a map; on CPUs and GPUs. */
#ifndef PHOTONS_SHEET_CELL_H
#define PHOTONS_SHEET_CELL_H

#include "edges.h"
#include "photons/domain/geometry.h"
#include "sheet_part.h"
#include "tetrahedron.h"

enum { FAR = 1 << 29 };  /* position units; corners of a tetrahedron with shared edges are nearer */
enum { TETRAHEDRA = 6 }; /* of a cell */
/** How a tetrahedron is deposited: by its edges, which the border of the box does not cut in y, or
 * cuts; by itself; or not at all, because the slice has nothing of it. */
enum kind { INSIDE, CUT, KINDS, BY_ITSELF = KINDS, OUTSIDE };
/** What of a body the slice has. */
enum share { NOTHING, SOME, ALL };

static HOST_DEVICE inline bool is_whole(const struct sheet_part *p) {
  return p->extent == UINT32_MAX;
}

/** @param j, k  up to the side of the lattice, which is 0 */
static HOST_DEVICE inline const uint32_t *point_at(const struct sheet_part *p, size_t i, size_t j,
                                                   size_t k) {
  const size_t n = p->side;
  return p->position[(i * n + (j < n ? j : 0)) * n + (k < n ? k : 0)];
}

/** Corner c of cell (i, j, k) is c / 4, c / 2 % 2 and c % 2 farther along the three axes. */
static HOST_DEVICE inline const uint32_t *corner_at(const struct sheet_part *p, size_t i, size_t j,
                                                    size_t k, int c) {
  return point_at(p, i + (size_t)(c >> 2), j + (size_t)(c >> 1 & 1), k + (size_t)(c & 1));
}

/** The corners of the cell that are vertices of tetrahedron t, in ascending order. The six share
 * the diagonal from corner 000 to 111; each goes there along the axes in another order (Kuhn 1960).
 * Neighbouring cells cut their common face in the same way. */
static HOST_DEVICE inline void tetrahedron_corners(int t, int c[4]) {
  const int first = 1 << (t >> 1), axis = first == 1 ? 2 : 1;
  c[0] = 0;
  c[1] = first;
  c[2] = first | (t & 1 ? 7 - first - axis : axis);
  c[3] = 7;
}

/** A corner of a cell relative to the corner at `origin`, so that no cell is cut by the box. */
static HOST_DEVICE inline struct vertex
vertex_near(const struct sheet_part *p, const uint32_t origin[3], const uint32_t corner[3]) {
  struct vertex v;
  v.x = p->scale * ((double)origin[0] + position_difference(corner[0], origin[0]));
  v.y = p->scale * ((double)origin[1] + position_difference(corner[1], origin[1]));
  v.z = (double)(origin[2] - p->low) + position_difference(corner[2], origin[2]);
  return v;
}

/** Deposit the edge from one point to another, in pixels. Where the border of the box cuts bodies
 * with this edge, they are deposited at both sides of the box. */
static HOST_DEVICE inline void deposit_line(const struct sheet_part *p, const double begin[2],
                                            const double end[2], bool cut, double jump) {
  const double n = (double)p->pixels;
  edge_deposit(begin, end, jump, p->pixels, p->map);
  if (!cut) return;
  const double side = 2.0 * begin[1] < n ? n : -n;
  const double from[2] = {begin[0], begin[1] + side}, to[2] = {end[0], end[1] + side};
  edge_deposit(from, to, jump, p->pixels, p->map);
}

/** Deposit a piece of a tetrahedron by its edges. Its vertices, among them points where edges were
 * cut, are rounded to position units.
 * @return whether it could be */
static HOST_DEVICE inline bool deposit_by_edges(const struct sheet_part *p,
                                                const struct piece *piece) {
  const double side = POSITION_TURN * p->scale, inverse = 1.0 / p->scale;
  int64_t at[4][2];
  bool cut = false;
  for (int k = 0; k < 4; k++) {
    at[k][0] = pixel_of(piece->v[k].x * inverse + 0.5);
    at[k][1] = pixel_of(piece->v[k].y * inverse + 0.5);
    cut |= !(piece->v[k].y >= 0.0 && piece->v[k].y < side);
  }
  double jump[6];
  if (in_one_pixel(piece->v) || !edges_find_jumps(at, p->scale, piece->mass, jump)) return false;
  for (int e = 0; e < 6; e++) {
    const int64_t *const from = at[edge_begin(e)], *const to = at[edge_end(e)];
    const double begin[2] = {p->scale * (double)from[0], p->scale * (double)from[1]},
                 end[2] = {p->scale * (double)to[0], p->scale * (double)to[1]};
    deposit_line(p, begin, end, cut, jump[e]);
  }
  return true;
}

/** Whether no two corners are farther apart than tetrahedra with edges may reach. */
static HOST_DEVICE inline bool are_near(const uint32_t *const corner[4]) {
  bool near = true;
  for (int k = 1; k < 4; k++)
    for (int a = 0; a < 2; a++) {
      const int32_t d = position_difference(corner[k][a], corner[0][a]);
      near &= d > -FAR && d < FAR;
    }
  return near;
}

/** Deposit a tetrahedron at all places where it may touch the slice: a box below and above, too. */
static HOST_DEVICE inline void deposit_images(const struct sheet_part *p,
                                              const uint32_t *const corner[4]) {
  struct vertex v[4];
  for (int k = 0; k < 4; k++) v[k] = vertex_near(p, corner[0], corner[k]);
  if (is_whole(p)) {
    tetrahedron_deposit(v, p->mass, -INFINITY, INFINITY, p->pixels, p->map);
    return;
  }
  const struct pixel_map map = {p->pixels, p->map};
  const bool near = are_near(corner);
  for (int image = -1; image <= 1; image++) {
    const double low = image * POSITION_TURN;
    struct cutting cutting;
    cutting_begin(&cutting, v, p->mass, low, low + (double)p->extent + 1.0);
    for (const struct piece *piece; (piece = cutting_next(&cutting)) != NULL;)
      if (!near || !deposit_by_edges(p, piece)) deposit_whole(&map, piece->v, piece->mass);
  }
}

/** What the slice has of the body between some corners, in the box and in those below and above
 * it. */
static HOST_DEVICE inline enum share share_of(const struct sheet_part *p,
                                              const uint32_t *const corner[], int corners) {
  if (is_whole(p)) return ALL;
  const int64_t origin = (int64_t)(uint32_t)(corner[0][2] - p->low);
  int64_t low = origin, high = origin;
  for (int k = 1; k < corners; k++) {
    const int64_t z = origin + position_difference(corner[k][2], corner[0][2]);
    low = z < low ? z : low;
    high = z > high ? z : high;
  }
  for (int image = -1; image <= 1; image++) {
    const int64_t begin = image * ((int64_t)1 << 32), end = begin + (int64_t)p->extent + 1;
    if (high > begin && low < end) return low >= begin && high <= end ? ALL : SOME;
  }
  return NOTHING;
}

/** Find how a tetrahedron is deposited, and the jumps at its edges (edges.h). Those that are small,
 * thin or cut by a face of the slice are deposited by themselves. */
static HOST_DEVICE inline enum kind find_jumps(const struct sheet_part *p,
                                               const uint32_t *const corner[4], double jump[6]) {
  const enum share share = share_of(p, corner, 4);
  if (share != ALL) return share == SOME ? BY_ITSELF : OUTSIDE;
  int64_t at[4][2];
  bool one_pixel = true, cut = false;
  long pixel[4][2];
  for (int k = 0; k < 4; k++) {
    for (int a = 0; a < 2; a++) {
      const int32_t d = position_difference(corner[k][a], corner[0][a]);
      at[k][a] = (int64_t)corner[0][a] + d;
      pixel[k][a] = pixel_of(p->scale * (double)at[k][a]);
      one_pixel &= pixel[k][a] == pixel[0][a];
    }
    cut |= at[k][1] != (int64_t)corner[k][1];
  }
  if (!are_near(corner) || one_pixel || !edges_find_jumps(at, p->scale, p->mass, jump))
    return BY_ITSELF;
  return cut ? CUT : INSIDE;
}

/** Deposit the edge between two points of the lattice. */
static HOST_DEVICE inline void deposit_edge(const struct sheet_part *p, const uint32_t *begin,
                                            const uint32_t *end, enum kind kind, double jump) {
  const struct vertex a = vertex_near(p, begin, begin), b = vertex_near(p, begin, end);
  const double from[2] = {a.x, a.y}, to[2] = {b.x, b.y};
  deposit_line(p, from, to, kind == CUT, jump);
}

#endif
