/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of groups packed into messages between ranks, and unpacked: codelets/gas/gas_ghost.c. One
 * block a group of the message. */
#include "cuda/gas/real.cuh"

enum { GHOST_THREADS = 256, GHOST_CUBE = 4, GHOST_CUBE_CELLS = 64 };

/** Where a cell of one of the 4^3 cubes of 4^3 cells is in a group. */
INLINE uint32_t place_in_cubes(int cube, int cell) {
  int at[3];
#pragma unroll
  for (int c = 0; c < 3; c++) at[c] = GHOST_CUBE * (cube >> 2 * c & 3) + (cell >> 2 * c & 3);
  return (uint32_t)place_in_group(at[0], at[1], at[2]);
}

template <typename real> INLINE void copy_value(real *inside, real *packed, bool cut) {
  if (cut)
    *packed = *inside;
  else
    *inside = *packed;
}

/** Cubes of cells, or sides. Both have 64 values of each variable. */
template <typename real>
static __global__ void __launch_bounds__(GHOST_THREADS)
    copy_parts(bool sides, bool cut, uint32_t variables, const struct gpu_ghost *ghosts,
               real *const *batch, real *packed) {
  static_assert((int)GHOST_CUBE_CELLS == (int)GAS_FACE_CELLS, "parts have 64 values");
  const struct gpu_ghost ghost = ghosts[blockIdx.x];
  const uint32_t values = variables * GHOST_CUBE_CELLS,
                 all = (uint32_t)__popcll(ghost.parts) * values,
                 of_group = variables * (sides ? GAS_FACES * GAS_FACE_CELLS : GAS_GROUP_CELLS);
  real *inside = batch[ghost.batch] + (size_t)ghost.group * of_group,
       *outside = packed + (size_t)ghost.first * values;
  uint64_t left = ghost.parts; /* the lowest bit is the part that follows `passed` others */
  uint32_t passed = 0;
  for (uint32_t i = threadIdx.x; i < all; i += GHOST_THREADS) {
    for (; passed < i / values; passed++) left &= left - 1;
    const int part = __ffsll((long long)left) - 1;
    const uint32_t value = i % values, cell = value % GHOST_CUBE_CELLS,
                   variable = value / GHOST_CUBE_CELLS;
    const uint32_t at = sides ? (uint32_t)part * values + value
                              : variable * GAS_GROUP_CELLS + place_in_cubes(part, (int)cell);
    copy_value(inside + at, outside + i, cut);
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

template <typename real>
static void copy_in(const struct gpu_gas *g, const struct gpu_message *m, bool cut, void *packed) {
  const uint32_t variables = gas_variables(&g->physics);
  const size_t ghost_bytes = g->groups * sizeof *m->ghost,
               table_bytes = m->batches * sizeof *m->batch;
  char *memory = (char *)gpu_scratch(g->gpu, SCRATCH_TABLE, ghost_bytes + table_bytes);
  const struct gpu_ghost *ghosts = (const struct gpu_ghost *)memory;
  real *const *batch = (real *const *)(memory + ghost_bytes);
  if (g->groups == 0) return;
  gpu_upload(g->gpu, memory, m->ghost, ghost_bytes);
  gpu_upload(g->gpu, memory + ghost_bytes, m->batch, table_bytes);
  if (m->kind == GPU_GHOST_MEANS)
    copy_means<<<g->groups, GHOST_THREADS, 0, g->gpu->stream>>>(cut, variables, ghosts, batch,
                                                                (real *)packed);
  else
    copy_parts<<<g->groups, GHOST_THREADS, 0, g->gpu->stream>>>(
        m->kind == GPU_GHOST_SIDES, cut, variables, ghosts, batch, (real *)packed);
  gpu_launched("ghosts");
}

void gpu_gas_cut(const struct gpu_gas *g, const struct gpu_message *m, void *packed) {
  if (g->double_precision)
    copy_in<double>(g, m, true, packed);
  else
    copy_in<float>(g, m, true, packed);
}

void gpu_gas_paste(const struct gpu_gas *g, const struct gpu_message *m, const void *packed) {
  if (g->double_precision)
    copy_in<double>(g, m, false, (void *)packed);
  else
    copy_in<float>(g, m, false, (void *)packed);
}
