/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in files of GAMER's layout: group Particle, whose rows are in the order of the finest
 * patches that contain the particles, and Tree/NPar, the numbers of particles by patch. */
#ifndef PHOTONS_GAS_FILE_PARTICLES_H
#define PHOTONS_GAS_FILE_PARTICLES_H

#include <hdf5.h>

#include "photons/gas/gas_file.h"
#include "photons/pm/particles.h"
#include "src/io/hdf5_set.h"

/** Particles in the order of a file: by patches, those of a patch by their numbers. A rank has
 * rows that follow each other, about equally many, and whole patches. */
struct file_particles;

/** Make it of all particles; collective. file_particles_free() it. */
struct file_particles *file_particles_sort(const struct gas_file *f);
void file_particles_free(struct file_particles *s);
/** Write how many particles each patch contains, Tree/NPar.
 * @param path  the file's name in messages, here and below */
void file_particles_write_numbers(hid_t file, const char *path, const struct file_particles *s);
enum { FILE_PARTICLE_ARRAYS_MOST = 3 * GAS_PARTICLE_COLUMN_COUNT };
/** The arrays of the columns. @return how many */
size_t file_particles_arrays(const struct file_particles *s, const struct row_cut *cut,
                             struct set_array *array);
/** Which rows are in which file; collective. */
struct row_cut file_particles_cut(const struct file_particles *s, size_t files);
/** Write this rank's rows. @param array  that file_particles_arrays() has listed */
void file_particles_write(const struct file_particles *s, const struct set_file *file,
                          struct set_array *array);
/** Read this rank's part of the particles, an equal one; free() them. */
struct gas_particle *file_particles_read(hid_t file, const char *path, size_t *count);

#endif
