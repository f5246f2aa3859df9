/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_sums.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

struct row_sums row_sums_create(size_t rows, size_t size) {
  return (struct row_sums){rows, size, allocate(rows * size, sizeof(double), "sums of a mesh")};
}

void row_sums_finish(struct row_sums *s, double *total) {
  comm_sum_double(s->sum, s->rows * s->size); /* exact: one rank has a row, and the others zeros */
  memset(total, 0, s->size * sizeof *total);
  for (size_t row = 0; row < s->rows; row++)
    for (size_t i = 0; i < s->size; i++) total[i] += row_sums_of(s, row)[i];
  free(s->sum);
  *s = (struct row_sums){0};
}
