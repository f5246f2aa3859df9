/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fluxes through the sides of groups, for the coarser level: flux_add() of src/hydro/kernels/levels.h. */
#include "cuda/amr/real.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum { CLOSE_THREADS = 128 };

/** Sums over finer faces: one thread a value of `sides`, [group][face][variable][8][8]. */
template <typename real>
static __global__ void add_fluxes(uint32_t values, uint32_t variables, real part, bool first,
                                  const real *fluxes, real *sides) {
  const uint32_t i = blockIdx.x * CLOSE_THREADS + threadIdx.x;
  if (i >= values) return;
  const uint32_t cell = i % GAS_FACE_CELLS, q = i / GAS_FACE_CELLS % variables,
                 face = i / GAS_FACE_CELLS / variables % GAS_FACES,
                 group = i / GAS_FACE_CELLS / variables / GAS_FACES;
  const uint32_t x = cell % 8, y = cell / 8, axis = face / 2;
  const uint32_t fast = axis == 0 ? 1 : 0, slow = axis == 2 ? 1 : 2;
  const uint32_t patch = (face & 1) << axis | (x / 4) << fast | (y / 4) << slow;
  const real *f = fluxes +
                  (((size_t)group * GAS_PATCHES + patch) * GAS_FACES * variables +
                   face * variables + q) *
                      GAS_FACE_CELLS +
                  2 * (x % 4) + 16 * (y % 4);
  sides[i] = (first ? (real)0 : sides[i]) + part * ((f[0] + f[1]) + (f[8] + f[9]));
}

template <typename real>
static void close_in(const struct gpu_gas *g, double weight, bool first, const void *fluxes,
                     void *sides) {
  const uint32_t variables = gas_variables(&g->physics),
                 values = g->groups * GAS_FACES * variables * GAS_FACE_CELLS;
  add_fluxes<<<blocks_for(values, CLOSE_THREADS), CLOSE_THREADS, 0, g->gpu->stream>>>(
      values, variables, (real)(0.25 * weight), first, (const real *)fluxes, (real *)sides);
  gpu_launched("close");
}

void gpu_gas_close(const struct gpu_gas *g, double weight, bool first, const void *fluxes,
                   void *sides) {
  if (g->double_precision)
    close_in<double>(g, weight, first, fluxes, sides);
  else
    close_in<float>(g, weight, first, fluxes, sides);
}
