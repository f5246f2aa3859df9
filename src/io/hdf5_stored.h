/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the values of a dataset are in its file, and can be read. */
#ifndef PHOTONS_HDF5_STORED_H
#define PHOTONS_HDF5_STORED_H

#include <hdf5.h>
#include <stdbool.h>

/** Whether HDF5 can read what is stored with this property list. @param[out] reason_128  else: which
 * filter is missing, e.g. "is stored through lzf ..." */
bool hdf5_filters_known(hid_t layout, char reason_128[128]);
/**
 * Whether a dataset has at most HDF5_DIMENSIONS_MOST dimensions and its values are in the file.
 * HDF5 gives zeros for values that were never written, and a damaged file can announce any number
 * of them. To be called before memory is allocated for the values.
 * @param[out] reason_128  why not, e.g. "has more than four dimensions"
 */
bool hdf5_stored(hid_t dataset, char reason_128[128]);
/** The same, but ends the program with EXIT_BAD_INPUT where hdf5_stored() is false. */
void hdf5_check_stored(hid_t dataset, const char *path, const char *name);

#endif
