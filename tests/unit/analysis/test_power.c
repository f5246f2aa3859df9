/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power spectra of particle sets whose spectrum is known in closed form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_bessel.h>

#include "photons/analysis/analysis.h"
#include "photons/analysis/kernels.h"
#include "photons/base/comm.h"
#include "photons/cosmology/halofit.h"
#include "photons/cosmology/linear_power.h"
#include "src/analysis/power_deposit.h"
#include "src/analysis/power_mesh.h"
#include "support/assert_near.h"

#define BOX 250.0
#define VOLUME (BOX * BOX * BOX)
#define FUNDAMENTAL (2.0 * M_PI / BOX)

/** This rank's part of particles in @p blocks groups; positions are to be set with put(). */
static struct particles make_particles(size_t count, size_t blocks) {
  return particles_create_blocks(count, blocks, BOX, 1.0);
}

/** Place particle i of all particles, if this rank has it. */
static void put(const struct particles *s, size_t i, const double x[3]) {
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    const size_t first = particles_first(s) + b.first;
    if (i < first || i >= first + b.count) continue;
    for (size_t c = 0; c < 3; c++) b.x[c][i - first] = position_to_integer(x[c], s->box);
  }
}

/** n[0] x n[1] x n[2] lattice, displaced along axis @p axis by A sin(2 pi mode q / L). */
static struct particles make_lattice(const size_t n[3], size_t axis, double mode,
                                     double amplitude) {
  struct particles s = make_particles(n[0] * n[1] * n[2], 7);
  for (size_t i = 0; i < s.all; i++) {
    size_t index[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
    double x[3];
    for (size_t c = 0; c < 3; c++) x[c] = BOX * (double)index[c] / (double)n[c];
    x[axis] += amplitude * sin(mode * FUNDAMENTAL * x[axis]);
    put(&s, i, x);
  }
  return s;
}

/** The bin that contains k. */
static const struct power_bin *bin_at(const struct power_bin *bins, size_t count, double k) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (fabs(bins[i].k - k) < fabs(bins[best].k - k)) best = i;
  return &bins[best];
}

static void check_order(const struct power_bin *bins, size_t count) {
  for (size_t i = 0; i < count; i++) {
    assert_true(bins[i].modes >= 1.0);
    if (i > 0) assert_true(bins[i].k > bins[i - 1].k);
  }
}

/* All of these tests also run on several ranks: tests/runs/same_files_on_any_ranks.sh. */

/* A lattice of n particles a side has no power but at its harmonics: |delta|^2 = 1 in the three
 * independent modes of |k| = n. Images by even multiples of the mesh add coherently, each with the
 * ratio of the window: (16/112)^4 + (16/144)^4 + ... */
static void test_lattice(void **state) {
  (void)state;
  const size_t n[3] = {16, 16, 16}, mesh = 64;
  struct particles s = make_lattice(n, 0, 0.0, 0.0);
  size_t count;
  struct power_bin *bins = power_measure(&s, mesh, 0, &count);
  check_order(bins, count);
  double amplitude = 0.0;
  for (int image = -20; image <= 20; image++)
    amplitude += gsl_pow_4(16.0 / fabs(16.0 + 128.0 * image));
  const struct power_bin *first = bin_at(bins, count, 16.0 * FUNDAMENTAL);
  /* float transform */
  assert_near(first->power * first->modes / VOLUME, 3.0 * amplitude * amplitude, 1e-5);
  for (size_t i = 0; i < count && &bins[i] != first; i++)
    assert_true(bins[i].power < 1e-10 * VOLUME);
  free(bins);
  particles_free(&s);
}

/* x = q + A sin(k0 q) on a lattice: sum exp(-i k0 x)/N = J_1(k0 A) exactly, in the one mode k0
 * (Jacobi-Anger expansion; the lattice's own images are of order J_(n/mode - 1), negligible). The
 * same with a fine mesh and with a coarse one folded; N is no cube. Tolerance: the window's even
 * images, which fold f has at (k / (2 mesh - k))^4, with k in its fundamental modes. */
