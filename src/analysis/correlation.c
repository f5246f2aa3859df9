/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The correlation function of matter: the Fourier transform of the power of all modes. */
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "density_modes.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/runtime/loop.h"
#include "power_points.h"
#include "statistics.h"

/* The power of measured waves and that of theory are multiplied by exp(-(k s)^2), with s so many cells: without it
 * xi would ring, as waves end at the Nyquist frequency, where the factor is 0.004. */
#define SMOOTH_CELLS 0.75

/** Sums of a bin of separations. */
enum { CELLS, SEPARATION, CORRELATION, KINDS };

struct squares {
  const struct density_modes *modes;
  double *memory;
};

/** |delta_k|^2 of the modes of one k1, smoothed. */
static void square_line(void *context, uint32_t line) {
  const struct squares *s = context;
  const struct fft_box *b = &s->modes->fft.modes;
  const size_t n = b->count[0];
  for (size_t x = 0; x < n; x++)
    for (size_t z = 0; z < b->count[2]; z++) {
      const size_t at = fft_at(b, x, line, z);
      const double k[3] = {fft_frequency(x, n), fft_frequency(b->first[1] + line, n),
                           (double)(b->first[2] + z)};
      const double angle2 = gsl_pow_2(2.0 * M_PI * SMOOTH_CELLS / (double)n) *
                            (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
      const double *mode = mode_at(s->modes->memory, at);
      *mode_at(s->memory, at) = exp(-angle2) * (mode[0] * mode[0] + mode[1] * mode[1]);
    }
}

static void add_value(const void *context, size_t at, const double x[3], double weight,
                      double *sums) {
  const double *xi = context;
  sums[CELLS] += weight;
  sums[SEPARATION] += weight * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  sums[CORRELATION] += weight * xi[at];
}

struct correlation_bin *correlation_measure(const struct density_modes *modes, size_t *count) {
  const struct fft *f = &modes->fft;
  const size_t n = f->size[0], bins = mode_bins(n);
  double *xi = density_modes_memory(f), *sums = allocate(bins * KINDS, sizeof *sums, "xi(r)");
  struct correlation_bin *result = allocate(bins, sizeof *result, "xi(r)");
  loop_run(&power_spectrum_stage, (uint32_t)f->modes.count[1], square_line,
           &(struct squares){modes, xi});
  fft_backward(f, xi);
  values_bin(f, KINDS, add_value, xi, sums);
  *count = 0;
  for (size_t i = 1; i < bins; i++) {
    const double *t = sums + i * KINDS;
    result[(*count)++] = (struct correlation_bin){.r = modes->box / (double)n * t[SEPARATION] /
                                                       t[CELLS],
                                                  .xi = t[CORRELATION] / t[CELLS],
                                                  .pairs = t[CELLS]};
  }
  free(sums);
  fftw_free(xi);
  return result;
}

/** Linear theory at the separations of the bins; free() it. */
static double *theory(const struct correlation_bin *bins, size_t count,
                      const struct statistics_state *state) {
  double *r = allocate(2 * count, sizeof *r, "xi(r)"), *xi = r + count;
  for (size_t i = 0; i < count; i++) r[i] = bins[i].r;
  linear_correlation(&state->linear, r, count, SMOOTH_CELLS * state->box / (double)state->mesh, xi);
  memmove(r, xi, count * sizeof *xi);
  return r;
}

void correlation_write(const char *path, const struct correlation_bin *bins, size_t count,
                       const struct statistics_state *state) {
  double *linear = theory(bins, count, state);
  struct output_text text;
  FILE *file = output_text_begin(&text);
  statistics_head(file,
                  "correlation function of matter as measured, from all waves of the box below the "
                  "Nyquist frequency of the mesh; cells counts separations on the mesh",
                  state);
  fprintf(file,
          "# all powers, measured and linear, are multiplied by exp(-(k s)^2), s = %.7g Mpc/h\n",
          SMOOTH_CELLS * state->box / (double)state->mesh);
  fprintf(file, "# r[Mpc/h] xi cells xiLinear\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%.7e %.7e %.0f %.7e\n", bins[i].r, bins[i].xi, bins[i].pairs, linear[i]);
  output_text_save(&text, path);
  free(linear);
}
