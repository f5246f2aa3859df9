/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each rank has of a mesh. */
#ifndef PHOTONS_FFT_SHARE_H
#define PHOTONS_FFT_SHARE_H

#include "photons/fft/fft.h"

/** Numbers first .. first + count - 1 along an axis. */
struct part {
  size_t first, count;
};

/** What the ranks of a row of the grid have of the planes x0 and of k1, and those of a column of the rows x1 < cells[1]
 * and of k2. Nothing where there is no such row or column. */
struct part fft_planes(const struct fft *f, size_t row);
struct part fft_rows(const struct fft *f, size_t column);
struct part fft_k1(const struct fft *f, size_t row);
struct part fft_k2(const struct fft *f, size_t column);

struct fft_box fft_own_modes(const struct fft *f);
/** Complex numbers of the memory for exchanges, on several ranks. */
size_t fft_exchange_numbers(const struct fft *f);

#endif
