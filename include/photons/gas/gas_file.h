/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of gas on an adaptive mesh, gas_NNN.hdf5, in the layout of GAMER 2.3 (format 2509), so that
 * readers of GAMER's files read them. Such a file holds the whole state of a run, bit for bit: a
 * checkpoint is such a file. All functions are collective. */
#ifndef PHOTONS_GAS_FILE_H
#define PHOTONS_GAS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/config/parameters.h"

enum {
  GAS_FILE_LEVELS_MOST = 24,
  GAS_FILE_VARIABLES_MOST = 6,
  GAS_FILE_GROUP_CELLS = 16,  /**< a side of a group of 2^3 patches */
  GAS_FILE_GROUP_PATCHES = 8, /**< patch x + 2y + 4z of a group */
  GAS_FILE_PATCH_CELLS = 512  /**< of a patch: 8^3 */
};

/** Numbers as GAMER's files have them. */
enum gas_file_boundary { GAS_FILE_PERIODIC = 1, GAS_FILE_OUTFLOW = 2, GAS_FILE_REFLECTING = 3 };
enum gas_file_scheme { GAS_FILE_RTVD = 1, GAS_FILE_MUSCL_HANCOCK = 3 };

/** The groups of patches of one level, of all ranks. */
struct gas_file_level {
  size_t groups;
  int32_t (*place)[3]; /**< corners in units of the side of a group of this level, in the order of
                            their Morton keys */
  double time, dt;     /**< time reached, in code units, and the last step */
  int64_t steps;       /**< steps done */
};

/** Everything in a file but the gas itself, the same on all ranks. */
struct gas_file {
  uint32_t root[3];    /**< cells of level 0; multiples of 16 */
  double box[3];       /**< sides of the box, in code units */
  int32_t boundary[6]; /**< enum gas_file_boundary of the sides -x, +x, -y, +y, -z, +z */
  double gamma;        /**< ratio of specific heats */
  enum gas_file_scheme scheme;
  size_t variables; /**< density, momentum x, y, z, energy; 6: and the entropy of dual energy */
  size_t real;      /**< bytes of a number: 4 or 8 */
  size_t levels;    /**< levels that there may be */
  struct gas_file_level level[GAS_FILE_LEVELS_MOST];
  /** Where the run stands, for a restart: members of struct progress (app/solver.h). */
  double a, start_a, last_output, wall_seconds;
  int64_t step, outputs_done;
};

/**
 * Where the numbers of a group are: [variable][patch 0..7][z][y][x], of the file's `real` type.
 * @return NULL where the group belongs to another rank; every group belongs to one rank
 */
typedef void *gas_file_group(void *context, size_t level, size_t group);

/** Write a file. @param p stored in the file */
void gas_file_write(const char *path, const struct parameters *p, const struct gas_file *f,
                    gas_file_group *group, void *context);
/** The same for a checkpoint: the previous one becomes NAME-previous.hdf5. @param path NAME.hdf5 */
void gas_checkpoint_write(const char *path, const struct parameters *p, const struct gas_file *f,
                          gas_file_group *group, void *context);

/**
 * Read everything but the gas from a file that gas_file_write() or gas_checkpoint_write() has
 * written. The program ends with EXIT_BAD_INPUT if the file is damaged (all its checksums are
 * compared), or if parameters that change the result are not those of @p p.
 */
struct gas_file gas_file_open(const char *path, struct parameters *p);
/**
 * The same for a checkpoint: where NAME.hdf5 is damaged or missing, NAME-previous.hdf5 is read
 * after a warning, and the damaged file becomes NAME-damaged.hdf5.
 * @param look       for a dry run: a damaged file keeps its name
 * @param[out] found the file that was read, malloc'ed, for gas_file_read()
 */
struct gas_file gas_checkpoint_open(const char *path, struct parameters *p, bool look,
                                    char **found);
/** Read the gas. @param group says where to put the numbers of this rank's groups */
void gas_file_read(const char *path, const struct gas_file *f, gas_file_group *group,
                   void *context);
void gas_file_free(struct gas_file *f);

#endif
