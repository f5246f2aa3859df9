/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/analysis/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"

#define KPC 1e3           /* in a Mpc */
#define SHRINK 0.9        /* radius of a sphere over that of the sphere before */
#define LEAST_SHARE 0.005 /* of the particles, in the last sphere, */
#define LEAST 100.0       /* and their least number */
#define DENSE 0.02        /* share of the mass in the smallest sphere about a seed, */
#define WIDE 0.2          /* and in the first of the spheres that shrink */
enum {
  SAMPLE = 20000, /* particles about which spheres are tried, at most, */
  SEEDS = 200,    /* and how many of them are centres */
  SPHERES = 200   /* the last has 1e-9 of the first radius: particles may be at one place */
};

const int system_percent[SYSTEM_SHARES] = {10, 25, 50, 75, 90};

/** A particle: kpc about the origin of snapshots, and 1e10 Msun. */
struct body {
  double x[3], mass;
  unsigned type;
};

/** Those of this rank. */
struct bodies {
  struct body *body;
  size_t count;
};

static struct bodies read_bodies(const struct particles *s) {
  const double unit = KPC * s->box / POSITION_TURN;
  struct bodies b = {allocate(s->count, sizeof *b.body, "the particles of a system"), s->count};
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block block = particles_block(s, g);
    for (size_t i = 0; i < block.count; i++) {
      struct body *body = &b.body[block.first + i];
      body->mass = particle_mass(s, block.first + i);
      body->type = particle_type(s, block.first + i);
      for (size_t c = 0; c < 3; c++)
        body->x[c] = unit * (double)position_difference(block.x[c][i], FRAME_MIDDLE);
    }
  }
  return b;
}

static double distance(const double x[3], const double y[3]) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++) sum += (x[c] - y[c]) * (x[c] - y[c]);
  return sqrt(sum);
}

/** A distance, and the mass there, or up to there. */
struct reach {
  double radius, mass;
};

static int compare_reaches(const void *a, const void *b) {
  const struct reach *x = a, *y = b;
  return (x->radius > y->radius) - (x->radius < y->radius);
}

/** Sort by radius, and add up masses from the centre outwards. */
static void add_outwards(struct reach *r, size_t count) {
  qsort(r, count, sizeof *r, compare_reaches);
  for (size_t i = 1; i < count; i++) r[i].mass += r[i - 1].mass;
}

/* The densest point. */

/** Every so many particles of all ranks, on every rank. @return their number */
static size_t take_sample(const struct particles *s, const struct bodies *b, struct body **sample) {
  const size_t step = (s->all + SAMPLE - 1) / SAMPLE, ranks = (size_t)comm_size();
  size_t first = (step - particles_first(s) % step) % step, own = 0, all = 0;
  struct body *mine = allocate(b->count / step + 1, sizeof *mine, "a sample of particles");
  for (; first < b->count; first += step) mine[own++] = b->body[first];
  size_t *bytes = allocate(ranks, sizeof *bytes, "message sizes");
  own *= sizeof *mine;
  comm_gather_all(&own, sizeof own, bytes);
  for (size_t r = 0; r < ranks; r++) all += bytes[r] / sizeof *mine;
  *sample = allocate(all, sizeof **sample, "a sample of particles");
  comm_gather_all_sizes(mine, bytes, *sample);
  free(bytes);
  free(mine);
  return all;
}

/** The radius in a sorted sample that holds a share of its mass. */
static double radius_of(const struct reach *r, size_t count, double share) {
  size_t i = 0;
  while (i + 1 < count && r[i].mass < share * r[count - 1].mass) i++;
  return r[i].radius;
}

/** The first sphere: of some particles the one about which DENSE of the mass is in the smallest
 * sphere, and the radius that holds WIDE of it. */
static double first_sphere(const struct body *sample, size_t count, double centre[3]) {
  struct reach *r = allocate(count, sizeof *r, "a sample of particles");
  const size_t seeds = count < SEEDS ? count : SEEDS;
  double best = HUGE_VAL, radius = 0.0;
  for (size_t k = 0; k < seeds; k++) {
    const double *seed = sample[k * count / seeds].x;
    for (size_t i = 0; i < count; i++)
      r[i] = (struct reach){distance(sample[i].x, seed), sample[i].mass};
    add_outwards(r, count);
    const double dense = radius_of(r, count, DENSE);
    if (dense >= best) continue;
    best = dense;
    radius = radius_of(r, count, WIDE);
    memcpy(centre, seed, 3 * sizeof *centre);
  }
  free(r);
  return radius;
}

