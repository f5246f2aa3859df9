/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of two meshes of real numbers, transformed as those of one mesh of complex numbers. */
#ifndef PHOTONS_FFT_PAIRS_H
#define PHOTONS_FFT_PAIRS_H

#include "photons/fft/fft.h"

/** Transform the rows of this rank along axis 2, in place. Single precision, not of padded meshes.
 * @param width  modes of k2 >= width may be lost */
void fft_pair_rows(const struct fft *f, void *const memory[2], size_t width, fft_weave *weave,
                   void *context);

#endif
