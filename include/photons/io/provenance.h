/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a file comes from: program, date, machine and configuration. Files of runs that differ in
 * nothing else differ in their provenance. */
#ifndef PHOTONS_PROVENANCE_H
#define PHOTONS_PROVENANCE_H

#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/config/parameters.h"

#define PROVENANCE_GROUP "Provenance" /**< its name in HDF5 files */

/** What all ranks together know about the run. */
struct provenance {
  const struct parameters *parameters;
  uint64_t workers, gpus; /**< of all ranks: CPU cores that run tasks; 0 before StarPU starts */
};

/** Collective. @param p  stays in use */
struct provenance provenance_of(const struct parameters *p);

/** Write the HDF5 group Provenance: one attribute an item, and `config.ini`. Local.
 * @param path  the file's name in messages */
void provenance_write(hid_t file, const char *path, const struct provenance *provenance);

/** Write the same but config.ini as lines "# provenance NAME: VALUE". Local. */
void provenance_print(FILE *file, const struct provenance *provenance);

#endif
