/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of datasets that must be there before they are read: in the file itself, or in the parts of a set
 * (hdf5_set.h). HDF5 gives zeros for parts that are missing. */
#ifndef PHOTONS_HDF5_SHARE_H
#define PHOTONS_HDF5_SHARE_H

#include <hdf5.h>
#include <stdbool.h>

/**
 * Whether this process's share of the rows of a dataset (comm_first()) is there: in its own file as
 * hdf5_stored() says, or, of an array of a set (hdf5_set.h), in parts beside it. So that on all
 * processes together each part is opened by a few. Local; the program does not end.
 * @param[out] reason_256  why not
 */
bool hdf5_share_stored(hid_t dataset, char reason_256[256]);
/** The same, but ends the program with EXIT_BAD_INPUT where that is false. */
void hdf5_check_share(hid_t dataset, const char *path, const char *name);

#endif
