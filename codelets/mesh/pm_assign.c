/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_assign: deposits a group's particles in the group's patch of cells.
 *
 * reads  positions; masses, if they differ
 * writes the patch */
#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/mesh/codelets.h"

struct pm_assign_argument {
  const struct long_range *l;
  const struct group *g;
  const struct patch *patch;
  uint32_t set;
};
enum { POSITION, PATCH, MASS, SLOTS };

static double pm_assign_work(const struct pm_assign_argument *a) { return a->g->count; }

static void pm_assign_cpu(void *buffers[], const struct pm_assign_argument *a) {
  a->l->kernels->deposit(a->l->mesh, a->g->count, VECTOR(const uint32_t, buffers[POSITION]),
                         a->g->node_mass ? VECTOR(const float, buffers[MASS]) : NULL, a->set == 1,
                         a->patch, VECTOR(float, buffers[PATCH]));
}

static void pm_assign_gpu(struct gpu *gpu, void *buffers[], const struct pm_assign_argument *a) {
  (void)gpu;
  gpu_deposit(a->l->gpu[worker_number()], a->g->count, VECTOR(const uint32_t, buffers[POSITION]),
              a->g->node_mass ? VECTOR(const float, buffers[MASS]) : NULL, a->set == 1, a->patch,
              VECTOR(float, buffers[PATCH]));
}

STAGE(pm_assign, 0xaa4499, "pm");

void pm_assign_submit(struct long_range *l, struct group *g, uint32_t set) {
  const struct group_cells *c = cells_of(l, g);
  const struct starpu_data_descr data[SLOTS] = {
      [POSITION] = {g->column[COLUMN_position], STARPU_R},
      [PATCH] = {c->patch_handle[set_place(l, set)], STARPU_W},
      [MASS] = {g->column[COLUMN_relative_mass], STARPU_R}};
  const size_t count = g->node_mass ? SLOTS : MASS;
  pm_assign_insert(
      (struct pm_assign_argument){l, g, &c->patch, set},
      (struct task){.data = data, .count = count, .priority = PRIORITY_HIGH, .owner = &g->index});
}