static void test_displaced_lattice(void **state) {
  (void)state;
  static const struct {
    size_t axis, mesh;
    unsigned folds;
    double mode, image;
  } cases[] = {
      {0, 32, 0, 3, 3.0 / 61},   {1, 32, 0, 13, 13.0 / 51}, {2, 128, 0, 40, 40.0 / 216},
      {0, 32, 2, 40, 10.0 / 54}, {2, 32, 2, 40, 10.0 / 54}, {1, 32, 3, 104, 13.0 / 51},
      {0, 33, 1, 12, 6.0 / 60},  {2, 32, 1, 5, 5.0 / 59},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t n[3] = {22, 22, 22}, count; /* no bin examined contains harmonics of 22 */
    n[cases[i].axis] = 500;
    double k0 = cases[i].mode * FUNDAMENTAL, expected = gsl_pow_2(gsl_sf_bessel_J1(0.3));
    struct particles s = make_lattice(n, cases[i].axis, cases[i].mode, 0.3 / k0);
    struct power_bin *bins = power_measure(&s, cases[i].mesh, cases[i].folds, &count);
    check_order(bins, count);
    const struct power_bin *bin = bin_at(bins, count, k0);
    assert_near(bin->power * bin->modes / (VOLUME * expected), 1.0,
                1e-4 + 4.0 * gsl_pow_4(cases[i].image));
    free(bins);
    particles_free(&s);
  }
}

/* Independent particles: P = V/N, each bin scatters by 1/sqrt(modes), and the weighted mean of all
 * by 1/sqrt(all modes). The contribution of images at the Nyquist frequency is below 1e-3. Pairs at
 * distance d in random directions: P = V/N (1 + sin(kd)/(kd)). */
static void test_random(void **state) {
  (void)state;
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (int pairs = 0; pairs <= 1; pairs++) {
    const size_t n = 20000;
    const double distance = pairs ? 6.0 : 0.0;
    struct particles s = make_particles(n, 5);
    for (size_t i = 0; i < n; i++) {
      double x[3] = {BOX * gsl_rng_uniform(rng), BOX * gsl_rng_uniform(rng),
                     BOX * gsl_rng_uniform(rng)};
      put(&s, i, x);
      if (!pairs) continue;
      double cosine = 2.0 * gsl_rng_uniform(rng) - 1.0, sine = sqrt(1.0 - cosine * cosine),
             angle = 2.0 * M_PI * gsl_rng_uniform(rng);
      x[0] += distance * sine * cos(angle), x[1] += distance * sine * sin(angle),
          x[2] += distance * cosine;
      put(&s, ++i, x);
    }
    for (unsigned folds = 0; folds <= 3; folds++) {
      size_t count;
      struct power_bin *bins = power_measure(&s, 48, folds, &count);
      check_order(bins, count);
      assert_in_range((uintmax_t)(bins[count - 1].k / FUNDAMENTAL), 20u << folds, 24u << folds);
      double modes = 0.0, sum = 0.0;
      for (size_t i = 0; i < count; i++) {
        double shape = 1.0 + (pairs ? sin(bins[i].k * distance) / (bins[i].k * distance) : 0.0);
        double ratio = bins[i].power * (double)n / VOLUME / shape;
        /* chi^2's tail where modes are few */
        assert_near(ratio, 1.0, 5.5 / sqrt(bins[i].modes) + 2e-3);
        modes += bins[i].modes;
        sum += bins[i].modes * ratio;
      }
      assert_near(sum / modes, 1.0, 4.0 / sqrt(modes) + 1e-3);
      free(bins);
    }
    particles_free(&s);
  }
  gsl_rng_free(rng);
}

/* Without folding a bin of mean |k| near n holds half of the lattice vectors with n - 1/2 <= |k| <
 * n + 1/2. */
static void test_modes(void **state) {
  (void)state;
  const size_t n[3] = {4, 4, 4};
  struct particles s = make_lattice(n, 0, 0.0, 0.0);
  size_t count;
  struct power_bin *bins = power_measure(&s, 24, 0, &count);
  assert_int_equal(count, 11);
  for (int i = 1; i <= 11; i++) {
    double modes = 0.0;
    for (int a = -12; a <= 12; a++)
      for (int b = -12; b <= 12; b++)
        for (int c = -12; c <= 12; c++) {
          double k2 = a * a + b * b + c * c;
          if (k2 >= (i - 0.5) * (i - 0.5) && k2 < (i + 0.5) * (i + 0.5)) modes += 0.5;
        }
    assert_near(bins[i - 1].modes, modes, 0.0);
  }
  free(bins);
  particles_free(&s);
}

