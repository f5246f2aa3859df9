/* SPDX-License-Identifier: GPL-3.0-or-later */
/* halo_density: densities of particles of halos in phase space, and the neighbours that make them.
 *
 * reads  trees, coordinates and nodes
 * writes densities and neighbours */
#include "codelets/runtime/task.h"
#include "cuda/analysis/gpu_analysis.h"
#include "photons/analysis/codelets.h"
#include "src/analysis/halo_part.h"

struct halo_density_argument {
  struct halo_part part;
};
enum { TREE, X, BOX, DENSITY, NEIGHBOUR, SLOTS };

static double halo_density_work(const struct halo_density_argument *a) { return a->part.count; }

static struct density_part part_in(void *buffers[], const struct halo_density_argument *a) {
  struct density_part part = {.of = a->part};
  part.of.tree = VECTOR(const struct part_tree, buffers[TREE]);
  part.x = (double(*)[HALO_PHASE_AXES])STARPU_VECTOR_GET_PTR(buffers[X]);
  part.box = VECTOR(struct density_box, buffers[BOX]);
  part.density = VECTOR(double, buffers[DENSITY]);
  part.neighbour = (uint32_t(*)[HALO_LINKED])STARPU_VECTOR_GET_PTR(buffers[NEIGHBOUR]);
  return part;
}

static void halo_density_cpu(void *buffers[], const struct halo_density_argument *a) {
  const struct density_part part = part_in(buffers, a);
  density_part_find(&part);
}

static void halo_density_gpu(struct gpu *gpu, void *buffers[],
                             const struct halo_density_argument *a) {
  const struct density_part part = part_in(buffers, a);
  gpu_halo_density(gpu, &part);
}

STAGE(halo_density, 0x557744, NULL, .untimed = true);

void halo_density_submit(const struct halo_part *part, starpu_data_handle_t tree,
                         starpu_data_handle_t x, starpu_data_handle_t box,
                         starpu_data_handle_t density, starpu_data_handle_t neighbour) {
  const struct starpu_data_descr data[SLOTS] = {[TREE] = {tree, STARPU_R},
                                                [X] = {x, STARPU_R},
                                                [BOX] = {box, STARPU_R},
                                                [DENSITY] = {density, STARPU_W},
                                                [NEIGHBOUR] = {neighbour, STARPU_W}};
  halo_density_insert((struct halo_density_argument){*part},
                      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOWEST});
}
