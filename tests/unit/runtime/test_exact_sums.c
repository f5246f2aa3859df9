/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums whose bits do not depend on the order of their terms. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "photons/runtime/exact_sums.h"

enum { TERMS = 4096 };

/** @param step  goes from term to term; without a factor in common with n */
static double sum_of(const double *term, size_t n, size_t step) {
  struct exact_sums s = exact_sums_create(1, 1);
  double sum;
  for (size_t i = 0; i < n; i++) exact_add(s.sum, term[i * step % n]);
  exact_sums_finish(&s, &sum);
  return sum;
}
#define SUM_OF(...) \
  sum_of((const double[]){__VA_ARGS__}, sizeof(double[]){__VA_ARGS__} / sizeof(double), 1)

static void same(double found, double expected) {
  if (found != expected) fail_msg("%.17g in the place of %.17g", found, expected);
}

static void one_term_is_its_own_sum(void **state) {
  const double terms[] = {0.0,     1.0,          -1.0,          0.1,     -M_PI,
                          1e-300,  DBL_MAX,      -DBL_MAX,      DBL_MIN, DBL_TRUE_MIN,
                          -3e-310, 4294967296.0, -4294967295.5, 1e22};
  (void)state;
  for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) same(sum_of(&terms[i], 1, 1), terms[i]);
}

static void small_terms_are_not_lost(void **state) {
  (void)state;
  same(SUM_OF(1e100, 1.0, -1e100), 1.0);
  same(SUM_OF(-1e300, DBL_TRUE_MIN, 1e300), DBL_TRUE_MIN);
  same(SUM_OF(1.0, -DBL_EPSILON / 4, -1.0), -DBL_EPSILON / 4);
  same(SUM_OF(0.5, 0.25, -0.75), 0.0);
}

/** Terms of all sizes and both signs. */
static double term_of(uint64_t *random) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ldexp((double)(int32_t)(*random >> 16), (int)(*random >> 33 & 255) - 128);
}

static void any_order_has_the_same_bits(void **state) {
  double term[TERMS];
  uint64_t random = 4711;
  long double sum = 0.0L, size = 0.0L;
  (void)state;
  for (int i = 0; i < TERMS; i++) term[i] = term_of(&random);
  const double forward = sum_of(term, TERMS, 1);
  for (size_t step = 3; step < 200; step += 58) same(sum_of(term, TERMS, step), forward);
  for (int i = 0; i < TERMS; i++) sum += (long double)term[i], size += fabsl((long double)term[i]);
  assert_true(fabsl(sum - (long double)forward) <= 1e-15L * size);
}

static void what_is_not_finite_is_seen(void **state) {
  (void)state;
  assert_true(isnan(SUM_OF(1.0, INFINITY)));
  assert_true(isnan(SUM_OF(NAN)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_term_is_its_own_sum), cmocka_unit_test(small_terms_are_not_lost),
      cmocka_unit_test(any_order_has_the_same_bits), cmocka_unit_test(what_is_not_finite_is_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
