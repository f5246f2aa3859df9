/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Background and growth against closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <gsl/gsl_sf_hyperg.h>
#include <math.h>

#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/cosmology/cosmology.h"

#include <cmocka.h>

#include "support/assert_near.h"
#include "support/failure.h"

static const struct cosmology einstein_de_sitter = {.omega_m = 1.0, .w0 = -1.0};
static const struct cosmology lambda_cdm = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -1.0};

/* Required accuracy of the integrals, which are computed to 1e-11. */
#define INTEGRAL_ERROR 1e-10
/* The growth equations are integrated to 1e-11 a step, over some hundred steps. */
#define GROWTH_ERROR 1e-9

static void assert_relative(double value, double expected, double tolerance) {
  assert_near(value / expected, 1.0, tolerance);
}

/* H = 100 a^(-3/2): int dt/a = (sqrt(a1) - sqrt(a0))/50, int dt/a^2 = (1/sqrt(a0) -
 * 1/sqrt(a1))/50. */
static void test_kick_and_drift_in_einstein_de_sitter(void **state) {
  (void)state;
  const double steps[][2] = {{0.02, 0.0201}, {0.02, 1.0}, {1e-4, 1.0}, {0.5, 0.4}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    double a0 = steps[i][0], a1 = steps[i][1];
    assert_relative(cosmology_kick(&einstein_de_sitter, a0, a1), (sqrt(a1) - sqrt(a0)) / 50.0,
                    INTEGRAL_ERROR);
    assert_relative(cosmology_drift(&einstein_de_sitter, a0, a1),
                    (1.0 / sqrt(a0) - 1.0 / sqrt(a1)) / 50.0, INTEGRAL_ERROR);
  }
  assert_near(cosmology_kick(&einstein_de_sitter, 0.3, 0.3), 0.0, 0.0);
}

/* Radiation alone: H = 100/a^2, so int dt/a = (a1 - a0)/100 and int dt/a^2 = ln(a1/a0)/100. */
static void test_kick_and_drift_in_radiation(void **state) {
  (void)state;
  const struct cosmology c = {.omega_r = 1.0, .w0 = -1.0};
  assert_relative(cosmology_kick(&c, 0.01, 1.0), 0.99 / 100.0, INTEGRAL_ERROR);
  assert_relative(cosmology_drift(&c, 0.01, 1.0), log(100.0) / 100.0, INTEGRAL_ERROR);
}

/* Flat LCDM: t = 2/(3 sqrt(Omega_L)) asinh(sqrt(Omega_L/Omega_m) a^(3/2))/H0 has derivative
 * 1/(aH). */
static void test_hubble_is_that_of_the_age(void **state) {
  (void)state;
  for (double a = 0.01; a < 1.5; a *= 1.7) {
    const double h = 1e-4 * a;
    double t[2];
    for (int i = 0; i < 2; i++)
      t[i] = 2.0 / (3.0 * sqrt(0.7)) * asinh(sqrt(0.7 / 0.3) * pow(a + (2 * i - 1) * h, 1.5));
    /* central difference: error (h/a)^2, some 1e-8 */
    assert_relative(cosmology_hubble(&lambda_cdm, a), HUBBLE_0 * 2.0 * h / (t[1] - t[0]) / a, 1e-7);
  }
}

/* rho_DE = exp(3 int_a^1 (1 + w) da/a), by Simpson's rule. */
static void test_dark_energy_density(void **state) {
  (void)state;
  const struct cosmology c = {
      .omega_m = 0.3, .omega_lambda = 0.6, .omega_k = 0.09, .omega_r = 0.01, .w0 = -0.8, .wa = 0.4};
  const double a = 0.25;
  enum { STEPS = 200 };
  double integral = 0.0;
  for (int i = 0; i <= STEPS; i++) {
    double w = c.w0 + c.wa * (1.0 - exp(log(a) * i / STEPS));
    integral += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * 3.0 * (1.0 + w);
  }
  integral *= -log(a) / STEPS / 3.0;
  double squared = 0.3 * 64 + 0.6 * exp(integral) + 0.09 * 16 + 0.01 * 256;
  /* Simpson: (1.4/200)^4/180 */
  assert_relative(cosmology_hubble(&c, a), HUBBLE_0 * sqrt(squared), 1e-9);
  assert_relative(cosmology_hubble(&c, 1.0), HUBBLE_0, 1e-15);
}

