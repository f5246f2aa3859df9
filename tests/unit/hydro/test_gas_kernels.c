/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gas kernels: solvers against exact solutions, conservation, and what passes between levels.
 */
#include "photons/amr/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/exact_riemann.h"
#include "support/gas_box.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

static const struct gas_physics schemes[] = {
    {.solver = GAS_RTVD, .limiter = GAS_LIMITER_VAN_LEER, .minmod = 1.5, .gamma = 1.4},
    {.solver = GAS_MUSCL,
     .limiter = GAS_LIMITER_VAN_LEER,
     .minmod = 1.5,
     .gamma = 1.4,
     .dual_energy_switch = 0.02},
    {.solver = GAS_MUSCL,
     .limiter = GAS_LIMITER_MINMOD,
     .minmod = 1.5,
     .gamma = 1.4,
     .dual_energy_switch = 0.02},
    {.solver = GAS_PPM, .gamma = 1.4, .dual_energy_switch = 0.02},
};
static const char *const isas[ISAS] = {"baseline", "avx2", "avx512"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 32) * 0x1p-32;
}

/* Gas with random density, pressure and velocity; `jump` is the ratio of largest to smallest. */
static void fill_random(struct gas_box *b, double jump, double mach) {
  uint64_t random = 7;
  for (size_t i = 0; i < box_cells(b); i++) {
    double v[3];
    for (int a = 0; a < 3; a++) v[a] = mach * (2.0 * random_number(&random) - 1.0);
    const double density = pow(jump, random_number(&random));
    box_set(b, i, density, v, pow(jump, random_number(&random)));
  }
}

/* Sod's tube: the mean |density - exact| after the run; the tube is along `axis`. */
static double sod_error(const struct gas_physics *physics, bool wide, int axis, int cells) {
  const struct riemann_state l = {1.0, 0.0, 1.0}, r = {0.125, 0.0, 0.1};
  int n[3] = {16, 16, 16};
  n[axis] = cells;
  struct gas_box b = box_create(physics, wide, BOX_OUTFLOW, n[0], n[1], n[2]);
  const size_t step = axis == 0 ? 1 : axis == 1 ? 16 : 256;
  for (size_t i = 0; i < box_cells(&b); i++) {
    const bool left = (int)(i / step % (size_t)cells) < cells / 2;
    box_set(&b, i, left ? l.density : r.density, (double[3]){0, 0, 0},
            left ? l.pressure : r.pressure);
  }
  const double time = 0.2 * cells;
  assert_true(fabs(box_run(&b, 0.5, time) - time) < 1e-9 * time);
  double error = 0.0, across = 0.0;
  for (size_t i = 0; i < box_cells(&b); i++) {
    const double x = (double)(i / step % (size_t)cells) + 0.5 - 0.5 * cells;
    error += fabs(b.u[i] - exact_riemann(physics->gamma, l, r, x / time).density);
    for (int a = 0; a < 3; a++)
      if (a != axis) across = fmax(across, fabs(b.u[(size_t)(1 + a) * box_cells(&b) + i]));
  }
  /* Nothing differs across the tube, so that no gas moves across it. */
  assert_true(across == 0.0);
  error /= (double)box_cells(&b);
  box_free(&b);
  return error;
}

/* Schemes of second order that are of first order at discontinuities leave 1 % in 64 cells. The
 * three axes give the same to round-off. */
static void test_sod_along_axes(void **state) {
  (void)state;
  for (int s = 0; s < SCHEMES; s++) {
    const double along_x = sod_error(&schemes[s], false, 0, 64);
    print_message("sod, scheme %d: L1 of the density %.5f\n", s, along_x);
    assert_true(along_x < 0.012);
    for (int axis = 1; axis < 3; axis++)
      assert_true(fabs(sod_error(&schemes[s], false, axis, 64) - along_x) < 1e-5);
  }
}

static void test_sod_converges(void **state) {
  (void)state;
  for (int s = 0; s < 2; s++) {
    const double coarse = sod_error(&schemes[s], true, 0, 32),
                 fine = sod_error(&schemes[s], true, 0, 64);
    print_message("sod, scheme %d: %.5f with 32 cells, %.5f with 64\n", s, coarse, fine);
    assert_true(fine < 0.65 * coarse);
  }
}

/* Sod's tube along a diagonal of a periodic box: planes x + y + z = constant are sqrt(3) closer
 * than cells. Two tubes stand back to back. */
static void test_sod_along_diagonal(void **state) {
  (void)state;
  enum { N = 48 };
  const struct riemann_state l = {1.0, 0.0, 1.0}, r = {0.125, 0.0, 0.1};
  for (int s = 0; s < 2; s++) {
    struct gas_box b = box_create(&schemes[s], false, BOX_PERIODIC, N, N, N);
    for (int i = 0; i < N * N * N; i++) {
      const bool left = (i % N + i / N % N + i / N / N) % N < N / 2;
      box_set(&b, (size_t)i, left ? l.density : r.density, (double[3]){0, 0, 0},
              left ? l.pressure : r.pressure);
    }
    const double time = 3.5; /* the waves of the two tubes have not met */
    assert_true(box_run(&b, 0.5, time) > 0.99 * time);
    double error = 0.0;
    for (int i = 0; i < N * N * N; i++) {
      const int plane = (i % N + i / N % N + i / N / N) % N;
      if (plane < N / 4 || plane >= 3 * N / 4) continue;
      const double x = (plane + 0.5 - 0.5 * N) / sqrt(3.0);
      error += fabs(b.u[i] - exact_riemann(1.4, l, r, x / time).density) / (N * N * N / 2);
    }
    print_message("sod along a diagonal, scheme %d: L1 of the density %.5f\n", s, error);
    assert_true(error < 0.04);
    box_free(&b);
  }
}

/* A sound wave that has crossed a periodic box once; the wave vector has all three axes. */
static double acoustic_error(const struct gas_physics *physics, int n) {
  struct gas_box b = box_create(physics, true, BOX_PERIODIC, n, n, n);
  const double k = 2.0 * M_PI / n, amplitude = 1e-6;
  for (int i = 0; i < n * n * n; i++) {
    const double wave = amplitude * sin(k * (i % n + i / n % n + i / n / n));
    const double v = wave / sqrt(3.0);
    box_set(&b, (size_t)i, 1.0 + wave, (double[3]){v, v, v}, 0.6 * (1.0 + 5.0 / 3.0 * wave));
  }
  const double time = n / sqrt(3.0);
  assert_true(box_run(&b, 0.5, time) > 0.99 * time);
  double error = 0.0;
  for (int i = 0; i < n * n * n; i++)
    error += fabs(b.u[i] - 1.0 - amplitude * sin(k * (i % n + i / n % n + i / n / n)));
  box_free(&b);
  return error / amplitude / (n * n * n);
}

