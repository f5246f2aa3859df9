/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank has the cells of consecutive planes of the lattice, and the positions of their corners:
 * one plane of points more than planes of cells. */
#include "sheet.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "column.h"
#include "edges.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"
#include "tetrahedron.h"

enum { ROUND = 1 << 20 };    /* particles of a rank that are sent at a time */
enum { SIDE_MAX = 1 << 20 }; /* whose cube is a number */
enum { FAR = 1 << 29 }; /* position units; corners of a tetrahedron with shared edges are nearer */
/** Tetrahedra deposited by their edges: those inside the box in y, and those that its border
 * cuts. */
enum kind { INSIDE, CUT, KINDS, NOT_BY_EDGES = KINDS };
enum { ROWS = 3 };       /* of the lattice whose edges are kept at a time */
#define ALL_UNITS 0x1p62 /* mass of all particles; one pixel may have it */

struct sheet {
  size_t side, first, planes; /* planes of cells first .. first + planes - 1 are on this rank */
  uint32_t (*position)[3];    /* [planes + 1][side][side] */
};

/** A particle on its way, and its place among the positions of the rank that receives it. */
struct corner {
  uint64_t place;
  uint32_t position[3];
};

/** The ranks that need a particle: those with the cells on either side of its plane.
 * @return their number, 1 or 2; they are the same rank at two places where one rank has all */
static int owners(size_t side, uint64_t id, int rank[2], uint64_t place[2]) {
  const size_t size = (size_t)comm_size(), row = side * side, plane = (size_t)(id - 1) / row;
  int count = 0;
  for (size_t above = 0; above < 2; above++) { /* the cells above the plane, and those below */
    const size_t cells = (plane + (above ? side - 1 : 0)) % side;
    rank[count] = (int)block_containing(side, size, cells);
    place[count] = (cells - comm_first(side, rank[count]) + above) * row + (size_t)(id - 1) % row;
    if (count == 0 || rank[1] != rank[0] || place[1] != place[0]) count++;
  }
  return count;
}

/** Particles first .. end - 1 of this rank, in the order of the ranges. */
struct range {
  const struct particles *particles;
  size_t first, end;
};

/** Without @p send count the corners for each rank, with it store them there.
 * @param at  [rank] number of corners, or index of the next one */
static void pack(const struct range *r, size_t side, size_t *at, struct corner *send) {
  for (size_t g = 0; g < r->particles->blocks; g++) {
    const struct particle_block b = particles_block(r->particles, g);
    const size_t begin = r->first > b.first ? r->first - b.first : 0;
    for (size_t i = begin; i < b.count && b.first + i < r->end; i++) {
      int rank[2];
      uint64_t place[2];
      const int count = owners(side, b.id[i], rank, place);
      for (int k = 0; k < count; k++) {
        if (send) send[at[rank[k]]] = (struct corner){place[k], {b.x[0][i], b.x[1][i], b.x[2][i]}};
        at[rank[k]]++;
      }
    }
  }
}

static void exchange_range(struct sheet *sheet, const struct range *r) {
  size_t *count = exchange_counts(), *at = exchange_counts(), *received = exchange_counts();
  pack(r, sheet->side, count, NULL);
  for (int k = 0; k < comm_size(); k++) at[k] = count[k];
  exchange_begins(at);
  struct corner *send = allocate(exchange_total(count), sizeof *send, "particles on their way");
  pack(r, sheet->side, at, send);
  struct corner *corner = exchange_records(send, sizeof *send, count, received);
  const size_t total = exchange_total(received);
  for (size_t i = 0; i < total; i++)
    for (size_t c = 0; c < 3; c++) sheet->position[corner[i].place][c] = corner[i].position[c];
  free(corner);
  free(send);
  free(received);
  free(at);
  free(count);
}

/** Whether the ids may be numbers of a lattice's points. Ids differ. */
static bool ids_fit(const struct particles *s, size_t side) {
  const bool cube = side <= SIDE_MAX && s->all == side * side * side;
  double outside = cube ? 0.0 : 1.0;
  for (size_t i = 0; i < s->count; i++) outside += s->id[i] - 1 >= s->all;
  comm_max_double(&outside, 1);
  return outside == 0.0;
}

static struct sheet gather(const struct particles *s, size_t side) {
  struct sheet sheet = {.side = side, .first = comm_first(side, comm_rank())};
  sheet.planes = comm_first(side, comm_rank() + 1) - sheet.first;
  sheet.position = allocate(sheet.planes > 0 ? (sheet.planes + 1) * side * side : 0,
                            sizeof *sheet.position, "the lattice of a picture");
  double rounds = ceil((double)s->count / ROUND);
  comm_max_double(&rounds, 1);
  for (size_t k = 0; k < (size_t)rounds; k++)
    exchange_range(&sheet, &(struct range){s, k * ROUND, (k + 1) * ROUND});
  return sheet;
}

