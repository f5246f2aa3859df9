/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How waves grow on a grid, against Ewald sums over the particles of displaced grids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>

#include "src/ic/ic_lattice_growth.h"
#include "support/ewald.h"

#include <cmocka.h>

#include "support/assert_near.h"

enum { SIDE_MOST = 8 };
#define DISPLACED 1e-3 /* of the side of the box */

/** Displace a grid by a wave in its direction. @return the displacement of a particle is this times the wave */
static double displace(double *x, double *wave, int side, const double q[3],
                       const struct lattice_wave *w) {
  double most = 0.0;
  for (int c = 0; c < 3; c++) most = fmax(most, fabs(w->direction[c]));
  const double size = DISPLACED / side / most;
  for (int i = 0; i < side * side * side; i++) {
    const int place[3] = {i / side / side, i / side % side, i % side};
    double phase = 0.3;
    for (int c = 0; c < 3; c++) phase += 2.0 * M_PI * q[c] * place[c] / side;
    wave[i] = sin(phase);
    for (int c = 0; c < 3; c++)
      x[3 * i + c] = (place[c] + 0.5) / side + size * w->direction[c] * wave[i];
  }
  return size;
}

/* The acceleration is 4 pi G times the mean density times the eigenvalue times the displacement, along it. What is not
 * linear in the displacement is 1e-6 of that by symmetry for some waves, and its first power, 1e-3 of the spacing, for
 * others. Between the table's points, with a side of 7, interpolation adds 1e-4. */
static void test_pull_of_a_displaced_grid(void **state) {
  (void)state;
  static const struct {
    int side;
    double q[3];
  } waves[] = {{8, {4, 0, 0}}, {8, {1, 2, 3}}, {8, {2, -2, 2}}, {7, {3, -1, 2}}, {7, {1, 0, 0}}};
  struct lattice_growth *l = lattice_growth_create();
  double x[3 * SIDE_MOST * SIDE_MOST * SIDE_MOST], wave[SIDE_MOST * SIDE_MOST * SIDE_MOST],
      a[3 * SIDE_MOST * SIDE_MOST * SIDE_MOST];
  for (size_t i = 0; i < sizeof waves / sizeof *waves; i++) {
    const int side = waves[i].side, count = side * side * side;
    const struct lattice_wave w = lattice_growth_of(l, waves[i].q, side);
    const double size = displace(x, wave, side, waves[i].q, &w);
    ewald_accelerations(x, (size_t)count, 1, EWALD_ALPHA_MIN, 0.0, 0, a);
    for (int c = 0; c < 3; c++) {
      double projected = 0.0, square = 0.0; /* on the wave, which takes out even orders */
      for (int p = 0; p < count; p++) {
        projected += a[3 * p + c] * wave[p];
        square += wave[p] * wave[p];
      }
      const double expected = 4.0 * M_PI * count * w.eigenvalue * size * w.direction[c];
      assert_near(projected / square, expected, 5e-4 * 4.0 * M_PI * count * DISPLACED / side);
    }
  }
  free(l);
}

/* Long waves are those of a fluid; the pull on a grid differs by the square of the wave vector. */
static void test_long_waves_are_of_a_fluid(void **state) {
  (void)state;
  struct lattice_growth *l = lattice_growth_create();
  const double q[3] = {3.0, 2.0, 1.0};
  const struct lattice_wave near = lattice_growth_of(l, q, 64.0),
                            far = lattice_growth_of(l, q, 640.0);
  assert_near(far.rate, 1.0, 1e-4);
  assert_near(far.direction[0], 3.0, 1e-3);
  assert_true(near.rate < 1.0 - 1e-3);
  assert_near(near.rate, 0.25 * (sqrt(1.0 + 24.0 * near.eigenvalue) - 1.0), 1e-14);
  free(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pull_of_a_displaced_grid),
                                     cmocka_unit_test(test_long_waves_are_of_a_fluid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
