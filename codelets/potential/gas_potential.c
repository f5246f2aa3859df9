/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_potential: the potential of the even or the odd groups of a batch of a level finer than the
 * root. That of the others is copied, if they have one.
 *
 * reads  cells; densities of particles; potentials of the next coarser level, and of this level's
 *        neighbours if these are to be used; pseudo-mass; links and pivots on GPUs
 * writes potential */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/potential/potentials.h"

struct gas_potential_argument {
  struct batch_argument batch;
  struct potential_task how;
  double factor; /* gravity_factor() */
};
enum { POTENTIAL, CELLS, OTHERS };

static double gas_potential_work(const struct gas_potential_argument *a) {
  return batch_work(&a->batch);
}

static struct surroundings surroundings(const struct gas_potential_argument *a) {
  return surroundings_of_solution(&a->batch, a->how);
}

/** Of the sum over a group of the source: what the tolerance is of, where there is less. */
static double least_source(const struct gas_potential_argument *a) {
  return a->factor * a->batch.gas->gravity->mean_density * GAS_GROUP_CELLS;
}

/** A group with its ghost cells, from which relaxation begins. */
static void fill(const struct gas_potential_argument *a, const struct potential_sources *sources,
                 uint32_t group, double *block) {
  (a->how.change != 0.0 ? potential_block_corrected : potential_block)(sources, group, block);
}

/** Solve a group by relaxation. @param sum  of the source without pseudo-mass */
static void relax(const struct gas_potential_argument *a, const struct potential_sources *sources,
                  uint32_t group, const double *source, double sum, double *cube) {
  const struct self_gravity *s = a->batch.gas->gravity;
  double block[POISSON_CELLS];
  fill(a, sources, group, block);
  s->poisson->solve(source, s->tolerance * fmax(sum, least_source(a)), POISSON_SWEEPS_MAX, block);
  potential_inner(block, cube);
}

/** A group that is not solved: it has been, or it will be next. Till then it has what relaxation
 * begins with. A direct solution needs nothing, but messages should not have undefined numbers. */
static void keep(const struct gas_potential_argument *a, const struct potential_sources *sources,
                 uint32_t group, double *cube) {
  double block[POISSON_CELLS];
  if (a->how.mode == POTENTIAL_RELAX) {
    memcpy(cube, potential_of(&sources->near, group), GAS_GROUP_CELLS * sizeof *cube);
  } else if (a->batch.gas->gravity->direct) {
    memset(cube, 0, GAS_GROUP_CELLS * sizeof *cube);
  } else {
    fill(a, sources, group, block);
    potential_inner(block, cube);
  }
}

/** Solve group i of the batch. @param matter  slot of the densities of particles */
static void solve_group(const struct gas_potential_argument *a, void *buffers[], size_t matter,
                        const struct potential_sources *sources, uint32_t i, double *cube) {
  const struct gas *g = a->batch.gas;
  const uint32_t group = batch_of(&a->batch)->first + i;
  double source[GAS_GROUP_CELLS];
  double sum = g->gravity->kernels->source(
      nth(buffers[CELLS], gas_group_bytes(g), i), a->factor, gravity_background(g),
      a->how.massive ? nth_potential(buffers[OTHERS], i) : NULL, source);
  sum += add_matter(g, buffers + matter, i, a->factor, source);
  if (g->gravity->direct)
    solve_directly(sources, group, source, cube);
  else
    relax(a, sources, group, source, sum, cube);
  if (a->how.excess != 0.0) exceed(potential_of(&sources->near, group), a->how.excess, cube);
}

static void gas_potential_cpu(void *buffers[], const struct gas_potential_argument *a) {
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const size_t matter = OTHERS + a->how.massive;
  const struct potential_sources sources = surroundings_of(
      &around, buffers, matter + matter_slots(a->batch.gas), &addresses);
  for (uint32_t i = 0; i < batch_of(&a->batch)->count; i++) {
    const uint32_t group = batch_of(&a->batch)->first + i;
    double *cube = nth_potential(buffers[POTENTIAL], i);
    if (is_solved(&a->batch, a->how, group))
      solve_group(a, buffers, matter, &sources, i, cube);
    else
      keep(a, &sources, group, cube);
  }
  free(addresses);
}

static void gas_potential_gpu(struct gpu *gpu, void *buffers[],
                              const struct gas_potential_argument *a) {
  const struct self_gravity *s = a->batch.gas->gravity;
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct surroundings around = surroundings(a);
  const size_t matter = OTHERS + a->how.massive, first = matter + matter_slots(a->batch.gas),
               links = first + surroundings_count(&around);
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(&around, buffers, first, links, &addresses);
  const struct gpu_density density = gpu_density_of(a->batch.gas, buffers[CELLS],
                                                    a->how.massive ? buffers[OTHERS] : NULL,
                                                    buffers[matter], a->factor);
  double *potentials = VECTOR(double, buffers[POTENTIAL]);
  const struct gpu_half half = {a->how.odd,
                                a->how.mode == POTENTIAL_RELAX ? GPU_OTHERS_COPY : GPU_OTHERS_ZERO,
                                a->how.excess};
  if (s->direct) {
    const struct gpu_solved batch = {
        .density = density, .from = from, .to = potentials, .groups = batch_of(&a->batch)->count};
    gpu_gas_solve_directly(&g, &s->waves, VECTOR(const double, buffers[links + 1]), &batch, 1,
                           &half, 1);
  } else {
    double *blocks = gpu_gas_potential_memory(&g, 1);
    gpu_gas_potential_blocks(&g, &from, blocks);
    gpu_gas_relax(&g, &density, s->tolerance, least_source(a), from.links, half, blocks,
                  potentials);
  }
  free(addresses);
}

STAGE(gas_potential, 0x332288, "gas");

void gas_potential_submit(struct gas *g, int level, uint32_t batch, struct potential_task how) {
  const struct gas_potential_argument a = {{g, level, batch}, how, gravity_factor(g, level)};
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = batch_of(&a.batch);
  const struct surroundings around = surroundings(&a);
  struct slots slots = slots_of("gas_potential", g, level, batch);
  slots_add(&slots, potential_handle(g, level, batch, POTENTIAL_NEXT), STARPU_W);
  slots_add(&slots, b->handle[l->now], STARPU_R);
  if (how.massive) slots_add(&slots, b->sheets, STARPU_R);
  matter_slot(&slots, g, level, batch);
  surroundings_slots(&slots, &around);
  slots_add_links(&slots, b);
  if (g->gravity->pivots) slots_add(&slots, g->gravity->pivots, STARPU_R);
  gas_potential_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