/* The order is that of Schive et al. 2010, section 4.1: limiters act at the crests. */
static void test_sound_converges(void **state) {
  (void)state;
  for (int s = 0; s < SCHEMES; s++) {
    struct gas_physics physics = schemes[s];
    physics.gamma = 5.0 / 3.0;
    const double coarse = acoustic_error(&physics, 16), fine = acoustic_error(&physics, 32);
    const double order = log2(coarse / fine);
    print_message("sound, scheme %d: %.3e with 16 cells, %.3e with 32, order %.2f\n", s, coarse,
                  fine, order);
    assert_true(order > 1.5);
  }
}

static void test_uniform_gas_stays(void **state) {
  (void)state;
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++) {
      struct gas_box b = box_create(&schemes[s], wide, BOX_PERIODIC, 16, 16, 16);
      for (size_t i = 0; i < box_cells(&b); i++)
        box_set(&b, i, 0.3, (double[3]){0.1, -0.7, 0.4}, 0.9);
      box_step(&b, 0.2, false);
      for (size_t q = 0; q < 5; q++)
        for (size_t i = 0; i < box_cells(&b); i++)
          assert_true(fabs(b.u[q * box_cells(&b) + i] - b.next[q * box_cells(&b) + i]) <
                      (wide ? 1e-15 : 5e-7));
      box_free(&b);
    }
}

/* A periodic box that is moved by any number of cells gives the same bits, moved: neither the place
 * in the group nor the neighbouring group that computes a ghost cell makes a difference. */
static void test_bits_do_not_depend_on_the_place(void **state) {
  (void)state;
  enum { N = 32 };
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++)
      for (int reversed = 0; reversed <= 1; reversed++) {
        struct gas_box a = box_create(&schemes[s], wide, BOX_PERIODIC, N, N, N),
                       b = box_create(&schemes[s], wide, BOX_PERIODIC, N, N, N);
        const size_t cells = box_cells(&a);
        fill_random(&a, s == 0 ? 2.0 : 100.0, s == 0 ? 0.3 : 20.0);
        for (size_t q = 0; q < gas_variables(&schemes[s]); q++)
          for (int i = 0; i < N * N * N; i++)
            b.u[q * cells + box_index(&b, i % N + 5, i / N % N + 11, i / N / N + 18)] =
                a.u[q * cells + (size_t)i];
        box_step(&a, s == 0 ? 0.1 : 0.01, reversed);
        box_step(&b, s == 0 ? 0.1 : 0.01, reversed);
        for (size_t q = 0; q < gas_variables(&schemes[s]); q++)
          for (int i = 0; i < N * N * N; i++)
            assert_true(b.u[q * cells + box_index(&b, i % N + 5, i / N % N + 11, i / N / N + 18)] ==
                        a.u[q * cells + (size_t)i]);
        box_free(&a);
        box_free(&b);
      }
}

/* The change of the density of every cell is the mass that flows through its faces. */
static void check_mass(const struct gas_box *b, double dt_dh, double bar) {
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const int c[3] = {i % 16, i / 16 % 16, i / 256};
    double change = box_get(b->kernels, b->group, group_place(c[0], c[1], c[2])) - b->u[i];
    for (int a = 0; a < 3; a++) {
      const int slow = a == 2 ? c[1] : c[2], fast = a == 0 ? c[1] : c[0];
      const size_t lower = (size_t)a * (GAS_MASS_FLUXES / 3) +
                           ((size_t)c[a] * 16 + (size_t)slow) * 16 + (size_t)fast;
      change += dt_dh *
                (box_get(b->kernels, b->mass, lower + 256) - box_get(b->kernels, b->mass, lower));
    }
    assert_true(fabs(change) < bar);
  }
}

/* The change of every patch is what flows through its faces, and neighbours agree on the flux. */
static void test_fluxes_balance_the_change(void **state) {
  (void)state;
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++)
      for (int reversed = 0; reversed <= 1; reversed++) {
        struct gas_physics physics = schemes[s];
        physics.dual_energy_switch = 0.0;
        struct gas_box b = box_create(&physics, wide, BOX_PERIODIC, 16, 16, 16);
        fill_random(&b, 3.0, 0.5);
        const double dt_dh = 0.1;
        struct gas_fault fault;
        box_load(&b, 0, 0, 0);
        box_solve(&b, dt_dh, reversed, &fault);
        assert_int_equal(fault.patch, -1);
        check_mass(&b, dt_dh, wide ? 1e-14 : 1e-5);
        for (int patch = 0; patch < GAS_PATCHES; patch++)
          for (size_t q = 0; q < 5; q++) {
            double change = 0.0, flow = 0.0, size = 0.0;
            for (int i = 0; i < GAS_GROUP_CELLS; i++) {
              const int x = i % 16, y = i / 16 % 16, z = i / 256;
              const size_t place = group_place(x, y, z);
              if ((int)place / GAS_PATCH_CELLS != patch) continue;
              change += box_get(b.kernels, b.group, q * GAS_GROUP_CELLS + place) -
                        b.u[q * box_cells(&b) + (size_t)i];
              size += fabs(b.u[q * box_cells(&b) + (size_t)i]);
            }
            for (int face = 0; face < GAS_FACES; face++) {
              const size_t variables = gas_variables(&physics);
              const size_t first = ((size_t)(patch * GAS_FACES + face) * variables + q) * 64;
              const size_t other = ((size_t)((patch ^ 1 << face / 2) * GAS_FACES + (face ^ 1)) *
                                        variables +
                                    q) *
                                   64;
              for (size_t i = 0; i < GAS_FACE_CELLS; i++) {
                const double flux = box_get(b.kernels, b.fluxes, first + i);
                flow += face & 1 ? flux : -flux;
                /* Of the periodic box, all patches of the group are neighbours on both sides. */
                assert_true(flux == box_get(b.kernels, b.fluxes, other + i));
              }
            }
            assert_true(fabs(change + dt_dh * flow) < (wide ? 1e-13 : 1e-5) * size);
          }
        box_free(&b);
      }
}

