/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables whose first line names the columns, and whose rows begin with rising numbers: log/timings.csv,
 * log/statistics.csv, log/outputs.csv. */
#ifndef PHOTONS_APP_CSV_H
#define PHOTONS_APP_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** All zero: a table without rows. */
struct csv {
  char *text;
  char **cells; /**< the names of the columns, then row by row */
  size_t columns, rows;
};

/**
 * Read the first row and the last rows of a file that may be growing. Rows with more or fewer
 * fields than there are names are left out.
 * @param most  bytes at the end of the file in which rows are taken
 * @return false: there is no such file, or no complete line of names; the table has no rows then
 */
bool csv_read(struct csv *t, const char *path, size_t most);
void csv_free(struct csv *t);

/** Open a table to append rows, which is made if it does not exist. Rows with numbers above `last`, and a row
 * without end, are removed. */
FILE *csv_continue(const char *path, int64_t last);

/** A field, by the name of its column; "" where there is no such row or column. */
const char *csv_text(const struct csv *t, size_t row, const char *name);
/** The same as a number; NAN where the field is empty. */
double csv_number(const struct csv *t, size_t row, const char *name);

#endif
