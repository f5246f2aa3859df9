/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clocks. */
#include "photons/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static double start; /* written before main() only */

double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((constructor)) static void note_start(void) { start = wall_clock(); }

double wall_clock_of_program(void) { return wall_clock() - start; }
void clock_date(char text[CLOCK_DATE_SIZE]) {
  const time_t now = time(NULL);
  struct tm parts = {0};
  gmtime_r(&now, &parts);
  strftime(text, CLOCK_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

void clock_duration(char text[CLOCK_DURATION_SIZE], double seconds) {
  const long t = lround(fmin(seconds, 1e15)); /* what has room in the text */
  if (seconds < 59.95)
    snprintf(text, CLOCK_DURATION_SIZE, "%.1f s", seconds);
  else if (t < 3600)
    snprintf(text, CLOCK_DURATION_SIZE, "%ld:%02ld", t / 60, t % 60);
  else
    snprintf(text, CLOCK_DURATION_SIZE, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
}
