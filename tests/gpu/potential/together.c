/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potentials of a level of several batches in one task, on a GPU and on cores; and the same solutions with a task for
 * each batch and solution. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/pm/particles.h"
#include "photons/potential/codelets.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"
#include "support/force_set.h"
#include "tests/gpu/gas/gas.h"
#include "tests/gpu/potential/stages.h"

enum { TEXT = 2000 };
/* Each of 10 solutions adds up some hundred terms for a cell. */
static const double bar = 1e-12;

/** What a level's task begins with, and the number of its solutions. */
static const struct {
  struct potential_task first;
  int solutions;
} tasks[] = {{{.weight = 0.5, .mode = POTENTIAL_INTERPOLATE}, 2},
             {{.weight = 1.0, .mode = POTENTIAL_INTERPOLATE, .massive = true}, 10},
             {{.weight = 0.3, .mode = POTENTIAL_RELAX}, 4},
             {{.weight = 1.0, .mode = POTENTIAL_REPEAT, .massive = true}, 10},
             {{.weight = 1.0, .mode = POTENTIAL_CORRECT, .massive = true, .change = 1.0}, 4},
             {{.weight = 0.6, .mode = POTENTIAL_FOLLOW, .change = 0.4}, 2}};

/** Take the CUDA versions of the stages of solutions away, so that cores run their tasks, or give them back. */
static void take_gpu(bool take) {
  static const char *const names[] = {"gas_potential", "gas_potentials"};
  static starpu_cuda_func_t taken[sizeof names / sizeof *names];
  for (uint32_t i = 0; i < stage_count(); i++)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
      struct starpu_codelet *codelet = stage_at(i)->codelet;
      if (strcmp(codelet->name, names[k]) != 0) continue;
      if (take) taken[k] = codelet->cuda_funcs[0];
      codelet->cuda_funcs[0] = take ? NULL : taken[k];
      codelet->where = take ? STARPU_CPU : STARPU_CPU | STARPU_CUDA;
    }
}

/** Give a batch's cubes numbers, the same ones in each call. */
static void fill(starpu_data_handle_t cubes, uint32_t count, uint32_t random) {
  handle_acquire(cubes, STARPU_W);
  double *number = (double *)starpu_vector_get_local_ptr(cubes);
  for (size_t i = 0; i < count * (size_t)GAS_GROUP_CELLS; i++) {
    random = random * 1664525u + 1013904223u;
    number[i] = random * 0x1p-31 - 1.0;
  }
  starpu_data_release(cubes);
}

static void fill_level(struct gas *g, int level) {
  for (uint32_t i = 0; i < g->level[level].batch_count; i++) {
    const struct gas_batch *b = &g->level[level].batch[i];
    const uint32_t random = 64 * (uint32_t)level + 8 * i;
    for (unsigned k = 0; k < POTENTIALS; k++) fill(b->potential[k], b->count, random + k);
    if (b->sheets) fill(b->sheets, b->count, random + POTENTIALS);
  }
}

/** Copy a level's POTENTIAL_END. */
static double *copy_level(const struct gas *g, int level) {
  double *cubes = allocate(g->level[level].groups, CUBE_BYTES, "potentials");
  for (uint32_t i = 0; i < g->level[level].batch_count; i++) {
    const struct gas_batch *b = &g->level[level].batch[i];
    const starpu_data_handle_t from = b->potential[g->level[level].potential[POTENTIAL_END]];
    handle_acquire(from, STARPU_R);
    memcpy(cubes + b->first * (size_t)GAS_GROUP_CELLS,
           (const void *)starpu_vector_get_local_ptr(from), b->count * CUBE_BYTES);
    starpu_data_release(from);
  }
  return cubes;
}

