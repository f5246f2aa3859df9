/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Consecutive planes of cells of the phase-space sheet, and the map on which they are deposited. */
#ifndef PHOTONS_SHEET_PART_H
#define PHOTONS_SHEET_PART_H

#include <stddef.h>
#include <stdint.h>

struct sheet_part {
  size_t side, planes;           /**< of the lattice; of cells in this part */
  double scale;                  /**< pixels per position unit */
  double mass;                   /**< of a tetrahedron, in units of the map */
  size_t pixels;                 /**< a side of the map */
  uint32_t low, extent;          /**< as in struct projection (image_map.h) */
  const uint32_t (*position)[3]; /**< [planes + 1][side][side] */
  uint64_t *map;                 /**< [x][y], second differences along y (column.h) */
};

/** Add the part's cells to its map. Sums are of whole numbers, and sums of jumps at an edge are in
 * one order. A GPU adds the same numbers (cuda/analysis/gpu_analysis.h). Local. */
void sheet_deposit(const struct sheet_part *p);

#endif
