/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/exact_sums.h"

#include <math.h>
#include <starpu.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

enum {
  NOT_FINITE = EXACT_DIGITS - 1,
  TOP = EXACT_DIGITS - 2,
  BITS = 32,
  LOWEST = -1074,
  OF_A_WORKER = 2
};

struct exact_sums exact_sums_create(size_t size, size_t rows) {
  const uint32_t workers = starpu_is_initialized() ? starpu_cpu_worker_get_count() : 0;
  struct exact_sums s = {.size = size, .parts = workers > 0 ? OF_A_WORKER * workers : 1};
  if (rows >> 31 >= s.parts) s.parts = (uint32_t)(rows >> 31) + 1; /* exact_add() */
  if (s.parts > rows) s.parts = rows > 0 ? (uint32_t)rows : 1;
  s.sum = allocate(s.parts * size, sizeof *s.sum, "exact sums");
  return s;
}

void exact_add(struct exact_sum *s, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const unsigned exponent = bits >> 52 & 0x7ff;
  if (exponent == 0x7ff) {
    s->digit[NOT_FINITE]++;
    return;
  }
  const uint64_t fraction = bits & 0xfffffffffffff;
  const uint64_t whole = exponent > 0 ? fraction | UINT64_C(1) << 52 : fraction;
  const unsigned from = exponent > 0 ? exponent - 1 : 0;
  const unsigned __int128 shifted = (unsigned __int128)whole << from % BITS;
  const int64_t sign = bits >> 63 ? -1 : 1;
  int64_t *digit = s->digit + from / BITS;
  for (int i = 0; i < 3; i++) digit[i] += sign * (int64_t)(uint32_t)(shifted >> BITS * i);
}

/** Make all digits but the top one 0 .. 2^32 - 1. */
static void carry(struct exact_sum *s) {
  for (int i = 0; i < TOP; i++) {
    const int64_t over = s->digit[i] >> BITS;
    s->digit[i] -= over * (INT64_C(1) << BITS);
    s->digit[i + 1] += over;
  }
}

static double rounded(struct exact_sum s) {
  if (s.digit[NOT_FINITE] > 0) return NAN;
  const bool negative = s.digit[TOP] < 0;
  for (int i = 0; negative && i <= TOP; i++) s.digit[i] = -s.digit[i];
  carry(&s);
  double sum = 0.0;
  for (int i = TOP; i >= 0; i--) sum += ldexp((double)s.digit[i], BITS * i + LOWEST);
  return negative ? -sum : sum;
}

void exact_sums_finish(struct exact_sums *s, double *total) {
  for (size_t i = 0; i < s->size; i++) {
    carry(&s->sum[i]);
    for (uint32_t part = 1; part < s->parts; part++) {
      struct exact_sum *other = exact_sums_of(s, part) + i;
      carry(other);
      for (int d = 0; d < EXACT_DIGITS; d++) s->sum[i].digit[d] += other->digit[d];
    }
  }
  comm_sum_u64((uint64_t *)s->sum, s->size * EXACT_DIGITS);
  for (size_t i = 0; i < s->size; i++) {
    carry(&s->sum[i]);
    total[i] = rounded(s->sum[i]);
  }
  free(s->sum);
  *s = (struct exact_sums){0};
}
