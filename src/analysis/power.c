/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power spectrum of the particles: P(k) = V <|sum_j m_j exp(-i k x_j) / sum_j m_j|^2>, as measured.
 *
 * Fold f maps all particles into a box 2^f times smaller by taking positions modulo L/2^f. Wave
 * vectors that are multiples of 2^f 2 pi/L keep their sums, so that the same mesh reaches 2^f times
 * larger k (Jenkins et al. 1998, ApJ 499, 20). Two meshes, one shifted by half a cell, are averaged
 * in Fourier space, which removes the odd images of the spectrum (Sefusatti et al. 2016, MNRAS 460,
 * 3624). */
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/halofit.h"
#include "photons/cosmology/linear_sigma.h"
#include "photons/io/provenance.h"
#include "photons/mesh/mesh.h"
#include "photons/runtime/loop.h"
#include "power_mesh.h"

#define BIN_RATIO 1.05 /* ratio of a bin's edges where bins are logarithmic */

#define LAST_SHARE \
  1.0                    /* fraction of the mesh's Nyquist frequency up to which the last fold is
                            used, */
#define FIRST_SHARE 0.75 /* and up to which the other folds are used */
enum { FOLD_STEP = 2, PARTS = 32 };

struct measurement {
  struct power_mesh mesh;
  uint32_t parts;            /* parts of this rank's ky, one task each */
  struct power_shell *shell; /* [part][power_shells_of(n)] */
  size_t shells;             /* of k^2 < shells, which are measured */
  size_t width;              /* all of these have k_z < width */
  float *phase;              /* exp(-i k h/2) of one axis: the shift of the second mesh */
  float *deconvolve;         /* 1/W^2 of one axis, behind the phases */
  size_t *square;            /* k^2 of one axis */
};

struct bin_edges {
  double low, high; /* in fundamental modes of the box */
  unsigned fold;
};

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static uint32_t part_count(size_t planes) {
  return (uint32_t)(planes < 1 ? 1 : smaller(planes, PARTS));
}

static void fill_tables(struct measurement *m) {
  const size_t n = m->mesh.n;
  m->phase = allocate(3 * n, sizeof *m->phase, "power spectrum");
  m->deconvolve = m->phase + 2 * n;
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
  struct measurement m = {.mesh = power_mesh_create(s, n)};
  m.parts = part_count(m.mesh.fft.modes.count[1]);
  m.shell = allocate(m.parts * power_shells_of(n), sizeof *m.shell, "power spectrum");
  fill_tables(&m);
  return m;
}

static void measurement_end(struct measurement *m) {
  power_mesh_free(&m->mesh);
  free(m->shell);
  free(m->phase);
  free(m->square);
}

struct power_range power_range_of(const struct parameters *p, size_t particles, size_t mesh) {
  if (p->time.step != STEP_PM) return (struct power_range){.mesh = mesh, .folds = 2};
  const size_t lattice = mesh_good_size((uint32_t)lround(cbrt((double)particles)));
  return (struct power_range){.mesh = smaller(mesh, lattice), .folds = 0};
}

double power_memory(const struct parameters *p, size_t particles, size_t mesh) {
  const size_t planes = comm_first(mesh, 1);
  if (!p->output.power_spectrum) return 0.0;
  return power_mesh_memory(particles, mesh) +
         (double)part_count(planes) * (double)power_shells_of(mesh) * sizeof(struct power_shell);
}

/* Modes. */

/** Two complex numbers. */
typedef float complex2 __attribute__((vector_size(16)));

/** Factors of complex numbers: c z = re z + im swapped(z). */
struct factors {
  complex2 re, im;
};
static inline complex2 times(const struct factors *c, complex2 z) {
  return c->re * z + c->im * __builtin_shufflevector(z, z, 1, 0, 3, 2);
}

