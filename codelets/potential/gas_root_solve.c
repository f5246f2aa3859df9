/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_solve: the potential of the whole root level, on a GPU. On cores loops over the mesh's
 * planes take the place of this stage (src/potential/root_poisson.c).
 *
 * With several homes the stages gas_root_rows, gas_root_lines, gas_root_back and gas_root_get do the same on
 * several GPUs, from sources (gas_root_source). Where homes cannot have equal parts of the mesh, this stage
 * reads these sources.
 *
 * reads  cells, densities of particles, pseudo-mass, or sources, and links of all batches of the root level;
 *        the Green function's transform
 * writes potentials of all these batches, the mesh of the transforms, root_gpu.sum */
#include <stdlib.h>

#include "codelets/potential/potentials.h"
#include "photons/potential/root_gpu.h"

struct gas_root_solve_argument {
  struct gas *gas;
  const struct root_gpu *root;
  double factor; /* gravity_factor() */
  bool massive;
};
/* Of each batch potential, cells or source, links, and with cells if there are any densities of particles
 * and pseudo-mass; then GREEN. */
enum { MESH, BATCHES };

/** Whether there are sources. */
static bool has_sources(const struct gas *g) { return g->tasks.homes > 1; }

static size_t slots_of_batch(const struct gas_root_solve_argument *a) {
  return has_sources(a->gas) ? 3 : 3 + matter_slots(a->gas) + a->massive;
}

static double gas_root_solve_work(const struct gas_root_solve_argument *a) {
  return a->gas->level[0].groups;
}

enum { POTENTIAL, CELLS, LINKS, MATTER, SOURCE = CELLS };

/** Put the densities of a batch into the mesh. @param buffers  of this batch */
static void put_densities(const struct gpu_gas *g, void *buffers[],
                          const struct gas_root_solve_argument *a, uint32_t batch, double *mesh) {
  const size_t mass = MATTER + matter_slots(a->gas);
  struct gpu_density density = gpu_density_of(
      a->gas, buffers[CELLS], a->massive ? buffers[mass] : NULL,
      a->gas->particles ? buffers[MATTER] : NULL, a->factor);
  density.mean = 0.0; /* what does not attract is the wave of number 0 */
  gpu_root_put(a->root->worker[worker_number()], g, &density,
               VECTOR(const struct gas_links, buffers[LINKS]), mesh,
               a->root->sum + a->gas->level[0].batch[batch].first);
}

/** Copy a batch to or from the mesh. @param buffers  of this batch */
static void copy_batch(struct gpu *gpu, void *buffers[], const struct gas_root_solve_argument *a,
                       uint32_t batch, double *mesh, bool put) {
  const struct gpu_root *root = a->root->worker[worker_number()];
  const struct gpu_root_planes planes = {0, a->root->size.size[2]};
  const struct gpu_gas g = gpu_gas_of(gpu, &(struct batch_argument){a->gas, 0, batch});
  const struct gas_links *links = VECTOR(const struct gas_links, buffers[LINKS]);
  if (!put)
    gpu_root_get(root, &g, planes, links, mesh, VECTOR(double, buffers[POTENTIAL]));
  else if (has_sources(a->gas))
    gpu_root_put_source(root, &g, planes, links, VECTOR(const double, buffers[SOURCE]), mesh);
  else
    put_densities(&g, buffers, a, batch, mesh);
}

static void gas_root_solve_gpu(struct gpu *gpu, void *buffers[],
                               const struct gas_root_solve_argument *a) {
  const uint32_t batches = a->gas->level[0].batch_count;
  const size_t step = slots_of_batch(a);
  double *mesh = VECTOR(double, buffers[MESH]);
  gpu_clear(gpu, mesh, a->root->mesh_bytes);
  for (uint32_t i = 0; i < batches; i++)
    copy_batch(gpu, buffers + BATCHES + i * step, a, i, mesh, true);
  gpu_root_solve(a->root->worker[worker_number()],
                 a->root->green ? VECTOR(const double, buffers[BATCHES + batches * step]) : NULL,
                 mesh);
  for (uint32_t i = 0; i < batches; i++)
    copy_batch(gpu, buffers + BATCHES + i * step, a, i, mesh, false);
}

STAGE_ON_GPU(gas_root_solve, 0x113388, "gas");

/** Solve the level on the GPUs of all homes. */
static void submit_parts(struct gas *g, const struct root_gpu *r) {
  for (uint32_t i = 0; i < r->parts; i++) gas_root_rows_submit(g, r, i);
  for (uint32_t i = 0; i < r->parts; i++) gas_root_lines_submit(g, r, i);
  for (uint32_t i = 0; i < r->parts; i++) gas_root_back_submit(g, r, i);
  for (uint32_t i = 0; i < g->level[0].batch_count; i++) gas_root_get_submit(g, r, i);
}

void gas_root_solve_submit(struct gas *g, const struct root_gpu *r, bool massive) {
  const struct gas_root_solve_argument a = {g, r, gravity_factor(g, 0), massive};
  const struct gas_level *l = &g->level[0];
  struct slots slots = slots_of("gas_root_solve", g, 0, 0);
  const bool sources = has_sources(g);
  for (uint32_t i = 0; i < l->batch_count && sources; i++) gas_root_source_submit(g, r, i, massive);
  if (r->parts > 0) {
    submit_parts(g, r);
    return;
  }
  slots_add(&slots, r->mesh, STARPU_W);
  for (uint32_t i = 0; i < l->batch_count; i++) {
    slots_add(&slots, potential_handle(g, 0, i, POTENTIAL_END), STARPU_W);
    slots_add(&slots,
              sources ? potential_handle(g, 0, i, POTENTIAL_NEXT) : l->batch[i].handle[l->now],
              STARPU_R);
    slots_add_links(&slots, &l->batch[i]);
    if (sources) continue;
    matter_slot(&slots, g, 0, i);
    if (massive) slots_add(&slots, l->batch[i].sheets, STARPU_R);
  }
  if (r->green) slots_add(&slots, r->green, STARPU_R);
  gas_root_solve_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