/* Two rows are w0 and wa; rows of a curved w(a) that are close together are near its integral. */
static void test_table_of_dark_energy(void **state) {
  (void)state;
  struct cosmology c = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -0.8, .wa = 0.4}, t = c;
  t.w = (struct w_table){.rows = 3, .a = {0.1, 0.4, 1.0}, .w = {-0.44, -0.56, -0.8}};
  w_table_integrate(&t.w);
  for (double a = 0.1; a < 1.5; a *= 1.1) {
    if (a > 1.0) c.wa = 0.0; /* beyond the table w is constant */
    assert_relative(cosmology_hubble(&t, a), cosmology_hubble(&c, a), 1e-13);
  }
  c.wa = 0.4;
  const struct growth g = cosmology_growth(&t, 0.5), same = cosmology_growth(&c, 0.5);
  /* Before a = 0.1 w is constant, where dark energy is less than 1e-2 of all. */
  assert_relative(g.d1, same.d1, 2e-5);
  assert_relative(g.f1, same.f1, 2e-5);

  /* w = -1 + a^2/3: ln of the density is (1 - a^2)/2. Linear pieces err by w'' da^2/8. */
  enum { ROWS = 101 };
  t.w.rows = ROWS;
  for (int i = 0; i < ROWS; i++) {
    t.w.a[i] = fmax(1e-6, 0.01 * i);
    t.w.w[i] = -1.0 + pow(t.w.a[i], 2.0) / 3.0;
  }
  w_table_integrate(&t.w);
  for (double a = 0.05; a <= 1.0; a += 0.07) {
    assert_relative(cosmology_dark_energy(&t, a), 0.7 * exp(0.5 * (1.0 - a * a)), 1e-4);
    assert_near(dark_energy_w(&t.w, 0.0, 0.0, a), -1.0 + a * a / 3.0, 1e-5);
  }
}

static void test_growth_in_einstein_de_sitter(void **state) {
  (void)state;
  for (double a = 1e-3; a <= 2.0; a *= 1.5) {
    struct growth g = cosmology_growth(&einstein_de_sitter, a);
    assert_relative(g.d1, a, GROWTH_ERROR);
    assert_near(g.f1, 1.0, GROWTH_ERROR);
    assert_relative(g.d2, -3.0 / 7.0 * a * a, GROWTH_ERROR);
    assert_near(g.f2, 2.0, GROWTH_ERROR);
  }
}

static void test_third_growth(void **state) {
  (void)state;
  for (double a = 1e-3; a <= 2.0; a *= 3.0) {
    const struct third_growth g = cosmology_third_growth(&einstein_de_sitter, a);
    const double cube = a * a * a;
    assert_relative(g.d3a, -1.0 / 3.0 * cube, GROWTH_ERROR);
    assert_relative(g.d3b, 10.0 / 21.0 * cube, GROWTH_ERROR);
    assert_relative(g.d3c, -1.0 / 7.0 * cube, GROWTH_ERROR);
    assert_near(g.f3, 3.0, GROWTH_ERROR);
  }
}

/* Flat LCDM, x = (Omega_L/Omega_m) a^3: D1 = a 2F1(1/3, 1; 11/6; -x), and f1 = Omega_m(a) (5 a/(2
 * D1) - 3/2) from Heath's integral (1977). 2F1 by Pfaff's transformation, as GSL wants |argument| <
 * 1. */
static double lambda_growth(double x) {
  return pow(1.0 + x, -1.0 / 3.0) *
         gsl_sf_hyperg_2F1(1.0 / 3.0, 5.0 / 6.0, 11.0 / 6.0, x / (1.0 + x));
}

static void test_growth_with_lambda(void **state) {
  (void)state;
  for (double a = 1e-3; a <= 1.2; a *= 1.4) {
    const double x = 0.7 / 0.3 * a * a * a;
    struct growth g = cosmology_growth(&lambda_cdm, a);
    assert_relative(g.d1, a * lambda_growth(x) / lambda_growth(0.7 / 0.3), GROWTH_ERROR);
    assert_near(g.f1, (2.5 / lambda_growth(x) - 1.5) / (1.0 + x), GROWTH_ERROR);
  }
}

/* The second-order equation expanded in x = (Omega_L/Omega_m) a^3 << 1: D2 = -3/7 a^2 (1 - 51/143
 * x), and D1 = a (1 - 2/11 x), so D2/D1^2 = -3/7 (1 + x/143): Bouchet et al. 1995. */
