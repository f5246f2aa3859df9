/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checksums in HDF5 files: XXH3 of 64 bits, from the library xxHash. Other readers ignore them.
 *
 * A dataset has the attribute xxh3_rows. Its value is the sum modulo 2^64, over the rows, of
 *   XXH3_64bits_withSeed(bytes of the row as the file stores them, seed = index of the row).
 * A group has the attribute xxh3_attributes. Its value is the sum over the other attributes of
 *   XXH3_64bits_withSeed(bytes of the value as the file stores them, seed = XXH3_64bits(name)).
 *
 * A sum does not depend on the order of its terms. So each process adds the rows that it writes or
 * reads, pieces may begin anywhere, and no byte is read again. The seed ties a row to its place:
 * rows that change places change the sum, and so does a row that moves.
 * "As the file stores them" is after the conversion of numbers and before compression. */
#ifndef PHOTONS_HDF5_CHECKSUM_H
#define PHOTONS_HDF5_CHECKSUM_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * What some rows contribute to the sum of their dataset.
 * @param rows      @p count rows, one after the other
 * @param row_bytes size of a row
 * @param first     index of the first of these rows in the dataset
 */
uint64_t checksum_rows(const void *rows, size_t row_bytes, size_t first, size_t count);
/** The same for @p count rows of one number each, which are equal. @param size  of the number: 4 or 8 bytes */
uint64_t checksum_equal_numbers(const void *number, size_t size, size_t first, size_t count);

/** Give a new dataset a sum of 0. @param path the file's name in messages, here and below */
void hdf5_checksum_begin(hid_t dataset, const char *path);
/** Add to the sum of a dataset what checksum_rows() found. */
void hdf5_checksum_add(hid_t dataset, const char *path, uint64_t sum);
/** Write the checksum of a group's attributes, or of the file's own; no attribute may follow. */
void hdf5_checksum_attributes(hid_t group, const char *path);

/** The sum that a dataset has been written with. @return false where it has none */
bool hdf5_checksum_stored(hid_t dataset, const char *path, uint64_t *sum);
/** End the program with EXIT_BAD_INPUT where a group's attributes are not those that were written.
 * @return false where they have no checksum */
bool hdf5_check_attributes(hid_t group, const char *path);

/**
 * Whether a file of this program is whole: the attributes of all groups and all datasets have
 * checksums, and the right ones. On every process: each reads its share of the rows, and all get
 * one answer.
 * @param format what the file's attribute `format` must be; NULL: it need not have one
 * @param reason what is wrong, with the file's name; of @p size bytes
 */
bool hdf5_intact(const char *path, const char *format, char *reason, size_t size);

#endif
