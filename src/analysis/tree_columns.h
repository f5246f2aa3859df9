/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datasets whose rows are members of structures. */
#ifndef PHOTONS_TREE_COLUMNS_H
#define PHOTONS_TREE_COLUMNS_H

#include "src/io/hdf5_util.h"

/** A dataset. Lengths are in Mpc/h, masses in 1e10 Msun/h, velocities in km/s. */
struct tree_column {
  const char *name;
  size_t offset, columns; /**< of its values in a record; numbers of a row */
  enum { COLUMN_DOUBLE, COLUMN_FLOAT, COLUMN_INT64, COLUMN_UINT64, COLUMN_UINT8 } number;
  enum { UNIT_NONE, UNIT_LENGTH, UNIT_MASS, UNIT_VELOCITY } unit;
};

/** The members of struct tree_object, by Gadget-4's names. */
enum { TREE_OBJECT_COLUMNS = 9 };
extern const struct tree_column tree_object_columns[TREE_OBJECT_COLUMNS];

/** Create the dataset of a column, still without values, with attributes that tell its unit. */
void tree_column_create(hid_t group, const char *path, const struct tree_column *c, size_t rows);
/** Write a column of records to rows [first, first + count).
 * @param size  bytes of a record */
void tree_column_write(hid_t group, const char *path, const struct tree_column *c, size_t first,
                       size_t count, const void *records, size_t size);
/** Read them from a dataset of @p rows rows; another number of rows ends the program. */
void tree_column_read(hid_t group, const char *path, const struct tree_column *c, size_t rows,
                      size_t first, size_t count, void *records, size_t size);

#endif
