/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of groups, src/potential/kernels/direct.h and poisson.c. One block of threads a group. */
#include "cuda/potential/laplacian.cuh"

/* The direct solution. Waves are in shared memory, [z][y][x] with a row of 17, so that threads that
 * work on neighbouring rows or columns read different banks. */

enum { SOLVE_THREADS = CUBE_PLANE, STEP_Y = INNER + 1, STEP_Z = INNER * STEP_Y };

/** Sine waves, poisson_waves. They are an argument of the kernel: all threads read the same number at
 * the same time. */
struct waves {
  double symmetric[HALF][HALF], antisymmetric[HALF][HALF]; /* [cell][wave] */
};

/** From the cells of a line to its waves: first the symmetric ones, which are products of the sums of
 * cells i and 15 - i, then the antisymmetric ones, of the differences. */
INLINE void to_waves(const waves &w, double *line, int step) {
  double sum[HALF], difference[HALF];
#pragma unroll
  for (int i = 0; i < HALF; i++) {
    const double low = line[i * step], high = line[(INNER - 1 - i) * step];
    sum[i] = low + high;
    difference[i] = low - high;
  }
#pragma unroll
  for (int k = 0; k < HALF; k++) {
    double even = 0.0, odd = 0.0;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
      even += w.symmetric[i][k] * sum[i];
      odd += w.antisymmetric[i][k] * difference[i];
    }
    line[k * step] = even;
    line[(HALF + k) * step] = odd;
  }
}

INLINE void to_cells(const waves &w, double *line, int step) {
  double even[HALF], odd[HALF];
#pragma unroll
  for (int k = 0; k < HALF; k++) {
    even[k] = line[k * step];
    odd[k] = line[(HALF + k) * step];
  }
#pragma unroll
  for (int i = 0; i < HALF; i++) {
    double sum = 0.0, difference = 0.0;
#pragma unroll
    for (int k = 0; k < HALF; k++) {
      sum += w.symmetric[i][k] * even[k];
      difference += w.antisymmetric[i][k] * odd[k];
    }
    line[i * step] = sum + difference;
    line[(INNER - 1 - i) * step] = sum - difference;
  }
}

/** Elimination along z of a wave along x and y, and substitution. @param pivot  of this wave */
INLINE void solve_line(const double *pivot, double *line) {
  double inverse[INNER], value[INNER];
#pragma unroll
  for (int z = 0; z < INNER; z++) {
    inverse[z] = pivot[z * CUBE_PLANE];
    value[z] = inverse[z] * (line[z * STEP_Z] - (z > 0 ? value[z - 1] : 0.0));
  }
#pragma unroll
  for (int z = INNER - 1; z >= 0; z--) {
    if (z < INNER - 1) value[z] -= inverse[z] * value[z + 1];
    line[z * STEP_Z] = value[z];
  }
}

/** The source of a cell, less the ghost cells beside it. */
template <typename real>
INLINE double source_inside(const density_of_groups<real> &d, const double *block, int x, int y,
                            int z) {
  const double *p = block + place_in_block(x, y, z);
  double source = source_at(d, x, y, z);
  if (z == 0) source -= p[-PLANE];
  if (z == INNER - 1) source -= p[PLANE];
  if (y == 0) source -= p[-SIDE];
  if (y == INNER - 1) source -= p[SIDE];
  if (x == 0) source -= p[-1];
  if (x == INNER - 1) source -= p[1];
  return source;
}

/** A potential whose change is taken more than once. */
INLINE double exceeded(double old, double solution, double excess) {
  return solution + excess * (solution - old);
}

template <typename real>
static __global__ void __launch_bounds__(SOLVE_THREADS)
    solve_directly(const __grid_constant__ waves w,
                   const __grid_constant__ density_of_groups<real> d, const double *pivot,
                   const __grid_constant__ struct gpu_half half, const double *blocks,
                   double *potentials) {
  __shared__ double p[INNER * STEP_Z];
  const double *block = blocks + (size_t)blockIdx.x * POISSON_CELLS;
  double *cube = potentials + (size_t)blockIdx.x * GAS_GROUP_CELLS + threadIdx.x;
  if (!is_solved(half)) {
    for (int z = 0; z < INNER; z++)
      cube[z * CUBE_PLANE] =
          half.keep ? block[place_in_block((int)threadIdx.x % INNER, (int)threadIdx.x / INNER, z)]
                    : 0.0;
    return;
  }
  const int i = (int)threadIdx.x % INNER, j = (int)threadIdx.x / INNER;
  double *along_x = p + j * STEP_Z + i * STEP_Y, *along_y = p + j * STEP_Z + i,
         *along_z = p + j * STEP_Y + i; /* this thread's lines */
  for (int z = 0; z < INNER; z++) along_z[z * STEP_Z] = source_inside(d, block, i, j, z);
  __syncthreads();
  to_waves(w, along_x, 1);
  __syncthreads();
  to_waves(w, along_y, STEP_Y);
  __syncthreads();
  solve_line(pivot + threadIdx.x, along_z);
  __syncthreads();
  to_cells(w, along_y, STEP_Y);
  __syncthreads();
  to_cells(w, along_x, 1);
  __syncthreads();
  for (int z = 0; z < INNER; z++) {
    const double solution = along_z[z * STEP_Z];
    cube[z * CUBE_PLANE] = half.excess == 0.0
                               ? solution
                               : exceeded(block[place_in_block(i, j, z)], solution, half.excess);
  }
}

template <typename real>
static void solve_in(const struct gpu_gas *g, const waves &w, const double *pivot,
                     const struct gpu_density *density, struct gpu_half half, const double *blocks,
                     double *potentials) {
  solve_directly<real><<<g->groups, SOLVE_THREADS, 0, g->gpu->stream>>>(
      w, density_of<real>(g, density), pivot, half, blocks, potentials);
  gpu_launched("potential");
}

