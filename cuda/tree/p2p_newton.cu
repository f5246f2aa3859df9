/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p of Newton's gravity: one warp for some targets of a leaf, a target block, and one division
 * of the leaf's near list. No source is out of reach, so that the pair loop has no test but that
 * of the spline's softening. The warp reads the sources of several entries at a time, collects
 * them in CUDA shared memory, and computes their force on all its targets. A lane holds up to T
 * targets in registers; where there are fewer targets than lanes, several lanes divide the sources
 * of one target. A long list has several segments, a warp for each: the one that ends last adds up
 * their sums. All sums run in a fixed order. */
#include "cuda/domain/targets.cuh"
#include "cuda/tree/p2p.cuh"

/* Tuned by measurement: CUDA blocks resident on a multiprocessor (limits registers), sources in one
 * step of the pair loop. */
#ifndef NEWTON_BLOCKS
#define NEWTON_BLOCKS 5
#endif
#ifndef NEWTON_UNROLL
#define NEWTON_UNROLL 2
#endif

enum { WARPS = 4, BLOCK = WARPS * WARP, UNROLL = NEWTON_UNROLL, TILE = 128, FEW = 16 };

/** Sources that a warp has collected: fewer than TILE, and those that a turn adds. If they are
 * MIXED, of different masses or softening lengths, both of each are kept. */
template <typename real, bool MIXED> struct tile {
  static_assert(TILE >= UNROLL * WARP, "a step must fit");
  struct source<real> source[TILE + WARP];
  real soft2[MIXED ? TILE + WARP : 1];
};

/** Force of one source on the targets, of which each pair has the larger softening. At the place of
 * a target itself d is zero. */
template <typename real, bool SPLINE, int T>
static __device__ inline void act_mixed(const struct source<real> s, real soft2,
                                        const struct softened_targets<real, true, T> &soft,
                                        struct targets<real, T> &t) {
#pragma unroll
  for (int j = 0; j < T; j++) {
    const real d[3] = {s.x - t.x[j], s.y - t.y[j], s.z - t.z[j]},
               larger = soft2 > soft.soft2[j] ? soft2 : soft.soft2[j];
    const real u = fma(d[0], d[0], fma(d[1], d[1], fma(d[2], d[2], SPLINE ? real(0) : larger)));
    real f = inverse_cube(u);
    if (SPLINE && u < larger) /* seldom */
      f = spline_force(u, larger, inverse_root(larger));
    f *= s.mass;
#pragma unroll
    for (int c = 0; c < 3; c++) t.a[j][c] = fma(f, d[c], t.a[j][c]);
  }
}

/** Force of one source on the targets. At the place of a target itself d is zero. */
template <typename real, bool SPLINE, int T>
static __device__ inline void act_one(const struct softening<real> &soft,
                                      const struct source<real> s, struct targets<real, T> &t) {
  real d[T][3], u[T], f[T]; /* all targets advance together: the dependent operations of one alone
                               would leave the arithmetic units idle */
#pragma unroll
  for (int j = 0; j < T; j++) {
    d[j][0] = s.x - t.x[j];
    d[j][1] = s.y - t.y[j];
    d[j][2] = s.z - t.z[j];
    u[j] = fma(d[j][0], d[j][0], fma(d[j][1], d[j][1], fma(d[j][2], d[j][2], soft.plummer2)));
  }
#pragma unroll
  for (int j = 0; j < T; j++) f[j] = inverse_cube(u[j]);
  if constexpr (SPLINE) {
    bool near = false;
#pragma unroll
    for (int j = 0; j < T; j++) near |= u[j] < soft.support2;
    if (near) /* seldom */
#pragma unroll
      for (int j = 0; j < T; j++) f[j] = spline_force(u[j], soft.support2, soft.inverse_support);
  }
#pragma unroll
  for (int j = 0; j < T; j++)
#pragma unroll
    for (int c = 0; c < 3; c++) t.a[j][c] = fma(f[j], d[j][c], t.a[j][c]);
}

