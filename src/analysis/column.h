/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A column of a map of the sheet: the pixels of one x in the order of y. It holds second
 * differences, d_i = m_i - 2 m_(i-1) + m_(i-2) of the masses m in whole units. A mass that is
 * linear in y over any number of pixels then changes few numbers. Sums wrap around at 2^64 and have
 * no rounding. */
#ifndef PHOTONS_COLUMN_H
#define PHOTONS_COLUMN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/host_device.h"

static HOST_DEVICE inline double lesser(double a, double b) { return a < b ? a : b; }
/** @return b where a is no number */
static HOST_DEVICE inline double greater(double a, double b) { return a > b ? a : b; }

/** The largest whole number that is not above y. floor() is a call on plain x86-64. */
static HOST_DEVICE inline long pixel_of(double y) {
  const long i = (long)y;
  return i - ((double)i > y);
}

/** The place in the box of pixel i in [-pixels, 2 pixels). */
static HOST_DEVICE inline size_t wrap(long i, size_t pixels) {
  const long n = (long)pixels;
  return (size_t)(i < 0 ? i + n : i >= n ? i - n : i);
}

/** The nearest number of units; of two equally near ones the even one, so that rounding has no
 * bias. */
static HOST_DEVICE inline uint64_t units(double mass) { return (uint64_t)llrint(mass); }

/** On a GPU other threads may add to the same number. */
static HOST_DEVICE inline void add_units(uint64_t *to, uint64_t d) {
#ifdef __CUDA_ARCH__
  atomicAdd((unsigned long long *)to, (unsigned long long)d);
#else
  *to += d;
#endif
}

/** Rows beyond the end of a column do not exist. */
static HOST_DEVICE inline void add_difference(uint64_t *column, size_t rows, size_t row,
                                              uint64_t d) {
  if (row < rows) add_units(&column[row], d);
}

/** Change the masses from @p row on by first, second, second + step, second + 2 step, ... The row
 * may be outside the column. */
static HOST_DEVICE inline void column_add_tail(uint64_t *column, size_t rows, long row,
                                               uint64_t first, uint64_t second, uint64_t step) {
  if (row < 0) {
    first = second + (uint64_t)(-row - 1) * step;
    second = first + step;
    row = 0;
  }
  add_difference(column, rows, (size_t)row, first);
  add_difference(column, rows, (size_t)row + 1, second - 2 * first);
  add_difference(column, rows, (size_t)row + 2, step - second + first);
}

/** Change the masses of rows first .. end - 1 by mass, mass + step, mass + 2 step, ... */
static HOST_DEVICE inline void column_add_run(uint64_t *column, size_t rows, size_t first,
                                              size_t end, uint64_t mass, uint64_t step) {
  const uint64_t last = mass + (end - first - 1) * step;
  add_units(&column[first], mass);
  add_difference(column, rows, first + 1, step - mass);
  add_difference(column, rows, end, -(last + step));
  add_difference(column, rows, end + 1, last);
}

/** Replace second differences by masses.
 * @param map  [columns][rows] */
static HOST_DEVICE inline void columns_integrate(uint64_t *map, size_t columns, size_t rows) {
  for (size_t c = 0; c < columns; c++) {
    uint64_t mass = 0, step = 0;
    for (size_t i = 0; i < rows; i++) {
      step += map[c * rows + i];
      mass += step;
      map[c * rows + i] = mass;
    }
  }
}

#endif
