/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where galaxies are put: given positions and velocities, or an orbit of two points of their masses. */
#ifndef PHOTONS_IC_ORBIT_H
#define PHOTONS_IC_ORBIT_H

#include "photons/config/parameters.h"

/** Of a galaxy: kpc, km/s, and angles in degrees. */
struct place {
  double position[3], velocity[3], angle[2];
};

/** An orbit of two points about each other in the x-y plane, turning positively. */
struct orbit {
  double pericentre, eccentricity, separation; /**< kpc; they approach */
  int about; /**< the galaxy that another one orbits, of galaxy_sections */
};

/** Read `orbit pericentre=KPC eccentricity=E separation=KPC [about=SECTION]`.
 * @return whether the text begins with `orbit`. What is wrong with it is in @p reason, else that is empty */
bool orbit_parse(const char *text, struct orbit *orbit, char *reason, size_t size);
/** Position and velocity of the second point relative to the first: Kepler's problem, with the pericentre on the
 * x axis (Binney & Tremaine 2008, section 3.1).
 * @param mass  of both, 1e10 Msun */
void orbit_state(const struct orbit *orbit, double mass, double position[3], double velocity[3]);

/** Where the galaxy of a section is put. What is wrong ends the program with EXIT_BAD_USAGE. */
struct place place_given(const struct parameters *p, const char *section,
                         const struct placing *placing);
/** Put galaxies on the orbits that their positions name, one after the other. Such a galaxy orbits the one that it
 * names together with all before it that orbit that one; the place of their centre of mass does not change. The
 * orbits of these are those of all the mass that orbits them, also of sections behind.
 * @param mass  [count] of each galaxy, 1e10 Msun
 * @param place [count] those that are given */
void place_on_orbits(const struct parameters *p, int count, const double *mass,
                     struct place *place);

#endif
