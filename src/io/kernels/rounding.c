/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of lean snapshots from those of the run, whether they are finite, and their bytes by place. */
#include <math.h>
#include <string.h>

#include "photons/io/kernels.h"
#include "src/io/snapshot_rounding.h"

/** rounded() of a number that is small enough for its sum. */
static inline double rounded_here(double value, double large) { return value + large - large; }

/** Positions are less than a turn, 2^32, so that one look at the largest says whether all are small. */
static inline bool positions_are_small(const struct rounded_scale *s) {
  return fabs(s->shift) + 0x1p32 * fabs(s->factor) < ROUNDED_SMALL * s->step;
}

static inline double in_box(double place, double end) { return place < end ? place : 0.0; }

void KERNEL(round_positions)(size_t count, const uint32_t *x, const struct rounded_scale *s,
                             float *out) {
  const double factor = s->factor, shift = s->shift, step = s->step, end = s->end;
  const double large = ROUNDED_LARGE * step;
  if (positions_are_small(s))
    for (size_t i = 0; i < count; i++)
      out[i] = (float)in_box(rounded_here((double)x[i] * factor + shift, large), end);
  else
    for (size_t i = 0; i < count; i++)
      out[i] = (float)in_box(rounded((double)x[i] * factor + shift, step), end);
}

void KERNEL(round_positions_wide)(size_t count, const uint32_t *x, const struct rounded_scale *s,
                                  double *out) {
  const double factor = s->factor, shift = s->shift, step = s->step, end = s->end;
  const double large = ROUNDED_LARGE * step;
  if (positions_are_small(s))
    for (size_t i = 0; i < count; i++)
      out[i] = in_box(rounded_here((double)x[i] * factor + shift, large), end);
  else
    for (size_t i = 0; i < count; i++)
      out[i] = in_box(rounded((double)x[i] * factor + shift, step), end);
}

void KERNEL(round_velocities)(size_t count, const float *p, const struct rounded_scale *s,
                              float *out) {
  const double factor = s->factor, step = s->step, large = ROUNDED_LARGE * step;
  const double small = ROUNDED_SMALL * step;
  int any_large = 0;
  for (size_t i = 0; i < count; i++) {
    const double value = (double)p[i] * factor;
    any_large |= !(fabs(value) < small);
    out[i] = (float)rounded_here(value, large);
  }
  if (any_large)
    for (size_t i = 0; i < count; i++) out[i] = (float)rounded((double)p[i] * factor, step);
}

#ifdef __AVX2__
enum { WIDTH = 32 }; /* bytes of a vector */
#else
enum { WIDTH = 16 };
#endif
typedef uint32_t words __attribute__((vector_size(WIDTH)));
typedef uint64_t double_words __attribute__((vector_size(WIDTH)));

/** All bits of the exponent of a float that is infinite or no number are set, and one more makes them overflow. */
static bool all_finite_floats(size_t count, const unsigned char *values) {
  enum { LANES = WIDTH / sizeof(uint32_t) };
  const uint32_t exponent = 0x7f800000, one = 0x00800000;
  words some = {0}, bits;
  uint32_t last = 0, any;
  size_t i = 0;
#pragma GCC unroll 4
  for (; i + LANES <= count; i += LANES) {
    memcpy(&bits, values + i * sizeof any, sizeof bits);
    some |= (bits & exponent) + one;
  }
  for (; i < count; i++) {
    memcpy(&any, values + i * sizeof any, sizeof any);
    last |= (any & exponent) + one;
  }
  for (int k = 0; k < LANES; k++) last |= some[k];
  return last >> 31 == 0;
}

