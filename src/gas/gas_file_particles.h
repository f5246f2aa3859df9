/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in files of GAMER's layout: group Particle, whose rows are in the order of the finest
 * patches that contain the particles, and Tree/NPar, the numbers of particles by patch. */
#ifndef PHOTONS_GAS_FILE_PARTICLES_H
#define PHOTONS_GAS_FILE_PARTICLES_H

#include <hdf5.h>

#include "photons/gas/gas_file.h"

/** Write both. @param path  the file's name in messages, here and below */
void file_particles_write(hid_t file, const char *path, const struct gas_file *f);
/** Read the particles; free() them. */
struct gas_particle *file_particles_read(hid_t file, const char *path, size_t *count);

#endif