/** Neighbouring lines of modes along x. */
struct line_batch {
  size_t y, z, count;
  const complex2 *plain, *shifted;     /* [x][line] in the mesh and in the shifted mesh */
  struct factors phase[FFT_LINES / 2]; /* of y and z, of two lines each */
  double modes[FFT_LINES];             /* that a number stands for: the plane z = 0 has k and -k */
  double weight[FFT_LINES];            /* of |delta_k|^2 */
};

static void make_factors(const struct measurement *m, struct line_batch *l) {
  const float *p = m->phase + 2 * l->y;
  for (size_t i = 0; i < l->count; i++) {
    const float *q = m->phase + 2 * (l->z + i), re = p[0] * q[0] - p[1] * q[1],
                im = p[0] * q[1] + p[1] * q[0];
    struct factors *f = &l->phase[i / 2];
    const size_t at = 2 * (i % 2);
    f->re[at] = f->re[at + 1] = re;
    f->im[at] = -im;
    f->im[at + 1] = im;
    l->modes[i] = l->z + i == 0 ? 0.5 : 1.0;
    l->weight[i] = l->modes[i] * (double)m->deconvolve[l->y] * (double)m->deconvolve[l->z + i] /
                   (4.0 * m->mesh.mass * m->mesh.mass);
  }
}

/** Squares of the real and imaginary parts of both meshes' modes of some x, together. */
static inline void add_squares(const struct measurement *m, const struct line_batch *l, size_t x,
                               size_t lines, complex2 *squares) {
  const float re = m->phase[2 * x], im = m->phase[2 * x + 1];
  const struct factors phase = {{re, re, re, re}, {-im, im, -im, im}};
  const complex2 *a = l->plain + x * FFT_LINES / 2, *b = l->shifted + x * FFT_LINES / 2;
  for (size_t i = 0; 2 * i < lines; i++) {
    const complex2 sum = a[i] + times(&l->phase[i], times(&phase, b[i]));
    squares[i] += sum * sum;
  }
}

/** Add |delta_k|^2 of the modes (all kx, ky, kz) of the shells that are measured. */
static void add_lines(const struct measurement *m, const struct line_batch *l,
                      struct power_shell *shell) {
  const size_t n = m->mesh.n, *square = m->square + l->z;
  size_t lines = l->count;
  for (size_t x = 0; 2 * x < n && lines > 0; x++) {
    const size_t rest = m->square[x] + m->square[l->y];
    while (lines > 0 && rest + square[lines - 1] >= m->shells) lines--;
    complex2 squares[FFT_LINES / 2] = {{0}};
    add_squares(m, l, x, lines, squares);
    if (x > 0) add_squares(m, l, n - x, lines, squares);
    const double pair = x > 0 ? 2.0 : 1.0, deconvolve = (double)m->deconvolve[x];
    for (size_t i = 0; i < lines; i++) {
      const float *parts = (const float *)&squares[i / 2] + 2 * (i % 2);
      struct power_shell *t = shell + rest + square[i];
      t->power += l->weight[i] * deconvolve * (double)(parts[0] + parts[1]);
      t->modes += pair * l->modes[i];
    }
  }
}

/** Transform a part of this rank's lines along x and sum up the modes. */
static void measure_part(void *context, uint32_t part) {
  const struct measurement *m = context;
  const struct power_mesh *mesh = &m->mesh;
  const struct fft_box *b = &mesh->fft.modes;
  const size_t n = mesh->n;
  struct power_shell *shell = m->shell + part * power_shells_of(n);
  memset(shell, 0, m->shells * sizeof *shell);
  fftwf_complex *line = fftwf_alloc_complex(2 * FFT_LINES * n);
  if (!line) fail(EXIT_RUN_FAILED, "not enough memory for the power spectrum");
  const size_t end = block_first(b->count[1], m->parts, part + 1),
               last = smaller(b->first[2] + b->count[2], m->width);
  for (size_t k1 = block_first(b->count[1], m->parts, part); k1 < end; k1++)
    for (size_t k2 = 0; b->first[2] + k2 < last; k2 += FFT_LINES) {
      const size_t y = b->first[1] + k1, z = b->first[2] + k2, lines = smaller(last - z, FFT_LINES);
      if (m->square[y] + z * z >= m->shells) break;
      for (size_t set = 0; set < 2; set++)
        fft_lines(&mesh->fft, power_mesh_own(mesh, set), k1, k2, lines, line + set * FFT_LINES * n);
      struct line_batch batch = {.y = y,
                                 .z = z,
                                 .count = lines,
                                 .plain = (const complex2 *)(void *)line,
                                 .shifted = (const complex2 *)(void *)(line + FFT_LINES * n)};
      make_factors(m, &batch);
      add_lines(m, &batch, shell);
    }
  fftwf_free(line);
}

