/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos of particles of several masses, such as those of a zoom: they are made of the light ones. All
 * functions are collective. */
#ifndef PHOTONS_APP_LIGHT_PARTICLES_H
#define PHOTONS_APP_LIGHT_PARTICLES_H

#include "photons/app/products.h"

/** Whether halos can be made of particles of several masses. Where they cannot, because there is gas, which
 * friends of friends do not link, a warning says so. */
bool halos_possible(const struct particles *s);
/** Refuse what needs halos of the whole box: light particles fill a part of it. */
void halos_require_light(const struct parameters *p);
/** Let the halos of an output be made of its light particles, those of at most twice the least mass.
 * @param[out] light  copies of these, with their mean mass, in groups of their own; the caller frees them.
 * Their `relative_mass` is over the mean mass of all particles, and not over theirs: particle_mass() is not for them */
void products_take_light(struct products *products, struct particles *light);
/** The other particles of such an output, in their order; free with particles_free(). */
struct particles products_heavy(const struct products *products);

#endif
