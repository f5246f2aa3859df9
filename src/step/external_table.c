/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of a sphere from a table of its mass. */
#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/external.h"

enum { NODES = 1024 };

/** ln of the mass within exp(ln_r): linear between rows, a power of r. */
static double mass_within(size_t rows, const double *radius, const double *mass, double ln_r) {
  size_t i = 0;
  while (i + 2 < rows && log(radius[i + 1]) < ln_r) i++;
  const double u = (ln_r - log(radius[i])) / log(radius[i + 1] / radius[i]);
  return exp(log(mass[i]) + u * log(mass[i + 1] / mass[i]));
}

/** dPhi/dln r = G M/r. */
static double slope_at(size_t rows, const double *radius, const double *mass, double ln_r) {
  return 1e3 * GRAVITY * mass_within(rows, radius, mass, ln_r) / exp(ln_r);
}

double *external_tabulate(struct external_table *t, size_t rows, const double *radius,
                          const double *mass) {
  double *values = allocate(2 * NODES, sizeof *values, "a table of a potential");
  *t = (struct external_table){.nodes = NODES,
                               .ln_first = log(radius[0]),
                               .step = log(radius[rows - 1] / radius[0]) / (NODES - 1)};
  for (uint32_t i = 0; i < NODES; i++)
    values[NODES + i] = t->step * slope_at(rows, radius, mass, t->ln_first + i * t->step);
  values[NODES - 1] = -values[2 * NODES - 1] / t->step; /* -G M/r */
  for (uint32_t i = NODES - 1; i-- > 0;) {              /* Simpson's rule, inwards */
    const double middle = t->step * slope_at(rows, radius, mass, t->ln_first + (i + 0.5) * t->step);
    values[i] = values[i + 1] - (values[NODES + i] + 4.0 * middle + values[NODES + i + 1]) / 6.0;
  }
  return values;
}