/** A task for each batch and solution, as gravity_solve() has them where a level has several homes. */
static void solve_apart(struct gas *g, int level, struct potential_task first, int solutions) {
  struct gas_level *l = &g->level[level];
  for (int k = 0; k < solutions; k++) {
    for (uint32_t i = 0; i < l->batch_count; i++)
      gas_potential_submit(g, level, i, potential_solution(first, k, solutions));
    const int end = l->potential[POTENTIAL_END];
    l->potential[POTENTIAL_END] = l->potential[POTENTIAL_NEXT];
    l->potential[POTENTIAL_NEXT] = end;
  }
}

/** The potentials of a level, from the same numbers in each call. */
static double *solve_level(struct gas *g, int level, size_t task, bool together, bool gpu) {
  if (!gpu) take_gpu(true);
  fill_level(g, level - 1);
  fill_level(g, level);
  memset(g->level[level].stale_potential, 0, sizeof g->level[level].stale_potential);
  memset(g->level[level - 1].stale_potential, 0, sizeof g->level[level].stale_potential);
  if (together)
    gas_potentials_submit(g, level, tasks[task].first, tasks[task].solutions);
  else
    solve_apart(g, level, tasks[task].first, tasks[task].solutions);
  double *cubes = copy_level(g, level);
  if (!gpu) take_gpu(false);
  return cubes;
}

/** @param[out] cuda  of the GPU's potentials from those on cores @param[out] apart  of those of several tasks from those
 * of one, on cores */
static void compare_level(struct gas *g, int level, struct difference *cuda,
                          struct difference *apart) {
  const size_t bytes = g->level[level].groups * CUBE_BYTES;
  for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
    if (tasks[i].first.massive && !g->level[level].batch[0].sheets) continue;
    double *cpu = solve_level(g, level, i, true, false),
           *gpu = solve_level(g, level, i, true, true),
           *each = solve_level(g, level, i, false, false);
    compare_numbers(cuda, sizeof *cpu, cpu, gpu, bytes);
    compare_numbers(apart, sizeof *cpu, cpu, each, bytes);
    free(cpu);
    free(gpu);
    free(each);
  }
}

void check_together(int precision, bool periodic) {
  static const char text[] =
      "[run]\nsystem = gas\n%s\n[gas]\nroot = 32, 32, 32\nlevels = 2\nbuffer = 2\n"
      "batch = 3\nhomes = 1\ngravity = self\nprecision = %s\n%s\n";
  static const char universe[] =
      "[cosmology]\nOmega_m = 0.3\nOmega_lambda = 0.7\n[box]\nsize = 25\n"
      "npart_side = 32\n[ic]\nsource = generate\nz_init = 24\n";
  static const char expands[] = "comoving = yes\nflag_particles = 1.6, 0.3\n[time]\nz_end = 0";
  static const char empty[] =
      "flag_density = 0.5, 0.5\nx_low = outflow\nx_high = outflow\ny_low = outflow\n"
      "y_high = outflow\nz_low = outflow\nz_high = outflow\n[time]\nend = 1";
  struct parameters p;
  struct difference cuda = {0}, apart = {0};
  char given[TEXT];
  snprintf(given, sizeof given, text, periodic ? universe : "[ic]\nsource = collapse",
           gas_precision_names[precision], periodic ? expands : empty);
  parameters_from_text(&p, given, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  start_engine(&p, true);
  struct gas *g = gas_create(&p);
  if (g->particles) gas_particles_begin(g, &p);
  gas_begin(g, &ic);
  gravity_solve(g, 0, 1.0);
  message_wait();
  uint32_t batches = 0;
  for (int level = 1; level < topology_levels(&g->topology); level++) {
    batches = g->level[level].batch_count;
    compare_level(g, level, &cuda, &apart);
  }
  printf("  %s precision, %s: potentials of a level of %u batches in one task\n",
         gas_precision_names[precision], periodic ? "gas and dark matter" : "in empty space",
         batches);
  report_whether("batches", batches > 2 && topology_levels(&g->topology) == 3);
  report_difference("together", cuda, bar);
  report_difference("apart", apart, 0.0);
  gas_free(g);
  engine_stop();
}
