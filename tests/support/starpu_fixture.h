/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers, and StarPU as the set-up of a test; with force_set.c. */
#ifndef PHOTONS_TESTS_STARPU_FIXTURE_H
#define PHOTONS_TESTS_STARPU_FIXTURE_H

#include <stdint.h>

#include "photons/runtime/engine.h"
#include "support/force_set.h"

static uint64_t seed;
/** In [0, 1): the same numbers from the same seed. */
static inline double uniform(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(seed >> 11) * 0x1p-53;
}

static inline int start(void **state) {
  (void)state;
  start_starpu_for_tests();
  return 0;
}
static inline int stop(void **state) {
  (void)state;
  engine_stop();
  return 0;
}

#endif