enum { HEAVY = 4, HEAVIEST = 500, LIGHT = 1996 };

/** Heavy particles and light ones, whose masses are 1. @param apart  each heavy one is as many
 * particles of mass 1 as it has mass, all at one place */
static struct particles make_masses(bool apart) {
  const size_t each = apart ? HEAVIEST : 1;
  struct particles s = make_particles(each * HEAVY + LIGHT, 5);
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (size_t i = 0; i < HEAVY + LIGHT; i++) {
    double x[3];
    for (size_t c = 0; c < 3; c++) x[c] = BOX * gsl_rng_uniform(rng);
    for (size_t k = 0; i < HEAVY && k < each; k++) put(&s, each * i + k, x);
    if (i >= HEAVY) put(&s, each * HEAVY + i - HEAVY, x);
  }
  gsl_rng_free(rng);
  if (apart) return s;
  s.mass = (double)(HEAVY * HEAVIEST + LIGHT) / (HEAVY + LIGHT);
  particles_add_column(&s, COLUMN_relative_mass);
  for (size_t i = 0; i < s.count; i++)
    s.relative_mass[i] = (float)((particles_first(&s) + i < HEAVY ? HEAVIEST : 1) / s.mass);
  return s;
}

/* A particle of mass m is m particles of mass 1 at its place. */
static void test_masses(void **state) {
  (void)state;
  struct particles heavy = make_masses(false), apart = make_masses(true);
  const double mass = (double)apart.all;
  assert_near(power_effective_number(&heavy) * (gsl_pow_2((double)HEAVIEST) * HEAVY + LIGHT) /
                  gsl_pow_2(mass),
              1.0, 1e-6);
  assert_near(power_effective_number(&apart), mass, 0.0);
  for (unsigned folds = 0; folds <= 2; folds += 2) {
    size_t count, other;
    struct power_bin *found = power_measure(&heavy, 32, folds, &count),
                     *expected = power_measure(&apart, 32, folds, &other);
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++)
      assert_near(found[i].power / expected[i].power, 1.0, 1e-5); /* float masses and transforms */
    free(found);
    free(expected);
  }
  particles_free(&heavy);
  particles_free(&apart);
}

/** Half of the particles are in a clump, so that one cell and one rank's planes hold far more than
 * their average. Particle i has the number @p turn i + 5 mod N in the order of the particles. */
static struct particles make_clump(size_t count, size_t blocks, size_t turn) {
  struct particles s = make_particles(count, blocks);
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (size_t i = 0; i < count; i++) {
    double x[3];
    for (size_t c = 0; c < 3; c++) x[c] = BOX * gsl_rng_uniform(rng) * (i % 2 ? 1.0 : 0.01);
    put(&s, (turn * i + 5) % count, x);
  }
  gsl_rng_free(rng);
  return s;
}

/* Masses are summed as integers: no bit depends on the order of the particles. The results of
 * different numbers of ranks are written for tests/runs/same_files_on_any_ranks.sh to compare. */
static void test_clump(void **state) {
  (void)state;
  enum { COUNT = 20011 }; /* prime: each turn is another order */
  static const struct { size_t blocks, turn; } orders[] = {{7, 1}, {64, 10007}, {1, 3}};
  struct power_bin *found[3];
  size_t count[3];
  for (size_t i = 0; i < 3; i++) {
    struct particles s = make_clump(COUNT, orders[i].blocks, orders[i].turn);
    found[i] = power_measure(&s, 34, 2, &count[i]);
    assert_int_equal(count[i], count[0]);
    for (size_t b = 0; b < count[0]; b++) {
      assert_near(found[i][b].k, found[0][b].k, 0.0);
      assert_near(found[i][b].power, found[0][b].power, 0.0);
    }
    particles_free(&s);
  }
  /* Where the clump has no structure yet, half of all particles act as one: P = V (1/4 + 1/(2
   * N)). */
  /* a mode's noise is 1/sqrt(2 N) of the amplitude */
  assert_near(found[0][0].power / VOLUME, 0.25, 0.01 * 0.25);
  const char *folder = getenv("PHOTONS_RANKS_OUTPUT");
  if (folder && comm_rank() == 0) {
    char path[1024];
    snprintf(path, sizeof path, "%s/powerspec.txt", folder);
    const struct particles s = {.all = COUNT, .all_blocks = 1, .box = BOX};
    const struct linear_theory unknown = {.a = 1.0, .growth = {.d1 = 1.0, .f1 = 1.0}};
    power_write(path, found[0], count[0], &s, (double)s.all, false, 34, &unknown, NULL);
  }
  for (size_t i = 0; i < 3; i++) free(found[i]);
}

