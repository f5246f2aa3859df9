/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Density and pressure of massive neutrinos: those of a relic Fermi-Dirac distribution, whose momenta
 * fall as 1/a (Lesgourgues & Pastor 2006, Phys. Rep. 429, 307, section 2). */
#include <gsl/gsl_integration.h>
#include <math.h>
#include <pthread.h>

#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"

#define CMB_TEMPERATURE 2.7255 /**< K, Fixsen 2009 (ApJ 707, 916) */
/** Of neutrinos, over that of the CMB, with the heat that electrons leave them: Omega h^2 is then the
 * sum of the masses over 93.14 eV (Mangano et al. 2005, Nucl. Phys. B 729, 221). */
#define TEMPERATURE_RATIO 0.71611
#define BOLTZMANN 8.617333262e-5   /**< eV/K */
#define PHOTONS_DENSITY 2.47282e-5 /**< Omega h^2 of the CMB */
#define NO_MASS 5.682196976983475  /**< int q^3/(e^q + 1) dq = 7 pi^4/120 */

/* Gauss-Laguerre for int q^2 e^-q f(q) dq: errors below 1e-9 at all masses. */
enum { POINTS = 64 };
static double point[POINTS], weight[POINTS];

static void make_rule(void) {
  gsl_integration_fixed_workspace *w = gsl_integration_fixed_alloc(gsl_integration_fixed_laguerre,
                                                                   POINTS, 0.0, 1.0, 2.0, 0.0);
  if (!w) fail(EXIT_RUN_FAILED, "not enough memory for the momenta of neutrinos");
  for (int i = 0; i < POINTS; i++) {
    point[i] = gsl_integration_fixed_nodes(w)[i];
    weight[i] = gsl_integration_fixed_weights(w)[i] / (1.0 + exp(-point[i]));
  }
  gsl_integration_fixed_free(w);
}

/** Sum over species of int q^2 (q^2 + y^2)^(1/2) (q^2/(q^2 + y^2))^pressure/(e^q + 1) dq, with y = a m/T,
 * over that without mass. */
static double moment(const struct neutrinos *n, double a, bool pressure) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_rule);
  double sum = 0.0;
  for (unsigned s = 0; s < n->species; s++)
    for (int i = 0; i < POINTS; i++) {
      const double q = point[i], energy = hypot(q, a * n->heavy[s]);
      sum += weight[i] * (pressure ? q * q / energy : energy);
    }
  return sum / NO_MASS;
}

double neutrinos_density(const struct neutrinos *n, double a) {
  return n->species ? n->massless * moment(n, a, false) / (a * a * a * a) : 0.0;
}

double neutrinos_pressure(const struct neutrinos *n, double a) {
  return n->species ? n->massless * moment(n, a, true) / (a * a * a * a) : 0.0;
}

struct neutrinos neutrinos_of(const double *mass, size_t species, double h) {
  struct neutrinos n = {.species = (unsigned)(species < NEUTRINOS_MOST ? species : NEUTRINOS_MOST),
                        .massless = 7.0 / 8.0 * pow(TEMPERATURE_RATIO, 4.0) * PHOTONS_DENSITY /
                                    (h * h)};
  for (unsigned s = 0; s < n.species; s++)
    n.heavy[s] = mass[s] / (BOLTZMANN * TEMPERATURE_RATIO * CMB_TEMPERATURE);
  return n;
}
