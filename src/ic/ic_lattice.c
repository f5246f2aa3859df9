/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Undisplaced particles: reads a glass or makes a grid, and sends every particle to the ranks that
 * need it. */
#include "ic_lattice.h"

#include <math.h>
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

static size_t plane_of(const struct lattice *l, size_t tile, const struct lattice_point *point) {
  return (size_t)coordinate(l, tile, point->place[0]) % l->mesh;
}

/** Find the ranks that need a point, of which there may be one for each tile. Without `to` count
 * the bytes for each of them, with `to` store the point there. */
static void address(const struct lattice *l, const struct lattice_point *point, size_t *bytes,
                    char *to, const size_t *offset) {
  size_t last = SIZE_MAX;
  for (size_t tile = 0; tile < l->tiles; tile++) {
    const size_t process = block_containing(l->mesh, (size_t)comm_size(), plane_of(l, tile, point));
    if (process == last) continue; /* planes increase with tiles */
    last = process;
    if (to) memcpy(to + offset[process] + bytes[process], point, sizeof *point);
    bytes[process] += sizeof *point;
  }
}

/** Send the points of a glass to the ranks that need them. They are received in the order of their
 * numbers. */
static void send_points(struct lattice *l) {
  const size_t size = (size_t)comm_size();
  size_t *send = allocate(3 * size, sizeof *send, "message sizes"), *receive = send + size,
         *offset = receive + size;
  for (size_t i = 0; i < l->points_count; i++) address(l, &l->points[i], send, NULL, NULL);
  comm_exchange_sizes(send, receive);
  size_t sent = 0, received = 0;
  for (size_t r = 0; r < size; r++) {
    offset[r] = sent;
    sent += send[r];
    received += receive[r];
    send[r] = 0;
  }
  char *packed = allocate(sent, 1, "the particles of a glass");
  for (size_t i = 0; i < l->points_count; i++) address(l, &l->points[i], send, packed, offset);
  free(l->points);
  l->points_count = received / sizeof *l->points;
  l->points = allocate(l->points_count, sizeof *l->points, "the particles of a glass");
  comm_exchange(packed, send, l->points, receive);
  free(packed);
  free(send);
}

void lattice_distribute(struct lattice *l, const struct fft *mesh) {
  const struct fft_box *b = &mesh->values;
  l->mesh = mesh->size[0];
  send_points(l);
  l->begin = allocate(l->tiles + 1, sizeof *l->begin, "the tiles of a glass");
  size_t room = 0;
  for (size_t tile = 0; tile < l->tiles; tile++) {
    size_t end = l->begin[tile];
    for (size_t i = 0; i < l->points_count; i++) {
      /* wraps to a large number before the first plane */
      if (plane_of(l, tile, &l->points[i]) - b->first[0] >= b->count[0]) continue;
      if (end == room) {
        room = room ? 2 * room : l->points_count;
        l->entries = reallocate(l->entries, room, sizeof *l->entries, "the particles of a glass");
      }
      l->entries[end++] = (struct lattice_entry){tile, i};
    }
    l->begin[tile + 1] = end;
  }
  l->count = l->begin[l->tiles] * l->tiles * l->tiles;
}

uint64_t lattice_particle(const struct lattice *l, size_t i, double place[3]) {
  const size_t tiles = l->tiles, x = l->entries[i / (tiles * tiles)].tile;
  const size_t begin = l->begin[x], width = l->begin[x + 1] - begin,
               in_tiles = i - begin * tiles * tiles;
  const size_t row = in_tiles / width, tile[3] = {x, row / tiles, row % tiles};
  const struct lattice_point *point = &l->points[l->entries[begin + in_tiles % width].point];
  for (size_t c = 0; c < 3; c++) place[c] = coordinate(l, tile[c], point->place[c]);
  return ((tile[0] * tiles + tile[1]) * tiles + tile[2]) * l->glass + point->number;
}

void lattice_free(struct lattice *l) {
  free(l->points);
  free(l->entries);
  free(l->begin);
  *l = (struct lattice){0};
}
