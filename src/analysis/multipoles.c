/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multipoles of the power spectrum in redshift space. The line of sight is the z axis. */
#include <math.h>
#include <stdlib.h>

#include "density_modes.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/linear_statistics.h"
#include "statistics.h"

/** Sums of a bin of modes. */
enum { MODES, WAVE_NUMBER, POWER, KINDS = POWER + 3 };

static void add_mode(const void *context, size_t at, const double k[3], double weight,
                     double *sums) {
  const struct density_modes *d = context;
  const double *mode = mode_at(d->memory, at);
  const double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], mu2 = k[2] * k[2] / square;
  const double power = weight * (mode[0] * mode[0] + mode[1] * mode[1]);
  sums[MODES] += weight;
  sums[WAVE_NUMBER] += weight * sqrt(square);
  sums[POWER] += power;
  sums[POWER + 1] += 5.0 * power * (1.5 * mu2 - 0.5);
  sums[POWER + 2] += 9.0 * power * ((4.375 * mu2 - 3.75) * mu2 + 0.375);
}

/** The momentum p = a^2 dx/dt adds p/(a^2 H) to the distance. */
static double redshift_space(const struct cosmology *c, double a, double box) {
  return 1.0 / (a * a * cosmology_hubble(c, a) * box);
}

struct multipole_bin *multipoles_measure(const struct particles *s, const struct cosmology *c,
                                         double a, size_t mesh, size_t *count) {
  struct density_modes d = density_modes_create(s, mesh, redshift_space(c, a, s->box));
  const size_t bins = mode_bins(mesh);
  double *sums = allocate(bins * KINDS, sizeof *sums, "multipoles");
  struct multipole_bin *result = allocate(bins, sizeof *result, "multipoles");
  modes_bin(&d.fft, KINDS, add_mode, &d, sums);
  *count = 0;
  for (size_t i = 1; i < bins; i++) {
    const double *t = sums + i * KINDS, volume = pow(s->box, 3.0);
    struct multipole_bin *b = &result[(*count)++];
    b->modes = t[MODES];
    b->k = 2.0 * M_PI / s->box * t[WAVE_NUMBER] / t[MODES];
    for (int l = 0; l < 3; l++) b->power[l] = volume * t[POWER + l] / t[MODES];
  }
  free(sums);
  density_modes_free(&d);
  return result;
}

void multipoles_write(const char *path, const struct multipole_bin *bins, size_t count,
                      const struct statistics_state *state) {
  double kaiser[3];
  struct output_text text;
  FILE *file = output_text_begin(&text);
  kaiser_factors(cosmology_growth(state->cosmology, state->a).f1, kaiser);
  statistics_head(file,
                  "multipoles of the matter power spectrum in redshift space, seen along z, as "
                  "measured; Nmodes counts k and -k once",
                  state);
  fprintf(file, "# Kaiser: linear theory in redshift space (Kaiser 1987)\n");
  fprintf(file, "# k[h/Mpc] P0[(Mpc/h)^3] P2[(Mpc/h)^3] P4[(Mpc/h)^3] Nmodes P0Kaiser P2Kaiser "
                "P4Kaiser\n");
  for (size_t i = 0; i < count; i++) {
    const double linear = statistics_linear(state, bins[i].k), *p = bins[i].power;
    fprintf(file, "%.7e %.7e %.7e %.7e %.1f %.7e %.7e %.7e\n", bins[i].k, p[0], p[1], p[2],
            bins[i].modes, kaiser[0] * linear, kaiser[1] * linear, kaiser[2] * linear);
  }
  output_text_save(&text, path);
}
