/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks as a grid of rows and columns, for meshes in pencils. */
#ifndef PHOTONS_BASE_GRID_H
#define PHOTONS_BASE_GRID_H

#include <stdbool.h>
#include <stddef.h>

/**
 * How many columns of such a grid leave the fewest ranks without a place in it, and of these
 * numbers the one nearest to a square, in which a rank exchanges with the fewest others. At least two columns
 * where there are two ranks and @p columns_most is not 1.
 */
static inline size_t grid_columns(size_t ranks, size_t rows_most, size_t columns_most) {
  size_t best = 1, used = 0;
  for (size_t columns = 2; columns <= ranks && columns <= columns_most; columns++) {
    const size_t rows = ranks / columns < rows_most ? ranks / columns : rows_most;
    const bool squarer = rows * columns == used && rows + columns < used / best + best;
    if (rows * columns <= used && !squarer) continue;
    best = columns;
    used = rows * columns;
  }
  return best;
}

#endif