/** Force of the first n sources on the targets; n is a multiple of UNROLL * parts. */
template <typename real, bool SPLINE, bool MIXED, int T>
static __device__ inline void act(const struct softening<real> &soft,
                                  const struct softened_targets<real, MIXED, T> &own,
                                  const struct tile<real, MIXED> *tile, uint32_t n,
                                  const struct share &share, struct targets<real, T> &t) {
  const struct source<real> *s = tile->source + share.part;
  [[maybe_unused]] const real *soft2 = tile->soft2 + share.part;
#pragma unroll 1
  for (const struct source<real> *end = s + n; s != end; s += UNROLL * share.parts) {
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
      if constexpr (MIXED)
        act_mixed<real, SPLINE, T>(s[k * share.parts], soft2[k * share.parts], own, t);
      else
        act_one<real, SPLINE, T>(soft, s[k * share.parts], t);
    }
    if constexpr (MIXED) soft2 += UNROLL * share.parts;
  }
}

/** Force of all n collected sources. Those that fill up the last step are so far away that their
 * force is zero in floats. */
template <typename real, bool SPLINE, bool MIXED, int T>
static __device__ inline void act_rest(const struct softening<real> &soft,
                                       const struct softened_targets<real, MIXED, T> &own,
                                       struct tile<real, MIXED> *tile, uint32_t n,
                                       const struct share &share, struct targets<real, T> &t) {
  const uint32_t step = UNROLL * share.parts, acting = (n + step - 1) / step * step;
  for (uint32_t k = n + threadIdx.x % WARP; k < acting; k += WARP) {
    tile->source[k] = {real(1e18), real(1e18), real(1e18), real(0)};
    if (MIXED) tile->soft2[k] = real(0);
  }
  __syncwarp();
  act<real, SPLINE, MIXED, T>(soft, own, tile, acting, share, t);
}

/** Force of as many of the n collected sources as fill whole steps. The rest is moved to the front.
 * Returns its number. */
template <typename real, bool SPLINE, bool MIXED, int T>
static __device__ inline uint32_t act_full(const struct softening<real> &soft,
                                           const struct softened_targets<real, MIXED, T> &own,
                                           struct tile<real, MIXED> *tile, uint32_t n,
                                           const struct share &share, struct targets<real, T> &t) {
  const uint32_t acting = share.full, lane = threadIdx.x % WARP;
  __syncwarp();
  act<real, SPLINE, MIXED, T>(soft, own, tile, acting, share, t);
  __syncwarp();
  for (uint32_t k = acting + lane; k < n; k += WARP) {
    tile->source[k - acting] = tile->source[k];
    if (MIXED) tile->soft2[k - acting] = tile->soft2[k];
  }
  return n - acting;
}

/** Entries of the near list for one segment of one division of a leaf's sources. */
struct entries {
  uint32_t begin, end;
};

static __device__ inline struct entries
entries_of(const struct p2p_problem &p, const struct target_block &block, uint32_t division) {
  const uint32_t first = p.offset[block.leaf], n = p.offset[block.leaf + 1] - first,
                 pieces = p.divisions * block.segments,
                 piece = division * block.segments + block.segment;
  return {first + (uint32_t)((uint64_t)n * piece / pieces),
          first + (uint32_t)((uint64_t)n * (piece + 1) / pieces)};
}

/** Force of these entries' sources on the targets. In a turn each entry has p.span lanes. Returns
 * the number of sources. */
