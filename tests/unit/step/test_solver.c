/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The solver at its edges: few particles, odd numbers, clumps, coincidences, loose trees; against
 * Ewald summation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/step/step.h"
#include "support/ewald.h"
#include "support/force_set.h"
#include "support/starpu_fixture.h"

#include <cmocka.h>

#include "support/assert_near.h"

#define TURN 4294967296.0
#define BOX 100.0                           /* Mpc/h */
#define MASS 1.0                            /* 1e10 Msun/h */
#define UNIT (GRAVITY * MASS / (BOX * BOX)) /* acceleration for G m = L = 1 */

/* The documented accuracy of default parameters: rms of the errors over rms of the forces. Ten
 * times that for the worst particle. */
static const double rms_bar = 1e-3, largest_bar = 1e-2;

/* Positions in the solver's format, [n][3]. */
struct points {
  size_t n;
  uint32_t *u;
};

static struct points points_create(size_t n) {
  struct points p = {n, calloc(3 * n, sizeof *p.u)};
  assert_non_null(p.u);
  return p;
}

/* Uniform in a box with the given sides (in units of the periodic box) and a corner at the
 * origin. */
static struct points points_uniform(size_t n, const double origin[3], const double side[3]) {
  struct points p = points_create(n);
  for (size_t i = 0; i < 3 * n; i++)
    p.u[i] = position_to_integer(origin[i % 3] + side[i % 3] * uniform(), 1.0);
  return p;
}

static struct points points_random(size_t n) {
  seed = 1;
  return points_uniform(n, (double[]){0, 0, 0}, (double[]){1, 1, 1});
}

static struct particles particles_from(const struct points *p) {
  struct particles s = particles_create(p->n, BOX, MASS);
  for (size_t i = 0; i < p->n; i++) {
    s.id[i] = i + 1;
    for (size_t c = 0; c < 3; c++) s.position[c * p->n + i] = p->u[3 * i + c];
  }
  return s;
}

static void parameters_for(struct parameters *p, const char *settings) {
  char text[1024];
  snprintf(text, sizeof text,
           "[box]\nsize = 100\nnpart_side = 8\n[time]\nstep = fixed\nsteps = 1\n[gravity]\n%s",
           settings);
  parameters_from_text(p, text, NULL, 0);
}

static float *solve(const struct points *points, const char *settings) {
  struct parameters p;
  parameters_for(&p, settings);
  return solver_accelerations(&p, particles_from(points), NULL, NULL);
}

/* Exact accelerations of every stride-th particle, [n/stride][3]. */
static double *exact(const struct points *p, size_t stride, double softening, int plummer) {
  double *x = calloc(3 * p->n, sizeof *x), *a = calloc(3 * p->n, sizeof *a);
  assert_true(x && a);
  for (size_t i = 0; i < 3 * p->n; i++) x[i] = p->u[i] / TURN;
  ewald_accelerations(x, p->n, stride, EWALD_ALPHA_MIN, softening / BOX, plummer, a);
  for (size_t i = 0; i < 3 * p->n; i++) a[i] *= UNIT;
  free(x);
  return a;
}

static struct force_error check_sums(const char *name, const float *a, const double *reference,
                                     size_t n, size_t stride) {
  float *some = calloc(3 * n + 1, sizeof *some);
  const size_t targets = (n + stride - 1) / stride;
  assert_non_null(some);
  for (size_t i = 0; i < targets; i++) memcpy(some + 3 * i, a + 3 * i * stride, 3 * sizeof *a);
  struct force_error e = force_compare(some, reference, targets);
  print_message("%-44s N %5zu: rms %.1e, largest %.1e\n", name, n, e.rms, e.largest);
  double sum[3] = {0}, total = 0.0;
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < 3; c++) sum[c] += (double)a[3 * i + c];
    total += hypot(hypot((double)a[3 * i], (double)a[3 * i + 1]), (double)a[3 * i + 2]);
  }
  /* the documented bound of the net momentum */
  assert_true(hypot(hypot(sum[0], sum[1]), sum[2]) <= 1e-5 * total);
  free(some);
  return e;
}

/* Forces of the points against Ewald sums, within the documented accuracy. Softening in kpc/h.
 * Frees the points. */
static void check(const char *name, struct points points, const char *settings, double softening) {
  char text[512];
  const size_t stride = points.n > 400 ? points.n / 200 : 1;
  snprintf(text, sizeof text, "[gravity]\nsoftening = %g\n%s", softening, settings);
  float *a = solve(&points, text);
  double *reference = exact(&points, stride, 1e-3 * softening, 0);
  struct force_error e = check_sums(name, a, reference, points.n, stride);
  assert_true(e.rms <= rms_bar);
  assert_true(e.largest <= largest_bar);
  free(a);
  free(reference);
  free(points.u);
}

