/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cuda_check gas-cosmology: gas in an expanding universe on GPUs beside that on cores. */
#include <stdio.h>

#include "photons/config/choices.h"
#include "tests/unit/cuda_check_gas.h"

enum { PRECISIONS = 2, TEXT = 2000 };
static const char *const precisions[PRECISIONS] = {
    [GAS_SINGLE] = "single", [GAS_DOUBLE] = "double"};
/* As of self-gravity. Where the thermal energy is near its threshold, rounding decides in some cells
 * whether it or the entropy is kept. The two differ by the error of the scheme. */
static const double bar[PRECISIONS] = {1e-5, 1e-10}, entropy_bar[PRECISIONS] = {1e-2, 1e-10};

int check_gas_cosmology(void) {
  static const char text[] =
      "[run]\nsystem = gas\n[cosmology]\nOmega_m = 0.3\nOmega_lambda = 0.7\n"
      "[gas]\ncomoving = yes\nregrid = 2\nbuffer = 2\nbatch = 5\ngravity = self\n"
      "precision = %s\n%s\n[time]\nz_end = 0\n";
  static const struct {
    const char *name, *more;
  } runs[] = {
      {"waves", "root = 32, 32, 32\nlevels = 1\nflag_density = 1.6\n[box]\nsize = 25\n"
                "[ic]\nsource = generate\nz_init = 24\n"},
      {"a pancake that crosses itself, with a floor of temperature",
       "root = 32, 16, 16\nlevels = 2\nflag_density = 2, 4\ntemperature_floor = 1e5\n[box]\nsize = 64\n"
       "[ic]\nsource = pancake\nz_caustic = 1\nz_init = 1.2\ntemperature = 100\n"}};
  int failures = 0;
  puts("runs of gas in an expanding universe:");
  for (int precision = 0; precision < PRECISIONS; precision++)
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
      char given[TEXT], name[TEXT];
      snprintf(given, sizeof given, text, precisions[precision], runs[i].more);
      snprintf(name, sizeof name, "%s, %s precision", runs[i].name, precisions[precision]);
      failures += compare_gas_runs(given, name, bar[precision], entropy_bar[precision]);
    }
  return failures;
}