static void test_second_order_growth_with_lambda(void **state) {
  (void)state;
  const double x = 1e-3, a = cbrt(x * 0.3 / 0.7);
  struct growth g = cosmology_growth(&lambda_cdm, a);
  /* The next terms are of order x^2. */
  assert_relative(g.d2 / (g.d1 * g.d1), -3.0 / 7.0 * (1.0 + x / 143.0), x * x);
  assert_near(g.f2, 2.0 - 153.0 / 143.0 * x, 2.0 * x * x);
  /* The same of the third order: Omega_m^(-4/275) and Omega_m^(-269/17875) of Bouchet et al. 1995. */
  const struct third_growth third = cosmology_third_growth(&lambda_cdm, a);
  const double cube = g.d1 * g.d1 * g.d1;
  assert_relative(third.d3a / cube, -1.0 / 3.0 * (1.0 + 4.0 / 275.0 * x), x * x);
  assert_relative(third.d3b / cube, 10.0 / 21.0 * (1.0 + 269.0 / 17875.0 * x), x * x);
}

/* Matter and curvature: Peebles 1980, equation 11.16. */
static double open_growth(double x) {
  return 1.0 + 3.0 / x + 3.0 * sqrt((1.0 + x) / (x * x * x)) * log(sqrt(1.0 + x) - sqrt(x));
}

static void test_growth_with_curvature(void **state) {
  (void)state;
  const struct cosmology open = {.omega_m = 0.3, .omega_k = 0.7, .w0 = -1.0};
  /* Dark energy of w = -1/3 expands the universe as curvature does. */
  const struct cosmology strings = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -1.0 / 3.0};
  for (double a = 0.05; a <= 1.0; a += 0.19) {
    const double expected = open_growth(0.7 / 0.3 * a) / open_growth(0.7 / 0.3);
    /* The start at a = 1e-6 neglects curvature, which leaves 1e-6 of decaying mode there; that mode
     * falls as a^(-5/2). The closed form loses four digits to cancellation. */
    assert_relative(cosmology_growth(&open, a).d1, expected, 1e-8);
    assert_relative(cosmology_growth(&strings, a).d1, expected, 1e-8);
  }
}

/* A growing mode that is kicked, drifts and is kicked again has the displacement and the momentum of linear theory
 * after every step, however long. Plain kicks are off by a tenth of the step's square for each unit of ln a. */
static void test_growth_kicks_follow_growth(void **state) {
  (void)state;
  const struct cosmology curved = {.omega_m = 0.3,
                                   .omega_lambda = 0.6,
                                   .omega_k = 0.0999,
                                   .omega_r = 1e-4,
                                   .w0 = -0.9,
                                   .wa = 0.2};
  const struct cosmology *const all[] = {&einstein_de_sitter, &lambda_cdm, &curved};
  const double lengths[] = {0.0125, 0.2, 1.0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
      for (double a0 = 0.02; a0 <= 0.36; a0 *= 4.2) {
        const struct cosmology *c = all[i];
        const double a1 = a0 * exp(lengths[k]), force = 1.5 * c->omega_m * HUBBLE_0 * HUBBLE_0;
        const struct growth begin = cosmology_growth(c, a0), end = cosmology_growth(c, a1);
        const struct kick_factors kick = cosmology_growth_kicks(c, a0, a1);
        double x = begin.d1, p = a0 * a0 * cosmology_hubble(c, a0) * begin.f1 * begin.d1;
        p += kick.open * force * x;
        x += cosmology_drift(c, a0, a1) * p;
        p += kick.close * force * x;
        assert_relative(x, end.d1, GROWTH_ERROR);
        assert_relative(p, a1 * a1 * cosmology_hubble(c, a1) * end.f1 * end.d1, GROWTH_ERROR);
        /* Both differ from int dt/a in the first order of the step, and their sum in the second. */
        const double middle = sqrt(a0 * a1), plain = cosmology_kick(c, a0, a1);
        assert_relative(kick.open, cosmology_kick(c, a0, middle), lengths[k]);
        assert_relative(kick.open + kick.close, plain, lengths[k] * lengths[k] + 1e-6);
      }
}

/* A particle displaced by D1 psi1 + D2 psi2 (Lagrangian perturbation theory of second order). */
struct displaced {
  double x[2], p[2]; /* of psi1, psi2 */
};

static void drift(struct displaced *d, double factor) {
  for (int i = 0; i < 2; i++) d->x[i] += factor * d->p[i];
}

/** By the force of what is displaced so: Bouchet et al. 1995. */
static void kick_displaced(struct displaced *d, const struct cosmology *c,
                           const struct growth_step *s) {
  const double force = 1.5 * c->omega_m * HUBBLE_0 * HUBBLE_0,
               by[2] = {force * d->x[0], force * (d->x[1] - d->x[0] * d->x[0])};
  for (int i = 0; i < 2; i++) d->p[i] += s->push * by[i] - s->loss * d->p[i];
}

static struct displaced displaced_at(const struct cosmology *c, double a) {
  const struct growth g = cosmology_growth(c, a);
  const double speed = a * a * cosmology_hubble(c, a);
  return (struct displaced){{g.d1, g.d2}, {speed * g.f1 * g.d1, speed * g.f2 * g.d2}};
}

/* Steps of any length keep the first order and the velocity of the second; the second order's displacement is
 * off by its curvature over a step, which in Einstein-de Sitter is none. */
static void test_growth_steps_follow_second_order(void **state) {
  (void)state;
  const struct cosmology *const all[] = {&einstein_de_sitter, &lambda_cdm};
  const int steps[] = {3, 10, 100};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
      const struct cosmology *c = all[i];
      const double first = 0.1, length = (1.0 - first) / steps[k];
      struct displaced d = displaced_at(c, first);
      for (int n = 0; n < steps[k]; n++) {
        const double a0 = first + n * length, a1 = a0 + length;
        const struct growth_step s = cosmology_growth_step(c, a0, a1);
        assert_true(a0 < s.middle && s.middle < a1);
        drift(&d, s.open);
        assert_relative(d.x[0], cosmology_growth(c, s.middle).d1, 1e-8);
        kick_displaced(&d, c, &s);
        drift(&d, s.close);
      }
      const struct displaced end = displaced_at(c, 1.0);
      assert_relative(d.x[0], end.x[0], 1e-8);
      assert_relative(d.p[0], end.p[0], 1e-8);
      assert_relative(d.x[1], end.x[1], i == 0 ? 1e-8 : 2e-2 / (steps[k] * steps[k]));
      assert_relative(d.p[1], end.p[1], i == 0 ? 1e-8 : 2e-2 / (steps[k] * steps[k]));
    }
}