static void test_sums_stay(void **state) {
  (void)state;
  for (int s = 0; s < SCHEMES; s++) {
    struct gas_physics physics = schemes[s];
    physics.dual_energy_switch = 0.0;
    struct gas_box b = box_create(&physics, true, BOX_PERIODIC, 32, 16, 16);
    fill_random(&b, 3.0, 0.5);
    double before[5], after[5];
    for (int pass = 0; pass < 2; pass++) {
      double *sum = pass == 0 ? before : after;
      for (size_t q = 0; q < 5; q++) {
        sum[q] = 0.0;
        for (size_t i = 0; i < box_cells(&b); i++) sum[q] += b.u[q * box_cells(&b) + i];
      }
      for (int step = 0; step < 10 && pass == 0; step++) box_step(&b, 0.1, step % 2);
    }
    for (size_t q = 0; q < 5; q++)
      assert_true(fabs(after[q] - before[q]) < 1e-13 * (double)box_cells(&b));
    box_free(&b);
  }
}

/* A front of a scalar and one half everywhere, in a fast wind that takes up to nine tenths of the mass of a cell
 * with it in a step: fractions of the front stay between 0 and 1, and one half stays. */
static void test_carried_fractions(void **state) {
  (void)state;
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++) {
      struct gas_physics physics = schemes[s];
      physics.scalars = 2;
      struct gas_box b = box_create(&physics, wide, BOX_PERIODIC, 32, 16, 16);
      const size_t cells = box_cells(&b), first = gas_solved(&physics);
      for (size_t i = 0; i < cells; i++) {
        const double x = (double)(i % 32);
        box_set(&b, i, 1.0 + 0.3 * sin(2.0 * M_PI * x / 32.0), (double[3]){30.0, 0.0, 0.0}, 1.0);
        b.u[first * cells + i] = x >= 8.0 && x < 20.0 ? b.u[i] : 0.0;
        b.u[(first + 1) * cells + i] = 0.5 * b.u[i];
      }
      const double rounding = wide ? 1e-13 : 1e-5,
                   courant = physics.solver == GAS_RTVD ? 0.5 : 0.95;
      double moved = 0.0;
      for (int step = 0; step < 12; step++) box_step(&b, courant / box_speed(&b), step % 2);
      assert_int_equal(b.fault.patch, -1);
      for (size_t i = 0; i < cells; i++) {
        const double front = b.u[first * cells + i] / b.u[i];
        assert_true(front >= -rounding && front <= 1.0 + rounding);
        assert_true(fabs(b.u[(first + 1) * cells + i] / b.u[i] - 0.5) <= rounding);
        moved += i % 32 >= 20 ? front : 0.0;
      }
      assert_true(moved > 0.01 * (double)cells);
      box_free(&b);
    }
}

/* Two streams leave each other faster than sound: problem 1-2-0-3 of Einfeldt et al. 1991. */
static struct gas_box rarefaction(const struct gas_physics *physics, bool wide, int cells) {
  struct gas_box b = box_create(physics, wide, BOX_OUTFLOW, cells, 16, 16);
  for (size_t i = 0; i < box_cells(&b); i++) {
    const bool left = (int)(i % (size_t)cells) < cells / 2;
    box_set(&b, i, 1.0, (double[3]){left ? -2.0 : 2.0, 0.0, 0.0}, 0.4);
  }
  return b;
}

/* Density and pressure fall by orders of magnitude and stay positive. */
static void test_strong_rarefaction_stays_positive(void **state) {
  (void)state;
  const struct riemann_state l = {1.0, -2.0, 0.4}, r = {1.0, 2.0, 0.4};
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++) {
      enum { N = 64 };
      struct gas_box b = rarefaction(&schemes[s], wide, N);
      const double time = 0.15 * N;
      assert_true(box_run(&b, 0.4, time) > 0.99 * time);
      assert_int_equal(b.fault.patch, -1);
      double error = 0.0, least = 1.0;
      for (size_t i = 0; i < N; i++) {
        const double exact = exact_riemann(1.4, l, r, ((double)i + 0.5 - N / 2) / time).density;
        error += fabs(b.u[i] - exact) / N;
        least = fmin(least, b.u[i]);
      }
      print_message("1-2-0-3, scheme %d: L1 of the density %.4f, least density %.4f\n", s, error,
                    least);
      assert_true(error < 0.04);
      assert_true(least > 0.0);
      box_free(&b);
    }
}

/* A step so long that gas leaves more cells than one is beyond fluxes of first order: the fault is
 * reported. */
static void test_negative_pressure_is_found(void **state) {
  (void)state;
  struct gas_box b = rarefaction(&schemes[0], true, 32);
  for (int step = 0; step < 8 && b.fault.patch < 0; step++) box_step(&b, 2.0, false);
  assert_true(b.fault.patch >= 0 && !(b.fault.density > 0.0 && b.fault.pressure > 0.0));
  box_free(&b);
}

/* The slow contact behind a strong shock (Toro's test 5) and two cold streams that meet (Noh 1987). Both need
 * fluxes of first order with rtvd: they are counted, and conserve. */
static void test_rtvd_stays_positive(void **state) {
  (void)state;
  static const struct riemann_state left[] = {{1.0, -19.59745, 1000.0}, {1.0, 1.0, 1e-6}},
                                    right[] = {{1.0, -19.59745, 0.01}, {1.0, -1.0, 1e-6}};
  enum { N = 64 };
  for (int problem = 0; problem < 2; problem++)
    for (int wide = 0; wide <= 1; wide++) {
      struct gas_box b = box_create(&schemes[0], wide, BOX_PERIODIC, N, 16, 16);
      double before = 0.0, after = 0.0;
      uint64_t first_order = 0;
      for (size_t i = 0; i < box_cells(&b); i++) {
        const struct riemann_state *w = (int)(i % N) < N / 2 ? &left[problem] : &right[problem];
        box_set(&b, i, w->density, (double[3]){w->velocity, 0.0, 0.0}, w->pressure);
        before += w->density;
      }
      for (int step = 0; step < 20; step++) {
        box_step(&b, 0.4 / box_speed(&b), step % 2);
        first_order += b.fault.first_order;
        assert_int_equal(b.fault.patch, -1);
      }
      for (size_t i = 0; i < box_cells(&b); i++) after += b.u[i];
      assert_true(first_order > 0);
      assert_true(fabs(after - before) < (wide ? 1e-11 : 1e-3) * before);
      box_free(&b);
    }
}

