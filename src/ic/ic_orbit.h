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
};

/** Read `orbit pericentre=KPC eccentricity=E separation=KPC`.
 * @return whether the text begins with `orbit`. What is wrong with it is in @p reason, else that is empty */
bool orbit_parse(const char *text, struct orbit *orbit, char *reason, size_t size);
/** Position and velocity of the second point relative to the first: Kepler's problem, with the pericentre on the
 * x axis (Binney & Tremaine 2008, section 3.1).
 * @param mass  of both, 1e10 Msun */
void orbit_state(const struct orbit *orbit, double mass, double position[3], double velocity[3]);

/** Where the galaxy of a section is put. What is wrong ends the program with EXIT_BAD_USAGE. */
struct place place_given(const struct parameters *p, const char *section,
                         const struct placing *placing);
/** Put both galaxies on the orbit that second.position names, if it does. The place of the first, which is
 * given, becomes that of their centre of mass. */
void place_on_orbit(const struct parameters *p, const double mass[2], struct place place[2]);

#endif
