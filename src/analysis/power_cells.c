/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power spectrum of a density on a mesh, of which each value is the mean over a cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/fft/fft.h"

/** Bins as wide as the fundamental mode, those that are wholly below the Nyquist frequency. Bin i is
 * around i fundamental modes; bin 0 stays empty. */
static size_t bin_count(size_t n) { return (n + 1) / 2; }

/** The window of a cell along an axis. */
static double window(double frequency, size_t n) {
  const double angle = M_PI * frequency / (double)n;
  return angle == 0.0 ? 1.0 : sin(angle) / angle;
}

struct sums {
  const struct fft *fft;
  struct power_bin *line; /* [k1 here][bin]; k and P are sums */
  double mass;            /* the sum of all cells, on the rank that has this mode */
};

static void add_modes(void *context, size_t k1, size_t k2, size_t count, fftw_complex *modes) {
  struct sums *s = context;
  const size_t n = s->fft->size[0];
  struct power_bin *bins = s->line + (k1 - s->fft->modes.first[1]) * bin_count(n);
  if (k1 == 0 && k2 == 0) s->mass = modes[0][0];
  for (size_t k0 = 0; k0 < n; k0++)
    for (size_t i = 0; i < count; i++) {
      const double k[3] = {fft_frequency(k0, n), fft_frequency(k1, n), (double)(k2 + i)};
      const double size = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
      const size_t number = (size_t)(size + 0.5);
      if (number == 0 || 2 * number >= n) continue;
      const double weight = k2 + i == 0 ? 0.5 : 1.0; /* the plane k2 = 0 holds both k and -k */
      const double cell = window(k[0], n) * window(k[1], n) * window(k[2], n);
      const double re = modes[k0 * count + i][0] / cell, im = modes[k0 * count + i][1] / cell;
      struct power_bin *b = &bins[number];
      b->modes += weight;
      b->k += weight * size;
      b->power += weight * (re * re + im * im);
    }
}

/** Send each rank its share of the bins of all k1 here.
 * @return [k1][own bin] of all k1 in their order; free() it */
static struct power_bin *share_bins(const struct sums *s) {
  static const char what[] = "power spectrum";
  const size_t ranks = (size_t)comm_size(), n = s->fft->size[0], bins = bin_count(n),
               lines = s->fft->modes.count[1];
  const size_t own = comm_first(bins, comm_rank() + 1) - comm_first(bins, comm_rank());
  struct power_bin *packed = allocate(lines * bins, sizeof *packed, what), *to = packed,
                   *received = allocate(n * own, sizeof *received, what);
  size_t *bytes = allocate(2 * ranks, sizeof *bytes, what);
  for (int r = 0; r < comm_size(); r++) {
    const size_t first = comm_first(bins, r), count = comm_first(bins, r + 1) - first;
    for (size_t line = 0; line < lines; line++, to += count)
      memcpy(to, s->line + line * bins + first, count * sizeof *to);
    bytes[r] = lines * count * sizeof *to;
    bytes[ranks + (size_t)r] = (comm_first(n, r + 1) - comm_first(n, r)) * own * sizeof *received;
  }
  comm_exchange(packed, bytes, received, bytes + ranks);
  free(packed);
  free(bytes);
  return received;
}

/** Add the bins of all k1 up in the order of k1, whatever ranks have these. @return [bin] */
static struct power_bin *sum_bins(const struct sums *s) {
  static const char what[] = "power spectrum";
  const size_t n = s->fft->size[0], bins = bin_count(n), first = comm_first(bins, comm_rank()),
               own = comm_first(bins, comm_rank() + 1) - first;
  struct power_bin *line = share_bins(s), *sum = allocate(own, sizeof *sum, what),
                   *all = allocate(bins, sizeof *all, what);
  size_t *bytes = allocate((size_t)comm_size(), sizeof *bytes, what);
  for (size_t i = 0; i < n * own; i++) {
    sum[i % own].k += line[i].k;
    sum[i % own].power += line[i].power;
    sum[i % own].modes += line[i].modes;
  }
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (comm_first(bins, r + 1) - comm_first(bins, r)) * sizeof *sum;
  comm_gather_all_sizes(sum, bytes, all);
  free(bytes);
  free(sum);
  free(line);
  return all;
}

struct power_bin *power_measure_cells(const struct fft *f, double *memory, double box,
                                      size_t *count) {
  const size_t n = f->size[0], bins = bin_count(n);
  struct sums s = {.fft = f};
  s.line = allocate(f->modes.count[1] * bins, sizeof *s.line, "power spectrum");
  fft_visit(f, memory, false, add_modes, &s);
  comm_sum_double(&s.mass, 1);
  struct power_bin *bin = sum_bins(&s);
  free(s.line);
  *count = 0;
  for (size_t i = 1; i < bins; i++) {
    if (!(bin[i].modes > 0.0)) continue;
    const struct power_bin sum = bin[i];
    bin[(*count)++] = (struct power_bin){.k = 2.0 * M_PI / box * sum.k / sum.modes,
                                         .power = pow(box, 3.0) * sum.power / (sum.modes * s.mass) /
                                                  s.mass,
                                         .modes = sum.modes};
  }
  return bin;
}
