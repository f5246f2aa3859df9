/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rising.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"

/* Numbers go into buckets of equal width, about as many as there are numbers. What is in a bucket is then sorted by
 * insertion, or where it is more than FEW by the library. */
enum { FEW = 32, MOST_BUCKETS = 1 << 20 };

enum { DIGITS = 8, DIGIT_VALUES = 256 }; /* of 64 bits */

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

static void insert_numbers(size_t n, uint32_t *number) {
  for (size_t i = 1; i < n; i++) {
    const uint32_t one = number[i];
    size_t k = i;
    for (; k > 0 && number[k - 1] > one; k--) number[k] = number[k - 1];
    number[k] = one;
  }
}

/** Bring numbers in the order of one digit; those with an equal one keep their order. */
static void order_number_digit(size_t n, const uint32_t *from, uint32_t *to, unsigned digit) {
  uint32_t next[DIGIT_VALUES] = {0}, sum = 0;
  for (size_t i = 0; i < n; i++) next[from[i] >> (8 * digit) & (DIGIT_VALUES - 1)]++;
  for (unsigned v = 0; v < DIGIT_VALUES; v++) {
    const uint32_t here = next[v];
    next[v] = sum;
    sum += here;
  }
  for (size_t i = 0; i < n; i++) to[next[from[i] >> (8 * digit) & (DIGIT_VALUES - 1)]++] = from[i];
}

void sort_numbers(size_t n, uint32_t *number) {
  if (n <= FEW) {
    insert_numbers(n, number);
    return;
  }
  uint32_t most = 0;
  for (size_t i = 0; i < n; i++) most = number[i] > most ? number[i] : most;
  uint32_t *const room = reallocate(NULL, n, sizeof *room, "an order"), *from = number, *to = room;
  for (unsigned digit = 0; digit < sizeof most && most >> (8 * digit) > 0; digit++) {
    order_number_digit(n, from, to, digit);
    uint32_t *const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != number) memcpy(number, from, n * sizeof *number);
  free(room);
}

/** Rising keys belong to rising or falling values. */
struct keyed {
  uint64_t key;
  uint32_t index;
};

/** Bits that rise with the value: all bits of negative numbers are inverted, and the sign of others. Both zeros are
 * equal. */
static uint64_t key_of(double value) {
  const double x = value + 0.0;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits ^ (bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
}

static void insert_keys(size_t n, struct keyed *k) {
  for (size_t i = 1; i < n; i++) {
    const struct keyed one = k[i];
    size_t j = i;
    for (; j > 0 && k[j - 1].key > one.key; j--) k[j] = k[j - 1];
    k[j] = one;
  }
}

static unsigned digit_of(const struct keyed *k, unsigned digit) {
  return k->key >> (8 * digit) & (DIGIT_VALUES - 1);
}

/** Bring keys in the order of one digit; those with an equal one keep their order. @return whether they moved */
static bool order_digit(size_t n, const struct keyed *from, struct keyed *to, unsigned digit,
                        const uint32_t count[DIGIT_VALUES]) {
  uint32_t next[DIGIT_VALUES], sum = 0;
  if (count[digit_of(&from[0], digit)] == n) return false;
  for (unsigned v = 0; v < DIGIT_VALUES; sum += count[v++]) next[v] = sum;
  for (size_t i = 0; i < n; i++) to[next[digit_of(&from[i], digit)]++] = from[i];
  return true;
}

/** Sort by one digit after the other, the lowest first. @return `k` or `room`, which has the result */
static struct keyed *order_digits(size_t n, struct keyed *k, struct keyed *room) {
  uint32_t count[DIGITS][DIGIT_VALUES] = {{0}};
  for (size_t i = 0; i < n; i++)
    for (unsigned d = 0; d < DIGITS; d++) count[d][digit_of(&k[i], d)]++;
  for (unsigned d = 0; d < DIGITS; d++)
    if (order_digit(n, k, room, d, count[d])) {
      struct keyed *const sorted = room;
      room = k;
      k = sorted;
    }
  return k;
}

static void order_by_value(size_t n, const double *value, double sign, uint32_t *order) {
  struct keyed *const keys = reallocate(NULL, 2 * n, sizeof *keys, "an order"), *sorted = keys;
  for (uint32_t i = 0; i < n; i++) keys[i] = (struct keyed){key_of(sign * value[i]), i};
  if (n <= FEW)
    insert_keys(n, keys);
  else
    sorted = order_digits(n, keys, keys + n);
  for (size_t i = 0; i < n; i++) order[i] = sorted[i].index;
  free(keys);
}

void order_rising(size_t n, const double *value, uint32_t *order) {
  order_by_value(n, value, 1.0, order);
}

void order_falling(size_t n, const double *value, uint32_t *order) {
  order_by_value(n, value, -1.0, order);
}
