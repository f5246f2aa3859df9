/* SPDX-License-Identifier: GPL-3.0-or-later */
/* momentum_sum: sums over the momenta of a group in double precision.
 *
 * reads   momenta; masses, if they differ
 * writes  the memory of the host that the argument names */
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct momentum_sum_argument {
  const struct step_kernels *kernels;
  uint32_t count;
  bool masses; /* they differ */
  struct momentum_sum *sum;
};
enum { MOMENTUM, MASS, SLOTS };

static double momentum_sum_work(const struct momentum_sum_argument *a) { return a->count; }

static const float *masses_of(void *buffers[], const struct momentum_sum_argument *a) {
  return a->masses ? VECTOR(const float, buffers[MASS]) : NULL;
}

static void momentum_sum_cpu(void *buffers[], const struct momentum_sum_argument *a) {
  *a->sum = a->kernels->momentum_sum(a->count, VECTOR(const float, buffers[MOMENTUM]),
                                     masses_of(buffers, a));
}

static void momentum_sum_gpu(struct gpu *gpu, void *buffers[],
                             const struct momentum_sum_argument *a) {
  gpu_momentum_sum(gpu, a->count, VECTOR(const float, buffers[MOMENTUM]), masses_of(buffers, a),
                   a->sum);
}

STAGE(momentum_sum, 0xddddaa, NULL);

void momentum_sum_submit(const struct nbody *n, struct group *g, struct momentum_sum *sum) {
  const struct starpu_data_descr data[SLOTS] = {
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R},
      [MASS] = {g->column[COLUMN_relative_mass], STARPU_R}};
  const bool masses = g->node_mass != NULL;
  momentum_sum_insert((struct momentum_sum_argument){n->kernels, g->count, masses, sum},
                      (struct task){.data = data,
                                    .count = masses ? SLOTS : MASS,
                                    .priority = PRIORITY_LOW,
                                    .owner = &g->index});
}
