/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Three-dimensional real transforms of meshes that are divided over the ranks by planes: x-planes
 * before, ky-planes after the forward transform. FFTW transforms planes and lines. Results do not
 * depend on the number of ranks or workers. */
#ifndef PHOTONS_SLAB_FFT_H
#define PHOTONS_SLAB_FFT_H

#include <stddef.h>

/** Rank r has the planes x, and after the forward transform the planes ky, [comm_first(n, r),
 * comm_first(n, r + 1)). */
struct slab_fft {
  size_t n;     /**< cells a side, even */
  size_t kz;    /**< n/2 + 1 */
  size_t first; /**< first plane of this rank */
  size_t planes;
  struct slab_fft_plans *plans;
};

/** Plan the transforms of meshes of n^3 doubles. Collective. Failure ends the program. */
struct slab_fft slab_fft_create(size_t n);
void slab_fft_free(struct slab_fft *f);
/** Doubles that a mesh needs on this rank, in either form: 2 planes n kz. With several ranks a
 * transform allocates as much again. Memory from malloc() or fftw_malloc() has the alignment that
 * FFTW needs. */
size_t slab_fft_size(const struct slab_fft *f);
/** [x here][y][2 kz] doubles (the last 2 kz - n of a row unused) to [ky here][kx][kz] complex, in
 * place, unnormalised, exponent -i. Collective. */
void slab_fft_forward(const struct slab_fft *f, double *mesh);
/** The inverse transform, exponent +i, unnormalised: forward and backward multiply by n^3.
 * Collective. */
void slab_fft_backward(const struct slab_fft *f, double *mesh);

#endif
