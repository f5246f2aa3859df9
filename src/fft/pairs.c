/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FFTW transforms complex numbers of neighbouring lines in vector registers, but rows of real numbers one number after the other:
 * FFT_LINES pairs of rows are transformed side by side, as real and imaginary parts, and taken apart. */
#include "pairs.h"

#include "photons/base/error.h"
#include "photons/fft/kernels.h"
#include "plans.h"

size_t fft_pairs_in_plane(const struct fft *f) {
  return (f->values.count[1] + FFT_LINES - 1) / FFT_LINES;
}

void fft_pairs_transform(void *context, uint32_t number) {
  const struct fft_pairs *p = context;
  const struct fft_box *box = &p->f->values;
  const size_t n = p->f->size[2], plane = number / fft_pairs_in_plane(p->f),
               first = number % fft_pairs_in_plane(p->f) * FFT_LINES, left = box->count[1] - first,
               count = left < FFT_LINES ? left : FFT_LINES;
  float *lines = fft_take(p->f, (n + FFT_BEYOND) * FFT_LINES), *row[2][FFT_LINES];
  for (int set = 0; set < 2; set++)
    for (size_t i = 0; i < count; i++)
      row[set][i] = p->mesh[set] + fft_at(box, plane, first + i, 0);
  p->weave(p->context, plane, first, count, lines);
  fft_execute_lines(p->f, p->f->plans->pairs, lines);
  p->kernels->take_apart(lines, n, p->width, count, row[0], row[1]);
  fftw_free(lines);
}

struct fft_pairs fft_pairs_of(const struct fft *f, void *const memory[2], size_t width,
                              fft_weave *weave, void *context) {
  const size_t n = f->size[2], row = n % 4 == 0 ? n + 4 : n + 4 - n % 4;
  if (f->mesh.row > 0 && f->mesh.row < row)
    fail(EXIT_RUN_FAILED, "rows of a pair of meshes have room for %zu numbers, not for %zu",
         f->mesh.row, row);
  if (f->mesh.precision != FFT_SINGLE || f->mesh.padded)
    fail(EXIT_RUN_FAILED,
         "pairs of meshes are transformed in single precision and without padding");
  return (struct fft_pairs){.f = f,
                            .kernels = fft_kernels_select(),
                            .mesh = {memory[0], memory[1]},
                            .width = width < n / 2 + 1 ? width : n / 2 + 1,
                            .weave = weave,
                            .context = context};
}
