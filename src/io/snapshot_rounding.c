/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshot_rounding.h"

#define SOFTENING_PART (1.0 / 128.0) /* error of positions over the softening length */
#define SPACINGS 30.0                /* softening lengths in a mean spacing, where none is given */
#define FLOAT_STEPS 16777216.0       /* that a float counts without an error: 2^24 */

/** The largest error of a position that is allowed, kpc/h; isolated systems: kpc. */
static double position_error(const struct parameters *p, const struct particles *s) {
  if (p->output.position_error > 0.0) return p->output.position_error;
  double softening = softening_shortest(p);
  if (!(softening > 0.0)) softening = 1e3 * s->box / cbrt((double)s->all) / SPACINGS;
  return SOFTENING_PART * softening;
}

/** The largest power of two that is not above a number. */
static double power_of_two(double number) { return ldexp(1.0, ilogb(number)); }

struct rounding rounding_of(const struct parameters *p, const struct particles *s, double a,
                            double length) {
  if (!p->output.lean || s->all == 0) return (struct rounding){0};
  struct rounding r = {.position = power_of_two(2.0 * position_error(p, s) * length / 1000.0),
                       .velocity = power_of_two(2.0 * p->output.velocity_error / sqrt(a))};
  r.wide = s->box * length / r.position > FLOAT_STEPS;
  return r;
}
