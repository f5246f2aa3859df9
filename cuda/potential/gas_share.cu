/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What groups tell the next coarser level. */
#include "cuda/potential/laplacian.cuh"
#include "photons/potential/stress.h"

enum { SHARE_THREADS = GAS_PATCH_CELLS };

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

enum { STRESS_THREADS = GAS_FACES * GAS_FACE_CELLS };

/** One thread a coarse face: the mean over its 2^2 faces. */
static __global__ void __launch_bounds__(STRESS_THREADS)
    find_stresses(double background, const double *wide, struct poisson_share *shares) {
  const int face = (int)threadIdx.x / GAS_FACE_CELLS, place = (int)threadIdx.x % GAS_FACE_CELLS;
  const struct stress_face f = stress_face_of(face);
  double mean[3] = {0.0, 0.0, 0.0}, stress[3];
  int cell[3];
  cell[f.axis] = f.upper ? INNER - 1 : 0;
  for (int k = 0; k < 4; k++) {
    cell[f.along[0]] = 2 * (place % 8) + (k & 1);
    cell[f.along[1]] = 2 * (place / 8) + (k >> 1);
    gravity_stress(wide + (size_t)blockIdx.x * WIDE_CELLS + stress_place(cell), &f, background,
                   stress);
    for (int c = 0; c < 3; c++) mean[c] += 0.25 * stress[c];
  }
  for (int c = 0; c < 3; c++) shares[blockIdx.x].stress[face][c][place] = mean[c];
}

void gpu_gas_stress(const struct gpu_gas *g, double background, const double *wide,
                    struct poisson_share *shares) {
  find_stresses<<<g->groups, STRESS_THREADS, 0, g->gpu->stream>>>(background, wide, shares);
  gpu_launched("stresses");
}