/** The part of the mesh's Nyquist frequency up to which a fold is used. */
static double share_of(unsigned fold, unsigned folds) {
  return fold < folds ? FIRST_SHARE : LAST_SHARE;
}

/** Measure the shells of one fold that are used, summed over all ranks, in the shells of part 0. */
static void measure_fold(struct measurement *m, unsigned fold, unsigned folds) {
  const double most = share_of(fold, folds) * (double)m->mesh.n / 2.0;
  if (m->mesh.on_gpu) {
    power_mesh_sum(&m->mesh, fold, m->phase, m->shell);
    return;
  }
  m->shells = (size_t)ceil(most * most);
  m->width = (size_t)ceil(most);
  power_mesh_fill(&m->mesh, fold, m->width);
  loop_run(&power_spectrum_stage, m->parts, measure_part, m);
  for (uint32_t part = 1; part < m->parts; part++) {
    const struct power_shell *shell = m->shell + part * power_shells_of(m->mesh.n);
    for (size_t i = 0; i < m->shells; i++) {
      m->shell[i].power += shell[i].power;
      m->shell[i].modes += shell[i].modes;
    }
  }
  comm_sum_double(&m->shell->power, m->shells * (sizeof *m->shell / sizeof(double)));
}

/**
 * The next bin from @p low upwards: one mode of the fold wide, or with edges in the ratio
 * BIN_RATIO.
 * @return false if the bin would end beyond what the last fold measures
 */
static bool next_bin(double low, size_t mesh, unsigned folds, struct bin_edges *bin) {
  for (unsigned fold = bin->fold;; fold = fold + FOLD_STEP < folds ? fold + FOLD_STEP : folds) {
    const double nyquist = ldexp((double)mesh / 2.0, (int)fold);
    *bin = (struct bin_edges){
        .low = low, .high = fmax(low + ldexp(1.0, (int)fold), low * BIN_RATIO), .fold = fold};
    if (bin->high <= share_of(fold, folds) * nyquist) return true;
    if (fold == folds) return false;
  }
}

/** Append the bins of fold @p bin->fold. On return @p bin is the first bin of the next fold.
 * @return whether there is one */
static bool bin_shells(const struct power_shell *shell, double volume, double fundamental,
                       size_t mesh, unsigned folds, struct bin_edges *bin, struct power_bin *bins,
                       size_t *count) {
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
      bins[(*count)++] = (struct power_bin){
          .k = sum.k / sum.modes, .power = sum.power / sum.modes, .modes = sum.modes};
    more = next_bin(bin->high, mesh, folds, bin);
  }
  return more;
}

struct power_bin *power_measure(const struct particles *s, size_t mesh, unsigned folds,
                                size_t *count) {
  struct measurement m = measurement_begin(s, mesh);
  double reach = log(ldexp((double)mesh, (int)folds)) / log(BIN_RATIO);
  struct power_bin *bins = allocate((size_t)reach + 24, sizeof *bins,
                                    "power spectrum"); /* 1 / (BIN_RATIO - 1) linear bins */
  struct bin_edges bin = {0};
  bool more = next_bin(0.5, mesh, folds, &bin);
  *count = 0;
  while (more) {
    measure_fold(&m, bin.fold, folds);
    more = bin_shells(m.shell, s->box * s->box * s->box, 2.0 * M_PI / s->box, mesh, folds, &bin,
                      bins, count);
  }
  measurement_end(&m);
  return bins;
}

