/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures of galaxies: a Plummer sphere against theory, and a disk with a bar that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <math.h>

#include "photons/analysis/galaxies.h"
#include "photons/base/comm.h"

#include <cmocka.h>

#define BOX 1.0   /* Mpc */
#define SCALE 3.0 /* kpc, of the sphere */
#define MASS 1e-4 /* of a particle, 1e10 Msun */
#define CUT 0.999 /* share of the mass of the whole sphere */
#define G 43007.1 /* kpc (km/s)^2 / 1e10 Msun */
#define TILT 0.6  /* angle of the disk's axis to the z axis, about the x axis */
#define BAR_ANGLE 0.4
#define STRENGTH 0.3 /* A2 of the disk */

enum { SPHERE = 20000, BULGE = 6000, DISK = 40000, ALL = SPHERE + BULGE + DISK };

/** A number of a sequence that fills (0, 1) evenly. */
static double even(size_t i, double irrational) {
  return fmod(((double)i + 0.5) * irrational, 1.0);
}

static void put(struct particles *s, size_t i, const double x[3], const double v[3],
                unsigned type) {
  /* particles are dealt out to blocks in turn, so that every block has both galaxies */
  const size_t stride = 7919, place = i * stride % ALL;
  if (place < particles_first(s) || place >= particles_first(s) + s->count) return;
  const size_t here = place - particles_first(s);
  const struct particle_block b = particles_block_of(s, here);
  for (size_t c = 0; c < 3; c++) {
    b.x[c][here - b.first] = position_to_integer(0.5 * BOX + 1e-3 * x[c], BOX);
    b.p[c][here - b.first] = (float)v[c];
  }
  s->id[here] = i + 1;
  s->type[here] = (uint8_t)type;
}

/** Particle i of n of a Plummer sphere, relative to its centre. */
static void plummer(size_t i, size_t n, double scale, double x[3], double v[3]) {
  const double share = CUT * ((double)i + 0.5) / (double)n;
  const double r = scale / sqrt(pow(share, -2.0 / 3.0) - 1.0);
  const double cosine = 2.0 * even(i, 0.618033988749895) - 1.0, sine = sqrt(1.0 - cosine * cosine);
  const double phi = 2.0 * M_PI * even(i, 0.414213562373095);
  x[0] = r * sine * cos(phi), x[1] = r * sine * sin(phi), x[2] = r * cosine;
  /* of one dimension, with the mean square G M/(6 sqrt(r^2 + a^2)) of the model */
  const double speed = sqrt(G * (double)n * MASS / (6.0 * sqrt(r * r + scale * scale)));
  for (int c = 0; c < 3; c++) v[c] = i >> c & 1 ? speed : -speed;
}

/** A particle of a Plummer sphere about (40, -20, 10) kpc, whose centre moves. */
static void put_sphere(struct particles *s, size_t i) {
  const double centre[3] = {40.0, -20.0, 10.0}, velocity[3] = {50.0, -30.0, 0.0};
  double x[3], v[3];
  plummer(i, SPHERE, SCALE, x, v);
  for (int c = 0; c < 3; c++) x[c] += centre[c], v[c] += velocity[c];
  put(s, i, x, v, PARTICLE_HALO);
}

/** The bulge makes the centre of the disk sharp. */
static void put_bulge(struct particles *s, size_t i) {
  double x[3], v[3];
  plummer(i, BULGE, 0.3, x, v);
  put(s, SPHERE + i, x, v, 3);
}

/** A particle of an exponential disk of 2 kpc whose density goes with 1 + 2 A2 cos 2(phi - angle), and which turns
 * with 200 km/s. */
static void put_disk(struct particles *s, size_t i, double angle) {
  const double share = even(i, 0.618033988749895);
  double R = 1.0; /* 1 - (1 + R) exp(-R) = share */
  for (int k = 0; k < 60; k++) R -= (1.0 - (1.0 + R) * exp(-R) - share) / (R * exp(-R) + 1e-9);
  R *= 2.0;
  const double turn = 2.0 * M_PI * even(i, 0.414213562373095);
  double phi = turn; /* phi + A2 sin 2 phi = turn */
  for (int k = 0; k < 60; k++)
    phi -= (phi + STRENGTH * sin(2.0 * phi) - turn) / (1.0 + 2.0 * STRENGTH * cos(2.0 * phi));
  phi += angle;
  const double z = i % 2 ? 0.3 : -0.3;
  const double flat[3] = {R * cos(phi), R * sin(phi), z};
  const double turning[3] = {-200.0 * sin(phi) + (i / 2 % 2 ? 10.0 : -10.0) * cos(phi),
                             200.0 * cos(phi) + (i / 2 % 2 ? 10.0 : -10.0) * sin(phi),
                             i / 4 % 2 ? 20.0 : -20.0};
  const double x[3] = {flat[0], cos(TILT) * flat[1] - sin(TILT) * flat[2],
                       sin(TILT) * flat[1] + cos(TILT) * flat[2]};
  const double v[3] = {turning[0], cos(TILT) * turning[1] - sin(TILT) * turning[2],
                       sin(TILT) * turning[1] + cos(TILT) * turning[2]};
  put(s, SPHERE + BULGE + i, x, v, PARTICLE_DISK);
}

static struct particles make(size_t blocks, double angle) {
  struct particles s = particles_create_blocks(ALL, blocks, BOX, MASS);
  particles_add_column(&s, COLUMN_type);
  for (size_t i = 0; i < SPHERE; i++) put_sphere(&s, i);
  for (size_t i = 0; i < BULGE; i++) put_bulge(&s, i);
  for (size_t i = 0; i < DISK; i++) put_disk(&s, i, angle);
  return s;
}

