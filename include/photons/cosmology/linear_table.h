/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of linear theory, as tools/linear_theory.py makes them: a heading of lines "# name = value", and rows of numbers. The
 * heading says of which universe, redshift, units and gauge the table is. What it does not say is not checked. */
#ifndef PHOTONS_LINEAR_TABLE_H
#define PHOTONS_LINEAR_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct parameters;

/** What the heading of a table must agree with. */
struct linear_heading {
  const char *what, *path; /**< for messages */
  const struct parameters *parameters;
  double z;        /**< redshift; NAN: the table has many */
  bool background; /**< its radiation and dark energy must be those of the run, too */
  bool scaled; /**< it is scaled to the run's sigma8: another universe is only worth a warning */
};

/** Check one comment line of a heading. Another universe, redshift, unit or gauge ends the program with
 * EXIT_BAD_INPUT. */
void linear_heading_check(const struct linear_heading *h, const char *line);

enum { LINEAR_COLUMNS_MAX = 5 };

struct linear_table {
  struct linear_heading heading;
  size_t columns;
  const char *expected; /**< "five numbers: a, ...": for messages */
  /** Check a row's numbers, and replace them by those to keep. @param place  "file:line", for messages */
  void (*settle)(double row[LINEAR_COLUMNS_MAX], const char *place);
  size_t rows, capacity;
  double *value[LINEAR_COLUMNS_MAX]; /**< by row */
};

/** Read the file. What is wrong in it ends the program with EXIT_BAD_INPUT. */
void linear_table_read(struct linear_table *t);
void linear_table_free(struct linear_table *t);

#endif