/** A mesh that a rank has a part of: planes and rows from `from` on. */
struct deposited {
  struct power_target target;
  size_t *places[3], from[2], count[2], plane, row;
  int32_t *expected[2];
  size_t cells;
};

static struct deposited make_deposited(size_t n, const size_t from[2], const size_t count[2]) {
  struct deposited d = {.row = n + 5, .plane = (n + 5) * (count[1] + 1)};
  for (int axis = 0; axis < 2; axis++) {
    d.from[axis] = from[axis];
    d.count[axis] = count[axis];
    d.places[axis] = power_places(n, from[axis], count[axis],
                                  (axis == 0 ? d.plane : d.row) * sizeof(int32_t));
  }
  d.places[2] = power_places(n, 0, n, sizeof(int32_t));
  d.target = (struct power_target){
      .n = n, .plane = d.places[0], .row = d.places[1], .column = d.places[2], .per_unit = 0x1p20F};
  d.cells = d.plane * count[0];
  for (int set = 0; set < 2; set++) {
    d.target.mesh[set] = calloc(d.cells, sizeof(int32_t));
    d.expected[set] = calloc(d.cells, sizeof(int32_t));
  }
  return d;
}

/** One particle, cell by cell, by the functions of power_deposit.h. */
static void deposit_plainly(struct deposited *d, int set, const uint32_t x[3], float mass) {
  const struct power_target *t = &d->target;
  size_t first[3];
  float w[3][4];
  for (int c = 0; c < 3; c++) first[c] = power_spline(x[c], t->n, set == 0 ? 0 : POWER_SHIFT, w[c]);
  for (size_t a = 0; a < 64; a++) {
    const size_t i = a / 16, j = a / 4 % 4, k = a % 4,
                 plane = (first[0] + i + t->n - d->from[0]) % t->n % d->count[0],
                 row = (first[1] + j + t->n - d->from[1]) % t->n % d->count[1];
    d->expected[set][plane * d->plane + row * d->row + first[2] + k] += (int32_t)lrintf(
        w[0][i] * (mass * t->per_unit) * (w[1][j] * w[2][k]));
  }
}

static void check_deposit(size_t n, const size_t from[2], const size_t count[2], bool masses) {
  enum { POINTS = 500 };
  struct deposited d = make_deposited(n, from, count);
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  uint32_t x[POINTS][3];
  float mass[POINTS];
  for (size_t i = 0; i < POINTS; i++) {
    mass[i] = masses ? (float)gsl_rng_uniform(rng) : 1.0F;
    for (int c = 0; c < 3; c++) { /* a quarter is at edges of cells */
      const double cells = c < 2 && count[c] < n ? (double)(from[c] + 2) +
                                                       (double)(count[c] - 4) * gsl_rng_uniform(rng)
                                                 : (double)n * gsl_rng_uniform(rng);
      const double place = i % 4 == 0 ? floor(cells) + (i % 8 == 0 ? 0.0 : 0.5) : cells;
      x[i][c] = (uint32_t)(uint64_t)(0x1p32 * place / (double)n);
    }
    for (int set = 0; set < 2; set++) deposit_plainly(&d, set, x[i], mass[i]);
  }
  const uint32_t(*const points)[3] = (const uint32_t(*)[3])x;
  assert_false(power_kernels_select()->deposit(&d.target, POINTS, points, masses ? mass : NULL));
  for (int set = 0; set < 2; set++) {
    assert_memory_equal(d.target.mesh[set], d.expected[set], d.cells * sizeof(int32_t));
    free(d.expected[set]);
  }
  /* 1 / per_unit of a particle's mass in a cell: what an integer holds is passed */
  d.target.per_unit = 0x1p24F;
  for (size_t i = 0; i < POINTS; i++) memcpy(x[i], x[0], sizeof x[i]);
  assert_true(power_kernels_select()->deposit(&d.target, POINTS, points, NULL));
  for (int set = 0; set < 2; set++) {
    free(d.target.mesh[set]);
  }
  for (int axis = 0; axis < 3; axis++) free(d.places[axis]);
  gsl_rng_free(rng);
}

