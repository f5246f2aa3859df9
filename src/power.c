/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power spectrum of the particles: P(k) = V <|sum_j exp(-i k x_j) / N|^2>, shot noise V/N included.
 *
 * Fold f puts all particles into a box 2^f times smaller by taking positions modulo L/2^f. Wave vectors that are
 * multiples of 2^f 2 pi/L keep their sums, so that the same mesh reaches 2^f times further (Jenkins et al. 1998). Two
 * meshes, one displaced by half a cell, are averaged in Fourier space, which removes the odd images of the spectrum
 * (Sefusatti et al. 2016). */
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis.h"
#include "photons/error.h"
#include "photons/linear_power.h"
#include "photons/output_file.h"

#define BIN_RATIO 1.05 /* of a bin's edges where bins are logarithmic */

/** Four cells of a row at once. */
typedef float cells4 __attribute__((vector_size(16), aligned(4)));

/** A mesh of n^3 floats for an in-place transform; rows are padded for deposits across their end, planes by one row, so
 * that the strides of a power of two do not fall on the same cache lines. */
struct fourier_mesh {
  size_t n, row, plane;
  float *data;
};

/** Sums over modes of equal |k|^2 = n2 (units of the fold's fundamental mode). */
struct shell {
  double power; /* of |delta_k|^2, modes counted once for k and -k */
  double modes;
};

struct bin_edges {
  double low, high; /* in fundamental modes of the box */
  unsigned fold;
};

static struct fourier_mesh fourier_mesh_create(size_t n) {
  struct fourier_mesh m = {.n = n, .row = (n + 6) & ~(size_t)3};
  m.plane = (n + 1) * m.row;
  m.data = fftwf_alloc_real(n * m.plane);
  if (m.data == NULL)
    fail(EXIT_RUN_FAILED, "not enough memory for the power spectrum's mesh of %zu^3 cells (%zu MiB)", n,
         n * m.plane >> 18);
  return m;
}

static fftwf_plan transform_plan(const struct fourier_mesh *m) {
  int n = (int)m->n, size[3] = {n, n, n}, real[3] = {n, n + 1, (int)m->row}, complex[3] = {n, n + 1, (int)m->row / 2};
  fftwf_plan plan = fftwf_plan_many_dft_r2c(3, size, 1, m->data, real, 1, 0, (fftwf_complex *)m->data, complex, 1, 0,
                                            FFTW_ESTIMATE);
  if (plan == NULL) fail(EXIT_RUN_FAILED, "FFTW cannot plan the power spectrum's transform of %zu^3 cells", m->n);
  return plan;
}

/** First of the four cells that a particle touches along one side, and their weights (cubic B-spline).
 * @param shift  of the mesh, 2^-32 cells */
static inline size_t spline_weights(uint32_t u, size_t n, uint64_t shift, float weight[4]) {
  uint64_t whole = (uint64_t)n << 32, position = (uint64_t)u * n + whole - shift; /* cells, 32 bits of fraction */
  float d = (float)(uint32_t)position * 0x1p-32f, e = 1.0f - d;
  weight[0] = e * e * e * (1.0f / 6.0f);
  weight[1] = 2.0f / 3.0f - d * d * (1.0f - 0.5f * d);
  weight[2] = 2.0f / 3.0f - e * e * (1.0f - 0.5f * e);
  weight[3] = d * d * d * (1.0f / 6.0f);
  size_t first = (size_t)(position >> 32) - 1;
  return first >= n ? first - n : first;
}

static void deposit_block(const struct fourier_mesh *m, const struct particle_block *b, unsigned fold, uint64_t shift) {
  for (size_t i = 0; i < b->count; i++) {
    float wx[4], wy[4], wz[4];
    size_t x = spline_weights(b->x[0][i] << fold, m->n, shift, wx);
    size_t y = spline_weights(b->x[1][i] << fold, m->n, shift, wy);
    size_t z = spline_weights(b->x[2][i] << fold, m->n, shift, wz);
    cells4 w = {wz[0], wz[1], wz[2], wz[3]};
    size_t row[4];
    for (size_t c = 0; c < 4; c++) row[c] = (y + c < m->n ? y + c : y + c - m->n) * m->row + z;
    for (size_t a = 0; a < 4; a++) {
      float *plane = m->data + (x + a < m->n ? x + a : x + a - m->n) * m->plane;
      for (size_t c = 0; c < 4; c++) {
        cells4 *cells = (cells4 *)(plane + row[c]);
        *cells += wx[a] * wy[c] * w;
      }
    }
  }
}

