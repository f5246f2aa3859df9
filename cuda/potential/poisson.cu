/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of groups, src/potential/kernels/direct.h and poisson.c. One block of threads a group. */
#include "cuda/potential/density.cuh"

enum {
  INNER = GAS_GROUP_SIDE,
  HALF = POISSON_HALF_WAVES,
  SIDE = POISSON_SIDE,
  PLANE = SIDE * SIDE,
  CUBE_PLANE = INNER * INNER
};

/** sum of the neighbours - 6 potential */
INLINE double laplacian(const double *p) {
  return ((p[-1] + p[1]) + (p[-SIDE] + p[SIDE])) + (p[-PLANE] + p[PLANE]) - 6.0 * p[0];
}

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
  for (int z = 0; z < INNER; z++) cube[z * CUBE_PLANE] = along_z[z * STEP_Z];
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
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += RELAX_THREADS)
    potentials[(size_t)blockIdx.x * GAS_GROUP_CELLS + i] =
        block[place_in_block(i % INNER, i / INNER % INNER, i / CUBE_PLANE)];
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

/* What a level tells the next coarser one. */

enum { SHARE_THREADS = GAS_PATCH_CELLS, SHEET_THREADS = 256 };

/** The mean over 2^2 faces of ghost cell - cell inside. @param i  face and place, of poisson_share */
INLINE double slope_at(const double *block, int i) {
  const int face = i / GAS_FACE_CELLS, axis = face / 2, step[3] = {1, SIDE, PLANE};
  const int f = step[axis == 0 ? 1 : 0], s = step[axis == 2 ? 1 : 2], n = step[axis];
  const double *inside = block + f + s + (face & 1 ? INNER : 1) * n + 2 * (i % 8 * f) +
                         2 * (i / 8 % 8 * s);
  const int out = face & 1 ? n : -n;
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int cell = (k & 1 ? f : 0) + (k & 2 ? s : 0);
    sum += inside[cell + out] - inside[cell];
  }
  return 0.25 * sum;
}

/** One thread a coarse cell; the first threads have the faces, too. */
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    find_shares(const __grid_constant__ density_of_groups<real> d, const double *blocks,
                struct poisson_share *shares) {
  const double *block = blocks + (size_t)blockIdx.x * POISSON_CELLS;
  struct poisson_share *share = shares + blockIdx.x;
  const int i = (int)threadIdx.x, x = 2 * (i % 8), y = 2 * (i / 8 % 8), z = 2 * (i / 64);
  double mean = 0.0, defect = 0.0;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const int at[3] = {x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)};
    const double *p = block + place_in_block(at[0], at[1], at[2]);
    mean += *p;
    defect += source_at(d, at[0], at[1], at[2]) - laplacian(p);
  }
  share->mean[i] = 0.125 * mean;
  share->defect[i] = 0.125 * defect;
  if (i < GAS_FACES * GAS_FACE_CELLS)
    share->slope[i / GAS_FACE_CELLS][i % GAS_FACE_CELLS] = slope_at(block, i);
}

void gpu_gas_share(const struct gpu_gas *g, const struct gpu_density *density, const double *blocks,
                   struct poisson_share *shares) {
  if (g->double_precision)
    find_shares<double><<<g->groups, SHARE_THREADS, 0, g->gpu->stream>>>(
        density_of<double>(g, density), blocks, shares);
  else
    find_shares<float><<<g->groups, SHARE_THREADS, 0, g->gpu->stream>>>(
        density_of<float>(g, density), blocks, shares);
  gpu_launched("shares");
}

/** What a group of the batches of gas_batch.around tells; NULL: there is none. */
INLINE const struct poisson_share *share_of(const struct poisson_share *const *batches,
                                            gas_link_t link) {
  return link == NO_GROUP ? NULL : batches[link >> GAS_LINK_SHIFT] + (link & GAS_LINK_MASK);
}

