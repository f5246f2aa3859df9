/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick_rungs: a thread kicks every so many active particles. The last CUDA block to finish writes the
 * numbers of particles by rung and the largest numbers. All of these are found with integers, so that they
 * do not depend on the order of the CUDA blocks. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

/* Few CUDA blocks, since each adds its findings to those of all. */
enum { BLOCK = 256, BLOCKS = 1024 };

/** Of a CUDA block, and of the whole kernel. */
struct findings {
  int32_t acceleration2, momentum2; /* bits of squares, see kick_largest.h */
  uint32_t rungs[RUNGS];
};

struct totals {
  struct findings sum;
  uint32_t blocks_done;
  struct kick_largest largest; /* results */
  uint32_t rungs[RUNGS];
};

static __device__ float take_root(int32_t *square) {
  return sqrtf(magnitude_from_bits(atomicExch(square, 0)));
}

/** Add the findings of a warp to those of its CUDA block. */
static __device__ void add_warp(struct findings *block,
                                struct kicked mine) { /* rung RUNGS: no particle */
  const uint32_t lane = threadIdx.x % WARP, same = __match_any_sync(~0u, mine.rung);
  if (mine.rung < RUNGS && lane == __ffs(same) - 1u)
    atomicAdd(&block->rungs[mine.rung], __popc(same));
  const int32_t a2 = warp_max(mine.acceleration2), p2 = warp_max(mine.momentum2);
  if (lane > 0) return;
  atomicMax(&block->acceleration2, a2);
  atomicMax(&block->momentum2, p2);
}

static __device__ void add_block(struct findings *sum, const struct findings *block) {
  const uint32_t k = threadIdx.x;
  if (k < RUNGS && block->rungs[k] > 0) atomicAdd(&sum->rungs[k], block->rungs[k]);
  if (k == 0) atomicMax(&sum->acceleration2, block->acceleration2);
  if (k == 0) atomicMax(&sum->momentum2, block->momentum2);
}

/** Write the results, and leave the sums zero for the next kernel. */
static __device__ void finish(struct totals *t) {
  const uint32_t k = threadIdx.x;
  if (k < RUNGS) t->rungs[k] = atomicExch(&t->sum.rungs[k], 0);
  if (k > 0) return;
  t->largest.acceleration = take_root(&t->sum.acceleration2);
  t->largest.momentum = take_root(&t->sum.momentum2);
  t->blocks_done = 0;
}

/** @tparam HOLES  whether there are black holes, which take half of the registers */
template <bool HOLES>
static __global__ void __launch_bounds__(BLOCK)
    kick_rungs(const __grid_constant__ struct rung_kick k,
               const __grid_constant__ struct rung_arrays given, struct totals *totals) {
  struct rung_arrays a = given;
  if (!HOLES) a.holes = NULL;
  __shared__ struct findings block;
  __shared__ bool last;
  for (uint32_t i = threadIdx.x; i < sizeof block / sizeof(uint32_t); i += BLOCK)
    ((uint32_t *)&block)[i] = 0;
  __syncthreads();
  for (uint32_t first = blockIdx.x * BLOCK; first < a.active; first += gridDim.x * BLOCK) {
    const uint32_t j = first + threadIdx.x;
    add_warp(&block, j < a.active ? kick_by_rung(&k, &a, j) : kicked{0, 0, RUNGS});
  }
  __syncthreads();
  add_block(&totals->sum, &block);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&totals->blocks_done, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) finish(totals);
}

void gpu_kick_rungs(struct gpu *g, const struct rung_kick *kick, const struct rung_arrays *arrays,
                    uint32_t *rungs, struct kick_largest *largest) {
  struct totals *totals = (struct totals *)(g->counters + COUNTERS_RUNGS);
  static_assert(sizeof *totals <= (COUNTERS - COUNTERS_RUNGS) * sizeof *g->counters,
                "more than the counters hold");
  const uint32_t blocks = min(blocks_for(arrays->active, BLOCK), (uint32_t)BLOCKS);
  if (arrays->holes)
    kick_rungs<true><<<blocks, BLOCK, 0, g->stream>>>(*kick, *arrays, totals);
  else
    kick_rungs<false><<<blocks, BLOCK, 0, g->stream>>>(*kick, *arrays, totals);
  gpu_launched("kick_rungs");
  CHECK_CUDA(cudaMemcpyAsync(rungs + kick->top, totals->rungs + kick->top,
                             (RUNGS - kick->top) * sizeof *rungs, cudaMemcpyDeviceToHost,
                             g->stream));
  CHECK_CUDA(cudaMemcpyAsync(largest, &totals->largest, sizeof *largest, cudaMemcpyDeviceToHost,
                             g->stream));
}
