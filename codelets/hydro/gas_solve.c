/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_solve: a time step of the groups of a batch.
 *
 * reads  blocks
 * writes cells at the end of the step, fluxes, gas_level.fault */
#include "codelets/hydro/faces.h"
#include "photons/hydro/codelets.h"

struct gas_solve_argument {
  struct batch_argument a;
  double dt;
  bool reversed;     /* sweeps: z y x */
  double least_heat; /* of gas_physics, at the end of the step */
};
enum { CELLS, FLUXES, BLOCKS, MASS, SLOTS };

static double gas_solve_work(const struct gas_solve_argument *a) { return batch_work(&a->a); }

static void gas_solve_cpu(void *buffers[], const struct gas_solve_argument *argument) {
  const struct batch_argument *a = &argument->a;
  const struct gas *g = a->gas;
  const struct gas_physics physics = physics_of(g, argument->least_heat);
  const struct gas_batch *b = batch_of(a);
  void *scratch = gas_scratch(g);
  for (uint32_t i = 0; i < b->count; i++) {
    struct gas_fault fault;
    g->scheme.kernels->solve(
        &physics, argument->dt / gas_cell(g, a->level), argument->reversed,
        nth(buffers[BLOCKS], gas_block_bytes(g), i), nth(buffers[CELLS], gas_group_bytes(g), i),
        nth(buffers[FLUXES], gas_fluxes_bytes(g), i),
        g->gravity ? nth(buffers[MASS], gas_mass_bytes(g), i) : NULL, scratch, &fault);
    note_fault(a, i, &fault);
  }
}

static void gas_solve_gpu(struct gpu *gpu, void *buffers[],
                          const struct gas_solve_argument *argument) {
  const struct batch_argument *a = &argument->a;
  const struct gpu_gas g = gpu_gas_closing(gpu, a, argument->least_heat);
  gpu_gas_solve(&g, argument->dt / gas_cell(a->gas, a->level), argument->reversed,
                VECTOR(void, buffers[BLOCKS]), NULL, VECTOR(void, buffers[CELLS]),
                VECTOR(void, buffers[FLUXES]), faces_kept(a),
                a->gas->gravity ? VECTOR(void, buffers[MASS]) : NULL,
                &a->gas->level[a->level].fault[own_of(a)]);
}

STAGE(gas_solve, 0x4477aa, "gas");

void gas_solve_submit(struct gas *g, int level, uint32_t batch, double dt, double least_heat,
                      starpu_data_handle_t block) {
  const struct gas_level *l = &g->level[level];
  const bool reversed = l->steps % 2 == 1;
  const struct gas_batch *b = gas_batch(g, level, batch);
  const struct starpu_data_descr data[SLOTS] = {[CELLS] = {b->handle[1 - l->now], STARPU_W},
                                                [FLUXES] = {b->fluxes, STARPU_W},
                                                [BLOCKS] = {block, STARPU_R},
                                                [MASS] = {b->mass, STARPU_W}};
  gas_solve_insert(
      (struct gas_solve_argument){{g, level, batch}, dt, reversed, least_heat},
      (struct task){.data = data, .count = g->gravity ? SLOTS : MASS, .priority = PRIORITY_MIDDLE});
}
