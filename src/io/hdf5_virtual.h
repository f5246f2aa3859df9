/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datasets of other programs' files, whose values need not be in the file itself: virtual datasets
 * show those of other files, external links lead into other files, and values that were never
 * written are the dataset's fill value. Only files in the folder of the file that names them, or
 * in a folder below, are opened. */
#ifndef PHOTONS_HDF5_VIRTUAL_H
#define PHOTONS_HDF5_VIRTUAL_H

#include <hdf5.h>

/** From now on HDF5 follows external links only into files beside the one that has the link. To be
 * called before a file is opened. */
void hdf5_links_stay_beside(void);

/** Open a dataset of a file; ends the program with EXIT_BAD_INPUT where that fails.
 * @param path  of the file, for messages, here and below */
hid_t hdf5_open_dataset(hid_t group, const char *path, const char *name);

/**
 * Check that all values of a dataset of numbers can be read, before memory is allocated for them:
 * from the file itself, from files beside it, or as fill values. Else the program ends with
 * EXIT_BAD_INPUT. Warns of values that are elsewhere and of values that were never written.
 */
void hdf5_check_readable(hid_t dataset, const char *path, const char *name);

/** Open a file that an object names and that lies beside the object's own. @return negative, with a
 * reason, where it may not be opened or cannot be */
hid_t hdf5_open_beside(hid_t object, const char *name, char reason_256[256]);

#endif
