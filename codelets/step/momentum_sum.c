/* SPDX-License-Identifier: GPL-3.0-or-later */
/* momentum_sum: sums over the momenta of a group in double precision, on cores one particle after the
 * other.
 *
 * reads   momenta; masses, if they differ
 * writes  the memory of the host that the argument names */
#include <math.h>

#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct momentum_sum_argument {
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
  const float *x = VECTOR(const float, buffers[MOMENTUM]), *y = x + a->count, *z = y + a->count;
  const float *mass = masses_of(buffers, a);
  struct momentum_sum s = {0};
  for (uint32_t i = 0; i < a->count; i++) {
    const double p[3] = {(double)x[i], (double)y[i], (double)z[i]};
    const double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    const double m = mass ? (double)mass[i] : 1.0;
    for (int c = 0; c < 3; c++) s.vector[c] += m * p[c];
    s.magnitude += m * sqrt(square);
    s.square += m * square;
  }
  *a->sum = s;
}

static void momentum_sum_gpu(struct gpu *gpu, void *buffers[],
                             const struct momentum_sum_argument *a) {
  gpu_momentum_sum(gpu, a->count, VECTOR(const float, buffers[MOMENTUM]), masses_of(buffers, a),
                   a->sum);
}

STAGE(momentum_sum, 0xddddaa, NULL);

void momentum_sum_submit(struct group *g, struct momentum_sum *sum) {
  const struct starpu_data_descr data[SLOTS] = {
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R},
      [MASS] = {g->column[COLUMN_relative_mass], STARPU_R}};
  const bool masses = g->node_mass != NULL;
  momentum_sum_insert((struct momentum_sum_argument){g->count, masses, sum},
                      (struct task){.data = data,
                                    .count = masses ? SLOTS : MASS,
                                    .priority = PRIORITY_LOW,
                                    .owner = &g->index});
}
