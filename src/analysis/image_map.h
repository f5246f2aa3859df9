/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps of projected mass: a value for each pixel, in whole units, so that sums have the same bits
 * in any order. Tasks deposit to maps of their own. A value stands at [x][y]. */
#ifndef PHOTONS_IMAGE_MAP_H
#define PHOTONS_IMAGE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "photons/domain/particles.h"
#include "photons/runtime/stage.h"

extern struct stage image_stage;

/** A cube that is projected, of which nothing is periodic. */
struct cube {
  double corner[3], side; /**< position units */
  unsigned axis[3];       /**< to the right, upwards, along the line of sight */
  unsigned types;         /**< bit t: particles of type t are shown */
};

/** What is projected along z: the slice [low, low + extent] in position units, both ends included;
 * low = 0 and extent = UINT32_MAX are the whole box. */
struct projection {
  size_t pixels; /**< a side of the map */
  uint32_t low, extent;
  const struct cube *cube; /**< that is projected, along any axis; NULL: the slice of the box */
};

/** Maps of `values` values each. Their memory is zero, and only what is touched is used. */
struct maps {
  size_t values;
  uint32_t parts;
  uint64_t *map; /**< [part][value] */
};

/** Choose the number of maps, at most @p most, by the memory of this host; and allocate them. */
struct maps maps_create(size_t values, size_t most);
/** Bytes that the maps of one rank take. Local.
 * @param border  fraction of a map that a part touches beyond its own share */
double maps_memory(double values, double most, double border);
/** Sum up all maps of all ranks in the first map of every rank. Collective. */
void maps_sum(struct maps *m);
/** Convert the first map, of signed numbers, and free the maps. Local.
 * @return [value], to be freed with free() */
double *maps_convert(struct maps *m, double unit);

/**
 * Project particles without a known lattice (image_smooth.c). Each is smoothed by a quadratic
 * B-spline whose width follows the distance of the particles about it. Collective.
 * @return [x][y] on every rank, particles per pixel; to be freed with free()
 */
double *smoothed_project(const struct particles *s, const struct projection *p);
/** Bytes that this takes at most on one rank besides the particles. Local. */
double smoothed_memory(size_t pixels);

#endif
