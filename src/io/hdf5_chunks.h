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
/** Where values come from. */
struct column_source {
  /** Make the next rows of a chunk, on any thread. The rows of a chunk are asked for in order.
   * @param chunk         number of the chunk among those that the rows of hdf5_write_chunks() touch
   * @param[out] columns  [column][count] */
  void (*make)(void *context, size_t chunk, size_t count, void *columns);
  void *context;
};
/**
 * The same as hdf5_write_rows() for a dataset of hdf5_set_chunks() whose type in the file is @p type, of 4 or 8 bytes,
 * and of 1 or 3 columns. Tasks on all workers make the values and compress the chunks that these rows fill, which go through
 * the caches once. Chunks of which other rows are missing go through HDF5, one after the other. The file holds the same values
 * either way.
 */
void hdf5_write_chunks(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                       size_t count, size_t columns, const struct column_source *source);

#endif
