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
#include "photons/analysis_tasks.h"
#include "photons/error.h"
#include "photons/halofit.h"
#include "photons/linear_power.h"
#include "photons/output_file.h"

#define BIN_RATIO 1.05 /* of a bin's edges where bins are logarithmic */

#define LAST_SHARE 1.0   /* share of the mesh's Nyquist frequency up to which the last fold is used, */
#define FIRST_SHARE 0.75 /* and those before it */
enum { FOLD_STEP = 2, TILE = 16, CHUNKS = 64, COLOURS = 3 };

/** Four cells of a row at once. */
typedef float cells4 __attribute__((vector_size(16), aligned(4)));

/** Sums over modes of equal |k|^2 = n2 (units of the fold's fundamental mode). */
struct shell {
  double power; /* of |delta_k|^2, modes counted once for k and -k */
  double modes;
};

/** A folded position. */
struct point {
  uint32_t x[3];
};

/**
 * Two meshes of n^3 floats, the second displaced by half a cell; rows are padded for deposits across their end, planes by
 * one row, so that the strides of a power of two do not fall on the same cache lines. Particles are sorted into columns
 * (tiles) of TILE x TILE cells: what one tile touches stays in cache however the fold scatters neighbours, and tiles of one
 * colour touch no cell in common, so that they may be deposited at the same time and every sum has a fixed order.
 */
struct measurement {
  const struct particles *particles;
  size_t n, row, plane;
  float *mesh[2];
  fftwf_plan plane_plan, line_plan;
  unsigned fold;
  uint32_t tiles;      /* along x and along y */
  uint32_t chunks;     /* runs of blocks that are sorted by one task */
  size_t *offset;      /* [tile][chunk] in point, and the end */
  struct point *point; /* by tile */
  uint32_t colour;     /* x colour * COLOURS + y colour */
  uint32_t parts;      /* of the planes ky, one task each */
  struct shell *shell; /* [part][n^2/4 + 1] */
  float *phase;        /* exp(-i k h/2) of one axis: the displacement of the second mesh */
  float *deconvolve;   /* 1/W^2 of one axis */
  size_t *square;      /* k^2 of one axis */
};

struct bin_edges {
  double low, high; /* in fundamental modes of the box */
  unsigned fold;
};

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t shell_count(size_t n) { return n * n / 4 + 1; }

static void plan_transforms(struct measurement *m) {
  const int n = (int)m->n, size[2] = {n, n}, real[2] = {n, (int)m->row}, complex[2] = {n, (int)m->row / 2};
  m->plane_plan = fftwf_plan_many_dft_r2c(2, size, 1, m->mesh[0], real, 1, 0, (fftwf_complex *)m->mesh[0], complex, 1,
                                          0, FFTW_ESTIMATE);
  fftwf_complex *line = fftwf_alloc_complex(m->n);
  m->line_plan = line ? fftwf_plan_dft_1d(n, line, line, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED) : NULL;
  fftwf_free(line);
  if (!m->plane_plan || !m->line_plan)
    fail(EXIT_RUN_FAILED, "FFTW cannot plan the power spectrum's transform of %zu^3 cells", m->n);
}

static void fill_tables(struct measurement *m) {
  const size_t n = m->n;
  m->phase = allocate(2 * n, sizeof *m->phase, "power spectrum");
  m->deconvolve = allocate(n, sizeof *m->deconvolve, "power spectrum");
  m->square = allocate(n, sizeof *m->square, "power spectrum");
  for (size_t i = 0; i < n; i++) {
    double k = i <= n / 2 ? (double)i : (double)i - (double)n, angle = M_PI * k / (double)n;
    double sinc = i == 0 ? 1.0 : sin(angle) / angle;
    m->phase[2 * i] = (float)cos(angle);
    m->phase[2 * i + 1] = (float)-sin(angle);
    m->deconvolve[i] = (float)pow(sinc, -8.0);
    m->square[i] = (size_t)(k * k + 0.5);
  }
}