template <typename real, bool SPLINE, bool MIXED, int T>
static __device__ uint32_t act_on(const struct p2p_problem &p, const struct softening<real> &soft,
                                  const struct softened_targets<real, MIXED, T> &own,
                                  struct tile<real, MIXED> *tile, const struct entries &entries,
                                  const uint32_t centre[3], const struct share &share,
                                  struct targets<real, T> &t) {
  const uint32_t lane = threadIdx.x % WARP, span = p.span;
  const real scale = real(p.scale);
  uint32_t collected = 0, sources = 0;
  for (uint32_t batch = entries.begin; batch < entries.end; batch += WARP) {
    struct range mine = {0, p.x, 0, 0, 0};
    if (batch + lane < entries.end) mine = source_range(p, p.entry[batch + lane]);
    sources += mine.end - mine.first;
    const uint32_t number = min(entries.end - batch, (uint32_t)WARP);
    for (uint32_t e = 0; e < number; e += WARP / span) {
      const uint32_t from = e + lane / span;
      const uint32_t *x = (const uint32_t *)__shfl_sync(~0u, (unsigned long long)mine.x, from);
      const uint32_t n = __shfl_sync(~0u, mine.group_count, from),
                     end = __shfl_sync(~0u, mine.end, from);
      [[maybe_unused]] const uint32_t neighbour = MIXED ? __shfl_sync(~0u, mine.slot, from) : 0;
      uint32_t i = __shfl_sync(~0u, mine.first, from) + lane % span;
      for (uint32_t valid; (valid = __ballot_sync(~0u, i < end)) != 0; i += span) {
        if (i < end) {
          const uint32_t place = collected + __popc(valid & ((1u << lane) - 1));
          tile->source[place] = {
              rounded_product(real(position_difference(__ldg(x + i), centre[0])), scale),
              rounded_product(real(position_difference(__ldg(x + n + i), centre[1])), scale),
              rounded_product(real(position_difference(__ldg(x + 2 * (size_t)n + i), centre[2])),
                              scale),
              MIXED ? real(mass_at(p, neighbour, i)) : real(0)};
          if constexpr (MIXED) tile->soft2[place] = real(soft2_at(p, neighbour, i));
        }
        collected += __popc(valid);
        if (collected >= TILE)
          collected = act_full<real, SPLINE, MIXED, T>(soft, own, tile, collected, share, t);
      }
    }
  }
  act_rest<real, SPLINE, MIXED, T>(soft, own, tile, collected, share, t);
  return warp_sum(sources);
}

/** Sum over the lanes that divide the sources of one target: lanes that differ by a multiple of
 * `lanes`. Right in the first `lanes` lanes. */
template <typename real>
static __device__ inline real sum_parts(real own, uint32_t lanes, uint32_t parts) {
  real total = own;
  if (lanes * parts == WARP && (parts & (parts - 1)) == 0) {
    for (uint32_t step = lanes; step < WARP; step *= 2) total += __shfl_xor_sync(~0u, total, step);
  } else {
    for (uint32_t part = 1; part < parts; part++)
      total += __shfl_sync(~0u, own, (threadIdx.x + part * lanes) % WARP);
  }
  return total;
}

/** Sums of a segment of a target block, [3][P2P_TARGETS_MOST]. */
static __device__ inline float *part_of(const struct p2p_problem &p,
                                        const struct target_block &block, uint32_t segment,
                                        uint32_t division) {
  return p.part + ((size_t)(block.part + segment) * p.divisions + division) * 3 * P2P_TARGETS_MOST;
}

/** The warp whose segment is the last one with sums adds up those of all segments, in their order. */
static __device__ void add_segments(const struct p2p_problem &p, const struct target_block &block,
                                    uint32_t division) {
  const uint32_t lane = threadIdx.x % WARP, n = block.end - block.begin;
  __threadfence();
  __syncwarp();
  uint32_t before = 0;
  if (lane == 0) before = atomicAdd(&p.finished[block.part * p.divisions + division], 1);
  if (__shfl_sync(~0u, before, 0) + 1 < block.segments) return;
  __threadfence();
  for (uint32_t k = lane; k < 3 * n; k += WARP) {
    const uint32_t c = k / n, i = k % n;
    float sum = 0.0f;
    for (uint32_t s = 0; s < block.segments; s++)
      sum += __ldcg(part_of(p, block, s, division) + c * P2P_TARGETS_MOST + i);
    p.acceleration[((size_t)division * 3 + c) * p.count + block.begin + i] = sum;
  }
}

/** Force on the targets of a block, T of them in each lane, from one division of its segment of their
 * near list. */