static bool all_finite_doubles(size_t count, const unsigned char *values) {
  enum { LANES = WIDTH / sizeof(uint64_t) };
  const uint64_t exponent = UINT64_C(0x7ff) << 52, one = UINT64_C(1) << 52;
  double_words some = {0}, bits;
  uint64_t last = 0, any;
  size_t i = 0;
#pragma GCC unroll 4
  for (; i + LANES <= count; i += LANES) {
    memcpy(&bits, values + i * sizeof any, sizeof bits);
    some |= (bits & exponent) + one;
  }
  for (; i < count; i++) {
    memcpy(&any, values + i * sizeof any, sizeof any);
    last |= (any & exponent) + one;
  }
  for (int k = 0; k < LANES; k++) last |= some[k];
  return last >> 63 == 0;
}

bool KERNEL(all_finite)(size_t size, size_t count, const void *values) {
  return size == sizeof(double) ? all_finite_doubles(count, values)
                                : all_finite_floats(count, values);
}

void KERNEL(rows_of_three)(size_t count, size_t size, const void *columns, void *rows) {
  if (size == sizeof(uint32_t)) {
    const uint32_t *from = columns;
    uint32_t *to = rows;
    for (size_t i = 0; i < count; i++)
      for (size_t c = 0; c < 3; c++) to[3 * i + c] = from[c * count + i];
  } else {
    const uint64_t *from = columns;
    uint64_t *to = rows;
    for (size_t i = 0; i < count; i++)
      for (size_t c = 0; c < 3; c++) to[3 * i + c] = from[c * count + i];
  }
}

typedef unsigned char bytes16 __attribute__((vector_size(16)));

static inline bytes16 interleave_low(bytes16 a, bytes16 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
static inline bytes16 interleave_high(bytes16 a, bytes16 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}

/** Move the byte of place p of 16 size to place 2 p modulo one less. After four such rounds it is at 16 times its place in its
 * number, and behind that at the number. */
static inline void interleave(size_t size, const bytes16 from[8], bytes16 to[8]) {
#pragma GCC unroll 4
  for (size_t k = 0; k < size / 2; k++) {
    to[2 * k] = interleave_low(from[k], from[k + size / 2]);
    to[2 * k + 1] = interleave_high(from[k], from[k + size / 2]);
  }
}

/** The bytes of sixteen numbers of `size` = 4 or 8, by place. */
static inline void shuffle_sixteen(const unsigned char *from, size_t size, bytes16 v[8]) {
  bytes16 other[8];
#pragma GCC unroll 8
  for (size_t k = 0; k < size; k++) memcpy(&v[k], from + k * sizeof v[k], sizeof v[k]);
  interleave(size, v, other);
  interleave(size, other, v);
  interleave(size, v, other);
  interleave(size, other, v);
}

static inline void shuffle_numbers(size_t count, size_t size, const unsigned char *from,
                                   size_t stride, unsigned char *planes) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    bytes16 v[8];
    shuffle_sixteen(from + i * size, size, v);
#pragma GCC unroll 8
    for (size_t b = 0; b < size; b++) memcpy(planes + b * stride + i, &v[b], sizeof v[b]);
  }
  for (; i < count; i++)
    for (size_t b = 0; b < size; b++) planes[b * stride + i] = from[i * size + b];
}

void KERNEL(shuffle)(size_t count, size_t size, const void *numbers, size_t stride,
                     unsigned char *planes) {
  if (size == 4)
    shuffle_numbers(count, 4, numbers, stride, planes);
  else
    shuffle_numbers(count, 8, numbers, stride, planes);
}

extern const struct io_kernels KERNEL(io_kernels);
const struct io_kernels KERNEL(io_kernels) = {.round_positions = KERNEL(round_positions),
                                              .round_positions_wide = KERNEL(round_positions_wide),
                                              .round_velocities = KERNEL(round_velocities),
                                              .all_finite = KERNEL(all_finite),
                                              .rows_of_three = KERNEL(rows_of_three),
                                              .shuffle = KERNEL(shuffle),
                                              .checksum_columns = KERNEL(checksum_columns),
                                              .checksum_equal = KERNEL(checksum_equal),
                                              .deflate_planes = KERNEL(deflate_planes)};
