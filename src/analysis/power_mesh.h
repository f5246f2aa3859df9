/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The meshes of a measured power spectrum, distributed over all ranks: from folded particles to
 * modes. */
#ifndef PHOTONS_POWER_MESH_H
#define PHOTONS_POWER_MESH_H

#include <fftw3.h>
#include <stdatomic.h>

#include "power_points.h"

/**
 * Two meshes of n^3 cells, the second shifted by half a cell. A rank has some planes x, with ghost
 * planes on both sides if there are several ranks; after the transform a rank has some planes ky.
 * Mass is deposited as integers: sums are exact, and therefore the same for any number of ranks and
 * any order of tasks. Rows are padded for deposits beyond their end. Planes are padded by one row,
 * so that strides of a power of two do not compete for the same cache sets.
 */
struct power_mesh {
  struct power_points points;
  size_t n, first, planes, ghosts; /**< ghosts: ghost planes on either side */
  size_t row, plane;               /**< strides in floats */
  float *cells[2];                 /**< int32_t while mass is deposited */
  double unit;                     /**< of the deposits, mean masses of particles */
  double mass;          /**< deposited on a mesh, in mean masses: the number of particles,
                                        except for the rounding of deposits */
  atomic_bool overflow; /**< a cell holds more than an integer can represent */
  uint32_t colour;
  fftwf_plan plane_plan;
  /* After the transform along y and z: mode (x, ky, kz) is at cells[set] + x * x_stride + (ky -
   * first) * y_stride + 2 kz. */
  size_t x_stride, y_stride;
  float *packed; /**< send buffer for other ranks */
};

/** Collective. */
struct power_mesh power_mesh_create(const struct particles *s, size_t n);
void power_mesh_free(struct power_mesh *m);
/** Deposit the density contrast of a fold (times the mean number of particles per cell) and
 * transform it along y and z. Collective. */
void power_mesh_fill(struct power_mesh *m, unsigned fold);
/** Bytes of this memory on one rank, particles included. */
double power_mesh_memory(size_t particles, size_t n);

#endif
