/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crossings of light cones: particles on straight lines, whose crossings are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/domain/geometry.h"
#include "photons/step/cone_cross.h"
#include "photons/step/kernels.h"
#include "photons/step/light_cone.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#include "support/assert_near.h"

enum { FOUND_MOST = 4096 };
struct crossing {
  uint32_t index;
  double x[3], a;
};
static struct crossing list[FOUND_MOST];
static size_t count;

static void found(void *context, struct cone_crossings *crossings) {
  (void)context;
  assert_true(crossings->count > 0 && count + crossings->count <= FOUND_MOST);
  for (uint32_t i = 0; i < crossings->count; i++)
    list[count++] = (struct crossing){
        .index = crossings->index[i],
        .x = {crossings->x[0][i], crossings->x[1][i], crossings->x[2][i]},
        .a = crossings->a[i]};
}

static void cross(const struct cone_view *v, const struct cone_drift *d,
                  const struct cone_particles *p, const double centre[3]) {
  count = 0;
  cone_cross(step_kernels_select(), v, d, p, centre, found, NULL);
}

static const struct cone_view sky = {.shape = CONE_SKY, .reach = 1e12};

/** A drift in which chi is linear in the part done. */
static struct cone_drift linear(double chi0, double chi1) {
  const double slope = chi1 - chi0;
  return (struct cone_drift){.chi = {chi0, chi1},
                             .chi_slope = {slope, slope},
                             .a = {0.5, 0.6},
                             .a_slope = {0.1, 0.1},
                             .factor = 1.0f};
}

/** The crossings of one particle, with the observer at 0. */
static size_t cross_one(const struct cone_drift *d, const uint32_t x[3], const float step[3],
                        const double copy[3]) {
  const struct cone_particles p = {
      .count = 1, .position = x, .momentum = step, .way = 1e9, .centre = {x[0], x[1], x[2]}};
  double centre[3];
  for (int c = 0; c < 3; c++) centre[c] = x[c] + copy[c] * POSITION_TURN;
  cross(&sky, d, &p, centre);
  return count;
}

/* r = 9.2e8 + 1e7 u meets chi = 1e9 - 1e8 u at u = 8/11. */
static void radial_motion(void **state) {
  (void)state;
  const struct cone_drift d = linear(1e9, 9e8);
  assert_int_equal(
      cross_one(&d, (uint32_t[]){920000000, 0, 0}, (float[]){1e7f, 0, 0}, (double[]){0, 0, 0}), 1);
  assert_near(list[0].x[0], 9.2e8 + 1e7 * 8.0 / 11.0, 1e-6);
  assert_near(list[0].a, 0.5 + 0.1 * 8.0 / 11.0, 1e-14);
  /* It is still within the light cone, or already beyond it. */
  assert_int_equal(
      cross_one(&d, (uint32_t[]){880000000, 0, 0}, (float[]){1e7f, 0, 0}, (double[]){0, 0, 0}), 0);
  assert_int_equal(
      cross_one(&d, (uint32_t[]){1000000001, 0, 0}, (float[]){1e7f, 0, 0}, (double[]){0, 0, 0}), 0);
}

/* Past the observer at a distance of b: b^2 + (v u)^2 = (c0 - k u)^2 has the root below. */
static void motion_across_the_line_of_sight(void **state) {
  (void)state;
  const double b = 9.5e8, v = 3e7, c0 = 1e9, k = 1e8;
  const struct cone_drift d = linear(c0, c0 - k);
  const double q = k * k - v * v, u = (c0 * k - sqrt(c0 * k * c0 * k - q * (c0 * c0 - b * b))) / q;
  assert_int_equal(cross_one(&d, (uint32_t[]){0, (uint32_t)b, 0}, (float[]){(float)v, 0, 0},
                             (double[]){0, 0, 0}),
                   1);
  assert_near(list[0].x[0], v * u, 1e-5);
  assert_near(list[0].x[1], b, 1e-5);
}

