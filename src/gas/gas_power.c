/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gas_power.h"

#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/io/provenance.h"
#include "photons/pm/particles.h"

enum { FOLDS = 2 }; /* P(k) of particles reaches 2^FOLDS times the Nyquist frequency of the cells */
enum { SIDE = GAS_GROUP_SIDE };

/** Put the densities of an own group of the root level onto a mesh [x][y][2 kz] of n^3 cells. */
static void place_group(const struct gas *g, uint32_t group, size_t n, double *mesh) {
  const uint32_t *place = g->topology.level[0].group[group].place;
  const void *cells = gas_cells(g, 0, group);
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
    size_t at[3];
    for (size_t c = 0; c < 3; c++)
      at[c] = SIDE * place[c] + GAS_PATCH_SIDE * (i / GAS_PATCH_CELLS >> c & 1) + (i >> 3 * c & 7);
    mesh[(at[0] * n + at[1]) * 2 * (n / 2 + 1) + at[2]] = g->kernels->real_size == sizeof(double)
                                                              ? ((const double *)cells)[i]
                                                              : (double)((const float *)cells)[i];
  }
}

/** The density on the root level, of all ranks; fftw_free() it. */
static double *gather_density(const struct gas *g, size_t n) {
  const size_t reals = n * n * 2 * (n / 2 + 1);
  double *mesh = fftw_alloc_real(reals);
  if (!mesh) fail(EXIT_RUN_FAILED, "not enough memory for the power spectrum of %zu^3 cells", n);
  for (size_t i = 0; i < reals; i++) mesh[i] = 0.0;
  const uint32_t end = gas_first_group(g, 0, comm_rank() + 1);
  for (uint32_t i = gas_first_group(g, 0, comm_rank()); i < end; i++) place_group(g, i, n, mesh);
  comm_sum_double(mesh, reals);
  return mesh;
}

/** Frequency i of n along an axis, in fundamental modes, and the window of a cell there. */
static double frequency(size_t i, size_t n) {
  return 2 * i <= n ? (double)i : (double)i - (double)n;
}
static double window(double frequency, size_t n) {
  const double angle = M_PI * frequency / (double)n;
  return angle == 0.0 ? 1.0 : sin(angle) / angle;
}

/** Add up the modes of a transform in bins as wide as the fundamental mode, those that are wholly
 * below the Nyquist frequency; k and P are sums. */
static void add_modes(const fftw_complex *mode, size_t n, struct power_bin *bin) {
  for (size_t x = 0; x < n; x++)
    for (size_t y = 0; y < n; y++)
      for (size_t z = 0; z <= n / 2; z++, mode++) {
        const double k[3] = {frequency(x, n), frequency(y, n), (double)z};
        const double size = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        const size_t number = (size_t)(size + 0.5);
        if (number == 0 || 2 * number >= n) continue;
        const double weight = z == 0 ? 0.5 : 1.0; /* the plane z = 0 holds both k and -k */
        const double cell = window(k[0], n) * window(k[1], n) * window(k[2], n);
        const double re = (*mode)[0] / cell, im = (*mode)[1] / cell;
        struct power_bin *b = &bin[number];
        b->modes += weight;
        b->k += weight * size;
        b->power += weight * (re * re + im * im);
      }
}

/** Bins of the root level's density. @return [count]; free() it */
static struct power_bin *measure_density(double *mesh, size_t n, double box, size_t *count) {
  const int side = (int)n;
  struct power_bin *bin = allocate(n, sizeof *bin, "power spectrum");
  fftw_plan plan = fftw_plan_dft_r2c_3d(side, side, side, mesh, (fftw_complex *)mesh,
                                        FFTW_ESTIMATE);
  if (!plan) fail(EXIT_RUN_FAILED, "FFTW cannot plan the transform of %zu^3 cells", n);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  const fftw_complex *mode = (const fftw_complex *)mesh;
  const double mass = mode[0][0]; /* the sum of all cells */
  add_modes(mode, n, bin);
  *count = 0;
  for (size_t i = 1; i < n; i++) {
    if (!(bin[i].modes > 0.0)) continue;
    const struct power_bin sum = bin[i];
    bin[(*count)++] = (struct power_bin){.k = 2.0 * M_PI / box * sum.k / sum.modes,
                                         .power = pow(box, 3.0) * sum.power / (sum.modes * mass) /
                                                  mass,
                                         .modes = sum.modes};
  }
  return bin;
}

