/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: lists of output times, output.times_file. */
#include <math.h>
#include <stdio.h>

#include "harness.h"

static void read_times(const char *path) {
  struct parameters p;
  char times[600];
  const char *const settings[] = {"box.size=50", "box.npart_side=16", "ic.z_init=49", times};
  snprintf(times, sizeof times, "output.times_file=%s", path);
  parameters_read(&p, NULL, settings, sizeof settings / sizeof *settings);
  fuzz_require(p.output.redshift_count > 0, "no output times");
  for (size_t i = 0; i < p.output.redshift_count; i++) {
    const double z = p.output.redshifts[i];
    fuzz_require(isfinite(z) && z <= p.ic.z_init, "an output time is not in the run");
    fuzz_require(i == 0 || z < p.output.redshifts[i - 1], "output times are not in order");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader times = {read_times, EXIT_BAD_USAGE, true, NULL};
  fuzz_input(&times, bytes, size);
  return 0;
}
