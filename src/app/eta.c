/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/eta.h"

#include <math.h>

/* The weight of a step is its length in ln a, and falls by a factor e over RECENT in ln a. The
 * slope d log(c) / d ln a of so short a past says little about the way ahead, as the cost rises most
 * while the first halos form: the slope is drawn towards USUAL, of recorded runs with adaptive and
 * with block steps. TRUST is the weight of USUAL, in units of RECENT^3, the sum of w x^2 over the
 * recent past but for a factor of order one. */
#define RECENT 0.2
#define USUAL 0.7
#define TRUST 20.0
#define SLOPE_LEAST (-1.0)
#define SLOPE_MOST 3.0
enum { STEPS_LEAST = 4 };

/** Let the origin of x, the present, go on by d. */
static void shift(struct eta *e, double d) {
  const double fade = exp(-d / RECENT);
  e->xx = fade * (e->xx - 2.0 * d * e->x + d * d * e->weight);
  e->x_log = fade * (e->x_log - d * e->log);
  e->x = fade * (e->x - d * e->weight);
  e->log *= fade;
  e->cost *= fade;
  e->weight *= fade;
}

void eta_step(struct eta *e, double dlna, double seconds) {
  if (!(dlna > 0.0) || !(seconds > 0.0)) return;
  shift(e, dlna);
  const double x = -0.5 * dlna, c = seconds / dlna, w = dlna;
  e->weight += w;
  e->x += w * x;
  e->xx += w * x * x;
  e->cost += w * c;
  e->log += w * log(c);
  e->x_log += w * x * log(c);
  e->steps++;
}

void eta_output(struct eta *e, double seconds) {
  e->output_seconds += seconds;
  e->outputs++;
}

static double slope(const struct eta *e) {
  const double prior = TRUST * RECENT * RECENT * RECENT;
  const double xx = e->xx - e->x * e->x / e->weight, x_log = e->x_log - e->x * e->log / e->weight;
  return fmin(fmax((x_log + prior * USUAL) / (xx + prior), SLOPE_LEAST), SLOPE_MOST);
}

double eta_seconds(const struct eta *e, double ahead, size_t outputs) {
  if (e->steps < STEPS_LEAST) return NAN;
  const double s = slope(e), middle = e->x / e->weight;
  const double now = e->cost / e->weight * exp(-s * middle); /* seconds per unit of ln a */
  const double x = fmax(ahead, 0.0);
  const double steps = now * (fabs(s) > 1e-6 ? expm1(s * x) / s : x);
  return steps + (e->outputs > 0 ? e->output_seconds / (double)e->outputs * (double)outputs : 0.0);
}