/* Matter and radiation, y = Omega_m a/Omega_r: D1 = 1 + 3y/2 (Meszaros 1974). */
static void test_growth_with_radiation(void **state) {
  (void)state;
  const struct cosmology c = {.omega_m = 0.9, .omega_r = 0.1, .w0 = -1.0};
  for (double a = 1e-3; a <= 1.0; a *= 2.7) {
    const double y = 9.0 * a;
    struct growth g = cosmology_growth(&c, a);
    assert_relative(g.d1, (1.0 + 1.5 * y) / 14.5, GROWTH_ERROR);
    assert_near(g.f1, 1.5 * y / (1.0 + 1.5 * y), GROWTH_ERROR);
  }
  /* Long after equality the second order is again -3/7 of the first squared, except for the growth
   * suppressed by radiation: order 1/y. */
  const struct cosmology late = {.omega_m = 1.0 - 1e-5, .omega_r = 1e-5, .w0 = -1.0};
  struct growth g = cosmology_growth(&late, 1.0);
  assert_near(g.d2, -3.0 / 7.0, 1e-4);
  assert_near(g.f2, 2.0, 1e-4);
}

/* Growth is a solution of its equation with w0-wa, too: the residual of D'' by differences in ln
 * a. */
static void test_growth_with_dynamical_dark_energy(void **state) {
  (void)state;
  const struct cosmology c = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -0.9, .wa = 0.5};
  const double a = 0.8, step = 1e-3;
  double f[3], hubble[3];
  for (int i = 0; i < 3; i++) {
    hubble[i] = cosmology_hubble(&c, a * exp((i - 1) * step));
    f[i] = cosmology_growth(&c, a * exp((i - 1) * step)).f1;
  }
  const double slope = log(hubble[2] / hubble[0]) / (2.0 * step),
               omega_m = 0.3 * pow(a, -3.0) * pow(100.0 / hubble[1], 2.0);
  /* f' + f^2 + (2 + dln H/dln a) f = 3/2 Omega_m; central differences: step^2 */
  assert_near((f[2] - f[0]) / (2.0 * step) + f[1] * f[1] + (2.0 + slope) * f[1], 1.5 * omega_m,
              5.0 * step * step);
  assert_near(cosmology_growth(&c, 1.0).d1, 1.0, 1e-14);
}

/* 0.3 rho_crit (1 Gpc/h)^3 = 0.3 x 2.7754e11 x 1e9 Msun/h; PDG's rho_crit and Gadget's G agree to
 * 1e-4. */
static void test_particle_mass(void **state) {
  (void)state;
  assert_relative(cosmology_particle_mass(&lambda_cdm, 1000.0, pow(256, 3)),
                  0.3 * 2.7754e11 * 1e9 / pow(256, 3) / 1e10, 2e-4);
}

