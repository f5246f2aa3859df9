/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cut_count, cut_send: the domain decomposition of particles that stay on the GPU
 * (group_cut.h). Particles that follow each other are near each other, so that a warp mostly has one node
 * and few values of a digit: what it finds is added once. */
#include "cuda/domain/gpu_domain.h"
#include "cuda/runtime/gpu.cuh"

enum { BLOCK = 256, ROWS = 16 /* of particles that a warp sends */, SCAN = 1024 };

/** What the kernels know of a group. */
struct pass {
  uint32_t count;
  const uint32_t *x;
  const struct node_cut *cut; /* NULL: there are no sides yet */
};

static __global__ void __launch_bounds__(BLOCK)
    count_values(const struct pass p, const uint16_t *side, unsigned shift, unsigned known,
                 uint32_t *histogram) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  uint32_t key = ~0u;
  if (i < p.count) {
    const struct node_cut c = p.cut[side[i]];
    const uint32_t value = p.x[(size_t)c.axis * p.count + i];
    if ((uint64_t)(value ^ c.value) >> known == 0)
      key = c.row * DIGIT_VALUES + ((value - c.value) >> shift);
  }
  const uint32_t same = __match_any_sync(~0u, key);
  if (key != ~0u && (int)(threadIdx.x % WARP) == __ffs(same) - 1)
    atomicAdd(&histogram[key], (uint32_t)__popc(same));
}

/** Replace the number of ties that go left by the number of the particle behind the last of them. One
 * CUDA block for each side. */
static __global__ void __launch_bounds__(SCAN)
    find_last_ties(const struct pass p, const uint16_t *side, struct node_cut *cut) {
  __shared__ uint32_t of_warp[SCAN / WARP];
  const struct node_cut c = cut[blockIdx.x];
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  if (c.ties == 0 || c.ties == ~0u) return;
  for (uint32_t first = 0, before = 0; before < c.ties && first < p.count; first += SCAN) {
    const uint32_t i = first + threadIdx.x;
    const bool tied = i < p.count && side[i] == blockIdx.x &&
                      p.x[(size_t)c.axis * p.count + i] == c.value;
    const uint32_t ties = __ballot_sync(~0u, tied);
    __syncthreads();
    if (lane == 0) of_warp[warp] = (uint32_t)__popc(ties);
    __syncthreads();
    uint32_t number = before + (uint32_t)__popc(ties & ((2u << lane) - 1));
    for (uint32_t w = 0; w < SCAN / WARP; w++) {
      number += w < warp ? of_warp[w] : 0;
      before += of_warp[w];
    }
    if (tied && number == c.ties) cut[blockIdx.x].ties = i + 1;
  }
}

static __global__ void __launch_bounds__(BLOCK) clear_parts(uint32_t n, struct node_part *part) {
  const uint32_t s = blockIdx.x * BLOCK + threadIdx.x;
  if (s < n) part[s] = {{~0u, ~0u, ~0u}, {0, 0, 0}, 0};
}

static __device__ inline void widen(struct node_part *part, const struct node_part &by) {
  for (int c = 0; c < 3; c++) {
    atomicMin(&part->low[c], by.low[c]);
    atomicMax(&part->high[c], by.high[c]);
  }
  atomicAdd(&part->count, by.count);
}

static __global__ void __launch_bounds__(BLOCK)
    send_down(const struct pass p, uint16_t *side, struct node_part *part) {
  const uint32_t lane = threadIdx.x % WARP, warp = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
  const uint64_t begin = (uint64_t)warp * ROWS * WARP;
  const struct node_part nothing = {{~0u, ~0u, ~0u}, {0, 0, 0}, 0};
  struct node_part found = nothing; /* by this lane, on the side of the warp */
  uint32_t of_warp = 0;
  const auto tell = [&] {
    for (int c = 0; c < 3; c++) {
      found.low[c] = warp_min(found.low[c]);
      found.high[c] = warp_max(found.high[c]);
    }
    found.count = warp_sum(found.count);
    if (lane == 0 && found.count > 0) widen(&part[of_warp], found);
    found = nothing;
  };
  for (uint64_t row = begin; row < begin + ROWS * WARP && row < p.count; row += WARP) {
    const uint64_t i = row + lane;
    struct node_part mine = nothing;
    uint32_t to = 0;
    if (i < p.count) {
      for (int c = 0; c < 3; c++) mine.low[c] = mine.high[c] = p.x[(size_t)c * p.count + i];
      mine.count = 1;
      if (p.cut) {
        const struct node_cut c = p.cut[side[i]];
        const uint32_t value = c.axis == 0 ? mine.low[0] : c.axis == 1 ? mine.low[1] : mine.low[2];
        to = 2 * c.row + !(value < c.value || (value == c.value && i < c.ties));
      }
      side[i] = (uint16_t)to;
    }
    const uint32_t first = __shfl_sync(~0u, to, 0);
    if (!__all_sync(~0u, to == first || i >= p.count)) { /* several sides in this row */
      if (i < p.count) widen(&part[to], mine);
      continue;
    }
    if (first != of_warp) {
      tell();
      of_warp = first;
    }
    for (int c = 0; c < 3; c++) {
      found.low[c] = min(found.low[c], mine.low[c]);
      found.high[c] = max(found.high[c], mine.high[c]);
    }
    found.count += mine.count;
  }
  tell();
}

/** The cuts in device memory. */
static struct node_cut *upload_cuts(struct gpu *g, const struct node_cut *cut, uint32_t sides) {
  struct node_cut *to = (struct node_cut *)gpu_scratch(g, SCRATCH_TABLE, sides * sizeof *to);
  gpu_upload(g, to, cut, sides * sizeof *to);
  return to;
}

void gpu_cut_count(struct gpu *g, uint32_t count, const uint32_t *x, const uint16_t *side,
                   const struct node_cut *cut, uint32_t sides, uint32_t rows, int digit,
                   uint32_t *histogram) {
  const struct pass p = {count, x, upload_cuts(g, cut, sides)};
  gpu_clear(g, histogram, (size_t)rows * DIGIT_VALUES * sizeof *histogram);
  count_values<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(
      p, side, digit_shift(digit), digit_shift(digit - 1), histogram);
  gpu_launched("cut_count");
}

void gpu_cut_send(struct gpu *g, uint32_t count, const uint32_t *x, uint16_t *side,
                  const struct node_cut *cut, uint32_t sides, uint32_t rows,
                  struct node_part *part) {
  struct node_cut *cuts = cut ? upload_cuts(g, cut, sides) : NULL;
  const struct pass p = {count, x, cuts};
  bool ties = false;
  for (uint32_t s = 0; cut && s < sides; s++)
    ties = ties || (cut[s].ties > 0 && cut[s].ties != ~0u);
  if (ties) {
    find_last_ties<<<sides, SCAN, 0, g->stream>>>(p, side, cuts);
    gpu_launched("cut_send");
  }
  clear_parts<<<blocks_for(2 * rows, BLOCK), BLOCK, 0, g->stream>>>(2 * rows, part);
  gpu_launched("cut_send");
  send_down<<<blocks_for(((uint64_t)count + ROWS - 1) / ROWS, BLOCK), BLOCK, 0, g->stream>>>(
      p, side, part);
  gpu_launched("cut_send");
}
