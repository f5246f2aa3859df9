/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums that the ranks make row by row of a distributed mesh. The rows are added up in their order, so that
 * the bits are the same on any number of ranks and workers. */
#ifndef PHOTONS_ROW_SUMS_H
#define PHOTONS_ROW_SUMS_H

#include <stddef.h>

struct row_sums {
  size_t rows, size; /**< of all ranks; sums of a row */
  double *sum;       /**< [row][size], zeros in rows of other ranks */
};

struct row_sums row_sums_create(size_t rows, size_t size);
/** The sums of a row. */
static inline double *row_sums_of(const struct row_sums *s, size_t row) {
  return s->sum + row * s->size;
}
/** Add up all rows, and free them. Collective. @param[out] total  [size], on all ranks */
void row_sums_finish(struct row_sums *s, double *total);

#endif
