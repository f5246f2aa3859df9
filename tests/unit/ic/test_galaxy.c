/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Isolated galaxies: the figures of a published M31, analytic distribution functions, and sampled
 * particles against Jeans' equations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_bessel.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/ic/galaxy.h"

#include <cmocka.h>

#include "support/assert_near.h"

enum { PARTICLES = 200000, REASON = 400 };
enum { HALO, STELLAR_HALO, BULGE, DISK }; /* of M31 */

/* M31 and its particles, for several tests. */
static struct galaxy_tables *m31;
static double (*x)[3], (*v)[3];
static uint8_t *type;

static struct galaxy_tables *tables_of(const struct galaxy *galaxy, size_t particles) {
  char reason[REASON];
  struct galaxy_tables *t = galaxy_tables_create(galaxy, particles, reason, sizeof reason);
  if (!t) fail_msg("%s", reason);
  return t;
}

static struct galaxy_component component(const char *text) {
  char reason[REASON];
  struct galaxy_component c;
  if (!galaxy_component_parse(text, &c, reason, sizeof reason)) fail_msg("%s", reason);
  return c;
}

static struct galaxy_tables *single(const char *text, size_t particles) {
  const struct galaxy galaxy = {.count = 1, .component = {component(text)}};
  return tables_of(&galaxy, particles);
}

static double square(const double a[3]) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

static int sample_m31(void **state) {
  (void)state;
  struct galaxy galaxy;
  gsl_set_error_handler_off();
  assert_true(galaxy_model("m31", &galaxy));
  m31 = tables_of(&galaxy, PARTICLES);
  x = allocate(PARTICLES, sizeof *x, "positions");
  v = allocate(PARTICLES, sizeof *v, "velocities");
  type = allocate(PARTICLES, sizeof *type, "types");
  galaxy_sample(m31, 1, 0, PARTICLES, x, v, type);
  return 0;
}

static int free_m31(void **state) {
  (void)state;
  galaxy_tables_free(m31);
  free(x);
  free(v);
  free(type);
  return 0;
}

/* The figures that Miki 2019's model has by its own generator. */
static void test_m31_figures(void **state) {
  (void)state;
  double fastest = 0.0, where = 0.0, least_q_radius;
  for (double r = 0.1; r < 5.0; r *= 1.01)
    if (galaxy_circular_speed(m31, r) > fastest) {
      fastest = galaxy_circular_speed(m31, r);
      where = r;
    }
  assert_near(fastest, 278.2, 2.8);
  assert_near(where, 0.78, 0.02);
  assert_near(galaxy_circular_speed(m31, 5.4), 255.0, 2.55);
  assert_near(galaxy_toomre_q(m31, DISK, 5.4), 2.295, 0.03 * 2.295);
  assert_near(galaxy_least_q(m31, DISK, &least_q_radius), 1.844, 1e-6);
  assert_near(least_q_radius, 12.34, 0.03 * 12.34);
  assert_near(galaxy_half_mass_radius(m31, HALO), 58.13, 0.01);
  assert_near(galaxy_half_mass_radius(m31, BULGE), 1.093, 0.001);
  assert_near(galaxy_mass(m31), 88.8, 1e-9);
}

static void test_m31_counts(void **state) {
  (void)state;
  static const double published[] = {7661232, 75568, 306064, 345744};
  struct galaxy galaxy;
  assert_true(galaxy_model("m31", &galaxy));
  struct galaxy_tables *t = tables_of(&galaxy, 1 << 23);
  for (size_t c = 0; c < 4; c++) {
    const double count = (double)(galaxy_first(t, c + 1) - galaxy_first(t, c));
    assert_near(count, (double)(1 << 23) * galaxy.component[c].mass / 88.8, 1.0);
    assert_near(count, published[c], 1e-4 * published[c]);
  }
  assert_int_equal(galaxy_first(t, 4), 1 << 23);
  galaxy_tables_free(t);
}

