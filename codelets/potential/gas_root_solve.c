/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_solve: the potential of the whole root level, on a GPU. On cores loops over the mesh's
 * planes take the place of this stage (src/potential/root_poisson.c).
 *
 * reads  cells, densities of particles, pseudo-mass and links of all batches of the root level; the
 *        Green function's transform
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
/* Of each batch potential, cells, links, and if there are any densities of particles and
 * pseudo-mass; then GREEN. */
enum { MESH, BATCHES };

static size_t slots_of_batch(const struct gas_root_solve_argument *a) {
  return 3 + matter_slots(a->gas) + a->massive;
}

static double gas_root_solve_work(const struct gas_root_solve_argument *a) {
  return a->gas->level[0].groups;
}

/** Copy a batch to or from the mesh. @param buffers  of this batch */
static void copy_batch(struct gpu *gpu, void *buffers[], const struct gas_root_solve_argument *a,
                       uint32_t batch, double *mesh, bool put) {
  enum { POTENTIAL, CELLS, LINKS, MATTER };
  const size_t mass = MATTER + matter_slots(a->gas);
  const struct gpu_root *root = a->root->worker[worker_number()];
  const struct gpu_gas g = gpu_gas_of(gpu, &(struct batch_argument){a->gas, 0, batch});
  const struct gas_links *links = VECTOR(const struct gas_links, buffers[LINKS]);
  struct gpu_density density = gpu_density_of(
      a->gas, buffers[CELLS], a->massive ? buffers[mass] : NULL,
      a->gas->particles ? buffers[MATTER] : NULL, a->factor);
  density.mean = 0.0; /* what does not attract is the wave of number 0 */
  if (put)
    gpu_root_put(root, &g, &density, links, mesh,
                 a->root->sum + a->gas->level[0].batch[batch].first);
  else
    gpu_root_get(root, &g, links, mesh, VECTOR(double, buffers[POTENTIAL]));
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

void gas_root_solve_submit(struct gas *g, const struct root_gpu *r, bool massive) {
  const struct gas_root_solve_argument a = {g, r, gravity_factor(g, 0), massive};
  const struct gas_level *l = &g->level[0];
  struct slots slots = slots_of("gas_root_solve", g, 0, 0);
  slots_add(&slots, r->mesh, STARPU_W);
  for (uint32_t i = 0; i < l->batch_count; i++) {
    slots_add(&slots, potential_handle(g, 0, i, POTENTIAL_END), STARPU_W);
    slots_add(&slots, l->batch[i].handle[l->now], STARPU_R);
    slots_add_links(&slots, &l->batch[i]);
    matter_slot(&slots, g, 0, i);
    if (massive) slots_add(&slots, l->batch[i].sheets, STARPU_R);
  }
  if (r->green) slots_add(&slots, r->green, STARPU_R);
  gas_root_solve_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
