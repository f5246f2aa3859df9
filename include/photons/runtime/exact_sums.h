/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums without rounding (Kulisch 2013, Computer Arithmetic and Validity, section 8): a sum is a whole number of units of
 * 2^-1074, the smallest double. So sums of what ranks and workers have of a mesh or of groups have the same bits, whoever has
 * what. */
#ifndef PHOTONS_RUNTIME_EXACT_SUMS_H
#define PHOTONS_RUNTIME_EXACT_SUMS_H

#include <stddef.h>
#include <stdint.h>

enum { EXACT_DIGITS = 68 }; /**< of 32 bits; and a number of terms that are not finite */

struct exact_sum {
  int64_t digit[EXACT_DIGITS]; /**< from the lowest; of any sign until the end */
};

struct exact_sums {
  size_t size;
  uint32_t parts;        /**< tasks that may add at the same time */
  struct exact_sum *sum; /**< [part][size] */
};

/** @param rows  tasks divide so many things among them */
struct exact_sums exact_sums_create(size_t size, size_t rows);
static inline struct exact_sum *exact_sums_of(const struct exact_sums *s, uint32_t part) {
  return s->sum + part * s->size;
}
/** At most 2^31 times for a sum of a part. */
void exact_add(struct exact_sum *s, double value);
/** Add up the parts of all ranks, rounded at the end, and free them. A sum with terms that are not finite is NaN.
 * Collective. @param[out] total  [size], on all ranks */
void exact_sums_finish(struct exact_sums *s, double *total);

#endif
