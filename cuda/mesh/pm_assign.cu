/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_assign: one CUDA block for each node of a level of the tree. Weights are added as integers, so that the
 * sum does not depend on the order: first into a tile of cells around the node in CUDA shared memory, with
 * as many fraction bits as the node's number of particles, or largest mass, leaves in 32 bits, then
 * into the patch with 32 fraction bits of 64. */
#include "cuda/mesh/stencil.cuh"
#include "photons/domain/tree.h"

/* A larger node has fewer cells for each of its particles, but its particles have fewer fraction bits. */
#ifndef PM_NODE
#define PM_NODE 256
#endif
enum {
  BLOCK = 128,
  NODE_MOST = PM_NODE,
  TILE_CELLS = 3072,
  PLACES = 32,
  TILE_PLACES = 30,
  EACH = 8
};
/* Nodes that are too wide for a tile are divided. */
enum { PART_LEVELS = 2, PARTS = 1 << PART_LEVELS };

struct assignment_task {
  uint32_t count;
  unsigned level;
  const uint32_t *x;
  const float *mass; /* or NULL */
  uint32_t cells;
  uint64_t offset[3];
  struct patch patch;
  unsigned places; /* fraction bits of a tile; without meaning where masses differ */
  unsigned long long *sum;
};

/** First cell of a particle's stencil, counted from the patch's first cell, and the weights. */
template <int SCHEME>
static __device__ inline void stencil(const struct assignment_task &t, uint32_t i,
                                      uint32_t first[3], float w[3][4]) {
  for (int c = 0; c < 3; c++) {
    const uint64_t scaled = (uint64_t)t.x[(size_t)c * t.count + i] * t.cells + t.offset[c];
    first[c] = wrap((uint32_t)(scaled >> 32), t.cells);
    weights<SCHEME>((uint32_t)scaled, w[c]);
  }
}

/** Add to cells first + (a, b, c), which may lie beyond the edge of a patch that wraps around the
 * box. */
static __device__ inline void add_to_patch(const struct assignment_task &t, const uint32_t cell[3],
                                           unsigned long long amount) {
  const uint32_t x = wrap(cell[0], t.cells), y = wrap(cell[1], t.cells), z = wrap(cell[2], t.cells);
  if (x < t.patch.size[0] && y < t.patch.size[1] && z < t.patch.size[2])
    atomicAdd(t.sum + ((size_t)x * t.patch.size[1] + y) * t.patch.size[2] + z, amount);
  else
    __trap(); /* a particle lies outside its group's patch */
}

/** Smallest and largest value of a over the CUDA block. */
static __device__ inline void block_range(int a, bool valid, int *range) {
  const int low = warp_min(valid ? a : INT32_MAX), high = warp_max(valid ? a : INT32_MIN);
  if (threadIdx.x % WARP == 0) {
    atomicMin(&range[0], low);
    atomicMax(&range[1], high);
  }
}

/** Fraction bits of a tile for n particles of at most this mass: their sum in one cell must fit,
 * and one bit is the sign. */
static __device__ inline unsigned places_for(float largest, uint32_t n) {
  const float most = largest * (float)n;
  const int bits = most > 1.0f ? ilogbf(most) + 1 : 0;
  return (unsigned)max(TILE_PLACES - bits, 0);
}

/** Working memory of a CUDA block. */
template <uint32_t W> struct workspace {
  int tile[TILE_CELLS];
  /* Weights of the rows of a stencil, and of the cells of a row. The odd size puts those of one particle
   * into different banks. */
  float row_weight[W * W][BLOCK + 1], weight[W][BLOCK + 1];
  uint32_t corner[BLOCK];      /* of a stencil in the tile */
  int range[3][2], largest[2]; /* largest: bits of a mass */
};

/** Add particles to the patch by way of a tile. Returns false, and adds nothing, if that is too small;
 * with @p anyway they are then added cell by cell. */
