/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/eta.h"

#include <math.h>

/* BASE and GROWTH were found by replays of recorded runs, with block and with adaptive steps, in
 * boxes of 12.5 to 100 Mpc/h, on CPUs and GPUs. RECENT is the share of the time so far over which
 * sums fade by a factor e. An output counts as UNKNOWN_OUTPUT steps until one is written. */
#define BASE 0.05
#define GROWTH 0.65
#define RECENT 0.1
#define UNKNOWN_OUTPUT 10.0
enum { STEPS_LEAST = 4, INTERVALS = 32 };

double eta_work(const struct cosmology *universe, double from, double to) {
  const double dlna = log(to / from) / INTERVALS;
  double sum = 0.0;
  for (int i = 0; i < INTERVALS; i++) {
    const double a = from * exp((i + 0.5) * dlna);
    sum += BASE + pow(cosmology_hubble(universe, a) / HUBBLE_0, -GROWTH);
  }
  return sum * dlna;
}

void eta_step(struct eta *e, double work, double seconds) {
  if (!(work > 0.0) || !(seconds > 0.0)) return;
  e->step_seconds += seconds;
  const double fade = exp(-seconds / (RECENT * e->step_seconds));
  e->seconds = fade * e->seconds + seconds;
  e->work = fade * e->work + work;
  e->steps++;
}

void eta_output(struct eta *e, double seconds) {
  e->output_seconds += seconds;
  e->outputs++;
}

static double seconds_per_output(const struct eta *e) {
  if (e->outputs > 0) return e->output_seconds / (double)e->outputs;
  return UNKNOWN_OUTPUT * e->step_seconds / (double)e->steps;
}

double eta_seconds(const struct eta *e, double work, size_t outputs) {
  if (e->steps < STEPS_LEAST) return NAN;
  return e->seconds / e->work * fmax(work, 0.0) + seconds_per_output(e) * (double)outputs;
}
