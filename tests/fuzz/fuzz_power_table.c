/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: tables of the power spectrum, as they are and scaled to sigma8. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "photons/cosmology/linear_power.h"

static void read_table(const char *path, bool normalise) {
  struct parameters p;
  parameters_default(&p);
  p.ic.power_spectrum = POWER_FILE;
  p.ic.normalise = normalise;
  snprintf(p.ic.power_spectrum_file, sizeof p.ic.power_spectrum_file, "%s", path);
  struct linear_power *power = linear_power_create(&p);
  for (double k = 1e-4; k < 1e3; k *= 1.7) {
    const double value = linear_power_at(power, k);
    fuzz_require(isfinite(value) && value >= 0.0, "a power spectrum that is not a finite number");
  }
  if (normalise) {
    const double sigma = linear_power_sigma(power, 8.0), wanted = p.cosmology.sigma8;
    /* The integral's own tolerance is 1e-8 of the variance. */
    fuzz_require(fabs(sigma / wanted - 1.0) < 1e-6, "the spectrum is not scaled to sigma8");
  }
  linear_power_free(power);
}

static void read_as_it_is(const char *path) { read_table(path, false); }
static void read_scaled(const char *path) { read_table(path, true); }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader as_it_is = {read_as_it_is, EXIT_BAD_INPUT, true, NULL};
  static const struct fuzz_reader scaled = {read_scaled, EXIT_BAD_INPUT, true, NULL};
  gsl_set_error_handler_off(); /* as main() does */
  fuzz_input(&as_it_is, bytes, size);
  fuzz_input(&scaled, bytes, size);
  return 0;
}
