/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multipoles of the power spectrum in redshift space. The line of sight is the z axis. */
#include <math.h>
#include <stdlib.h>

#include "density_modes.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "statistics.h"

/** Sums of a bin of modes. */
enum { MODES, WAVE_NUMBER, POWER, THEORY = POWER + 3, KINDS = THEORY + 3 };

struct seen_waves {
  const struct density_modes *modes;
  /** P(k) of linear theory and its growth rate, by the square of the mode number. The waves of a bin differ in k, and few
   * waves have not all directions alike: theory is averaged over the same waves. */
  double *power, *rate;
};

/** Add the share of a wave in P0, P2 and P4. */
static void add_multipoles(double power, double mu2, double sums[3]) {
  sums[0] += power;
  sums[1] += 5.0 * power * (1.5 * mu2 - 0.5);
  sums[2] += 9.0 * power * ((4.375 * mu2 - 3.75) * mu2 + 0.375);
}

static void add_mode(const void *context, size_t at, const double k[3], double weight,
                     double *sums) {
  const struct seen_waves *w = context;
  const double *mode = mode_at(w->modes->memory, at);
  const double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], mu2 = k[2] * k[2] / square;
  const double kaiser = pow(1.0 + w->rate[(size_t)square] * mu2, 2.0);
  sums[MODES] += weight;
  sums[WAVE_NUMBER] += weight * sqrt(square);
  add_multipoles(weight * (mode[0] * mode[0] + mode[1] * mode[1]), mu2, sums + POWER);
  add_multipoles(weight * kaiser * w->power[(size_t)square], mu2, sums + THEORY);
}

static struct seen_waves seen_waves_create(const struct density_modes *modes,
                                           const struct linear_theory *linear) {
  const size_t half = modes->fft.size[0] / 2, squares = 3 * half * half + 1;
  struct seen_waves w = {.modes = modes};
  w.power = allocate(2 * squares, sizeof *w.power, "multipoles");
  w.rate = w.power + squares;
  for (size_t square = 1; square < squares; square++) {
    const double k = 2.0 * M_PI / modes->box * sqrt((double)square);
    w.power[square] = linear_theory_power(linear, k);
    w.rate[square] = linear_theory_rate(linear, k);
  }
  return w;
}

/** The momentum p = a^2 dx/dt adds p/(a^2 H) to the distance. */
static double redshift_space(const struct cosmology *c, double a, double box) {
  return 1.0 / (a * a * cosmology_hubble(c, a) * box);
}

struct multipole_bin *multipoles_measure(const struct particles *s,
                                         const struct linear_theory *linear, size_t mesh,
                                         size_t *count) {
  struct density_modes d = density_modes_create(
      s, mesh, redshift_space(linear->cosmology, linear->a, s->box));
  const size_t bins = mode_bins(mesh);
  double *sums = allocate(bins * KINDS, sizeof *sums, "multipoles");
  struct multipole_bin *result = allocate(bins, sizeof *result, "multipoles");
  struct seen_waves waves = seen_waves_create(&d, linear);
  modes_bin(&d.fft, KINDS, add_mode, &waves, sums);
  *count = 0;
  for (size_t i = 1; i < bins; i++) {
    const double *t = sums + i * KINDS, volume = pow(s->box, 3.0);
    struct multipole_bin *b = &result[(*count)++];
    b->modes = t[MODES];
    b->k = 2.0 * M_PI / s->box * t[WAVE_NUMBER] / t[MODES];
    for (int l = 0; l < 3; l++) {
      b->power[l] = volume * t[POWER + l] / t[MODES];
      b->theory[l] = t[THEORY + l] / t[MODES];
    }
  }
  free(waves.power);
  free(sums);
  density_modes_free(&d);
  return result;
}

void multipoles_write(const char *path, const struct multipole_bin *bins, size_t count,
                      const struct statistics_state *state) {
  struct output_text text;
  FILE *file = output_text_begin(&text);
  statistics_head(file,
                  "multipoles of the matter power spectrum in redshift space, seen along z, as "
                  "measured; Nmodes counts k and -k once",
                  state);
  fprintf(
      file,
      "# Kaiser: linear theory in redshift space (Kaiser 1987), averaged over the waves of each "
      "bin\n");
  fprintf(file, "# k[h/Mpc] P0[(Mpc/h)^3] P2[(Mpc/h)^3] P4[(Mpc/h)^3] Nmodes P0Kaiser P2Kaiser "
                "P4Kaiser\n");
  for (size_t i = 0; i < count; i++) {
    const double *p = bins[i].power, *kaiser = bins[i].theory;
    fprintf(file, "%.7e %.7e %.7e %.7e %.1f %.7e %.7e %.7e\n", bins[i].k, p[0], p[1], p[2],
            bins[i].modes, kaiser[0], kaiser[1], kaiser[2]);
  }
  output_text_save(&text, path);
}
