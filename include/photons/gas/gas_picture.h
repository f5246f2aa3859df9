/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures of gas: slices through the middle of the box, and the column density, through all
 * levels; and the column density of particles. */
#ifndef PHOTONS_GAS_PICTURE_H
#define PHOTONS_GAS_PICTURE_H

#include <stddef.h>

#include "photons/amr/gas.h"

/**
 * Write slice_density_NNN.png, slice_pressure_NNN.png (of comoving gas slice_temperature_NNN.png),
 * slice_speed_NNN.png, slice_level_NNN.png and projection_density_NNN.png of the present state, and
 * projection_particles_NNN.png of particles. Where there is no gas its pictures are left out. The
 * line of sight is the shortest axis of the box, of equal ones the last. Collective; the gas has
 * been acquired.
 * @param pixels  of the longer side, at most
 */
void gas_pictures_write(const struct gas *g, const char *folder, size_t number, size_t pixels);

#endif
