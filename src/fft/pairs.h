/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of two meshes of real numbers, transformed as those of one mesh of complex numbers. */
#ifndef PHOTONS_FFT_PAIRS_H
#define PHOTONS_FFT_PAIRS_H

#include <stdint.h>

#include "photons/fft/kernels.h"

/** The rows of this rank along axis 2, to be transformed in place. */
struct fft_pairs {
  const struct fft *f;
  const struct fft_kernels *kernels;
  float *mesh[2];
  size_t width; /**< modes of k2 >= width may be lost */
  fft_weave *weave;
  void *context;
};

/** Single precision, not of padded meshes. */
struct fft_pairs fft_pairs_of(const struct fft *f, void *const memory[2], size_t width,
                              fft_weave *weave, void *context);
/** Parts of the rows of each plane. */
size_t fft_pairs_in_plane(const struct fft *f);
/** Transform a part. @param pairs  a struct fft_pairs @param part  of plane 0, then of plane 1 and so on */
void fft_pairs_transform(void *pairs, uint32_t part);

#endif