/** The finer mean of cell i of a block, inside or beyond a face. @return false: there is none */
INLINE bool finer_potential(const struct gas_links &l, const struct poisson_share *const *batches,
                            int i, double *mean) {
  const int at[3] = {i % SIDE - 1, i / SIDE % SIDE - 1, i / PLANE - 1};
  int patch = 0, cell = 0, outside = 0, face = 0;
#pragma unroll
  for (int c = 2; c >= 0; c--) {
    const bool upper = at[c] == INNER, beyond = at[c] < 0 || upper;
    outside += beyond;
    if (beyond) face = 2 * c + upper;
    patch |= (upper || (!beyond && at[c] >= GAS_PATCH_SIDE)) << c;
    cell = GAS_PATCH_SIDE * cell + (at[c] & (GAS_PATCH_SIDE - 1));
  }
  if (outside > 1) return false;
  const struct poisson_share *share = share_of(batches, outside == 0 ? l.share[patch]
                                                                     : l.share_beside[patch][face]);
  if (share) *mean = share->mean[cell];
  return share != NULL;
}

/** The pseudo-mass of a cell of a patch that is not refined: of the sheets between it and patches
 * that are. @param inverse  1/factor of struct gpu_density */
INLINE double sheet_mass(const struct gas_links &l, const struct poisson_share *const *batches,
                         int patch, const int at[3], const double *p, double inverse) {
  const int step[3] = {1, SIDE, PLANE};
  double mass = 0.0;
#pragma unroll
  for (int face = 0; face < GAS_FACES; face++) {
    const int axis = face / 2, fast = axis == 0 ? 1 : 0, slow = axis == 2 ? 1 : 2;
    if ((at[axis] & 7) != (face & 1 ? 7 : 0)) continue;
    const struct poisson_share *share = share_of(batches, l.share_beside[patch][face]);
    if (!share) continue;
    const double slope = share->slope[face ^ 1][8 * (at[slow] & 7) + (at[fast] & 7)];
    mass -= inverse * (p[0] - p[face & 1 ? step[axis] : -step[axis]] - 2.0 * slope);
  }
  return mass;
}

template <typename real>
static __global__ void __launch_bounds__(SHEET_THREADS)
    find_pseudo_mass(const __grid_constant__ density_of_groups<real> d,
                     const struct gas_links *links, const struct poisson_share *const *batches,
                     double *blocks, double *sheets, double *potentials) {
  const struct gas_links &l = links[blockIdx.x];
  const double inverse = 1.0 / d.factor;
  const size_t first = (size_t)blockIdx.x * GAS_GROUP_CELLS;
  double *block = blocks + (size_t)blockIdx.x * POISSON_CELLS, mean;
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += SHEET_THREADS)
    if (finer_potential(l, batches, i, &mean)) block[i] = mean;
  __syncthreads(); /* also orders the threads' accesses to the block's global memory */
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += SHEET_THREADS) {
    const int at[3] = {i % INNER, i / INNER % INNER, i / CUBE_PLANE};
    const int patch = at[0] / 8 + 2 * (at[1] / 8) + 4 * (at[2] / 8);
    const int cell = (at[2] % 8 * 8 + at[1] % 8) * 8 + at[0] % 8;
    const double *p = block + place_in_block(at[0], at[1], at[2]);
    const struct poisson_share *mine = share_of(batches, l.share[patch]);
    sheets[first + i] = mine ? inverse * (laplacian(p) + 4.0 * mine->defect[cell] -
                                          source_at(d, at[0], at[1], at[2]))
                             : sheet_mass(l, batches, patch, at, p, inverse);
    potentials[first + i] = *p;
  }
}

void gpu_gas_sheet(const struct gpu_gas *g, const struct gas_links *links,
                   const char *const *shares, uint32_t batches, const struct gpu_density *density,
                   double *blocks, double *sheets, double *potentials) {
  const struct poisson_share **table = (const struct poisson_share **)gpu_scratch(
      g->gpu, SCRATCH_TABLE, batches * sizeof *table);
  gpu_upload(g->gpu, table, shares, batches * sizeof *table);
  if (g->double_precision)
    find_pseudo_mass<double><<<g->groups, SHEET_THREADS, 0, g->gpu->stream>>>(
        density_of<double>(g, density), links, table, blocks, sheets, potentials);
  else
    find_pseudo_mass<float><<<g->groups, SHEET_THREADS, 0, g->gpu->stream>>>(
        density_of<float>(g, density), links, table, blocks, sheets, potentials);
  gpu_launched("sheets");
}