/* W of the smooth galaxy, T of the particles: 2T/W scatters by about 1/sqrt(PARTICLES). */
static void test_m31_is_in_equilibrium(void **state) {
  (void)state;
  double kinetic = 0.0;
  for (size_t i = 0; i < PARTICLES; i++) kinetic += 0.5 * square(v[i]);
  kinetic *= galaxy_mass(m31) / PARTICLES;
  assert_near(-2.0 * kinetic / galaxy_potential_energy(m31), 1.0, 0.01);
}

static void test_types_and_speeds(void **state) {
  (void)state;
  static const int expected[] = {1, 4, 3, 2};
  for (size_t c = 0, i = 0; c < 4; c++)
    for (; i < galaxy_first(m31, c + 1); i++) {
      assert_int_equal(type[i], expected[c]);
      assert_true(0.5 * square(v[i]) < -galaxy_potential(m31, sqrt(square(x[i]))));
    }
}

/* Kolmogorov's and Smirnov's distance of the sampled radii from the enclosed mass: 1.95/sqrt(N) is
 * passed by chance once in a thousand times. The disk tests its average over spheres. */
static void test_densities(void **state) {
  (void)state;
  for (size_t c = 0; c < 4; c++) {
    const size_t first = galaxy_first(m31, c), count = galaxy_first(m31, c + 1) - first;
    const double mass = galaxy_enclosed_mass(m31, c, 1e6);
    double *r = allocate(count, sizeof *r, "radii"), largest = 0.0;
    for (size_t i = 0; i < count; i++) r[i] = sqrt(square(x[first + i]));
    gsl_sort(r, 1, count);
    for (size_t i = 0; i < count; i++)
      largest = fmax(largest, fabs(galaxy_enclosed_mass(m31, c, r[i]) / mass -
                                   ((double)i + 0.5) / (double)count));
    free(r);
    assert_true(largest < 1.95 / sqrt((double)count));
  }
}

static double all_mass(double r) {
  double mass = 0.0;
  for (size_t c = 0; c < 4; c++) mass += galaxy_enclosed_mass(m31, c, r);
  return mass;
}

/* The mean of <v^2>/3 between two radii by the isotropic Jeans equation: d(density sigma^2)/dr =
 * -density G M/r^2. */
static double jeans(size_t c, double from, double to) {
  enum { STEPS = 4000 };
  const double end = 500.0, step = log(end / from) / STEPS;
  double pressure = 0.0, energy = 0.0, mass = 0.0;
  for (size_t i = 0; i < STEPS; i++) {
    const double r = end * exp(-((double)i + 0.5) * step);
    const double density = galaxy_density(m31, c, r);
    const double fall = density * GALAXY_GRAVITY * all_mass(r) / r * step;
    if (r < to) {
      energy += (pressure + 0.5 * fall) * gsl_pow_3(r);
      mass += density * gsl_pow_3(r);
    }
    pressure += fall;
  }
  return energy / mass;
}

static void check_dispersion(size_t c, double from, double to) {
  double sum = 0.0, count = 0.0;
  for (size_t i = galaxy_first(m31, c); i < galaxy_first(m31, c + 1); i++) {
    const double r2 = square(x[i]);
    if (r2 < from * from || r2 >= to * to) continue;
    sum += square(v[i]) / 3.0;
    count++;
  }
  assert_true(count > 200.0);
  /* v^2 of a particle scatters by sqrt(2/3) of its mean if velocities are Gaussian; 4 sigma */
  assert_near(sum / count / jeans(c, from, to), 1.0, 4.0 * sqrt(2.0 / (3.0 * count)));
}

static void test_dispersions(void **state) {
  (void)state;
  for (double r = 1.0; r < 300.0; r *= 2.0) check_dispersion(HALO, r, 2.0 * r);
  for (double r = 4.0; r < 32.0; r *= 2.0) check_dispersion(STELLAR_HALO, r, 2.0 * r);
  for (double r = 0.25; r < 8.0; r *= 2.0) check_dispersion(BULGE, r, 2.0 * r);
}

