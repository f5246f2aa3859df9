/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files with a row for each particle: text tables, Tipsy, and HDF5 files of AMUSE. Each rank reads text and Tipsy from
 * the beginning and keeps its own rows. What is wrong ends the program with EXIT_BAD_INPUT. */
#ifndef PHOTONS_ROW_FILE_H
#define PHOTONS_ROW_FILE_H

#include "photons/config/parameters.h"

/** A particle, in units of the file. */
struct row {
  double mass, x[3], v[3];
  uint64_t id; /**< 0: the file has none */
  int type;
};

/** Units of the numbers of a file in cgs, or GADGET_ABSENT. */
struct row_units {
  double length, mass, velocity;
};

struct row_file {
  char path[PARAMETER_PATH_MAX];
  bool amuse;
  bool tipsy, swapped; /**< Tipsy; bytes in the other order */
  size_t header;       /**< of Tipsy, bytes */
  size_t dark;         /**< of Tipsy: particles of type 1, which stars follow */
  int columns;         /**< of text: numbers in a row, */
  int column[16];      /**< and what they are; an index of ROW_NAMES */
  bool ids;            /**< the file has ids */
  size_t count;
  double mass_sum, least_mass, largest_mass;
  struct row_units units;
  bool typed; /**< there are other types than 1 */
};

/** Whether a file is of these kinds. It is not where it cannot be read. */
bool row_file_is(const char *path);
/** Read all rows once: count them, and find their masses and types. */
struct row_file row_file_open(const char *path);
/** Read rows first .. first + count - 1. @param take  called for each, i from 0 on */
void row_file_read(const struct row_file *f, size_t first, size_t count,
                   void (*take)(void *context, size_t i, const struct row *row), void *context);

#endif
