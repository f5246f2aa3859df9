/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gas_power.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "particle_share.h"
#include "photons/amr/root_exchange.h"
#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/fft/fft.h"
#include "photons/io/provenance.h"
#include "photons/runtime/loop.h"

enum { FOLDS = 2 }; /* P(k) of particles reaches 2^FOLDS times the Nyquist frequency of the cells */
enum { SIDE = GAS_GROUP_SIDE };

LOOP_STAGE(gas_spectrum, 0x998855, .family = "gas", .untimed = true);

static struct fft_mesh mesh_of(const struct parameters *p) {
  const size_t n = (size_t)p->gas.root[0];
  return (struct fft_mesh){.cells = {n, n, n}, .stage = &gas_spectrum_stage};
}

/** The densities of an own group of the root level, [z][y][x]. */
static void give_density(void *context, uint32_t group, double *cube) {
  const struct gas *g = context;
  const void *cells = gas_cells(g, 0, group);
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
    size_t at[3];
    for (size_t c = 0; c < 3; c++)
      at[c] = GAS_PATCH_SIDE * (i / GAS_PATCH_CELLS >> c & 1) + (i >> 3 * c & 7);
    cube[(at[2] * SIDE + at[1]) * SIDE + at[0]] = g->scheme.kernels->real_size == sizeof(double)
                                                      ? ((const double *)cells)[i]
                                                      : (double)((const float *)cells)[i];
  }
}

/** This rank's planes of the density on the root level; fftw_free() it. */
static double *gather_density(const struct gas *g, const struct fft *f) {
  static const unsigned axis[3] = {2, 1, 0};
  double *memory = fftw_malloc(fft_bytes(f));
  if (!memory)
    fail(EXIT_RUN_FAILED, "not enough memory for the power spectrum of %zu^3 cells", f->size[0]);
  struct root_exchange *e = root_exchange_make(g, &f->mesh, axis, f->mesh.stage);
  root_exchange_to_mesh(e, give_density, (void *)g, memory);
  root_exchange_free(e);
  return memory;
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
  const struct linear_theory linear = linear_theory_at(
      w->gas->time, w->linear, &w->gas->universe.cosmology, NULL, w->parameters->ic.f_nl);
  char path[PARAMETER_PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/powerspec_%s_%03zu.txt", w->parameters->output.dir, name,
           w->number);
  if (comm_rank() == 0)
    power_write(path, bins, count, s, (double)s->all, w->regular, w->mesh, &linear, &provenance);
}

static void write_gas(const struct spectra *w) {
  size_t count;
  const struct fft_mesh mesh = mesh_of(w->parameters);
  const struct particles none = {.box = w->parameters->box.size};
  struct fft f = fft_create(&mesh);
  double *memory = gather_density(w->gas, &f);
  struct power_bin *bins = power_measure_cells(&f, memory, none.box, &count);
  write_bins(w, "gas", bins, count, &none);
  free(bins);
  fftw_free(memory);
  fft_free(&f);
}

static void write_particles(const struct spectra *w) {
  struct particles s = gas_particles_share(w->gas, w->parameters->box.size);
  size_t count;
  if (particles_have(&s, COLUMN_relative_mass)) {
    particles_free(&s);
    return;
  }
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
  if (!g->scheme.particles_alone) write_gas(&w);
  if (g->particles) write_particles(&w);
  linear_power_free(w.linear);
}

double gas_power_memory(const struct parameters *p, size_t particles) {
  const double *root = p->gas.root;
  if (!p->gas.comoving || !p->output.power_spectrum || root[0] != root[1] || root[0] != root[2])
    return 0.0;
  const struct fft_mesh mesh = mesh_of(p);
  const double gas = fft_bytes_of_all(&mesh) + fmax(fft_exchange_bytes_of_all(&mesh),
                                                    root_exchange_bytes_of_all(pow(root[0], 3.0)));
  return fmax(p->gas.solver == GAS_NONE ? 0.0 : gas,
              gas_particles_share_memory(particles,
                                         comm_size() * power_memory(p, particles, mesh.cells[0])));
}
