/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed of the gas kernels on one core (processor time): millions of cell updates a second of the
 * solvers, and of cells a second of flags, interpolation, averages and the potential. One update is one cell of a
 * patch group advanced by one time step; ghost cells do not count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "photons/amr/kernels.h"
#include "photons/base/error.h"
#include "photons/potential/poisson.h"

enum { GROUPS = 64, REPEATS = 5 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Arrays of one precision for GROUPS groups. */
struct arrays {
  const struct gas_kernels *kernels;
  struct gas_physics physics;
  char *blocks, *groups, *fluxes, *coarse, *sides;
  void *scratch;
  size_t block, group, flux, coarser, side; /**< bytes a group */
};

static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 32) * 0x1p-32;
}

static void put(const struct arrays *a, void *array, size_t i, double value) {
  if (a->kernels->real_size == sizeof(float))
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
}

/* Gas in random subsonic motion. */
static void fill(const struct arrays *a, void *array, size_t cells, uint64_t *random) {
  for (size_t i = 0; i < cells; i++) {
    const double density = 1.0 + 0.2 * random_number(random);
    const double pressure = 1.0 + 0.2 * random_number(random);
    double kinetic = 0.0;
    put(a, array, i, density);
    for (size_t q = 1; q <= 3; q++) {
      const double v = random_number(random) - 0.5;
      put(a, array, q * cells + i, density * v);
      kinetic += 0.5 * density * v * v;
    }
    put(a, array, 4 * cells + i, kinetic + pressure / (a->physics.gamma - 1.0));
    if (gas_variables(&a->physics) > 5) put(a, array, 5 * cells + i, pressure);
  }
}

static void *aligned(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!p) fail(EXIT_RUN_FAILED, "out of memory");
  memset(p, 0, bytes);
  return p;
}

static struct arrays arrays_create(bool double_precision, enum gas_solver solver) {
  struct arrays a = {.kernels = gas_kernels_select(double_precision),
                     .physics = {solver, GAS_LIMITER_VAN_LEER, 1.5, 1.4, 0.02}};
  const size_t variable = gas_variables(&a.physics) * a.kernels->real_size;
  a.block = GAS_BLOCK_CELLS * variable;
  a.group = GAS_GROUP_CELLS * variable;
  a.flux = GAS_PATCHES * GAS_FACES * GAS_FACE_CELLS * variable;
  a.coarser = GAS_COARSE_CELLS * variable;
  a.side = GAS_FACES * GAS_FACE_CELLS * variable;
  a.blocks = aligned(GROUPS * a.block);
  a.groups = aligned(GROUPS * a.group);
  a.fluxes = aligned(GROUPS * a.flux);
  a.coarse = aligned(GROUPS * a.coarser);
  a.sides = aligned(GROUPS * a.side);
  a.scratch = aligned(a.kernels->scratch_bytes);
  uint64_t random = 1;
  for (size_t g = 0; g < GROUPS; g++) {
    fill(&a, a.blocks + g * a.block, GAS_BLOCK_CELLS, &random);
    fill(&a, a.coarse + g * a.coarser, GAS_COARSE_CELLS, &random);
  }
  return a;
}

static void arrays_free(struct arrays *a) {
  free(a->blocks);
  free(a->groups);
  free(a->fluxes);
  free(a->coarse);
  free(a->sides);
  free(a->scratch);
}

static void bench_solve(struct arrays *a, size_t g) {
  struct gas_fault fault;
  a->kernels->solve(&a->physics, 0.2, g % 2, a->blocks + g * a->block, a->groups + g * a->group,
                    a->fluxes + g * a->flux, NULL, a->scratch, &fault);
  if (fault.patch >= 0) fail(EXIT_RUN_FAILED, "bench_gas: a cell is not physical");
}

static void bench_speed(struct arrays *a, size_t g) {
  struct gas_fault fault;
  a->kernels->largest_speed(&a->physics, a->groups + g * a->group, &fault);
}

static void bench_flag(struct arrays *a, size_t g) {
  const struct gas_flags flags = {.gradient_density = 10.0, .gradient_pressure = 10.0};
  uint32_t masks[GAS_PATCHES];
  a->kernels->flag(&a->physics, &flags, a->blocks + g * a->block, NULL, 4, masks);
}

static void bench_loehner(struct arrays *a, size_t g) {
  const struct gas_flags flags = {.loehner = 1.0, .loehner_filter = 0.01};
  uint32_t masks[GAS_PATCHES];
  a->kernels->flag(&a->physics, &flags, a->blocks + g * a->block, NULL, 4, masks);
}