/** Counts in cells less their mean: else the transform's rounding would be relative to the mean, not to the
 * fluctuations. */
static void deposit(const struct fourier_mesh *m, const struct particles *s, unsigned fold, bool shifted) {
  float mean = (float)((double)s->count / pow((double)m->n, 3.0));
  for (size_t x = 0; x < m->n; x++)
    for (size_t y = 0; y < m->n; y++) {
      float *row = m->data + x * m->plane + y * m->row;
      for (size_t z = 0; z < m->row; z++) row[z] = z < m->n ? -mean : 0.0f;
    }
  for (size_t g = 0; g < s->blocks; g++) {
    struct particle_block b = particles_block(s, g);
    deposit_block(m, &b, fold, shifted ? UINT64_C(1) << 31 : 0);
  }
  for (size_t x = 0; x < m->n; x++)
    for (size_t y = 0; y < m->n; y++) {
      float *row = m->data + x * m->plane + y * m->row;
      for (size_t z = 0; z < 3; z++) row[z] += row[m->n + z];
    }
}

/** Add |delta_k|^2 of one fold to its shells, below the mesh's Nyquist frequency. */
static void add_to_shells(const struct fourier_mesh *even, const struct fourier_mesh *odd, double count,
                          struct shell *shell) {
  size_t n = even->n, half = n / 2, limit = n * n; /* 4 n2 < n^2 */
  float *phase = allocate(2 * n, sizeof *phase, "power spectrum"),
        *deconvolve = allocate(n, sizeof *deconvolve, "power spectrum");
  size_t *square = allocate(n, sizeof *square, "power spectrum");
  for (size_t i = 0; i < n; i++) {
    double k = i <= half ? (double)i : (double)i - (double)n, angle = M_PI * k / (double)n;
    double sinc = i == 0 ? 1.0 : sin(angle) / angle;
    phase[2 * i] = (float)cos(angle); /* exp(-i k h/2): the displacement of the second mesh */
    phase[2 * i + 1] = (float)-sin(angle);
    deconvolve[i] = (float)pow(sinc, -8.0);
    square[i] = (size_t)(k * k + 0.5);
  }
  for (size_t x = 0; x < n; x++)
    for (size_t y = 0; y < n; y++) {
      size_t rest = square[x] + square[y];
      if (4 * rest >= limit) continue;
      const float *a = even->data + x * even->plane + y * even->row, *b = odd->data + x * odd->plane + y * odd->row;
      float re = phase[2 * x] * phase[2 * y] - phase[2 * x + 1] * phase[2 * y + 1];
      float im = phase[2 * x] * phase[2 * y + 1] + phase[2 * x + 1] * phase[2 * y];
      double weight = deconvolve[x] * deconvolve[y] / (4.0 * count * count);
      for (size_t z = 0; z <= half && 4 * (rest + square[z]) < limit; z++) {
        float c = re * phase[2 * z] - im * phase[2 * z + 1], d = re * phase[2 * z + 1] + im * phase[2 * z];
        float u = a[2 * z] + c * b[2 * z] - d * b[2 * z + 1], v = a[2 * z + 1] + c * b[2 * z + 1] + d * b[2 * z];
        struct shell *t = shell + rest + square[z];
        double modes = z == 0 ? 0.5 : 1.0; /* the plane z = 0 holds both k and -k */
        t->power += modes * weight * (double)(deconvolve[z] * (u * u + v * v));
        t->modes += modes;
      }
    }
  free(phase);
  free(deconvolve);
  free(square);
}

/**
 * The next bin from @p low upwards: one mode of the fold wide, or BIN_RATIO. Folds but the last are used to half their
 * Nyquist frequency, the last up to it.
 * @return false if it would end beyond that
 */
