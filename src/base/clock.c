/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wall clock. */
#include "photons/base/clock.h"

#include <time.h>

static double start; /* written before main() only */

double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((constructor)) static void note_start(void) { start = wall_clock(); }

double wall_clock_of_program(void) { return wall_clock() - start; }