template <typename real, bool SPLINE, bool MIXED, int T>
static __device__ inline void
act_on_block(const struct p2p_problem &p, const struct softening<real> &soft,
             struct tile<real, MIXED> *tile, const struct target_block &block, uint32_t division) {
  const uint32_t lane = threadIdx.x % WARP, n = block.end - block.begin;
  const struct reach reach = reach_of(p, block.begin, block.end);
  const uint32_t lanes = (n + T - 1) / T, parts = WARP / lanes, part = lane / lanes,
                 slot = lane % lanes;
  struct targets<real, T> t = load_targets<real, T>(p, reach.centre, block.begin, n, lanes, slot);
  const struct softened_targets<real, MIXED, T> own = load_softening<real, MIXED, T>(
      p, block.begin, n, lanes, slot);
  /* results of lanes beyond the last part are not used */
  const struct share share = {part < parts ? part : 0, parts, TILE - TILE % (UNROLL * parts)};
  const uint32_t sources = act_on<real, SPLINE, MIXED, T>(
      p, soft, own, tile, entries_of(p, block, division), reach.centre, share, t);
  const bool whole = block.segments == 1;
  float *to = whole ? p.acceleration + (size_t)division * 3 * p.count + block.begin
                    : part_of(p, block, block.segment, division);
  const size_t stride = whole ? p.count : P2P_TARGETS_MOST;
#pragma unroll
  for (int j = 0; j < T; j++)
#pragma unroll
    for (int c = 0; c < 3; c++) {
      const real total = sum_parts(t.a[j][c], lanes, parts);
      const uint32_t i = j * lanes + lane;
      if (lane < lanes && i < n) to[c * stride + i] = p.factor * float(total);
    }
  if (!whole) add_segments(p, block, division);
  if (lane == 0) atomicAdd(p.pairs, (unsigned long long)n * sources);
}

/** Each lane has T targets, or two where a block of packed targets is small. */
template <typename real, bool SPLINE, bool MIXED, int T>
static __global__ void __launch_bounds__(BLOCK, sizeof(real) == sizeof(float) ? NEWTON_BLOCKS : 3)
    p2p_newton(const __grid_constant__ struct p2p_problem p,
               const __grid_constant__ struct softening<real> soft) {
  __shared__ struct tile<real, MIXED> tiles[WARPS];
  const uint32_t warp = threadIdx.x / WARP, number = blockIdx.x * WARPS + warp;
  if (number >= p.blocks) return;
  const struct target_block block = p.order[number];
  if (block.begin == block.end) return;
  if (T > 2 && p.first && block.end - block.begin <= FEW)
    act_on_block<real, SPLINE, MIXED, 2>(p, soft, &tiles[warp], block, blockIdx.y);
  else
    act_on_block<real, SPLINE, MIXED, T>(p, soft, &tiles[warp], block, blockIdx.y);
}

template <typename real, bool SPLINE, bool MIXED>
static void launch(const struct gpu *g, const struct p2p_problem &p,
                   const struct softening<real> &soft, int t) {
  const dim3 blocks(blocks_for(p.blocks, WARPS), p.divisions);
  if (sizeof(real) == sizeof(double) || t == 2)
    p2p_newton<real, SPLINE, MIXED, 2><<<blocks, BLOCK, 0, g->stream>>>(p, soft);
  else if constexpr (sizeof(real) == sizeof(float)) {
    if (t == 3)
      p2p_newton<real, SPLINE, MIXED, 3><<<blocks, BLOCK, 0, g->stream>>>(p, soft);
    else
      p2p_newton<real, SPLINE, MIXED, 4><<<blocks, BLOCK, 0, g->stream>>>(p, soft);
  }
}

template <typename real>
static void launch_law(const struct gpu *g, const struct p2p_law *law, const struct p2p_problem &p,
                       int t) {
  const struct softening<real> soft = softening_for<real>(law);
  const bool mixed = p.source_mass || p.source_type;
  if (law->support2 > 0.0f)
    mixed ? launch<real, true, true>(g, p, soft, t) : launch<real, true, false>(g, p, soft, t);
  else
    mixed ? launch<real, false, true>(g, p, soft, t) : launch<real, false, false>(g, p, soft, t);
}

void p2p_newton_launch(const struct gpu *g, const struct p2p_law *law, const struct p2p_problem *p,
                       int t, bool double_precision) {
  if (double_precision)
    launch_law<double>(g, law, *p, t);
  else
    launch_law<float>(g, law, *p, t);
}
