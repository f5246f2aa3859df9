/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --analyse of an isolated system. */
#ifndef PHOTONS_APP_ANALYSE_ISOLATED_H
#define PHOTONS_APP_ANALYSE_ISOLATED_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/config/parameters.h"

/**
 * Measure the snapshot ic.file of an isolated system, and write energy_NNN.csv and
 * components_NNN.csv. Collective.
 * @param softened  gravity.softening is that of the particles; false: it is not known
 * @param number    NNN
 * @param dry_run   say what would be written
 */
void analyse_isolated(struct parameters *p, bool softened, size_t number, bool dry_run);

#endif
