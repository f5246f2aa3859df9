/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fluxes corrected by those of the next finer level: flux_fix() of src/hydro/kernels/levels.h. */
#include "cuda/amr/real.cuh"
#include "cuda/amr/tables.cuh"
#include "cuda/hydro/gpu_hydro.h"

/** One block a patch, one thread a cell of a face; faces follow each other, because cells at the
 * edges of a patch are beside two or three of them. A cell that would not stay physical stays as it
 * is. */
template <int V, typename real>
static __global__ void fix_fluxes(constants<real> c, real dt_dh, const struct gas_links *links,
                                  const real *const *finer, const real *fluxes, real *cells) {
  const int patch = (int)(blockIdx.x % GAS_PATCHES), i = (int)threadIdx.x % 8,
            j = (int)threadIdx.x / 8;
  const size_t group = blockIdx.x / GAS_PATCHES, face_size = c.variables * GAS_FACE_CELLS;
  for (int face = 0; face < GAS_FACES; face++) {
    const gas_link_t link = links[group].finer[patch][face];
    if (link == NO_GROUP) continue; /* the same for all threads of the block */
    const int axis = face / 2, step[3] = {1, GAS_PATCH_SIDE, GAS_PATCH_SIDE * GAS_PATCH_SIDE};
    const int at = (face & 1 ? (GAS_PATCH_SIDE - 1) * step[axis] : 0) +
                   i * step[axis == 0 ? 1 : 0] + j * step[axis == 2 ? 1 : 2];
    const real factor = face & 1 ? dt_dh : -dt_dh;
    const real *was = fluxes + ((group * GAS_PATCHES + patch) * GAS_FACES + face) * face_size +
                      threadIdx.x;
    const real *is = finer[link >> GAS_LINK_SHIFT] +
                     ((link & GAS_LINK_MASK) * (size_t)GAS_FACES + (face ^ 1)) * face_size +
                     threadIdx.x;
    real *u = cells + (group * c.variables * GAS_PATCHES + patch) * GAS_PATCH_CELLS + at, before[V],
         fixed[V];
#pragma unroll
    for (int q = 0; q < V; q++) {
      before[q] = u[q * GAS_GROUP_CELLS];
      fixed[q] = before[q] + factor * (was[q * GAS_FACE_CELLS] - is[q * GAS_FACE_CELLS]);
    }
    const real thermal = thermal_energy(fixed);
    const bool cold = entropy_decides(c, fixed, thermal);
    if (V == 6 && c.keeps_entropy && (cold || entropy_decides(c, before, thermal_energy(before))))
      fixed[4] += lost_energy<V>(c, fixed);
    else if (V == 6 && !cold)
      fixed[V - 1] = divide(c.thermal * thermal, power(fixed[0], c.thermal));
    if (is_physical<V>(c, fixed)) {
      keep_warm<V>(c, fixed);
#pragma unroll
      for (int q = 0; q < V; q++) u[q * GAS_GROUP_CELLS] = fixed[q];
      for (uint32_t q = V; q < c.variables; q++)
        u[q * GAS_GROUP_CELLS] += factor * (was[q * GAS_FACE_CELLS] - is[q * GAS_FACE_CELLS]);
    }
    __syncthreads();
  }
}

template <int V, typename real>
static void fix_in(const struct gpu_gas *g, double dt_dh, const struct gas_links *links,
                   const char *const *fine, uint32_t batches, const void *fluxes, void *cells) {
  fix_fluxes<V><<<g->groups * GAS_PATCHES, GAS_FACE_CELLS, 0, g->gpu->stream>>>(
      constants_of<real>(&g->physics), (real)dt_dh, links, upload_batches<real>(g, fine, batches),
      (const real *)fluxes, (real *)cells);
  gpu_launched("fix");
}

void gpu_gas_fix(const struct gpu_gas *g, double dt_dh, const struct gas_links *links,
                 const char *const *fine, uint32_t batches, const void *fluxes, void *cells) {
  const bool five = g->physics.solver == GAS_RTVD;
  if (g->double_precision)
    five ? fix_in<5, double>(g, dt_dh, links, fine, batches, fluxes, cells)
         : fix_in<6, double>(g, dt_dh, links, fine, batches, fluxes, cells);
  else
    five ? fix_in<5, float>(g, dt_dh, links, fine, batches, fluxes, cells)
         : fix_in<6, float>(g, dt_dh, links, fine, batches, fluxes, cells);
}
