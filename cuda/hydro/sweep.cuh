/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps of the solvers over the groups of a batch. A thread advances one column of 22 cells and
 * has only the latest cells in registers. Threads of a warp have columns side by side: sweeps along
 * y and z read rows of cells as they lie in memory, those along x through shared memory. What
 * passes from sweep to sweep stays in the GPU's cache for batches of some hundred groups. */
#ifndef PHOTONS_CUDA_HYDRO_SWEEP_CUH
#define PHOTONS_CUDA_HYDRO_SWEEP_CUH

#include "cuda/hydro/carry.cuh"
#include "cuda/hydro/gpu_hydro.h"
#include "cuda/hydro/ppm.cuh"
#include "cuda/hydro/rtvd.cuh"
#include "cuda/hydro/sweep_of.cuh"

enum { COLUMNS = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE }; /* of a block */

/** Which cells of a column are beside strong shocks: bits. */
template <int AXIS, typename solver>
INLINE uint32_t shocks_of(const sweep<typename solver::real> &s, uint32_t group, struct across at) {
  if (!solver::DIFFUSES_SIDES || !s.any_shocks[group]) return 0;
  return s.shocks[((size_t)group * 3 + AXIS) * COLUMNS + (at.slow + GAS_GHOSTS) * GAS_BLOCK_SIDE +
                  at.fast + GAS_GHOSTS];
}

/** The axes whose shocks a sweep along `axis` looks at: looked_at() of src/hydro/kernels/sweep.h. */
template <typename solver> int looked_at(int axis, int swept) {
  return solver::TAKES_ALL_GHOSTS ? swept : 7 & ~(1 << axis);
}

/** Numbers of a cell; known to the compiler where none are carried. */
template <typename solver, mass_kept KEPT>
INLINE uint32_t variables_of(const sweep<typename solver::real> &s) {
  return KEPT == MASS_ALL ? s.variables : (uint32_t)solver::VARIABLES;
}

/** Where the mass fluxes of a column go, `step` apart. first is NULL where they are not kept. */
template <typename real> struct mass_column {
  real *first;
  int step;
};

template <mass_kept KEPT, typename real>
INLINE mass_column<real> mass_of(const sweep<real> &s, uint32_t group, struct across at,
                                 int columns, int column) {
  if (KEPT == MASS_ALL)
    return {s.mass + (size_t)group * FACES_OF_COLUMN * columns + column, columns};
  if (KEPT == MASS_NONE || !in_group(at)) return {NULL, 0};
  return {s.mass + (size_t)group * GAS_MASS_FLUXES + at.slow * GAS_GROUP_SIDE + at.fast,
          GAS_GROUP_SIDE * GAS_GROUP_SIDE};
}

/** Advance a column.
 * shocks: of shocks_of()
 * load(i, u) gives cell i; store(i, u) takes cell i of the 16 after the sweep. */
template <int AXIS, typename solver, mass_kept KEPT, typename Load, typename Store>
INLINE void advance_column(const sweep<typename solver::real> &s, struct across at, uint32_t shocks,
                           typename solver::real *fluxes, mass_column<typename solver::real> mass,
                           uint32_t *first_order, Load load, Store store) {
  typedef typename solver::real real;
  enum { V = solver::VARIABLES };
  solver state = {};
  real w[4][V] = {}, next[V], flux[V], lower[V] = {};
  uint32_t count = 0;
  load(0, next);
#pragma unroll 1
  for (int i = 0; i < GAS_BLOCK_SIDE; i++) {
#pragma unroll
    for (int q = 0; q < V; q++) {
      w[0][q] = w[1][q];
      w[1][q] = w[2][q];
      w[2][q] = w[3][q];
      w[3][q] = next[q];
    }
    if (i + 1 < GAS_BLOCK_SIDE) load(i + 1, next);
    /* Cells i - BEHIND - 1 and i - BEHIND. */
    const bool beside = (shocks << solver::BEHIND + 1 >> i & 3) != 0;
    count += state.take(s.c, s.dt_dh, i, beside, w, flux) && i < GAS_BLOCK_SIDE - 1;
    if (i < 5) continue;
    if (KEPT != MASS_NONE && mass.first) mass.first[(i - 5) * mass.step] = flux[0];
    if ((i - 5) % GAS_PATCH_SIDE == 0 && s.faces >> (i - 5) / GAS_PATCH_SIDE & 1)
      store_face<AXIS, V>(fluxes, variables_of<solver, KEPT>(s), at, (i - 5) / GAS_PATCH_SIDE,
                          flux);
    if (i > 5) {
      real after[V];
#pragma unroll
      for (int q = 0; q < V; q++) after[q] = w[0][q] - s.dt_dh * (flux[q] - lower[q]);
      store(i - 6, after);
    }
#pragma unroll
    for (int q = 0; q < V; q++) lower[q] = flux[q];
  }
  if (count > 0 && in_group(at)) atomicAdd(first_order, count);
}

