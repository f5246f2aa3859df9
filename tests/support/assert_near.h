/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Missing in cmocka 1.1: a comparison of doubles with an absolute tolerance. Include after
 * cmocka.h. */
#ifndef PHOTONS_TESTS_ASSERT_NEAR_H
#define PHOTONS_TESTS_ASSERT_NEAR_H

#define assert_near(value, expected, tolerance) \
  assert_near_at(value, expected, tolerance, #value, __FILE__, __LINE__)

static inline void assert_near_at(double value, double expected, double tolerance, const char *text,
                                  const char *file, int line) {
  double difference = value > expected ? value - expected : expected - value;
  if (difference <= tolerance) return; /* false for NaN */
  print_error("%s = %.17g, not %.17g within %g\n", text, value, expected, tolerance);
  _fail(file, line);
}

#endif
