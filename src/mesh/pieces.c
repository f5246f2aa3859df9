/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranks that own parts of the mesh, and what a group has of these parts. */
#include "pieces.h"

#include "photons/base/comm.h"

/** Rows of the grid of ranks. */
static uint32_t grid_rows(const struct mesh *m) { return (uint32_t)comm_size() / m->parts; }

/** The rank of a part that owns item i of n when items are dealt out evenly to the rows of ranks. */
static int dealt_to(const struct mesh *m, uint32_t n, uint32_t i, uint32_t part) {
  const uint64_t row = (((uint64_t)i + 1) * grid_rows(m) + n - 1) / n - 1;
  return (int)(row * m->parts + part);
}
int part_owner(const struct mesh *m, uint32_t slab, uint32_t part) {
  return dealt_to(m, m->slabs, slab, part);
}
int slab_owner(const struct mesh *m, uint32_t slab) { return part_owner(m, slab, m->part); }
int column_owner(const struct mesh *m, uint32_t column) {
  return dealt_to(m, m->columns, column, m->part);
}

struct mesh_range own_range(const struct mesh *m, uint32_t n) {
  const uint32_t rows = grid_rows(m), row = (uint32_t)comm_rank() / m->parts;
  if (row >= rows) return (struct mesh_range){n, n};
  return (struct mesh_range){(uint32_t)block_first(n, rows, row),
                             (uint32_t)block_first(n, rows, row + 1)};
}

/** A run of planes, or of the rows of a plane, modulo N. */
struct run {
  uint32_t first, count;
};

/** The rows from i on that are of one part of a slab. */
static struct run rows_of_part(const struct mesh *m, struct run rows, uint32_t i) {
  const uint32_t y = (rows.first + i) % m->cells, left = rows.count - i;
  if (m->parts == 1) return rows;
  const uint32_t before_end = part_first_y(m, part_of_row(m, y) + 1) - y;
  return (struct run){y, before_end < left ? before_end : left};
}

/** Cut a run of planes that one row of ranks owns into pieces. @return their number */
static uint32_t cut_rows(const struct mesh *m, struct run planes, struct run rows, int without,
                         struct mesh_piece *piece) {
  const uint32_t slab = slab_of_plane(m, planes.first);
  uint32_t n = 0;
  for (uint32_t i = 0; i < rows.count;) {
    const struct run run = rows_of_part(m, rows, i);
    const int rank = part_owner(m, slab, part_of_row(m, run.first));
    if (rank != without)
      piece[n++] = (struct mesh_piece){.rank = rank,
                                       .first = planes.first,
                                       .planes = planes.count,
                                       .first_y = run.first,
                                       .ys = run.count};
    i += run.count;
  }
  return n;
}

/** The planes from i on that one row of ranks owns. */
static struct run planes_of_row(const struct mesh *m, struct run planes, uint32_t i) {
  struct run run = {(planes.first + i) % m->cells, 0};
  const int rank = slab_owner(m, slab_of_plane(m, run.first));
  do run.count++;
  while (i + run.count < planes.count &&
         slab_owner(m, slab_of_plane(m, (run.first + run.count) % m->cells)) == rank);
  return run;
}

/** Cut rows of planes into pieces that one rank owns.
 * @param without  rank whose pieces are left out; -1: none */
static uint32_t cut_planes(const struct mesh *m, struct run planes, struct run rows, int without,
                           struct mesh_piece *piece) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < planes.count;) {
    const struct run run = planes_of_row(m, planes, i);
    n += cut_rows(m, run, rows, without, piece + n);
    i += run.count;
  }
  return n;
}

size_t pieces_most(const struct mesh *m) {
  const size_t rows = grid_rows(m) < m->cells ? grid_rows(m) : m->cells;
  return (rows + 1) * (m->parts + 1);
}

uint32_t cut_patch(const struct mesh *m, const struct patch *p, int without,
                   struct mesh_piece *piece) {
  return cut_planes(m, (struct run){p->origin[0], p->size[0]},
                    (struct run){p->origin[1], p->size[1]}, without, piece);
}

uint32_t cut_field_box(const struct mesh *m, const struct field_box *box,
                       struct mesh_piece *piece) {
  return cut_planes(m, (struct run){box->first, box->planes},
                    (struct run){box->origin[0], box->size[0]}, -1, piece);
}
