/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Three-dimensional real transforms of meshes that no process holds whole: planes x (or, transformed, planes ky) are dealt out
 * over the processes. Plane and line transforms are FFTW's; results do not depend on the number of processes or workers. */
#ifndef PHOTONS_SLAB_FFT_H
#define PHOTONS_SLAB_FFT_H

#include <stddef.h>

/** Process r has the planes x, and after the forward transform the planes ky, [comm_first(n, r), comm_first(n, r + 1)). */
struct slab_fft {
  size_t n;     /**< cells a side, even */
  size_t kz;    /**< n/2 + 1 */
  size_t first; /**< plane of this process */
  size_t planes;
  struct slab_fft_plans *plans;
};

/** Plan the transforms of meshes of n^3 doubles. On every process. */
struct slab_fft slab_fft_create(size_t n);
void slab_fft_free(struct slab_fft *f);
/** Numbers of type double that a mesh needs on this process, in either form: 2 planes n kz. A transform needs as much again where
 * there are many processes. Memory of malloc() or fftw_malloc() begins where FFTW needs it. */
size_t slab_fft_size(const struct slab_fft *f);
/** [x here][y][2 kz] doubles (the last 2 kz - n of a row unused) to [ky here][kx][kz] complex, in place, unnormalised, exponent -i. */
void slab_fft_forward(const struct slab_fft *f, double *mesh);
/** Back, exponent +i, unnormalised: forward and backward multiply by n^3. */
void slab_fft_backward(const struct slab_fft *f, double *mesh);

#endif