static struct measurement measurement_begin(const struct particles *s, size_t n) {
  struct measurement m = {.particles = s, .n = n, .row = (n + 6) & ~(size_t)3};
  m.plane = (n + 1) * m.row;
  for (int set = 0; set < 2; set++) {
    m.mesh[set] = fftwf_alloc_real(n * m.plane);
    if (!m.mesh[set])
      fail(EXIT_RUN_FAILED, "not enough memory for the power spectrum's mesh of %zu^3 cells (%zu MiB)", n,
           n * m.plane >> 18);
  }
  m.tiles = n < 2 * TILE ? 1 : (uint32_t)(n / TILE);
  m.chunks = s->blocks < CHUNKS ? (uint32_t)s->blocks : CHUNKS;
  m.parts = n < CHUNKS ? (uint32_t)n : CHUNKS;
  m.offset = allocate((size_t)m.tiles * m.tiles * m.chunks + 1, sizeof *m.offset, "power spectrum");
  m.point = allocate(s->count, sizeof *m.point, "the power spectrum's particles");
  m.shell = allocate(m.parts * shell_count(n), sizeof *m.shell, "power spectrum");
  plan_transforms(&m);
  fill_tables(&m);
  return m;
}

static void measurement_end(struct measurement *m) {
  fftwf_destroy_plan(m->plane_plan);
  fftwf_destroy_plan(m->line_plan);
  for (int set = 0; set < 2; set++) fftwf_free(m->mesh[set]);
  free(m->offset);
  free(m->point);
  free(m->shell);
  free(m->phase);
  free(m->deconvolve);
  free(m->square);
}

/* Sorting into tiles: counted, then moved, by runs of blocks. */

static inline size_t tile_of(const struct measurement *m, uint32_t x, uint32_t y) {
  return (((uint64_t)x * m->tiles) >> 32) * m->tiles + (((uint64_t)y * m->tiles) >> 32);
}

static void sort_chunk(struct measurement *m, uint32_t chunk, bool move) {
  const struct particles *s = m->particles;
  for (size_t g = block_first(s->blocks, m->chunks, chunk); g < block_first(s->blocks, m->chunks, chunk + 1); g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++) {
      const struct point p = {{b.x[0][i] << m->fold, b.x[1][i] << m->fold, b.x[2][i] << m->fold}};
      size_t *at = &m->offset[tile_of(m, p.x[0], p.x[1]) * m->chunks + chunk];
      if (move) m->point[*at] = p;
      ++*at;
    }
  }
}

static void count_chunk(void *context, uint32_t chunk) { sort_chunk(context, chunk, false); }
static void move_chunk(void *context, uint32_t chunk) { sort_chunk(context, chunk, true); }

/** On return offset[tile * chunks - 1] is the end of the tile before, 0 for the first. */
static void sort_points(struct measurement *m) {
  const size_t rows = (size_t)m->tiles * m->tiles * m->chunks;
  memset(m->offset, 0, (rows + 1) * sizeof *m->offset);
  analysis_for(ANALYSIS_POWER, m->chunks, count_chunk, m);
  for (size_t i = 0, sum = 0; i < rows; i++) {
    const size_t count = m->offset[i];
    m->offset[i] = sum;
    sum += count;
  }
  analysis_for(ANALYSIS_POWER, m->chunks, move_chunk, m); /* each offset moves on to the next one's begin */
}

/* Deposit. */

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

static inline void deposit_point(const struct measurement *m, float *mesh, uint64_t shift, const struct point *p) {
  float wx[4], wy[4], wz[4];
  size_t x = spline_weights(p->x[0], m->n, shift, wx);
  size_t y = spline_weights(p->x[1], m->n, shift, wy);
  size_t z = spline_weights(p->x[2], m->n, shift, wz);
  cells4 w = {wz[0], wz[1], wz[2], wz[3]};
  size_t row[4];
  for (size_t c = 0; c < 4; c++) row[c] = (y + c < m->n ? y + c : y + c - m->n) * m->row + z;
  for (size_t a = 0; a < 4; a++) {
    float *plane = mesh + (x + a < m->n ? x + a : x + a - m->n) * m->plane;
    for (size_t c = 0; c < 4; c++) {
      cells4 *cells = (cells4 *)(plane + row[c]);
      *cells += wx[a] * wy[c] * w;
    }
  }
}

/** Colour of a tile along one axis: neighbours differ, across the edge too. */
static uint32_t tile_colour(const struct measurement *m, uint32_t tile) {
  return tile + 1 == m->tiles && m->tiles % 2 ? 2 : tile % 2;
}

