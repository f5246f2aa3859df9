/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Density profiles of a galaxy's components. */
#include "galaxy_profile.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdio.h>

bool galaxy_is_disk(const struct galaxy_component *c) { return c->profile == GALAXY_EXPONENTIAL; }

/** dln/dln(r) of 1/(1 + x)^power, and its derivative. */
static struct galaxy_slopes outer_slope(double x, double power) {
  return (struct galaxy_slopes){.density = pow(1.0 + x, -power),
                                .slope = -power * x / (1.0 + x),
                                .curvature = -power * x / gsl_pow_2(1.0 + x)};
}

static struct galaxy_slopes cusp(double x, double power) {
  const struct galaxy_slopes outer = outer_slope(x, power);
  return (struct galaxy_slopes){outer.density / x, outer.slope - 1.0, outer.curvature};
}

static struct galaxy_slopes plummer(double x) {
  const struct galaxy_slopes outer = outer_slope(x * x, 2.5);
  return (struct galaxy_slopes){outer.density, 2.0 * outer.slope, 4.0 * outer.curvature};
}

/** Prugniel & Simien 1997 (A&A 321, 111); p: Lima Neto et al. 1999 (MNRAS 309, 481), eq. 19; b:
 * Ciotti & Bertin 1999 (A&A 352, 447), eq. 18. */
static struct galaxy_slopes sersic(double x, double n) {
  const double p = 1.0 - 0.6097 / n + 0.05463 / (n * n);
  const double b = 2.0 * n - 1.0 / 3.0 + 4.0 / (405.0 * n) + 46.0 / (25515.0 * n * n);
  const double fall = b * pow(x, 1.0 / n);
  return (struct galaxy_slopes){pow(x, -p) * exp(-fall), -p - fall / n, -fall / (n * n)};
}

static struct galaxy_slopes without_cutoff(const struct galaxy_component *c, double r) {
  const double x = r / c->scale;
  switch (c->profile) {
  case GALAXY_NFW: return cusp(x, 2.0);
  case GALAXY_HERNQUIST: return cusp(x, 3.0);
  case GALAXY_PLUMMER: return plummer(x);
  case GALAXY_SERSIC: return sersic(x, c->n);
  case GALAXY_EXPONENTIAL: break;
  }
  return (struct galaxy_slopes){exp(-x), -x, -x};
}

/** erfc(y)/2 is the upper tail Q(sqrt(2) y) of the normal distribution; -dlnQ/du is its hazard h,
 * and dh/du = h (h - u). */
static struct galaxy_slopes cutoff(const struct galaxy_component *c, double r) {
  const double per_length = M_SQRT1_2 / c->cutoff_width, u = (r - c->cutoff) * per_length;
  const double hazard = gsl_sf_hazard(u), slope = -r * per_length * hazard;
  return (struct galaxy_slopes){.density = 0.5 * erfc((r - c->cutoff) / (2.0 * c->cutoff_width)),
                                .slope = slope,
                                .curvature = slope -
                                             gsl_pow_2(r * per_length) * hazard * (hazard - u)};
}

struct galaxy_slopes galaxy_profile_at(const struct galaxy_component *c, double r) {
  const struct galaxy_slopes bare = without_cutoff(c, r);
  if (c->cutoff == 0.0) return bare;
  const struct galaxy_slopes end = cutoff(c, r);
  return (struct galaxy_slopes){bare.density * end.density, bare.slope + end.slope,
                                bare.curvature + end.curvature};
}

double galaxy_profile_end(const struct galaxy_component *c) {
  const double longest = (galaxy_is_disk(c) ? 40.0 : 1e3) * c->scale;
  if (c->cutoff == 0.0) return longest;
  const double end = c->cutoff + 12.0 * c->cutoff_width; /* erfc(6) = 2e-17 */
  return galaxy_is_disk(c) ? fmin(end, longest) : end;
}

static bool positive(double value) { return value > 0.0 && isfinite(value); }

#define LEAST_MASS 1e-30 /* 1e10 Msun; forces of less vanish in single precision */

static const char *fault(const struct galaxy_component *c) {
  if (!(c->mass >= LEAST_MASS && isfinite(c->mass))) return "its mass must be above 1e-20 Msun";
  if (!positive(c->scale)) return "its scale length must be above 0";
  if (c->profile == GALAXY_SERSIC && !(c->n >= 0.6 && c->n <= 10.0))
    return "its Sersic index must be from 0.6 to 10";
  if (galaxy_is_disk(c) && !(c->height >= 1e-3 * c->scale && c->height <= c->scale))
    return "its height must be from 0.001 to 1 scale length";
  if (galaxy_is_disk(c) && !(c->toomre_q >= 0.0 && isfinite(c->toomre_q)))
    return "its least Q must not be below 0";
  if (c->type < 0 || c->type > 5) return "its particle type must be from 0 to 5";
  if (c->cutoff == 0.0)
    return c->profile == GALAXY_NFW ? "it needs a cutoff radius: its mass grows for ever" : NULL;
  if (!positive(c->cutoff) || !positive(c->cutoff_width))
    return "its cutoff radius and width must be above 0";
  /* Else the table of radii would be too coarse for the cutoff. */
  if (c->cutoff_width < 0.02 * c->cutoff || c->cutoff_width > c->cutoff)
    return "its cutoff width must be from 0.02 to 1 cutoff radius";
  if (c->cutoff < 0.1 * c->scale || c->cutoff > 1e5 * c->scale)
    return "its cutoff radius must be from 0.1 to 1e5 scale lengths";
  return NULL;
}

bool galaxy_component_check(const struct galaxy_component *c, char *reason, size_t size) {
  const char *what = fault(c);
  if (what) snprintf(reason, size, "galaxy: component %s: %s", c->name, what);
  return !what;
}
