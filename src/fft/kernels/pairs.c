/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Neighbouring lines in vector registers: four rows at a time. With F = A + i B of two rows of real numbers,
 * A_k = (F_k + F*_-k) / 2 and B_k = (F_k - F*_-k) / 2i. */
#include <string.h>

#include "photons/fft/kernels.h"

enum { STEP = 2 * FFT_LINES, ROWS = 4 }; /* STEP: floats from a number of a line to its next */

/** A complex number of four rows. */
typedef float floats8 __attribute__((vector_size(32)));

/** Modes of A and of B from F_k and F_-k. */
static inline void part(const float *plus, const float *minus, floats8 *a, floats8 *b) {
  const floats8 half = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f},
                sign = {0.5f, -0.5f, 0.5f, -0.5f, 0.5f, -0.5f, 0.5f, -0.5f},
                turn = {1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f};
  floats8 p, q;
  memcpy(&p, plus, sizeof p);
  memcpy(&q, minus, sizeof q);
  const floats8 difference = half * p - sign * q;
  *a = half * p + sign * q;
  *b = __builtin_shufflevector(difference, difference, 1, 0, 3, 2, 5, 4, 7, 6) * turn;
}

/** Write two neighbouring modes of four rows. */
static inline void put(const floats8 mode[2], size_t k, float *const row[ROWS]) {
  const floats8 even = __builtin_shufflevector(mode[0], mode[1], 0, 1, 8, 9, 4, 5, 12, 13),
                odd = __builtin_shufflevector(mode[0], mode[1], 2, 3, 10, 11, 6, 7, 14, 15);
  memcpy(row[0] + 2 * k, &even, sizeof even / 2);
  memcpy(row[1] + 2 * k, &odd, sizeof odd / 2);
  memcpy(row[2] + 2 * k, (const char *)&even + sizeof even / 2, sizeof even / 2);
  memcpy(row[3] + 2 * k, (const char *)&odd + sizeof odd / 2, sizeof odd / 2);
}

void KERNEL(fft_take_apart)(const float *lines, size_t n, size_t width, size_t rows,
                            float *const a[FFT_LINES], float *const b[FFT_LINES]) {
  for (size_t first = 0; first < rows; first += ROWS) {
    const float *four = lines + 2 * first;
    float *to[2][ROWS]; /* where rows are missing the last one is written again */
    for (size_t i = 0; i < ROWS; i++) {
      const size_t row = first + i < rows ? first + i : rows - 1;
      to[0][i] = a[row];
      to[1][i] = b[row];
    }
    for (size_t k = 0; k < width; k += 2) {
      floats8 of_a[2], of_b[2];
      for (size_t i = 0; i < 2; i++)
        part(four + (k + i) * STEP, four + (k + i > 0 ? n - k - i : 0) * STEP, &of_a[i], &of_b[i]);
      put(of_a, k, to[0]);
      put(of_b, k, to[1]);
    }
  }
}

/** The compiler knows the size: a call of memcpy() would take longer. */
#define COPY(type)                                \
  for (size_t i = 0; i < n; i++)                  \
  memcpy((char *)to + i * to_step * sizeof(type), \
         (const char *)from + i * from_step * sizeof(type), FFT_LINES * sizeof(type))

void KERNEL(fft_copy_lines)(enum fft_precision p, size_t n, const void *from, size_t from_step,
                            void *to, size_t to_step) {
  if (p == FFT_SINGLE)
    COPY(fftwf_complex);
  else
    COPY(fftw_complex);
}

extern const struct fft_kernels KERNEL(fft_kernels);
const struct fft_kernels KERNEL(fft_kernels) = {KERNEL(fft_take_apart), KERNEL(fft_copy_lines)};