/* One ring of the disk, around R = 8.25: heights as sech^2, and rotation below the circular speed
 * by the asymmetric drift. */
static void test_disk(void **state) {
  (void)state;
  const struct galaxy_disk_moments m = galaxy_disk_moments(m31, DISK, 8.25, 0.0);
  double count = 0.0, z2 = 0.0, around = 0.0, outwards2 = 0.0;
  for (size_t i = galaxy_first(m31, DISK); i < galaxy_first(m31, DISK + 1); i++) {
    const double radius = hypot(x[i][0], x[i][1]);
    if (fabs(radius - 8.25) > 0.5) continue;
    count++;
    z2 += x[i][2] * x[i][2];
    around += (x[i][0] * v[i][1] - x[i][1] * v[i][0]) / radius;
    outwards2 += gsl_pow_2((x[i][0] * v[i][0] + x[i][1] * v[i][1]) / radius);
  }
  const double few = 4.0 / sqrt(count);
  assert_near(z2 / count, M_PI * M_PI / 12.0 * 0.36, 1.3 * few * 0.36);
  assert_near(around / count, m.rotation, few * m.sigma_phi + 1.0);
  assert_near(outwards2 / count / gsl_pow_2(m.sigma_r), 1.0, M_SQRT2 * few);
  assert_true(m.rotation < galaxy_circular_speed(m31, 8.25) - 1.0);
}

/* A thin disk alone: Freeman 1970 for the rotation curve, and W = -11.6 G Sigma_0^2 R_d^3. A height
 * of 0.002 changes both by about as much. */
static void test_thin_disk(void **state) {
  (void)state;
  struct galaxy_tables *t = single("exponential 1e10 1 0.002 20 1 0.5", 1);
  const double surface = 0.5 / M_PI, factor = GALAXY_GRAVITY * surface;
  for (double radius = 0.3; radius < 10.0; radius *= 1.7) {
    const double y = 0.5 * radius;
    const double squared = 4.0 * M_PI * factor * y * y *
                           (gsl_sf_bessel_I0(y) * gsl_sf_bessel_K0(y) -
                            gsl_sf_bessel_I1(y) * gsl_sf_bessel_K1(y));
    assert_near(galaxy_circular_speed(t, radius) / sqrt(squared), 1.0, 0.005);
  }
  const double energy = -2.0 * M_PI * M_PI * 3.0 * M_PI / 16.0 * factor * surface;
  assert_near(galaxy_potential_energy(t) / energy, 1.0, 0.01);
  /* the isothermal layer, pi G Sigma z_d */
  const double layer = M_PI * factor * exp(-2.0) * 0.002;
  assert_near(gsl_pow_2(galaxy_disk_moments(t, 0, 2.0, 0.001).sigma_z) / layer, 1.0, 0.01);
  galaxy_tables_free(t);
}

/* A thick disk alone: W by pairs of particles, and equilibrium. Both scatter by about 1 %. */
static void test_thick_disk(void **state) {
  (void)state;
  enum { FEW = 8000 };
  struct galaxy_tables *t = single("exponential 1e10 1 0.2 10 1 0.7", FEW);
  double(*few_x)[3] = allocate(FEW, sizeof *few_x, "positions");
  double(*few_v)[3] = allocate(FEW, sizeof *few_v, "velocities");
  galaxy_sample(t, 5, 0, FEW, few_x, few_v, NULL);
  double sum = 0.0, kinetic = 0.0;
  for (size_t i = 0; i < FEW; i++) {
    for (size_t j = 0; j < i; j++) {
      const double d[3] = {few_x[i][0] - few_x[j][0], few_x[i][1] - few_x[j][1],
                           few_x[i][2] - few_x[j][2]};
      sum -= 1.0 / sqrt(square(d));
    }
    kinetic += 0.5 * square(few_v[i]) / FEW;
  }
  const double energy = galaxy_potential_energy(t);
  assert_near(sum * GALAXY_GRAVITY / ((double)FEW * FEW) / energy, 1.0, 0.03);
  assert_near(-2.0 * kinetic / energy, 1.0, 0.03);
  galaxy_tables_free(t);
  free(few_x);
  free(few_v);
}

