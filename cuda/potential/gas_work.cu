/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of gravity and the second kick of a step, src/potential/kernels/work.h: one thread a cell. */
#include "cuda/potential/density.cuh"

enum { WORK_THREADS = 256, FACES_OF_AXIS = GAS_MASS_FLUXES / 3 };

/** Where the lower face of a cell is along an axis, among the faces [17][16][16] of that axis. */
INLINE int face_of(struct cell_place c, int axis) {
  const int along = axis == 0   ? c.x
                    : axis == 1 ? c.y
                                : c.z,
            slow = axis == 2 ? c.y : c.z, fast = axis == 0 ? c.y : c.x;
  return (along * GAS_GROUP_SIDE + slow) * GAS_GROUP_SIDE + fast;
}

/** By how much a kick changes a velocity. */
template <typename real> INLINE real kick_change(double factor, const double *p, int step) {
  return (real)(-factor * (p[step] - p[-step]));
}

/** Energy of a kick. @param sign  1: of momenta before the kick, -1: of those after it */
template <typename real>
INLINE real kick_energy(real change, real density, real momentum, int sign) {
  return change * (momentum + (real)0.5 * (real)sign * density * change);
}

/** As in src/potential/kernels/work.h. */
template <typename real> struct cold_limits { real part, change; };

template <typename real>
static __global__ void __launch_bounds__(WORK_THREADS)
    work(uint32_t groups, uint32_t variables, struct cold_limits<real> cold, double dt_dh,
         const double *begin, const double *end, const real *mass, const real *before,
         real *cells) {
  const int step[3] = {1, POISSON_SIDE, POISSON_SIDE * POISSON_SIDE};
  const uint32_t thread = blockIdx.x * WORK_THREADS + threadIdx.x;
  const uint32_t group = thread / GAS_GROUP_CELLS, cell = thread % GAS_GROUP_CELLS;
  if (group >= groups) return;
  const double *b = potential_at(begin + (size_t)group * POISSON_CELLS, (int)cell),
               *e = potential_at(end + (size_t)group * POISSON_CELLS, (int)cell);
  const size_t at = (size_t)group * variables * GAS_GROUP_CELLS + cell;
  const struct cell_place place = place_of_cell((int)cell);
  const double quarter = 0.25 * dt_dh;
  real *u = cells + at, more = 0, square = 0, momentum[3], kick[3];
  const real *was = before + at, density = u[0];
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const real *flux = mass + (size_t)group * GAS_MASS_FLUXES + a * FACES_OF_AXIS +
                       face_of(place, a);
    const real momentum_was = was[(GAS_MOMENTUM_X + a) * GAS_GROUP_CELLS];
    const int s = step[a];
    momentum[a] = u[(GAS_MOMENTUM_X + a) * GAS_GROUP_CELLS];
    kick[a] = kick_change<real>(quarter, e, s);
    const real below = (real)(quarter * (b[0] - b[-s] + e[0] - e[-s])),
               above = (real)(quarter * (b[s] - b[0] + e[s] - e[0]));
    more -= flux[0] * below + flux[GAS_GROUP_SIDE * GAS_GROUP_SIDE] * above;
    more -= kick_energy(kick_change<real>(quarter, b, s), was[0], momentum_was, -1) +
            kick_energy(kick[a], density, momentum[a], 1);
    square += momentum[a] * momentum[a];
  }
  real energy = u[GAS_ENERGY * GAS_GROUP_CELLS];
  const real thermal = energy - (real)0.5 * square / density, change = (density - was[0]) / density,
             least = larger(cold.part * energy, cold.change * density * change * change);
  if (thermal > least) energy += larger(more, (real)-0.5 * thermal);
#pragma unroll
  for (int a = 0; a < 3; a++) {
    energy += kick_energy(kick[a], density, momentum[a], 1);
    u[(GAS_MOMENTUM_X + a) * GAS_GROUP_CELLS] = momentum[a] + density * kick[a];
  }
  u[GAS_ENERGY * GAS_GROUP_CELLS] = energy;
}

template <typename real>
static void work_in(const struct gpu_gas *g, double dt_dh, const double *begin, const double *end,
                    const void *mass, const void *before, void *cells) {
  const struct cold_limits<real> cold = {
    (real) g->physics.dual_energy_switch, (real)(g->physics.dual_energy_change / (dt_dh * dt_dh))
  };
  work<<<blocks_for((uint64_t)g->groups * GAS_GROUP_CELLS, WORK_THREADS), WORK_THREADS, 0,
         g->gpu->stream>>>(g->groups, gas_variables(&g->physics), cold, dt_dh, begin, end,
                           (const real *)mass, (const real *)before, (real *)cells);
  gpu_launched("work");
}

void gpu_gas_work(const struct gpu_gas *g, double dt_dh, const double *begin, const double *end,
                  const void *mass, const void *before, void *cells) {
  if (g->double_precision)
    work_in<double>(g, dt_dh, begin, end, mass, before, cells);
  else
    work_in<float>(g, dt_dh, begin, end, mass, before, cells);
}
