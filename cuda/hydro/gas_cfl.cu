/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest speed of a signal in each group, and cells that are not physical. One block a group. */
#include "cuda/amr/real.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum { CFL_THREADS = 256 };

template <int V, typename real> INLINE void load_cell(const real *cells, int cell, real *u) {
#pragma unroll
  for (int q = 0; q < V; q++) u[q] = cells[q * GAS_GROUP_CELLS + cell];
}

template <int V, typename real>
INLINE bool carried_finite(const constants<real> &c, const real *u) {
  for (uint32_t q = V; q < c.variables; q++)
    if (!isfinite(u[q * GAS_GROUP_CELLS])) return false;
  return true;
}

template <int V, typename real>
static __global__ void __launch_bounds__(CFL_THREADS)
    largest_speed(const __grid_constant__ constants<real> c, const real *cells, double *speed,
                  struct gas_fault *fault) {
  __shared__ int first_fault;
  __shared__ unsigned long long largest; /* bits of a positive number, which sort as it does */
  if (threadIdx.x == 0) {
    first_fault = GAS_GROUP_CELLS;
    largest = 0;
  }
  __syncthreads();
  const real *mine = cells + (size_t)blockIdx.x * c.variables * GAS_GROUP_CELLS;
  real most = 0, u[V];
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CFL_THREADS) {
    load_cell<V>(mine, i, u);
    const real m = larger(larger(fabs(u[1]), fabs(u[2])), fabs(u[3]));
    if (is_physical<V>(c, u) && carried_finite<V>(c, mine + i))
      most = larger(most, divide(m, u[0]) + root(c.gamma * divide(pressure_of<V>(c, u), u[0])));
    else
      atomicMin(&first_fault, i);
  }
  atomicMax(&largest, (unsigned long long)__double_as_longlong((double)most));
  __syncthreads();
  if (threadIdx.x > 0) return;
  speed[blockIdx.x] = __longlong_as_double((long long)largest);
  if (!fault || first_fault == GAS_GROUP_CELLS || fault[blockIdx.x].patch >= 0) return;
  load_cell<V>(mine, first_fault, u);
  fault[blockIdx.x] = {first_fault / GAS_PATCH_CELLS, first_fault % GAS_PATCH_CELLS, (double)u[0],
                       (double)pressure_of<V>(c, u)};
}

template <int V, typename real>
static void speed_in(const struct gpu_gas *g, const void *cells, double *speed,
                     struct gas_fault *fault) {
  largest_speed<V><<<g->groups, CFL_THREADS, 0, g->gpu->stream>>>(
      constants_of<real>(&g->physics), (const real *)cells, speed, fault);
  gpu_launched("cfl");
}

void gpu_gas_cfl(const struct gpu_gas *g, const void *cells, double *speed,
                 struct gas_fault *fault) {
  const bool five = g->physics.solver == GAS_RTVD;
  if (g->double_precision)
    five ? speed_in<5, double>(g, cells, speed, fault)
         : speed_in<6, double>(g, cells, speed, fault);
  else
    five ? speed_in<5, float>(g, cells, speed, fault) : speed_in<6, float>(g, cells, speed, fault);
}