static bool next_bin(double low, size_t mesh, unsigned folds, struct bin_edges *bin) {
  for (unsigned fold = bin->fold; fold <= folds; fold++) {
    double nyquist = ldexp((double)mesh / 2.0, (int)fold);
    *bin = (struct bin_edges){.low = low, .high = fmax(low + ldexp(1.0, (int)fold), low * BIN_RATIO), .fold = fold};
    if (bin->high <= (fold < folds ? 0.5 * nyquist : nyquist)) return true;
  }
  return false;
}

/** Append the bins that fold @p bin->fold serves; on return @p bin is the first one of the next fold.
 * @return whether there is one */
static bool bin_shells(const struct shell *shell, double volume, double fundamental, size_t mesh, unsigned folds,
                       struct bin_edges *bin, struct power_bin *bins, size_t *count) {
  unsigned fold = bin->fold;
  double unit = ldexp(1.0, (int)fold);
  bool more = true;
  while (more && bin->fold == fold) {
    struct power_bin sum = {0};
    size_t n2 = (size_t)ceil(bin->low * bin->low / (unit * unit));
    for (; sqrt((double)n2) * unit < bin->high && 4 * n2 < mesh * mesh; n2++) {
      sum.modes += shell[n2].modes;
      sum.k += shell[n2].modes * sqrt((double)n2) * unit * fundamental;
      sum.power += shell[n2].power * volume;
    }
    if (sum.modes > 0.0)
      bins[(*count)++] = (struct power_bin){.k = sum.k / sum.modes, .power = sum.power / sum.modes, .modes = sum.modes};
    more = next_bin(bin->high, mesh, folds, bin);
  }
  return more;
}

struct power_bin *power_measure(const struct particles *s, size_t mesh, unsigned folds, size_t *count) {
  struct fourier_mesh even = fourier_mesh_create(mesh), odd = fourier_mesh_create(mesh);
  fftwf_plan plan = transform_plan(&even);
  size_t shells = mesh * mesh / 4 + 1;
  struct shell *shell = allocate(shells, sizeof *shell, "power spectrum");
  double reach = log(ldexp((double)mesh, (int)folds)) / log(BIN_RATIO);
  struct power_bin *bins = allocate((size_t)reach + 24, sizeof *bins,
                                    "power spectrum"); /* 1 / (BIN_RATIO - 1) linear bins */
  struct bin_edges bin = {0};
  bool more = next_bin(0.5, mesh, folds, &bin);
  *count = 0;
  while (more) {
    deposit(&even, s, bin.fold, false);
    deposit(&odd, s, bin.fold, true);
    fftwf_execute_dft_r2c(plan, even.data, (fftwf_complex *)even.data);
    fftwf_execute_dft_r2c(plan, odd.data, (fftwf_complex *)odd.data);
    memset(shell, 0, shells * sizeof *shell);
    add_to_shells(&even, &odd, (double)s->count, shell);
    more = bin_shells(shell, s->box * s->box * s->box, 2.0 * M_PI / s->box, mesh, folds, &bin, bins, count);
  }
  fftwf_destroy_plan(plan);
  fftwf_free(even.data);
  fftwf_free(odd.data);
  free(shell);
  return bins;
}

void power_write(const char *path, const struct power_bin *bins, size_t count, const struct particles *s, size_t mesh,
                 double a, const struct linear_power *linear, double growth_d1) {
  double shot = s->box * s->box * s->box / (double)s->count;
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  fprintf(file, "# matter power spectrum; shot noise Pshot is part of P; Nmodes counts k and -k once\n");
  fprintf(file, "# a = %.9g, z = %.9g, box = %.9g Mpc/h, mesh = %zu, N = %zu\n", a, 1.0 / a - 1.0, s->box, mesh,
          s->count);
  fprintf(file, "# k[h/Mpc] P[(Mpc/h)^3] Nmodes Pshot Plinear\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%.7e %.7e %.1f %.7e %.7e\n", bins[i].k, bins[i].power, bins[i].modes, shot,
            linear_power_at(linear, bins[i].k) * growth_d1 * growth_d1);
  output_close(file, path);
  output_commit(temporary, path);
}