/* A blast of 1e5 times the pressure around it. */
static void test_blast_stays_positive(void **state) {
  (void)state;
  enum { N = 32 };
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++) {
      struct gas_box b = box_create(&schemes[s], wide, BOX_PERIODIC, N, N, N);
      for (int i = 0; i < N * N * N; i++) {
        const int x = i % N - N / 2, y = i / N % N - N / 2, z = i / N / N - N / 2;
        const bool hot = x >= -1 && x < 1 && y >= -1 && y < 1 && z >= -1 && z < 1;
        box_set(&b, (size_t)i, 1.0, (double[3]){0, 0, 0}, hot ? 1e5 : 1.0);
      }
      for (int pair = 0; pair < 8; pair++) box_run(&b, 0.4, 0.8 / box_speed(&b));
      assert_int_equal(b.fault.patch, -1);
      double symmetric = 0.0; /* the blast is the same along the three axes */
      for (int i = 0; i < N; i++)
        symmetric = fmax(symmetric,
                         fabs(b.u[box_index(&b, i, 16, 16)] - b.u[box_index(&b, 16, 16, i)]));
      assert_true(symmetric < 0.2);
      box_free(&b);
    }
}

/* Streams of Mach 100 collide. */
static void test_cold_collision_stays_positive(void **state) {
  (void)state;
  enum { N = 64 };
  for (int wide = 0; wide <= 1; wide++) {
    struct gas_box b = box_create(&schemes[1], wide, BOX_OUTFLOW, N, 16, 16);
    for (size_t i = 0; i < box_cells(&b); i++)
      box_set(&b, i, 1.0, (double[3]){i % N < N / 2 ? 100.0 : -100.0, 30.0, 0.0}, 1.0 / 1.4);
    const double time = 0.005 * N;
    assert_true(box_run(&b, 0.4, time) > 0.99 * time);
    assert_int_equal(b.fault.patch, -1);
    /* Between the strong shocks: density (gamma + 1)/(gamma - 1), behind them as before. */
    assert_true(fabs(b.u[N / 2 + 4] - 6.0) < 0.3);
    /* In the streams the thermal energy is 1e-4 of the energy. The entropy keeps it. */
    assert_true(fabs(box_pressure(&b, b.u, 2) * 1.4 - 1.0) < (wide ? 1e-6 : 1e-2));
    box_free(&b);
  }
}

/* Values that make no gas are reported: the first cell in the order of patches. */
static void test_faults_are_found(void **state) {
  (void)state;
  const double bad[] = {NAN, INFINITY, -INFINITY, -1.0};
  for (int s = 0; s < 2; s++)
    for (int wide = 0; wide <= 1; wide++)
      for (size_t q = 0; q < gas_variables(&schemes[s]); q++)
        for (size_t k = 0; k < 4; k++) {
          if (q >= 1 && q <= 3 && k == 3) continue; /* momenta may be negative */
          if (q == 5 && k == 3) continue;           /* warm gas does not look at the entropy */
          struct gas_box b = box_create(&schemes[s], wide, BOX_PERIODIC, 16, 16, 16);
          for (size_t i = 0; i < box_cells(&b); i++) box_set(&b, i, 1.0, (double[3]){0, 0, 0}, 1.0);
          const size_t place = group_place(9, 4, 12), cell = 9 + 16 * 4 + 256 * 12;
          b.u[q * box_cells(&b) + cell] = bad[k];
          struct gas_fault fault;
          box_load(&b, 0, 0, 0);
          box_solve(&b, 0.1, false, &fault);
          /* Energy and entropy heal each other where one of them is as it should be. */
          const bool healed = s == 1 && (q == 5 || (q == 4 && k == 3));
          assert_true((fault.patch < 0) == healed);
          for (int i = 0; i < GAS_GROUP_CELLS; i++) {
            const int x = i % 16, y = i / 16 % 16, z = i / 256;
            for (size_t v = 0; v < gas_variables(&schemes[s]); v++)
              box_put(b.kernels, b.group, v * GAS_GROUP_CELLS + group_place(x, y, z),
                      b.u[v * box_cells(&b) + (size_t)i]);
          }
          b.kernels->largest_speed(&schemes[s], b.group, &fault);
          assert_int_equal(fault.patch, place / GAS_PATCH_CELLS);
          assert_int_equal(fault.cell, place % GAS_PATCH_CELLS);
          if (q == 0 && k == 3) assert_true(fault.density == -1.0);
          box_free(&b);
        }
}

static void test_largest_speed(void **state) {
  (void)state;
  for (int s = 0; s < 2; s++) {
    struct gas_box b = box_create(&schemes[s], false, BOX_PERIODIC, 16, 16, 16);
    for (size_t i = 0; i < box_cells(&b); i++) box_set(&b, i, 1.0, (double[3]){0, 0, 0}, 1.0);
    box_set(&b, 1234, 1.4, (double[3]){1.0, -3.0, 2.0}, 4.0);
    assert_true(fabs(box_speed(&b) - 5.0) < 1e-5);
    box_set(&b, 99, -1.0, (double[3]){9.0, 0, 0},
            1.0); /* does not count, and hides no other cell */
    assert_true(fabs(box_speed(&b) - 5.0) < 1e-5);
    assert_true(b.fault.patch >= 0);
    box_free(&b);
  }
}

/* The instruction sets that this processor has do the same arithmetic, to round-off. */
static void test_instruction_sets_agree(void **state) {
  (void)state;
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select();
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++) {
      double *reference = NULL;
      for (enum isa isa = ISA_BASELINE; isa <= best; isa++) {
        setenv("PHOTONS_ISA", isas[isa], 1);
        struct gas_box b = box_create(&schemes[s], wide, BOX_PERIODIC, 16, 16, 16);
        const size_t values = gas_variables(&schemes[s]) * box_cells(&b);
        if (!reference) reference = calloc(values, sizeof *reference);
        assert_non_null(reference);
        fill_random(&b, 3.0, 0.5);
        box_step(&b, 0.1, false);
        for (size_t i = 0; i < values; i++) {
          if (isa == ISA_BASELINE) reference[i] = b.u[i];
          assert_true(fabs(b.u[i] - reference[i]) < (wide ? 1e-13 : 3e-5));
        }
        box_free(&b);
      }
      free(reference);
    }
  unsetenv("PHOTONS_ISA");
}

/** Coarse cells, the block that is interpolated from them, and groups. */
struct levels {
  const struct gas_kernels *kernels;
  struct gas_physics physics;
  double coarse[GAS_VARIABLES_MAX * GAS_COARSE_CELLS]; /**< room for either precision */
  double block[GAS_VARIABLES_MAX * GAS_BLOCK_CELLS];
  double fine[GAS_VARIABLES_MAX * GAS_GROUP_CELLS];
  double mean[GAS_VARIABLES_MAX * GAS_GROUP_CELLS];
};

