/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of different masses, types and softening lengths: forces against direct sums (isolated)
 * and Ewald sums (periodic), energies, moments, escapers, and equal particles whose columns say
 * that they may differ. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/analysis/energy.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/escapers.h"
#include "photons/step/statistics.h"
#include "photons/step/step.h"
#include "support/ewald.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#define KPC 1e-3     /* internal units */
#define FRAME 256e-3 /* side of the frame, Mpc */
enum { COUNT = 12000, PROBES = 300 };

/** Relative masses of two types, of mean 1, where every fourth particle is heavy; and their
 * softening lengths, kpc. */
static const float masses[2] = {0.5F, 2.5F};
static const double softening[2] = {0.05, 0.2};

static unsigned kind_of(uint64_t id) { return id % 4 == 0; }

/** @param softened  two lengths, otherwise the first one for all */
static struct parameters parameters(bool isolated, enum softening_kind kernel, bool softened) {
  struct parameters p;
  parameters_default(&p);
  if (isolated) p.box.boundary = BOUNDARY_ISOLATED;
  p.gravity.mac_tolerance = 1e-4;
  p.gravity.theta = 0.8;
  p.gravity.order = 4;
  p.gravity.softening = softening[0];
  p.gravity.softening_kernel = kernel;
  if (softened) p.gravity.softening_type[2] = softening[1];
  p.time.step = STEP_FIXED;
  p.runtime.group_size = 1024;
  return p;
}

/** A cloud that is densest in the middle, at random velocities. */
static struct particles cloud(size_t count, double side, double scale, bool mixed) {
  struct particles s = particles_create(count, side, 1.0 / (double)count);
  seed = 5;
  for (size_t i = 0; i < count; i++) {
    s.id[i] = i + 1;
    for (size_t c = 0; c < 3; c++) {
      const double sum = uniform() + uniform() + uniform() - 1.5, x = 4.0 * scale * sum * sum * sum;
      s.position[c * count + i] = position_to_integer(0.5 * side + x, side);
      s.momentum[c * count + i] = (float)(100.0 * (uniform() - 0.5));
    }
  }
  if (!mixed) return s;
  particles_add_column(&s, COLUMN_relative_mass);
  particles_add_column(&s, COLUMN_type);
  for (size_t i = 0; i < count; i++) {
    s.relative_mass[i] = masses[kind_of(s.id[i])];
    s.type[i] = (uint8_t)(1 + kind_of(s.id[i]));
  }
  return s;
}

/** All particles by rising id: position in Mpc (/h), mass, acceleration. */
struct body {
  uint64_t id;
  double x[3], mass, a[3];
  float p[3];
  unsigned kind;
};