static void deposit_tile(void *context, uint32_t tile) {
  const struct measurement *m = context;
  if (tile_colour(m, tile / m->tiles) * COLOURS + tile_colour(m, tile % m->tiles) != m->colour) return;
  const size_t row = (size_t)tile * m->chunks;
  for (size_t i = row > 0 ? m->offset[row - 1] : 0; i < m->offset[row + m->chunks - 1]; i++) {
    deposit_point(m, m->mesh[0], 0, &m->point[i]);
    deposit_point(m, m->mesh[1], UINT64_C(1) << 31, &m->point[i]);
  }
}

/** Counts in cells less their mean: else the transform's rounding would be relative to the mean, not to the
 * fluctuations. */
static void clear_plane(void *context, uint32_t x) {
  const struct measurement *m = context;
  const float mean = (float)((double)m->particles->count / pow((double)m->n, 3.0));
  for (int set = 0; set < 2; set++)
    for (size_t y = 0; y < m->n; y++) {
      float *row = m->mesh[set] + x * m->plane + y * m->row;
      for (size_t z = 0; z < m->row; z++) row[z] = z < m->n ? -mean : 0.0f;
    }
}

static void transform_plane(void *context, uint32_t x) {
  const struct measurement *m = context;
  for (int set = 0; set < 2; set++) {
    float *plane = m->mesh[set] + x * m->plane;
    for (size_t y = 0; y < m->n; y++) {
      float *row = plane + y * m->row;
      for (size_t z = 0; z < 3; z++) row[z] += row[m->n + z];
    }
    fftwf_execute_dft_r2c(m->plane_plan, plane, (fftwf_complex *)plane);
  }
}

/* Modes. */

/** Add |delta_k|^2 of the modes (all kx, ky, kz), below the mesh's Nyquist frequency; a and b: their lines of the two
 * meshes. */
static void add_line(const struct measurement *m, size_t y, size_t z, const float *a, const float *b,
                     struct shell *shell) {
  const size_t rest = m->square[y] + m->square[z], limit = m->n * m->n; /* 4 n2 < n^2 */
  const float *p = m->phase;
  const float re = p[2 * y] * p[2 * z] - p[2 * y + 1] * p[2 * z + 1],
              im = p[2 * y] * p[2 * z + 1] + p[2 * y + 1] * p[2 * z];
  const double count = (double)m->particles->count,
               modes = z == 0 ? 0.5 : 1.0; /* the plane z = 0 holds both k and -k */
  const double weight = modes * (double)m->deconvolve[y] * (double)m->deconvolve[z] / (4.0 * count * count);
  for (size_t x = 0; x < m->n; x++) {
    if (4 * (rest + m->square[x]) >= limit) continue;
    const float c = re * p[2 * x] - im * p[2 * x + 1], d = re * p[2 * x + 1] + im * p[2 * x];
    const float u = a[2 * x] + c * b[2 * x] - d * b[2 * x + 1], v = a[2 * x + 1] + c * b[2 * x + 1] + d * b[2 * x];
    struct shell *t = shell + rest + m->square[x];
    t->power += weight * (double)(m->deconvolve[x] * (u * u + v * v));
    t->modes += modes;
  }
}

/** The transform along x, and the modes, of a part of the planes ky. */
static void measure_part(void *context, uint32_t part) {
  const struct measurement *m = context;
  enum { LINES = 16 };
  const size_t n = m->n, half = n / 2;
  struct shell *shell = m->shell + part * shell_count(n);
  memset(shell, 0, shell_count(n) * sizeof *shell);
  fftwf_complex *line = fftwf_alloc_complex(2 * LINES * n);
  if (!line) fail(EXIT_RUN_FAILED, "not enough memory for the power spectrum");
  for (size_t y = block_first(n, m->parts, part); y < block_first(n, m->parts, part + 1); y++)
    for (size_t first = 0; first <= half; first += LINES) {
      const size_t lines = smaller(half + 1 - first, LINES);
      if (4 * (m->square[y] + first * first) >= n * n) break;
      for (size_t set = 0; set < 2; set++) {
        for (size_t x = 0; x < n; x++) {
          const float *in = m->mesh[set] + x * m->plane + y * m->row + 2 * first;
          for (size_t i = 0; i < lines; i++) {
            float *out = line[(set * LINES + i) * n + x];
            out[0] = in[2 * i];
            out[1] = in[2 * i + 1];
          }
        }
        for (size_t i = 0; i < lines; i++)
          fftwf_execute_dft(m->line_plan, line + (set * LINES + i) * n, line + (set * LINES + i) * n);
      }
      for (size_t i = 0; i < lines; i++) add_line(m, y, first + i, line[i * n], line[(LINES + i) * n], shell);
    }
  fftwf_free(line);
}

