/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Positions of particles before they are displaced: copies of a glass, `tiles` along each side of
 * the box. A grid consists of copies of one particle. A rank has the particles over its cells of a
 * mesh. */
#ifndef PHOTONS_IC_LATTICE_H
#define PHOTONS_IC_LATTICE_H

#include <stddef.h>
#include <stdint.h>

struct parameters;
struct fft;

struct lattice {
  size_t tiles, glass; /**< tiles: along a side of the box; glass: particles of one tile, over all
                            ranks */
  size_t mesh;         /**< cells a side of the box; places are given in cells */
  size_t count;        /**< particles here */
  size_t points_count;
  /** Particles of the glass that are on this rank in some tile, by number; place: 2^32 a side of a
   * tile. */
  struct lattice_point {
    uint64_t number;
    uint32_t place[3];
  } * points;
  /** Those of them in the first tile (x, y), then in the next ...; each stands for the particles of all tiles
   * z. */
  struct lattice_entry {
    size_t point, column; /**< column: of the tile, among those here */
  } * entries;
  /** The tiles (x, y) that have entries, and one behind the last. */
  struct lattice_column {
    size_t tile[2], begin; /**< begin: its first entry */
  } * columns;
  size_t entry_count, column_count, entry_room, column_room;
};

/** Read p->ic.glass or make a grid. p->box.npart_side^3 must be the glass's number of particles
 * times a cube. Collective. */
struct lattice lattice_create(const struct parameters *p);
/** Distribute the particles, to each rank those over its values of a mesh. Collective. */
void lattice_distribute(struct lattice *l, const struct fft *mesh);
/** Particle i < count of this rank, in the order of all particles.
 * @return its index among all particles; place: in cells */
uint64_t lattice_particle(const struct lattice *l, size_t i, double place[3]);
void lattice_free(struct lattice *l);

#endif
