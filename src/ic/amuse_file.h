/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 files of AMUSE (Portegies Zwart & McMillan 2018), as write_set_to_file(..., 'amuse') makes them: a group for
 * each state of a set of particles, and a dataset with a unit for each attribute. What is wrong ends the program with
 * EXIT_BAD_INPUT. */
#ifndef PHOTONS_AMUSE_FILE_H
#define PHOTONS_AMUSE_FILE_H

#include "row_file.h"

/** Whether a file is of this kind. It is not where it cannot be read. */
bool amuse_file_is(const char *path);
/** Look at the last state in a file. @param[out] units  of its numbers
 * @return number of particles */
size_t amuse_file_open(const char *path, struct row_units *units);
/** Read particles first .. first + count - 1 of this state. @param take  called for each, i from 0 on */
void amuse_file_read(const char *path, size_t first, size_t count,
                     void (*take)(void *context, size_t i, const struct row *row), void *context);

#endif
