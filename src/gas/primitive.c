/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/primitive.h"

#include <math.h>

void gas_conserve(const struct gas_primitive *w, double gamma,
                  double conserved[GAS_VARIABLES_MAX]) {
  double square = 0.0;
  for (int c = 0; c < 3; c++) {
    conserved[GAS_MOMENTUM_X + c] = w->density * w->velocity[c];
    square += w->velocity[c] * w->velocity[c];
  }
  conserved[GAS_DENSITY] = w->density;
  conserved[GAS_ENERGY] = w->pressure / (gamma - 1.0) + 0.5 * w->density * square;
  conserved[GAS_ENTROPY] = w->pressure / pow(w->density, gamma - 1.0);
}