static void bench_interpolate(struct arrays *a, size_t g) {
  static const int low[3] = {GAS_GHOSTS, GAS_GHOSTS, GAS_GHOSTS},
                   high[3] = {GAS_GHOSTS + GAS_GROUP_SIDE, GAS_GHOSTS + GAS_GROUP_SIDE,
                              GAS_GHOSTS + GAS_GROUP_SIDE};
  a->kernels->interpolate(&a->physics, a->coarse + g * a->coarser, low, high,
                          a->blocks + g * a->block);
}

static void bench_restrict(struct arrays *a, size_t g) {
  a->kernels->restrict_group(gas_variables(&a->physics), a->groups + g * a->group,
                             a->groups + (g / 8 * 8) * a->group, (int)(g % 8));
}

static void bench_flux(struct arrays *a, size_t g) {
  a->kernels->flux_add(gas_variables(&a->physics), a->fluxes + g * a->flux, 0.5,
                       a->sides + g * a->side);
}

/* Millions of cells of groups a second. */
static double rate(struct arrays *a, void (*function)(struct arrays *a, size_t group)) {
  double best = 1e9;
  for (int r = 0; r < REPEATS; r++) {
    const double start = seconds();
    for (size_t g = 0; g < GROUPS; g++) function(a, g);
    const double time = seconds() - start;
    best = time < best ? time : best;
  }
  return 1e-6 * GROUPS * GAS_GROUP_CELLS / best;
}

/** A group's potential from random densities and smooth values around it. */
struct potential {
  const struct poisson_kernels *kernels;
  struct poisson_waves waves;
  double block[POISSON_CELLS], source[GAS_GROUP_CELLS], cube[GAS_GROUP_CELLS];
  double target; /* residual where relaxation ends */
};

static void bench_direct(struct potential *p) {
  p->kernels->solve_directly(&p->waves, p->source, p->block, p->cube);
}

static void bench_sor(struct potential *p) {
  for (int i = 0; i < GAS_GROUP_CELLS; i++) /* from 0 */
    p->block[((i / 256 + 1) * POISSON_SIDE + i / 16 % 16 + 1) * POISSON_SIDE + i % 16 + 1] = 0.0;
  p->kernels->solve(p->source, p->target, POISSON_SWEEPS_MAX, p->block);
}

static double solve_rate(struct potential *p, void (*function)(struct potential *p)) {
  double best = 1e9;
  for (int r = 0; r < 20 * REPEATS; r++) {
    const double start = seconds();
    function(p);
    const double time = seconds() - start;
    best = time < best ? time : best;
  }
  return 1e-6 * GAS_GROUP_CELLS / best;
}

static void bench_potential(void) {
  static struct potential p;
  uint64_t random = 1;
  double sum = 0.0;
  p.kernels = poisson_kernels_select();
  poisson_waves_make(&p.waves);
  for (int i = 0; i < POISSON_CELLS; i++)
    p.block[i] = sin(0.2 * (i % 18)) + cos(0.1 * (i / 18 % 18)) * sin(0.1 * (i / 324));
  for (int i = 0; i < GAS_GROUP_CELLS; i++) sum += p.source[i] = 0.01 * random_number(&random);
  printf("potential: direct %.1f", solve_rate(&p, bench_direct));
  for (double tolerance = 1e-4; tolerance > 5e-8; tolerance *= 1e-3) {
    p.target = tolerance * sum;
    printf(", SOR to %.0e %.1f", tolerance, solve_rate(&p, bench_sor));
  }
  printf("\n");
}

int main(void) {
  static const char *const names[] = {
      [GAS_RTVD] = "rtvd", [GAS_MUSCL] = "muscl", [GAS_PPM] = "ppm"};
  printf("%s kernels, one core: millions of cells a second\n", isa_name(isa_select()));
  printf("solver precision    solve  cfl   flags  Loehner  interpolate  restrict  fluxes\n");
  for (int solver = GAS_RTVD; solver <= GAS_PPM; solver++)
    for (int wide = 0; wide <= 1; wide++) {
      struct arrays a = arrays_create(wide, (enum gas_solver)solver);
      printf("%-6s %-8s %8.2f %8.1f", names[solver], wide ? "double" : "single",
             rate(&a, bench_solve), rate(&a, bench_speed));
      printf(" %8.1f %8.1f", rate(&a, bench_flag), rate(&a, bench_loehner));
      printf(" %8.1f %8.1f", rate(&a, bench_interpolate), rate(&a, bench_restrict));
      printf(" %8.1f\n", rate(&a, bench_flux));
      arrays_free(&a);
    }
  bench_potential();
  return 0;
}
