/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/layzer_irvine.h"

#include <math.h>

void layzer_irvine_advance(struct layzer_irvine *l, double a, double kinetic) {
  if (l->a > 0.0 && a > l->a && kinetic > 0.0 && l->kinetic > 0.0) {
    const double step = log(a / l->a), power = 1.0 + log(kinetic / l->kinetic) / step;
    /* (a T - a' T')/power, also where the power is zero */
    l->work += l->a * l->kinetic * (power == 0.0 ? step : expm1(power * step) / power);
  }
  l->a = a;
  l->kinetic = kinetic;
}

double layzer_irvine_integral(struct layzer_irvine *l, double potential, double *error) {
  const double integral = l->a * (l->kinetic + potential) + l->work;
  if (l->first == 0.0) l->first = integral;
  *error = potential == 0.0 ? NAN : (integral - l->first) / fabs(l->a * potential);
  return integral;
}
