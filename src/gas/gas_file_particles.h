/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in files of GAMER's layout: group Particle, whose rows are in the order of the finest
 * patches that contain the particles, and Tree/NPar, the numbers of particles by patch. */
#ifndef PHOTONS_GAS_FILE_PARTICLES_H
#define PHOTONS_GAS_FILE_PARTICLES_H

#include <hdf5.h>

#include "photons/gas/gas_file.h"

/** Particles in the order of a file: by patches, those of a patch by their numbers. A rank has
 * rows that follow each other, about equally many, and whole patches. */
struct file_particles;

/** Make it of all particles; collective. file_particles_free() it. */
struct file_particles *file_particles_sort(const struct gas_file *f);
void file_particles_free(struct file_particles *s);
/** Make the datasets of columns, without values, and write Tree/NPar: on the rank that makes the
 * file. @param path  the file's name in messages, here and below */
void file_particles_create(hid_t file, const char *path, const struct file_particles *s);
/** Write this rank's rows. */
void file_particles_write(hid_t file, const char *path, const struct file_particles *s);
/** Read this rank's part of the particles, an equal one; free() them. */
struct gas_particle *file_particles_read(hid_t file, const char *path, size_t *count);

#endif