/** Thermal energy per mass of the hottest of the six cells beside a cell of a block. Rare: it shall take no
 * registers of the sweep. */
template <typename real> static __device__ __noinline__ real heat_beside(const real *cell) {
  const int steps[3] = {1, GAS_BLOCK_SIDE, GAS_BLOCK_SIDE * GAS_BLOCK_SIDE};
  real heat = 0;
#pragma unroll 1
  for (int side = 0; side < 6; side++) {
    const real *beside = cell + (side & 1 ? steps[side / 2] : -steps[side / 2]);
    real u[5];
#pragma unroll
    for (int q = 0; q < 5; q++) u[q] = beside[q * GAS_BLOCK_CELLS];
    heat = fmax(heat, divide(thermal_energy(u), u[0]));
  }
  return heat;
}

/** Cells of a column in the group's block, before the first sweep. The density of the next one is asked for while
 * the sweep is at the one before, since it comes from far. */
template <int V, int AXIS, typename real> struct cells_before {
  const real *cell;
  real density;

  /** @param x, y, z  the column's first cell */
  __device__ __forceinline__ cells_before(const sweep<real> &s, uint32_t group, int x, int y, int z)
      : cell(s.blocks + (size_t)group * s.variables * GAS_BLOCK_CELLS +
             ((z + GAS_GHOSTS) * GAS_BLOCK_SIDE + y + GAS_GHOSTS) * GAS_BLOCK_SIDE + x +
             GAS_GHOSTS),
        density(V == 6 && s.last ? *cell : (real)0) {}

  __device__ __forceinline__ void next() {
    cell += AXIS == 0 ? 1 : AXIS == 1 ? GAS_BLOCK_SIDE : GAS_BLOCK_SIDE * GAS_BLOCK_SIDE;
    density = *cell; /* behind the last cell is a ghost cell */
  }

  /** Whether the thermal energy is an error of the change in the step: find_cold() in src/hydro/kernels/sweep.h.
   * @param scale  gas_physics.dual_energy_change/(dt/dh)^2 */
  __device__ __forceinline__ bool is_cold_flow(real scale, const real *u) const {
    const real change = u[0] - density, squared = scale * change * change;
    return thermal_energy(u) * u[0] < squared && heat_beside(cell) < divide(squared, u[0] * u[0]);
  }
};

/** What follows the last sweep.
 * @param before  this cell; then the next one of the column
 * @return the place of cell x, y, z in the group */
template <int V, int AXIS, typename real>
INLINE int finish_cell(const sweep<real> &s, uint32_t group, cells_before<V, AXIS, real> &before,
                       int x, int y, int z, real *u) {
  const int place = place_in_group(x, y, z);
  if (V == 6) {
    reconcile_entropy(s.c, before.is_cold_flow(s.change, u), u);
    before.next();
  }
  keep_warm<V>(s.c, u);
  if (V == 5) raise_lost_pressure(s.c, u);
  if (!is_physical<V>(s.c, u)) atomicMax(&s.fault[group], ~(uint32_t)place);
  return place;
}

