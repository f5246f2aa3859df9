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
 * the rows of the patches of its groups: of each level they follow each other. */
struct file_particles;

/** Make it of all particles; collective. file_particles_free() it. */
struct file_particles *file_particles_sort(const struct gas_file *f);
void file_particles_free(struct file_particles *s);
enum { FILE_PARTICLE_ARRAYS_MOST = 1 + 3 * GAS_PARTICLE_COLUMN_COUNT };
/** The arrays: Tree/NPar and the columns. @param patches  file_patches_cut() @return how many */
size_t file_particles_arrays(const struct file_particles *s, const struct row_cut *cut,
                             const struct row_cut *patches, struct set_array *array);
/** Which rows are in which file; collective. */
struct row_cut file_particles_cut(const struct file_particles *s, size_t files);
/** Write this rank's rows. @param array  that file_particles_arrays() has listed */
void file_particles_write(const struct file_particles *s, const struct set_file *file,
                          struct set_array *array);
/** Read this rank's part of the particles, an equal one; free() them.
 * @param path  the file's name in messages */
struct gas_particle *file_particles_read(hid_t file, const char *path, size_t *count);

#endif
