/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datasets whose rows are members of structures. */
#include "tree_columns.h"

#include <stdlib.h>
#include <string.h>

#include "photons/analysis/tree.h"
#include "src/io/hdf5_stored.h"

#define OBJECT(member) offsetof(struct tree_object, member)
const struct tree_column tree_object_columns[TREE_OBJECT_COLUMNS] = {
    {"GroupNr", OBJECT(group), 1, COLUMN_INT64, UNIT_NONE},
    {"SubhaloLen", OBJECT(count), 1, COLUMN_INT64, UNIT_NONE},
    {"SubhaloIDMostbound", OBJECT(most_bound), 1, COLUMN_UINT64, UNIT_NONE},
    {"ListedIDs", OBJECT(listed), 1, COLUMN_INT64, UNIT_NONE},
    {"SubhaloPos", OBJECT(position), 3, COLUMN_DOUBLE, UNIT_LENGTH},
    {"SubhaloVel", OBJECT(velocity), 3, COLUMN_FLOAT, UNIT_VELOCITY},
    {"SubhaloMass", OBJECT(mass), 1, COLUMN_FLOAT, UNIT_MASS},
    {"Group_M_Crit200", OBJECT(mass_200c), 1, COLUMN_FLOAT, UNIT_MASS},
    {"SubhaloVmax", OBJECT(v_max), 1, COLUMN_FLOAT, UNIT_VELOCITY},
};

static hid_t type_of(const struct tree_column *c) {
  const hid_t types[] = {[COLUMN_DOUBLE] = H5T_NATIVE_DOUBLE,
                         [COLUMN_FLOAT] = H5T_NATIVE_FLOAT,
                         [COLUMN_INT64] = H5T_NATIVE_INT64,
                         [COLUMN_UINT64] = H5T_NATIVE_UINT64,
                         [COLUMN_UINT8] = H5T_NATIVE_UINT8};
  return types[c->number];
}

/** Physical value in cgs = value * to_cgs * a^a_scaling * h^h_scaling, as in Gadget-4's files. */
static void write_unit(hid_t dataset, const char *path, const struct tree_column *c) {
  static const double to_cgs[] = {
      [UNIT_NONE] = 1.0, [UNIT_LENGTH] = 3.085678e24, [UNIT_MASS] = 1.989e43, [UNIT_VELOCITY] = 1e5};
  const bool length = c->unit == UNIT_LENGTH, mass = c->unit == UNIT_MASS;
  hdf5_write_double(dataset, path, "a_scaling", length);
  hdf5_write_double(dataset, path, "h_scaling", length || mass ? -1.0 : 0.0);
  hdf5_write_double(dataset, path, "length_scaling", length);
  hdf5_write_double(dataset, path, "mass_scaling", mass);
  hdf5_write_double(dataset, path, "velocity_scaling", c->unit == UNIT_VELOCITY);
  hdf5_write_double(dataset, path, "to_cgs", to_cgs[c->unit]);
}

static void close_dataset(hid_t dataset, enum exit_code code, const char *path) {
  hdf5_check(H5Dclose(dataset), code, path, "close a dataset");
}

void tree_column_create(hid_t group, const char *path, const struct tree_column *c, size_t rows) {
  const hid_t dataset = hdf5_create_dataset(group, path, c->name, type_of(c), rows, c->columns,
                                            H5P_DEFAULT);
  write_unit(dataset, path, c);
  close_dataset(dataset, EXIT_RUN_FAILED, path);
}

void tree_column_write(hid_t group, const char *path, const struct tree_column *c, size_t first,
                       size_t count, const void *records, size_t size) {
  const size_t row = c->columns * H5Tget_size(type_of(c));
  char *rows = row == size ? NULL : allocate(count, row, "writing merger trees");
  for (size_t i = 0; rows && i < count; i++)
    memcpy(rows + i * row, (const char *)records + i * size + c->offset, row);
  const hid_t dataset = hdf5_check(H5Dopen2(group, c->name, H5P_DEFAULT), EXIT_RUN_FAILED, path,
                                   "continue the file");
  hdf5_write_rows(dataset, path, c->name, type_of(c), first, count, c->columns,
                  rows ? rows : records);
  close_dataset(dataset, EXIT_RUN_FAILED, path);
  free(rows);
}

static void check_rows(hid_t dataset, const char *path, const struct tree_column *c, size_t rows) {
  const hid_t space = hdf5_check(H5Dget_space(dataset), EXIT_BAD_INPUT, path, "read a dataset");
  const hssize_t there = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  if (there < 0 || (size_t)there != rows * c->columns)
    fail(EXIT_BAD_INPUT, "%s: %s has %lld numbers, expected %zu", path, c->name, (long long)there,
         rows * c->columns);
  hdf5_check_stored(dataset, path, c->name);
}

void tree_column_read(hid_t group, const char *path, const struct tree_column *c, size_t rows,
                      size_t first, size_t count, void *records, size_t size) {
  const hid_t dataset = hdf5_check(H5Dopen2(group, c->name, H5P_DEFAULT), EXIT_BAD_INPUT, path,
                                   "read a dataset");
  check_rows(dataset, path, c, rows);
  const size_t row = c->columns * H5Tget_size(type_of(c));
  char *values = row == size ? NULL : allocate(count, row, "reading merger trees");
  hdf5_read_rows(dataset, path, c->name, type_of(c), first, count, c->columns,
                 values ? values : records, NULL);
  for (size_t i = 0; values && i < count; i++)
    memcpy((char *)records + i * size + c->offset, values + i * row, row);
  close_dataset(dataset, EXIT_BAD_INPUT, path);
  free(values);
}
