/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of steps and the times of outputs. */
#include "photons/step/timeline.h"

#include <math.h>

#define SAME 1e-12 /* relative difference below which two scale factors are equal */
#define NEAR 1e-6  /* the same where one is a file's redshift, or a step would be very short */

/* Times of an isolated system may be short: tolerances are parts of the run and of the step. */
#define SAME_OF_RUN 1e-9
#define NEAR_OF_STEP 1e-4
#define NEAR_OF_ISOLATED_STEP 1e-6

void timeline_init(struct timeline *t, const struct parameters *p, double begin, double now,
                   double written) {
  const bool isolated = p->box.boundary == BOUNDARY_ISOLATED;
  *t = (struct timeline){.is_time = isolated,
                         .begin = begin,
                         .end = isolated ? cosmology_time(p->time.end)
                                         : 1.0 / (1.0 + p->time.z_end),
                         .same = SAME};
  if (isolated) t->same = fmin(SAME, SAME_OF_RUN * (t->end - begin));
  const double near = isolated ? t->same : NEAR;
  const size_t outputs = isolated ? p->output.time_count : p->output.redshift_count;
  for (size_t i = 0; i < outputs; i++) {
    const double a = isolated ? cosmology_time(p->output.times[i])
                              : 1.0 / (1.0 + p->output.redshifts[i]);
    if (a >= moment_soon(isolated, now, -near) && a > moment_soon(isolated, written, t->same))
      t->output[t->outputs++] = a;
  }
}

size_t timeline_outputs_until(const struct timeline *t, double a) {
  size_t n = 0;
  while (n < t->outputs && t->output[n] <= moment_soon(t->is_time, a, t->same)) n++;
  return n;
}

bool timeline_ended(const struct timeline *t, double a) {
  return a >= moment_soon(t->is_time, t->end, -t->same);
}

double timeline_longest(const struct parameters *p) {
  if (p->box.boundary == BOUNDARY_PERIODIC) return p->time.max_dlna;
  return cosmology_time(p->time.max_step);
}

double timeline_shortest(const struct parameters *p) {
  if (p->box.boundary == BOUNDARY_PERIODIC) return p->time.min_dlna;
  return p->time.min_dlna * timeline_longest(p);
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

/** Before this scale factor base steps are longer: linear growth, which growth kicks follow at any
 * length, moves most particles. */
#define EARLY 0.2

static double base_dlna(const struct parameters *p, const struct cosmology *c, double a) {
  const bool stretched = p->time.kicks == KICKS_GROWTH && !c->isolated;
  return timeline_longest(p) * (stretched ? fmax(1.0, fmin(p->time.stretch, EARLY / a)) : 1.0);
}

bool timeline_counted(const struct parameters *p) {
  return p->time.step == STEP_FIXED || p->time.step == STEP_PM;
}

static double step_wanted(const struct timeline *t, const struct parameters *p,
                          const struct cosmology *c, double a, double acc_max, double softening) {
  if (p->time.step == STEP_PM) {
    const double interval = (t->end - t->begin) / (double)p->time.steps;
    return t->begin + interval * (floor((a - t->begin) / interval + 1e-6) + 1.0);
  }
  if (p->time.step == STEP_FIXED) {
    double interval = moment_interval(t->is_time, t->begin, t->end) / (double)p->time.steps;
    double done = floor(moment_interval(t->is_time, t->begin, a) / interval + 1e-6);
    return moment_after(t->is_time, t->begin, (done + 1.0) * interval);
  }
  if (p->time.step == STEP_BLOCK) return moment_after(t->is_time, a, base_dlna(p, c, a));
  return moment_after(t->is_time, a, timeline_adaptive_dlna(p, c, a, acc_max, softening));
}

/** Below this length in ln a what is left after a step belongs to the step. */
static double shortest_rest(const struct timeline *t, const struct cosmology *c, double step) {
  if (c->isolated) return fmax(NEAR_OF_ISOLATED_STEP * step, t->same);
  return fmin(NEAR, NEAR_OF_STEP * step);
}

double timeline_next(const struct timeline *t, const struct parameters *p,
                     const struct cosmology *c, double a, double acc_max, double softening) {
  double wanted = step_wanted(t, p, c, a, acc_max, softening);
  size_t done = timeline_outputs_until(t, a);
  double stop = done < t->outputs ? fmin(t->output[done], t->end) : t->end;
  const double step = moment_interval(t->is_time, a, wanted);
  if (moment_interval(t->is_time, wanted, stop) < shortest_rest(t, c, step)) return stop;
  if (!timeline_counted(p) && step > 0.5 * moment_interval(t->is_time, a, stop))
    return moment_middle(t->is_time, a, stop);
  return wanted;
}

double softening_at(const struct parameters *p, double a) {
  double comoving = softening_shortest(p);
  if (p->gravity.softening_max_physical > 0.0)
    comoving = fmin(comoving, p->gravity.softening_max_physical / a);
  return 1e-3 * comoving;
}
