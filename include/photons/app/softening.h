/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The softening lengths of a run: chosen where the parameters leave them open, and refused where a force
 * softened so far, or so little, would be wrong. */
#ifndef PHOTONS_APP_SOFTENING_H
#define PHOTONS_APP_SOFTENING_H

#include "photons/domain/particles.h"

struct parameters;

/** What softening depends on, by type of particles. */
struct softening_types {
  bool present[PARTICLE_TYPES];
  double
      spacing[PARTICLE_TYPES]; /**< over the side of the box: of as many particles of the type's mean
                                     mass as the box would hold; isolated: 0 */
};

/** Choose softening lengths from the mean spacing where the parameter asks for it; where masses differ,
 * from the spacing that particles of the mean mass of a type would have. Types of isolated systems need
 * a softening length, or the program ends with EXIT_BAD_USAGE. Collective.
 * @param s  with no particle of its own where no initial conditions were made: all are of one type and mass */
struct softening_types softening_resolve(struct parameters *p, const struct particles *s);

/** Cells a side of the finest mesh beyond whose cutoff the force of any pair is Newton's from a scale factor
 * on, within 1e-3: forces softened farther would be wrong.
 * @param a  comoving lengths only become shorter later, by gravity.softening_max_physical */
double softening_finest_mesh(const struct parameters *p, const struct softening_types *types,
                             double a);

/** End the program with EXIT_BAD_USAGE where the force of some type is softened beyond the cutoff of the first
 * mesh or of gravity.pm_grid_most, or where floats do not resolve a softening length.
 * @param a      where the run begins, as above
 * @param cells  a side of the first mesh; isolated: 0 */
void softening_require(const struct parameters *p, const struct softening_types *types, double a,
                       uint32_t cells);

/** Warn where Plummer's law differs from Newton's beyond the cutoff by more than forces are wrong anyway, and where a
 * softening length is below 1e-4 of the spacing. Parameters as above. */
void softening_warn(const struct parameters *p, const struct softening_types *types, double a,
                    uint32_t cells);

#endif