/* One particle in a periodic box is at rest: the mesh must not pull it to or from its cells. Its
 * own field is a sum of terms of the size G m/cell^2 that cancel; float rounding leaves 1e-6 of
 * them. */
static void one_particle_feels_nothing(void **state) {
  (void)state;
  seed = 3;
  for (int i = 0; i < 5; i++) {
    struct points p = points_uniform(1, (double[]){0, 0, 0}, (double[]){1, 1, 1});
    float *a = solve(&p, "");
    for (int c = 0; c < 3; c++) assert_near((double)a[c], 0.0, 1e-6 * UNIT * 100.0);
    free(a);
    free(p.u);
  }
}

static void few_particles_and_odd_numbers(void **state) {
  static const size_t numbers[] = {2, 3, 7, 31, 32, 33, 100, 257, 1000};
  (void)state;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    check("random", points_random(numbers[i]), "", 200);
  check("random, high accuracy", points_random(1000), "accuracy = high\n", 200);
  check("random, fine mesh", points_random(100), "pm_grid = 48\n", 200);
  check("random, coarsest mesh", points_random(100), "pm_grid = 8\n", 200);
  check("random, coarsest mesh and small leaves", points_random(1000),
        "pm_grid = 8\n[runtime]\nleaf_size = 2\ngroup_size = 64\n", 200);
}

/* The forces are the same for any division of the particles into leaves and groups. */
static void leaves_and_groups(void **state) {
  static const int sizes[] = {1, 2, 4, 16, 32, 128, 1000};
  char settings[128];
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    snprintf(settings, sizeof settings, "[runtime]\nleaf_size = %d\n", sizes[i]);
    check("in leaves", points_random(1000), settings, 200);
    snprintf(settings, sizeof settings, "[runtime]\nleaf_size = %d\ngroup_size = %d\n", sizes[i],
             sizes[i] > 64 ? sizes[i] : 64);
    check("in groups", points_random(777), settings, 200);
  }
  check("hundreds of groups", points_random(16384), "[runtime]\nleaf_size = 4\ngroup_size = 64\n",
        200);
}

static void empty_regions(void **state) {
  static const char *const settings[] = {"", "[runtime]\nleaf_size = 4\ngroup_size = 64\n"};
  (void)state;
  for (int k = 0; k < 2; k++) {
    seed = 5;
    check("one clump", points_uniform(500, (double[]){0.4, 0.7, 0.1}, (double[]){0.01, 0.01, 0.01}),
          settings[k], 10);
    check("one clump over a corner",
          points_uniform(500, (double[]){-0.01, -0.02, -0.01}, (double[]){0.03, 0.03, 0.03}),
          settings[k], 10);
    struct points two = points_uniform(600, (double[]){0.2, 0.2, 0.2},
                                       (double[]){0.02, 0.02, 0.02});
    for (size_t i = 0; i < 3 * 300; i++) two.u[i] += 0x50000000u;
    check("two clumps", two, settings[k], 10);
    check("a rod", points_uniform(500, (double[]){0.0, 0.3, 0.99}, (double[]){1.0, 0.001, 0.001}),
          settings[k], 50);
    check("a sheet on the edge",
          points_uniform(500, (double[]){0.0, -0.0005, 0.0}, (double[]){1.0, 0.001, 1.0}),
          settings[k], 100);
  }
}

/* Positions 0 and 2^32 - 1 are neighbours. */
static void particles_on_the_edge(void **state) {
  (void)state;
  struct points p = points_random(200);
  for (size_t i = 0; i < 3 * p.n; i++)
    if (i % 3 == i / 3 % 3 || i % 5 == 0) p.u[i] = i % 2 ? UINT32_MAX : 0;
  check("on faces, edges and corners", p, "", 500);
}