static struct levels *levels_create(int scheme, bool wide) {
  struct levels *l = calloc(1, sizeof *l);
  assert_non_null(l);
  l->kernels = gas_kernels_select(wide);
  l->physics = schemes[scheme];
  return l;
}

static void set_coarse(struct levels *l, size_t i, double density, const double v[3],
                       double pressure) {
  const double gamma = l->physics.gamma;
  double energy = pressure / (gamma - 1.0);
  for (size_t a = 0; a < 3; a++) {
    energy += 0.5 * density * v[a] * v[a];
    box_put(l->kernels, l->coarse, (1 + a) * GAS_COARSE_CELLS + i, density * v[a]);
  }
  box_put(l->kernels, l->coarse, i, density);
  box_put(l->kernels, l->coarse, 4 * GAS_COARSE_CELLS + i, energy);
  if (gas_solved(&l->physics) > 5)
    box_put(l->kernels, l->coarse, 5 * GAS_COARSE_CELLS + i, pressure * pow(density, 1.0 - gamma));
}

static const int whole_low[3] = {3, 3, 3}, whole_high[3] = {19, 19, 19};

/* The interpolated group in the order of patches. */
static void take_group(struct levels *l) {
  for (size_t q = 0; q < gas_variables(&l->physics); q++)
    for (int i = 0; i < GAS_GROUP_CELLS; i++) {
      const int x = i % 16, y = i / 16 % 16, z = i / 256;
      box_put(l->kernels, l->fine, q * GAS_GROUP_CELLS + group_place(x, y, z),
              box_get(l->kernels, l->block,
                      q * GAS_BLOCK_CELLS + (size_t)(x + 3 + 22 * (y + 3) + 484 * (z + 3))));
    }
}

/* Two scalars: a fraction of 0, 1 or between, and one half. */
static void set_scalars(struct levels *l, size_t i, double density, double random) {
  const size_t first = gas_solved(&l->physics);
  const double fraction = fmin(fmax(3.0 * random - 1.0, 0.0), 1.0);
  box_put(l->kernels, l->coarse, first * GAS_COARSE_CELLS + i, fraction * density);
  box_put(l->kernels, l->coarse, (first + 1) * GAS_COARSE_CELLS + i, 0.5 * density);
}

/* Fractions of the interpolated group. */
static void check_scalars(const struct levels *l, double rounding) {
  const size_t first = gas_solved(&l->physics);
  size_t between = 0;
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
    const double density = box_get(l->kernels, l->fine, i);
    const double one = box_get(l->kernels, l->fine, first * GAS_GROUP_CELLS + i) / density;
    const double half = box_get(l->kernels, l->fine, (first + 1) * GAS_GROUP_CELLS + i) / density;
    assert_true(one >= -rounding && one <= 1.0 + rounding);
    assert_true(fabs(half - 0.5) <= rounding);
    between += one > rounding && one < 1.0 - rounding;
  }
  assert_true(between > GAS_GROUP_CELLS / 4 && between < GAS_GROUP_CELLS);
}

/* Where density and fraction fall together, fractions of children stay between 0 and 1. */
static void test_fractions_between_levels(void **state) {
  (void)state;
  for (int s = 0; s < 2; s++)
    for (int wide = 0; wide <= 1; wide++) {
      struct levels *l = levels_create(s, wide);
      l->physics.scalars = 2;
      for (size_t i = 0; i < GAS_COARSE_CELLS; i++) {
        const size_t step = (i % 14 + i / 14 % 14 + i / 196) % 3;
        const double density = pow(4.0, (double)step);
        set_coarse(l, i, density, (double[3]){0.0, 0.0, 0.0}, 1.0);
        set_scalars(l, i, density, (1.0 + 0.5 * (double)step) / 3.0);
      }
      l->kernels->interpolate(&l->physics, l->coarse, whole_low, whole_high, l->block);
      take_group(l);
      check_scalars(l, wide ? 1e-14 : 1e-6);
      free(l);
    }
}

/* Random coarse gas, some of it fast and cold: the children of each cell have its mean and positive
 * pressure, and fractions between 0 and 1 of what the gas carries. */
static void test_levels_conserve(void **state) {
  (void)state;
  for (int s = 0; s < 2; s++)
    for (int wide = 0; wide <= 1; wide++) {
      struct levels *l = levels_create(s, wide);
      const struct gas_kernels *k = l->kernels;
      uint64_t random = 3;
      l->physics.scalars = 2;
      for (size_t i = 0; i < GAS_COARSE_CELLS; i++) {
        double v[3];
        for (int a = 0; a < 3; a++) v[a] = 20.0 * (random_number(&random) - 0.5);
        const double density = 1.0 + 10.0 * random_number(&random);
        set_coarse(l, i, density, v, 1.0 + random_number(&random));
        set_scalars(l, i, density, random_number(&random));
      }
      k->interpolate(&l->physics, l->coarse, whole_low, whole_high, l->block);
      take_group(l);
      check_scalars(l, wide ? 1e-14 : 1e-6);
      const int patch = 6;
      k->restrict_group(gas_variables(&l->physics), l->fine, l->mean, patch);
      double constant = 0.0;
      for (size_t q = 0; q < gas_variables(&l->physics); q++)
        for (int i = 0; i < GAS_PATCH_CELLS; i++) {
          const int x = i % 8, y = i / 8 % 8, z = i / 64;
          const double was = box_get(
              k, l->coarse, q * GAS_COARSE_CELLS + (size_t)(x + 3 + 14 * (y + 3) + 196 * (z + 3)));
          const double is = box_get(k, l->mean,
                                    q * GAS_GROUP_CELLS + (size_t)(patch * GAS_PATCH_CELLS + i));
          assert_true(fabs(is - was) < (wide ? 1e-12 : 5e-4));
          if (q == 0) constant += box_get(k, l->fine, group_place(2 * x, 2 * y, 2 * z)) == was;
        }
      /* Some cells are constant for the sake of the pressure; most have slopes or are extremes. */
      assert_true(constant > 0 && constant < GAS_PATCH_CELLS);
      struct gas_fault fault;
      k->largest_speed(&l->physics, l->fine, &fault);
      assert_int_equal(fault.patch, -1);
      free(l);
    }
}