static int by_id(const void *a, const void *b) {
  const struct body *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static struct body *bodies(struct nbody *n) {
  const struct particles *s = &n->domain.particles;
  struct body *body = malloc(s->count * sizeof *body);
  assert_non_null(body);
  domain_acquire(&n->domain);
  for (size_t k = 0; k < s->blocks; k++) {
    const struct particle_block b = particles_block(s, k);
    for (size_t i = 0; i < b.count; i++) {
      struct body *one = &body[b.first + i];
      one->id = b.id[i];
      one->mass = particle_mass(s, b.first + i);
      one->kind = particle_type(s, b.first + i) - 1;
      for (size_t c = 0; c < 3; c++) {
        one->x[c] = position_from_integer(b.x[c][i], s->box);
        one->a[c] = (double)b.acc[c][i];
        one->p[c] = b.p[c][i];
      }
    }
  }
  domain_release(&n->domain);
  qsort(body, s->count, sizeof *body, by_id);
  return body;
}

/** F/d of a softened pair. */
static double factor(enum softening_kind kernel, double r2, double epsilon) {
  if (kernel == SOFTENING_PLUMMER) return pow(r2 + epsilon * epsilon, -1.5);
  const double support = 2.8 * epsilon, r = sqrt(r2);
  return r < support ? spline_factor(r / support) / (support * support * support) : 1.0 / (r2 * r);
}

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static int rising(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/** The error of an acceleration relative to the right one. */
static double error_of(const double a[3], const double exact[3]) {
  const double difference[3] = {a[0] - exact[0], a[1] - exact[1], a[2] - exact[2]};
  return length(difference) / length(exact);
}

static double pair_softening(const struct body *a, const struct body *b, bool softened) {
  return KPC * (softened ? fmax(softening[a->kind], softening[b->kind]) : softening[0]);
}

static void isolated_forces_are_direct_sums(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    const enum softening_kind kernel = k % 2 ? SOFTENING_PLUMMER : SOFTENING_SPLINE;
    const bool softened = k / 2;
    struct parameters p = parameters(true, kernel, softened);
    struct nbody *n = nbody_create(&p, cloud(COUNT, FRAME, 4.0 * KPC, true));
    step_first_forces(n);
    const struct work_counts work = short_range_work(&n->short_range);
    struct body *body = bodies(n);
    double error[PROBES];
    for (size_t t = 0; t < PROBES; t++) {
      const struct body *target = &body[t * COUNT / PROBES];
      double exact[3] = {0};
      for (const struct body *source = body; source < body + COUNT; source++) {
        double d[3];
        for (int c = 0; c < 3; c++) d[c] = source->x[c] - target->x[c];
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const double f = factor(kernel, r2, pair_softening(source, target, softened));
        for (int c = 0; c < 3 && source != target; c++)
          exact[c] += GRAVITY * source->mass * f * d[c];
      }
      error[t] = error_of(target->a, exact);
    }
    qsort(error, PROBES, sizeof *error, rising);
    printf("%s, %d softening lengths: median %.2g, largest %.2g; %.3g pairs, %.3g expansions\n",
           k % 2 ? "Plummer" : "spline", 1 + softened, error[PROBES / 2], error[PROBES - 1],
           (double)work.pairs, (double)work.interactions);
    /* Masses that are forgotten make errors of order 1. Some three times what was found. */
    assert_true(error[PROBES / 2] < 5e-4);
    assert_true(error[PROBES - 1] < 0.02);
    assert_true(work.interactions > 0);
    free(body);
    nbody_free(n);
  }
}

/** Sums over all particles, pairs softened by the lengths of both types. */
struct sums {
  double kinetic, potential, mass, momentum[3], angular[3], centre[3];
};
static struct sums sum_directly(const struct body *body, size_t count) {
  struct sums s = {0};
  for (const struct body *a = body; a < body + count; a++) {
    s.mass += a->mass;
    for (int c = 0; c < 3; c++) {
      const int d = (c + 1) % 3, e = (c + 2) % 3;
      const double v[3] = {(double)a->p[c], (double)a->p[d], (double)a->p[e]};
      s.kinetic += 0.5 * a->mass * v[0] * v[0];
      s.momentum[c] += a->mass * v[0];
      s.angular[c] += a->mass * ((a->x[d] - 0.5 * FRAME) * v[2] - (a->x[e] - 0.5 * FRAME) * v[1]);
      s.centre[c] += a->mass * (a->x[c] - 0.5 * FRAME);
    }
    for (const struct body *b = body; b < a; b++) {
      double r2 = 0.0;
      for (int c = 0; c < 3; c++) r2 += pow(a->x[c] - b->x[c], 2.0);
      s.potential -= GRAVITY * a->mass * b->mass / sqrt(r2 + pow(pair_softening(a, b, true), 2.0));
    }
  }
  for (int c = 0; c < 3; c++) s.centre[c] /= s.mass;
  return s;
}

static struct sums sum_all(struct nbody *n) {
  struct body *body = bodies(n);
  const struct sums sums = sum_directly(body, n->domain.particles.count);
  free(body);
  return sums;
}

static void assert_same(double found, double expected, double size) {
  assert_true(fabs(found - expected) <= 1e-12 * size);
}

/** The types add up to the whole. */
static void check_components(const struct statistics *all, const double potential[PARTICLE_TYPES],
                             double total) {
  struct component sum = {0};
  double energy = 0.0;
  for (int t = 1; t <= 2; t++) {
    const struct component *one = &all->types[t];
    assert_true(one->kinetic > 0.1 * all->kinetic && potential[t] < 0.1 * total);
    sum.mass += one->mass;
    sum.kinetic += one->kinetic;
    energy += potential[t];
    for (int c = 0; c < 3; c++) sum.angular[c] += one->angular[c];
    for (int c = 0; c < 3; c++) sum.centre[c] += one->mass * one->centre[c];
  }
  assert_same(energy, total, fabs(total));
  assert_same(sum.kinetic, all->kinetic, all->kinetic);
  for (int c = 0; c < 3; c++) {
    assert_same(sum.angular[c], all->angular[c], KPC * all->momentum_sum);
    assert_same(sum.centre[c] / sum.mass, all->centre[c], KPC);
  }
}

static void energies_and_moments_are_direct_sums(void **state) {
  (void)state;
  const struct parameters p = parameters(true, SOFTENING_PLUMMER, true);
  struct nbody *n = nbody_create(&p, cloud(1000, FRAME, KPC, true));
  step_first_forces(n);
  struct statistics found = statistics_measure(n, 1.0);
  statistics_measure_moments(n, &found);
  const struct sums exact = sum_all(n);
  double by_type[PARTICLE_TYPES];
  const double potential = potential_energy_of_types(n, by_type);
  check_components(&found, by_type, potential);
  assert_true(fabs(found.kinetic / exact.kinetic - 1.0) < 1e-6);
  for (int c = 0; c < 3; c++) {
    assert_true(fabs(found.momentum[c] - exact.momentum[c]) < 1e-6 * found.momentum_sum);
    assert_true(fabs(found.angular[c] - exact.angular[c]) < 1e-9 * KPC * found.momentum_sum);
    assert_true(fabs(found.centre[c] - exact.centre[c]) < 1e-9 * KPC);
  }
  assert_true(fabs(potential / exact.potential - 1.0) < 1e-4);
  assert_true(potential_energy(n, 1.0) == potential);
  nbody_free(n);
}

/** A disk of type 2 turns about the z axis in a halo of type 1 at rest. */
static void a_disk_has_its_own_angular_momentum(void **state) {
  (void)state;
  enum { RING = 500, HALO = 500 };
  const double radius = 3.0 * KPC, speed = 200.0, mass = 1.0 / (RING + HALO);
  const struct parameters p = parameters(true, SOFTENING_PLUMMER, true);
  struct particles s = cloud(RING + HALO, FRAME, KPC, true);
  for (size_t i = 0; i < s.count; i++) {
    const bool disk = i < RING;
    const double angle = 2.0 * M_PI * (double)i / RING;
    const double x[3] = {radius * cos(angle), radius * sin(angle), 0.1 * KPC};
    const double v[3] = {-speed * sin(angle), speed * cos(angle), 0.0};
    s.type[i] = disk ? 2 : 1;
    s.relative_mass[i] = 1.0F;
    for (size_t c = 0; c < 3; c++) {
      s.momentum[c * s.count + i] = disk ? (float)v[c] : 0.0F;
      if (disk) s.position[c * s.count + i] = position_to_integer(0.5 * FRAME + x[c], FRAME);
    }
  }
  struct nbody *n = nbody_create(&p, s);
  step_first_forces(n);
  struct statistics found = statistics_measure(n, 1.0);
  statistics_measure_moments(n, &found);
  const struct component *halo = &found.types[1], *disk = &found.types[2];
  assert_true(fabs(disk->mass / (RING * mass) - 1.0) < 1e-6);
  assert_true(fabs(disk->angular[2] / (RING * mass * radius * speed) - 1.0) < 1e-6);
  assert_true(fabs(disk->kinetic / (0.5 * RING * mass * speed * speed) - 1.0) < 1e-6);
  assert_true(fabs(disk->centre[2] - 0.1 * KPC) < 1e-6 * KPC && fabs(disk->centre[0]) < 1e-6 * KPC);
  assert_true(halo->kinetic == 0.0 && halo->angular[2] == 0.0 && halo->mass > 0.0);
  assert_true(found.types[3].mass == 0.0 && isnan(found.types[3].centre[0]));
  nbody_free(n);
}

/** What escapers take with them is what the others lack, in direct sums. */
static void escapers_take_their_energy(void **state) {
  (void)state;
  const struct parameters p = parameters(true, SOFTENING_PLUMMER, true);
  struct nbody *n = nbody_create(&p, cloud(1000, FRAME, KPC, true));
  step_first_forces(n);
  const struct sums before = sum_all(n);
  struct escapers e = escapers_take(&n, 2.0 * KPC);
  const struct sums after = sum_all(n);
  const size_t stay = n->domain.particles.count;
  const double lost = before.kinetic + before.potential - after.kinetic - after.potential;
  printf("%zu of 1000 particles escape; with them an energy of %g of %g\n", e.count, e.energy,
         lost);
  assert_int_equal(stay + e.count, 1000);
  assert_true(e.count > 100 && stay > 100);
  assert_true(particles_have(&n->domain.particles, COLUMN_relative_mass) &&
              particles_have(&n->domain.particles, COLUMN_type));
  assert_true(fabs(e.energy - lost) < 1e-6 * (before.kinetic - before.potential));
  escapers_free(&e);
  nbody_free(n);
}

/** Ewald knows particles of one mass: the heavy ones stand five times at the same place. Pairs that
 * are softened by another length than the first one are corrected directly. */
static double *ewald_reference(const struct body *body, size_t count, double box, double unit) {
  size_t n = 0;
  double *x = malloc(3 * 5 * count * sizeof *x), *all = malloc(3 * 5 * count * sizeof *all),
         *a = malloc(3 * count * sizeof *a);
  assert_true(x && all && a);
  for (const struct body *b = body; b < body + count; b++)
    for (int copy = 0; copy < (b->kind ? 5 : 1); copy++, n++)
      for (size_t c = 0; c < 3; c++) x[3 * n + c] = b->x[c] / box;
  ewald_accelerations(x, n, 1, 12.0, KPC * softening[0] / box, 0, all);
  for (size_t i = 0, row = 0; i < count; row += body[i].kind ? 5 : 1, i++) {
    for (size_t c = 0; c < 3; c++) a[3 * i + c] = GRAVITY * unit / (box * box) * all[3 * row + c];
    for (size_t j = 0; j < count; j++) {
      double d[3], r2 = 0.0;
      for (size_t c = 0; c < 3; c++) {
        d[c] = body[j].x[c] - body[i].x[c];
        d[c] -= box * round(d[c] / box);
        r2 += d[c] * d[c];
      }
      const double f = factor(SOFTENING_SPLINE, r2, pair_softening(&body[i], &body[j], true)) -
                       factor(SOFTENING_SPLINE, r2, KPC * softening[0]);
      for (size_t c = 0; c < 3 && i != j; c++) a[3 * i + c] += GRAVITY * body[j].mass * f * d[c];
    }
  }
  free(x);
  free(all);
  return a;
}

static void periodic_forces_are_ewald_sums(void **state) {
  (void)state;
  enum { FEW = 800 };
  const double box = 0.02; /* Mpc/h: pairs within the softening are not rare */
  const struct parameters p = parameters(false, SOFTENING_SPLINE, true);
  struct nbody *n = nbody_create(&p, cloud(FEW, box, 0.5 * box, true));
  step_first_forces(n);
  struct body *body = bodies(n);
  double *exact = ewald_reference(body, FEW, box, body[0].mass), error[FEW];
  for (size_t i = 0; i < FEW; i++) error[i] = error_of(body[i].a, exact + 3 * i);
  qsort(error, FEW, sizeof *error, rising);
  printf("periodic: median %.2g, 99 %% %.2g\n", error[FEW / 2], error[FEW * 99 / 100]);
  /* Some four times what was found. */
  assert_true(error[FEW / 2] < 2e-4);
  assert_true(error[FEW * 99 / 100] < 1e-3);
  free(exact);
  free(body);
  nbody_free(n);
}

/** Columns that say the same of all particles change forces by rounding only. */
static void equal_masses_in_a_column_change_nothing(void **state) {
  (void)state;
  for (int isolated = 0; isolated < 2; isolated++) {
    struct body *body[2];
    for (int column = 0; column < 2; column++) {
      const struct parameters p = parameters(isolated, SOFTENING_SPLINE, false);
      struct particles s = cloud(COUNT, FRAME, isolated ? 4.0 * KPC : 0.5 * FRAME, column);
      for (size_t i = 0; particles_have(&s, COLUMN_relative_mass) && i < COUNT; i++)
        s.relative_mass[i] = 1.0F;
      struct nbody *n = nbody_create(&p, s);
      step_first_forces(n);
      body[column] = bodies(n);
      nbody_free(n);
    }
    double most = 0.0;
    for (size_t i = 0; i < COUNT; i++) most = fmax(most, error_of(body[1][i].a, body[0][i].a));
    printf("%s: forces differ by %.2g at most\n", isolated ? "isolated" : "periodic", most);
    assert_true(most < 2e-5);
    free(body[0]);
    free(body[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(isolated_forces_are_direct_sums),
      cmocka_unit_test(energies_and_moments_are_direct_sums),
      cmocka_unit_test(a_disk_has_its_own_angular_momentum),
      cmocka_unit_test(escapers_take_their_energy),
      cmocka_unit_test(periodic_forces_are_ewald_sums),
      cmocka_unit_test(equal_masses_in_a_column_change_nothing),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
