/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "density_modes.h"

#include <math.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/exact_sums.h"
#include "photons/runtime/loop.h"
#include "power_mesh.h"

enum { KINDS_MOST = 8 }; /* sums of a bin */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static struct fft_mesh mesh_of(size_t n) {
  return (struct fft_mesh){.cells = {n, n, n}, .stage = &power_spectrum_stage};
}

double *density_modes_memory(const struct fft *f) {
  double *memory = fftw_malloc(fft_bytes(f));
  if (!memory)
    fail(EXIT_RUN_FAILED,
         "not enough memory for the statistics of the density on %zu^3 cells (%zu MiB): "
         "analysis.statistics_mesh makes the mesh coarser",
         f->size[0], fft_bytes(f) >> 20);
  memset(memory, 0, fft_bytes(f));
  return memory;
}

/* From the deposits to modes. */

struct combination {
  const struct power_mesh *mesh;
  const struct density_modes *modes;
};

/** 1/W of the window of PCS along all axes. */
static double deconvolve(const double k[3], size_t n) {
  double factor = 1.0;
  for (int c = 0; c < 3; c++) {
    const double angle = M_PI * k[c] / (double)n;
    if (angle != 0.0) factor *= pow(angle / sin(angle), 4.0);
  }
  return factor;
}

/** The mean of both meshes' mode, of which the second is shifted by half a cell. */
static void combine(const struct combination *c, const double k[3], const float *a, const float *b,
                    double *mode) {
  const size_t n = c->mesh->n;
  const double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  if (square == 0.0 || 4.0 * square >= (double)(n * n)) return;
  const double angle = M_PI * (k[0] + k[1] + k[2]) / (double)n, re = cos(angle), im = -sin(angle);
  const double factor = 0.5 * deconvolve(k, n) / c->mesh->mass;
  mode[0] = factor * ((double)a[0] + re * (double)b[0] - im * (double)b[1]);
  mode[1] = factor * ((double)a[1] + re * (double)b[1] + im * (double)b[0]);
}

static void combine_line(void *context, uint32_t line) {
  const struct combination *c = context;
  const struct fft_box *b = &c->modes->fft.modes;
  const size_t n = c->mesh->n;
  float *lines = fftwf_malloc(2 * FFT_LINES * n * sizeof(fftwf_complex));
  if (!lines) fail(EXIT_RUN_FAILED, "not enough memory for the statistics of the density");
  float *second = lines + 2 * FFT_LINES * n;
  for (size_t first = 0; first < b->count[2]; first += FFT_LINES) {
    const size_t count = smaller(FFT_LINES, b->count[2] - first);
    fft_lines(&c->mesh->fft, power_mesh_own(c->mesh, 0), line, first, count, lines);
    fft_lines(&c->mesh->fft, power_mesh_own(c->mesh, 1), line, first, count, second);
    for (size_t x = 0; x < n; x++)
      for (size_t i = 0; i < count; i++) {
        const double k[3] = {fft_frequency(x, n), fft_frequency(b->first[1] + line, n),
                             (double)(b->first[2] + first + i)};
        combine(c, k, lines + 2 * (x * FFT_LINES + i), second + 2 * (x * FFT_LINES + i),
                mode_at(c->modes->memory, fft_at(b, x, line, first + i)));
      }
  }
  fftwf_free(lines);
}

struct density_modes density_modes_create(const struct particles *s, size_t n,
                                          double redshift_space) {
  const struct fft_mesh cells = mesh_of(n);
  struct density_modes d = {.fft = fft_create(&cells), .box = s->box};
  struct power_mesh mesh = power_mesh_create(s, n);
  mesh.points.redshift_space = redshift_space;
  power_mesh_fill(&mesh, 0, mesh.n);
  d.memory = density_modes_memory(&d.fft);
  struct combination c = {&mesh, &d};
  loop_run(&power_spectrum_stage, (uint32_t)d.fft.modes.count[1], combine_line, &c);
  power_mesh_free(&mesh);
  return d;
}

