/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The densest point of some particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "members.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

#define SHRINK 0.9        /* radius of a sphere over that of the sphere before */
#define LEAST_SHARE 0.005 /* of the particles, in the last sphere, */
#define LEAST 100.0       /* and their least number */
#define DENSE 0.02        /* share of the mass in the smallest sphere about a seed, */
#define WIDE 0.2          /* and in the first of the spheres that shrink */
enum {
  SAMPLE = 4000, /* particles about which spheres are tried, roughly, */
  SEEDS = 200,   /* and how many of them are centres */
  SPHERES = 200  /* the last has 1e-9 of the first radius: particles may be at one place */
};

/** A particle of the sample. */
struct point {
  double x[3], mass;
};

/** A distance, and the mass there, or up to there. */
struct reach {
  double radius, mass;
};

static double distance(const double x[3], const double y[3]) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++) sum += (x[c] - y[c]) * (x[c] - y[c]);
  return sqrt(sum);
}

static int compare_reaches(const void *a, const void *b) {
  const struct reach *x = a, *y = b;
  return (x->radius > y->radius) - (x->radius < y->radius);
}

/** The sample of this rank. */
struct sample {
  struct point *point;
  size_t count, room, step; /* every so many particles */
};

/* Adds nothing up. NOLINTNEXTLINE(readability-non-const-parameter): members_visit() has the type */
static void take_point(const void *context, const struct body *b, double *unused) {
  struct sample *s = *(struct sample *const *)context;
  (void)unused;
  if (b->place % s->step != 0) return;
  if (s->count == s->room)
    s->point = reallocate(s->point, s->room = 2 * s->room, sizeof *s->point,
                          "a sample of particles");
  s->point[s->count++] = (struct point){{b->x[0], b->x[1], b->x[2]}, b->mass};
}

/** Every so many members of all ranks, on every rank. @return their number */
static size_t take_sample(const struct members *m, size_t members, struct point **points) {
  struct sample mine = {.room = 64, .step = members / SAMPLE + 1}, *context = &mine;
  const size_t ranks = (size_t)comm_size();
  mine.point = allocate(mine.room, sizeof *mine.point, "a sample of particles");
  members_visit(m, take_point, &context, NULL);
  size_t *bytes = allocate(ranks, sizeof *bytes, "message sizes"), all = 0;
  const size_t own = mine.count * sizeof *mine.point;
  comm_gather_all(&own, sizeof own, bytes);
  for (size_t r = 0; r < ranks; r++) all += bytes[r] / sizeof *mine.point;
  *points = allocate(all + 1, sizeof **points, "a sample of particles");
  comm_gather_all_sizes(mine.point, bytes, *points);
  free(bytes);
  free(mine.point);
  return all;
}

/** The radius in a sorted sample that holds a share of its mass. */
static double radius_of(const struct reach *r, size_t count, double share) {
  size_t i = 0;
  while (i + 1 < count && r[i].mass < share * r[count - 1].mass) i++;
  return r[i].radius;
}

/** The share of the mass in the first sphere: of few particles it must be more, or no sphere would follow. */
static double first_share(double members) { return fmin(1.0, fmax(WIDE, 2.0 * LEAST / members)); }

/** The first sphere: of some particles the one about which DENSE of the mass is in the smallest
 * sphere, and the radius that holds the share @p wide of it. */
static double first_sphere(const struct point *sample, size_t count, double wide,
                           double centre[3]) {
  struct reach *r = allocate(count, sizeof *r, "a sample of particles");
  const size_t seeds = count < SEEDS ? count : SEEDS;
  double best = HUGE_VAL, radius = 0.0;
  for (size_t k = 0; k < seeds; k++) {
    const double *seed = sample[k * count / seeds].x;
    for (size_t i = 0; i < count; i++)
      r[i] = (struct reach){distance(sample[i].x, seed), sample[i].mass};
    qsort(r, count, sizeof *r, compare_reaches);
    for (size_t i = 1; i < count; i++) r[i].mass += r[i - 1].mass;
    const double dense = radius_of(r, count, DENSE);
    if (dense >= best) continue;
    best = dense;
    radius = radius_of(r, count, wide);
    memcpy(centre, seed, 3 * sizeof *centre);
  }
  free(r);
  return radius;
}

struct sphere {
  double centre[3], radius;
};

static void add_within(const void *context, const struct body *b, double *sum) {
  const struct sphere *s = context;
  if (distance(b->x, s->centre) > s->radius) return;
  for (int c = 0; c < 3; c++) sum[c] += b->mass * b->x[c];
  sum[3] += b->mass;
  sum[4]++;
}

/** Replace the centre by the centre of mass of the sphere about it.
 * @return false: fewer than `least` particles are within, and the centre stays */
static bool next_centre(const struct members *m, double least, struct sphere *s) {
  double sum[5]; /* of m x, m, and numbers */
  members_sum(m, add_within, s, 5, sum);
  if (sum[4] < least) return false;
  for (int c = 0; c < 3; c++) s->centre[c] = sum[c] / sum[3];
  return true;
}

static void count_one(const void *context, const struct body *b, double *sum) {
  (void)context;
  (void)b;
  sum[0]++;
}

size_t densest_point(const struct members *m, double centre[3]) {
  double count;
  members_sum(m, count_one, NULL, 1, &count);
  if (count == 0.0) return 0;
  struct point *sample;
  struct sphere s;
  const size_t points = take_sample(m, (size_t)count, &sample);
  if (points > 0) s.radius = first_sphere(sample, points, first_share(count), s.centre);
  free(sample);
  if (points == 0) return 0;
  const double least = fmax(LEAST, LEAST_SHARE * count);
  for (int k = 0; k < SPHERES && next_centre(m, least, &s); k++) s.radius *= SHRINK;
  memcpy(centre, s.centre, sizeof s.centre);
  return (size_t)count;
}
