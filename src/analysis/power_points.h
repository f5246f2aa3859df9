/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particles of a power spectrum's mesh: folded positions on the rank that has their cells,
 * sorted into tiles. */
#ifndef PHOTONS_POWER_POINTS_H
#define PHOTONS_POWER_POINTS_H

#include <stdint.h>

#include "photons/domain/particles.h"
#include "photons/fft/fft.h"
#include "photons/runtime/stage.h"

/** Loops of power spectra. */
extern struct stage power_spectrum_stage;

enum {
  POWER_TILE =
      16, /**< least cells of a tile along x and y, if the mesh has as many; along z a tile has n cells */
  POWER_STRIPS =
      2 /**< of a tile along y: its points are in their order, so that fewer cells are in use at a time */
};

/** A folded position; the box is 2^32. */
struct point {
  uint32_t x[3];
};

/** Points, and their masses over the mean of all, which is NULL where all have one mass. */
struct point_set {
  struct point *point;
  float *mass;
};

/** Which particles go to which rank, for n^3 cells distributed over the ranks. The cells
 * that one tile touches stay in cache, however the fold scatters neighbouring particles. */
struct power_points {
  const struct particles *particles;
  size_t n;
  /** What a momentum of 1 km/s along z adds to z, in units of the box: positions in redshift space; 0: real
   * space. */
  double redshift_space;
  struct fft_grid grid;        /**< of the ranks */
  uint32_t x_tiles, y_tiles;   /**< of this rank; 0 where it has no cells */
  uint32_t *x_owner, *y_owner; /**< [cell along an axis] row and column of the grid */
  uint32_t *x_tile, *y_strip;  /**< tile along x and strip along y of this rank's cells */
  unsigned fold;
  size_t rounds;          /**< number of parts in which points are exchanged, so that no rank needs
                            much more memory than its particles do */
  size_t loaded;          /**< the round whose points are in memory; `rounds`: none */
  struct point_set sent;  /**< all particles of this rank, by owner */
  size_t *sent_end;       /**< [owner] end in `sent` */
  struct point_set point; /**< points of the round, by tile and strip */
  size_t *strip_end;      /**< [strip of a tile] end in `point` */
};

/** Collective, except for power_points_range(). */
/** @param f  the transform of the mesh */
struct power_points power_points_create(const struct particles *s, const struct fft *f);
void power_points_free(struct power_points *p);
/** Begin with fold @p fold: positions shifted left by @p fold bits. Collective. */
void power_points_fold(struct power_points *p, unsigned fold);
/** Bring the points of a round to this rank, unless they are there already. Collective. */
void power_points_load(struct power_points *p, size_t round);
/** The points of tile x_tile * y_tiles + y_tile. */
static inline void power_points_range(const struct power_points *p, size_t tile, size_t *first,
                                      size_t *end) {
  *first = tile > 0 ? p->strip_end[tile * POWER_STRIPS - 1] : 0;
  *end = p->strip_end[tile * POWER_STRIPS + POWER_STRIPS - 1];
}

/** The cell that contains a coordinate along one axis. */
static inline size_t power_cell(uint32_t x, size_t n) { return ((uint64_t)x * n) >> 32; }

#endif
