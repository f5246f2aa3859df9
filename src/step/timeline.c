/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of steps and the times of outputs. */
#include "photons/step/timeline.h"

#include <math.h>

#define SAME 1e-12 /* relative difference below which two scale factors are equal */
#define NEAR 1e-6  /* the same where one is a file's redshift, or a step would be very short */

void timeline_init(struct timeline *t, const struct parameters *p, double begin, double now,
                   double written) {
  const bool isolated = p->box.boundary == BOUNDARY_ISOLATED;
  *t = (struct timeline){.begin = begin,
                         .end = isolated ? cosmology_clock_at(p->time.end)
                                         : 1.0 / (1.0 + p->time.z_end)};
  const size_t outputs = isolated ? p->output.time_count : p->output.redshift_count;
  for (size_t i = 0; i < outputs; i++) {
    const double a = isolated ? cosmology_clock_at(p->output.times[i])
                              : 1.0 / (1.0 + p->output.redshifts[i]);
    if (a >= now * (1.0 - NEAR) && a > written * (1.0 + SAME)) t->output[t->outputs++] = a;
  }
}

size_t timeline_outputs_until(const struct timeline *t, double a) {
  size_t n = 0;
  while (n < t->outputs && t->output[n] <= a * (1.0 + SAME)) n++;
  return n;
}

double timeline_longest(const struct parameters *p) {
  if (p->box.boundary == BOUNDARY_PERIODIC) return p->time.max_dlna;
  return log(cosmology_clock_at(p->time.max_step));
}

/** dt^2 |acceleration| over the softening length. */
static double eta_squared(const struct parameters *p) {
  return p->time.criterion == CRITERION_GOTHIC ? p->time.gothic_eta * p->time.gothic_eta
                                               : 2.0 * p->time.eta;
}

double timeline_adaptive_dlna(const struct parameters *p, const struct cosmology *c, double a,
                              double acc_max, double softening) {
  const double dlna = timeline_longest(p), scale = cosmology_scale(c, a);
  if (!(acc_max > 0.0)) return dlna;
  return fmin(dlna, cosmology_hubble(c, a) *
                        sqrt(eta_squared(p) * softening * scale * scale * scale / acc_max));
}

double timeline_adaptive_limit(const struct parameters *p, const struct cosmology *c, double a,
                               double dlna) {
  const double per_hubble = dlna / cosmology_hubble(c, a), scale = cosmology_scale(c, a);
  return eta_squared(p) * softening_at(p, a) * scale * scale * scale / (per_hubble * per_hubble);
}

double timeline_tide_limit(const struct parameters *p, const struct cosmology *c, double a,
                           double dlna) {
  const double rate = p->time.eta_tide * cosmology_hubble(c, a) / dlna,
               scale = cosmology_scale(c, a);
  return rate * rate * scale * scale * scale;
}

double timeline_speed_limit(const struct parameters *p, const struct cosmology *c, double a,
                            double dlna) {
  return p->time.gothic_eta * softening_at(p, a) * cosmology_hubble(c, a) / dlna;
}

static double step_wanted(const struct timeline *t, const struct parameters *p,
                          const struct cosmology *c, double a, double acc_max, double softening) {
  if (p->time.step == STEP_FIXED) {
    double interval = log(t->end / t->begin) / (double)p->time.steps;
    double done = floor(log(a / t->begin) / interval + 1e-6);
    return t->begin * exp((done + 1.0) * interval);
  }
  if (p->time.step == STEP_BLOCK) return a * exp(timeline_longest(p));
  return a * exp(timeline_adaptive_dlna(p, c, a, acc_max, softening));
}

double timeline_next(const struct timeline *t, const struct parameters *p,
                     const struct cosmology *c, double a, double acc_max, double softening) {
  double wanted = step_wanted(t, p, c, a, acc_max, softening);
  size_t done = timeline_outputs_until(t, a);
  double stop = done < t->outputs ? fmin(t->output[done], t->end) : t->end;
  if (log(wanted / stop) > -NEAR) return stop;
  if (p->time.step != STEP_FIXED && log(wanted / a) > 0.5 * log(stop / a)) return sqrt(a * stop);
  return wanted;
}

double softening_at(const struct parameters *p, double a) {
  double comoving = softening_shortest(p);
  if (p->gravity.softening_max_physical > 0.0)
    comoving = fmin(comoving, p->gravity.softening_max_physical / a);
  return 1e-3 * comoving;
}
