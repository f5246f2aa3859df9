/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What passes between a level and the next finer one, src/hydro/kernels/levels.h, and the choice of
 * the solver's precision. */
#include "cuda/amr/real.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum { LEVEL_THREADS = 128 };

void gpu_gas_solve(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                   void *cells, void *fluxes, struct gas_fault *fault) {
  if (g->double_precision)
    gpu_gas_solve_double(g, dt_dh, reversed, blocks, cells, fluxes, fault);
  else
    gpu_gas_solve_single(g, dt_dh, reversed, blocks, cells, fluxes, fault);
}

/** Sums over finer faces: one thread a value of `sides`, [group][face][variable][8][8]. */
template <typename real>
static __global__ void add_fluxes(uint32_t values, uint32_t variables, real part, bool first,
                                  const real *fluxes, real *sides) {
  const uint32_t i = blockIdx.x * LEVEL_THREADS + threadIdx.x;
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
  add_fluxes<<<blocks_for(values, LEVEL_THREADS), LEVEL_THREADS, 0, g->gpu->stream>>>(
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

/** One block a patch, one thread a cell of a face; faces follow each other, because cells at the
 * edges of a patch are beside two or three of them. A cell that would not stay physical stays as it
 * is. */
template <int V, typename real>
static __global__ void fix_fluxes(constants<real> c, real dt_dh, const struct gas_links *links,
                                  const real *const *finer, const real *fluxes, real *cells) {
  const int patch = (int)(blockIdx.x % GAS_PATCHES), i = (int)threadIdx.x % 8,
            j = (int)threadIdx.x / 8;
  const size_t group = blockIdx.x / GAS_PATCHES, face_size = V * GAS_FACE_CELLS;
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
    real *u = cells + (group * V * GAS_PATCHES + patch) * GAS_PATCH_CELLS + at, before[V], fixed[V];
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
    }
    __syncthreads();
  }
}

/** A table of batches in device memory. */
template <typename real>
static const real *const *upload(const struct gpu_gas *g, const char *const *batch,
                                 uint32_t count) {
  void *table = gpu_scratch(g->gpu, SCRATCH_TABLE, count * sizeof *batch);
  gpu_upload(g->gpu, table, batch, count * sizeof *batch);
  return (const real *const *)table;
}

template <int V, typename real>
static void fix_in(const struct gpu_gas *g, double dt_dh, const struct gas_links *links,
                   const char *const *fine, uint32_t batches, const void *fluxes, void *cells) {
  fix_fluxes<V><<<g->groups * GAS_PATCHES, GAS_FACE_CELLS, 0, g->gpu->stream>>>(
      constants_of<real>(&g->physics), (real)dt_dh, links, upload<real>(g, fine, batches),
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

/** One thread a cell of a refined patch. */
template <typename real>
static __global__ void restrict_cells(uint32_t groups, uint32_t variables,
                                      const struct gas_links *links, const real *const *fine,
                                      real *cells) {
  const uint32_t thread = blockIdx.x * LEVEL_THREADS + threadIdx.x;
  const uint32_t group = thread / GAS_GROUP_CELLS, cell = thread % GAS_GROUP_CELLS;
  if (group >= groups) return;
  const gas_link_t son = links[group].son[cell / GAS_PATCH_CELLS];
  if (son == NO_GROUP) return;
  const real *from = fine[son >> GAS_LINK_SHIFT] +
                     (size_t)(son & GAS_LINK_MASK) * variables * GAS_GROUP_CELLS;
  real *to = cells + (size_t)group * variables * GAS_GROUP_CELLS + cell;
  for (uint32_t q = 0; q < variables; q++)
    to[(size_t)q * GAS_GROUP_CELLS] = finer_mean(from + (size_t)q * GAS_GROUP_CELLS,
                                                 cell % GAS_PATCH_CELLS);
}

template <typename real>
static void restrict_in(const struct gpu_gas *g, const struct gas_links *links,
                        const char *const *fine, uint32_t batches, void *cells) {
  restrict_cells<<<blocks_for((uint64_t)g->groups * GAS_GROUP_CELLS, LEVEL_THREADS), LEVEL_THREADS,
                   0, g->gpu->stream>>>(g->groups, gas_variables(&g->physics), links,
                                        upload<real>(g, fine, batches), (real *)cells);
  gpu_launched("restrict");
}

void gpu_gas_restrict(const struct gpu_gas *g, const struct gas_links *links,
                      const char *const *fine, uint32_t batches, void *cells) {
  if (g->double_precision)
    restrict_in<double>(g, links, fine, batches, cells);
  else
    restrict_in<float>(g, links, fine, batches, cells);
}