void gpu_gas_solve_directly(const struct gpu_gas *g, const struct poisson_waves *from,
                            const double *pivot, const struct gpu_density *density,
                            struct gpu_half half, const double *blocks, double *potentials) {
  waves w;
  for (int i = 0; i < HALF; i++)
    for (int k = 0; k < HALF; k++) {
      w.symmetric[i][k] = from->symmetric[i][k];
      w.antisymmetric[i][k] = from->antisymmetric[i][k];
    }
  if (g->double_precision)
    solve_in<double>(g, w, pivot, density, half, blocks, potentials);
  else
    solve_in<float>(g, w, pivot, density, half, blocks, potentials);
}

/* Relaxation. */

enum {
  RELAX_THREADS = 512,
  RELAX_WARPS = RELAX_THREADS / WARP,
  CELLS_OF_THREAD = GAS_GROUP_CELLS / 2 / RELAX_THREADS, /* of one colour */
  CHECK = 8 /* sweeps after which a residual that rounding holds up is noticed */
};

/** Cell k of a thread, of one colour: the cells of a block with x + y + z even, or odd. */
INLINE struct cell_place cell_of_colour(int colour, int k) {
  const int number = (int)threadIdx.x + RELAX_THREADS * k;
  const int z = number / (INNER * HALF), y = number / HALF % INNER;
  return {2 * (number % HALF) + ((1 + y + z + colour) & 1), y, z};
}

/** Chebyshev acceleration: Press et al., Numerical Recipes, section 20.5. */
INLINE double next_omega(double omega, double square_radius, int half_sweep) {
  if (half_sweep == 0) return 1.0;
  return 1.0 / (1.0 - square_radius * omega * (half_sweep == 1 ? 0.5 : 0.25));
}

/** The source of a thread's cells; the sum over the group of factor |density|. */
template <typename real>
INLINE double find_source(const density_of_groups<real> &d, double source[2][CELLS_OF_THREAD]) {
  double sum = 0.0;
#pragma unroll
  for (int colour = 0; colour < 2; colour++)
#pragma unroll
    for (int k = 0; k < CELLS_OF_THREAD; k++) {
      const struct cell_place c = cell_of_colour(colour, k);
      source[colour][k] = source_at(d, c.x, c.y, c.z);
      sum += fabs(density_at(d, c.x, c.y, c.z));
    }
  return d.factor * block_sum<RELAX_WARPS>(sum);
}

/** Relax a thread's cells of one colour. @return the sum of their residuals before */
INLINE double relax_colour(const double source[CELLS_OF_THREAD], double part, int colour,
                           double *block) {
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < CELLS_OF_THREAD; k++) {
    const struct cell_place c = cell_of_colour(colour, k);
    double *p = block + place_in_block(c.x, c.y, c.z);
    const double residual = laplacian(p) - source[k];
    *p += part * residual;
    sum += fabs(residual);
  }
  __syncthreads();
  return sum;
}

template <typename real>
static __global__ void __launch_bounds__(RELAX_THREADS)
    relax(const __grid_constant__ density_of_groups<real> d, double square_radius, double tolerance,
          double least, const __grid_constant__ struct gpu_half half, const double *blocks,
          double *potentials) {
  __shared__ double block[POISSON_CELLS];
  const int sweeps = is_solved(half) ? POISSON_SWEEPS_MAX : 0;
  double source[2][CELLS_OF_THREAD], omega = 1.0, checked = HUGE_VAL;
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += RELAX_THREADS)
    block[i] = blocks[(size_t)blockIdx.x * POISSON_CELLS + i];
  const double target = tolerance * fmax(find_source(d, source), least);
  __syncthreads();
  for (int sweep = 0; sweep < sweeps; sweep++) {
    double residual = 0.0;
#pragma unroll
    for (int colour = 0; colour < 2; colour++) {
      omega = next_omega(omega, square_radius, 2 * sweep + colour);
      residual += relax_colour(source[colour], omega / 6.0, colour, block);
    }
    residual = block_sum<RELAX_WARPS>(residual); /* all threads have the same, and end together */
    if (residual <= target) break;
    if ((sweep + 1) % CHECK != 0) continue;
    if (residual > 0.5 * checked) break;
    checked = residual;
  }
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += RELAX_THREADS) {
    const int at = place_in_block(i % INNER, i / INNER % INNER, i / CUBE_PLANE);
    potentials[(size_t)blockIdx.x * GAS_GROUP_CELLS + i] = exceeded(
        blocks[(size_t)blockIdx.x * POISSON_CELLS + at], block[at], sweeps > 0 ? half.excess : 0.0);
  }
}

template <typename real>
static void relax_in(const struct gpu_gas *g, const struct gpu_density *density, double tolerance,
                     double least, struct gpu_half half, const double *blocks, double *potentials) {
  const double radius = cos(3.14159265358979323846 / (INNER + 1.0)); /* of Jacobi's iteration */
  relax<real><<<g->groups, RELAX_THREADS, 0, g->gpu->stream>>>(
      density_of<real>(g, density), radius * radius, tolerance, least, half, blocks, potentials);
  gpu_launched("relaxation");
}

void gpu_gas_relax(const struct gpu_gas *g, const struct gpu_density *density, double tolerance,
                   double least, struct gpu_half half, const double *blocks, double *potentials) {
  if (g->double_precision)
    relax_in<double>(g, density, tolerance, least, half, blocks, potentials);
  else
    relax_in<float>(g, density, tolerance, least, half, blocks, potentials);
}
