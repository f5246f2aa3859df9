/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gas of a run as a file, and a run from a file (gas_file.h). Collective. */
#ifndef PHOTONS_GAS_SAVE_H
#define PHOTONS_GAS_SAVE_H

#include "photons/gas/gas.h"
#include "photons/gas/gas_file.h"

/** Write gas_NNN.hdf5. After all tasks. @param dt  last step of the root level */
void gas_save(const char *path, const struct parameters *p, struct gas *g, double dt,
              const struct gas_moment *moment);
/** Write a checkpoint; the one before is kept. @param path  NAME.hdf5 */
void gas_save_checkpoint(const char *path, const struct parameters *p, struct gas *g, double dt,
                         const struct gas_moment *moment);
/**
 * The gas of a checkpoint: octree, cells, time, and numbers of steps, so that the run goes on with
 * the same bits. Bad files end the program, see gas_checkpoint_open().
 * @param look        for a dry run: a damaged file keeps its name
 * @param[out] moment where the run stood
 */
struct gas *gas_restore(const char *path, struct parameters *p, bool look,
                        struct gas_moment *moment);

#endif
