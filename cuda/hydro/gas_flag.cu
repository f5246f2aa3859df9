/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which patches are to be refined: src/hydro/kernels/flags.h. One block of threads a group, which has the densities and
 * pressures of the group and of two ghost cells on each side in shared memory, or where the GPU has too little of that,
 * in scratch memory. */
#include "cuda/amr/blocks.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum {
  FLAG_THREADS = 256,
  GHOSTS = 2,
  SIDE = GAS_GROUP_SIDE + 2 * GHOSTS,
  CELLS = SIDE * SIDE * SIDE,
  STEP_Y = SIDE,
  STEP_Z = SIDE * SIDE,
  COARSE_SIDE = SIDE / 2,
  COARSE_CELLS = COARSE_SIDE * COARSE_SIDE * COARSE_SIDE
};

/** Densities and pressures, [z][y][x] of SIDE each. */
template <typename real> struct flag_cubes { real *density, *pressure; };

template <int V, typename real>
INLINE void put_cell(const constants<real> &c, const flag_cubes<real> &to, int i, const real *u) {
  to.density[i] = u[0];
  to.pressure[i] = pressure_of<V>(c, u);
}

/** Put the cells that are interpolated from the coarser level: one thread a coarser cell. */
template <int V, typename real>
static __device__ void put_interpolated(const sources<real> &s, const struct gas_links &l,
                                        const flag_cubes<real> &to) {
  for (int n = (int)threadIdx.x; n < COARSE_CELLS; n += FLAG_THREADS) {
    const int x = n % COARSE_SIDE, y = n / COARSE_SIDE % COARSE_SIDE,
              z = n / (COARSE_SIDE * COARSE_SIDE), ghosts = GAS_GHOSTS - GHOSTS,
              coarse_ghosts = GAS_GHOSTS - GHOSTS / 2, first = 2 * (z * STEP_Z + y * STEP_Y + x);
    if (!is_interpolated(l, {{2 * x + ghosts, 2 * y + ghosts, 2 * z + ghosts}, 0})) continue;
    interpolation<V, real> i = slopes_of<V>(s, l, x + coarse_ghosts, y + coarse_ghosts,
                                            z + coarse_ghosts);
    real child[8][V];
    children_of(s.c, i, child);
#pragma unroll
    for (int k = 0; k < 8; k++)
      put_cell<V>(s.c, to, first + (k & 1) + (k >> 1 & 1) * STEP_Y + (k >> 2) * STEP_Z, child[k]);
  }
}

/** The place of cell i of the cubes in a block, or that which it mirrors. */
template <typename real>
INLINE struct place place_of_flag(const sources<real> &s, const struct gas_links &l, int i) {
  const int ghosts = GAS_GHOSTS - GHOSTS;
  return inside(l, s.reflecting,
                {{i % SIDE + ghosts, i / SIDE % SIDE + ghosts, i / STEP_Z + ghosts}, 0},
                GAS_GROUP_SIDE);
}

/** Put the cells of groups of the level. */
template <int V, typename real>
static __device__ void put_near(const sources<real> &s, const struct gas_links &l,
                                const flag_cubes<real> &to) {
  for (int i = (int)threadIdx.x; i < CELLS; i += FLAG_THREADS) {
    const struct place p = place_of_flag(s, l, i);
    const gas_link_t near = l.near[neighbour_at(p, GAS_GROUP_SIDE)];
    if (near == NO_GROUP) continue;
    const real *from = group_of(s.c.variables, s.near, near) +
                       place_in_group(p.at[0] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                                      p.at[1] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                                      p.at[2] - GAS_GHOSTS & GAS_GROUP_SIDE - 1);
    real u[V];
#pragma unroll
    for (int q = 0; q < V; q++) u[q] = from[q * GAS_GROUP_CELLS];
    put_cell<V>(s.c, to, i, u);
  }
}

/** Put the cells beyond the box that mirror interpolated ones. */
template <typename real>
static __device__ void put_mirrored(const sources<real> &s, const struct gas_links &l,
                                    const flag_cubes<real> &to) {
  for (int i = (int)threadIdx.x; i < CELLS; i += FLAG_THREADS) {
    const struct place p = place_of_flag(s, l, i);
    const int ghosts = GAS_GHOSTS - GHOSTS,
              at = ((p.at[2] - ghosts) * SIDE + p.at[1] - ghosts) * SIDE + p.at[0] - ghosts;
    if (at == i || l.near[neighbour_at(p, GAS_GROUP_SIDE)] != NO_GROUP) continue;
    to.density[i] = to.density[at];
    to.pressure[i] = to.pressure[at];
  }
}

template <typename real> INLINE real relative_gradient(const real *u) {
  const real x = fabs(u[1] - u[-1]), y = fabs(u[STEP_Y] - u[-STEP_Y]),
             z = fabs(u[STEP_Z] - u[-STEP_Z]);
  return (real)0.5 * larger(larger(x, y), z) / u[0];
}

template <typename real> INLINE real loehner_estimate(const real *u, real filter) {
  const int step[3] = {1, STEP_Y, STEP_Z};
  real second = 0, first = 0;
#pragma unroll
  for (int p = 0; p < 3; p++)
#pragma unroll
    for (int q = 0; q < 3; q++) {
      const real *after = u + step[q], *before = u - step[q];
      const real change_after = after[step[p]] - after[-step[p]],
                 change_before = before[step[p]] - before[-step[p]];
      const real size = fabs(after[step[p]]) + fabs(after[-step[p]]) + fabs(before[step[p]]) +
                        fabs(before[-step[p]]);
      const real change = change_after - change_before,
                 sum = fabs(change_after) + fabs(change_before) + filter * size;
      second += change * change;
      first += sum * sum;
    }
  return first > 0 ? (real)sqrt(second / first) : (real)0;
}