/** The lines about the shot noise of a random sample. In the sum over pairs of displaced points of a
 * grid or a glass, other points cancel the V/N of a point with itself (Gabrielli 2004, Phys. Rev. E
 * 70, 066131), but at k where neighbours have moved apart by 1/k. These are beyond the points'
 * Nyquist wave number as long as P is resolved. */
static void noise_print(FILE *file, const struct particles *s, double effective, bool regular) {
  if (s->all == 0) {
    fprintf(file, "# no particles: no shot noise\n");
  } else if (effective < (double)s->all) {
    fprintf(
        file,
        "# P is that of mass. Pshot = V/N_effective is part of P where particles of these masses "
        "are a random sample, N_effective = (sum of m)^2 / sum of m^2. Particles that began on a "
        "grid or a glass have none below their Nyquist wave number\n"
        "# N_effective = %.9g\n",
        effective);
  } else if (regular) {
    fprintf(
        file,
        "# Pshot = V/N is the shot noise of a random sample. These particles began on a grid or "
        "a glass: P has no shot noise below k_noise, their Nyquist wave number\n"
        "# k_noise = %.7g h/Mpc\n",
        M_PI * cbrt((double)s->all) / s->box);
  } else {
    fprintf(file,
            "# Pshot = V/N is part of P where the particles are a random sample. Particles that "
            "began on a grid or a glass have none below their Nyquist wave number\n");
  }
}

double power_effective_number(const struct particles *s) {
  double sum[2] = {0}; /* of m, of m^2 */
  if (!particles_have(s, COLUMN_relative_mass)) return (double)s->all;
  for (size_t i = 0; i < s->count; i++) {
    const double m = (double)s->relative_mass[i];
    sum[0] += m;
    sum[1] += m * m;
  }
  comm_sum_double(sum, 2);
  return sum[0] * sum[0] / sum[1];
}

void power_write(const char *path, const struct power_bin *bins, size_t count,
                 const struct particles *s, double effective, bool regular, size_t mesh,
                 const struct linear_theory *linear, const struct provenance *provenance) {
  const double shot = s->all > 0 ? s->box * s->box * s->box / effective : 0.0;
  const struct growth growth = linear_theory_mean_growth(linear);
  struct halofit fit = {0};
  struct output_text text;
  FILE *file = output_text_begin(&text);
  fprintf(
      file,
      "# matter power spectrum as measured, nothing is subtracted; Nmodes counts k and -k once\n");
  if (provenance) provenance_print(file, provenance);
  fprintf(file, "# a = %.9g, z = %.9g, box = %.9g Mpc/h, mesh = %zu, N = %zu\n", linear->a,
          1.0 / linear->a - 1.0, s->box, mesh, s->all);
  fprintf(file, "# D1 = %.7f, dlnD1/dlna = %.7f", growth.d1, growth.f1);
  if (linear->power) {
    fit = halofit_create(linear);
    fprintf(file, ", sigma8(z) = %.7f, k_nonlinear = %.5g h/Mpc", linear_theory_sigma(linear, 8.0),
            fit.k_sigma);
  }
  fprintf(file, "\n");
  noise_print(file, s, effective, regular);
  fprintf(file, "# k[h/Mpc] P[(Mpc/h)^3] Nmodes Pshot Plinear Phalofit\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%.7e %.7e %.1f %.7e %.7e %.7e\n", bins[i].k, bins[i].power, bins[i].modes, shot,
            linear_theory_power(linear, bins[i].k),
            linear->power ? halofit_power(&fit, bins[i].k) : 0.0);
  output_text_save(&text, path);
}
