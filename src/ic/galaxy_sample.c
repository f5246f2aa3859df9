/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of a galaxy, drawn from its tables. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

#include "galaxy_disk.h"
#include "galaxy_profile.h"
#include "galaxy_tables.h"
#include "photons/base/error.h"

/* Particles that share a generator. The particles of a piece are drawn in order from its first, so
 * that a particle does not depend on which rank draws it. */
enum { PIECE = 1024 };

/** The speed at radius r by von Neumann's rejection from q^2 f. */
static double draw_speed(const struct galaxy_tables *t, size_t c, double r, gsl_rng *generator) {
  const struct galaxy_place place = galaxy_find(t->ln_r, GALAXY_RADII, log(r));
  const double depth = galaxy_between(t->depth, place);
  const double climb = t->depth[GALAXY_RADII - 1] - depth;
  const double *peak = t->shells[c]->peak;
  const double bound = 1.05 * fmax(peak[place.i], peak[place.i + 1]);
  if (!(bound > 0.0)) return 0.0; /* at the very end of the component */
  double q, limit;
  do {
    q = gsl_rng_uniform(generator);
    limit = bound * gsl_rng_uniform(generator);
  } while (limit >= q * q * galaxy_f(t, c, depth + q * q * climb));
  return q * sqrt(2.0 * climb);
}

static void draw_direction(gsl_rng *generator, double length, double out[3]) {
  gsl_ran_dir_3d(generator, &out[0], &out[1], &out[2]);
  for (size_t k = 0; k < 3; k++) out[k] *= length;
}

static void draw_of_sphere(const struct galaxy_tables *t, size_t c, gsl_rng *generator, double x[3],
                           double v[3]) {
  const double mass = gsl_rng_uniform_pos(generator) * t->galaxy.component[c].mass;
  const double r = galaxy_radius_of_mass(t->r, t->shells[c]->mass, GALAXY_RADII, mass);
  draw_direction(generator, r, x);
  draw_direction(generator, draw_speed(t, c, r, generator), v);
}

static void draw_of_disk(const struct galaxy_tables *t, size_t c, gsl_rng *generator, double x[3],
                         double v[3]) {
  const double radius = galaxy_disk_radius(t, c, gsl_rng_uniform_pos(generator));
  const double angle = 2.0 * M_PI * gsl_rng_uniform(generator);
  const double along[2] = {cos(angle), sin(angle)};
  x[0] = radius * along[0];
  x[1] = radius * along[1];
  x[2] = t->galaxy.component[c].height * atanh(2.0 * gsl_rng_uniform_pos(generator) - 1.0);
  const struct galaxy_disk_moments m = galaxy_disk_moments(t, c, radius, x[2]);
  const double escape2 = -2.0 * galaxy_potential(t, hypot(radius, x[2]));
  do {
    const double outwards = gsl_ran_gaussian(generator, m.sigma_r);
    const double around = m.rotation + gsl_ran_gaussian(generator, m.sigma_phi);
    v[0] = outwards * along[0] - around * along[1];
    v[1] = outwards * along[1] + around * along[0];
    v[2] = gsl_ran_gaussian(generator, m.sigma_z);
  } while (gsl_pow_2(v[0]) + gsl_pow_2(v[1]) + gsl_pow_2(v[2]) >= escape2);
}

static size_t component_of(const struct galaxy_tables *t, size_t particle) {
  size_t c = 0;
  while (particle >= t->first[c + 1]) c++;
  return c;
}

static size_t draw(const struct galaxy_tables *t, size_t particle, gsl_rng *generator, double x[3],
                   double v[3]) {
  const size_t c = component_of(t, particle);
  if (galaxy_is_disk(&t->galaxy.component[c]))
    draw_of_disk(t, c, generator, x, v);
  else
    draw_of_sphere(t, c, generator, x, v);
  return c;
}

/** A 32-bit seed, as the generator takes; no two pieces of a galaxy have the same one. */
static unsigned long seed_of_piece(uint64_t seed, size_t piece) {
  const uint64_t mixed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((mixed >> 32) + piece);
}

void galaxy_sample(const struct galaxy_tables *t, uint64_t seed, size_t first, size_t count,
                   double (*x)[3], double (*v)[3], uint8_t *type) {
  gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
  if (!generator) fail(EXIT_RUN_FAILED, "not enough memory for a random number generator");
  for (size_t i = first - first % PIECE; i < first + count; i++) {
    if (i % PIECE == 0) gsl_rng_set(generator, seed_of_piece(seed, i / PIECE));
    if (i < first) {
      double unused_x[3], unused_v[3];
      draw(t, i, generator, unused_x, unused_v);
      continue;
    }
    const size_t c = draw(t, i, generator, x[i - first], v[i - first]);
    if (type) type[i - first] = (uint8_t)t->galaxy.component[c].type;
  }
  gsl_rng_free(generator);
}

static const double unit = 1.0 / (1 << 24); /* of struct galaxy_sums */

struct galaxy_sums galaxy_sum(const double (*x)[3], const double (*v)[3], size_t count) {
  struct galaxy_sums sums = {0};
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < 3; k++) {
      sums.position[k] += (uint64_t)llrint(x[i][k] / unit);
      sums.velocity[k] += (uint64_t)llrint(v[i][k] / unit);
    }
  return sums;
}

/** Sums over all particles of the mass of component @p c; zero if an earlier component has this mass. */
static struct galaxy_sums sums_of_mass(const struct galaxy_tables *t,
                                       const struct galaxy_sums sums[GALAXY_COMPONENTS], size_t c) {
  struct galaxy_sums all = {0};
  for (size_t other = 0; other < t->galaxy.count; other++) {
    if (t->particle_mass[other] != t->particle_mass[c]) continue;
    if (other < c) return (struct galaxy_sums){0};
    for (size_t k = 0; k < 3; k++) {
      all.position[k] += sums[other].position[k];
      all.velocity[k] += sums[other].velocity[k];
    }
  }
  return all;
}

void galaxy_center(const struct galaxy_tables *t, const struct galaxy_sums sums[GALAXY_COMPONENTS],
                   size_t count, double (*x)[3], double (*v)[3]) {
  double center[3] = {0.0}, drift[3] = {0.0},
         particles = 0.0; /* of the mass of the first component */
  for (size_t c = 0; c < t->galaxy.count; c++) {
    const double weight = t->particle_mass[c] / t->particle_mass[0];
    const struct galaxy_sums all = sums_of_mass(t, sums, c);
    particles += weight * (double)(t->first[c + 1] - t->first[c]);
    for (size_t k = 0; k < 3; k++) {
      center[k] += weight * ((double)(int64_t)all.position[k] * unit);
      drift[k] += weight * ((double)(int64_t)all.velocity[k] * unit);
    }
  }
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < 3; k++) {
      x[i][k] -= center[k] / particles;
      v[i][k] -= drift[k] / particles;
    }
}