/** All shells of one fold, in those of part 0. */
static void measure_fold(struct measurement *m, unsigned fold) {
  m->fold = fold;
  sort_points(m);
  const uint32_t planes = (uint32_t)m->n;
  analysis_for(ANALYSIS_POWER, planes, clear_plane, m);
  for (m->colour = 0; m->colour < COLOURS * COLOURS; m->colour++)
    if (m->tiles % 2 || (m->colour / COLOURS < 2 && m->colour % COLOURS < 2))
      analysis_for(ANALYSIS_POWER, m->tiles * m->tiles, deposit_tile, m);
  analysis_for(ANALYSIS_POWER, planes, transform_plane, m);
  analysis_for(ANALYSIS_POWER, m->parts, measure_part, m);
  for (uint32_t part = 1; part < m->parts; part++)
    for (size_t i = 0; i < shell_count(m->n); i++) {
      m->shell[i].power += m->shell[part * shell_count(m->n) + i].power;
      m->shell[i].modes += m->shell[part * shell_count(m->n) + i].modes;
    }
}

/**
 * The next bin from @p low upwards: one mode of the fold wide, or BIN_RATIO.
 * @return false if it would end beyond what the last fold measures
 */
static bool next_bin(double low, size_t mesh, unsigned folds, struct bin_edges *bin) {
  for (unsigned fold = bin->fold;; fold = fold + FOLD_STEP < folds ? fold + FOLD_STEP : folds) {
    const double share = fold < folds ? FIRST_SHARE : LAST_SHARE, nyquist = ldexp((double)mesh / 2.0, (int)fold);
    *bin = (struct bin_edges){.low = low, .high = fmax(low + ldexp(1.0, (int)fold), low * BIN_RATIO), .fold = fold};
    if (bin->high <= share * nyquist) return true;
    if (fold == folds) return false;
  }
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
  struct measurement m = measurement_begin(s, mesh);
  double reach = log(ldexp((double)mesh, (int)folds)) / log(BIN_RATIO);
  struct power_bin *bins = allocate((size_t)reach + 24, sizeof *bins,
                                    "power spectrum"); /* 1 / (BIN_RATIO - 1) linear bins */
  struct bin_edges bin = {0};
  bool more = next_bin(0.5, mesh, folds, &bin);
  *count = 0;
  while (more) {
    measure_fold(&m, bin.fold);
    more = bin_shells(m.shell, s->box * s->box * s->box, 2.0 * M_PI / s->box, mesh, folds, &bin, bins, count);
  }
  measurement_end(&m);
  return bins;
}

void power_write(const char *path, const struct power_bin *bins, size_t count, const struct particles *s, size_t mesh,
                 double a, const struct linear_power *linear, const struct cosmology *cosmology) {
  double shot = s->box * s->box * s->box / (double)s->count;
  const struct growth growth = cosmology_growth(cosmology, a);
  struct halofit fit = {0};
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  fprintf(file, "# matter power spectrum; shot noise Pshot is part of P; Nmodes counts k and -k once\n");
  fprintf(file, "# a = %.9g, z = %.9g, box = %.9g Mpc/h, mesh = %zu, N = %zu\n", a, 1.0 / a - 1.0, s->box, mesh,
          s->count);
  fprintf(file, "# D1 = %.7f, dlnD1/dlna = %.7f", growth.d1, growth.f1);
  if (linear) {
    fit = halofit_create(linear, cosmology, a);
    fprintf(file, ", sigma8(z) = %.7f, k_nonlinear = %.5g h/Mpc", growth.d1 * linear_power_sigma(linear, 8.0),
            fit.k_sigma);
  }
  fprintf(file, "\n# k[h/Mpc] P[(Mpc/h)^3] Nmodes Pshot Plinear Phalofit\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%.7e %.7e %.1f %.7e %.7e %.7e\n", bins[i].k, bins[i].power, bins[i].modes, shot,
            linear ? linear_power_at(linear, bins[i].k) * growth.d1 * growth.d1 : 0.0,
            linear ? halofit_power(&fit, bins[i].k) : 0.0);
  output_close(file, path);
  output_commit(temporary, path);
}