/** What both files need. */
struct spectra {
  const struct gas *gas;
  const struct parameters *parameters;
  struct linear_power *linear; /* NULL: not known */
  bool regular;                /* the particles began on a grid; false: not known */
  size_t number, mesh;
};

static void write_bins(const struct spectra *w, const char *name, const struct power_bin *bins,
                       size_t count, const struct particles *s) {
  const struct provenance provenance = provenance_of(w->parameters);
  char path[PARAMETER_PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/powerspec_%s_%03zu.txt", w->parameters->output.dir, name,
           w->number);
  if (comm_rank() == 0)
    power_write(path, bins, count, s, (double)s->all, w->regular, w->mesh, w->gas->time, w->linear,
                &w->gas->universe, &provenance);
}

static void write_gas(const struct spectra *w) {
  size_t count;
  double *mesh = gather_density(w->gas, w->mesh);
  const struct particles none = {.box = w->parameters->box.size};
  struct power_bin *bins = measure_density(mesh, w->mesh, none.box, &count);
  write_bins(w, "gas", bins, count, &none);
  free(bins);
  fftw_free(mesh);
}

/** Whether all particles have the same mass. Collective. */
static bool have_one_mass(const struct gas *g) {
  uint32_t others = 0;
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t k = 0; k < g->particles->level[l].count; k++)
      others |= g->particles->level[l].particle[k].mass != g->lightest;
  comm_max_u32(&others, 1);
  return others == 0;
}

/** A position in a message. */
struct place {
  uint32_t x[3];
};

/** The positions of this rank's particles. */
static struct place *own_places(const struct gas *g, double box, size_t *count) {
  *count = 0;
  for (int l = 0; l < GAS_LEVELS_MAX; l++) *count += g->particles->level[l].count;
  struct place *place = allocate(*count, sizeof *place, "the power spectrum's particles"),
               *next = place;
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t k = 0; k < g->particles->level[l].count; k++, next++)
      for (size_t c = 0; c < 3; c++)
        next->x[c] = position_to_integer(g->particles->level[l].particle[k].position[c], box);
  return place;
}

/** Number of what two ranges have in common. */
static size_t common(size_t first, size_t end, size_t other_first, size_t other_end) {
  const size_t low = first > other_first ? first : other_first,
               high = end < other_end ? end : other_end;
  return low < high ? high - low : 0;
}

/** All particles, of which each rank gets an equal part. Collective. */
static struct particles share_particles(const struct gas *g, double box) {
  const size_t ranks = (size_t)comm_size();
  struct particles s = particles_create_share(g->particles->count, box, g->lightest);
  struct place *received = allocate(s.count, sizeof *received, "the power spectrum's particles");
  size_t own, *bytes_of = allocate(2 * ranks, sizeof *bytes_of, "message sizes");
  struct place *sent = own_places(g, box, &own);
  const size_t first = comm_sum_before(own);
  for (int r = 0; r < comm_size(); r++)
    bytes_of[r] = sizeof *sent *
                  common(first, first + own, comm_first(s.all, r), comm_first(s.all, r + 1));
  comm_exchange_sizes(bytes_of, bytes_of + ranks);
  comm_exchange(sent, bytes_of, received, bytes_of + ranks);
  for (size_t i = 0; i < s.count; i++)
    for (size_t c = 0; c < 3; c++) s.position[c * s.count + i] = received[i].x[c];
  free(bytes_of);
  free(received);
  free(sent);
  return s;
}

static void write_particles(const struct spectra *w) {
  if (!have_one_mass(w->gas)) return;
  struct particles s = share_particles(w->gas, w->parameters->box.size);
  size_t count;
  struct power_bin *bins = power_measure(&s, w->mesh, FOLDS, &count);
  write_bins(w, "particles", bins, count, &s);
  free(bins);
  particles_free(&s);
}

void gas_power_write(const struct gas *g, const struct parameters *p, size_t number) {
  const uint32_t *root = g->topology.root;
  if (root[0] != root[1] || root[0] != root[2]) return;
  struct spectra w = {.gas = g,
                      .parameters = p,
                      .regular = !*p->ic.particles, /* of a file */
                      .number = number,
                      .mesh = (size_t)p->gas.root[0]};
  if (p->ic.source == IC_GENERATE) w.linear = linear_power_create(p);
  if (!g->empty) write_gas(&w);
  if (g->particles) write_particles(&w);
  linear_power_free(w.linear);
}
