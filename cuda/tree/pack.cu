/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pack: one kernel counts the active particles of each stretch of a group, which is what one CUDA
 * block reads. In another kernel the CUDA block of a stretch sums the counts of the stretches
 * before it, and writes the stretch's active particles, in their order. CUDA blocks without active
 * particles have nothing to write. A third kernel finds the first target of each leaf. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/gpu_tree.h"

/* A warp has ROWS * WARP consecutive particles of its CUDA block's stretch. */
enum { BLOCK = 256, WARPS = BLOCK / WARP, ROWS = 8, STRETCH = ROWS * BLOCK };

struct problem {
  uint32_t count, active;
  unsigned depth; /* of the targets' tree */
  uint8_t top;
  const uint8_t *rung;
  const uint32_t *x;
  const float *acceleration;
  uint32_t *found; /* [stretch] active particles */
  uint32_t *index, *first, *packed_x;
  float *packed_acceleration;
};

/** This lane's particle in a row of its warp. It may be beyond the last particle. */
static __device__ inline uint64_t particle_at(uint32_t row) {
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  return (uint64_t)blockIdx.x * STRETCH + (warp * ROWS + row) * WARP + lane;
}

/** Bit r is set if this lane's particle in row r is active. */
static __device__ inline uint32_t active_rows(const struct problem &p) {
  uint32_t rows = 0;
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint64_t i = particle_at(row);
    rows |= (uint32_t)(i < p.count && p.rung[i] >= p.top) << row;
  }
  return rows;
}

/** Sum over a CUDA block, the same in all threads. */
static __device__ inline uint32_t block_sum(uint32_t a) {
  __shared__ uint32_t of_warp[WARPS];
  __syncthreads(); /* of_warp may still be read by an earlier call */
  a = warp_sum(a);
  if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = a;
  __syncthreads();
  uint32_t sum = 0;
  for (uint32_t warp = 0; warp < WARPS; warp++) sum += of_warp[warp];
  return sum;
}

static __global__ void __launch_bounds__(BLOCK)
    count_active(const __grid_constant__ struct problem p) {
  const uint32_t found = block_sum((uint32_t)__popc(active_rows(p)));
  if (threadIdx.x == 0) p.found[blockIdx.x] = found;
}

static __device__ void write_particle(const struct problem &p, uint32_t from, uint32_t to) {
  p.index[to] = from;
  for (size_t c = 0; c < 3; c++) {
    p.packed_x[c * p.active + to] = p.x[c * p.count + from];
    p.packed_acceleration[c * p.active + to] = p.acceleration[c * p.count + from];
  }
}

static __global__ void __launch_bounds__(BLOCK)
    write_active(const __grid_constant__ struct problem p) {
  __shared__ uint32_t of_warp[WARPS];
  __shared__ uint16_t place[STRETCH]; /* of the active ones in the stretch */
  const uint32_t here = p.found[blockIdx.x], lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const bool last = blockIdx.x == gridDim.x - 1;
  if (here == 0 && !last) return;
  uint32_t before = 0;
  for (uint32_t stretch = threadIdx.x; stretch < blockIdx.x; stretch += BLOCK)
    before += p.found[stretch];
  before = block_sum(before);
  if (before + here > p.active || (last && before + here != p.active))
    __trap(); /* an internal error: memory is made for p.active particles */
  const uint32_t rows = active_rows(p), of_this = warp_sum((uint32_t)__popc(rows));
  if (lane == 0) of_warp[warp] = of_this;
  __syncthreads();
  uint32_t found = 0;
  for (uint32_t w = 0; w < warp; w++) found += of_warp[w];
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t lanes = __ballot_sync(~0u, rows >> row & 1);
    if (rows >> row & 1)
      place[found + __popc(lanes & ((1u << lane) - 1))] = (uint16_t)((warp * ROWS + row) * WARP +
                                                                     lane);
    found += __popc(lanes);
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < here; k += BLOCK)
    write_particle(p, blockIdx.x * STRETCH + place[k], before + k);
}

/** A leaf's first target is the first one that stands in the group at or after the leaf's first
 * particle. The last number of the table is that of all targets. */
static __global__ void __launch_bounds__(BLOCK)
    find_leaves(const __grid_constant__ struct problem p) {
  const uint32_t leaf = blockIdx.x * BLOCK + threadIdx.x;
  if (leaf > 1u << p.depth) return;
  const uint32_t particle = level_first(p.count, p.depth, leaf);
  uint32_t low = 0, high = p.active;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (p.index[middle] < particle)
      low = middle + 1;
    else
      high = middle;
  }
  p.first[leaf] = low;
}

void gpu_pack(struct gpu *g, uint32_t count, const uint8_t *rung, uint8_t top, const uint32_t *x,
              const float *acceleration, uint32_t active, unsigned depth, uint32_t *index,
              uint32_t *first, uint32_t *packed_x, float *packed_acceleration) {
  const uint32_t stretches = blocks_for(count, STRETCH);
  uint32_t *found = (uint32_t *)gpu_scratch(g, SCRATCH_PACK, stretches * sizeof *found);
  const struct problem p = {count,        active, depth, top,   rung,     x,
                            acceleration, found,  index, first, packed_x, packed_acceleration};
  count_active<<<stretches, BLOCK, 0, g->stream>>>(p);
  gpu_launched("pack");
  write_active<<<stretches, BLOCK, 0, g->stream>>>(p);
  gpu_launched("pack");
  find_leaves<<<blocks_for((1ull << depth) + 1, BLOCK), BLOCK, 0, g->stream>>>(p);
  gpu_launched("pack");
}