static const struct galaxy_ids both = {.count = 2, .last = {SPHERE, ALL}};

static void measure(double angle, struct galaxy_measures g[2]) {
  struct particles s = make(12, angle);
  galaxies_measure(&s, &both, g);
  particles_free(&s);
}

static void assert_within(double found, double expected, double error) {
  if (!(fabs(found - expected) <= error)) fail_msg("%g, expected %g +- %g", found, expected, error);
}

/** The mean of 1/sqrt(r^2 + a^2) over the inner half of the mass of a Plummer sphere. */
static double mean_of_half(void) {
  double sum = 0.0;
  enum { STEPS = 1000 };
  for (int k = 0; k < STEPS; k++)
    sum += sqrt(1.0 - pow(0.5 * CUT * (k + 0.5) / STEPS, 2.0 / 3.0)) / SCALE / STEPS;
  return sum;
}

static void test_plummer(void **state) {
  (void)state;
  struct galaxy_measures g[2];
  measure(BAR_ANGLE, g);
  assert_int_equal(g[0].particles, SPHERE);
  assert_within(g[0].mass, SPHERE * MASS, 1e-9);
  const double centre[3] = {40.0, -20.0, 10.0}, velocity[3] = {50.0, -30.0, 0.0};
  for (int c = 0; c < 3; c++) assert_within(g[0].centre[c], centre[c], 0.05 * SCALE);
  for (int c = 0; c < 3; c++) assert_within(g[0].velocity[c], velocity[c], 0.5);
  for (int k = 0; k < GALAXY_RADII_MEASURED; k++) {
    const double r = SCALE / sqrt(pow(CUT * 0.01 * galaxy_percent[k], -2.0 / 3.0) - 1.0);
    assert_within(g[0].radius[k], r, 3e-3 * r);
    assert_within(g[0].type_radius[PARTICLE_HALO][k], g[0].radius[k], 0.0);
    assert_true(isnan(g[0].type_radius[PARTICLE_DISK][k]));
  }
  const double sigma = sqrt(G * SPHERE * MASS / 6.0 * mean_of_half());
  assert_within(g[0].dispersion, sigma, 3e-3 * sigma);
  assert_true(isnan(g[0].disk.bar_strength) && isnan(g[0].disk.scale_length));
}

static void test_disk(void **state) {
  (void)state;
  struct galaxy_measures g[2];
  measure(BAR_ANGLE, g);
  const struct disk_measures *d = &g[1].disk;
  assert_int_equal(g[1].particles, BULGE + DISK);
  assert_within(d->bar_strength, STRENGTH, 5e-3);
  assert_within(d->bar_angle, BAR_ANGLE, 5e-3);
  assert_within(d->scale_length, 2.0, 0.01);
  assert_within(d->height, 0.3, 1e-3);
  assert_within(d->sigma[0], 10.0, 0.2);
  assert_within(d->sigma[1], 0.0, 3.0); /* the centre is not exactly that of rotation */
  assert_within(d->sigma[2], 20.0, 0.2);
  const double spin = 200.0 * 4.0; /* the mean R is two scale lengths */
  assert_within(d->spin[0], 0.0, 0.01 * spin);
  assert_within(d->spin[1], -sin(TILT) * spin, 0.01 * spin);
  assert_within(d->spin[2], cos(TILT) * spin, 0.01 * spin);
  /* All that does not turn is turned by the same angle. */
  struct galaxy_measures later[2];
  measure(BAR_ANGLE + 0.25, later);
  assert_within(later[1].disk.bar_angle - d->bar_angle, 0.25, 2e-3);
}

/** A galaxy alone has all particles, whatever their ids. */
static void test_alone(void **state) {
  (void)state;
  struct particles s = make(6, BAR_ANGLE);
  struct galaxy_measures g;
  galaxies_measure(&s, &(const struct galaxy_ids){.count = 1}, &g);
  assert_int_equal(g.particles, ALL);
  assert_within(g.mass, ALL * MASS, 1e-9);
  particles_free(&s);
}

/** Bytes of addresses that may still be used. The sanitizers' own are not bounded. */
static void allow_memory(size_t more) {
#ifndef __SANITIZE_ADDRESS__
  char line[256];
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  fclose(file);
  const unsigned long pages = strtoul(line, NULL, 10);
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
  assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
#else
  (void)more;
#endif
}

/** Many groups give the radii of few, and need no table for each group: bins of 4000 groups would have 200 MB. */
static void test_groups(void **state) {
  (void)state;
  struct galaxy_measures few[2], many[2];
  struct particles s = make(12, BAR_ANGLE), t = make(4000, BAR_ANGLE);
  galaxies_measure(&s, &both, few);
  allow_memory(32 << 20);
  galaxies_measure(&t, &both, many);
  for (int g = 0; g < 2; g++) {
    for (int k = 0; k < GALAXY_RADII_MEASURED; k++)
      assert_within(many[g].radius[k], few[g].radius[k], 1e-6 * few[g].radius[k]);
    assert_int_equal(many[g].particles, few[g].particles);
  }
  particles_free(&s);
  particles_free(&t);
}

int main(int argc, char **argv) {
  comm_start(&argc, &argv);
  comm_started();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plummer), cmocka_unit_test(test_disk),
                                     cmocka_unit_test(test_alone), cmocka_unit_test(test_groups)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failures;
}
