/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time integrals of the stress on the sides of groups. */
#include "cuda/potential/laplacian.cuh"
#include "photons/potential/stress.h"

enum { STRESS_THREADS = GAS_FACES * GAS_FACE_CELLS };

/** One thread a coarse face. */
static __global__ void __launch_bounds__(STRESS_THREADS)
    sum_stresses(struct stress_kick kick, struct poisson_share *shares, struct stress_sum *sums) {
  const int face = (int)threadIdx.x / GAS_FACE_CELLS, place = (int)threadIdx.x % GAS_FACE_CELLS;
  struct poisson_share *share = shares + blockIdx.x;
  for (int c = 0; c < 3; c++)
    stress_add(kick, share->stress[face][c][place], &sums[blockIdx.x].sum[face][c][place],
               &share->closing[face][c][place]);
}

void gpu_gas_sum_stress(const struct gpu_gas *g, const struct stress_kick *kick,
                        struct poisson_share *shares, struct stress_sum *sums) {
  sum_stresses<<<g->groups, STRESS_THREADS, 0, g->gpu->stream>>>(*kick, shares, sums);
  gpu_launched("sums of stresses");
}
