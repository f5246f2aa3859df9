/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of isolated systems by expansions, against direct sums in double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/analysis/energy.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/ic.h"
#include "photons/step/step.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

/** Potential of a unit mass at distance r, times -1/G (spline: Springel et al. 2001, eq. 71). */
static double softened(enum softening_kind kind, double r, double softening) {
  const double h = 2.8 * softening, u = r / h, u2 = u * u;
  if (kind == SOFTENING_PLUMMER) return 1.0 / sqrt(r * r + softening * softening);
  if (u >= 1.0) return 1.0 / r;
  const double w = u < 0.5 ? 2.8 - u2 * (16.0 / 3.0 - u2 * (9.6 - 6.4 * u))
                           : 3.2 - 1.0 / (15.0 * u) -
                                 u2 * (32.0 / 3.0 - u * (16.0 - u * (9.6 - 32.0 / 15.0 * u)));
  return w / h;
}

/** The potential at each particle, in the order of the particles. */
static double *direct(const struct particles *s, const struct parameters *p) {
  double *x = allocate(3 * s->count, sizeof *x, "positions"),
         *phi = allocate(s->count, sizeof *phi, "potentials");
  for (size_t k = 0; k < s->blocks; k++) {
    const struct particle_block b = particles_block(s, k);
    for (size_t j = 0; j < b.count; j++)
      for (size_t c = 0; c < 3; c++)
        x[3 * (b.first + j) + c] = b.x[c][j] * (s->box / POSITION_TURN);
  }
  for (size_t i = 0; i < s->count; i++)
    for (size_t j = 0; j < i; j++) {
      double r2 = 0.0;
      for (size_t c = 0; c < 3; c++)
        r2 += (x[3 * i + c] - x[3 * j + c]) * (x[3 * i + c] - x[3 * j + c]);
      const double softening = 1e-3 * fmax(softening_of_type(p, particle_type(s, i)),
                                           softening_of_type(p, particle_type(s, j)));
      const double pair = GRAVITY * softened(p->gravity.softening_kernel, sqrt(r2), softening);
      phi[i] -= particle_mass(s, j) * pair;
      phi[j] -= particle_mass(s, i) * pair;
    }
  free(x);
  return phi;
}

struct errors {
  double energy, rms, largest; /* of W; of the potential of particles, over its own */
  uint64_t expansions, count;
};

/** Compute forces, which the acceptance criterion needs, and compare the potential. */
static struct errors errors_of(const struct parameters *p, struct particles particles) {
  struct nbody *n = nbody_create(p, particles);
  const struct particles *s = &n->domain.particles;
  step_first_forces(n);
  const double energy = potential_energy(n, 1.0);
  struct errors e = {.expansions = short_range_work(&n->short_range).interactions,
                     .count = s->count};
  float *potential = allocate(s->count, sizeof *potential, "potentials");
  potential_of_particles(n, potential);
  domain_acquire(&n->domain);
  double *exact = direct(s, p), sum = 0.0;
  for (size_t i = 0; i < s->count; i++) {
    const double error = fabs((double)potential[i] / exact[i] - 1.0);
    sum += 0.5 * particle_mass(s, i) * exact[i];
    e.rms += error * error / (double)s->count;
    e.largest = fmax(e.largest, error);
  }
  domain_release(&n->domain);
  e.rms = sqrt(e.rms);
  e.energy = fabs(energy / sum - 1.0);
  free(exact);
  free(potential);
  nbody_free(n);
  return e;
}

static struct errors errors_of_galaxy(const char *settings) {
  struct parameters p;
  char text[512];
  snprintf(text, sizeof text,
           "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[galaxy]\nmodel = hernquist\n"
           "particles = 5000\n[time]\nend = 100\n[runtime]\ngroup_size = 2048\nleaf_size = 16\n"
           "[gravity]\nsoftening = 0.05\n%s",
           settings);
  parameters_from_text(&p, text, NULL, 0);
  const struct errors e = errors_of(&p, ic_isolated(&p));
  print_message("%s\n  W %.1e, particles %.1e rms, %.1e; %llu expansions\n", settings, e.energy,
                e.rms, e.largest, (unsigned long long)e.expansions);
  return e;
}

static void default_accuracy_gives_five_digits(void **state) {
  (void)state;
  const char *const kernels[] = {"softening_kernel = plummer", "softening_kernel = spline"};
  for (size_t k = 0; k < 2; k++) {
    const struct errors e = errors_of_galaxy(kernels[k]);
    assert_true(e.expansions > e.count / 2);
    assert_true(e.energy < 1e-5);
    assert_true(e.rms < 1e-4);
    assert_true(e.largest < 1e-3);
  }
}

static void errors_follow_the_acceptance(void **state) {
  (void)state;
  double before = 1.0;
  for (double tolerance = 1e-2; tolerance > 1e-4; tolerance /= 30.0) {
    char settings[128];
    snprintf(settings, sizeof settings, "softening_kernel = plummer\nmac_tolerance = %g",
             tolerance);
    const struct errors e = errors_of_galaxy(settings);
    assert_true(e.rms < 0.5 * before);
    before = e.rms;
  }
  assert_true(before < 1e-5);
}

/** Particles at these x coordinates [kpc], in a frame of 256 kpc.
 * @param mixed  they have the masses 1, 2, 3 ..., and the types 1, 2, 1, ... */
static struct particles on_axis(const double *x, size_t count, bool mixed) {
  struct particles s = particles_create(count, 256e-3, 0.5);
  for (size_t i = 0; i < count; i++) {
    for (size_t c = 0; c < 3; c++)
      s.position[c * count + i] = position_to_integer(128e-3 + (c == 0 ? 1e-3 * x[i] : 0.0), s.box);
    s.id[i] = i + 1;
  }
  if (!mixed) return s;
  particles_add_column(&s, COLUMN_relative_mass);
  particles_add_column(&s, COLUMN_type);
  for (size_t i = 0; i < count; i++) {
    s.relative_mass[i] = (float)(i + 1);
    s.type[i] = (uint8_t)(1 + i % 2);
  }
  return s;
}

/** No particle has a potential at its own place, but one that shares the place with others has
 * theirs. */
static void the_self_term_is_left_out(void **state) {
  (void)state;
  static const double x[][4] = {
      {-0.005, 0.005}, {-5.0, 5.0}, {0.0, 0.0, 0.0}, {7.0, 7.0, -3.0, 0.0}, {1.0, 1.0, 1.01, 1.0}};
  static const size_t count[] = {2, 2, 3, 4, 4}, cases = sizeof count / sizeof *count;
  for (int kernel = SOFTENING_SPLINE; kernel <= SOFTENING_PLUMMER; kernel++)
    for (size_t k = 0; k < 2 * cases; k++) {
      const bool mixed = k >= cases;
      struct parameters p;
      parameters_default(&p);
      p.box.boundary = BOUNDARY_ISOLATED;
      p.gravity.softening = 0.01;
      if (mixed) p.gravity.softening_type[2] = 0.03;
      p.gravity.softening_kernel = (enum softening_kind)kernel;
      p.runtime.leaf_size = 4;
      const struct errors e = errors_of(&p, on_axis(x[k % cases], count[k % cases], mixed));
      print_message("%zu particles%s: W %.1e, particles %.1e\n", count[k % cases],
                    mixed ? " of different masses and softening lengths" : "", e.energy, e.largest);
      assert_true(e.energy < 1e-6);
      assert_true(e.largest < 1e-6);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(default_accuracy_gives_five_digits),
      cmocka_unit_test(errors_follow_the_acceptance),
      cmocka_unit_test(the_self_term_is_left_out),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
