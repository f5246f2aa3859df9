/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Poisson's equation has on its right side, of any level. */
#include <math.h>

#include "photons/potential/gravity.h"

#define PI 3.14159265358979323846

double gravity_factor(const struct gas *g, int level) {
  return 4.0 * PI * g->gravity->newton_constant * g->universe.scale * pow(gas_cell(g, level), 2.0);
}

double gravity_background(const struct gas *g) {
  return g->gravity->periodic ? g->gravity->mean_density : 0.0;
}
