/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where particles stand before they are displaced: copies of a glass, `tiles` along each side of the box. A grid is the copies of
 * one particle. A process has those over the planes of its share of a mesh. */
#ifndef PHOTONS_IC_LATTICE_H
#define PHOTONS_IC_LATTICE_H

#include <stddef.h>
#include <stdint.h>

struct parameters;
struct slab_fft;

struct lattice {
  size_t tiles, glass; /**< along a side; particles of one tile, on all processes together */
  size_t mesh;         /**< places are given in cells, so many a side of the box */
  size_t count;        /**< particles here */
  size_t points_count;
  /** Particles of the glass that stand here in some tile, by number; place: 2^32 a side of a tile. */
  struct lattice_point {
    uint64_t number;
    uint32_t place[3];
  } * points;
  /** Those of them that stand here in the tiles x = 0, then x = 1 ...; each for the tiles^2 particles over all y and z. */
  struct lattice_entry {
    size_t tile, point;
  } * entries;
  size_t *begin; /**< entries of the tiles x: [begin[x], begin[x + 1]) */
};

/** On every process. Reads p->ic.glass; p->box.npart_side^3 must be its number of particles times a cube. */
struct lattice lattice_create(const struct parameters *p);
/** Take the particles over the planes x of this process's share of a mesh. On every process. */
void lattice_distribute(struct lattice *l, const struct slab_fft *mesh);
/** Particle i < count of those here, whose order is that of all. @return its index among all; place: in cells */
uint64_t lattice_particle(const struct lattice *l, size_t i, double place[3]);
void lattice_free(struct lattice *l);

#endif
