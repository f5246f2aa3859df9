/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of densities that are known in closed form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */

#include <cmocka.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_bessel.h>

#include "photons/analysis/statistics.h"
#include "photons/base/comm.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_statistics.h"
#include "photons/ic/ic.h"
#include "photons/runtime/exact_sums.h"
#include "src/analysis/density_modes.h"
#include "support/assert_near.h"

#define BOX 250.0
#define VOLUME (BOX * BOX * BOX)
#define FUNDAMENTAL (2.0 * M_PI / BOX)
#define AMPLITUDE 0.3 /* of a wave: k A */

static const struct cosmology universe = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -1.0};

/** Particles of a lattice of 500 planes along an axis, displaced by A sin(2 pi mode q / L) in redshift space, of
 * which momenta along z add @p part of the displacement, at a = 1. */
static struct particles make_wave(size_t axis, double mode, double part) {
  size_t n[3] = {22, 22, 22};
  n[axis] = 500;
  struct particles s = particles_create_blocks(n[0] * n[1] * n[2], 7, BOX, 1.0);
  for (size_t g = 0; g < s.blocks; g++) {
    const struct particle_block b = particles_block(&s, g);
    for (size_t j = 0; j < b.count; j++) {
      const size_t i = particles_first(&s) + b.first + j;
      const size_t index[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
      double x[3];
      for (size_t c = 0; c < 3; c++) x[c] = BOX * (double)index[c] / (double)n[c];
      const double shift = AMPLITUDE / (mode * FUNDAMENTAL) * sin(mode * FUNDAMENTAL * x[axis]);
      x[axis] += (1.0 - part) * shift;
      for (size_t c = 0; c < 3; c++) b.x[c][j] = position_to_integer(x[c], BOX);
      b.p[2][j] = (float)(part * shift * cosmology_hubble(&universe, 1.0));
    }
  }
  return s;
}

/* The sum of exp(-i m k x)/N over these particles is that of exp(-i m (k q + A k sin(k q))), J_m(m k A). */
static double wave_power(int harmonic) {
  return gsl_pow_2(gsl_sf_bessel_Jn(harmonic, harmonic * AMPLITUDE));
}

/* A wave along z is as large in redshift space as its displacement and its velocity make it, and has
 * Legendre polynomials of 1; one along x is as it was, with those of 0. The tolerance: images of the window at
 * (5/59)^4, and floats. */
static void test_multipoles(void **state) {
  (void)state;
  static const struct {
    size_t axis;
    double part, p2, p4;
  } cases[] = {{2, 0.4, 5.0, 9.0}, {0, 0.0, -2.5, 3.375}};
  for (size_t i = 0; i < 2; i++) {
    struct particles s = make_wave(cases[i].axis, 5.0, cases[i].part);
    size_t count;
    struct multipole_bin *bins = multipoles_measure(
        &s, &(struct linear_theory){.a = 1.0, .cosmology = &universe}, 64, &count);
    assert_int_equal(count, 31);
    const double expected = wave_power(1) / bins[4].modes * VOLUME;
    assert_near(bins[4].power[0] / expected, 1.0, 2e-4);
    assert_near(bins[4].power[1] / expected / cases[i].p2, 1.0, 2e-4);
    assert_near(bins[4].power[2] / expected / cases[i].p4, 1.0, 2e-4);
    free(bins);
    particles_free(&s);
  }
}

/* xi = sum over harmonics of 2 J_m^2 cos(m k x), smoothed by 3/4 of a cell, in the mean over the cells of each
 * shell. */
static void test_correlation(void **state) {
  (void)state;
  enum { MESH = 44 };
  struct particles s = make_wave(0, 3.0, 0.0);
  struct density_modes modes = density_modes_create(&s, MESH, 0.0);
  double expected[MESH / 2] = {0}, cells[MESH / 2] = {0}, distance[MESH / 2] = {0};
  for (int x = -MESH / 2; x < MESH / 2; x++)
    for (int y = -MESH / 2; y < MESH / 2; y++)
      for (int z = -MESH / 2; z < MESH / 2; z++) {
        const double size = sqrt(x * x + y * y + z * z);
        const size_t bin = (size_t)(size + 0.5);
        if (bin >= MESH / 2) continue;
        distance[bin] += size;
        cells[bin] += 1.0;
        for (int m = 1; m <= 6; m++) /* harmonics below the Nyquist frequency that have power */
          expected[bin] += 2.0 * wave_power(m) *
                           exp(-gsl_pow_2(2.0 * M_PI * 3.0 * m * 0.75 / MESH)) *
                           cos(2.0 * M_PI * 3.0 * m * x / MESH);
      }
  size_t count;
  struct correlation_bin *bins = correlation_measure(&modes, &count);
  assert_int_equal(count, MESH / 2 - 1);
  for (size_t i = 1; i <= count; i++) {
    assert_near(bins[i - 1].pairs, cells[i], 0.0);
    assert_near(bins[i - 1].r, BOX / MESH * distance[i] / cells[i], 1e-9);
    assert_near(bins[i - 1].xi, expected[i] / cells[i],
                1e-5); /* images of the window: 2e-4 of xi(0) */
  }
  free(bins);
  density_modes_free(&modes);
  particles_free(&s);
}

/* Bispectra of three waves whose triangle closes. */

enum { TRIANGLE_MESH = 36 };

/** Give a wave and its conjugate, where this rank has them. */
static void set_wave(struct density_modes *d, const int k[3], double phase) {
  for (int sign = -1; sign <= 1; sign += 2) {
    const struct fft_box *b = &d->fft.modes;
    const size_t n = d->fft.size[0];
    const int f[3] = {sign * k[0], sign * k[1], sign * k[2]};
    if (f[2] < 0) continue;
    const size_t i = (size_t)(f[0] + (int)n) % n, j = (size_t)(f[1] + (int)n) % n - b->first[1];
    const size_t l = (size_t)f[2] - b->first[2];
    if (j >= b->count[1] || l >= b->count[2]) continue;
    double *mode = mode_at(d->memory, fft_at(b, i, j, l));
    mode[0] = 0.1 * cos(phase);
    mode[1] = sign * 0.1 * sin(phase);
  }
}

static bool in_shell(const int k[3], double low, double high) {
  const double size = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
  return size >= low && size < high;
}

/** Ordered triangles of a side in each of two shells and a third side in the second. */
static double count_triangles(const double far[2], const double near[2]) {
  enum { MOST = 11 };
  double count = 0.0;
  int a[3], b[3];
  for (a[0] = -3; a[0] <= 3; a[0]++)
    for (a[1] = -3; a[1] <= 3; a[1]++)
      for (a[2] = -3; a[2] <= 3; a[2]++)
        for (b[0] = -MOST; b[0] <= MOST && in_shell(a, far[0], far[1]); b[0]++)
          for (b[1] = -MOST; b[1] <= MOST; b[1]++)
            for (b[2] = -MOST; b[2] <= MOST; b[2]++) {
              const int c[3] = {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
              count += in_shell(b, near[0], near[1]) && in_shell(c, near[0], near[1]);
            }
  return count;
}

/* Equilateral waves stand in 6 orders with 2 signs, squeezed ones in 2 orders of the short waves. */
static void test_bispectrum(void **state) {
  (void)state;
  static const struct {
    int wave[3][3];
    double far[2], near[2], orders;
    size_t row;
  } cases[] = {
      {{{2, -2, 0}, {0, 2, -2}, {-2, 0, 2}}, {2.0, 3.0}, {2.0, 3.0}, 12.0, 1},
      {{{1, 0, 2}, {9, 0, 0}, {-10, 0, -2}}, {1.0, 3.0}, {8.64, 10.368}, 4.0, 0},
  };
  for (size_t i = 0; i < 2; i++) {
    const struct fft_mesh mesh = {.cells = {TRIANGLE_MESH, TRIANGLE_MESH, TRIANGLE_MESH}};
    struct density_modes d = {.fft = fft_create(&mesh), .box = BOX};
    d.memory = density_modes_memory(&d.fft);
    static const double phase[3] = {0.3, 0.4, 0.5};
    for (size_t w = 0; w < 3; w++) set_wave(&d, cases[i].wave[w], phase[w]);
    size_t count, row = cases[i].row;
    struct bispectrum_bin *bins = bispectrum_measure(&d, &count);
    if (i == 1) /* the first squeezed one whose waves these are */
      while (row < count &&
             !(bins[row].k[0] < bins[row].k[1] && bins[row].k[1] > 8.64 * FUNDAMENTAL))
        row++;
    assert_true(row < count);
    const double triangles = count_triangles(cases[i].far, cases[i].near);
    assert_near(bins[row].triangles, triangles, 0.0);
    const double expected = gsl_pow_2(VOLUME) * cases[i].orders * 1e-3 * cos(1.2) / triangles;
    assert_near(bins[row].bispectrum / expected, 1.0, 1e-9);
    for (size_t other = 0; other < count; other++) /* rounding */
      if (other != row) assert_near(bins[other].bispectrum / expected, 0.0, 1e-9);
    free(bins);
    density_modes_free(&d);
  }
}

/* Sums without rounding: of any order, any ranks, any size; NaN where a term is not finite. */
static void test_exact_sums(void **state) {
  (void)state;
  static const double terms[] = {1e300, 0x1p-1074, 1.0, -1e300, -0x1p-53, 3.0, -4.0, 0x1p-53};
  enum { TERMS = sizeof terms / sizeof *terms };
  for (size_t turn = 0; turn < TERMS; turn++) {
    struct exact_sums s = exact_sums_create(3, 7);
    double total[3];
    for (size_t i = 0; i < TERMS; i++) {
      exact_add(exact_sums_of(&s, (uint32_t)(i % s.parts)), terms[(i + turn) % TERMS]);
      exact_add(exact_sums_of(&s, 0) + 1, comm_rank() == 0 && i == turn ? -1.5 : 0.0);
    }
    if (comm_rank() == comm_size() - 1) exact_add(exact_sums_of(&s, 0) + 2, INFINITY);
    exact_sums_finish(&s, total);
    assert_near(total[0], 0x1p-1074 * comm_size(), 0.0);
    assert_near(total[1], -1.5, 0.0);
    assert_true(isnan(total[2]));
  }
}

/* Of P = C: xi = C exp(-r^2/(4 s^2))/(8 pi^(3/2) s^3). */
static void test_linear_correlation(void **state) {
  (void)state;
  static const char path[] = "test_statistics_power.txt";
  if (comm_rank() > 0) return;
  FILE *file = fopen(path, "w");
  for (int i = -50; i <= 20; i++) fprintf(file, "%.10e 1000\n", pow(10.0, i / 10.0));
  assert_int_equal(fclose(file), 0);
  struct parameters p = {.cosmology = {.omega_m = 0.3, .sigma8 = 0.8},
                         .ic = {.power_spectrum = POWER_FILE, .normalise = true}};
  snprintf(p.ic.power_spectrum_file, sizeof p.ic.power_spectrum_file, "%s", path);
  struct linear_power *linear = linear_power_create(&p);
  const double smooth = 2.0, r[3] = {1.0, 4.0, 8.0};
  double xi[3];
  const struct cosmology c = {.omega_m = 1.0}; /* D1 = a */
  const struct linear_theory theory = linear_theory_at(0.5, linear, &c, NULL, 0.0);
  linear_correlation(&theory, r, 3, smooth, xi);
  for (int i = 0; i < 3; i++) /* rule of midpoints */
    assert_near(4.0 * xi[i] * 8.0 * pow(M_PI, 1.5) * pow(smooth, 3.0) /
                    linear_power_at(linear, 0.1),
                exp(-r[i] * r[i] / (4.0 * smooth * smooth)), 1e-4);
  linear_power_free(linear);
  remove(path);
}

/* The kernel of equilateral triangles is 2/7: Q = 4/7. */
static void test_tree_bispectrum(void **state) {
  (void)state;
  const double k[3] = {0.1, 0.1, 0.1}, power[3] = {2.0, 2.0, 2.0};
  assert_near(tree_bispectrum(k, power) / cyclic_products(power), 4.0 / 7.0, 1e-12);
}

/* A long wave and two short ones in shells that are wider than it is: with P = A k^n the mean over angles is P1 P2 (13/7 +
 * 8/21 - n/3) (of isosceles triangles: 13/7). */
static void test_squeezed_theory(void **state) {
  (void)state;
  struct parameters p = {
      .cosmology = {.omega_m = 1.0, .h = 0.7, .n_s = -1.5, .sigma8 = 0.8, .w0 = -1.0},
      .ic = {.power_spectrum = POWER_LAW, .normalise = true}};
  const struct cosmology c = cosmology_from(&p);
  struct linear_power *linear = linear_power_create(&p);
  const struct linear_theory theory = linear_theory_at(1.0, linear, &c, NULL, 0.0);
  const struct bispectrum_bin bin = {.low = {1.0, 100.0, 100.0}, .high = {3.0, 140.0, 140.0}};
  const struct bispectrum_theory found = bispectrum_theory_of(&theory, BOX, &bin);
  assert_near(found.bispectrum / (found.power[0] * found.power[1]),
              13.0 / 7.0 + 8.0 / 21.0 + 1.5 / 3.0, 0.05);
  linear_power_free(linear);
}

/* Of f_NL, in a universe of matter, where M = 2 c^2 k^2 T a/(3 H0^2): an equilateral triangle has 6 f_NL P^2/M more,
 * and halos of bias b have 2 f_NL (b - 1) 1.686/M more. */
static void test_non_gaussian_theory(void **state) {
  (void)state;
  struct parameters p = {
      .cosmology =
          {.omega_m = 1.0, .omega_b = 0.05, .h = 0.7, .n_s = 0.96, .sigma8 = 0.8, .w0 = -1.0},
      .ic = {.normalise = true}};
  const struct cosmology c = cosmology_from(&p);
  struct linear_power *linear = linear_power_create(&p);
  const double a = 0.1, f_nl = 50.0, k[3] = {0.02, 0.02, 0.02};
  const double m = 2.0 * pow(SPEED_OF_LIGHT / HUBBLE_0 * k[0], 2.0) *
                   linear_power_transfer(linear, k[0]) * a / 3.0,
               power = a * a * linear_power_at(linear, k[0]);
  const struct linear_theory gauss = linear_theory_at(a, linear, &c, NULL, 0.0),
                             local = linear_theory_at(a, linear, &c, NULL, f_nl);
  assert_near(linear_theory_bispectrum(&gauss, k) / (power * power), 3.0 * 4.0 / 7.0, 1e-4);
  assert_near((linear_theory_bispectrum(&local, k) - linear_theory_bispectrum(&gauss, k)) * m /
                  (6.0 * f_nl * power * power),
              1.0, 1e-4);
  assert_near(linear_theory_bias(&gauss, 3.0, k[0]), 3.0, 0.0);
  assert_near((linear_theory_bias(&local, 3.0, k[0]) - 3.0) * m / (2.0 * f_nl * 2.0 * 1.68647), 1.0,
              1e-4);
  linear_power_free(linear);
}

/* Halos at the places of all particles have the power of matter, and no bias. */
static void test_halos(void **state) {
  (void)state;
  struct particles s = make_wave(1, 4.0, 0.0);
  struct halo_catalogue halos = {.particles = &s, .all = s.all, .count = s.count};
  halos.first_halo = particles_first(&s);
  halos.halo = allocate(s.count, sizeof *halos.halo, "halos");
  for (size_t g = 0; g < s.blocks; g++) {
    const struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++)
      for (size_t c = 0; c < 3; c++)
        halos.halo[b.first + i].position[c] = position_from_integer(b.x[c][i], BOX);
  }
  struct density_modes modes = density_modes_create(&s, 40, 0.0);
  size_t count;
  struct halo_power_bin *bins = halo_power_measure(&modes, &halos, &count);
  assert_int_equal(count, 19);
  assert_near(bins[3].halos * bins[3].modes / VOLUME / wave_power(1), 1.0, 2e-4);
  assert_near(bins[3].cross / bins[3].halos, 1.0, 1e-6);
  assert_near(bins[3].matter / bins[3].halos, 1.0, 1e-6);
  free(bins);
  halos.all = halos.count = 0;
  free(halo_power_measure(&modes, &halos, &count));
  assert_int_equal(count, 0);
  density_modes_free(&modes);
  free(halos.halo);
  particles_free(&s);
}

/* Waves of equal amplitude in first order, early: linear theory in redshift space, also of bins of few modes, which have not
 * all directions alike; the second order of the Zel'dovich displacement is 1 % of it. */
static void test_kaiser(void **state) {
  (void)state;
  struct parameters p = {
      .cosmology = {.omega_m = 0.3,
                    .omega_lambda = 0.7,
                    .omega_b = 0.05,
                    .h = 0.7,
                    .n_s = 0.96,
                    .sigma8 = 0.8,
                    .w0 = -1.0},
      .box = {.size = BOX, .npart_side = 32},
      .ic = {.z_init = 49.0, .order = 1, .seed = 3, .fixed = true, .normalise = true}};
  const struct cosmology c = cosmology_from(&p);
  const double a = 1.0 / 50.0;
  struct linear_power *linear = linear_power_create(&p);
  struct particles s = ic_generate(&p, &c, linear, NULL);
  const struct linear_theory theory = linear_theory_at(a, linear, &c, NULL, 0.0);
  const double f = theory.growth.f1,
               factor[3] = {1.0 + f * (2.0 / 3.0 + f / 5.0), f * (4.0 / 3.0 + f * 4.0 / 7.0),
                            f * f * 8.0 / 35.0};
  size_t count;
  struct multipole_bin *bins = multipoles_measure(&s, &theory, 32, &count);
  for (size_t i = 0; i < 8; i++)
    for (int l = 0; l < 3; l++)
      assert_near(bins[i].power[l] / bins[i].theory[0], bins[i].theory[l] / bins[i].theory[0],
                  0.05);
  for (int l = 0; l < 3; l++) { /* of many waves, of all directions */
    double sum = 0.0, norm = 0.0;
    for (size_t i = 6; i < count; i++) {
      sum += bins[i].modes * bins[i].theory[l];
      norm += bins[i].modes * linear_theory_power(&theory, bins[i].k);
    }
    assert_near(sum / norm, factor[l], 0.03);
  }
  free(bins);
  particles_free(&s);
  linear_power_free(linear);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_multipoles),
      cmocka_unit_test(test_correlation),
      cmocka_unit_test(test_bispectrum),
      cmocka_unit_test(test_tree_bispectrum),
      cmocka_unit_test(test_squeezed_theory),
      cmocka_unit_test(test_non_gaussian_theory),
      cmocka_unit_test(test_halos),
      cmocka_unit_test(test_kaiser),
      cmocka_unit_test(test_linear_correlation),
      cmocka_unit_test(test_exact_sums),
  };
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
