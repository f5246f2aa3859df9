/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/eta.h"

#include <math.h>

/* BASE and GROWTH were found by replays of recorded runs, with block and with adaptive steps, in
 * boxes of 12.5 to 100 Mpc/h, on CPUs and GPUs. Sums fade by a factor e over the share RECENT of
 * the steps so far, but not over less than RECENT_LEAST steps, since single steps take longer:
 * those with a rebuild or a sort. An output counts as UNKNOWN_OUTPUT steps until one is written. */
#define BASE 0.05
#define GROWTH 0.6
#define RECENT 0.05
#define RECENT_LEAST 5.0
#define UNKNOWN_OUTPUT 10.0
enum { STEPS_LEAST = 4, INTERVALS = 32 };

double eta_work(const struct cosmology *universe, double from, double to) {
  const double dlna = moment_interval(universe->isolated, from, to) / INTERVALS;
  double sum = 0.0;
  for (int i = 0; i < INTERVALS; i++) {
    const double a = moment_after(universe->isolated, from, (i + 0.5) * dlna);
    sum += BASE + pow(cosmology_hubble(universe, a) / HUBBLE_0, -GROWTH);
  }
  return sum * dlna;
}

void eta_step(struct eta *e, double work, double seconds, bool output) {
  if (!(work > 0.0) || !(seconds > 0.0)) return;
  if (output && e->steps > 0) seconds = fmin(seconds, e->seconds / e->work * work);
  e->steps++;
  e->step_seconds += seconds;
  const double fade = exp(-1.0 / fmax(RECENT * (double)e->steps, RECENT_LEAST));
  e->seconds = fade * e->seconds + seconds;
  e->work = fade * e->work + work;
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