/** What is known of the edges that begin at points (i, j, k) and (i + 1, j, k) of the lattice: the
 * jumps of column density (edges.h) by the tetrahedra in the cells between i and i + 1. An edge
 * ends at the point that is d / 4, d / 2 % 2 and d % 2 farther along the three axes. */
typedef double jumps[KINDS][2][8];

struct work {
  const struct sheet *sheet;
  const struct projection *projection;
  double scale; /* pixels per position unit */
  double mass;  /* of a tetrahedron, in units of the maps */
  struct maps maps;
  jumps *jumps; /* [part][ROWS][side] */
};

/** @param j, k  up to the side of the lattice, which is 0 */
static const uint32_t *point_at(const struct sheet *s, size_t i, size_t j, size_t k) {
  const size_t n = s->side;
  return s->position[(i * n + (j < n ? j : 0)) * n + (k < n ? k : 0)];
}

/** A corner of a cell relative to the corner at `origin`, so that no cell is cut by the box. */
static struct vertex vertex_near(const uint32_t origin[3], const uint32_t corner[3],
                                 const struct work *w) {
  return (struct vertex){w->scale * ((double)origin[0] + position_difference(corner[0], origin[0])),
                         w->scale * ((double)origin[1] + position_difference(corner[1], origin[1])),
                         (double)(origin[2] - w->projection->low) +
                             position_difference(corner[2], origin[2])};
}

/** A tetrahedron at all places where it may touch the slice: a box below and above, too. */
static void deposit_images(const struct work *w, const uint32_t *const corner[4], uint64_t *map) {
  const struct projection *p = w->projection;
  struct vertex v[4];
  for (int k = 0; k < 4; k++) v[k] = vertex_near(corner[0], corner[k], w);
  if (p->extent == UINT32_MAX) {
    tetrahedron_deposit(v, w->mass, -INFINITY, INFINITY, p->pixels, map);
    return;
  }
  for (int image = -1; image <= 1; image++) {
    const double low = image * POSITION_TURN;
    tetrahedron_deposit(v, w->mass, low, low + (double)p->extent + 1.0, p->pixels, map);
  }
}

/** Find the jumps at the edges of a tetrahedron. Small and thin ones are not deposited by edges. */
static enum kind find_jumps(const struct work *w, const uint32_t *const corner[4],
                            double result[6]) {
  int64_t p[4][2];
  bool near = true, one_pixel = true, cut = false;
  long pixel[4][2];
  for (int k = 0; k < 4; k++) {
    for (int a = 0; a < 2; a++) {
      const int32_t d = position_difference(corner[k][a], corner[0][a]);
      near &= d > -FAR && d < FAR;
      p[k][a] = (int64_t)corner[0][a] + d;
      pixel[k][a] = pixel_of(w->scale * (double)p[k][a]);
      one_pixel &= pixel[k][a] == pixel[0][a];
    }
    cut |= p[k][1] != (int64_t)corner[k][1];
  }
  if (!near || one_pixel || !edges_find_jumps(p, w->scale, w->mass, result)) return NOT_BY_EDGES;
  return cut ? CUT : INSIDE;
}

/** The six tetrahedra of cell (i, j, k) share the diagonal from corner 000 to 111; each goes there
 * along the axes in another order (Kuhn 1960). Neighbouring cells cut their common face in the same
 * way.
 * @param row  jumps of rows j and j + 1 of the lattice */
