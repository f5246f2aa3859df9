/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an observer sees of a light cone. The crossings themselves are found in kernels/cone.c. */
#include "photons/step/cone_cross.h"

#include <math.h>

#include "photons/step/kernels.h"

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

/** What takes only the crossings that are seen. */
struct looking {
  const struct cone_view *view;
  cone_found *found;
  void *context;
};

static void see(void *context, struct cone_crossings *crossings) {
  const struct looking *l = context;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < crossings->count; i++) {
    const double x[3] = {crossings->x[0][i], crossings->x[1][i], crossings->x[2][i]};
    crossings->index[seen] = crossings->index[i];
    crossings->a[seen] = crossings->a[i];
    for (int c = 0; c < 3; c++) crossings->x[c][seen] = x[c];
    seen += distance(x) <= l->view->reach && cone_sees(l->view, x);
  }
  crossings->count = seen;
  if (seen > 0) l->found(l->context, crossings);
}

void cone_cross(const struct step_kernels *kernels, const struct cone_view *v,
                const struct cone_drift *d, const struct cone_particles *p, const double centre[3],
                cone_found *found, void *context) {
  struct looking looking = {v, found, context};
  kernels->cone_cross(d, p, centre, see, &looking);
}