void density_modes_free(struct density_modes *d) {
  fft_free(&d->fft);
  fftw_free(d->memory);
  d->memory = NULL;
}

double density_modes_bytes(size_t n) {
  const struct fft_mesh mesh = mesh_of(n);
  return fft_bytes_of_all(&mesh) / comm_size();
}

double density_modes_peak(size_t particles, size_t n) {
  return power_mesh_memory(particles, n) + density_modes_bytes(n);
}

/* Sums by bins. */

struct binning {
  const struct fft *fft;
  size_t kinds;
  bin_work *work;
  const void *context;
  const struct fft_box *box;
  struct exact_sums sums;
};

static void add_number(const struct binning *b, struct exact_sum *sums, size_t at,
                       const double k[3], double weight) {
  const size_t bin = (size_t)(sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) + 0.5);
  double term[KINDS_MOST] = {0};
  if (bin == 0 || bin >= mode_bins(b->fft->size[0])) return;
  b->work(b->context, at, k, weight, term);
  for (size_t i = 0; i < b->kinds; i++) exact_add(&sums[bin * b->kinds + i], term[i]);
}

/** Modes or values along axis 2, of a row (i, j) of what this rank has. */
typedef void bin_row(const struct binning *b, struct exact_sum *sums, size_t i, size_t j);

static void bin_modes(const struct binning *b, struct exact_sum *sums, size_t i, size_t j) {
  const struct fft_box *box = b->box;
  const size_t n = b->fft->size[0];
  for (size_t z = 0; z < box->count[2]; z++) {
    const size_t k2 = box->first[2] + z;
    const double k[3] = {fft_frequency(i, n), fft_frequency(box->first[1] + j, n), (double)k2};
    add_number(b, sums, fft_at(box, i, j, z), k, k2 == 0 ? 0.5 : 1.0);
  }
}

static void bin_values(const struct binning *b, struct exact_sum *sums, size_t i, size_t j) {
  const struct fft_box *box = b->box;
  const size_t n = b->fft->size[0];
  for (size_t z = 0; z < n; z++) {
    const double from[3] = {fft_frequency(box->first[0] + i, n),
                            fft_frequency(box->first[1] + j, n), fft_frequency(z, n)};
    add_number(b, sums, fft_at(box, i, j, z), from, 1.0);
  }
}

static void bin_rows(const struct binning *b, uint32_t part, bin_row *row) {
  const size_t rows = b->box->count[0] * b->box->count[1],
               end = block_first(rows, b->sums.parts, part + 1);
  for (size_t i = block_first(rows, b->sums.parts, part); i < end; i++)
    row(b, exact_sums_of(&b->sums, part), i / b->box->count[1], i % b->box->count[1]);
}

static void bin_modes_of_part(void *context, uint32_t part) { bin_rows(context, part, bin_modes); }
static void bin_values_of_part(void *context, uint32_t part) {
  bin_rows(context, part, bin_values);
}

static void bin_all(struct binning *b, void (*part)(void *context, uint32_t i), double *result) {
  b->sums = exact_sums_create(mode_bins(b->fft->size[0]) * b->kinds,
                              b->box->count[0] * b->box->count[1]);
  loop_run(&power_spectrum_stage, b->sums.parts, part, b);
  exact_sums_finish(&b->sums, result);
}

void modes_bin(const struct fft *f, size_t kinds, bin_work *work, const void *context,
               double *result) {
  struct binning b = {.fft = f, .kinds = kinds, .work = work, .context = context, .box = &f->modes};
  bin_all(&b, bin_modes_of_part, result);
}

void values_bin(const struct fft *f, size_t kinds, bin_work *work, const void *context,
                double *result) {
  struct binning b = {
      .fft = f, .kinds = kinds, .work = work, .context = context, .box = &f->values};
  bin_all(&b, bin_values_of_part, result);
}
