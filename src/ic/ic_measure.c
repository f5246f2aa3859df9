/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What particles of a file are, for people: masses, half-mass radii and circular speed. */
#include <gsl/gsl_math.h>
#include <stdlib.h>
#include <string.h>

#include "galaxy_tables.h"
#include "ic_isolated.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/* Shells of equal steps of ln r, from the farthest particle inwards. */
enum { SHELLS = 2048 };
#define STEP 0.01
/* The centre and circular speeds need so many particles inside. */
#define FEWEST 100.0

struct shells {
  double centre[3];
  double r[SHELLS];                        /* outer radii, kpc */
  double mass[PARTICLE_TYPES + 1][SHELLS]; /* enclosed, 1e10 Msun; last: of all types */
  double count[SHELLS];                    /* enclosed */
};

static double distance(const double a[3], const double b[3]) {
  return sqrt(gsl_pow_2(a[0] - b[0]) + gsl_pow_2(a[1] - b[1]) + gsl_pow_2(a[2] - b[2]));
}

/** The centre of mass of what is within @p radius of the centre becomes the centre. Collective. */
static void move_centre(struct shells *h, const struct cloud_part *part, double radius) {
  double sum[4] = {0.0};
  for (size_t i = 0; i < part->count; i++) {
    if (distance(part->x[i], h->centre) > radius) continue;
    const double mass = particle_mass(part->s, part->first + i);
    for (size_t c = 0; c < 3; c++) sum[c] += mass * part->x[i][c];
    sum[3] += mass;
  }
  comm_sum_double(sum, 4);
  for (size_t c = 0; c < 3 && sum[3] > 0.0; c++) h->centre[c] = sum[c] / sum[3];
}

static void choose_radii(struct shells *h, const struct cloud_part *part) {
  double most = 0.0;
  for (size_t i = 0; i < part->count; i++) most = fmax(most, distance(part->x[i], h->centre));
  comm_max_double(&most, 1);
  for (int k = 0; k < SHELLS; k++) h->r[k] = fmax(most, 1e-30) * exp(STEP * (k - SHELLS + 1));
}

static size_t shell_of(const struct shells *h, double r) {
  if (r <= h->r[0]) return 0;
  const double k = ceil(SHELLS - 1 + log(r / h->r[SHELLS - 1]) / STEP);
  return (size_t)fmin(k, SHELLS - 1);
}

/** Sums of all shells inside. */
static void enclose(double sum[SHELLS]) {
  comm_sum_double(sum, SHELLS);
  for (int k = 1; k < SHELLS; k++) sum[k] += sum[k - 1];
}

/** Collective. */
static void fill_shells(struct shells *h, const struct cloud_part *part) {
  choose_radii(h, part);
  memset(h->mass, 0, sizeof h->mass);
  memset(h->count, 0, sizeof h->count);
  for (size_t i = 0; i < part->count; i++) {
    const size_t k = shell_of(h, distance(part->x[i], h->centre));
    const double mass = particle_mass(part->s, part->first + i);
    h->mass[particle_type(part->s, part->first + i)][k] += mass;
    h->mass[PARTICLE_TYPES][k] += mass;
    h->count[k]++;
  }
  for (int t = 0; t <= PARTICLE_TYPES; t++) enclose(h->mass[t]);
  enclose(h->count);
}

static double radius_of(const struct shells *h, int type, double share) {
  const double *mass = h->mass[type];
  return galaxy_radius_of_mass(h->r, mass, SHELLS, share * mass[SHELLS - 1]);
}

/** The centre of mass of all, then of the half of the mass about it, of a quarter about that, and so on. Collective. */
static void find_centre(struct shells *h, const struct cloud_part *part) {
  double radius = HUGE_VAL, share = 1.0;
  do {
    move_centre(h, part, radius);
    fill_shells(h, part);
    share *= 0.5;
    radius = radius_of(h, PARTICLE_TYPES, share);
  } while (share * h->count[SHELLS - 1] >= FEWEST);
}

static double acceleration_at(const struct shells *h, double r) {
  return GALAXY_GRAVITY * galaxy_power_between(h->r, h->mass[PARTICLE_TYPES], SHELLS, r) / (r * r);
}

static void measure_component(const struct shells *h, struct component_summary *c) {
  c->mass = h->mass[c->type][SHELLS - 1];
  c->particle_mass = c->mass / (double)c->particles;
  if (c->particles < 2) return; /* its half-mass radius says nothing */
  c->half_mass_radius = radius_of(h, c->type, 0.5);
  c->acceleration = acceleration_at(h, c->half_mass_radius);
}

static void measure_fastest(const struct shells *h, struct galaxy_summary *g) {
  const double fewest = fmin(FEWEST, 0.5 * h->count[SHELLS - 1]);
  for (int k = 0; k < SHELLS; k++) {
    const double speed = sqrt(GALAXY_GRAVITY * h->mass[PARTICLE_TYPES][k] / h->r[k]);
    if (h->count[k] < fewest || speed <= g->fastest) continue;
    g->fastest = speed;
    g->fastest_radius = h->r[k];
  }
}

/** Numbers of particles by type. Collective. */
static void count_components(struct galaxy_summary *g, const struct cloud_part *part) {
  uint64_t count[PARTICLE_TYPES] = {0};
  for (size_t i = 0; i < part->count; i++) count[particle_type(part->s, part->first + i)]++;
  comm_sum_u64(count, PARTICLE_TYPES);
  for (int t = 0; t < PARTICLE_TYPES; t++)
    if (count[t] > 0)
      g->component[g->components++] = (struct component_summary){
          .name = "of the file", .type = t, .particles = count[t]};
}

struct galaxy_summary body_measure(const struct cloud_part *part) {
  struct galaxy_summary g = {0};
  struct shells *h = allocate(1, sizeof *h, "initial conditions");
  find_centre(h, part);
  count_components(&g, part);
  g.mass = h->mass[PARTICLE_TYPES][SHELLS - 1];
  for (size_t c = 0; c < g.components; c++) measure_component(h, &g.component[c]);
  measure_fastest(h, &g);
  free(h);
  return g;
}
