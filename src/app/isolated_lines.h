/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the banner and a dry run say of an isolated system. */
#ifndef PHOTONS_ISOLATED_LINES_H
#define PHOTONS_ISOLATED_LINES_H

#include <stdio.h>

#include "photons/app/type_masses.h"
#include "photons/config/parameters.h"
#include "photons/ic/summary.h"
#include "photons/step/timeline.h"

/** Galaxies and their components: numbers, masses, lengths, Toomre's Q, circular speed. Nothing of a
 * restarted run, whose checkpoint has particles alone. */
void isolated_print_components(FILE *out, const struct parameters *p,
                               const struct isolated_summary *summary);

/** The potentials of section [external], and what is conserved in them. */
void isolated_print_potentials(FILE *out, const struct parameters *p);

/** The shortest step that the criterion asks for beside a particle of the type whose particles are heaviest, and the
 * step at which the run ends. Nothing where steps are counted. */
void isolated_print_least_step(FILE *out, const struct parameters *p,
                               const struct type_masses *masses);

/** An estimate of the time that a run takes, from the accelerations at the half-mass radii of
 * components, and of the disk space of its snapshots. A restart has no time.
 * @param particles  of the whole system
 * @param cores      of all ranks */
void isolated_print_costs(FILE *out, const struct parameters *p, const struct timeline *timeline,
                          const struct isolated_summary *summary, size_t particles, long cores);

#endif
