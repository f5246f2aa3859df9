/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mesh over the root level for Fourier transforms. The ranks have planes of equal z before the
 * transform, and lines of equal y after it. Where the mesh is padded, transforms are over a box of
 * twice the size, which is empty but for the cells, so that products of transforms are convolutions
 * without periodic images. What is computed depends neither on the number of ranks nor on that of
 * workers. */
#ifndef PHOTONS_POTENTIAL_ROOT_MESH_H
#define PHOTONS_POTENTIAL_ROOT_MESH_H

#include <fftw3.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/base/comm.h"

struct root_mesh {
  uint32_t cells[3];                  /* along x, y, z */
  uint32_t size[3];                   /* of the transforms: as many, or twice as many */
  uint32_t row;                       /* complex numbers of a row along x, size[0]/2 + 1 */
  uint32_t planes, first_line, lines; /* of this rank */
  double *values;                     /* [plane here][y < size][2 row] */
  fftw_complex *waves;                /* [z < cells][line here][row]; one rank: the same memory */
  fftw_complex *packed;               /* of the size of `values`; one rank: NULL */
  fftw_plan rows[2], columns[2], lines_along_z[2]; /* forward, backward */
};

void root_mesh_init(struct root_mesh *m, const uint32_t cells[3], bool padded);
void root_mesh_free(struct root_mesh *m);
/** Bytes of the mesh on all ranks. */
double root_mesh_bytes(const struct root_mesh *m);

/** The first plane of a rank. */
static inline uint32_t root_mesh_first(const struct root_mesh *m, int rank) {
  return (uint32_t)comm_first(m->cells[2], rank);
}
/** A row of this rank's values. @param plane  of this rank, from 0 */
static inline double *root_mesh_row(const struct root_mesh *m, uint32_t plane, uint32_t y) {
  return m->values + ((size_t)plane * m->size[1] + y) * 2 * m->row;
}
void root_mesh_clear(struct root_mesh *m);

/** What is done with the waves [z < size][row] of a line; y counts from 0 to size[1] - 1. */
typedef void root_mesh_work(void *context, uint32_t y, fftw_complex *waves);

/** Transform the values, without a norm, exponent -i, and work on all waves of this rank.
 * Collective. @param whole  of the box of twice the size all x and y have values */
void root_mesh_transform(struct root_mesh *m, bool whole, root_mesh_work *work, void *context);
/** The same, and transform the waves back to values. Forward and backward transforms multiply by
 * the product of the sizes. Collective. */
void root_mesh_convolve(struct root_mesh *m, root_mesh_work *work, void *context);

#endif
