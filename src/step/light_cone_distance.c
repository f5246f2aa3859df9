/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the light cone is from the observer. */
#include <math.h>

#include "photons/step/light_cone.h"

double light_cone_distance(const struct cosmology *c, double a) {
  return SPEED_OF_LIGHT * cosmology_kick(c, a, 1.0);
}

/** Newton's method in ln a, where the distance falls by c/(a H). */
double light_cone_scale_factor(const struct cosmology *c, double distance) {
  enum { ITERATIONS = 20 };
  double a = 1.0;
  for (int i = 0; i < ITERATIONS; i++) {
    const double slope = SPEED_OF_LIGHT / (a * cosmology_hubble(c, a));
    a *= exp((light_cone_distance(c, a) - distance) / slope);
  }
  return a;
}