/* Particles at one point feel the same force, and none from each other. */
static void coincident_particles(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    char settings[256];
    const double softening = k % 2 ? 0.0 : 200.0;
    snprintf(settings, sizeof settings,
             "[gravity]\nsoftening = %g\nsoftening_kernel = %s\n[runtime]\nleaf_size = "
             "4\ngroup_size = 64\n",
             softening, k < 2 ? "spline" : "plummer");
    struct points p = points_random(200);
    for (size_t i = 0; i < 50; i++) memcpy(p.u + 3 * i, p.u, 3 * sizeof *p.u);
    float *a = solve(&p, settings);
    double *reference = exact(&p, 1, 1e-3 * softening, k >= 2);
    struct force_error e = check_sums("a quarter at one point", a, reference, p.n, 1);
    assert_true(e.rms <= rms_bar);
    const double size = hypot(hypot((double)a[0], (double)a[1]), (double)a[2]);
    for (size_t i = 1; i < 50; i++) /* they may lie in several leaves, which may interact by
                                       expansions or directly */
      for (size_t c = 0; c < 3; c++)
        assert_near((double)a[3 * i + c], (double)a[c], rms_bar * size);
    free(a);
    free(reference);
    free(p.u);
  }
}

/* All particles at one point: no force. The mesh's field of N particles is N times that of one. */
static void all_at_one_point(void **state) {
  static const uint32_t where[] = {0, UINT32_MAX, 1234567890};
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    struct points p = points_create(500);
    for (size_t i = 0; i < 3 * p.n; i++) p.u[i] = where[k];
    float *a = solve(&p, "[runtime]\nleaf_size = 4\ngroup_size = 64\n");
    for (size_t i = 0; i < 3 * p.n; i++)
      assert_near((double)a[i], 0.0, 1e-6 * UNIT * 100.0 * (double)p.n);
    free(a);
    free(p.u);
  }
}

/* The present forces against exact ones. The particles' momenta must be unchanged. */
static void check_forces_now(struct nbody *n, struct points *points, const float *momentum,
                             const char *name) {
  const struct particles *s = &n->domain.particles;
  domain_acquire(&n->domain);
  float *a = accelerations_by_id(s);
  for (size_t g = 0; g < s->blocks; g++) {
    struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++)
      for (size_t axis = 0; axis < 3; axis++) {
        points->u[3 * (b.id[i] - 1) + axis] = b.x[axis][i];
        assert_true(b.p[axis][i] == momentum[3 * (b.id[i] - 1) + axis]);
      }
  }
  domain_release(&n->domain);
  double *reference = exact(points, 4, 0.2, 0);
  struct force_error e = check_sums(name, a, reference, points->n, 4);
  assert_true(e.rms <= rms_bar);
  assert_true(e.largest <= largest_bar);
  free(a);
  free(reference);
}

/* Sum of the half widths of all leaves. */
static double leaf_widths(const struct domain *s) {
  double sum = 0.0;
  for (uint32_t g = 0; g < s->group_count; g++) {
    const struct group *group = &s->groups[g];
    assert_int_equal(starpu_data_acquire(group->tree, STARPU_R), 0);
    for (uint32_t i = 1u << s->depth; i < tree_nodes(s->depth); i++)
      for (int c = 0; c < 3; c++) sum += (double)group->nodes[i].half[c];
    starpu_data_release(group->tree);
  }
  return sum;
}

/* Trees whose particles have moved are loose but correct: their forces are as good as those of new
 * trees at the same positions. The last time particles drift in four steps, since a step takes half
 * the box at most, so that each leaf covers the box. After a sort the leaves are compact again. */
static void loose_trees(void **state) {
  static const double drift[] = {0.002, 0.01, 0.05, 0.16, 0.16}; /* rms displacement over the box */
  const size_t last = sizeof drift / sizeof *drift - 1;
  struct parameters p;
  struct points points = points_random(800);
  (void)state;
  parameters_for(&p, "[gravity]\nsoftening = 200\n[runtime]\nleaf_size = 8\ngroup_size = 64\n");
  struct particles particles = particles_from(&points);
  float *momentum = calloc(3 * points.n, sizeof *momentum);
  assert_non_null(momentum);
  for (size_t i = 0; i < points.n; i++)
    for (size_t axis = 0; axis < 3; axis++) {
      const float value = (float)(3.4641 * (uniform() - 0.5));
      particles.momentum[axis * points.n + i] = momentum[3 * (particles.id[i] - 1) + axis] = value;
    }
  struct nbody *n = nbody_create(&p, particles);
  step_first_forces(n);
  for (size_t k = 0; k <= last; k++) {
    char name[64];
    for (int steps = k == last ? 4 : 1; steps > 0; steps--) step_drift(n, 0.0, drift[k] * BOX);
    step_forces(n, 0.0, NULL, NULL);
    snprintf(name, sizeof name, "drifted by %g of the box", drift[k]);
    check_forces_now(n, &points, momentum, name);
    const double loose = leaf_widths(&n->domain);
    step_sort(n);
    step_forces(n, 0.0, NULL, NULL);
    check_forces_now(n, &points, momentum, "the same sorted");
    const double sorted = leaf_widths(&n->domain);
    print_message("leaves sorted have %.3f of their width\n", sorted / loose);
    /* Leaves are some 0.2 of the box wide. A drift of a quarter of that or more widens them by a
     * tenth or more, half of which the sort must undo. */
    assert_true(sorted < (drift[k] < 0.02 ? 1.0 : 0.95) * loose);
  }
  nbody_free(n);
  free(momentum);
  free(points.u);
}

