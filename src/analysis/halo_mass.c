/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Definitions of the mass of a halo. */
#include <math.h>

#include "photons/analysis/halo.h"
#include "photons/cosmology/cosmology.h"

static double critical_200(double omega_m) {
  (void)omega_m;
  return 200.0;
}

static double critical_500(double omega_m) {
  (void)omega_m;
  return 500.0;
}

static double mean_200(double omega_m) { return 200.0 * omega_m; }

/** The virialised spherical collapse in a flat universe with a cosmological constant (Bryan & Norman
 * 1998, ApJ 495, 80, eq. 6). */
static double top_hat(double omega_m) {
  const double x = omega_m - 1.0;
  return 18.0 * M_PI * M_PI + 82.0 * x - 39.0 * x * x;
}

const struct halo_mass_definition halo_mass_definitions[HALO_MASSES] = {
    [CRIT_200] = {"Crit200", critical_200},
    [MEAN_200] = {"Mean200", mean_200},
    [CRIT_500] = {"Crit500", critical_500},
    [TOP_HAT_200] = {"TopHat200", top_hat},
};

struct halo_background halo_background_at(const struct cosmology *c, double a) {
  struct halo_background b = {.a = a, .hubble = cosmology_hubble(c, a)};
  const double hubble = b.hubble / HUBBLE_0;
  for (int m = 0; m < HALO_MASSES; m++)
    b.density[m] = halo_mass_definitions[m].overdensity(cosmology_omega_m(c, a)) * RHO_CRITICAL *
                   hubble * hubble * a * a * a;
  return b;
}
