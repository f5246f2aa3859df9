/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of lean files are those that rounded() gives, their bytes are in HDF5's order, and their checksums are those of xxHash, with all
 * instruction sets. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_rng.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "photons/io/kernels.h"
#include "src/io/snapshot_rounding.h"
#include "support/io_kernels_of.h"

#define COUNT ((size_t)1000) /* no multiple of a vector */

static void fill(gsl_rng *rng, size_t size, void *data) {
  for (size_t i = 0; i < size; i++)
    ((unsigned char *)data)[i] = (unsigned char)gsl_rng_uniform_int(rng, 256);
}

static double in_box(double place, double end) { return place < end ? place : 0.0; }

/** Positions up to the end of the box, by small steps, by steps that reach the end, and by steps that sums cannot count. */
static void check_positions(const struct io_kernels *k, gsl_rng *rng) {
  static const struct rounded_scale scales[] = {{25000.0 / 0x1p32, 0.0, 0.125, 25000.0},
                                                {25000.0 / 0x1p32, 0.0, 4096.0, 25000.0},
                                                {700.0 / 0x1p32, -350.0, 0.25, HUGE_VAL},
                                                {0x1p20, 0.0, 0x1p-10, 0x1p52}};
  uint32_t x[COUNT];
  for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
    float narrow[COUNT];
    double wide[COUNT];
    fill(rng, sizeof x, x);
    x[0] = 0;
    x[1] = UINT32_MAX;
    k->round_positions(COUNT, x, &scales[s], narrow);
    k->round_positions_wide(COUNT, x, &scales[s], wide);
    for (size_t i = 0; i < COUNT; i++) {
      const volatile double product = (double)x[i] * scales[s].factor; /* rounded by itself */
      const double expected = in_box(rounded(product + scales[s].shift, scales[s].step),
                                     scales[s].end);
      const float as_float = (float)expected;
      assert_memory_equal(&wide[i], &expected, sizeof expected);
      assert_memory_equal(&narrow[i], &as_float, sizeof as_float);
    }
  }
}

/** Velocities of both signs, small and large ones, and numbers that are not finite, which must stay so. */
static void check_velocities(const struct io_kernels *k, gsl_rng *rng) {
  const struct rounded_scale scale = {1.7, 0.0, 4.0, HUGE_VAL};
  float p[COUNT], found[COUNT];
  for (int large = 0; large < 2; large++) {
    for (size_t i = 0; i < COUNT; i++)
      p[i] = (float)(2000.0 * (gsl_rng_uniform(rng) - 0.5) * (large && i % 7 == 0 ? 1e20 : 1.0));
    p[3] = -0.5F;
    if (large > 0) p[4] = INFINITY;
    p[5] = NAN;
    k->round_velocities(COUNT, p, &scale, found);
    for (size_t i = 0; i < COUNT; i++) {
      const float expected = (float)rounded((double)p[i] * scale.factor, scale.step);
      if (isfinite(expected))
        assert_memory_equal(&found[i], &expected, sizeof expected);
      else
        assert_int_equal(isfinite(found[i]) != 0, 0);
    }
  }
}

static void check_order(const struct io_kernels *k, gsl_rng *rng, size_t size) {
  const size_t stride = COUNT + 24;
  static unsigned char columns[3 * COUNT * 8], rows[3 * COUNT * 8], planes[(COUNT + 24) * 8];
  fill(rng, 3 * COUNT * size, columns);
  k->rows_of_three(COUNT, size, columns, rows);
  k->shuffle(COUNT, size, columns, stride, planes);
  for (size_t i = 0; i < COUNT; i++) {
    for (size_t c = 0; c < 3; c++)
      assert_memory_equal(rows + (3 * i + c) * size, columns + (c * COUNT + i) * size, size);
    for (size_t b = 0; b < size; b++)
      assert_int_equal(planes[b * stride + i], columns[i * size + b]);
  }
}

/** The sums over rows that start at any index are those of xxHash itself, row by row. */
static void check_sums(const struct io_kernels *k, gsl_rng *rng, size_t columns, size_t size) {
  static const uint64_t firsts[] = {0, 77, UINT64_C(0xfffffffa), UINT64_MAX / 3};
  static unsigned char column[3 * COUNT * 8];
  fill(rng, sizeof column, column);
  for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
    for (size_t count = COUNT - 20; count <= COUNT; count++) {
      uint64_t sum = 0, equal = 0;
      for (size_t i = 0; i < count; i++) {
        unsigned char row[3 * 8];
        for (size_t c = 0; c < columns; c++)
          memcpy(row + c * size, column + (c * count + i) * size, size);
        sum += XXH3_64bits_withSeed(row, columns * size, firsts[f] + i);
        equal += XXH3_64bits_withSeed(column, size, firsts[f] + i);
      }
      assert_true(k->checksum_columns(columns, size, count, column, firsts[f]) == sum);
      assert_true(k->checksum_equal(size, count, column, firsts[f]) == equal);
    }
}

/** A number that is not finite is found at every place, and the largest finite ones are finite. */
static void check_finite(const struct io_kernels *k) {
  enum { MOST = 100 };
  const double not_finite[] = {INFINITY, -INFINITY, NAN}, large[] = {FLT_MAX, DBL_MAX};
  float floats[MOST];
  double doubles[MOST];
  for (size_t i = 0; i < MOST; i++) {
    floats[i] = (float)(i % 2 ? large[0] : -large[0]);
    doubles[i] = i % 2 ? large[1] : -large[1];
  }
  for (size_t count = 0; count <= MOST; count++) {
    assert_true(k->all_finite(sizeof *floats, count, floats));
    assert_true(k->all_finite(sizeof *doubles, count, doubles));
    for (size_t i = 0; i < count; i++) {
      const float was = floats[i];
      const double double_was = doubles[i];
      floats[i] = (float)not_finite[i % 3];
      doubles[i] = not_finite[i % 3];
      assert_false(k->all_finite(sizeof *floats, count, floats));
      assert_false(k->all_finite(sizeof *doubles, count, doubles));
      floats[i] = was;
      doubles[i] = double_was;
    }
  }
}

static void test_kernels(void **state) {
  (void)state;
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  const enum isa best = isa_select();
  for (enum isa isa = ISA_BASELINE; isa <= best; isa++) {
    const struct io_kernels *k = io_kernels_of(isa);
    check_positions(k, rng);
    check_velocities(k, rng);
    check_finite(k);
    check_order(k, rng, 4);
    check_order(k, rng, 8);
    for (size_t columns = 1; columns <= 3; columns += 2)
      for (size_t size = 4; size <= 8; size += 4) check_sums(k, rng, columns, size);
  }
  gsl_rng_free(rng);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
