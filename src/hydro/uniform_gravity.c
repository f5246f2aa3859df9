/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Uniform gravity: all gas gets the same acceleration, in whatever direction. */
#include <math.h>

#include "photons/config/parameters.h"
#include "photons/hydro/codelets.h"
#include "photons/hydro/package.h"

static void read_acceleration(struct gas *g, const struct parameters *p) {
  for (size_t c = 0; c < p->gas.acceleration_count && c < 3; c++)
    g->scheme.acceleration[c] = p->gas.acceleration[c];
}

/** The largest component. */
static double largest(const struct gas *g) {
  double most = 0.0;
  for (int c = 0; c < 3; c++) most = fmax(most, fabs(g->scheme.acceleration[c]));
  return most;
}

static bool is_there(const struct gas *g) { return largest(g) > 0.0; }

static void accelerate(struct gas *g, int level, double time) {
  double change[3];
  for (int c = 0; c < 3; c++) change[c] = time * g->scheme.acceleration[c];
  for (uint32_t k = 0; k < g->level[level].own; k++)
    gas_accelerate_submit(g, level, g->level[level].turn[k], change);
}

/** In which gas at rest falls by a cell. */
static double longest_step(const struct gas *g, int level) {
  return sqrt(2.0 * gas_cell(g, level) / largest(g));
}

const struct gas_package uniform_gravity = {.name = "uniform gravity",
                                            .read = read_acceleration,
                                            .is_there = is_there,
                                            .source = accelerate,
                                            .longest_step = longest_step};
