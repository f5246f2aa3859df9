/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/analysis/galaxies.h"

#include <math.h>
#include <string.h>

#include "disk_measures.h"
#include "members.h"

const int galaxy_percent[GALAXY_RADII_MEASURED] = {10, 50, 90};
static const double shares[GALAXY_RADII_MEASURED] = {0.1, 0.5, 0.9};
enum { TENTH, HALF };

static void measure_radii(const struct members *m, const struct body_frame *frame,
                          double radius[GALAXY_RADII_MEASURED]) {
  radii_of_shares(m, frame, distance_from_centre, GALAXY_RADII_MEASURED, shares, radius);
}

/** A sphere within which motions are added up. */
struct ball {
  const struct body_frame *frame;
  double radius;
};

/** Sums of m, m v and m v^2. */
static void add_motion(const void *context, const struct body *b, double *sum) {
  const struct ball *ball = context;
  if ((double)(float)distance_from_centre(ball->frame, b) > ball->radius) return;
  sum[0] += b->mass;
  for (int c = 0; c < 3; c++) {
    sum[1 + c] += b->mass * b->v[c];
    sum[4] += b->mass * b->v[c] * b->v[c];
  }
}

static void sum_motion(const struct members *m, const struct body_frame *frame, double radius,
                       double sum[5]) {
  const struct ball ball = {frame, radius};
  members_sum(m, add_motion, &ball, 5, sum);
}

static double dispersion_of(const double sum[5]) {
  double square = sum[4] / sum[0];
  for (int c = 0; c < 3; c++) square -= pow(sum[1 + c] / sum[0], 2);
  return sqrt(fmax(square, 0.0) / 3.0);
}

/** Where the angular momentum is about. */
struct moving_frame {
  struct body_frame frame;
  double velocity[3];
};

static void add_angular(const void *context, const struct body *b, double *sum) {
  const struct moving_frame *f = context;
  double x[3], v[3];
  position_in(&f->frame, b, x);
  for (int c = 0; c < 3; c++) v[c] = b->v[c] - f->velocity[c];
  for (int c = 0; c < 3; c++)
    sum[c] += b->mass * (x[(c + 1) % 3] * v[(c + 2) % 3] - x[(c + 2) % 3] * v[(c + 1) % 3]);
}

static void measure_motion(const struct members *m, const struct body_frame *frame,
                           struct galaxy_measures *g) {
  double inner[5], half[5], all[5];
  sum_motion(m, frame, g->radius[TENTH], inner);
  sum_motion(m, frame, g->radius[HALF], half);
  sum_motion(m, frame, HUGE_VAL, all);
  g->mass = all[0];
  g->dispersion = dispersion_of(half);
  struct moving_frame about = {.frame = *frame};
  for (int c = 0; c < 3; c++) about.velocity[c] = g->velocity[c] = inner[1 + c] / inner[0];
  members_sum(m, add_angular, &about, 3, g->angular);
}

/** NAN everywhere. */
static struct galaxy_measures nothing_known(void) {
  struct galaxy_measures g;
  double nan[sizeof g / sizeof(double)];
  for (size_t k = 0; k < sizeof nan / sizeof *nan; k++) nan[k] = NAN;
  memcpy(&g, nan, sizeof g);
  g.particles = 0;
  g.mass = 0.0;
  return g;
}

static struct galaxy_measures measure(const struct particles *s, const struct galaxy_ids *ids,
                                      size_t k) {
  struct galaxy_measures g = nothing_known();
  const struct members all = {s, ids, k, ALL_TYPES};
  struct body_frame frame = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  g.particles = densest_point(&all, frame.centre);
  if (g.particles == 0) return g;
  memcpy(g.centre, frame.centre, sizeof g.centre);
  measure_radii(&all, &frame, g.radius);
  measure_motion(&all, &frame, &g);
  for (unsigned t = 0; t < PARTICLE_TYPES; t++) {
    const struct members of_type = {s, ids, k, 1U << t};
    double radius[GALAXY_RADII_MEASURED];
    measure_radii(&of_type, &frame, radius);
    if (radius[HALF] > 0.0) memcpy(g.type_radius[t], radius, sizeof radius);
  }
  disk_measure(&(const struct members){s, ids, k, 1U << PARTICLE_DISK}, frame.centre, &g.disk);
  return g;
}

void galaxies_measure(const struct particles *s, const struct galaxy_ids *ids,
                      struct galaxy_measures *measures) {
  for (size_t k = 0; k < ids->count; k++) measures[k] = measure(s, ids, k);
}