/* Kernels fill the same cells with the same bits as GPUs, which have the functions of power_deposit.h. */
static void test_deposit(void **state) {
  (void)state;
  if (comm_rank() > 0) return; /* a local function */
  check_deposit(4, (const size_t[]){0, 0}, (const size_t[]){4, 4}, false);
  check_deposit(33, (const size_t[]){0, 0}, (const size_t[]){33, 33}, true);
  check_deposit(32, (const size_t[]){28, 30}, (const size_t[]){9, 32}, false); /* across the edge */
  check_deposit(30, (const size_t[]){5, 29}, (const size_t[]){12, 8}, true);
}

/** Write and read a file whose particles began on a grid or not. */
static void check_file(bool regular) {
  const char *path = "test_power_output.txt";
  struct parameters p = {.cosmology = {0.3, 0.7, 0.05, 0.7, 0.96, 0.8, -1.0, 0.0, 0.0},
                         .ic = {.normalise = true}};
  p.ic.power_spectrum = POWER_EH98;
  struct linear_power *linear = linear_power_create(&p);
  const struct power_bin bins[2] = {{.k = 0.1, .power = 5e3, .modes = 9.0},
                                    {.k = 0.2, .power = 2e3, .modes = 40.0}};
  const struct particles s = {.all = 1000, .all_blocks = 1, .count = 1000, .blocks = 1, .box = BOX};
  const struct cosmology cosmology = {.omega_m = 1.0}; /* D1 = a */
  const struct linear_theory theory = linear_theory_at(0.5, linear, &cosmology, NULL, 0.0);
  power_write(path, bins, 2, &s, (double)s.all, regular, 64, &theory, NULL);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char line[256];
  size_t rows = 0;
  bool header = false, noise = false;
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') {
      if (strstr(line, "a = 0.5, z = 1, box = 250 Mpc/h, mesh = 64, N = 1000")) header = true;
      /* 10 particles a side */
      static const char key[] = "# k_noise = ";
      if (strncmp(line, key, strlen(key)) != 0) continue;
      assert_near(strtod(line + strlen(key), NULL), M_PI * 10.0 / BOX, 1e-6);
      noise = true;
      continue;
    }
    double column[6];
    char *end = line;
    for (size_t i = 0; i < 6; i++) {
      char *start = end;
      column[i] = strtod(start, &end);
      assert_true(end != start);
    }
    assert_near(column[0], bins[rows].k, 1e-7);
    assert_near(column[1], bins[rows].power, 1e-3);
    assert_near(column[2], bins[rows].modes, 0.0);
    assert_near(column[3], VOLUME / 1000.0, 1e-2);
    assert_near(column[4] / (linear_power_at(linear, column[0]) * 0.25), 1.0, 1e-6);
    const struct halofit fit = halofit_create(&theory);
    assert_near(column[5] / halofit_power(&fit, column[0]), 1.0, 1e-6);
    rows++;
  }
  assert_true(header);
  assert_int_equal(noise, regular);
  assert_int_equal(rows, 2);
  fclose(file);
  unlink(path);
  linear_power_free(linear);
}

static void test_write(void **state) {
  (void)state;
  if (comm_rank() > 0) return; /* a local function */
  check_file(false);
  check_file(true);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lattice), cmocka_unit_test(test_displaced_lattice),
      cmocka_unit_test(test_random),  cmocka_unit_test(test_modes),
      cmocka_unit_test(test_masses),  cmocka_unit_test(test_clump),
      cmocka_unit_test(test_write),   cmocka_unit_test(test_deposit),
  };
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