/* 24 sqrt(2)/(7 pi^3) a^2/(G^5 M^4) (-E)^(7/2): Binney & Tremaine 2008, eq. 4.83. The end at 1000
 * scales shifts energies by 1e-3 of those at the ends of this range at most. */
static void test_plummer(void **state) {
  (void)state;
  struct galaxy_tables *t = single("plummer 1e10 1", 1);
  for (double e = 0.05; e < 0.99; e += 0.05) {
    const double f = 24.0 * M_SQRT2 / (7.0 * gsl_pow_3(M_PI)) * pow(GALAXY_GRAVITY, -1.5) *
                     pow(e, 3.5);
    assert_near(galaxy_distribution(t, 0, -e * GALAXY_GRAVITY) / f, 1.0, 1e-3);
  }
  galaxy_tables_free(t);
}

/* Hernquist 1990 (ApJ 356, 359), eq. 17. The mass is that without an end at 1000 scales. */
static void test_hernquist(void **state) {
  (void)state;
  struct galaxy_tables *t = single("hernquist 1e10 1", 1);
  const double mass = gsl_pow_2(1.001);
  for (double q = 0.2; q < 0.99; q += 0.05) {
    const double q2 = q * q, p = sqrt(1.0 - q2);
    const double f = (3.0 * asin(q) + q * p * (1.0 - 2.0 * q2) * (8.0 * q2 * q2 - 8.0 * q2 - 3.0)) /
                     (8.0 * M_SQRT2 * gsl_pow_3(M_PI) * pow(GALAXY_GRAVITY, 1.5) * sqrt(mass) *
                      gsl_pow_5(p));
    assert_near(galaxy_distribution(t, 0, -q2 * mass * GALAXY_GRAVITY) / f, 1.0, 1e-3);
  }
  galaxy_tables_free(t);
}

/* Pieces begin and end within the pieces of the generator and across components. */
static void test_any_split_gives_the_same_particles(void **state) {
  (void)state;
  enum { MOST = 30000 };
  double(*part_x)[3] = allocate(MOST, sizeof *part_x, "positions");
  double(*part_v)[3] = allocate(MOST, sizeof *part_v, "velocities");
  uint8_t *part_type = allocate(MOST, 1, "types");
  const struct galaxy_sums whole = galaxy_sum(x, v, PARTICLES);
  struct galaxy_sums sums = {0};
  for (size_t first = 0, count, step = 1; first < PARTICLES; first += count, step = 3 * step + 1) {
    count = GSL_MIN(GSL_MIN(step, MOST), PARTICLES - first);
    galaxy_sample(m31, 1, first, count, part_x, part_v, part_type);
    assert_memory_equal(part_x, x + first, count * sizeof *x);
    assert_memory_equal(part_v, v + first, count * sizeof *v);
    assert_memory_equal(part_type, type + first, count);
    const struct galaxy_sums s = galaxy_sum(part_x, part_v, count);
    for (size_t k = 0; k < 3; k++) {
      sums.position[k] += s.position[k];
      sums.velocity[k] += s.velocity[k];
    }
  }
  assert_memory_equal(&sums, &whole, sizeof sums);
  galaxy_sample(m31, 2, 0, 1, part_x, part_v, NULL);
  assert_true(part_x[0][0] != x[0][0]);
  free(part_x);
  free(part_v);
  free(part_type);
}

