/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank has the cells of consecutive planes of the lattice, and the positions of their corners:
 * one plane of points more than planes of cells. */
#include "sheet.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "column.h"
#include "photons/analysis/codelets.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/pages.h"
#include "sheet_part.h"
#include "src/base/exchange.h"

LOOP_STAGE(sheet_gather, 0x994455, .untimed = true);

enum { ROUND = 1 << 20 };    /* particles of a rank that are sent at a time */
enum { SIDE_MAX = 1 << 20 }; /* whose cube is a number */
#define ALL_UNITS 0x1p62     /* mass of all particles; one pixel may have it */

struct sheet {
  size_t side, first, planes; /* planes of cells first .. first + planes - 1 are on this rank */
  uint32_t (*position)[3];    /* [planes + 1][side][side], in these pages */
  struct pages pages;
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

struct id_check {
  const struct particles *particles;
  atomic_bool outside;
};
static void check_block(void *context, uint32_t block) {
  struct id_check *c = context;
  const struct particle_block b = particles_block(c->particles, block);
  uint64_t most = 0;
  for (size_t i = 0; i < b.count; i++) most = b.id[i] - 1 > most ? b.id[i] - 1 : most;
  if (most >= c->particles->all) atomic_store(&c->outside, true);
}

/** Whether the ids may be numbers of a lattice's points. Ids differ. */
static bool ids_fit(const struct particles *s, size_t side) {
  const bool cube = side <= SIDE_MAX && s->all == side * side * side;
  struct id_check check = {.particles = s};
  if (cube) loop_run(&sheet_gather_stage, (uint32_t)s->blocks, check_block, &check);
  double outside = !cube || check.outside ? 1.0 : 0.0;
  comm_max_double(&outside, 1);
  return outside == 0.0;
}

/** Where one rank has all particles, they have places of their own, and the first plane another one
 * at the end. */
struct placement {
  const struct particles *particles;
  struct sheet *sheet;
};
static void place_block(void *context, uint32_t block) {
  const struct placement *p = context;
  const struct particle_block b = particles_block(p->particles, block);
  const size_t row = p->sheet->side * p->sheet->side;
  for (size_t i = 0; i < b.count; i++) {
    const size_t place = (size_t)(b.id[i] - 1);
    for (size_t c = 0; c < 3; c++) {
      p->sheet->position[place][c] = b.x[c][i];
      if (place < row) p->sheet->position[p->sheet->side * row + place][c] = b.x[c][i];
    }
  }
}

static struct sheet gather(const struct particles *s, size_t side) {
  struct sheet sheet = {.side = side, .first = comm_first(side, comm_rank())};
  sheet.planes = comm_first(side, comm_rank() + 1) - sheet.first;
  const size_t points = sheet.planes > 0 ? (sheet.planes + 1) * side * side : 0;
  sheet.pages = pages_create(points * sizeof *sheet.position, "the lattice of a picture");
  sheet.position = (void *)sheet.pages.start;
  if (comm_size() == 1) {
    loop_run(&sheet_gather_stage, (uint32_t)s->blocks, place_block, &(struct placement){s, &sheet});
    return sheet;
  }
  double rounds = ceil((double)s->count / ROUND);
  comm_max_double(&rounds, 1);
  for (size_t k = 0; k < (size_t)rounds; k++)
    exchange_range(&sheet, &(struct range){s, k * ROUND, (k + 1) * ROUND});
  return sheet;
}

/** The most parts that the sheet is worth cutting into: GPUs are busy with few. */
static size_t most_parts(const struct sheet *sheet) {
  const size_t streams = starpu_is_initialized() ? starpu_cuda_worker_get_count() : 0;
  return streams > 0 && 2 * streams < sheet->planes ? 2 * streams : sheet->planes;
}

/** Planes of cells that one task deposits, and the positions of their corners. */
struct part {
  size_t first, planes;
  starpu_data_handle_t position; /* if StarPU runs */
};

static struct part part_of(const struct sheet *sheet, uint32_t parts, uint32_t k) {
  const size_t row = sheet->side * sheet->side;
  struct part p = {.first = block_first(sheet->planes, parts, k)};
  p.planes = block_first(sheet->planes, parts, k + 1) - p.first;
  if (starpu_is_initialized())
    p.position = handle_register(sheet->position + p.first * row, (p.planes + 1) * row,
                                 sizeof *sheet->position);
  return p;
}

/** Deposit the parts of the sheet as tasks, and wait for these tasks. If StarPU does not run, the
 * calling thread deposits them. */
static void deposit_parts(const struct sheet *sheet, const struct part *part,
                          const struct sheet_part *whole, struct maps *maps) {
  starpu_data_handle_t handle[maps->parts];
  for (uint32_t k = 0; k < maps->parts; k++) {
    struct sheet_part p = *whole;
    p.planes = part[k].planes;
    p.position = (const uint32_t(*)[3])(sheet->position +
                                        part[k].first * sheet->side * sheet->side);
    p.map = maps->map + k * maps->values;
    if (!starpu_is_initialized()) {
      sheet_deposit(&p);
      continue;
    }
    handle[k] = handle_register(p.map, maps->values, sizeof *p.map);
    sheet_deposit_submit(&p, part[k].position, handle[k]);
  }
  if (!starpu_is_initialized()) return;
  for (uint32_t k = 0; k < maps->parts; k++) handle_unregister(&handle[k]);
}

bool sheet_project(const struct particles *s, size_t side, size_t count,
                   const struct projection p[], double *map[]) {
  if (!ids_fit(s, side)) return false;
  struct sheet sheet = gather(s, side);
  const double unit = (double)s->all / ALL_UNITS;
  const size_t most = most_parts(&sheet);
  struct part *part = NULL;
  uint32_t parts = 0;
  for (size_t i = 0; i < count; i++) {
    struct maps maps = maps_create(p[i].pixels * p[i].pixels, most);
    if (!part && sheet.planes > 0) {
      parts = maps.parts;
      part = allocate(parts, sizeof *part, "parts of a picture's lattice");
      for (uint32_t k = 0; k < parts; k++) part[k] = part_of(&sheet, parts, k);
    }
    if (sheet.planes > 0)
      deposit_parts(&sheet, part,
                    &(struct sheet_part){.side = side,
                                         .scale = (double)p[i].pixels / POSITION_TURN,
                                         .mass = 1.0 / 6.0 / unit,
                                         .pixels = p[i].pixels,
                                         .low = p[i].low,
                                         .extent = p[i].extent},
                    &maps);
    maps_sum(&maps);
    columns_integrate(maps.map, p[i].pixels, p[i].pixels);
    map[i] = maps_convert(&maps, unit);
  }
  for (uint32_t k = 0; k < parts; k++) handle_unregister(&part[k].position);
  free(part);
  pages_free(&sheet.pages);
  return true;
}

double sheet_memory(size_t particles, size_t pixels, double reach) {
  const double n = cbrt((double)particles), ranks = comm_size(), values = (double)(pixels * pixels);
  const double lattice = (double)particles + ranks * n * n;
  const double way = fmin(2.0 * ROUND, (double)particles / ranks) * 2.0 * sizeof(struct corner);
  return lattice * 3.0 * sizeof(uint32_t) +
         ranks * fmax(way, maps_memory(values, n / ranks, 1.0 / n + 2.0 * reach));
}
