/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integrals and values between the nodes of a galaxy's tables. */
#include <gsl/gsl_interp.h>
#include <gsl/gsl_spline.h>
#include <math.h>

#include "galaxy_tables.h"
#include "photons/base/error.h"

void galaxy_integrate(const double *x, const double *y, size_t n, double start, double *integral) {
  gsl_spline *spline = gsl_spline_alloc(gsl_interp_cspline, n);
  if (!spline || gsl_spline_init(spline, x, y, n))
    fail(EXIT_RUN_FAILED, "galaxy: no spline through %zu points", n);
  integral[0] = start;
  for (size_t k = 0; k + 1 < n; k++)
    integral[k + 1] = integral[k] + gsl_spline_eval_integ(spline, x[k], x[k + 1], NULL);
  gsl_spline_free(spline);
}

struct galaxy_place galaxy_find(const double *table, size_t n, double value) {
  const size_t i = gsl_interp_bsearch(table, value, 0, n - 1);
  const double step = table[i + 1] - table[i];
  const double fraction = step > 0.0 ? (value - table[i]) / step : 0.0;
  return (struct galaxy_place){i, fmin(fmax(fraction, 0.0), 1.0)};
}

double galaxy_between(const double *table, struct galaxy_place place) {
  return table[place.i] + place.fraction * (table[place.i + 1] - table[place.i]);
}

double galaxy_radius_of_mass(const double *r, const double *cumulative, size_t n, double mass) {
  const size_t i = gsl_interp_bsearch(cumulative, mass, 0, n - 1);
  const double growth = log(cumulative[i + 1] / cumulative[i]);
  if (!(growth > 0.0)) return r[i];
  return fmin(r[i + 1], r[i] * pow(r[i + 1] / r[i], log(mass / cumulative[i]) / growth));
}

double galaxy_power_between(const double *r, const double *value, size_t n, double radius) {
  if (radius >= r[n - 1]) return value[n - 1];
  const size_t i = gsl_interp_bsearch(r, radius, 0, n - 1);
  if (!(value[i] > 0.0)) return 0.0;
  const double slope = log(value[i + 1] / value[i]) / log(r[i + 1] / r[i]);
  return value[i] * pow(radius / r[i], slope);
}
