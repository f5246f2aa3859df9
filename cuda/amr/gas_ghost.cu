/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of groups packed into messages between ranks, and unpacked: codelets/amr/gas_ghost.c. One
 * block a group of the message. */
#include <cstddef>

#include "cuda/amr/real.cuh"
#include "cuda/amr/tables.cuh"

enum { GHOST_THREADS = 256, GHOST_CUBE = 4, GHOST_CUBE_CELLS = 64 };

/** Where a cell of one of the 4^3 cubes of 4^3 cells is in a group, or in [z 16][y 16][x 16]. */
INLINE uint32_t place_in_cubes(int cube, int cell, bool patches) {
  int at[3];
#pragma unroll
  for (int c = 0; c < 3; c++) at[c] = GHOST_CUBE * (cube >> 2 * c & 3) + (cell >> 2 * c & 3);
  return (uint32_t)(patches ? place_in_group(at[0], at[1], at[2])
                            : (at[2] * GAS_GROUP_SIDE + at[1]) * GAS_GROUP_SIDE + at[0]);
}

template <typename real> INLINE void copy_value(real *inside, real *packed, bool cut) {
  if (cut)
    *packed = *inside;
  else
    *inside = *packed;
}

/** How a message's parts lie in a batch: how many values a part and a group have, and where in a group
 * they begin. */
struct parts_in_batch {
  enum gpu_ghost_kind kind;
  uint32_t values, of_group, first;
};

static parts_in_batch parts_of(enum gpu_ghost_kind kind, uint32_t variables) {
  static_assert((int)GHOST_CUBE_CELLS == (int)GAS_FACE_CELLS, "cubes and sides have 64 values");
  const uint32_t share = sizeof(struct poisson_share) / sizeof(double);
  switch (kind) {
  case GPU_GHOST_CELLS: return {kind, variables * GHOST_CUBE_CELLS, variables * GAS_GROUP_CELLS, 0};
  case GPU_GHOST_SIDES:
    return {kind, variables * GAS_FACE_CELLS, variables * GAS_FACES * GAS_FACE_CELLS, 0};
  case GPU_GHOST_POTENTIALS: return {kind, GHOST_CUBE_CELLS, GAS_GROUP_CELLS, 0};
  case GPU_GHOST_MATTER:
    return {kind, GHOST_CUBE_CELLS, sizeof(struct gas_matter) / sizeof(double),
            offsetof(struct gas_matter, coarse) / sizeof(double)};
  default: return {kind, share, share, 0};
  }
}

/** Where a value of a part is in a group. */
INLINE uint32_t place_of_value(const parts_in_batch &p, int part, uint32_t value) {
  const int cell = (int)(value % GHOST_CUBE_CELLS);
  if (p.kind == GPU_GHOST_CELLS)
    return value / GHOST_CUBE_CELLS * GAS_GROUP_CELLS + place_in_cubes(part, cell, true);
  if (p.kind == GPU_GHOST_POTENTIALS || p.kind == GPU_GHOST_MATTER)
    return p.first + place_in_cubes(part, cell, false);
  return (uint32_t)part * p.values + value;
}

/** Cubes of cells, of a potential or of densities, sides, or shares. */
template <typename real>
static __global__ void __launch_bounds__(GHOST_THREADS)
    copy_parts(const __grid_constant__ parts_in_batch p, bool cut, const struct gpu_ghost *ghosts,
               real *const *batch, real *packed) {
  const struct gpu_ghost ghost = ghosts[blockIdx.x];
  const uint32_t values = p.values, all = (uint32_t)__popcll(ghost.parts) * values;
  real *inside = batch[ghost.batch] + (size_t)ghost.group * p.of_group,
       *outside = packed + (size_t)ghost.first * values;
  uint64_t left = ghost.parts; /* the lowest bit is the part that follows `passed` others */
  uint32_t passed = 0;
  for (uint32_t i = threadIdx.x; i < all; i += GHOST_THREADS) {
    for (; passed < i / values; passed++) left &= left - 1;
    const int part = __ffsll((long long)left) - 1;
    copy_value(inside + place_of_value(p, part, i % values), outside + i, cut);
  }
}