/** Along y or z: a thread a column. */
template <int AXIS, typename solver, mass_kept KEPT>
__global__ void __launch_bounds__(SWEEP_THREADS)
    sweep_columns(const __grid_constant__ sweep<typename solver::real> s) {
  typedef typename solver::real real;
  enum { V = solver::VARIABLES };
  const uint32_t variables = variables_of<solver, KEPT>(s);
  const int nx = s.n[0], ny = s.n[1], nz = s.n[2], outer = AXIS == 1 ? nz : ny;
  const uint32_t thread = blockIdx.x * SWEEP_THREADS + threadIdx.x;
  const uint32_t group = thread / (uint32_t)(nx * outer);
  const int column = (int)(thread % (uint32_t)(nx * outer)), x = column % nx, o = column / nx;
  if (group >= s.groups) return;
  const struct across at = {x - (nx - GAS_GROUP_SIDE) / 2, o - (outer - GAS_GROUP_SIDE) / 2};
  const int along = AXIS == 1 ? nx : nx * ny, cells = nx * ny * nz;
  const real *from = s.from + (size_t)group * variables * cells +
                     (AXIS == 1 ? o * nx * ny : o * nx) + x;
  const int left = AXIS == 1 ? nx * GAS_GROUP_SIDE * nz : nx * ny * GAS_GROUP_SIDE;
  real *to = s.to + (size_t)group * variables * left +
             (s.last ? 0 : x + (AXIS == 1 ? o * nx * GAS_GROUP_SIDE : o * nx));
  cells_before<V, AXIS, real> before(s, group, x, AXIS == 1 ? 0 : o, AXIS == 1 ? o : 0);
  advance_column<AXIS, solver, KEPT>(
      s, at, shocks_of<AXIS, solver>(s, group, at), fluxes_of(s, group),
      mass_of<KEPT>(s, group, at, nx * outer, column), &s.first_order[group],
      [&](int i, real *u) {
#pragma unroll
        for (int q = 0; q < V; q++) u[q] = from[variable_of<AXIS>(q) * cells + i * along];
      },
      [&](int i, real *u) {
        int place = i * along;
        if (s.last)
          place = finish_cell(s, group, before, x, AXIS == 1 ? i : o, AXIS == 1 ? o : i, u);
#pragma unroll
        for (int q = 0; q < V; q++) to[variable_of<AXIS>(q) * left + place] = u[q];
      });
}

/** Along x: the rows of a block of threads are read and written together. */
template <typename solver, mass_kept KEPT>
__global__ void __launch_bounds__(ROW_THREADS)
    sweep_rows(const __grid_constant__ sweep<typename solver::real> s) {
  typedef typename solver::real real;
  enum { V = solver::VARIABLES };
  const uint32_t variables = variables_of<solver, KEPT>(s);
  extern __shared__ double shared[];
  real *tile = (real *)shared; /* [variable][row][ROW_ROOM] */
  const int ny = s.n[1], nz = s.n[2], rows = ny * nz;
  const uint32_t first = blockIdx.x * ROW_THREADS, all = s.groups * (uint32_t)rows;
  const int here = (int)min((uint32_t)ROW_THREADS, all - first);
  for (int k = (int)threadIdx.x; k < here * GAS_BLOCK_SIDE; k += ROW_THREADS) {
    const int r = k / GAS_BLOCK_SIDE, x = k % GAS_BLOCK_SIDE;
    const uint32_t group = (first + r) / (uint32_t)rows, row = (first + r) % (uint32_t)rows;
    const real *from = s.from + ((size_t)group * variables * rows + row) * GAS_BLOCK_SIDE + x;
#pragma unroll
    for (int q = 0; q < V; q++)
      copy_ahead(&tile[(q * ROW_THREADS + r) * ROW_ROOM + x],
                 &from[(size_t)q * rows * GAS_BLOCK_SIDE]);
  }
  copies_wait();
  __syncthreads();
  if ((int)threadIdx.x < here) {
    const uint32_t group = (first + threadIdx.x) / (uint32_t)rows;
    const int row = (int)((first + threadIdx.x) % (uint32_t)rows), y = row % ny, z = row / ny;
    const struct across at = {y - (ny - GAS_GROUP_SIDE) / 2, z - (nz - GAS_GROUP_SIDE) / 2};
    cells_before<V, 0, real> before(s, group, 0, y, z);
    real *mine = tile + threadIdx.x * ROW_ROOM;
    advance_column<0, solver, KEPT>(
        s, at, shocks_of<0, solver>(s, group, at), fluxes_of(s, group),
        mass_of<KEPT>(s, group, at, rows, row), &s.first_order[group],
        [&](int i, real *u) {
#pragma unroll
          for (int q = 0; q < V; q++) u[q] = mine[q * ROW_THREADS * ROW_ROOM + i];
        },
        [&](int i, real *u) {
          if (s.last) finish_cell(s, group, before, i, y, z, u);
#pragma unroll
          for (int q = 0; q < V; q++) mine[q * ROW_THREADS * ROW_ROOM + i] = u[q];
        });
  }
  __syncthreads();
  for (int k = (int)threadIdx.x; k < here * GAS_GROUP_SIDE; k += ROW_THREADS) {
    const int r = k / GAS_GROUP_SIDE, x = k % GAS_GROUP_SIDE;
    const uint32_t group = (first + r) / (uint32_t)rows;
    const int row = (int)((first + r) % (uint32_t)rows);
    const int place = s.last ? place_in_group(x, row % ny, row / ny) : row * GAS_GROUP_SIDE + x;
    real *to = s.to + (size_t)group * variables * rows * GAS_GROUP_SIDE + place;
#pragma unroll
    for (int q = 0; q < V; q++)
      to[(size_t)q * rows * GAS_GROUP_SIDE] = tile[(q * ROW_THREADS + r) * ROW_ROOM + x];
  }
}

