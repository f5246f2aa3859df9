/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ewald summation, the reference of all tests of forces, and the particle sets made with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "support/ewald.h"
#include "support/force_set.h"

#include <cmocka.h>

#include "support/assert_near.h"

enum { COUNT = 300 };

static double *random_positions(void) {
  uint64_t seed = 1;
  double *x = malloc(3 * COUNT * sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < 3 * COUNT; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    x[i] = (double)(seed >> 11) * 0x1p-53;
  }
  return x;
}

static double rms_difference(const double *a, const double *b, size_t n) {
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < n; i++) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return sqrt(difference / size);
}

/* The split moves part of the sum from space to waves and does not change the result. Tolerance:
 * tails of 1e-15 and rounding of sums of 300 terms. */
static void split_does_not_matter(void **state) {
  static const double alpha[] = {12.0, 14.0, 17.0, 20.0};
  (void)state;
  double *x = random_positions(), first[3 * COUNT], a[3 * COUNT];
  for (int plummer = 0; plummer < 2; plummer++)
    for (size_t k = 0; k < sizeof alpha / sizeof *alpha; k++) {
      ewald_accelerations(x, COUNT, 1, alpha[k], 0.02, plummer, k ? a : first);
      if (k > 0) assert_true(rms_difference(a, first, 3 * COUNT) <= 1e-13);
    }
  free(x);
}

/* Two particles at a small distance r feel Newton's attraction less that of the mean density
 * inside, 4 pi r/3. By the cubic symmetry of the images further terms begin with r^3, with a
 * coefficient of some 10. */
static void near_pairs_feel_newton(void **state) {
  (void)state;
  for (double r = 1e-4; r < 0.04; r *= 3.0) {
    const double direction[3] = {0.48, -0.6, 0.64};
    double x[6] = {0.999, 0.001, 0.5}, a[6];
    for (int c = 0; c < 3; c++) x[3 + c] = x[c] + r * direction[c] - floor(x[c] + r * direction[c]);
    ewald_accelerations(x, 2, 1, 12.0, 0.0, 0, a);
    for (int c = 0; c < 3; c++) {
      const double expected = (1.0 / (r * r) - 4.0 / 3.0 * M_PI * r) * direction[c];
      /* besides, 1e-16 in positions change 1/r^2 by 2e-16/r^3 */
      assert_near(a[c], expected, 30.0 * r * r * r + 1e-15 / (r * r * r));
      assert_near(a[c], -a[3 + c], 1e-15 / (r * r * r));
    }
  }
}

/* Two particles half a box apart in one direction or more feel no force, by symmetry. */
static void symmetric_places_feel_nothing(void **state) {
  (void)state;
  for (int corner = 1; corner < 8; corner++) {
    double x[6] = {0.3, 0.6, 0.9}, a[6];
    for (int c = 0; c < 3; c++) x[3 + c] = fmod(x[c] + (corner >> c & 1) * 0.5, 1.0);
    ewald_accelerations(x, 2, 1, 12.0, 0.01, 0, a);
    /* where +0.5 and -0.5 are both nearest, only one of them is summed; its short-range part there
     * is e^-36 */
    for (int c = 0; c < 6; c++) assert_near(a[c], 0.0, 1e-13);
  }
}

/* The sets as they are in the files: another split gives the same result for some of the particles,
 * and the sum of all forces vanishes. Positions are exact in the file. Rounding of sums of 32768
 * terms leaves some 1e-14. */
static void sets_are_exact(void **state) {
  static const char *const names[] = {"early.hdf5", "late.hdf5"};
  enum { STRIDE = 2048 };
  (void)state;
  for (int i = 0; i < 2; i++) {
    struct force_set set = force_set_open(force_set_path(names[i]));
    struct parameters p;
    struct particles s = force_set_particles(&set, &p, NULL, 0);
    double *x = malloc(3 * s.count * sizeof *x), a[3 * 16], reference[3 * 16], sum[3] = {0},
           total = 0.0;
    assert_non_null(x);
    assert_int_equal(s.count, 16 * STRIDE);
    for (size_t j = 0; j < s.count; j++)
      for (size_t c = 0; c < 3; c++) {
        x[3 * j + c] = position_from_integer(s.position[c * s.count + j], 1.0);
        sum[c] += set.reference[3 * j + c];
        total += fabs(set.reference[3 * j + c]);
      }
    ewald_accelerations(x, s.count, STRIDE, 12.0, 0.1 / s.box, 0, a);
    for (size_t t = 0; t < 3 * 16; t++) {
      a[t] *= GRAVITY * s.mass / (s.box * s.box);
      reference[t] = set.reference[3 * (s.id[t / 3 * STRIDE] - 1) + t % 3];
    }
    const double difference = rms_difference(a, reference, 3 * 16);
    print_message("%s: splits differ by %.1e, momentum %.1e\n", names[i], difference,
                  hypot(hypot(sum[0], sum[1]), sum[2]) / total);
    assert_true(difference <= 1e-12);
    assert_true(hypot(hypot(sum[0], sum[1]), sum[2]) <= 1e-12 * total);
    particles_free(&s);
    force_set_close(&set);
    free(x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(split_does_not_matter),
      cmocka_unit_test(near_pairs_feel_newton),
      cmocka_unit_test(symmetric_places_feel_nothing),
      cmocka_unit_test(sets_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