static void test_center(void **state) {
  (void)state;
  enum { FEW = 1000 };
  struct galaxy_tables *t = single("plummer 1e10 1", FEW);
  double few_x[FEW][3], few_v[FEW][3], center[3] = {0.0}, drift[3] = {0.0};
  galaxy_sample(t, 3, 0, FEW, few_x, few_v, NULL);
  const struct galaxy_sums sums[GALAXY_COMPONENTS] = {galaxy_sum(few_x, few_v, FEW)};
  galaxy_center(t, sums, FEW, few_x, few_v);
  for (size_t i = 0; i < FEW; i++)
    for (size_t k = 0; k < 3; k++) {
      center[k] += few_x[i][k] / FEW;
      drift[k] += few_v[i][k] / FEW;
    }
  for (size_t k = 0; k < 3; k++) assert_near(center[k], 0.0, 1e-7);
  for (size_t k = 0; k < 3; k++) assert_near(drift[k], 0.0, 1e-7);
  galaxy_tables_free(t);
}

/* 1000 of 4000 particles have a tenth of the mass; 500, by their mass, another tenth; the other two components share
 * what is left, 2500, in proportion to their masses. */
static const char *const of_different_masses[] = {
    "hernquist 1e10 1 particles=1000", "hernquist 1e10 2 particle_mass=2e7 type=5 softening=0.25",
    "hernquist 2e10 1", "hernquist 6e10 1"};

static struct galaxy galaxy_of_different_masses(void) {
  struct galaxy galaxy = {.count = 4};
  for (size_t c = 0; c < galaxy.count; c++) galaxy.component[c] = component(of_different_masses[c]);
  return galaxy;
}

static void test_numbers_by_component(void **state) {
  (void)state;
  static const size_t first[] = {0, 1000, 1500, 2125, 4000};
  static const double mass[] = {1e-3, 2e-3, 8.0 / 2500, 8.0 / 2500};
  const struct galaxy galaxy = galaxy_of_different_masses();
  struct galaxy_tables *t = tables_of(&galaxy, 4000);
  for (size_t c = 0; c <= 4; c++) assert_int_equal(galaxy_first(t, c), first[c]);
  for (size_t c = 0; c < 4; c++) assert_near(galaxy_particle_mass(t, c), mass[c], 1e-15);
  assert_int_equal(galaxy.component[1].type, 5);
  assert_true(galaxy.component[1].softening == 0.25 && galaxy.component[0].softening == 0.0);
  assert_true(galaxy_masses_differ(t));
  galaxy_tables_free(t);
  assert_false(galaxy_masses_differ(m31));
  for (size_t c = 0; c < 4; c++) assert_near(galaxy_particle_mass(m31, c), 88.8 / PARTICLES, 1e-9);
}

/* The centre of mass, not that of numbers. */
static void test_center_of_different_masses(void **state) {
  (void)state;
  enum { ALL = 4000 };
  const struct galaxy galaxy = galaxy_of_different_masses();
  struct galaxy_tables *t = tables_of(&galaxy, ALL);
  double(*all_x)[3] = allocate(ALL, sizeof *all_x, "positions");
  double(*all_v)[3] = allocate(ALL, sizeof *all_v, "velocities");
  struct galaxy_sums sums[GALAXY_COMPONENTS];
  galaxy_sample(t, 3, 0, ALL, all_x, all_v, NULL);
  for (size_t c = 0; c < 4; c++) {
    const size_t first = galaxy_first(t, c), count = galaxy_first(t, c + 1) - first;
    for (size_t i = first; i < first + count; i++) all_x[i][0] += 100.0 * (double)c;
    sums[c] = galaxy_sum((const double(*)[3])all_x + first, (const double(*)[3])all_v + first,
                         count);
  }
  galaxy_center(t, sums, ALL, all_x, all_v);
  double center[3] = {0.0}, drift[3] = {0.0};
  for (size_t c = 0; c < 4; c++)
    for (size_t i = galaxy_first(t, c); i < galaxy_first(t, c + 1); i++)
      for (size_t k = 0; k < 3; k++) {
        center[k] += galaxy_particle_mass(t, c) / 10.0 * all_x[i][k];
        drift[k] += galaxy_particle_mass(t, c) / 10.0 * all_v[i][k];
      }
  for (size_t k = 0; k < 3; k++) assert_near(center[k], 0.0, 1e-6);
  for (size_t k = 0; k < 3; k++) assert_near(drift[k], 0.0, 1e-6);
  free(all_x);
  free(all_v);
  galaxy_tables_free(t);
}