/* Pressure over density of cell i of a group, and the same by its entropy, its last variable. */
static double heat_of(const struct gas_box *b, size_t i) {
  double u[5], square = 0.0;
  for (size_t q = 0; q < 5; q++) u[q] = box_get(b->kernels, b->group, q * GAS_GROUP_CELLS + i);
  for (int c = 1; c < 4; c++) square += u[c] * u[c];
  return (b->physics.gamma - 1.0) * (u[GAS_ENERGY] - 0.5 * square / u[0]) / u[0];
}
static double heat_of_entropy(const struct gas_box *b, size_t i) {
  const double density = box_get(b->kernels, b->group, i);
  const size_t last = gas_variables(&b->physics) - 1;
  return box_get(b->kernels, b->group, last * GAS_GROUP_CELLS + i) *
         pow(density, b->physics.gamma - 2.0);
}

/* With least_heat gas that would be colder has this heat, and nothing else changes: no density, no
 * momentum, no cell that is warmer. */
static void test_cold_gas_is_warmed(void **state) {
  (void)state;
  static double before[GAS_VARIABLES_MAX * GAS_GROUP_CELLS];
  for (int s = 0; s < SCHEMES; s++)
    for (int wide = 0; wide <= 1; wide++) {
      struct gas_box b = box_create(&schemes[s], wide, BOX_PERIODIC, 16, 16, 16);
      struct gas_fault fault;
      const double error = wide ? 1e-12 : 1e-4;
      double mean = 0.0;
      int cold = 0;
      fill_random(&b, 3.0, 0.5);
      box_load(&b, 0, 0, 0);
      box_solve(&b, 0.02, false, &fault);
      const size_t values = gas_variables(&b.physics) * GAS_GROUP_CELLS;
      for (size_t i = 0; i < values; i++) before[i] = box_get(b.kernels, b.group, i);
      for (size_t i = 0; i < GAS_GROUP_CELLS; i++) mean += heat_of(&b, i) / GAS_GROUP_CELLS;
      b.physics.least_heat = mean;
      box_solve(&b, 0.02, false, &fault);
      assert_int_equal(fault.patch, -1);
      for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
        const double heat = heat_of(&b, i);
        bool same = true;
        for (size_t at = i; at < values; at += GAS_GROUP_CELLS) {
          const bool stays = box_get(b.kernels, b.group, at) == before[at];
          assert_true(stays || at >= GAS_ENERGY * GAS_GROUP_CELLS);
          same = same && stays;
        }
        assert_true(heat > (1.0 - error) * mean && (same || heat < (1.0 + error) * mean));
        if (!same && schemes[s].solver != GAS_RTVD)
          assert_true(fabs(heat_of_entropy(&b, i) - mean) < error * mean);
        cold += !same;
      }
      assert_true(cold > GAS_GROUP_CELLS / 10 && cold < GAS_GROUP_CELLS * 9 / 10);
      box_free(&b);
    }
}

/* Cold gas in a flow that changes from cell to cell: with dual_energy_change interpolated cells have
 * the temperature of the coarse ones, and without they have not. */
static void test_cold_cells_stay_cold(void **state) {
  (void)state;
  double worst[2] = {0.0, 0.0};
  for (int kept = 0; kept < 2; kept++) {
    struct levels *l = levels_create(1, true);
    l->physics.dual_energy_change = kept ? 0.1 : 0.0;
    for (int i = 0; i < GAS_COARSE_CELLS; i++) {
      const double x = i % 14, v[3] = {100.0 + 0.5 * x * x, 0.0, 0.0};
      set_coarse(l, (size_t)i, 1.0, v, 1.0);
    }
    l->kernels->interpolate(&l->physics, l->coarse, whole_low, whole_high, l->block);
    take_group(l);
    for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
      const double momentum = l->fine[GAS_MOMENTUM_X * GAS_GROUP_CELLS + i];
      const double pressure = 0.4 * (l->fine[GAS_ENERGY * GAS_GROUP_CELLS + i] -
                                     0.5 * momentum * momentum);
      worst[kept] = fmax(worst[kept], fabs(pressure - 1.0));
    }
    free(l);
  }
  assert_true(worst[1] < 1e-8 && worst[0] > 1.0);
}

/* A linear density is interpolated exactly, in ghost cells as inside, and in parts as at once. */
static void test_interpolation_is_linear(void **state) {
  (void)state;
  struct levels *l = levels_create(0, true);
  for (int i = 0; i < GAS_COARSE_CELLS; i++) {
    const double x = i % 14, y = i / 14 % 14, z = i / 196;
    set_coarse(l, (size_t)i, 100.0 + x - 2.0 * y + 3.0 * z, (double[3]){0, 0, 0}, 1.0);
  }
  for (int part = 0; part < 3; part++) {
    const int low[3] = {0, 0, part == 0 ? 0 : part == 1 ? 3 : 4};
    const int high[3] = {22, 22, part == 0 ? 3 : part == 1 ? 4 : 22};
    l->kernels->interpolate(&l->physics, l->coarse, low, high, l->block);
  }
  for (int i = 0; i < GAS_BLOCK_CELLS; i++) {
    /* Cell 3 of the block is the lower half of coarse cell 3. */
    const double x = 0.5 * (i % 22 - 3) + 2.75, y = 0.5 * (i / 22 % 22 - 3) + 2.75,
                 z = 0.5 * (i / 484 - 3) + 2.75;
    assert_true(fabs(l->block[i] - (100.0 + x - 2.0 * y + 3.0 * z)) < 1e-12);
  }
  free(l);
}

/* A flux that is linear on each face: sides have the mean at the coarse faces' middles. flux_fix
 * then gives the cells beside a face what flows less than was thought, but takes no cell more than
 * it has. */
