/* SPDX-License-Identifier: GPL-3.0-or-later */
/* force_error FILE [section.key=value ...]: force errors of the solver on a set with reference
 * accelerations. */
#include <stdio.h>

#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "support/force_set.h"

int main(int argc, char **argv) {
  if (argc < 2) fail(EXIT_BAD_USAGE, "usage: force_error FILE [section.key=value ...]");
  struct work_counts work;
  start_starpu_for_tests();
  struct force_set set = force_set_open(argv[1]);
  struct force_error e = force_set_error(&set, (const char *const *)argv + 2, (size_t)argc - 2,
                                         &work);
  const double n = (double)set.count;
  printf(
      "rms %.2e  median %.2e  99%% %.2e  momentum %.1e  pairs/particle %.0f  m2l/particle %.2f\n",
      e.rms, e.median, e.p99, e.momentum, (double)work.pairs / n, (double)work.interactions / n);
  force_set_close(&set);
  engine_stop();
  return 0;
}