template <int SCHEME, uint32_t W>
static __device__ inline bool deposit_some(const struct assignment_task &t, uint32_t begin,
                                           uint32_t end, bool anyway, struct workspace<W> *work) {
  constexpr uint32_t CELLS = W * W * W, AT_A_TIME = BLOCK / CELLS; /* particles */
  const uint32_t me = threadIdx.x;
  uint32_t first[3];
  float w[3][4];
  if (me < 3) {
    work->range[me][0] = INT32_MAX;
    work->range[me][1] = INT32_MIN;
  }
  if (me < 2) work->largest[me] = me == 0 ? INT32_MAX : 0;
  __syncthreads();
  for (uint32_t start = begin; start < end; start += BLOCK) {
    const uint32_t i = start + me;
    if (i < end) stencil<SCHEME>(t, i, first, w);
    for (int c = 0; c < 3; c++) block_range((int)first[c], i < end, work->range[c]);
    if (t.mass) block_range(__float_as_int(i < end ? t.mass[i] : 0.0f), i < end, work->largest);
  }
  __syncthreads();
  uint32_t low[3], size[3];
  for (int c = 0; c < 3; c++) {
    low[c] = (uint32_t)work->range[c][0];
    size[c] = (uint32_t)work->range[c][1] - low[c] + W;
  }
  const bool tiled = (uint64_t)size[0] * size[1] * size[2] <= TILE_CELLS;
  if (!tiled && !anyway) return false;
  const uint32_t tile_cells = tiled ? size[0] * size[1] * size[2] : 0;
  for (uint32_t k = me; k < tile_cells; k += BLOCK) work->tile[k] = 0;
  const unsigned places = t.mass ? places_for(__int_as_float(work->largest[1]), end - begin)
                                 : t.places;
  const float unit = (float)(1u << places);
  /* a thread adds to the same cell of each stencil */
  const uint32_t cell = me % CELLS, turn = me / CELLS, row = cell / W,
                 place = (row / W * size[1] + row % W) * size[2] + cell % W;
  for (uint32_t start = begin; start < end; start += BLOCK) {
    const uint32_t i = start + me, n = min(end - start, (uint32_t)BLOCK);
    __syncthreads();
    if (i < end) {
      stencil<SCHEME>(t, i, first, w);
      const float mass = t.mass ? t.mass[i] * unit : unit;
      for (uint32_t a = 0; a < W; a++) {
        work->weight[a][me] = w[2][a];
        for (uint32_t b = 0; b < W; b++) work->row_weight[a * W + b][me] = w[0][a] * mass * w[1][b];
      }
      work->corner[me] = ((first[0] - low[0]) * size[1] + first[1] - low[1]) * size[2] + first[2] -
                         low[2];
    }
    __syncthreads();
    if (tiled) {
      for (uint32_t j = turn; turn < AT_A_TIME && j < n; j += AT_A_TIME)
        atomicAdd(&work->tile[work->corner[j] + place],
                  __float2int_rn(work->row_weight[row][j] * work->weight[cell % W][j]));
    } else if (i < end) { /* much of the box in size */
      for (uint32_t k = 0; k < CELLS; k++) {
        const uint32_t at[3] = {first[0] + k / (W * W), first[1] + k / W % W, first[2] + k % W};
        const long long amount = __float2int_rn(work->row_weight[k / W][me] *
                                                work->weight[k % W][me]);
        add_to_patch(t, at, (unsigned long long)amount << (PLACES - places));
      }
    }
  }
  __syncthreads();
  for (uint32_t k = me; k < tile_cells; k += BLOCK) {
    if (work->tile[k] == 0) continue;
    const uint32_t at[3] = {low[0] + k / (size[1] * size[2]), low[1] + k / size[2] % size[1],
                            low[2] + k % size[2]};
    add_to_patch(t, at, (unsigned long long)work->tile[k] << (PLACES - places));
  }
  return true;
}

template <int SCHEME>
static __global__ void __launch_bounds__(BLOCK)
    deposit(const __grid_constant__ struct assignment_task t) {
  constexpr uint32_t W = SCHEME == ASSIGN_CIC ? 2 : SCHEME == ASSIGN_TSC ? 3 : 4;
  __shared__ struct workspace<W> work;
  /* the whole node, or its parts one after the other */
  for (int part = -1; part < PARTS; part++) {
    const unsigned level = part < 0 ? t.level : t.level + PART_LEVELS;
    const uint32_t node = part < 0 ? blockIdx.x : blockIdx.x * PARTS + (uint32_t)part;
    const bool done = deposit_some<SCHEME>(t, level_first(t.count, level, node),
                                           level_first(t.count, level, node + 1), part >= 0, &work);
    if (part < 0 && done) return;
    __syncthreads();
  }
}

/** A thread has several numbers to wait for at a time. */
static __global__ void to_float(size_t n, const unsigned long long *__restrict__ sum,
                                float *__restrict__ data) {
  const size_t first = (size_t)blockIdx.x * EACH * BLOCK + threadIdx.x;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const size_t i = first + (size_t)k * BLOCK;
    if (i < n) data[i] = __ull2float_rn(sum[i]) * 0x1p-32f;
  }
}

template <int SCHEME> static void launch(struct gpu_mesh *g, const struct assignment_task &t) {
  deposit<SCHEME><<<1u << t.level, BLOCK, 0, g->gpu->stream>>>(t);
  gpu_launched("pm_assign");
}

void gpu_deposit(struct gpu_mesh *g, uint32_t count, const uint32_t *x, const float *mass,
                 bool shifted, const struct patch *patch, float *data) {
  const size_t cells = (size_t)patch->size[0] * patch->size[1] * patch->size[2];
  struct assignment_task t;
  t.count = count;
  for (t.level = 0; ((count - 1) >> t.level) + 1 > NODE_MOST;) t.level++;
  t.x = x;
  t.mass = mass;
  t.cells = g->mesh->cells;
  t.patch = *patch;
  for (int c = 0; c < 3; c++) t.offset[c] = assignment_offset(g->mesh, patch->origin[c], shifted);
  /* The sum of a node in one cell must fit: each particle adds at most 1, and one bit is the
   * sign. */
  t.places = TILE_PLACES;
  for (uint64_t most = ((uint64_t)count - 1 >> t.level) + 1; most > 1; most = (most + 1) / 2)
    t.places--;
  t.sum = (unsigned long long *)gpu_scratch(g->gpu, SCRATCH_CELLS, cells * sizeof *t.sum);
  CHECK_CUDA(cudaMemsetAsync(t.sum, 0, cells * sizeof *t.sum, g->gpu->stream));
  FOR_SCHEME(g->mesh->assignment, launch, g, t);
  to_float<<<blocks_for(cells, EACH * BLOCK), BLOCK, 0, g->gpu->stream>>>(cells, t.sum, data);
  gpu_launched("pm_assign");
}