static void test_flux_of_finer_level(void **state) {
  (void)state;
  enum { VARIABLES = 5 };
  static const double before[VARIABLES] = {10, 0, 0, 0, 100};
  const struct gas_physics rtvd = {.solver = GAS_RTVD, .gamma = 1.4};
  const struct gas_kernels *k = gas_kernels_select(true);
  double *fluxes = calloc(8 * 6 * VARIABLES * 64, sizeof *fluxes);
  double *sides = calloc(6 * VARIABLES * 64, sizeof *sides);
  double *group = calloc(VARIABLES * GAS_GROUP_CELLS, sizeof *group);
  double *old_flux = calloc(VARIABLES * 64, sizeof *old_flux);
  assert_true(fluxes && sides && group && old_flux);
  for (int patch = 0; patch < 8; patch++)
    for (int face = 0; face < 6; face++)
      for (int q = 0; q < VARIABLES; q++)
        for (int i = 0; i < 64; i++) {
          const int axis = face / 2, fast = axis == 0 ? 1 : 0, slow = axis == 2 ? 1 : 2;
          const double a = i % 8 + 8 * (patch >> fast & 1), b = i / 8 + 8 * (patch >> slow & 1);
          const bool outside = (patch >> axis & 1) == (face & 1);
          fluxes[((patch * 6 + face) * VARIABLES + q) * 64 + i] = outside
                                                                      ? 1000.0 * face + 100.0 * q +
                                                                            a + 0.5 * b
                                                                      : NAN; /* not to be read */
        }
  k->flux_add(VARIABLES, fluxes, 0.5, sides);
  k->flux_add(VARIABLES, fluxes, 0.5, sides);
  for (int face = 0; face < 6; face++)
    for (int q = 0; q < VARIABLES; q++)
      for (int i = 0; i < 64; i++) {
        const double a = 2 * (i % 8) + 0.5, b = 2 * (i / 8) + 0.5;
        assert_true(fabs(sides[(face * VARIABLES + q) * 64 + i] -
                         (1000.0 * face + 100.0 * q + a + 0.5 * b)) < 1e-10);
      }
  for (int i = 0; i < VARIABLES * 64; i++) old_flux[i] = sides[3 * VARIABLES * 64 + i] + 2.0;
  for (int i = 0; i < VARIABLES * GAS_GROUP_CELLS; i++) group[i] = before[i / GAS_GROUP_CELLS];
  k->flux_fix(&rtvd, 0.25, 3, old_flux, sides + 3 * VARIABLES * 64, group, 5);
  for (int q = 0; q < VARIABLES; q++)
    for (int i = 0; i < GAS_GROUP_CELLS; i++) {
      const bool beside = i / 512 == 5 && i / 8 % 8 == 7; /* the last cells along y */
      assert_true(fabs(group[q * GAS_GROUP_CELLS + i] - before[q] - (beside ? 0.5 : 0.0)) < 1e-10);
    }
  k->flux_fix(&rtvd, 0.25, 2, old_flux, sides + 3 * VARIABLES * 64, group, 5);
  assert_true(fabs(group[5 * 512] - 9.5) < 1e-10); /* the lower face of cell 0: the other sign */
  old_flux[0] += 100.0;                            /* of the density */
  k->flux_fix(&rtvd, 0.25, 2, old_flux, sides + 3 * VARIABLES * 64, group, 5);
  assert_true(group[5 * 512] == 9.5);
  assert_true(fabs(group[5 * 512 + 1] - 9.0) < 1e-10);
  free(fluxes);
  free(sides);
  free(group);
  free(old_flux);
}

enum { FIXED_VARIABLES = 6 };

/** A group of equal cells after a correction of the fluxes of one variable by -80 through its upper side
 * along y. free() it. */
static double *fix_group(const double before[FIXED_VARIABLES], int variable, double change) {
  const struct gas_physics muscl = {.solver = GAS_MUSCL,
                                    .minmod = 1.5,
                                    .gamma = 5.0 / 3.0,
                                    .dual_energy_switch = 1e-3,
                                    .dual_energy_change = change};
  double *group = calloc(FIXED_VARIABLES * GAS_GROUP_CELLS, sizeof *group);
  double *flux = calloc(FIXED_VARIABLES * 64, sizeof *flux),
         *zero = calloc(FIXED_VARIABLES * 64, sizeof *zero);
  assert_true(group && flux && zero);
  for (int i = 0; i < 64; i++) flux[variable * 64 + i] = -80.0;
  for (int i = 0; i < FIXED_VARIABLES * GAS_GROUP_CELLS; i++)
    group[i] = before[i / GAS_GROUP_CELLS];
  gas_kernels_select(true)->flux_fix(&muscl, 0.25, 3, flux, zero, group, 5);
  free(flux);
  free(zero);
  return group;
}

/** Whether a cell is beside that side: the last ones along y. */
static bool is_fixed(int cell) { return cell / 512 == 5 && cell / 8 % 8 == 7; }

/* A correction takes more energy from warm gas than its heat. With dual_energy_change the entropy gives
 * it back; otherwise the energy stays below the kinetic one. */
static void test_flux_fix_keeps_heat(void **state) {
  (void)state;
  static const double before[] = {1, 10, 0, 0, 60, 10.0 / 1.5}; /* kinetic energy 50 */
  for (int keeps = 0; keeps < 2; keeps++) {
    double *group = fix_group(before, GAS_ENERGY, keeps);
    const double *energy = group + GAS_ENERGY * GAS_GROUP_CELLS;
    for (int i = 0; i < GAS_GROUP_CELLS; i++)
      assert_true(fabs(energy[i] - (is_fixed(i) && !keeps ? 40.0 : 60.0)) < 1e-10);
    free(group);
  }
}

/* A correction takes more entropy than there is from gas whose energy decides: the entropy follows the
 * energy, so that it may decide after a kick. */
static void test_flux_fix_keeps_entropy(void **state) {
  (void)state;
  static const double before[] = {8, 10, 0, 0, 60, 10};
  const double agrees = (60.0 - 0.5 * 100.0 / 8.0) * (2.0 / 3.0) / pow(8.0, 2.0 / 3.0);
  for (int keeps = 0; keeps < 2; keeps++) {
    double *group = fix_group(before, GAS_ENTROPY, keeps);
    const double *entropy = group + GAS_ENTROPY * GAS_GROUP_CELLS;
    for (int i = 0; i < GAS_GROUP_CELLS; i++)
      assert_true(fabs(entropy[i] - (is_fixed(i) ? agrees : 10.0)) < 1e-10);
    free(group);
  }
}

/* Bits of the patches to which `buffer` cells around cell x, y, z of a patch reach. */
static uint32_t reached(int x, int y, int z, int buffer) {
  uint32_t mask = 0;
  for (int k = z - buffer; k <= z + buffer; k++)
    for (int j = y - buffer; j <= y + buffer; j++)
      for (int i = x - buffer; i <= x + buffer; i++) {
        const int d[3] = {(i >= 8) - (i < 0), (j >= 8) - (j < 0), (k >= 8) - (k < 0)};
        mask |= 1u << (13 + d[0] + 3 * d[1] + 9 * d[2]);
      }
  return mask;
}