/** Bits 0, 1, 2 for directions -1, 0, 1 that a cell at `place` of a patch's side reaches. */
INLINE uint32_t directions(int place, int buffer) {
  return (place < buffer ? 1u : 0u) | 2u | (place >= GAS_PATCH_SIDE - buffer ? 4u : 0u);
}

/** The mask of the neighbours that a cell of a patch reaches. */
INLINE uint32_t reach(int cell, int buffer) {
  const uint32_t of_x = directions(cell % 8, buffer), of_y = directions(cell / 8 % 8, buffer),
                 of_z = directions(cell / 64, buffer);
  uint32_t mask = 0;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 3; y++)
      if ((of_z >> z & 1) && (of_y >> y & 1)) mask |= of_x << (3 * y + 9 * z);
  return mask;
}

/** @param more  density of particles; -INFINITY: there are none */
template <typename real>
INLINE bool is_flagged(const struct gas_flags &f, const real *density, const real *pressure,
                       double more) {
  const real filter = (real)f.loehner_filter;
  return (f.density > 0 &&
          (density[0] > (real)f.density || (double)density[0] + more > f.density)) ||
         (f.particles > 0 && more > f.particles) ||
         (f.gradient_density > 0 && relative_gradient(density) >= (real)f.gradient_density) ||
         (f.gradient_pressure > 0 && relative_gradient(pressure) >= (real)f.gradient_pressure) ||
         (f.loehner > 0 && (loehner_estimate(density, filter) >= (real)f.loehner ||
                            loehner_estimate(pressure, filter) >= (real)f.loehner));
}

/** @tparam SCRATCH  cubes of groups are in `scratch`, else in shared memory
 * @param interpolates  there is a coarser level */
template <int V, bool SCRATCH, typename real>
static __global__ void __launch_bounds__(FLAG_THREADS)
    flag_cells(const __grid_constant__ sources<real> s, const __grid_constant__ struct gas_flags f,
               int buffer, bool interpolates, const struct gas_matter *matter,
               uint32_t (*flags)[GAS_PATCHES], real *scratch) {
  extern __shared__ double shared[];
  __shared__ uint32_t mask[GAS_PATCHES];
  const struct gas_links &l = s.links[blockIdx.x];
  real *memory = SCRATCH ? scratch + (size_t)blockIdx.x * 2 * CELLS : (real *)shared;
  const flag_cubes<real> cubes = {memory, memory + CELLS};
  if (threadIdx.x < GAS_PATCHES) mask[threadIdx.x] = 0;
  if (interpolates) put_interpolated<V>(s, l, cubes);
  put_near<V>(s, l, cubes);
  __syncthreads();
  if (l.edges) put_mirrored(s, l, cubes);
  __syncthreads();
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += FLAG_THREADS) {
    const struct cell_place c = place_of_cell(i);
    const int at = (GHOSTS + c.z) * STEP_Z + (GHOSTS + c.y) * STEP_Y + GHOSTS + c.x,
              inner = (c.z * GAS_GROUP_SIDE + c.y) * GAS_GROUP_SIDE + c.x;
    const double more = matter ? matter[blockIdx.x].coarse[inner] + matter[blockIdx.x].fine[inner]
                               : -INFINITY;
    if (is_flagged(f, cubes.density + at, cubes.pressure + at, more))
      atomicOr(&mask[i / GAS_PATCH_CELLS], reach(i % GAS_PATCH_CELLS, buffer));
  }
  __syncthreads();
  if (threadIdx.x < GAS_PATCHES) flags[blockIdx.x][threadIdx.x] = mask[threadIdx.x];
}

/** Whether a block of threads may have so many bytes of shared memory. Only GPUs of data centres, from the A100 on, have
 * enough for cubes in double precision. */
static bool has_shared(size_t bytes) {
  int device, most;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes <= (size_t)most;
}

template <int V, typename real>
static void flag_in(const struct gpu_gas *g, const struct gpu_sources *from,
                    const struct gas_flags *criteria, int buffer, const struct gas_matter *matter,
                    uint32_t (*flags)[GAS_PATCHES]) {
  const size_t bytes = 2 * CELLS * sizeof(real), mask_bytes = GAS_PATCHES * sizeof(uint32_t);
  const sources<real> s = upload_sources<real>(g, from);
  const bool interpolates = from->coarse > 0;
  if (has_shared(bytes + mask_bytes)) {
    CHECK_CUDA(cudaFuncSetAttribute((flag_cells<V, false, real>),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    flag_cells<V, false, real><<<g->groups, FLAG_THREADS, bytes, g->gpu->stream>>>(
        s, *criteria, buffer, interpolates, matter, flags, (real *)NULL);
  } else {
    real *scratch = (real *)gpu_scratch(g->gpu, SCRATCH_CELLS, g->groups * bytes);
    flag_cells<V, true, real><<<g->groups, FLAG_THREADS, 0, g->gpu->stream>>>(
        s, *criteria, buffer, interpolates, matter, flags, scratch);
  }
  gpu_launched("flag");
}

void gpu_gas_flag(const struct gpu_gas *g, const struct gpu_sources *from,
                  const struct gas_flags *criteria, int buffer, const struct gas_matter *matter,
                  uint32_t (*flags)[GAS_PATCHES]) {
  const bool five = g->physics.solver == GAS_RTVD;
  if (g->double_precision)
    five ? flag_in<5, double>(g, from, criteria, buffer, matter, flags)
         : flag_in<6, double>(g, from, criteria, buffer, matter, flags);
  else
    five ? flag_in<5, float>(g, from, criteria, buffer, matter, flags)
         : flag_in<6, float>(g, from, criteria, buffer, matter, flags);
}