template <typename solver, mass_kept KEPT>
void launch_kernel(struct gpu *gpu, int axis, const sweep<typename solver::real> &s) {
  enum { V = solver::VARIABLES };
  const uint32_t columns = s.groups * (uint32_t)(s.n[0] * s.n[1] * s.n[2] / GAS_BLOCK_SIDE);
  if (axis == 0) {
    const size_t bytes = V * ROW_THREADS * ROW_ROOM * sizeof(typename solver::real);
    CHECK_CUDA(cudaFuncSetAttribute((sweep_rows<solver, KEPT>),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    sweep_rows<solver, KEPT>
        <<<blocks_for(columns, ROW_THREADS), ROW_THREADS, bytes, gpu->stream>>>(s);
  } else if (axis == 1) {
    sweep_columns<1, solver, KEPT>
        <<<blocks_for(columns, SWEEP_THREADS), SWEEP_THREADS, 0, gpu->stream>>>(s);
  } else {
    sweep_columns<2, solver, KEPT>
        <<<blocks_for(columns, SWEEP_THREADS), SWEEP_THREADS, 0, gpu->stream>>>(s);
  }
  gpu_launched("sweep");
}

template <typename solver>
void launch_sweep(struct gpu *gpu, int axis, mass_kept kept,
                  const sweep<typename solver::real> &s) {
  enum { V = solver::VARIABLES };
  if (kept == MASS_NONE) return launch_kernel<solver, MASS_NONE>(gpu, axis, s);
  if (kept == MASS_OWN) return launch_kernel<solver, MASS_OWN>(gpu, axis, s);
  launch_kernel<solver, MASS_ALL>(gpu, axis, s);
  if (axis == 0)
    launch_carry<0>(gpu, V, s);
  else if (axis == 1)
    launch_carry<1>(gpu, V, s);
  else
    launch_carry<2>(gpu, V, s);
}

/** Of the mass fluxes of all columns those through the faces of the groups' own cells. */
template <typename real>
static __global__ void __launch_bounds__(SWEEP_THREADS)
    share_mass(const __grid_constant__ sweep<real> s, int axis, real *mass) {
  enum { PLANE = GAS_GROUP_SIDE * GAS_GROUP_SIDE, FACES = FACES_OF_COLUMN * PLANE };
  const uint32_t thread = blockIdx.x * SWEEP_THREADS + threadIdx.x;
  const uint32_t group = thread / FACES, face = thread % FACES;
  if (group >= s.groups) return;
  const int fast = s.n[axis == 0 ? 1 : 0], slow = s.n[axis == 2 ? 1 : 2];
  const int column = (int)(face % GAS_GROUP_SIDE) + (fast - GAS_GROUP_SIDE) / 2 +
                     ((int)(face / GAS_GROUP_SIDE % GAS_GROUP_SIDE) + (slow - GAS_GROUP_SIDE) / 2) *
                         fast;
  mass[(size_t)group * GAS_MASS_FLUXES + axis * FACES + face] =
      s.mass[((size_t)group * FACES_OF_COLUMN + face / PLANE) * fast * slow + column];
}

template <typename real>
void keep_mass(struct gpu *gpu, int axis, const sweep<real> &s, real *mass) {
  const uint64_t faces = (uint64_t)s.groups * (GAS_MASS_FLUXES / 3);
  share_mass<<<blocks_for(faces, SWEEP_THREADS), SWEEP_THREADS, 0, gpu->stream>>>(s, axis, mass);
  gpu_launched("share_mass");
}

/** Write the faults that were found to the host, and count fluxes of first order.
 * @param first_order  [group] */
template <int V, typename real>
static __global__ void report_faults(constants<real> c, uint32_t groups, const uint32_t *first,
                                     const uint32_t *first_order, const real *cells,
                                     struct gas_fault *fault) {
  const uint32_t i = blockIdx.x * WARP + threadIdx.x;
  if (i >= groups) return;
  if (first_order[i] > 0) fault[i].first_order += first_order[i];
  if (first[i] == 0 || fault[i].patch >= 0) return;
  const uint32_t place = ~first[i];
  real u[V];
  for (int q = 0; q < V; q++) u[q] = cells[((size_t)i * c.variables + q) * GAS_GROUP_CELLS + place];
  fault[i].cell = (int32_t)(place % GAS_PATCH_CELLS);
  fault[i].density = (double)u[0];
  fault[i].pressure = (double)pressure_of<V>(c, u);
  fault[i].patch = (int32_t)(place / GAS_PATCH_CELLS);
}

template <typename solver>
void solve_with(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                const struct heat_range *heat, void *cells, void *fluxes, enum gpu_faces faces,
                void *mass, struct gas_fault *fault) {
  typedef typename solver::real real;
  enum { V = solver::VARIABLES, MASS = FACES_OF_COLUMN * GAS_BLOCK_SIDE * GAS_BLOCK_SIDE };
  const uint32_t variables = gas_variables(&g->physics);
  const mass_kept kept = variables > V ? MASS_ALL : mass ? MASS_OWN : MASS_NONE;
  const size_t groups = g->groups, row = (size_t)variables * GAS_GROUP_SIDE * GAS_BLOCK_SIDE,
               after_first = row * GAS_BLOCK_SIDE, after_second = row * GAS_GROUP_SIDE,
               reals = groups * (after_first + after_second + (kept == MASS_ALL ? MASS : 0));
  real *const scratch = (real *)gpu_scratch(
      g->gpu, SCRATCH_LINES, reals * sizeof(real) + groups * (3 + 3 * COLUMNS) * sizeof(uint32_t));
  real *const stage[3] = {scratch, scratch + groups * after_first, (real *)cells};
  real *const swept_mass = stage[1] + groups * after_second;
  uint32_t *first = (uint32_t *)(scratch + reals);
  uint32_t *first_order = first + groups, *any_shocks = first_order + groups;
  uint32_t *shocks = any_shocks + groups;
  CHECK_CUDA(cudaMemsetAsync(first, 0, 2 * groups * sizeof *first, g->gpu->stream));
  if (solver::DIFFUSES_SIDES) {
    int axes[3];
    for (int i = 0, swept = 0; i < 3; i++) {
      const int axis = reversed ? 2 - i : i;
      axes[axis] = looked_at<solver>(axis, swept);
      swept |= 1 << axis;
    }
    gpu_gas_mark_shocks(g, blocks, heat, axes, shocks, any_shocks);
  }
  sweep<real> s = {constants_of<real>(&g->physics),
                   (real)dt_dh,
                   g->groups,
                   {GAS_BLOCK_SIDE, GAS_BLOCK_SIDE, GAS_BLOCK_SIDE},
                   false,
                   (const real *)blocks,
                   NULL,
                   (real *)fluxes,
                   (uint32_t)faces,
                   first,
                   first_order,
                   (const real *)blocks,
                   (real)(g->physics.dual_energy_change / (dt_dh * dt_dh)),
                   variables,
                   swept_mass,
                   shocks,
                   any_shocks};
  for (int i = 0; i < 3; i++) {
    const int axis = reversed ? 2 - i : i;
    s.last = i == 2;
    s.to = stage[i];
    if (kept == MASS_OWN) s.mass = (real *)mass + axis * (GAS_MASS_FLUXES / 3);
    launch_sweep<solver>(g->gpu, axis, kept, s);
    if (mass && kept == MASS_ALL) keep_mass(g->gpu, axis, s, (real *)mass);
    s.from = stage[i];
    s.n[axis] = GAS_GROUP_SIDE;
  }
  report_faults<V><<<blocks_for(groups, WARP), WARP, 0, g->gpu->stream>>>(
      s.c, g->groups, first, first_order, (const real *)cells, fault);
  gpu_launched("report_faults");
}

/** One precision's solvers. */
template <typename real>
void solve_in(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
              const struct heat_range *heat, void *cells, void *fluxes, enum gpu_faces faces,
              void *mass, struct gas_fault *fault) {
  if (g->physics.solver == GAS_RTVD)
    solve_with<rtvd<real>>(g, dt_dh, reversed, blocks, heat, cells, fluxes, faces, mass, fault);
  else if (g->physics.solver == GAS_PPM)
    solve_with<ppm<real>>(g, dt_dh, reversed, blocks, heat, cells, fluxes, faces, mass, fault);
  else if (g->physics.limiter == GAS_LIMITER_VAN_LEER)
    solve_with<muscl<real, GAS_LIMITER_VAN_LEER>>(g, dt_dh, reversed, blocks, heat, cells, fluxes,
                                                  faces, mass, fault);
  else
    solve_with<muscl<real, GAS_LIMITER_MINMOD>>(g, dt_dh, reversed, blocks, heat, cells, fluxes,
                                                faces, mass, fault);
}

#endif
