/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of Gadget files, one or many, that hold the particles of one system. The particles of a set
 * are numbered by type, then by file. All functions are collective; what is wrong ends the program
 * with EXIT_BAD_INPUT. */
#ifndef PHOTONS_GADGET_SET_H
#define PHOTONS_GADGET_SET_H

#include "photons/config/parameters.h"
#include "src/io/gadget.h"

enum { GADGET_PATH_SIZE = PARAMETER_PATH_MAX + 32 };

struct gadget_set {
  char first[GADGET_PATH_SIZE]; /**< file 0 */
  size_t number;                /**< position of "0" in the name of file 0; 0: a single file */
  bool hdf5;
  bool isolated;                 /**< without a box */
  bool without_ids;              /**< isolated: no file has ids */
  bool analysed;                 /**< gas is matter, and velocities may lack */
  bool left_out[GADGET_TYPES];   /**< not read */
  struct gadget_header *headers; /**< [file] */
  size_t files;
  uint64_t count, of_type[GADGET_TYPES]; /**< particles of the set */
};

/** Open a set, compare its headers, and check that all blocks are there.
 * @param name      of the first file, or its stem
 * @param isolated  BoxSize is not looked at
 * @param analysed  the particles are not followed: gas is matter, and velocities may lack */
struct gadget_set gadget_set_open(const char *name, bool isolated, bool analysed);
/** BoxSize in the header of the first file of a set, in its unit, or GADGET_ABSENT. */
double gadget_set_box(const char *name);
/** Read only particles of this type from now on. */
void gadget_set_keep(struct gadget_set *set, unsigned type);
void gadget_set_free(struct gadget_set *set);
/** The path of a file, in @p path unless it is set->first. */
const char *gadget_set_path(const struct gadget_set *set, size_t file, char path[GADGET_PATH_SIZE]);

/** Read particles [first, first + count) of the set.
 * @param to  without type, rows, path and checksum; place is that of the first particle */
void gadget_set_read(const struct gadget_set *set, size_t first, size_t count,
                     const struct gadget_sink *to);

/** Read the masses of all particles. @param factor  to the unit of masses */
struct gadget_masses gadget_set_masses(const struct gadget_set *set, double factor);
/** Whether they differ by more than rounding. */
bool gadget_masses_differ(const struct gadget_masses *masses);
/** Their mean with the same bits on any number of ranks, or the one mass. */
double gadget_mean_mass(const struct gadget_masses *masses);
/** Whether there are particles of other types than PARTICLE_HALO. */
bool gadget_set_typed(const struct gadget_set *set);

#endif