static void deposit_cell(const struct work *w, size_t i, size_t j, size_t k, jumps *const row[2],
                         uint64_t *map) {
  static const int order[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
  const bool whole = w->projection->extent == UINT32_MAX;
  const uint32_t *corner[8];
  double(*at[8])[2][8];
  for (size_t c = 0; c < 8; c++) {
    corner[c] = point_at(w->sheet, i + c / 4, j + c / 2 % 2, k + c % 2);
    at[c] = row[c / 2 % 2][k + c % 2 < w->sheet->side ? k + c % 2 : 0];
  }
  for (int t = 0; t < 6; t++) {
    const int c[4] = {0, order[t][0], order[t][1], 7};
    const uint32_t *const p[4] = {corner[c[0]], corner[c[1]], corner[c[2]], corner[c[3]]};
    double jump[6];
    const enum kind kind = whole ? find_jumps(w, p, jump) : NOT_BY_EDGES;
    if (kind == NOT_BY_EDGES) {
      deposit_images(w, p, map);
      continue;
    }
    for (int e = 0; e < 6; e++) {
      const int begin = c[edge_ends[e][0]], end = c[edge_ends[e][1]];
      at[begin][kind][begin / 4][end - begin] += jump[e];
    }
  }
}

/** Deposit the edge between two points of the lattice. Tetrahedra that are cut are deposited at
 * both sides of the box. */
static void deposit_edge(const struct work *w, const uint32_t *begin, const uint32_t *end,
                         enum kind kind, double jump, uint64_t *map) {
  const struct vertex a = vertex_near(begin, begin, w), b = vertex_near(begin, end, w);
  const size_t n = w->projection->pixels;
  edge_deposit((double[2]){a.x, a.y}, (double[2]){b.x, b.y}, jump, n, map);
  if (kind != CUT) return;
  const double side = 2.0 * a.y < (double)n ? (double)n : -(double)n;
  edge_deposit((double[2]){a.x, a.y + side}, (double[2]){b.x, b.y + side}, jump, n, map);
}

/** Deposit the edges that begin at points (i, j, k) and (i + 1, j, k) for all k, and forget
 * them. */
static void deposit_row(const struct work *w, size_t i, size_t j, jumps *row, uint64_t *map) {
  for (size_t k = 0; k < w->sheet->side; k++)
    for (size_t above = 0; above < 2; above++)
      for (size_t d = 1; d < 8; d++)
        for (enum kind kind = 0; kind < KINDS; kind++) {
          const double jump = row[k][kind][above][d];
          row[k][kind][above][d] = 0.0;
          if (jump != 0.0)
            deposit_edge(w, point_at(w->sheet, i + above, j, k),
                         point_at(w->sheet, i + above + d / 4, j + d / 2 % 2, k + d % 2), kind,
                         jump, map);
        }
}

/** Deposit the cells of one plane. The edges of a row of points are complete when the cells on both
 * sides of the row have been seen; row 0 also has cells of the last row. Edges between two planes
 * of cells are deposited with either plane, so that rounding is the same for any number of
 * parts. */
static void deposit_plane(const struct work *w, size_t i, jumps *first, uint64_t *map) {
  const size_t n = w->sheet->side;
  for (size_t j = 0; j < n; j++) {
    jumps *const row[2] = {j == 0 ? first : first + (1 + j % 2) * n,
                           j + 1 == n ? first : first + (1 + (j + 1) % 2) * n};
    for (size_t k = 0; k < n; k++) deposit_cell(w, i, j, k, row, map);
    if (j > 0) deposit_row(w, i, j, row[0], map);
  }
  deposit_row(w, i, 0, first, map);
}

static void deposit_planes(void *context, uint32_t part) {
  const struct work *w = context;
  const size_t planes = w->sheet->planes;
  for (size_t i = block_first(planes, w->maps.parts, part);
       i < block_first(planes, w->maps.parts, part + 1); i++)
    deposit_plane(w, i, w->jumps + part * ROWS * w->sheet->side,
                  w->maps.map + part * w->maps.values);
}

double *sheet_project(const struct particles *s, size_t side, const struct projection *p) {
  if (!ids_fit(s, side)) return NULL;
  struct sheet sheet = gather(s, side);
  const double unit = (double)s->all / ALL_UNITS;
  struct work w = {.sheet = &sheet,
                   .projection = p,
                   .scale = (double)p->pixels / POSITION_TURN,
                   .mass = 1.0 / 6.0 / unit,
                   .maps = maps_create(p->pixels * p->pixels, sheet.planes)};
  w.jumps = allocate(w.maps.parts * ROWS * side, sizeof *w.jumps, "edges of a picture's lattice");
  loop_run(&image_stage, w.maps.parts, deposit_planes, &w);
  free(w.jumps);
  free(sheet.position);
  maps_sum(&w.maps);
  columns_integrate(w.maps.map, p->pixels, p->pixels);
  return maps_convert(&w.maps, unit);
}

double sheet_memory(size_t particles, size_t pixels, double reach) {
  const double n = cbrt((double)particles), ranks = comm_size(), values = (double)(pixels * pixels);
  const double lattice = (double)particles + ranks * n * n;
  const double way = fmin(2.0 * ROUND, (double)particles / ranks) * 2.0 * sizeof(struct corner);
  return lattice * 3.0 * sizeof(uint32_t) +
         ranks * fmax(way, maps_memory(values, n / ranks, 1.0 / n + 2.0 * reach));
}
