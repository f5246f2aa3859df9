/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas in an expanding universe, and particles on the mesh, on GPUs beside those on cores. */
#include <stdio.h>

#include "photons/config/choices.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/gas/gas.h"

enum { TEXT = 2000 };
/* As of self-gravity. Where the thermal energy is near its threshold, rounding decides in some cells
 * whether it or the entropy is kept. The two differ by the error of the scheme, and so do the pressures
 * that they give: in single precision runs drift apart, and are short. */
static const int steps[PRECISIONS] = {2, GAS_STEPS};
static const double bar[PRECISIONS] = {1e-4, 1e-10}, entropy_bar[PRECISIONS] = {1e-2, 1e-10};

void check_gas_cosmology(void) {
  static const char text[] =
      "[run]\nsystem = gas\n[cosmology]\nOmega_m = 0.3\nOmega_lambda = 0.7\n"
      "[gas]\ncomoving = yes\nregrid = 2\nbuffer = 2\nbatch = 5\ngravity = self\n"
      "precision = %s\n%s\n[time]\nz_end = 0\n";
  static const struct {
    const char *name, *more;
  } runs[] = {{"waves", "root = 32, 32, 32\nlevels = 1\nflag_density = 1.5\n[box]\nsize = 25\n"
                        "[ic]\nsource = generate\nz_init = 24\n"},
              {"gas and dark matter",
               "root = 32, 32, 32\nlevels = 1\nflag_particles = 1.6\n[box]\nsize = 25\n"
               "npart_side = 32\n[ic]\nsource = generate\nz_init = 24\n"},
              {"a pancake that crosses itself, with a floor of temperature",
               "root = 32, 16, 16\nlevels = 2\nflag_density = 2, 4\ntemperature_floor = "
               "1e5\n[box]\nsize = 64\n"
               "[ic]\nsource = pancake\nz_caustic = 1\nz_init = 1.2\ntemperature = 100\n"}};
  static const char masses[] =
      "[run]\nsystem = gas\n[ic]\nsource = point_masses\nseparation = 0.25\n[gas]\nsolver = none\n"
      "root = 32, 32, 32\nlevels = 2\nflag_density = 1000, 10000\nbuffer = 4\nbatch = 5\n"
      "gravity = self\nprecision = double\nx_low = outflow\n"
      "x_high = outflow\ny_low = outflow\ny_high = outflow\nz_low = outflow\nz_high = outflow\n"
      "[time]\nend = 1\n";
  puts("runs of gas in an expanding universe:");
  for (int precision = 0; precision < PRECISIONS; precision++)
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
      char given[TEXT], name[TEXT];
      snprintf(given, sizeof given, text, gas_precision_names[precision], runs[i].more);
      snprintf(name, sizeof name, "%s, %s precision", runs[i].name, gas_precision_names[precision]);
      compare_gas_runs(given, name, steps[precision], bar[precision], entropy_bar[precision]);
    }
  compare_gas_runs(masses, "two particles in empty space", GAS_STEPS, bar[GAS_DOUBLE],
                   bar[GAS_DOUBLE]);
}
