/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statistics of an output beside P(k): which are measured, and their files. */
#include "products_statistics.h"

#include <stdlib.h>

#include "photons/analysis/statistics.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/io/provenance.h"
#include "product_names.h"
#include "src/analysis/density_modes.h"

struct linear_theory products_linear(const struct products *o) {
  return linear_theory_at(o->a, o->linear, o->cosmology, o->species, o->parameters->ic.f_nl);
}

static struct product_name text_of(const struct products *o, const char *stem) {
  return product_name_of(o, stem, "txt");
}

static void write_multipoles(const struct products *o, const struct statistics_state *state) {
  size_t count;
  struct multipole_bin *bins = multipoles_measure(o->particles, &state->linear, state->mesh,
                                                  &count);
  if (comm_rank() == 0) multipoles_write(text_of(o, "multipoles").path, bins, count, state);
  free(bins);
}

static void write_correlation(const struct products *o, const struct density_modes *modes,
                              const struct statistics_state *state) {
  size_t count;
  struct correlation_bin *bins = correlation_measure(modes, &count);
  if (comm_rank() == 0) correlation_write(text_of(o, "correlation").path, bins, count, state);
  free(bins);
}

static void write_bispectrum(const struct products *o, const struct density_modes *modes,
                             const struct statistics_state *state) {
  size_t count;
  struct bispectrum_bin *bins = bispectrum_measure(modes, &count);
  if (comm_rank() == 0) bispectrum_write(text_of(o, "bispectrum").path, bins, count, state);
  free(bins);
}

static void write_halo_power(const struct products *o, const struct density_modes *modes,
                             const struct halo_catalogue *halos,
                             const struct statistics_state *state) {
  size_t count;
  struct halo_power_bin *bins = halo_power_measure(modes, halos, &count);
  const double bias = halo_mean_bias(halos, &state->linear);
  if (comm_rank() == 0)
    halo_power_write(text_of(o, "halopower").path, bins, count, halos->all, bias, state);
  free(bins);
}

/** Those of the density in real space, which have one mesh of modes. */
static void write_of_density(const struct products *o, const struct halo_catalogue *halos,
                             const struct statistics_state *state) {
  const struct parameters *p = o->parameters;
  if (!p->output.correlation && !p->output.bispectrum && !p->output.halo_power) return;
  struct density_modes modes = density_modes_create(o->particles, state->mesh, 0.0);
  if (p->output.correlation) write_correlation(o, &modes, state);
  if (p->output.bispectrum) write_bispectrum(o, &modes, state);
  if (p->output.halo_power && halos) write_halo_power(o, &modes, halos, state);
  density_modes_free(&modes);
}

void products_write_statistics(const struct products *o, const struct halo_catalogue *halos) {
  const struct parameters *p = o->parameters;
  if (!statistics_wanted(p) || o->particles->all == 0) return;
  const double start = wall_clock();
  const struct provenance provenance = provenance_of(p);
  const struct statistics_state state = {.box = o->particles->box,
                                         .mesh = statistics_mesh(p, o->mesh),
                                         .number = o->particles->all,
                                         .linear = products_linear(o),
                                         .provenance = &provenance};
  if (p->output.multipoles) write_multipoles(o, &state);
  write_of_density(o, halos, &state);
  say("statistics  %.2f s\n", wall_clock() - start);
}
