/* The meshes of a measured power spectrum, over all processes: from folded particles to modes. */
#ifndef PHOTONS_POWER_MESH_H
#define PHOTONS_POWER_MESH_H

#include <fftw3.h>
#include <stdatomic.h>

#include "power_points.h"

/**
 * Two meshes of n^3 cells, the second displaced by half a cell. A process has some planes x, with ghost planes on both sides where there
 * are others; transformed, it has some planes ky. Mass is deposited as integers: sums are exact, and so the same for any number of
 * processes and tasks in any order. Rows are padded for deposits across their end, planes by one row, so that the strides of
 * a power of two do not fall on the same cache lines.
 */
struct power_mesh {
  struct power_points points;
  size_t n, first, planes, ghosts; /**< ghosts: planes on either side */
  size_t row, plane;               /**< strides in floats */
  float *cells[2];                 /**< int32_t while mass is deposited */
  double unit;                     /**< of the deposits, particles */
  double mass;          /**< deposited on a mesh: the number of particles but for the rounding of small deposits */
  atomic_bool overflow; /**< a cell holds more than an integer can */
  uint32_t colour;
  fftwf_plan plane_plan;
  /* Transformed along y and z: mode (x, ky, kz) stands at cells[set] + x * x_stride + (ky - first) * y_stride + 2 kz. */
  size_t x_stride, y_stride;
  float *packed; /**< what other processes get */
};

/** Functions for all processes together. */
struct power_mesh power_mesh_create(const struct particles *s, size_t n);
void power_mesh_free(struct power_mesh *m);
/** Deposit the density contrast of a fold (times the mean number of particles a cell) and transform it along y and z. */
void power_mesh_fill(struct power_mesh *m, unsigned fold);
/** Bytes that this process needs for it, particles included. */
double power_mesh_memory(size_t particles, size_t n);

#endif
