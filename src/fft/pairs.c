/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With F = A + i B of two rows of real numbers, A_k = (F_k + F*_-k) / 2 and B_k = (F_k - F*_-k) / 2i. FFTW transforms
 * complex numbers of neighbouring lines in vector registers, but rows of real numbers one number after the other:
 * FFT_LINES pairs of rows are woven together, transformed side by side, and taken apart. */
#include "pairs.h"

#include <stdint.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "plans.h"

enum { STEP = 2 * FFT_LINES }; /* floats from a number of a line to its next */

struct pairs {
  const struct fft *f;
  float *mesh[2];
  fft_row *values;
  void *context;
};

/** Two complex numbers, or four real ones. */
typedef float floats4 __attribute__((vector_size(16)));

static inline floats4 load(const float *from) {
  floats4 v;
  memcpy(&v, from, sizeof v);
  return v;
}
static inline void store(float *to, floats4 v) { memcpy(to, &v, sizeof v); }

static inline floats4 first_of(floats4 a, floats4 b) {
  return __builtin_shufflevector(a, b, 0, 1, 4, 5);
}
static inline floats4 second_of(floats4 a, floats4 b) {
  return __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

/** Two pairs of rows become two neighbouring lines. Numbers are read up to a multiple of four, and written. */
static void weave(const float *const a[2], const float *const b[2], size_t n, float *lines) {
  for (size_t z = 0; z < n; z += 4, lines += 4 * (size_t)STEP) {
    floats4 low[2], high[2];
    for (int i = 0; i < 2; i++) {
      const floats4 real = load(a[i] + z), imaginary = load(b[i] + z);
      low[i] = __builtin_shufflevector(real, imaginary, 0, 4, 1, 5);
      high[i] = __builtin_shufflevector(real, imaginary, 2, 6, 3, 7);
    }
    store(lines, first_of(low[0], low[1]));
    store(lines + STEP, second_of(low[0], low[1]));
    store(lines + 2 * STEP, first_of(high[0], high[1]));
    store(lines + 3 * STEP, second_of(high[0], high[1]));
  }
}

/** Modes of A and of B, of two lines, from F_k and F_-k. */
static inline void part(floats4 p, floats4 q, floats4 *a, floats4 *b) {
  const floats4 half = {0.5F, 0.5F, 0.5F, 0.5F}, sign = {0.5F, -0.5F, 0.5F, -0.5F},
                turn = {1.0F, -1.0F, 1.0F, -1.0F};
  const floats4 difference = half * p - sign * q;
  *a = half * p + sign * q;
  *b = __builtin_shufflevector(difference, difference, 1, 0, 3, 2) * turn;
}

/** Two neighbouring lines become the modes of two pairs of rows, k2 up to n/2, and one more where their number is odd. */
static void take_apart(const float *lines, size_t n, float *const a[2], float *const b[2]) {
  for (size_t k = 0; 2 * k <= n; k += 2) {
    floats4 of_a[2], of_b[2];
    for (size_t i = 0; i < 2; i++)
      part(load(lines + (k + i) * STEP), load(lines + (k + i > 0 ? n - k - i : 0) * STEP), &of_a[i],
           &of_b[i]);
    store(a[0] + 2 * k, first_of(of_a[0], of_a[1]));
    store(b[0] + 2 * k, first_of(of_b[0], of_b[1]));
    store(a[1] + 2 * k, second_of(of_a[0], of_a[1]));
    store(b[1] + 2 * k, second_of(of_b[0], of_b[1]));
  }
}

static size_t parts_of_plane(const struct fft *f) {
  return (f->values.count[1] + FFT_LINES - 1) / FFT_LINES;
}

static void transform_rows(void *context, uint32_t number) {
  const struct pairs *p = context;
  const struct fft_box *box = &p->f->values;
  const size_t n = p->f->size[2], plane = number / parts_of_plane(p->f),
               first = number % parts_of_plane(p->f) * FFT_LINES, left = box->count[1] - first,
               count = left < FFT_LINES ? left : FFT_LINES;
  float *lines = fft_take(p->f, (n + 3) * FFT_LINES), *row[2][FFT_LINES];
  for (size_t i = 0; i < FFT_LINES; i++) { /* the last row stands for those that are missing */
    const size_t y = first + (i < count ? i : count - 1);
    if (i < count) p->values(p->context, plane, y);
    for (int set = 0; set < 2; set++) row[set][i] = p->mesh[set] + fft_at(box, plane, y, 0);
  }
  for (size_t i = 0; i < FFT_LINES; i += 2)
    weave((const float *const *)&row[0][i], (const float *const *)&row[1][i], n, lines + 2 * i);
  fft_execute_lines(p->f, p->f->plans->pairs, lines);
  for (size_t i = 0; i < count; i += 2) take_apart(lines + 2 * i, n, &row[0][i], &row[1][i]);
  fftw_free(lines);
}

void fft_pair_rows(const struct fft *f, void *const memory[2], fft_row *values, void *context) {
  const struct pairs pairs = {f, {memory[0], memory[1]}, values, context};
  const size_t parts = f->values.count[0] * parts_of_plane(f);
  const size_t n = f->size[2], row = n % 4 == 0 ? n + 4 : n + 4 - n % 4;
  if (f->mesh.row > 0 && f->mesh.row < row)
    fail(EXIT_RUN_FAILED, "rows of a pair of meshes have room for %zu numbers, not for %zu",
         f->mesh.row, row);
  if (f->mesh.precision != FFT_SINGLE || f->mesh.padded)
    fail(EXIT_RUN_FAILED,
         "pairs of meshes are transformed in single precision and without padding");
  if (parts > UINT32_MAX)
    fail(EXIT_RUN_FAILED, "a mesh of %zu x %zu x %zu cells is too large for one rank to transform",
         f->size[0], f->size[1], f->size[2]);
  loop_run(f->mesh.stage, (uint32_t)parts, transform_rows, (void *)&pairs);
}