static void refuse(const struct galaxy *galaxy, size_t particles, const char *part) {
  char reason[REASON] = "";
  assert_null(galaxy_tables_create(galaxy, particles, reason, sizeof reason));
  if (!strstr(reason, part)) fail_msg("'%s' does not say '%s'", reason, part);
}

static void test_impossible_galaxies_are_refused(void **state) {
  (void)state;
  /* a cutoff so sharp that no isotropic velocities hold the edge */
  struct galaxy galaxy = {.count = 1, .component = {component("nfw 1e12 20 250 5")}};
  refuse(&galaxy, 1, "component nfw: its distribution function is -");
  /* a core in the potential of a cusp */
  galaxy = (struct galaxy){
      .count = 2, .component = {component("hernquist 1e12 1"), component("plummer 1e8 1")}};
  refuse(&galaxy, 1, "component plummer: its distribution function is -");
  galaxy.count = 1;
  refuse(&galaxy, 0, "no particles");
  galaxy.count = 0;
  refuse(&galaxy, 1, "0 components; 1 to 8");
  /* a disk without spheres that is hotter than its own rotation */
  galaxy = (struct galaxy){.count = 1, .component = {component("exponential 1e10 1 0.1")}};
  refuse(&galaxy, 1, "component exponential: at its scale length");
  galaxy.component[0].type = 7;
  refuse(&galaxy, 1, "particle type must be from 0 to 5");
  galaxy = galaxy_of_different_masses();
  refuse(&galaxy, 1501, "components with numbers of their own have 1500 particles; of 1501 in all");
  galaxy.count = 2;
  refuse(&galaxy, 1499, "its components have 1500 particles, and 1499 are asked for");
}

static void test_models(void **state) {
  (void)state;
  static const char *const names[] = {"plummer", "hernquist", "nfw"};
  struct galaxy galaxy;
  for (size_t i = 0; i < 3; i++) {
    assert_true(galaxy_model(names[i], &galaxy));
    galaxy_tables_free(tables_of(&galaxy, 1));
  }
  assert_false(galaxy_model("m32", &galaxy));
}

static void test_components_as_text(void **state) {
  (void)state;
  const struct galaxy_component c = component("  exponential 3.66e10 5.4\t0.6 54 5.4 1.5 ");
  assert_int_equal(c.profile, GALAXY_EXPONENTIAL);
  assert_string_equal(c.name, "exponential");
  assert_near(c.mass, 3.66, 1e-12);
  assert_near(c.scale, 5.4, 0.0);
  assert_near(c.height, 0.6, 0.0);
  assert_near(c.cutoff, 54.0, 0.0);
  assert_near(c.cutoff_width, 5.4, 0.0);
  assert_near(c.toomre_q, 1.5, 0.0);
  assert_int_equal(c.type, 2);
  assert_near(component("sersic 8e9 9 2.2 176 20").n, 2.2, 0.0);
  assert_near(component("plummer 1e11 5").cutoff, 0.0, 0.0);
  assert_int_equal(component("hernquist 3.24e10 0.61 6.1 0.61").type, 3);
  assert_int_equal(component("nfw 8.11e11 7.63 250 25").type, 1);
}

