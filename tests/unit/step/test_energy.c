/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential energy against Ewald summation, and the Layzer-Irvine integral. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/analysis/energy.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/step/layzer_irvine.h"
#include "photons/step/step.h"
#include "support/ewald.h"
#include "support/force_set.h"
#include "support/starpu_fixture.h"

#include <cmocka.h>

#include "support/assert_near.h"

enum { COUNT = 1000 };
#define BOX 100.0 /* Mpc/h */
#define MASS 3.0  /* 1e10 Msun/h */
#define A 0.25

/** Half of the particles anywhere, half in a clump at the edge of the box. */
static struct particles clumped(double x[3 * COUNT]) {
  struct particles s = particles_create(COUNT, BOX, MASS);
  seed = 1;
  for (size_t i = 0; i < COUNT; i++) {
    s.id[i] = i + 1;
    for (size_t c = 0; c < 3; c++) {
      const double place = i % 2 ? uniform() : 0.97 + 0.06 * pow(uniform(), 3.0);
      s.position[c * COUNT + i] = position_to_integer(place - floor(place), 1.0);
      x[3 * i + c] = s.position[c * COUNT + i] * 0x1p-32;
    }
  }
  return s;
}

static struct particles on_lattice(double x[3 * COUNT]) {
  struct particles s = particles_create(COUNT, BOX, MASS);
  for (size_t i = 0; i < COUNT; i++) {
    const size_t cell[3] = {i / 100, i / 10 % 10, i % 10};
    s.id[i] = i + 1;
    for (size_t c = 0; c < 3; c++) {
      s.position[c * COUNT + i] = position_to_integer(((double)cell[c] + 0.3) / 10.0, 1.0);
      x[3 * i + c] = s.position[c * COUNT + i] * 0x1p-32;
    }
  }
  return s;
}

static double measured(const char *settings, struct particles particles) {
  struct parameters p;
  char text[512];
  snprintf(text, sizeof text,
           "[box]\nsize = 100\nnpart_side = 10\n[time]\nstep = fixed\nsteps = 1\n[gravity]\n%s",
           settings);
  parameters_from_text(&p, text, NULL, 0);
  struct nbody *n = nbody_create(&p, particles);
  step_first_forces(n);
  const double energy = potential_energy(n, A);
  nbody_free(n);
  return energy;
}

/** @param softening  kpc/h */
static void check(const char *settings, double softening, int plummer, double tolerance) {
  static double x[3 * COUNT];
  char text[256];
  snprintf(text, sizeof text, "softening = %g\n%s", softening, settings);
  const double energy = measured(text, clumped(x));
  const double lattice = -2.837297 * COUNT * cbrt(COUNT);
  const double exact = -0.5 * GRAVITY * MASS * MASS / BOX / A *
                       (ewald_potential(x, COUNT, EWALD_ALPHA_MIN, 1e-3 * softening / BOX,
                                        plummer) -
                        lattice);
  print_message("%-40s W = %.9g, Ewald %.9g, error %.1e\n", settings, energy, exact,
                energy / exact - 1.0);
  assert_near(energy, exact, tolerance * fabs(exact));
}

static void test_potential(void **state) {
  (void)state;
  /* Wave numbers beyond the mesh, which it cannot have, are 1e-4 of a clump's mesh energy ... */
  check("split = kaiser", 200.0, 0, 5e-5);
  check("split = kaiser", 2000.0, 0, 5e-5);
  check("split = kaiser\nsoftening_kernel = plummer", 200.0, 1, 5e-5);
  /* ... and less with a larger reach. */
  check("split = kaiser\nr_split = 1.3\nr_cut = 9", 200.0, 0, 5e-6);
  check("split = gauss\nr_split = 1.3\nr_cut = 9", 200.0, 0, 5e-6);
  check("split = gauss\nr_split = 1.3\nr_cut = 9\nsoftening_kernel = plummer", 50.0, 1, 5e-6);
}

