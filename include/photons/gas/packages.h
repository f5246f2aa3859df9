/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All packages of a run (hydro/package.h). */
#ifndef PHOTONS_GAS_PACKAGES_H
#define PHOTONS_GAS_PACKAGES_H

#include "photons/amr/gas.h"

struct parameters;

void packages_read(struct gas *g, const struct parameters *p);
/** Whether any package has a source. */
bool packages_have_sources(const struct gas *g);
/** The sources of all packages, for a time. */
void packages_apply(struct gas *g, int level, double time);
/** The longest step of a level that all packages allow, at a Courant number of 1. */
double packages_longest_step(const struct gas *g, int level);

#endif
