/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compiler must not fuse operations in this file: a square must be the same to the last bit at the end
 * of a drift and at the beginning of the next one. */
#include "photons/step/cone_cross.h"

#include <math.h>
#include <stddef.h>

#include "photons/domain/geometry.h"

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double distance(const double x[3]) { return sqrt(dot(x, x)); }

bool cone_sees(const struct cone_view *v, const double x[3]) {
  const double *d = v->direction;
  switch (v->shape) {
  case CONE_SKY: return true;
  case CONE_OCTANT: return d[0] * x[0] >= 0.0 && d[1] * x[1] >= 0.0 && d[2] * x[2] >= 0.0;
  case CONE_PENCIL: return dot(d, x) >= cos(v->opening) * distance(x);
  default: return false;
  }
}

/** Whether the view may include places of a box; its middle is this far from the observer. */
static bool may_see(const struct cone_view *v, const struct cone_bounds *b, double away) {
  if (v->shape == CONE_OCTANT) {
    for (int c = 0; c < 3; c++)
      if (v->direction[c] * b->centre[c] < -b->half[c]) return false;
  } else if (v->shape == CONE_PENCIL) {
    const double radius = sqrt(dot(b->half, b->half));
    if (away <= radius) return true;
    const double angle = acos(fmax(fmin(dot(v->direction, b->centre) / away, 1.0), -1.0)),
                 slack = 1e-6; /* more than acos() rounds */
    return angle <= v->opening + asin(radius / away) + slack;
  }
  return true;
}

bool cone_meets(const struct cone_view *v, const struct cone_drift *d,
                const struct cone_bounds *b) {
  double near2 = 0.0, far2 = 0.0, away2 = 0.0;
  for (int c = 0; c < 3; c++) {
    const double x = fabs(b->centre[c]), nearest = fmax(x - b->half[c], 0.0),
                 farthest = x + b->half[c];
    near2 += nearest * nearest;
    far2 += farthest * farthest;
    away2 += x * x;
  }
  const double begin = fmin(d->chi[0], v->reach), end = fmax(d->chi[1], 0.0);
  return near2 <= begin * begin && far2 >= end * end && may_see(v, b, sqrt(away2));
}

/** Hermite's cubic between the ends of a drift, at part u of it, and its derivative. */
static double between(const double value[2], const double slope[2], double u) {
  const double v = 1.0 - u;
  return v * v * ((1.0 + 2.0 * u) * value[0] + u * slope[0]) +
         u * u * ((1.0 + 2.0 * v) * value[1] - v * slope[1]);
}
static double between_slope(const double value[2], const double slope[2], double u) {
  const double v = 1.0 - u;
  return 6.0 * u * v * (value[1] - value[0]) + v * (1.0 - 3.0 * u) * slope[0] +
         u * (3.0 * u - 2.0) * slope[1];
}

static void place(const double from[3], const double step[3], double u, double x[3]) {
  for (int c = 0; c < 3; c++) x[c] = from[c] + u * step[c];
}

/** Negative distances of the light cone, beyond the observer, are 0. */
static double square_of_end(const struct cone_drift *d) {
  const double chi = fmax(d->chi[1], 0.0);
  return chi * chi;
}

/** The part of the drift that is done where |x| = chi: Newton's method from the secant, whose error is
 * second order in the length of the drift.
 * @param before, after  |x| - chi at both ends: not above 0, and above 0, but for rounding */
static double part_done(const struct cone_drift *d, const double from[3], const double step[3],
                        double before, double after) {
  enum { ITERATIONS = 3 };
  double u = before < after ? fmax(fmin(before / (before - after), 1.0), 0.0) : 0.0;
  for (int i = 0; i < ITERATIONS; i++) {
    double x[3];
    place(from, step, u, x);
    const double r = distance(x);
    if (!(r > 0.0)) break;
    const double slope = dot(x, step) / r - between_slope(d->chi, d->chi_slope, u);
    u = fmax(fmin(u - (r - between(d->chi, d->chi_slope, u)) / slope, 1.0), 0.0);
  }
  return u;
}

/** Squares of the distances at the beginning of the drift. */
static void squares(const struct cone_particles *p, const double centre[3], size_t first,
                    size_t count, double *r2) {
  const size_t n = p->count;
  const uint32_t *x = p->position + first, *y = x + n, *z = y + n;
  for (size_t j = 0; j < count; j++) {
    const double a = centre[0] + position_difference(x[j], p->centre[0]),
                 b = centre[1] + position_difference(y[j], p->centre[1]),
                 c = centre[2] + position_difference(z[j], p->centre[2]);
    r2[j] = a * a + b * b + c * c;
  }
}

/** A particle that is within the light cone at the beginning of the drift.
 * @return whether it crosses, and is seen */
static bool crosses(const struct cone_view *v, const struct cone_drift *d,
                    const struct cone_particles *p, const double centre[3],
                    struct cone_crossing *crossing) {
  const size_t n = p->count, i = crossing->index;
  double from[3], step[3], to[3];
  for (size_t c = 0; c < 3; c++) {
    from[c] = centre[c] + position_difference(p->position[c * n + i], p->centre[c]);
    step[c] = (double)rintf(d->factor * p->momentum[c * n + i]); /* as the drift will round */
    to[c] = from[c] + step[c];
  }
  if (dot(to, to) <= square_of_end(d)) return false;
  const double u = part_done(d, from, step, distance(from) - d->chi[0], distance(to) - d->chi[1]);
  place(from, step, u, crossing->x);
  crossing->a = between(d->a, d->a_slope, u);
  return distance(crossing->x) <= v->reach && cone_sees(v, crossing->x);
}

void cone_cross(const struct cone_view *v, const struct cone_drift *d,
                const struct cone_particles *p, const double centre[3],
                void (*found)(void *context, const struct cone_crossing *crossing), void *context) {
  enum { BLOCK = 64 };
  const double outer = d->chi[0] * d->chi[0], least = fmax(d->chi[1] - p->way, 0.0),
               inner = least * least; /* particles within it stay within the light cone */
  for (size_t first = 0; first < p->count; first += BLOCK) {
    const size_t count = p->count - first < BLOCK ? p->count - first : BLOCK;
    double r2[BLOCK];
    squares(p, centre, first, count, r2);
    for (size_t j = 0; j < count; j++) {
      struct cone_crossing crossing = {.index = (uint32_t)(first + j)};
      if (r2[j] <= outer && r2[j] >= inner && crosses(v, d, p, centre, &crossing))
        found(context, &crossing);
    }
  }
}