/** Means of finer groups, which the message has as patches of groups: eight in a group. */
template <typename real>
static __global__ void __launch_bounds__(GHOST_THREADS)
    copy_means(bool cut, uint32_t variables, const struct gpu_ghost *ghosts, real *const *batch,
               real *packed) {
  const struct gpu_ghost ghost = ghosts[blockIdx.x];
  const size_t of_group = (size_t)variables * GAS_GROUP_CELLS;
  real *inside = batch[ghost.batch] + ghost.group * of_group,
       *outside = packed + blockIdx.x / GAS_PATCHES * of_group +
                  blockIdx.x % GAS_PATCHES * GAS_PATCH_CELLS;
  for (uint32_t i = threadIdx.x; i < variables * GAS_PATCH_CELLS; i += GHOST_THREADS) {
    const uint32_t cell = i % GAS_PATCH_CELLS, first = i / GAS_PATCH_CELLS * GAS_GROUP_CELLS;
    if (cut)
      outside[first + cell] = finer_mean(inside + first, cell);
    else
      inside[first + ghost.patch * GAS_PATCH_CELLS + cell] = outside[first + cell];
  }
}

/** Means of the densities of finer groups, 8^3 a group of the message. */
static __global__ void __launch_bounds__(GHOST_THREADS)
    copy_matter_means(bool cut, const struct gpu_ghost *ghosts, struct gas_matter *const *batch,
                      double *packed) {
  const struct gpu_ghost ghost = ghosts[blockIdx.x];
  struct gas_matter *matter = batch[ghost.batch] + ghost.group;
  double *means = packed + (size_t)ghost.first * GAS_PATCH_CELLS;
  for (uint32_t i = threadIdx.x; i < GAS_PATCH_CELLS; i += GHOST_THREADS) {
    const int x = (int)(i % 8), y = (int)(i / 8 % 8), z = (int)(i / 64);
    if (cut)
      means[i] = matter_mean(*matter, x, y, z);
    else
      matter->fine[((z + 8 * (ghost.patch >> 2)) * GAS_GROUP_SIDE + y + 8 * (ghost.patch >> 1 & 1)) *
                       GAS_GROUP_SIDE +
                   x + 8 * (ghost.patch & 1)] = means[i];
  }
}

template <typename real>
static void copy_in(const struct gpu_gas *g, const struct gpu_message *m, bool cut, void *packed) {
  const uint32_t variables = gas_variables(&g->physics);
  const struct gpu_ghost *ghosts = m->ghost;
  if (g->groups == 0) return;
  real *const *batch = (real *const *)upload_batches<real>(g, m->batch, m->batches);
  if (m->kind == GPU_GHOST_MEANS)
    copy_means<<<g->groups, GHOST_THREADS, 0, g->gpu->stream>>>(cut, variables, ghosts, batch,
                                                                (real *)packed);
  else if (m->kind == GPU_GHOST_MATTER_MEANS)
    copy_matter_means<<<g->groups, GHOST_THREADS, 0, g->gpu->stream>>>(
        cut, ghosts, (struct gas_matter *const *)batch, (double *)packed);
  else
    copy_parts<<<g->groups, GHOST_THREADS, 0, g->gpu->stream>>>(parts_of(m->kind, variables), cut,
                                                                ghosts, batch, (real *)packed);
  gpu_launched("ghosts");
}

/** Potentials, shares and densities of particles are in double precision whatever the cells are. */
static bool has_doubles(const struct gpu_gas *g, const struct gpu_message *m) {
  return g->double_precision || m->kind >= GPU_GHOST_POTENTIALS;
}

void gpu_gas_cut(const struct gpu_gas *g, const struct gpu_message *m, void *packed) {
  if (has_doubles(g, m))
    copy_in<double>(g, m, true, packed);
  else
    copy_in<float>(g, m, true, packed);
}

void gpu_gas_paste(const struct gpu_gas *g, const struct gpu_message *m, const void *packed) {
  if (has_doubles(g, m))
    copy_in<double>(g, m, false, (void *)packed);
  else
    copy_in<float>(g, m, false, (void *)packed);
}
