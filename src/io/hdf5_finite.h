/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that may be written: finite ones. */
#ifndef PHOTONS_HDF5_FINITE_H
#define PHOTONS_HDF5_FINITE_H

#include <hdf5.h>
#include <stddef.h>

/** What is not finite never reaches a file: a floating-point number that is not ends the program
 * (EXIT_RUN_FAILED).
 * @param name     of the dataset or attribute, for the message
 * @param first    the first row of the values
 * @param columns  numbers of a row */
void hdf5_require_finite(const char *path, const char *name, hid_t type, size_t first, size_t count,
                         size_t columns, const void *values);

#endif