/** Sums of the pairs of light (even) and heavy (odd) particles among themselves and with each other: those of
 * all, of the light and of the heavy particles say them. */
static double ewald_of_masses(const double x[3 * COUNT], double light, double heavy,
                              double softening) {
  static double part[2][3 * COUNT];
  double of_part[2];
  const double all = ewald_potential(x, COUNT, EWALD_ALPHA_MIN, softening, 0);
  for (size_t k = 0; k < 2; k++) {
    for (size_t i = 0; i < COUNT / 2; i++)
      for (size_t c = 0; c < 3; c++) part[k][3 * i + c] = x[3 * (2 * i + k) + c];
    of_part[k] = ewald_potential(part[k], COUNT / 2, EWALD_ALPHA_MIN, softening, 0);
  }
  return light * light * of_part[0] + heavy * heavy * of_part[1] +
         light * heavy * (all - of_part[0] - of_part[1]);
}

static void test_masses(void **state) {
  (void)state;
  static double x[3 * COUNT];
  const float mass[2] = {0.25F, 1.75F};
  struct particles s = clumped(x);
  particles_add_column(&s, COLUMN_relative_mass);
  for (size_t i = 0; i < COUNT; i++) s.relative_mass[i] = mass[i % 2];
  const double energy = measured("softening = 200\nsplit = kaiser", s);
  const double fifths = 0.5 * COUNT * (pow(0.25, 5.0 / 3.0) + pow(1.75, 5.0 / 3.0));
  const double exact = -0.5 * GRAVITY * MASS * MASS / BOX / A *
                       (ewald_of_masses(x, 0.25, 1.75, 2e-3) + 2.837297 * fifths * cbrt(COUNT));
  print_message("two masses: W = %.9g, Ewald %.9g, error %.1e\n", energy, exact,
                energy / exact - 1.0);
  assert_near(energy, exact, 1e-4 * fabs(exact));
}

/** A lattice has no potential energy: what is left are errors of the split. */
static void test_lattice(void **state) {
  (void)state;
  static double x[3 * COUNT];
  const double lattice = 0.5 * GRAVITY * MASS * MASS / BOX / A * 2.837297 * COUNT * cbrt(COUNT);
  const double energy = measured("softening = 200", on_lattice(x));
  const double exact = 0.5 * GRAVITY * MASS * MASS / BOX / A *
                       -ewald_potential(x, COUNT, EWALD_ALPHA_MIN, 2e-3, 0);
  assert_near(exact, lattice, 1e-6 * lattice); /* the reference knows Madelung's constant */
  print_message("of %.3g a lattice has left %.1e\n", lattice, energy / lattice);
  assert_near(energy, 0.0, 5e-5 * lattice); /* the error of the default split in test_potential() */
}

/** The integral of a kinetic energy that is a power of a is exact. */
static void test_layzer_irvine(void **state) {
  (void)state;
  for (int power = -2; power <= 3; power++) {
    struct layzer_irvine l = {0};
    for (int i = 0; i <= 20; i++) {
      const double a = 0.02 * exp(0.19 * i);
      layzer_irvine_advance(&l, a, 5.0 * pow(a, power));
    }
    const double end = 0.02 * exp(0.19 * 20), begin = 0.02;
    const double exact = power == -1
                             ? 5.0 * log(end / begin)
                             : 5.0 * (pow(end, power + 1) - pow(begin, power + 1)) / (power + 1);
    assert_near(l.work, exact, 1e-12 * fabs(exact));
    double error;
    assert_near(layzer_irvine_integral(&l, -1.0, &error), end * (l.kinetic - 1.0) + exact, 1e-9);
    assert_true(error == 0.0);
    layzer_irvine_integral(&l, -2.0, &error); /* an energy that is not conserved */
    assert_near(error, -0.5, 1e-12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_potential, start, stop),
      cmocka_unit_test_setup_teardown(test_masses, start, stop),
      cmocka_unit_test_setup_teardown(test_lattice, start, stop),
      cmocka_unit_test(test_layzer_irvine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
