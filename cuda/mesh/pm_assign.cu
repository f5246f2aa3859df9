/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_assign: one CUDA block for each leaf. Weights are added as integers, so that the sum does not
 * depend on the order: first into a tile of cells around the leaf in CUDA shared memory, with as
 * many fraction bits as the leaf's number of particles, or largest mass, leaves in 32 bits, then
 * into the patch with 32 fraction bits of 64. */
#include "cuda/mesh/stencil.cuh"
#include "photons/domain/tree.h"

enum { BLOCK = 128, TILE_CELLS = 3072, PLACES = 32, TILE_PLACES = 30 };

struct assignment_task {
  uint32_t count;
  unsigned depth;
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

template <int SCHEME>
static __global__ void __launch_bounds__(BLOCK)
    deposit(const __grid_constant__ struct assignment_task t) {
  constexpr uint32_t W = SCHEME == ASSIGN_CIC ? 2 : SCHEME == ASSIGN_TSC ? 3 : 4, CELLS = W * W * W;
  __shared__ int tile[TILE_CELLS];
  __shared__ float weight[3][4][BLOCK];
  __shared__ uint32_t corner[BLOCK]; /* of a stencil in the tile, or the index of its particle */
  __shared__ int range[3][2], largest[2]; /* largest: bits of a mass */
  const uint32_t begin = level_first(t.count, t.depth, blockIdx.x),
                 end = level_first(t.count, t.depth, blockIdx.x + 1);
  uint32_t first[3];
  float w[3][4];
  if (threadIdx.x < 3) {
    range[threadIdx.x][0] = INT32_MAX;
    range[threadIdx.x][1] = INT32_MIN;
  }
  if (threadIdx.x < 2) largest[threadIdx.x] = threadIdx.x == 0 ? INT32_MAX : 0;
  __syncthreads();
  for (uint32_t start = begin; start < end; start += BLOCK) {
    const uint32_t i = start + threadIdx.x;
    if (i < end) stencil<SCHEME>(t, i, first, w);
    for (int c = 0; c < 3; c++) block_range((int)first[c], i < end, range[c]);
    if (t.mass) block_range(__float_as_int(i < end ? t.mass[i] : 0.0f), i < end, largest);
  }
  __syncthreads();
  const uint32_t low[3] = {(uint32_t)range[0][0], (uint32_t)range[1][0], (uint32_t)range[2][0]};
  uint32_t size[3];
  for (int c = 0; c < 3; c++) size[c] = (uint32_t)range[c][1] - low[c] + W;
  const bool tiled = (uint64_t)size[0] * size[1] * size[2] <= TILE_CELLS;
  const uint32_t tile_cells = tiled ? size[0] * size[1] * size[2] : 0;
  for (uint32_t k = threadIdx.x; k < tile_cells; k += BLOCK) tile[k] = 0;
  const unsigned places = t.mass ? places_for(__int_as_float(largest[1]), end - begin) : t.places;
  const float unit = (float)(1u << places);
  for (uint32_t start = begin; start < end; start += BLOCK) {
    const uint32_t i = start + threadIdx.x, n = min(end - start, (uint32_t)BLOCK);
    __syncthreads();
    if (i < end) {
      stencil<SCHEME>(t, i, first, w);
      for (uint32_t a = 0; t.mass && a < W; a++) w[0][a] *= t.mass[i];
      for (int c = 0; c < 3; c++)
        for (uint32_t a = 0; a < W; a++)
          weight[c][a][threadIdx.x] = c == 0 ? w[c][a] * unit : w[c][a];
      corner[threadIdx.x] = ((first[0] - low[0]) * size[1] + first[1] - low[1]) * size[2] +
                            first[2] - low[2];
    }
    __syncthreads();
    if (tiled) {
      for (uint32_t k = threadIdx.x; k < n * CELLS; k += BLOCK) {
        const uint32_t j = k / CELLS, cell = k % CELLS, a = cell / (W * W), b = cell / W % W,
                       c = cell % W;
        const int amount = __float2int_rn(weight[0][a][j] * weight[1][b][j] * weight[2][c][j]);
        atomicAdd(&tile[corner[j] + (a * size[1] + b) * size[2] + c], amount);
      }
    } else if (i < end) { /* a leaf that spans much of the box: add cell by cell */
      for (uint32_t a = 0; a < W; a++)
        for (uint32_t b = 0; b < W; b++)
          for (uint32_t c = 0; c < W; c++) {
            const uint32_t cell[3] = {first[0] + a, first[1] + b, first[2] + c};
            const long long amount = __float2int_rn(w[0][a] * unit * w[1][b] * w[2][c]);
            add_to_patch(t, cell, (unsigned long long)amount << (PLACES - places));
          }
    }
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < tile_cells; k += BLOCK) {
    if (tile[k] == 0) continue;
    const uint32_t cell[3] = {low[0] + k / (size[1] * size[2]), low[1] + k / size[2] % size[1],
                              low[2] + k % size[2]};
    add_to_patch(t, cell, (unsigned long long)tile[k] << (PLACES - places));
  }
}

static __global__ void to_float(size_t n, const unsigned long long *__restrict__ sum,
                                float *__restrict__ data) {
  const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) data[i] = __ull2float_rn(sum[i]) * 0x1p-32f;
}

template <int SCHEME> static void launch(struct gpu_mesh *g, const struct assignment_task &t) {
  deposit<SCHEME><<<1u << t.depth, BLOCK, 0, g->gpu->stream>>>(t);
  gpu_launched("pm_assign");
}

void gpu_deposit(struct gpu_mesh *g, uint32_t count, unsigned depth, const uint32_t *x,
                 const float *mass, bool shifted, const struct patch *patch, float *data) {
  const size_t cells = (size_t)patch->size[0] * patch->size[1] * patch->size[2];
  struct assignment_task t;
  t.count = count;
  t.depth = depth;
  t.x = x;
  t.mass = mass;
  t.cells = g->mesh->cells;
  t.patch = *patch;
  for (int c = 0; c < 3; c++) t.offset[c] = assignment_offset(g->mesh, patch->origin[c], shifted);
  /* The sum of a leaf in one cell must fit: each particle adds at most 1, and one bit is the
   * sign. */
  t.places = TILE_PLACES;
  for (uint64_t most = ((uint64_t)count - 1 >> depth) + 1; most > 1; most = (most + 1) / 2)
    t.places--;
  t.sum = (unsigned long long *)gpu_scratch(g->gpu, SCRATCH_CELLS, cells * sizeof *t.sum);
  CHECK_CUDA(cudaMemsetAsync(t.sum, 0, cells * sizeof *t.sum, g->gpu->stream));
  FOR_SCHEME(g->mesh->assignment, launch, g, t);
  to_float<<<blocks_for(cells, BLOCK), BLOCK, 0, g->gpu->stream>>>(cells, t.sum, data);
  gpu_launched("pm_assign");
}
