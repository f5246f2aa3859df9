/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of gas on an adaptive mesh, gas_NNN.hdf5, in the layout of GAMER 2.3 (format 2509), so that
 * readers of GAMER's files read them. Such a file holds the whole state of a run, bit for bit: a
 * checkpoint is such a file. All functions are collective. */
#ifndef PHOTONS_GAS_FILE_H
#define PHOTONS_GAS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/amr/kernels.h"
#include "photons/amr/topology.h"
#include "photons/config/parameters.h"

struct gas_particle;
struct gas_particles;

/** What a level has done. */
struct gas_file_level {
  double time, dt; /**< time reached, and the last step */
  int64_t steps;
};

/** Where a run stands, for a restart: as struct progress (app/solver.h). */
struct gas_moment {
  double a, start_a, last_output, wall_seconds;
  int64_t step, outputs_done;
};

/** Everything in a file but the gas itself, the same on all ranks. */
struct gas_file {
  /** Copies the potential of a group of this rank, [patch][z][y][x] of the file's `real` type, for
   * GAMER's field Pote, which is not read. NULL: the file has none. */
  void (*potential)(void *context, int level, uint32_t group, void *cells);
  bool gravity; /**< of the gas itself */
  double newton_constant;
  struct topology topology;
  double cell;                /**< side of a cell of the root level */
  struct gas_physics physics; /**< gamma, and which variables there are */
  size_t real;                /**< bytes of a number: 4 or 8 */
  struct gas_file_level level[GAS_LEVELS_MAX];
  struct gas_moment moment;
  const struct gas_particles *particles; /**< written; NULL: there are none, or they are read later */
  size_t particle_count;                 /**< in a file that is read, of all ranks */
};

/** Where the numbers of a group are, which is an own one of this rank in gas_file.topology: [variable][patch][z][y][x], of
 * the file's `real` type. */
typedef void *gas_file_group(void *context, int level, uint32_t group);

/** Write a file. @param p stored in the file */
void gas_file_write(const char *path, const struct parameters *p, const struct gas_file *f,
                    gas_file_group *group, void *context);
/** The same for a checkpoint: the previous one becomes NAME-previous.hdf5. @param path NAME.hdf5 */
void gas_checkpoint_write(const char *path, const struct parameters *p, const struct gas_file *f,
                          gas_file_group *group, void *context);

/**
 * Read everything but the gas from a file that gas_file_write() or gas_checkpoint_write() has
 * written. The topology has keys alone, and each rank an equal part of them; the caller owns it. The program ends with EXIT_BAD_INPUT if the file is
 * damaged (all its checksums are compared), or if parameters that change the result are not those
 * of @p p.
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
/** Read the gas. @param f      with the octree of the run: which groups this rank has
 * @param group  says where to put their numbers */
void gas_file_read(const char *path, const struct gas_file *f, gas_file_group *group,
                   void *context);
/** Read this rank's part of the particles, an equal one. @return [count], to be freed */
struct gas_particle *gas_file_read_particles(const char *path, size_t *count);

#endif
