/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/packages.h"

#include <math.h>

#include "photons/hydro/package.h"

/** The table: one row adds a package. Sources act in this order. */
static const struct gas_package *const packages[] = {&uniform_gravity};
enum { PACKAGES = sizeof packages / sizeof *packages };

void packages_read(struct gas *g, const struct parameters *p) {
  for (size_t i = 0; i < PACKAGES; i++) packages[i]->read(g, p);
}

/** Whether a run has a package with a source. Without gas there is nothing to act on. */
static bool acts(const struct gas_package *package, const struct gas *g) {
  return !g->scheme.particles_alone && package->source && package->is_there(g);
}

bool packages_have_sources(const struct gas *g) {
  bool any = false;
  for (size_t i = 0; i < PACKAGES; i++) any = any || acts(packages[i], g);
  return any;
}

void packages_apply(struct gas *g, int level, double time) {
  for (size_t i = 0; i < PACKAGES; i++)
    if (acts(packages[i], g)) {
      packages[i]->source(g, level, time);
      g->level[level].stale = true;
    }
}

double packages_longest_step(const struct gas *g, int level) {
  double longest = INFINITY;
  for (size_t i = 0; i < PACKAGES; i++)
    if (packages[i]->longest_step && packages[i]->is_there(g))
      longest = fmin(longest, packages[i]->longest_step(g, level));
  return longest;
}