/* In the copies of the box beside the observer's a particle that leaves through a face goes on. */
static void wrap_into_the_next_copy(void **state) {
  (void)state;
  const double l = POSITION_TURN, chi = 2.0 * l + 5e6;
  const struct cone_drift first = linear(chi + 1e8, chi), second = linear(chi, chi - 1e8);
  const uint32_t before = UINT32_MAX - 999999; /* L - 1e6 */
  const float step[3] = {4e6f, 0, 0};
  assert_int_equal(cross_one(&first, (uint32_t[]){before, 0, 0}, step, (double[]){1, 0, 0}), 0);
  const uint32_t after = before + 4000000; /* 3e6 in the next copy */
  assert_int_equal(cross_one(&second, (uint32_t[]){after, 0, 0}, step, (double[]){2, 0, 0}), 1);
  assert_near(list[0].x[0], 2.0 * l + 3e6 + 4e6 * 2.0 / 104.0, 1e-5);
  assert_int_equal(cross_one(&second, (uint32_t[]){after, 0, 0}, step, (double[]){1, 0, 0}), 0);
  const struct cone_drift both = linear(chi + 1e8,
                                        chi - 1e8); /* in one drift of twice the length */
  assert_int_equal(
      cross_one(&both, (uint32_t[]){before, 0, 0}, (float[]){8e6f, 0, 0}, (double[]){1, 0, 0}), 1);
  assert_near(list[0].x[0], 2.0 * l + 3e6 + 4e6 * 2.0 / 104.0, 1e-5);
}

/* Where a drift ends on the light cone, the next one counts the particle, and only that one. */
static void borders_of_drifts_count_once(void **state) {
  (void)state;
  const struct cone_drift first = linear(1e9, 9e8), second = linear(9e8, 8e8);
  const float step[3] = {-20, 0, 0};
  for (int off = -1; off <= 1; off++) {
    const uint32_t x[3] = {(uint32_t)(900000020 + off), 0, 0}, next[3] = {x[0] - 20, 0, 0};
    const size_t in_first = cross_one(&first, x, step, (double[]){0, 0, 0}),
                 in_second = cross_one(&second, next, step, (double[]){0, 0, 0});
    assert_int_equal(in_first, off > 0);
    assert_int_equal(in_second, off <= 0);
  }
}

/** Any particles, in a box about the observer: those that cross a shell are those of a plain test. */
static void many_particles_cross_once(void **state) {
  (void)state;
  enum { N = 1000, STEPS = 40 };
  static uint32_t x[3 * N];
  static float p[3 * N];
  size_t crossed[N] = {0};
  seed = 5;
  const double half = 5e8, most = 2e6; /* about 1.4e9, at most 2e6 a step */
  for (int i = 0; i < 3 * N; i++) {
    x[i] = (uint32_t)(1.4e9 + half * (2.0 * uniform() - 1.0));
    p[i] = (float)(most / 2.0 * (2.0 * uniform() - 1.0));
  }
  for (int s = 0; s < STEPS; s++) {
    const double thick = 5e7, chi = 3.4e9 - s * thick;
    const struct cone_drift d = linear(chi, chi - thick);
    const struct cone_particles block = {.count = N,
                                         .position = x,
                                         .momentum = p,
                                         .way = most,
                                         .centre = {1400000000, 1400000000, 1400000000}};
    const struct cone_bounds bounds = {
        .centre = {1.4e9, 1.4e9, 1.4e9},
        .half = {half + STEPS * most, half + STEPS * most, half + STEPS * most}};
    cross(&sky, &d, &block, bounds.centre);
    if (count > 0) assert_true(cone_meets(&sky, &d, &bounds));
    for (size_t k = 0; k < count; k++) {
      const double *y = list[k].x, r = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]),
                   u = (list[k].a - 0.5) / 0.1;
      crossed[list[k].index]++;
      assert_near(r, chi - u * thick, 1e-4); /* on the light cone */
    }
    for (int i = 0; i < 3 * N; i++) x[i] += (uint32_t)(int32_t)rintf(p[i]);
  }
  for (int i = 0; i < N; i++) assert_int_equal(crossed[i], 1);
}

