/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms of distributed meshes, on any number of ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "photons/mesh/slab_fft.h"
#include "support/checksum.h"

/* Powers of two and other numbers; few planes and many. */
static const size_t sides[] = {2, 6, 16, 30};
enum { SIDES = sizeof sides / sizeof *sides };

/** A pseudo-random number in [-1, 1), the same on every rank. */
static double noise(size_t n, size_t x, size_t y, size_t z) {
  return (double)(int64_t)checksum_term((x * n + y) * n + z, 1) * 0x1p-63;
}

static double *make_mesh(const struct slab_fft *f) {
  return calloc(slab_fft_size(f) + 1, sizeof(double));
}
static double *row(const struct slab_fft *f, double *mesh, size_t plane, size_t line) {
  return mesh + (plane * f->n + line) * 2 * f->kz;
}

/** The largest value on all ranks, so that all fail together. */
static void assert_all_below(double largest, double bound) {
  comm_max_double(&largest, 1);
  if (!(largest < bound)) fail_msg("%g is not below %g", largest, bound);
}

/** The planes of all ranks together are those of the mesh. */
static void test_share(void **state) {
  (void)state;
  for (int s = 0; s < SIDES; s++) {
    struct slab_fft f = slab_fft_create(sides[s]);
    uint64_t planes = f.planes;
    const uint64_t before = comm_sum_before(planes);
    comm_sum_u64(&planes, 1);
    assert_all_below(before == f.first && planes == f.n ? 0.0 : 1.0, 0.5);
    slab_fft_free(&f);
  }
}

/** A plane wave a cos(2 pi (k x + l y + m z)/n + phase) has the one mode a n^3/2 exp(i phase), the
 * sign of the exponent being -. */
static void test_wave(void **state) {
  (void)state;
  for (int s = 1; s < SIDES; s++) {
    const size_t n = sides[s], k = n - 2, l = 1, m = n / 2 - 1;
    struct slab_fft f = slab_fft_create(n);
    double *mesh = make_mesh(&f);
    for (size_t x = 0; x < f.planes; x++)
      for (size_t y = 0; y < n; y++)
        for (size_t z = 0; z < n; z++)
          row(&f, mesh, x, y)[z] = 0.75 *
                                   cos(2.0 * M_PI / (double)n *
                                           (double)((k * (f.first + x) + l * y + m * z) % n) +
                                       0.4);
    slab_fft_forward(&f, mesh);
    const double size = 0.375 * (double)(n * n * n);
    double error = 0.0;
    for (size_t j = 0; j < f.planes; j++)
      for (size_t i = 0; i < n; i++)
        for (size_t z = 0; z < f.kz; z++) {
          const double a = i == k && f.first + j == l && z == m ? size : 0.0;
          const double *mode = row(&f, mesh, j, i) + 2 * z;
          error = fmax(error, hypot(mode[0] - a * cos(0.4), mode[1] - a * sin(0.4)));
        }
    assert_all_below(error, 1e-13 * size); /* rounding 2^-53, log2(n^3) < 15 steps */
    free(mesh);
    slab_fft_free(&f);
  }
}

/** Forward and back multiplies by n^3. The modes are the same, bit by bit, for all numbers of ranks
 * (the caller compares). */
static void test_return(void **state) {
  (void)state;
  uint64_t modes = 0, values = 0;
  for (int s = 0; s < SIDES; s++) {
    const size_t n = sides[s];
    struct slab_fft f = slab_fft_create(n);
    double *mesh = make_mesh(&f);
    for (size_t x = 0; x < f.planes; x++)
      for (size_t y = 0; y < n; y++)
        for (size_t z = 0; z < n; z++) row(&f, mesh, x, y)[z] = noise(n, f.first + x, y, z);
    slab_fft_forward(&f, mesh);
    for (size_t i = 0; i < slab_fft_size(&f); i++)
      modes += checksum_double(f.first * n * 2 * f.kz + i, mesh[i]);
    slab_fft_backward(&f, mesh);
    double error = 0.0;
    for (size_t x = 0; x < f.planes; x++)
      for (size_t y = 0; y < n; y++)
        for (size_t z = 0; z < n; z++) {
          const double value = row(&f, mesh, x, y)[z];
          values += checksum_double(((f.first + x) * n + y) * n + z, value);
          error = fmax(error, fabs(value / (double)(n * n * n) - noise(n, f.first + x, y, z)));
        }
    assert_all_below(error, 1e-14); /* of values up to 1, rounding 2^-53 and log2(n^3) < 15 steps
                                       each way */
    free(mesh);
    slab_fft_free(&f);
  }
  checksum_print("modes", modes);
  checksum_print("values", values);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_share), cmocka_unit_test(test_wave),
                                     cmocka_unit_test(test_return)};
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