/* The drift from a0 to a1 is 2 (a0^-1/2 - a1^-1/2)/H0. */
static void test_after_a_drift(void **state) {
  (void)state;
  for (double dlna = 1e-6; dlna < 2.0; dlna *= 10.0) {
    const double a0 = 0.02, a1 = a0 * exp(dlna);
    const double drift = 2.0 * (1.0 / sqrt(a0) - 1.0 / sqrt(a1)) / HUBBLE_0;
    const double found = cosmology_after_drift(&einstein_de_sitter, a0, drift);
    assert_true(fabs(found / a1 - 1.0) < 1e-14 + 1e-11 * dlna);
  }
  assert_true(cosmology_after_drift(&einstein_de_sitter, 0.02, 0.0) == 0.02);
}

static void grow(void *cosmology) { cosmology_growth(cosmology, 1.0); }
static void kick(void *cosmology) { cosmology_kick(cosmology, 0.1, 1.0); }

/* A universe that has bounced in the past: H^2 < 0. */
static void test_impossible_universe_is_bad_usage(void **state) {
  (void)state;
  struct cosmology bounce = {.omega_m = 0.1, .omega_lambda = 2.0, .omega_k = -1.1, .w0 = -1.0};
  expect_failure(grow, &bounce, EXIT_BAD_USAGE, "no such universe");
  expect_failure(kick, &bounce, EXIT_BAD_USAGE, "no such universe");
}

/* sum(m)/93.14 eV today, seven eighths of the heat of photons early, and in between the density loses
 * what its pressure does: d(rho a^3)/da = -3 p a^2. */
static void test_neutrinos_become_matter(void **state) {
  (void)state;
  const double mass[] = {0.05, 0.1, 1.0}, h = 0.7;
  const struct neutrinos n = neutrinos_of(mass, 3, h), heavy = neutrinos_of(mass + 2, 1, h);
  assert_relative(neutrinos_density(&heavy, 1.0), 1.0 / (93.14 * h * h), 1e-3);
  assert_relative(neutrinos_density(&n, 1e-8) * 1e-32, 3.0 * n.massless, 1e-6);
  assert_relative(neutrinos_pressure(&n, 1e-8) / neutrinos_density(&n, 1e-8), 1.0, 1e-6);
  for (double a = 1e-5; a < 2.0; a *= 3.0) {
    const double step = 1e-4 * a, low = a - step, high = a + step;
    const double slope = (neutrinos_density(&n, high) * high * high * high -
                          neutrinos_density(&n, low) * low * low * low) /
                         (2.0 * step);
    assert_near(slope / (-neutrinos_pressure(&n, a) * a * a), 1.0, 1e-4);
  }
}

/* Neutrinos that do not cluster: with a share f of matter growth is a^p with p = (sqrt(25 - 24 f) - 1)/4
 * (Bond, Efstathiou & Silk 1980), once they move slowly. */
static void test_growth_beside_neutrinos(void **state) {
  (void)state;
  const double mass[] = {5.0};
  struct cosmology c = {.w0 = -1.0, .neutrinos = neutrinos_of(mass, 1, 0.7)};
  const double share = neutrinos_density(&c.neutrinos, 1.0);
  c.omega_m = 1.0 - share;
  assert_relative(cosmology_growth(&c, 0.5).f1, (sqrt(25.0 - 24.0 * share) - 1.0) / 4.0, 1e-3);
  assert_relative(cosmology_hubble(&c, 1.0), HUBBLE_0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kick_and_drift_in_einstein_de_sitter),
      cmocka_unit_test(test_kick_and_drift_in_radiation),
      cmocka_unit_test(test_after_a_drift),
      cmocka_unit_test(test_hubble_is_that_of_the_age),
      cmocka_unit_test(test_dark_energy_density),
      cmocka_unit_test(test_table_of_dark_energy),
      cmocka_unit_test(test_growth_in_einstein_de_sitter),
      cmocka_unit_test(test_third_growth),
      cmocka_unit_test(test_growth_with_lambda),
      cmocka_unit_test(test_second_order_growth_with_lambda),
      cmocka_unit_test(test_growth_with_curvature),
      cmocka_unit_test(test_growth_with_radiation),
      cmocka_unit_test(test_growth_kicks_follow_growth),
      cmocka_unit_test(test_growth_steps_follow_second_order),
      cmocka_unit_test(test_growth_with_dynamical_dark_energy),
      cmocka_unit_test(test_particle_mass),
      cmocka_unit_test(test_neutrinos_become_matter),
      cmocka_unit_test(test_growth_beside_neutrinos),
      cmocka_unit_test(test_impossible_universe_is_bad_usage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
