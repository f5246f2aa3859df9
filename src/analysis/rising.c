/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rising.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"

/* Numbers go into buckets of equal width, about as many as there are numbers. What is in a bucket is then sorted by
 * insertion, or where it is more than FEW by the library. */
enum { FEW = 32, MOST_BUCKETS = 1 << 20 };

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void insert_each(size_t n, double *value) {
  for (size_t i = 1; i < n; i++) {
    const double x = value[i];
    size_t k = i;
    for (; k > 0 && value[k - 1] > x; k--) value[k] = value[k - 1];
    value[k] = x;
  }
}

static void sort_part(size_t n, double *value) {
  if (n > FEW)
    qsort(value, n, sizeof *value, compare);
  else
    insert_each(n, value);
}

static double largest(size_t n, const double *value) {
  double most = 0.0;
  for (size_t i = 0; i < n; i++) most = value[i] > most ? value[i] : most;
  return most;
}

/** Order numbers by bucket. @param end  [buckets] of zeros; on return where each bucket ends */
static void order_by_bucket(size_t n, double *value, double scale, size_t buckets, uint32_t *end) {
  int32_t *bucket = reallocate(NULL, n, sizeof *bucket, "distances");
  double *old = reallocate(NULL, n, sizeof *old, "distances");
  memcpy(old, value, n * sizeof *old);
  for (size_t i = 0; i < n; i++) bucket[i] = (int32_t)(old[i] * scale);
  for (size_t i = 0; i < n; i++) end[bucket[i]]++;
  uint32_t sum = 0;
  for (size_t k = 0; k < buckets; k++) {
    const uint32_t here = end[k];
    end[k] = sum;
    sum += here;
  }
  for (size_t i = 0; i < n; i++) value[end[bucket[i]]++] = old[i];
  free(old);
  free(bucket);
}

void sort_rising(size_t n, double *value) {
  const double most = largest(n, value);
  if (n <= FEW || most <= 0.0) {
    sort_part(n, value);
    return;
  }
  const size_t buckets = n < MOST_BUCKETS ? n : MOST_BUCKETS;
  uint32_t *end = allocate(buckets, sizeof *end, "distances");
  /* the largest number is in the last bucket, whatever the rounding */
  order_by_bucket(n, value, (double)buckets / most * (1.0 - 1e-9), buckets, end);
  for (size_t k = 0, first = 0; k < buckets; first = end[k++])
    sort_part(end[k] - first, value + first);
  free(end);
}