/** Replace the centre by the centre of mass of a sphere about it.
 * @return false: fewer than `least` particles are within, and the centre stays */
static bool next_centre(const struct bodies *b, double radius, double least, double centre[3]) {
  double sum[5] = {0}; /* of m x, m, and numbers */
  for (size_t i = 0; i < b->count; i++) {
    const struct body *body = &b->body[i];
    if (distance(body->x, centre) > radius) continue;
    for (int c = 0; c < 3; c++) sum[c] += body->mass * body->x[c];
    sum[3] += body->mass;
    sum[4]++;
  }
  comm_sum_double(sum, 5);
  if (sum[4] < least) return false;
  for (int c = 0; c < 3; c++) centre[c] = sum[c] / sum[3];
  return true;
}

static void find_densest(const struct particles *s, const struct bodies *b, double centre[3]) {
  struct body *sample;
  const size_t count = take_sample(s, b, &sample);
  double radius = first_sphere(sample, count, centre);
  const double least = fmax(LEAST, LEAST_SHARE * (double)s->all);
  for (int k = 0; k < SPHERES && next_centre(b, radius, least, centre); k++) radius *= SHRINK;
  free(sample);
}

/* Radii of shares of the mass. */

/** The mass of this rank's particles within a radius. */
static double mass_within(const struct reach *r, size_t count, double radius) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (r[middle].radius <= radius)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? r[low - 1].mass : 0.0;
}

/** The least radius that holds a mass on all ranks, by bisection to the last bit. */
static double find_radius(const struct reach *r, size_t count, double mass) {
  double low = 0.0, high = count > 0 ? r[count - 1].radius : 0.0;
  comm_max_double(&high, 1);
  for (;;) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) return high;
    double within = mass_within(r, count, middle);
    comm_sum_double(&within, 1);
    *(within >= mass ? &high : &low) = middle;
  }
}

static bool is_part(const struct body *b, int type) {
  return type == PARTICLE_TYPES || b->type == (unsigned)type;
}

/** @param type  PARTICLE_TYPES: all */
static void measure_part(const struct bodies *b, const double centre[3], int type,
                         struct system_part *part) {
  struct reach *r = allocate(b->count, sizeof *r, "the particles of a system");
  size_t count = 0;
  for (size_t i = 0; i < b->count; i++)
    if (is_part(&b->body[i], type))
      r[count++] = (struct reach){distance(b->body[i].x, centre), b->body[i].mass};
  add_outwards(r, count);
  part->count = count;
  part->mass = count > 0 ? r[count - 1].mass : 0.0;
  comm_sum_u64(&part->count, 1);
  comm_sum_double(&part->mass, 1);
  for (int k = 0; k < SYSTEM_SHARES && part->count > 0; k++)
    part->radius[k] = find_radius(r, count, 0.01 * system_percent[k] * part->mass);
  free(r);
}

static void add_momenta(const struct particles *s, struct system *system) {
  double momentum[PARTICLE_TYPES][3] = {{0}};
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++)
      for (size_t c = 0; c < 3; c++)
        momentum[particle_type(s, b.first + i)][c] += particle_mass(s, b.first + i) *
                                                      (double)b.p[c][i];
  }
  comm_sum_double(momentum[0], PARTICLE_TYPES * 3);
  for (int t = 0; t < PARTICLE_TYPES; t++)
    for (int c = 0; c < 3; c++) {
      system->type[t].momentum[c] = momentum[t][c];
      system->all.momentum[c] += momentum[t][c];
    }
}

struct system system_measure(const struct particles *s) {
  struct system system = {.all = {0}};
  const struct bodies b = read_bodies(s);
  find_densest(s, &b, system.densest);
  for (int t = 0; t < PARTICLE_TYPES; t++) measure_part(&b, system.densest, t, &system.type[t]);
  measure_part(&b, system.densest, PARTICLE_TYPES, &system.all);
  add_momenta(s, &system);
  free(b.body);
  return system;
}
