/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Undisplaced particles: reads a glass or makes a grid, and sends every particle to the ranks that
 * need it. */
#include "ic_lattice.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/fft/fft.h"
#include "photons/ic/ic.h"

/** Until lattice_distribute(), `points` holds this rank's part of the glass; a grid is one point,
 * on rank 0. */
struct lattice lattice_create(const struct parameters *p) {
  const size_t side = (size_t)p->box.npart_side, count = side * side * side;
  struct lattice l = {.tiles = side, .glass = 1, .points_count = comm_rank() == 0};
  struct particles glass = {0};
  if (p->ic.glass[0]) {
    glass = ic_read_glass(p->ic.glass);
    l.glass = glass.all;
    l.points_count = glass.count;
    l.tiles = (size_t)llround(cbrt((double)count / (double)l.glass));
    if (l.tiles * l.tiles * l.tiles * l.glass != count)
      fail(EXIT_BAD_INPUT,
           "glass %s has %zu particles; box.npart_side^3 = %zu must be that number times a cube "
           "(1, 8, 27 ...)",
           p->ic.glass, l.glass, count);
  }
  l.points = allocate(l.points_count, sizeof *l.points, "the particles of a glass");
  for (size_t i = 0; i < glass.count; i++) {
    l.points[i].number = particles_first(&glass) + i;
    for (size_t c = 0; c < 3; c++) l.points[i].place[c] = glass.position[c * glass.count + i];
  }
  particles_free(&glass);
  return l;
}

static double coordinate(const struct lattice *l, size_t tile, uint32_t place) {
  return ((double)tile + position_from_integer(place, 1.0)) * (double)l->mesh / (double)l->tiles;
}

/** The cell of a point in a tile, along an axis. */
static size_t cell_of(const struct lattice *l, size_t tile, const struct lattice_point *point,
                      int axis) {
  return (size_t)coordinate(l, tile, point->place[axis]) % l->mesh;
}

/** Find the ranks that need a point, of which there may be one for each tile. Without `to` count
 * the bytes for each of them, with `to` store the point there. */
static void address(const struct lattice *l, const struct fft *mesh,
                    const struct lattice_point *point, size_t *bytes, char *to,
                    const size_t *offset) {
  size_t last_row = SIZE_MAX;
  for (size_t x = 0; x < l->tiles; x++) {
    const size_t row = fft_row_of(mesh, cell_of(l, x, point, 0));
    size_t last_column = SIZE_MAX;
    if (row == last_row) continue; /* rows of the grid of ranks increase with tiles */
    last_row = row;
    for (size_t y = 0; y < l->tiles; y++) {
      const size_t column = fft_column_of(mesh, cell_of(l, y, point, 1)),
                   rank = row * mesh->grid.columns + column;
      if (column == last_column) continue;
      last_column = column;
      if (to) memcpy(to + offset[rank] + bytes[rank], point, sizeof *point);
      bytes[rank] += sizeof *point;
    }
  }
}

/** Send the points of a glass to the ranks that need them. They are received in the order of their
 * numbers. */
static void send_points(struct lattice *l, const struct fft *mesh) {
  const size_t size = (size_t)comm_size();
  size_t *send = allocate(3 * size, sizeof *send, "message sizes"), *receive = send + size,
         *offset = receive + size;
  for (size_t i = 0; i < l->points_count; i++) address(l, mesh, &l->points[i], send, NULL, NULL);
  comm_exchange_sizes(send, receive);
  size_t sent = 0, received = 0;
  for (size_t r = 0; r < size; r++) {
    offset[r] = sent;
    sent += send[r];
    received += receive[r];
    send[r] = 0;
  }
  char *packed = allocate(sent, 1, "the particles of a glass");
  for (size_t i = 0; i < l->points_count; i++)
    address(l, mesh, &l->points[i], send, packed, offset);
  free(l->points);
  l->points_count = received / sizeof *l->points;
  l->points = allocate(l->points_count, sizeof *l->points, "the particles of a glass");
  comm_exchange(packed, send, l->points, receive);
  free(packed);
  free(send);
}

static void add_entry(struct lattice *l, size_t point) {
  if (l->entry_count == l->entry_room) {
    l->entry_room = 2 * l->entry_room + 64;
    l->entries = reallocate(l->entries, l->entry_room, sizeof *l->entries,
                            "the particles of a glass");
  }
  l->entries[l->entry_count++] = (struct lattice_entry){point, l->column_count};
}

static void end_column(struct lattice *l, size_t x, size_t y, size_t begin) {
  if (l->column_count == l->column_room) {
    l->column_room = 2 * l->column_room + 64;
    l->columns = reallocate(l->columns, l->column_room, sizeof *l->columns, "the tiles of a glass");
  }
  l->columns[l->column_count++] = (struct lattice_column){{x, y}, begin};
}

/** Whether a point in a tile is over this rank's cells along an axis. */
static bool is_here(const struct lattice *l, const struct fft_box *b, size_t tile, size_t point,
                    int axis) {
  /* wraps to a large number before the first cell */
  return cell_of(l, tile, &l->points[point], axis) - b->first[axis] < b->count[axis];
}

/** Add those of some points that are here in tiles (x, y). */
static void add_column(struct lattice *l, const struct fft_box *b, size_t x, size_t y,
                       const size_t *point, size_t points) {
  const size_t begin = l->entry_count;
  for (size_t i = 0; i < points; i++)
    if (is_here(l, b, y, point[i], 1)) add_entry(l, point[i]);
  if (l->entry_count > begin) end_column(l, x, y, begin);
}

void lattice_distribute(struct lattice *l, const struct fft *mesh) {
  const struct fft_box *b = &mesh->values;
  l->mesh = mesh->size[0];
  send_points(l, mesh);
  size_t *point = allocate(l->points_count, sizeof *point, "the particles of a glass");
  for (size_t x = 0; x < l->tiles; x++) {
    size_t points = 0; /* over this rank's planes */
    for (size_t i = 0; i < l->points_count; i++)
      if (is_here(l, b, x, i, 0)) point[points++] = i;
    for (size_t y = 0; y < l->tiles && points > 0; y++) add_column(l, b, x, y, point, points);
  }
  end_column(l, 0, 0, l->entry_count);
  l->count = l->entry_count * l->tiles;
  free(point);
}

uint64_t lattice_particle(const struct lattice *l, size_t i, double place[3]) {
  const size_t tiles = l->tiles;
  const struct lattice_column *column = &l->columns[l->entries[i / tiles].column];
  const size_t width = column[1].begin - column->begin, in_column = i - column->begin * tiles;
  const size_t tile[3] = {column->tile[0], column->tile[1], in_column / width};
  const struct lattice_point
      *point = &l->points[l->entries[column->begin + in_column % width].point];
  for (size_t c = 0; c < 3; c++) place[c] = coordinate(l, tile[c], point->place[c]);
  return ((tile[0] * tiles + tile[1]) * tiles + tile[2]) * l->glass + point->number;
}

void lattice_free(struct lattice *l) {
  free(l->points);
  free(l->entries);
  free(l->columns);
  *l = (struct lattice){0};
}