static void test_wrong_text_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } wrong[] = {
      {"", "'' is no profile; known: nfw"},
      {"king 1e11 5", "'king' is no profile; known: nfw"},
      {"plummers 1e11 5", "'plummers' is no profile"},
      {"nfw 8.11e11 7.63", "expected 'nfw MASS SCALE CUTOFF WIDTH' with numbers, found 'nfw 8.11"},
      {"plummer 1e11 5 50", "expected 'plummer MASS SCALE [CUTOFF WIDTH]'"},
      {"plummer 1e11 5kpc", "expected 'plummer MASS SCALE"},
      {"plummer 1e11 5 50 5 5", "expected 'plummer MASS SCALE"},
      {"plummer -1 5", "component plummer: its mass must be above 1e-20 Msun"},
      {"plummer nan 5", "its mass must be above 1e-20 Msun"},
      {"plummer 1e11 inf", "its scale length must be above 0"},
      {"nfw 1e11 5 0 0", "it needs a cutoff radius"},
      {"nfw 1e11 5 50 0", "its cutoff radius and width must be above 0"},
      {"nfw 1e11 5 50 0.1", "its cutoff width must be from 0.02 to 1 cutoff radius"},
      {"nfw 1e11 5 1e7 1e6", "its cutoff radius must be from 0.1 to 1e5 scale lengths"},
      {"sersic 1e11 5 0.3", "its Sersic index must be from 0.6 to 10"},
      {"exponential 1e11 5 6", "its height must be from 0.001 to 1 scale length"},
      {"exponential 1e11 5 1 50 5 -1", "its least Q must not be below 0"},
      {"plummer 1e11 5 particles=0", "particles=0: expected a whole number from 1 to 1e12"},
      {"plummer 1e11 5 particles=1.5", "particles=1.5: expected a whole number"},
      {"plummer 1e11 5 particles=1x", "particles=1x: expected a whole number"},
      {"plummer 1e11 5 particle_mass=3e11", "particle_mass=3e11: expected a mass in Msun that"},
      {"plummer 1e11 5 particle_mass=nan", "particle_mass=nan: expected a mass in Msun that"},
      {"plummer 1e11 5 particles=9 particle_mass=1e9", "particle_mass=1e9: the number is given"},
      {"plummer 1e11 5 type=0", "type=0: expected a whole number from 1 to 5"},
      {"plummer 1e11 5 softening=0", "softening=0: expected a length in kpc from 1e-6 to 1e6"},
      {"plummer 1e11 5 n=7", "'n=7' is none of particles=N, particle_mass=MASS, type=N"},
      {"plummer 1e11 5 type=1 50 5", "'50' is none of particles=N"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char reason[REASON] = "";
    struct galaxy_component c;
    assert_false(galaxy_component_parse(wrong[i].text, &c, reason, sizeof reason));
    if (!strstr(reason, wrong[i].part)) fail_msg("'%s' does not say '%s'", reason, wrong[i].part);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_m31_figures),
      cmocka_unit_test(test_m31_counts),
      cmocka_unit_test(test_m31_is_in_equilibrium),
      cmocka_unit_test(test_types_and_speeds),
      cmocka_unit_test(test_densities),
      cmocka_unit_test(test_dispersions),
      cmocka_unit_test(test_disk),
      cmocka_unit_test(test_any_split_gives_the_same_particles),
      cmocka_unit_test(test_thin_disk),
      cmocka_unit_test(test_thick_disk),
      cmocka_unit_test(test_plummer),
      cmocka_unit_test(test_hernquist),
      cmocka_unit_test(test_center),
      cmocka_unit_test(test_numbers_by_component),
      cmocka_unit_test(test_center_of_different_masses),
      cmocka_unit_test(test_impossible_galaxies_are_refused),
      cmocka_unit_test(test_models),
      cmocka_unit_test(test_components_as_text),
      cmocka_unit_test(test_wrong_text_is_refused),
  };
  return cmocka_run_group_tests(tests, sample_m31, free_m31);
}