static void test_flags_reach_their_buffer(void **state) {
  (void)state;
  static const int cells[][3] = {{3, 4, 4}, {0, 7, 9}, {8, 15, 2}, {12, 1, 14}};
  const struct gas_flags flags = {.density = 1.5};
  for (int wide = 0; wide <= 1; wide++)
    for (size_t c = 0; c < 4; c++)
      for (int buffer = 0; buffer <= 8; buffer++) {
        const int x = cells[c][0], y = cells[c][1], z = cells[c][2];
        struct gas_box b = box_create(&schemes[1], wide, BOX_PERIODIC, 16, 16, 16);
        for (size_t i = 0; i < box_cells(&b); i++)
          box_set(&b, i, (int)i == x + 16 * y + 256 * z ? 2.0 : 1.0, (double[3]){0, 0, 0}, 1.0);
        uint32_t masks[8];
        box_load(&b, 0, 0, 0);
        b.kernels->flag(&schemes[0], &flags, b.block, NULL, buffer, masks);
        for (int patch = 0; patch < 8; patch++) {
          const bool has = patch == x / 8 + 2 * (y / 8) + 4 * (z / 8);
          assert_int_equal(masks[patch], has ? reached(x % 8, y % 8, z % 8, buffer) : 0);
        }
        box_free(&b);
      }
}

/* Which cells along x of a field of x alone a criterion flags: each cell is asked for by a field in
 * which the other patches are as they are, through the mask of a buffer of 0. */
static bool patch_is_flagged(const struct gas_flags *flags, double (*density)(int x),
                             double (*pressure)(int x), int patch) {
  struct gas_box b = box_create(&schemes[0], true, BOX_OUTFLOW, 16, 16, 16);
  box_load(&b, 0, 0, 0);
  for (int i = 0; i < GAS_BLOCK_CELLS; i++) {
    const int x = i % 22 - 3;
    box_put(b.kernels, b.block, (size_t)i, density(x));
    box_put(b.kernels, b.block, 4 * (size_t)GAS_BLOCK_CELLS + (size_t)i, pressure(x) / 0.4);
  }
  uint32_t masks[8];
  b.kernels->flag(&schemes[0], flags, b.block, NULL, 0, masks);
  box_free(&b);
  return masks[patch] >> 13 & 1;
}

static double one(int x) { return 1.0 + 0.0 * x; }
static double ramp(int x) { return 10.0 + x; }
static double step_at_4(int x) { return x < 4 ? 1.0 : 2.0; }
static double ripple(int x) { return 1.0 + 1e-3 * (x % 4 == 0); }

static void test_gradients_flag(void **state) {
  (void)state;
  /* Cell 0 has the largest relative change of the first patch, 1/10; cell 8 of the second, 1/18. */
  struct gas_flags flags = {.gradient_density = 0.0999};
  assert_true(patch_is_flagged(&flags, ramp, one, 0));
  flags.gradient_density = 0.1001;
  assert_false(patch_is_flagged(&flags, ramp, one, 0));
  flags.gradient_density = 1.0 / 17.99;
  assert_false(patch_is_flagged(&flags, ramp, one, 1));
  flags.gradient_density = 1.0 / 18.01;
  assert_true(patch_is_flagged(&flags, ramp, one, 1));
  assert_false(patch_is_flagged(&flags, one, ramp, 1));
  flags = (struct gas_flags){.gradient_pressure = 1.0 / 18.01};
  assert_true(patch_is_flagged(&flags, one, ramp, 1));
  assert_false(patch_is_flagged(&flags, ramp, one, 1));
}

/* At a step the estimate without filter is 1 two cells away and 1/3 beside the step, where also the
 * mixed differences count in the denominator; it is 0 for a ramp. The filter hides small ripples.
 */
static void test_loehner_flags(void **state) {
  (void)state;
  struct gas_flags flags = {.loehner = 0.999};
  assert_true(patch_is_flagged(&flags, step_at_4, one, 0));
  assert_true(patch_is_flagged(&flags, one, step_at_4, 0));
  assert_false(patch_is_flagged(&flags, step_at_4, one, 1));
  flags.loehner = 1e-6;
  assert_false(patch_is_flagged(&flags, ramp, one, 0));
  flags = (struct gas_flags){.loehner = 0.5};
  assert_true(patch_is_flagged(&flags, ripple, one, 0));
  flags.loehner_filter = 0.01;
  assert_false(patch_is_flagged(&flags, ripple, one, 0));
  assert_true(patch_is_flagged(&flags, step_at_4, one, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sod_along_axes),
      cmocka_unit_test(test_sod_converges),
      cmocka_unit_test(test_sod_along_diagonal),
      cmocka_unit_test(test_sound_converges),
      cmocka_unit_test(test_uniform_gas_stays),
      cmocka_unit_test(test_bits_do_not_depend_on_the_place),
      cmocka_unit_test(test_fluxes_balance_the_change),
      cmocka_unit_test(test_sums_stay),
      cmocka_unit_test(test_strong_rarefaction_stays_positive),
      cmocka_unit_test(test_negative_pressure_is_found),
      cmocka_unit_test(test_rtvd_stays_positive),
      cmocka_unit_test(test_blast_stays_positive),
      cmocka_unit_test(test_cold_collision_stays_positive),
      cmocka_unit_test(test_faults_are_found),
      cmocka_unit_test(test_largest_speed),
      cmocka_unit_test(test_fractions_between_levels),
      cmocka_unit_test(test_carried_fractions),
      cmocka_unit_test(test_levels_conserve),
      cmocka_unit_test(test_cold_cells_stay_cold),
      cmocka_unit_test(test_cold_gas_is_warmed),
      cmocka_unit_test(test_interpolation_is_linear),
      cmocka_unit_test(test_flux_of_finer_level),
      cmocka_unit_test(test_flux_fix_keeps_heat),
      cmocka_unit_test(test_flux_fix_keeps_entropy),
      cmocka_unit_test(test_flags_reach_their_buffer),
      cmocka_unit_test(test_gradients_flag),
      cmocka_unit_test(test_loehner_flags),
  };
  const struct CMUnitTest agreement[] = {cmocka_unit_test(test_instruction_sets_agree)};
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select();
  int failed = cmocka_run_group_tests(agreement, NULL, NULL);
  for (enum isa isa = ISA_BASELINE; isa <= best; isa++) {
    setenv("PHOTONS_ISA", isas[isa], 1);
    failed += cmocka_run_group_tests_name(isas[isa], tests, NULL, NULL);
  }
  return failed > 0;
}