/** Kernels of all instruction sets find the same crossings in the order of the particles, to the last bit. */
static void instruction_sets_find_the_same(void **state) {
  (void)state;
  enum { N = 1003 };
  static const char *const sets[] = {"baseline", "avx2", "avx512"};
  static uint32_t x[3 * N];
  static float p[3 * N];
  static struct crossing first[FOUND_MOST];
  size_t first_count = 0;
  seed = 11;
  for (int i = 0; i < 3 * N; i++) {
    x[i] = (uint32_t)(1.4e9 + 5e8 * (2.0 * uniform() - 1.0));
    p[i] = (float)(1e6 * (2.0 * uniform() - 1.0));
  }
  const struct cone_particles block = {.count = N,
                                       .position = x,
                                       .momentum = p,
                                       .way = 2e6,
                                       .centre = {1400000000, 1400000000, 1400000000}};
  struct cone_drift d = linear(2.6e9, 2.3e9);
  d.chi_slope[0] *= 1.1;
  const enum isa best = isa_select();
  for (enum isa s = ISA_BASELINE; s <= best; s++) {
    setenv("PHOTONS_ISA", sets[s], 1);
    cross(&sky, &d, &block, (double[]){1.4e9, 1.4e9, 1.4e9});
    if (s == ISA_BASELINE) {
      first_count = count;
      memcpy(first, list, sizeof list);
    }
    assert_true(count == first_count && count > 200);
    for (size_t k = 0; k < count; k++) {
      assert_true(k == 0 || list[k].index > list[k - 1].index);
      assert_true(list[k].index == first[k].index && list[k].a == first[k].a);
      for (int c = 0; c < 3; c++) assert_true(list[k].x[c] == first[k].x[c]);
    }
  }
  unsetenv("PHOTONS_ISA");
}

/** Boxes that a view has no part of are known, and no others. */
static void views(void **state) {
  (void)state;
  const struct cone_view octant = {.shape = CONE_OCTANT, .direction = {1, -1, 1}, .reach = 1e9},
                         pencil = {.shape = CONE_PENCIL,
                                   .direction = {0, 0.6, 0.8},
                                   .opening = 0.1,
                                   .reach = 1e9};
  assert_true(cone_sees(&octant, (double[]){1, -2, 3}));
  assert_false(cone_sees(&octant, (double[]){1, 2, 3}));
  assert_true(cone_sees(&pencil, (double[]){0.0, 0.6, 0.8}));
  assert_true(cone_sees(&pencil, (double[]){0.099, 0.6, 0.8}));
  assert_false(cone_sees(&pencil, (double[]){0.101, 0.6, 0.8}));
  const struct cone_drift d = linear(1e9, 0.0);
  const struct cone_view *view[] = {&octant, &pencil};
  seed = 3;
  for (int k = 0; k < 2; k++) {
    int seen = 0, left_out = 0;
    for (int i = 0; i < 20000;
         i++) { /* a point of a box that is seen: the box must not be left out */
      struct cone_bounds b;
      double x[3];
      for (int c = 0; c < 3; c++) {
        b.centre[c] = 1e9 * (2.0 * uniform() - 1.0);
        b.half[c] = 1e8 * uniform();
        x[c] = b.centre[c] + b.half[c] * (2.0 * uniform() - 1.0);
      }
      const bool inside = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] <= 1e18;
      const bool meets = cone_meets(view[k], &d, &b);
      if (inside && cone_sees(view[k], x)) {
        assert_true(meets);
        seen++;
      }
      left_out += !meets;
    }
    assert_true(seen > 10 && left_out > 10000);
  }
}

#ifdef HAVE_CHEALPIX
enum { CONE_PARTICLES = 1000, SPLIT = 2 * CONE_PARTICLES };

/** Particles about the observer, which all cross, with masses from 2^-8 to 2^8, and the same with two halves in the
 * place of each one. */
struct crowd {
  uint32_t x[3 * SPLIT];
  float p[3 * SPLIT], mass[SPLIT];
  uint64_t id[SPLIT];
  uint8_t type[SPLIT];
};

