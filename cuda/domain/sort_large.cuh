/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: large nodes are cut by histograms. */
#ifndef PHOTONS_CUDA_DOMAIN_SORT_LARGE_CUH
#define PHOTONS_CUDA_DOMAIN_SORT_LARGE_CUH

#include "cuda/domain/sort_level.cuh"

/** The root's box. */
static __global__ void __launch_bounds__(BLOCK) measure(const struct level l) {
  const struct chunk k = this_chunk(l);
  struct extent e[1];
  clear(&e[0]);
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP, particle = particle_at(l, min(place, k.end - 1)),
                   x[3] = {coordinate(l, particle, 0), coordinate(l, particle, 1),
                           coordinate(l, particle, 2)};
    include(&e[0], x);
  }
  widen(l, k.node, e);
}

/** Coordinates along the longest side of the node's box, and a histogram of their first digits. */
static __global__ void __launch_bounds__(BLOCK) make_keys(const struct level l) {
  __shared__ uint32_t number[BINS];
  const struct chunk k = this_chunk(l);
  const struct direction d = direction_of(l.low + 3 * (size_t)k.node, l.high + 3 * (size_t)k.node,
                                          COORDINATE_BITS);
  number[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    if (place >= k.end) continue;
    const uint32_t key = (coordinate(l, particle_at(l, place), d.axis) - d.low) >> d.shift;
    l.key[place] = (uint16_t)key;
    atomicAdd(&number[key >> DIGIT_BITS], 1u);
  }
  __syncthreads();
  if (number[threadIdx.x])
    atomicAdd(&l.digits[2 * (size_t)k.node * BINS + threadIdx.x], number[threadIdx.x]);
}

/** Sum over the threads before this one in the CUDA block. */
static __device__ inline uint32_t sum_before(uint32_t a) {
  __shared__ uint32_t of_warp[WARPS];
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  uint32_t sum = a;
  for (uint32_t step = 1; step < WARP; step *= 2) {
    const uint32_t other = __shfl_up_sync(~0u, sum, step);
    sum += lane >= step ? other : 0;
  }
  __syncthreads();
  if (lane == WARP - 1) of_warp[warp] = sum;
  __syncthreads();
  for (uint32_t w = 0; w < warp; w++) sum += of_warp[w];
  return sum - a;
}

/** Where the first `rank` particles end: the digit of the last one, and how many with that digit are among
 * them. */
static __device__ inline uint2 find_digit(const uint32_t *number, uint32_t rank) {
  __shared__ uint2 found;
  if (threadIdx.x == 0) found = make_uint2(0, 0); /* rank 0: none is among them */
  const uint32_t mine = number[threadIdx.x], before = sum_before(mine);
  if (before < rank && rank <= before + mine) found = make_uint2(threadIdx.x, rank - before);
  __syncthreads();
  return found;
}

/** The first digit of the cut, and a histogram of the second digits of coordinates that have it. */
static __global__ void __launch_bounds__(BLOCK) count_digits(const struct level l) {
  __shared__ uint32_t number[BINS];
  const struct chunk k = this_chunk(l);
  uint32_t *digits = l.digits + 2 * (size_t)k.node * BINS;
  number[threadIdx.x] = 0;
  const uint2 first = find_digit(digits, k.middle - k.begin);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    l.cut[k.node].digit[0] = first.x;
    l.cut[k.node].rest[0] = first.y;
  }
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    if (place >= k.end) continue;
    const uint32_t key = l.key[place];
    if (key >> DIGIT_BITS == first.x) atomicAdd(&number[key % BINS], 1u);
  }
  __syncthreads();
  if (number[threadIdx.x]) atomicAdd(&digits[BINS + threadIdx.x], number[threadIdx.x]);
}

/** The second digit of the cut, and the chunk's particles below the cut and at it. */
static __global__ void __launch_bounds__(BLOCK) count_parts(const struct level l) {
  __shared__ struct part sum;
  const struct chunk k = this_chunk(l);
  struct cut *cut = &l.cut[k.node];
  if (threadIdx.x == 0) sum = {0, 0};
  const uint2 second = find_digit(l.digits + (2 * (size_t)k.node + 1) * BINS, cut->rest[0]);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    cut->digit[1] = second.x;
    cut->rest[1] = second.y;
  }
  const uint32_t at = cut->digit[0] << DIGIT_BITS | second.x;
  struct part mine = {0, 0};
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    if (place >= k.end) continue;
    mine.below += l.key[place] < at;
    mine.at += l.key[place] == at;
  }
  mine = {warp_sum(mine.below), warp_sum(mine.at)};
  if (threadIdx.x % WARP == 0) {
    atomicAdd(&sum.below, mine.below);
    atomicAdd(&sum.at, mine.at);
  }
  __syncthreads();
  if (threadIdx.x == 0) parts_of(l, k)[blockIdx.x] = sum;
}

static __device__ inline struct part operator+(const struct part &a, const struct part &b) {
  return {a.below + b.below, a.at + b.at};
}

/** Send the particles to their side of the cut, and measure the boxes of both sides. */
static __global__ void __launch_bounds__(BLOCK) divide(const struct level l, uint32_t *order) {
  __shared__ struct part of_earlier[WARPS], of_warp[WARPS];
  const struct chunk k = this_chunk(l);
  const struct cut cut = l.cut[k.node];
  const uint32_t at = cut.digit[0] << DIGIT_BITS | cut.digit[1], lane = threadIdx.x % WARP,
                 warp = threadIdx.x / WARP, lower_lanes = (1u << lane) - 1;
  const struct part *of_chunk = parts_of(l, k);
  struct part earlier = {0, 0}, mine = {0, 0}; /* of earlier chunks, of this warp */
  for (uint32_t i = threadIdx.x; i < blockIdx.x; i += BLOCK) earlier = earlier + of_chunk[i];
  uint32_t below[ROWS], equal[ROWS]; /* lanes */
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP, key = place < k.end ? l.key[place] : ~0u;
    below[row] = __ballot_sync(~0u, key < at);
    equal[row] = __ballot_sync(~0u, key == at);
    mine = mine + part{(uint32_t)__popc(below[row]), (uint32_t)__popc(equal[row])};
  }
  earlier = {warp_sum(earlier.below), warp_sum(earlier.at)};
  if (lane == 0) {
    of_earlier[warp] = earlier;
    of_warp[warp] = mine;
  }
  __syncthreads();
  struct part before = {0, 0}; /* this row */
  for (uint32_t w = 0; w < WARPS; w++) {
    before = before + of_earlier[w];
    if (w < warp) before = before + of_warp[w];
  }
  struct extent side[2];
  clear(&side[0]);
  clear(&side[1]);
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    /* earlier ones at the cut, and of the first side */
    const uint32_t tied = before.at + __popc(equal[row] & lower_lanes),
                   first = before.below + __popc(below[row] & lower_lanes) + min(tied, cut.rest[1]);
    const bool is_below = below[row] >> lane & 1, is_at = equal[row] >> lane & 1,
               second = !is_below && !(is_at && tied < cut.rest[1]);
    before = before + part{(uint32_t)__popc(below[row]), (uint32_t)__popc(equal[row])};
    if (place >= k.end) continue;
    const uint32_t particle = particle_at(l, place),
                   x[3] = {coordinate(l, particle, 0), coordinate(l, particle, 1),
                           coordinate(l, particle, 2)};
    order[second ? k.middle + (place - k.begin) - first : k.begin + first] = particle;
    if (second)
      include(&side[1], x);
    else
      include(&side[0], x);
  }
  widen(l, 2 * k.node, side);
}

#endif
