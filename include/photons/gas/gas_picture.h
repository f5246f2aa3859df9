/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures of gas: slices, and means along the line of sight, through all levels; and the column
 * density of particles. */
#ifndef PHOTONS_GAS_PICTURE_H
#define PHOTONS_GAS_PICTURE_H

#include <stddef.h>

#include "photons/amr/gas.h"

struct parameters;

/**
 * Write slice_density_NNN.png, slice_pressure_NNN.png (of comoving gas slice_temperature_NNN.png),
 * slice_speed_NNN.png, slice_level_NNN.png, projection_density_NNN.png, and means weighted by density
 * projection_temperature_NNN.png and projection_level_NNN.png, of the present state; and
 * projection_particles_NNN.png of particles. Where there is no gas its pictures are left out. The
 * parameters tell the line of sight, the plane of slices, colours, and the pixels of the longer side,
 * at most. Collective; the gas has been acquired.
 */
void gas_pictures_write(const struct gas *g, const struct parameters *p, size_t number);
/** Write the column density, of particles where there is no gas, as a frame of the movie. Collective;
 * the gas has been acquired. */
void gas_frame_write(const struct gas *g, const struct parameters *p, const char *path);

#endif
