/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of the transform of two meshes together. struct fft_kernels is a table of them; each instruction set has one. */
#ifndef PHOTONS_FFT_KERNELS_H
#define PHOTONS_FFT_KERNELS_H

#include <stddef.h>

#include "photons/fft/fft.h"
#include "photons/runtime/isa.h"

struct fft_kernels {
  /** From transforms F = A + i B of FFT_LINES pairs of rows to the modes of each row.
   * @param lines   [n][FFT_LINES] complex numbers
   * @param width   modes k2 < width are wanted, at most n/2 + 1; one more where their number is odd is written
   * @param[out] a, b  [row] the first `rows` of FFT_LINES are written */
  void (*take_apart)(const float *lines, size_t n, size_t width, size_t rows,
                     float *const a[FFT_LINES], float *const b[FFT_LINES]);
  /** Copy n times FFT_LINES complex numbers. @param from_step, to_step  complex numbers from one time to the next */
  void (*copy_lines)(enum fft_precision p, size_t n, const void *from, size_t from_step, void *to,
                     size_t to_step);
};
const struct fft_kernels *fft_kernels_select(void);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(fft_kernels, take_apart, fft_take_apart);
KERNEL_FUNCTION(fft_kernels, copy_lines, fft_copy_lines);
#endif

#endif
