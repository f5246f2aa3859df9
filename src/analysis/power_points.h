/* The particles of a power spectrum's mesh: folded positions on the process that has their planes, sorted into tiles. */
#ifndef PHOTONS_POWER_POINTS_H
#define PHOTONS_POWER_POINTS_H

#include <stdint.h>

#include "photons/domain/particles.h"
#include "photons/runtime/stage.h"

/** Loops of power spectra. */
extern struct stage power_spectrum_stage;

enum {
  POWER_TILE = 16
}; /**< cells along x and y of a tile, at least, where the mesh has as many; it is n cells long */

/** A folded position; the box is 2^32. */
struct point {
  uint32_t x[3];
};

/** Which particles go where among n planes of cells dealt out over the processes. What one tile touches stays in cache however the
 * fold scatters neighbours. */
struct power_points {
  const struct particles *particles;
  size_t n;
  uint32_t x_tiles, y_tiles;         /**< of this process; 0 where it has no planes */
  uint32_t *owner, *x_tile, *y_tile; /**< process and tile of the cells along an axis */
  unsigned fold;
  size_t
      rounds; /**< parts in which the points are exchanged, so that no process needs room for much more than its share */
  size_t loaded;       /**< the round whose points are here, `rounds`: none */
  struct point *sent;  /**< all of this process's particles, by owner */
  size_t *sent_end;    /**< [owner] in sent */
  struct point *point; /**< those of the round, by tile */
  size_t *tile_end;    /**< [tile] in point */
};

/** Functions for all processes together, but for power_points_range(). */
struct power_points power_points_create(const struct particles *s, size_t n);
void power_points_free(struct power_points *p);
/** Begin with fold @p fold: positions shifted left. */
void power_points_fold(struct power_points *p, unsigned fold);
/** Bring the points of a round here, unless they are. */
void power_points_load(struct power_points *p, size_t round);
/** The points of tile x_tile * y_tiles + y_tile. */
static inline void power_points_range(const struct power_points *p, size_t tile, size_t *first, size_t *end) {
  *first = tile > 0 ? p->tile_end[tile - 1] : 0;
  *end = p->tile_end[tile];
}

/** Cell along one axis. */
static inline size_t power_cell(uint32_t x, size_t n) { return ((uint64_t)x * n) >> 32; }

#endif
