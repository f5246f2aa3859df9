/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datasets in compressed chunks, whose chunks are compressed by all workers. */
#ifndef PHOTONS_HDF5_CHUNKS_H
#define PHOTONS_HDF5_CHUNKS_H

#include <hdf5.h>
#include <stddef.h>

/**
 * Let a dataset be stored in chunks through HDF5's filters shuffle and deflate, which every HDF5 has.
 * @param layout   property list for its creation
 * @param rows     of a chunk
 * @param columns  of the dataset; each chunk is of one column, because the bytes of a column resemble each
 *                 other more than those of a row
 * @param level    of deflate, 1 .. 9
 */
void hdf5_set_chunks(hid_t layout, const char *path, size_t rows, size_t columns, unsigned level);
/**
 * The same as hdf5_write_rows() for a dataset of hdf5_set_chunks() whose type in the file is @p type: tasks
 * on all workers compress the chunks that these rows fill. The other rows go through HDF5, one after the
 * other. The file holds the same values either way.
 */
void hdf5_write_chunks(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                       size_t count, size_t columns, const void *rows);

#endif
