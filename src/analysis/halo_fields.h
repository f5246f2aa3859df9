/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The datasets of a halo catalogue's file, as a table. */
#ifndef PHOTONS_HALO_FIELDS_H
#define PHOTONS_HALO_FIELDS_H

#include <stdbool.h>

#include "photons/analysis/halo.h"

/** A dataset of one of the HDF5 groups Group and Subhalo. Physical value in cgs = value * to_cgs * a^a_scaling *
 * h^h_scaling. */
struct halo_field {
  const char *name;
  /** Fill the rows of this rank's objects. @param length  file units of length in a Mpc/h */
  void (*fill)(const struct halo_catalogue *c, double length, void *rows);
  size_t columns;
  double a_scaling;
  enum { FIELD_DOUBLE, FIELD_FLOAT, FIELD_INT32, FIELD_INT64, FIELD_UINT64 } number;
  double length, mass, velocity; /**< powers of these in the unit */
  /** FIELD_HEAVY: contamination, where halos consist of light particles; FIELD_ONE_TYPE: where all members are of one
   * type. */
  enum { FIELD_ALWAYS, FIELD_HEAVY, FIELD_ONE_TYPE } where;
};

/** An HDF5 group and its datasets, which have a row for each halo or subhalo. */
struct halo_table {
  const char *group;
  const struct halo_field *field;
  size_t fields;
  bool subhalos;
};
enum { HALO_TABLES = 2 };
extern const struct halo_table halo_tables[HALO_TABLES];

#endif