/* With another mesh the force is divided at another distance, and is the same. */
static void another_mesh(void **state) {
  struct parameters p;
  struct points points = points_random(800);
  (void)state;
  parameters_for(&p, "softening = 200\npm_grid = 12\n[runtime]\nleaf_size = 4\ngroup_size = 64\n");
  float *momentum = calloc(3 * points.n, sizeof *momentum);
  assert_non_null(momentum);
  struct nbody *n = nbody_create(&p, particles_from(&points));
  step_first_forces(n);
  check_forces_now(n, &points, momentum, "a mesh of 12^3");
  const uint64_t pairs = short_range_work(&n->short_range).pairs;
  nbody_change_mesh(n, 18);
  assert_int_equal(nbody_mesh_cells(n), 18);
  step_rebuild(n);
  step_forces_anew(n);
  check_forces_now(n, &points, momentum, "then of 18^3");
  const uint64_t fewer = short_range_work(&n->short_range).pairs;
  print_message("pairs %llu, then %llu\n", (unsigned long long)pairs, (unsigned long long)fewer);
  assert_true((double)fewer < (double)pairs * 12.0 / 18.0);
  nbody_free(n);
  free(momentum);
  free(points.u);
}

/* Two particles, in one leaf and in two, which may interact by expansions. At these distances the
 * mesh has less than 1e-2 of the force and errs by 1e-4 of that. Positions relative to a leaf and
 * the spline's outer branch, a difference of large terms, cost ten float roundings: 1e-5. The polynomial
 * of the default alone would err by as much.
 * Expansions use Newton's law for Plummer's where they differ by 1e-3. */
static void softened_pairs(void **state) {
  static const double distance[] = {0.05, 0.3, 1.0, 1.39, 1.41, 2.0,  2.79,
                                    2.81, 3.5, 5.0, 8.0,  20.0, 38.0, 50.0}; /* over epsilon */
  static const double epsilon = 0.1, direction[3] = {0.48, -0.6, 0.64};      /* Mpc/h */
  (void)state;
  for (int plummer = 0; plummer < 2; plummer++)
    for (int leaf_size = 1; leaf_size <= 2; leaf_size++)
      for (size_t k = 0; k < sizeof distance / sizeof *distance; k++) {
        char settings[256];
        struct points p = points_create(2);
        for (size_t c = 0; c < 3; c++) {
          p.u[c] = 0xfffffff0u;
          p.u[3 + c] = p.u[c] +
                       (uint32_t)(int32_t)lround(direction[c] * distance[k] * epsilon / BOX * TURN);
        }
        snprintf(settings, sizeof settings,
                 "[gravity]\nsoftening = %g\nsoftening_kernel = %s\np2p_degree = 8\n"
                 "[runtime]\nleaf_size = %d\n",
                 1e3 * epsilon, plummer ? "plummer" : "spline", leaf_size);
        float *a = solve(&p, settings);
        double *reference = exact(&p, 1, epsilon, plummer);
        struct force_error e = force_compare(a, reference, 2);
        const double tolerance = plummer && leaf_size == 1 ? 1e-3 : 1e-5;
        if (!(e.rms <= tolerance))
          print_error("%s, leaf_size %d, r = %g epsilon: error %g\n",
                      plummer ? "plummer" : "spline", leaf_size, distance[k], e.rms);
        assert_true(e.rms <= tolerance);
        free(a);
        free(reference);
        free(p.u);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_particle_feels_nothing),
      cmocka_unit_test(few_particles_and_odd_numbers),
      cmocka_unit_test(leaves_and_groups),
      cmocka_unit_test(empty_regions),
      cmocka_unit_test(particles_on_the_edge),
      cmocka_unit_test(coincident_particles),
      cmocka_unit_test(all_at_one_point),
      cmocka_unit_test(loose_trees),
      cmocka_unit_test(another_mesh),
      cmocka_unit_test(softened_pairs),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
