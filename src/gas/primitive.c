/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/primitive.h"

#include <float.h>
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
  for (int k = 0; k < GAS_CARRIED_MAX; k++)
    conserved[GAS_SOLVED_MAX + k] = w->density * w->carried[k];
}

/** What of floating-point numbers matters here. */
struct range {
  double least, most, epsilon;
};

static const char *lacks(const struct range *r, const struct gas_primitive *w, double gamma) {
  /* Between these, changes by a part of sqrt(epsilon) have squares that are normal numbers. */
  const double small = sqrt(r->least / r->epsilon), large = sqrt(r->most * r->epsilon);
  const double thermal = w->pressure / (gamma - 1.0);
  double conserved[GAS_VARIABLES_MAX];
  gas_conserve(w, gamma, conserved);
  const double energy = conserved[GAS_ENERGY], entropy = conserved[GAS_ENTROPY];
  if (w->density < small) return "densities so small lose their digits";
  if (w->density > large) return "densities so large overflow";
  if (!(energy <= large)) return "energies so large overflow";
  if (sqrt(w->density * energy) < small) return "squares of momenta so small lose their digits";
  if (w->pressure < r->least || !(entropy >= r->least && entropy <= large))
    return "the pressure is too small, or the entropy is out of range";
  return thermal < 0.5 * r->epsilon * energy ? "the pressure is lost beside the kinetic energy"
                                             : NULL;
}

const char *gas_precision_lacks(const struct gas_primitive *w, double gamma, bool wide) {
  static const struct range single = {FLT_MIN, FLT_MAX, FLT_EPSILON},
                            twice = {DBL_MIN, DBL_MAX, DBL_EPSILON};
  return lacks(wide ? &twice : &single, w, gamma);
}

const char *gas_precision_remedy(bool wide) {
  return wide ? "in double precision; take units of mass, length and time that give numbers nearer "
                "to 1"
              : "in single precision; take gas.precision = double";
}
