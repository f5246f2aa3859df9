/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_finite.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "photons/base/error.h"

static bool is_finite(const void *values, size_t size, size_t i) {
  return size == sizeof(double) ? isfinite(((const double *)values)[i])
                                : isfinite(((const float *)values)[i]);
}

typedef uint32_t whole4 __attribute__((vector_size(16)));
typedef uint64_t whole2 __attribute__((vector_size(16)));

/** Whether a float is infinite or no number: all bits of its exponent are set, and one more makes them overflow. */
static bool has_bad_float(const float *value, size_t count) {
  const uint32_t exponent = 0x7f800000, one = 0x00800000;
  whole4 some = {0}, bits;
  uint32_t last = 0;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    memcpy(&bits, value + i, sizeof bits);
    some |= (bits & exponent) + one;
  }
  for (uint32_t number; i < count; i++) {
    memcpy(&number, value + i, sizeof number);
    last |= (number & exponent) + one;
  }
  return (some[0] | some[1] | some[2] | some[3] | last) >> 31;
}

static bool has_bad_double(const double *value, size_t count) {
  const uint64_t exponent = UINT64_C(0x7ff) << 52, one = UINT64_C(1) << 52;
  whole2 some = {0}, bits;
  uint64_t last = 0;
  size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    memcpy(&bits, value + i, sizeof bits);
    some |= (bits & exponent) + one;
  }
  if (i < count) {
    memcpy(&last, value + i, sizeof last);
    last = (last & exponent) + one;
  }
  return (some[0] | some[1] | last) >> 63;
}

bool hdf5_all_finite(const void *values, size_t size, size_t count) {
  return !(size == sizeof(double) ? has_bad_double(values, count) : has_bad_float(values, count));
}

/** The index of the first number that is not finite; `count` where all are finite.
 * @param size  of a number: that of a float or of a double */
static size_t first_not_finite(const void *values, size_t size, size_t count) {
  if (hdf5_all_finite(values, size, count)) return count;
  size_t i = 0;
  while (is_finite(values, size, i)) i++;
  return i;
}

void hdf5_require_finite(const char *path, const char *name, hid_t type, size_t first, size_t count,
                         size_t columns, const void *values) {
  if (H5Tget_class(type) != H5T_FLOAT) return;
  const size_t size = H5Tget_size(type), bad = first_not_finite(values, size, count * columns);
  if (bad == count * columns) return;
  const double number = size == sizeof number ? ((const double *)values)[bad]
                                              : (double)((const float *)values)[bad];
  fail(
      EXIT_RUN_FAILED,
      "%s: number %zu of row %zu of %s would be %g; only finite numbers are written, and this file "
      "is not; what was written before is good",
      path, bad % columns, first + bad / columns, name, number);
}
