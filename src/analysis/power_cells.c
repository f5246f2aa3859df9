/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power spectrum of a density on a mesh, of which each value is the mean over a cell. */
#include <math.h>
#include <stdlib.h>

#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/fft/fft.h"
#include "photons/runtime/exact_sums.h"
#include "photons/runtime/loop.h"

/** Bins as wide as the fundamental mode, those that are wholly below the Nyquist frequency. Bin i is
 * around i fundamental modes; bin 0 stays empty. */
static size_t bin_count(size_t n) { return (n + 1) / 2; }

/** The window of a cell along an axis. */
static double window(double frequency, size_t n) {
  const double angle = M_PI * frequency / (double)n;
  return angle == 0.0 ? 1.0 : sin(angle) / angle;
}

/** Sums of a bin. */
enum { MODES, WAVE_NUMBER, POWER, KINDS };

struct cells {
  const struct fft *fft;
  const double *memory;   /* the modes */
  struct exact_sums sums; /* [bin][kind] */
};

static void add_mode(const struct cells *c, const double k[3], const double *mode,
                     struct exact_sum *sums) {
  const size_t n = c->fft->size[0];
  const double size = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
  const size_t bin = (size_t)(size + 0.5);
  if (bin == 0 || 2 * bin >= n) return;
  const double weight = k[2] == 0.0 ? 0.5 : 1.0; /* the plane k2 = 0 holds both k and -k */
  const double cell = window(k[0], n) * window(k[1], n) * window(k[2], n);
  const double re = mode[0] / cell, im = mode[1] / cell;
  exact_add(&sums[bin * KINDS + MODES], weight);
  exact_add(&sums[bin * KINDS + WAVE_NUMBER], weight * size);
  exact_add(&sums[bin * KINDS + POWER], weight * (re * re + im * im));
}

static void add_part(void *context, uint32_t part) {
  const struct cells *c = context;
  const struct fft_box *b = &c->fft->modes;
  const size_t n = c->fft->size[0], rows = b->count[0] * b->count[1],
               end = block_first(rows, c->sums.parts, part + 1);
  for (size_t i = block_first(rows, c->sums.parts, part); i < end; i++) {
    const size_t k0 = i / b->count[1], line = i % b->count[1];
    for (size_t z = 0; z < b->count[2]; z++)
      add_mode(c,
               (const double[]){fft_frequency(k0, n), fft_frequency(b->first[1] + line, n),
                                (double)(b->first[2] + z)},
               c->memory + 2 * fft_at(b, k0, line, z), exact_sums_of(&c->sums, part));
  }
}

/** The mode k = 0, on all ranks. */
static double mass_of(const struct fft *f, const double *memory) {
  const struct fft_box *b = &f->modes;
  const bool here = b->first[1] == 0 && b->first[2] == 0 && b->count[1] > 0 && b->count[2] > 0;
  double mass = here ? memory[0] : 0.0;
  comm_sum_double(&mass, 1);
  return mass;
}

struct power_bin *power_measure_cells(const struct fft *f, double *memory, double box,
                                      size_t *count) {
  const size_t bins = bin_count(f->size[0]);
  double *sum = allocate(bins * KINDS, sizeof *sum, "power spectrum");
  struct power_bin *bin = allocate(bins, sizeof *bin, "power spectrum");
  struct cells c = {f, memory,
                    exact_sums_create(bins * KINDS, f->modes.count[0] * f->modes.count[1])};
  fft_forward(f, memory);
  const double mass = mass_of(f, memory);
  loop_run(f->mesh.stage, c.sums.parts, add_part, &c);
  exact_sums_finish(&c.sums, sum);
  *count = 0;
  for (size_t i = 1; i < bins; i++) {
    const double *s = sum + i * KINDS;
    if (!(s[MODES] > 0.0)) continue;
    bin[(*count)++] = (struct power_bin){.k = 2.0 * M_PI / box * s[WAVE_NUMBER] / s[MODES],
                                         .power = pow(box, 3.0) * s[POWER] / (s[MODES] * mass) /
                                                  mass,
                                         .modes = s[MODES]};
  }
  free(sum);
  return bin;
}
