/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FFTW plans of either precision. The algorithm that FFTW chooses, and so the rounding, depends on the length of a
 * line alone: rows are transformed one by one, lines along axes 1 and 0 and pairs of rows always FFT_LINES at a time,
 * of which some may be of no use. */
#ifndef PHOTONS_FFT_PLANS_H
#define PHOTONS_FFT_PLANS_H

#include "photons/fft/fft.h"

enum fft_direction { FORWARD, BACKWARD, DIRECTIONS };

union plan {
  fftw_plan wide;
  fftwf_plan narrow;
};

/** Forward in single precision, whose rows are pairs; both ways in double precision, whose rows are not. NULL: not used. */
struct fft_plans {
  union plan row[DIRECTIONS]; /**< along axis 2, in place */
  union plan
      lines[2][DIRECTIONS]; /**< [axis] along axis 0 or 1: [number along it][FFT_LINES], in place */
  union plan pairs;         /**< along axis 2, forward: [number along it][FFT_LINES], in place */
};

static inline size_t complex_bytes(enum fft_precision p) {
  return p == FFT_SINGLE ? sizeof(fftwf_complex) : sizeof(fftw_complex);
}

/** Memory that FFTW likes, for complex numbers; fftw_free() it. */
void *fft_take(const struct fft *f, size_t complex_numbers);
struct fft_plans *fft_plans_create(const struct fft *f);
void fft_plans_free(const struct fft *f, struct fft_plans *p);
/** Transform a row of real numbers to modes, or back. Double precision. */
void fft_execute_row(const struct fft *f, enum fft_direction direction, void *row);
/** Transform lines between complex numbers. */
void fft_execute_lines(const struct fft *f, union plan p, void *lines);

#endif
