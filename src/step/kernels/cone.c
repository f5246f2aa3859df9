/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crossings of a light cone (cone_cross.h). The compiler must not fuse operations in this file: a square must be the
 * same to the last bit at the end of a drift and at the beginning of the next one. */
#include <math.h>
#include <stddef.h>

#include "photons/domain/geometry.h"
#include "photons/step/cone_cross.h"
#include "photons/step/kernels.h"

enum { BLOCK = CONE_BLOCK / 2 };

/** Particles that may cross. */
struct candidates {
  uint32_t count, index[CONE_BLOCK];
  double from[3][CONE_BLOCK], step[3][CONE_BLOCK];
  int32_t crossed[CONE_BLOCK];
};

/** The compiler makes vectors of these, and none of arrays. */
struct place {
  double x, y, z;
};

static inline double dot(struct place a, struct place b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline double within_unit(double u) {
  const double below = u < 1.0 ? u : 1.0;
  return below > 0.0 ? below : 0.0;
}

/** Hermite's cubic between the ends of a drift, at part u of it, and its derivative. */
static inline double between(const double value[2], const double slope[2], double u) {
  const double v = 1.0 - u;
  return v * v * ((1.0 + 2.0 * u) * value[0] + u * slope[0]) +
         u * u * ((1.0 + 2.0 * v) * value[1] - v * slope[1]);
}
static inline double between_slope(const double value[2], const double slope[2], double u) {
  const double v = 1.0 - u;
  return 6.0 * u * v * (value[1] - value[0]) + v * (1.0 - 3.0 * u) * slope[0] +
         u * (3.0 * u - 2.0) * slope[1];
}

static inline struct place along(struct place from, struct place step, double u) {
  return (struct place){from.x + u * step.x, from.y + u * step.y, from.z + u * step.z};
}

/** A step of Newton's method towards the part of the drift that is done where |x| = chi. */
static inline double improve(const struct cone_drift *d, struct place from, struct place step,
                             double u) {
  const struct place x = along(from, step, u);
  const double r = sqrt(dot(x, x)),
               slope = dot(x, step) / r - between_slope(d->chi, d->chi_slope, u),
               better = within_unit(u - (r - between(d->chi, d->chi_slope, u)) / slope);
  return r > 0.0 ? better : u;
}

/** The part of the drift that is done where |x| = chi: Newton's method from the secant, whose error is
 * second order in the length of the drift.
 * @param before, after  |x| - chi at both ends: not above 0, and above 0, but for rounding */
static inline double part_done(const struct cone_drift *d, struct place from, struct place step,
                               double before, double after) {
  double u = before < after ? within_unit(before / (before - after)) : 0.0;
  u = improve(d, from, step, u);
  u = improve(d, from, step, u);
  return improve(d, from, step, u);
}

/** Squares of the distances at the beginning of the drift. */
static void squares(const struct cone_particles *p, const double centre[3], size_t first,
                    size_t count, double *restrict r2) {
  const size_t n = p->count;
  const uint32_t *x = p->position + first, *y = x + n, *z = y + n;
  for (size_t j = 0; j < count; j++) {
    const double a = centre[0] + position_difference(x[j], p->centre[0]),
                 b = centre[1] + position_difference(y[j], p->centre[1]),
                 c = centre[2] + position_difference(z[j], p->centre[2]);
    r2[j] = a * a + b * b + c * c;
  }
}

/** Add the particles of a block whose squares are between two. */
static void choose(struct candidates *k, const double *r2, size_t first, size_t count, double inner,
                   double outer) {
  for (size_t j = 0; j < count; j++) {
    k->index[k->count] = (uint32_t)(first + j);
    k->count += r2[j] <= outer && r2[j] >= inner;
  }
}

/** Where the candidates are, and how far they drift. */
static void gather(struct candidates *k, const struct cone_drift *d, const struct cone_particles *p,
                   const double centre[3]) {
  for (size_t c = 0; c < 3; c++)
    for (uint32_t i = 0; i < k->count; i++) {
      const size_t at = c * p->count + k->index[i];
      k->from[c][i] = centre[c] + position_difference(p->position[at], p->centre[c]);
      k->step[c][i] = (double)rintf(d->factor * p->momentum[at]); /* as the drift will round */
    }
}

/** When and where the candidates cross, those that do. They are within the light cone at the beginning of the
 * drift. */
static void follow(struct candidates *restrict k, const struct cone_drift *d,
                   struct cone_crossings *restrict found) {
  const struct cone_drift drift = *d;
  const double end = drift.chi[1] > 0.0 ? drift.chi[1] : 0.0, /* beyond the observer: 0 */
      end2 = end * end;
#pragma omp simd
  for (uint32_t i = 0; i < k->count; i++) {
    const struct place from = {k->from[0][i], k->from[1][i], k->from[2][i]},
                       step = {k->step[0][i], k->step[1][i], k->step[2][i]},
                       to = {from.x + step.x, from.y + step.y, from.z + step.z};
    const double to2 = dot(to, to), before = sqrt(dot(from, from)) - drift.chi[0],
                 after = sqrt(to2) - drift.chi[1], u = part_done(&drift, from, step, before, after);
    const struct place x = along(from, step, u);
    found->x[0][i] = x.x;
    found->x[1][i] = x.y;
    found->x[2][i] = x.z;
    found->a[i] = between(drift.a, drift.a_slope, u);
    k->crossed[i] = to2 > end2;
  }
}

/** Keep the candidates that crossed. */
static void keep(const struct candidates *k, struct cone_crossings *found) {
  found->count = 0;
  for (uint32_t i = 0; i < k->count; i++) {
    const uint32_t to = found->count;
    found->index[to] = k->index[i];
    found->a[to] = found->a[i];
    for (int c = 0; c < 3; c++) found->x[c][to] = found->x[c][i];
    found->count += k->crossed[i] != 0;
  }
}

static void cross(struct candidates *k, const struct cone_drift *d, const struct cone_particles *p,
                  const double centre[3], cone_found *found, void *context) {
  struct cone_crossings crossings;
  gather(k, d, p, centre);
  follow(k, d, &crossings);
  keep(k, &crossings);
  k->count = 0;
  if (crossings.count > 0) found(context, &crossings);
}

void KERNEL(cone_cross)(const struct cone_drift *d, const struct cone_particles *p,
                        const double centre[3], cone_found *found, void *context) {
  const double outer = d->chi[0] * d->chi[0], least = fmax(d->chi[1] - p->way, 0.0),
               inner = least * least; /* particles within it stay within the light cone */
  struct candidates k = {.count = 0};
  for (size_t first = 0; first < p->count; first += BLOCK) {
    const size_t count = p->count - first < BLOCK ? p->count - first : BLOCK;
    double r2[BLOCK];
    squares(p, centre, first, count, r2);
    choose(&k, r2, first, count, inner, outer);
    if (k.count >= BLOCK) cross(&k, d, p, centre, found, context);
  }
  if (k.count > 0) cross(&k, d, p, centre, found, context);
}
