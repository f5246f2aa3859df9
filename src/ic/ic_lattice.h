/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Positions of particles before they are displaced: copies of a glass, `tiles` along each side of
 * the box. A grid consists of copies of one particle. A rank has the particles over its planes of a
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
  /** Those of them in tiles x = 0, then in tiles x = 1 ...; each stands for the tiles^2 particles
   * over all y and z. */
  struct lattice_entry {
    size_t tile, point;
  } * entries;
  size_t *begin; /**< entries of the tiles x: [begin[x], begin[x + 1]) */
};

/** Read p->ic.glass or make a grid. p->box.npart_side^3 must be the glass's number of particles
 * times a cube. Collective. */
struct lattice lattice_create(const struct parameters *p);
/** Distribute the particles, to each rank those over its planes x of a mesh. Collective. */
void lattice_distribute(struct lattice *l, const struct fft *mesh);
/** Particle i < count of this rank, in the order of all particles.
 * @return its index among all particles; place: in cells */
uint64_t lattice_particle(const struct lattice *l, size_t i, double place[3]);
void lattice_free(struct lattice *l);

#endif
