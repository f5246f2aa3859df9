/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FFTW plans of the particle mesh, and the buffers that they transform. */
#ifndef PHOTONS_MESH_PLANS_H
#define PHOTONS_MESH_PLANS_H

#include "photons/mesh/mesh.h" /* complex numbers, before FFTW */

#include <fftw3.h>

/* Number of lines transformed together along x or y, and the stride between the cells of a line, in
 * complex numbers. Neighbouring kz fill vector registers and cache lines, LINES lines of N cells
 * stay in the second-level cache, and the stride is no power of two, which would alias. On planes
 * cut up like this, FFTW_ESTIMATE finds plans nearly as fast as those of FFTW_MEASURE, and the same
 * ones in each run. */
enum { LINES = MESH_LINES, LINE_STRIDE = 72, ALIGNMENT = 64 };

struct mesh_plans {
  fftwf_plan z_forward, z_backward; /* one row */
  /* y: between the transform along z (stride row/2) and a line buffer. x: between line buffers.
   * [0]: LINES lines, [1]: the last lines of a row of kz. Out of place. */
  fftwf_plan y_forward[2], y_backward[2], x_forward[2], x_backward[2];
};

/* Complex numbers of a line buffer, and of a plane after the transform along z. */
static inline size_t lines_size(const struct mesh *m) { return (size_t)m->cells * LINE_STRIDE; }
static inline size_t spectrum_size(const struct mesh *m) {
  return (size_t)m->cells * m->row / 2 + 72;
}

static inline int signed_index(const struct mesh *m, uint32_t n) {
  return n <= m->cells / 2 ? (int)n : (int)n - (int)m->cells;
}

#endif