static void fill_crowd(struct crowd *one, struct crowd *split) {
  seed = 17;
  for (size_t i = 0; i < CONE_PARTICLES; i++) {
    one->mass[i] = (float)exp2(16.0 * uniform() - 8.0);
    one->id[i] = i + 1;
    one->type[i] = (uint8_t)(i % PARTICLE_TYPES);
    for (size_t c = 0; c < 3; c++) {
      one->x[c * CONE_PARTICLES + i] = (uint32_t)(1.4e9 + 1e8 * uniform());
      one->p[c * CONE_PARTICLES + i] = (float)(1e4 * uniform());
    }
    for (size_t k = 2 * i; k < 2 * i + 2; k++) {
      split->mass[k] = 0.5F * one->mass[i];
      split->id[k] = k + 1;
      for (size_t c = 0; c < 3; c++) {
        split->x[c * SPLIT + k] = one->x[c * CONE_PARTICLES + i];
        split->p[c * SPLIT + k] = one->p[c * CONE_PARTICLES + i];
      }
    }
  }
}

/** A light cone that has swept all particles, in maps. */
static struct light_cone *sweep(const struct cosmology *c, const struct cone_particles *p,
                                struct cone_part *part, struct cone_masses masses) {
  struct parameters parameters;
  parameters_default(&parameters);
  parameters.lightcone.geometry = CONE_SKY;
  parameters.lightcone.z_max = 0.1;
  parameters.lightcone.nside = 4;
  parameters.lightcone.shell_width = 10.0;
  struct light_cone *cone = light_cone_create(&parameters, c, 100.0);
  cone->masses = masses;
  cone->copies = 1;
  cone->copy = calloc(1, sizeof *cone->copy);
  cone->last_shell = cone->shells - 1;
  for (int64_t k = 0; k < cone->shells; k++) (void)light_cone_open_map(cone, k);
  const struct cone_drift drift = linear(3e9, 1e9);
  const struct cone_bounds bounds = {.centre = {1.4e9, 1.4e9, 1.4e9}, .half = {2e8, 2e8, 2e8}};
  light_cone_find(cone, part, &drift, &bounds, p);
  return cone;
}

static struct cone_particles particles_of(const struct crowd *w, uint32_t n) {
  return (struct cone_particles){.count = n,
                                 .position = w->x,
                                 .momentum = w->p,
                                 .way = 1e5,
                                 .centre = {1400000000, 1400000000, 1400000000},
                                 .id = w->id,
                                 .mass = w->mass};
}

static void free_part(struct cone_part *part) {
  for (struct cone_page *page = part->first, *next; page; page = next) {
    next = page->next;
    free(page);
  }
  *part = (struct cone_part){0};
}

/** Crossings are kept with the masses and types of their particles. */
static void check_kept(const struct cone_part *part, const struct crowd *w) {
  size_t kept = 0;
  for (const struct cone_page *page = part->first; page; page = page->next)
    for (uint32_t i = 0; i < page->count; i++, kept++) {
      const size_t index = page->particle[i].id - 1;
      assert_true(page->mass[i] == w->mass[index] && page->type[i] == w->type[index]);
    }
  assert_int_equal(kept, CONE_PARTICLES);
}

/** Maps have the whole mass, bit by bit whether it is in one particle or two; shot noise is of the sum of squares, however
 * far apart masses are. */
