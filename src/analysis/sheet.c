/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank has the cells of consecutive planes of the lattice, and the positions of their corners:
 * one plane of points more than planes of cells. */
#include "sheet.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"
#include "tetrahedron.h"

enum { ROUND = 1 << 20 };    /* particles of a rank that are sent at a time */
enum { SIDE_MAX = 1 << 20 }; /* whose cube is a number */

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

struct work {
  const struct sheet *sheet;
  const struct projection *projection;
  struct maps maps;
};

/** A tetrahedron at all places where it may touch the slice: a box below and above, too. */
static void deposit_images(const struct work *w, struct vertex v[4], uint64_t *map) {
  const struct projection *p = w->projection;
  const double mass = 1.0 / 6.0 / MAP_UNIT;
  if (p->extent == UINT32_MAX) {
    tetrahedron_deposit(v, mass, -INFINITY, INFINITY, p->pixels, map);
    return;
  }
  for (int image = -1; image <= 1; image++) {
    const double low = image * POSITION_TURN;
    tetrahedron_deposit(v, mass, low, low + (double)p->extent + 1.0, p->pixels, map);
  }
}

/** A corner of a cell relative to the corner at `origin`, so that no cell is cut by the box. */
static struct vertex vertex_near(const uint32_t origin[3], const uint32_t corner[3],
                                 const struct projection *p) {
  const double scale = (double)p->pixels / POSITION_TURN;
  return (struct vertex){scale * ((double)origin[0] + position_difference(corner[0], origin[0])),
                         scale * ((double)origin[1] + position_difference(corner[1], origin[1])),
                         (double)(origin[2] - p->low) + position_difference(corner[2], origin[2])};
}

/** A cell's six tetrahedra share the diagonal from corner 000 to 111; each goes there along the axes
 * in another order (Kuhn 1960). Neighbouring cells cut their common face in the same way. */
static void deposit_cell(const struct work *w, const uint32_t *const corner[8], uint64_t *map) {
  static const int order[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
  struct vertex v[8];
  for (int k = 0; k < 8; k++) v[k] = vertex_near(corner[0], corner[k], w->projection);
  for (int k = 0; k < 6; k++) {
    struct vertex t[4] = {v[0], v[order[k][0]], v[order[k][1]], v[7]};
    deposit_images(w, t, map);
  }
}

static void deposit_planes(void *context, uint32_t part) {
  const struct work *w = context;
  const struct sheet *s = w->sheet;
  const size_t n = s->side;
  uint64_t *map = w->maps.map + part * w->maps.values;
  for (size_t i = block_first(s->planes, w->maps.parts, part);
       i < block_first(s->planes, w->maps.parts, part + 1); i++)
    for (size_t j = 0; j < n; j++)
      for (size_t k = 0; k < n; k++) {
        const uint32_t *corner[8];
        for (size_t c = 0; c < 8; c++)
          corner[c] = s->position[((i + c / 4) * n + (j + c / 2 % 2) % n) * n + (k + c % 2) % n];
        deposit_cell(w, corner, map);
      }
}

double *sheet_project(const struct particles *s, size_t side, const struct projection *p) {
  if (!ids_fit(s, side)) return NULL;
  struct sheet sheet = gather(s, side);
  struct work w = {
      .sheet = &sheet, .projection = p, .maps = maps_create(p->pixels * p->pixels, sheet.planes)};
  loop_run(&image_stage, w.maps.parts, deposit_planes, &w);
  free(sheet.position);
  return maps_sum(&w.maps);
}

double sheet_memory(size_t particles, size_t pixels, double reach) {
  const double n = cbrt((double)particles), ranks = comm_size(), values = (double)(pixels * pixels);
  const double lattice = (double)particles + ranks * n * n;
  const double way = fmin(2.0 * ROUND, (double)particles / ranks) * 2.0 * sizeof(struct corner);
  return lattice * 3.0 * sizeof(uint32_t) +
         ranks * fmax(way, maps_memory(values, n / ranks, 1.0 / n + 2.0 * reach));
}
