/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_finite.h"

#include <math.h>
#include <stdbool.h>

#include "photons/base/error.h"
#include "photons/io/kernels.h"

static bool is_finite(const void *values, size_t size, size_t i) {
  return size == sizeof(double) ? isfinite(((const double *)values)[i])
                                : isfinite(((const float *)values)[i]);
}

/** The index of the first number that is not finite; `count` where all are finite.
 * @param size  of a number: that of a float or of a double */
static size_t first_not_finite(const void *values, size_t size, size_t count) {
  if (io_kernels_select()->all_finite(size, count, values)) return count;
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
