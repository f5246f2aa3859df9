/* SPDX-License-Identifier: GPL-3.0-or-later */
/* halo_potential: potentials of the particles of candidates for subhalos in their own field.
 *
 * reads  trees, positions and nodes
 * writes sums */
#include "codelets/runtime/task.h"
#include "cuda/analysis/gpu_analysis.h"
#include "photons/analysis/codelets.h"
#include "src/analysis/halo_part.h"

struct halo_potential_argument {
  struct halo_part part;
  float softening;
};
enum { TREE, X, NODE, SUM, SLOTS };

static double halo_potential_work(const struct halo_potential_argument *a) { return a->part.count; }

static struct potential_part part_in(void *buffers[], const struct halo_potential_argument *a) {
  struct potential_part part = {.of = a->part, .softening = a->softening};
  part.of.tree = VECTOR(const struct part_tree, buffers[TREE]);
  part.x = VECTOR(float, buffers[X]);
  part.node = VECTOR(struct part_node, buffers[NODE]);
  part.sum = VECTOR(double, buffers[SUM]);
  return part;
}

static void halo_potential_cpu(void *buffers[], const struct halo_potential_argument *a) {
  const struct potential_part part = part_in(buffers, a);
  potential_part_find(&part);
}

static void halo_potential_gpu(struct gpu *gpu, void *buffers[],
                               const struct halo_potential_argument *a) {
  const struct potential_part part = part_in(buffers, a);
  gpu_halo_potential(gpu, &part);
}

STAGE(halo_potential, 0x447755, NULL, .untimed = true);

void halo_potential_submit(const struct halo_part *part, float softening, starpu_data_handle_t tree,
                           starpu_data_handle_t x, starpu_data_handle_t node,
                           starpu_data_handle_t sum) {
  const struct starpu_data_descr data[SLOTS] = {[TREE] = {tree, STARPU_R},
                                                [X] = {x, STARPU_R},
                                                [NODE] = {node, STARPU_R},
                                                [SUM] = {sum, STARPU_W}};
  halo_potential_insert((struct halo_potential_argument){*part, softening},
                        (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOWEST});
}