static void maps_have_the_masses(void **state) {
  (void)state;
  static struct crowd one, split;
  const struct cosmology c = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -1.0};
  const struct cone_masses masses = {.mean = 3.0, .differ = true, .bits = 23 + 9};
  struct cone_part part = {0}, halves = {0};
  fill_crowd(&one, &split);
  struct cone_particles p = particles_of(&one, CONE_PARTICLES), q = particles_of(&split, SPLIT);
  p.type = one.type;
  struct light_cone *a = sweep(&c, &p, &part, masses), *b = sweep(&c, &q, &halves, masses);
  check_kept(&part, &one);
  double mass = 0.0, found = 0.0, squares = 0.0, right = 0.0;
  for (int i = 0; i < CONE_PARTICLES; i++) {
    mass += (double)one.mass[i];
    right += (double)one.mass[i] * (double)one.mass[i];
  }
  for (int64_t k = 0; k < a->shells; k++) {
    const struct cone_map *map = &a->map[k];
    double of_shell = 0.0;
    for (size_t i = 0; i < light_cone_pixels(a); i++) {
      assert_true(map->pixel[i] == b->map[k].pixel[i]);
      of_shell += ldexp((double)map->pixel[i], -masses.bits);
    }
    found += of_shell;
    squares += of_shell * light_cone_noise_mass(a, map) / masses.mean;
    assert_near(light_cone_noise_mass(b, &b->map[k]),
                (of_shell > 0.0 ? 0.5 : 1.0) * light_cone_noise_mass(a, map),
                1e-6 * light_cone_noise_mass(a, map));
  }
  assert_near(found, mass, 1e-9 * mass);
  assert_near(squares, right, 1e-6 * right);
  free_part(&part);
  free_part(&halves);
  light_cone_free(a);
  light_cone_free(b);
}

/** Without masses maps count particles; where all relative masses are 1 they have as many units. The high bits of squares
 * are carried. */
static void equal_masses_are_counted(void **state) {
  (void)state;
  static struct crowd one, split;
  const struct cosmology c = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -1.0};
  const struct cone_masses masses = {.mean = 3.0, .differ = true, .bits = 23};
  struct cone_part part = {0}, plain = {0};
  fill_crowd(&one, &split);
  for (int i = 0; i < CONE_PARTICLES; i++) one.mass[i] = 1.0F;
  struct cone_particles p = particles_of(&one, CONE_PARTICLES);
  struct light_cone *a = sweep(&c, &p, &part, masses);
  p.mass = NULL;
  struct light_cone *b = sweep(&c, &p, &plain, (struct cone_masses){.mean = 3.0});
  for (int64_t k = 0; k < a->shells; k++) {
    for (size_t i = 0; i < light_cone_pixels(a); i++)
      assert_true(a->map[k].pixel[i] == b->map[k].pixel[i] << masses.bits);
    assert_near(light_cone_noise_mass(a, &a->map[k]), 3.0, 1e-12);
    assert_true(light_cone_noise_mass(b, &b->map[k]) == 3.0);
  }
  for (const struct cone_page *page = plain.first; page; page = page->next)
    assert_true(!page->mass && !page->type);
  const struct cone_crossings many = {.count = 2, .x = {{15.0, 15.0}}, .index = {0, 0}};
  a->map[1].squares[0] = UINT64_MAX;
  a->map[1].squares[1] = 4;
  light_cone_count(a, &part, &many, one.mass);
  assert_true(a->map[1].squares[0] == (UINT64_C(2) << (2 * masses.bits - CONE_SQUARE_BITS)) - 1);
  assert_true(a->map[1].squares[1] == 5);
  free_part(&part);
  free_part(&plain);
  light_cone_free(a);
  light_cone_free(b);
}
#endif

/* c/H0 = 2997.92458 Mpc/h; in the universe of Einstein and de Sitter chi = 2 c/H0 (1 - sqrt(a)). */
static void distances(void **state) {
  (void)state;
  const struct cosmology c = {.omega_m = 1.0, .w0 = -1.0};
  for (double a = 0.1; a < 1.05; a += 0.1) {
    const double chi = 2.0 * 2997.92458 * (1.0 - sqrt(a));
    assert_near(light_cone_distance(&c, a), chi, 1e-6);
    if (a < 0.95) assert_near(light_cone_scale_factor(&c, chi), a, 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(radial_motion),
                                     cmocka_unit_test(motion_across_the_line_of_sight),
                                     cmocka_unit_test(wrap_into_the_next_copy),
                                     cmocka_unit_test(borders_of_drifts_count_once),
                                     cmocka_unit_test(many_particles_cross_once),
                                     cmocka_unit_test(instruction_sets_find_the_same),
                                     cmocka_unit_test(views),
#ifdef HAVE_CHEALPIX
                                     cmocka_unit_test(maps_have_the_masses),
                                     cmocka_unit_test(equal_masses_are_counted),
#endif
                                     cmocka_unit_test(distances)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
