/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: one CUDA block for some targets of a leaf, a target block; but for Newton's gravity see
 * p2p_newton.cu. Where a group has few target
 * blocks, several CUDA blocks divide the sources of each, so that the GPU is full; another kernel
 * adds up their sums. The warps of these CUDA blocks take turns in reading the sources, 64 at a
 * time. Each warp keeps the sources in reach of the targets' box in CUDA shared memory.
 *
 * Where the targets are close together, each warp computes the force of its sources on all targets.
 * Else each warp has a quarter of the targets, and computes the force on them of all sources in reach of
 * the quarter's box: from time to time each warp passes on the sources that all warps have kept.
 *
 * A lane holds up to T targets in registers; where there are fewer targets than lanes, several lanes
 * divide the sources of one target. All sums run in a fixed order. The few sources that are near enough
 * for softening to matter are listed apart, so that the main loop needs no test for them. */
#include "cuda/domain/targets.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/lists.cuh"
#include "cuda/tree/p2p.cuh"

/* Tuned by measurement: CUDA blocks resident on a multiprocessor (limits registers), sources in one
 * step of the main loop. */
#ifndef P2P_BLOCKS
#define P2P_BLOCKS 5
#endif
#ifndef P2P_UNROLL
#define P2P_UNROLL 1
#endif

/* CUDA blocks of a task that fill a GPU on which other tasks run as well, and the most that divide
 * the sources of a target block. Results depend on these numbers, but not on the GPU. */
#ifndef P2P_CUDA_BLOCKS
#define P2P_CUDA_BLOCKS 512
#endif
enum { CUDA_BLOCKS_WANTED = P2P_CUDA_BLOCKS, DIVISIONS_MOST = 64 };
/* Leaves of packed targets with more than this many on average have four targets a lane; otherwise
 * two leave fewer lanes idle. A block of them has at most as many as two a lane can hold. */
enum { PACKED_FEW = 16, PACKED_MOST = P2P_TARGETS_MOST < 2 * WARP ? P2P_TARGETS_MOST : 2 * WARP };
enum { WARPS = 4, BLOCK = WARPS * WARP, UNROLL = P2P_UNROLL, STEP = 2 * WARP, TILE = STEP };
/* Sources of a warp that all warps of the CUDA block are given at a time. */
#ifndef P2P_SHELF
#define P2P_SHELF 320
#endif
enum { SHELF = P2P_SHELF };
static_assert(WARPS == 1 << QUARTER_LEVELS, "each warp has a quarter of the targets");
/* Targets are divided among the warps where the sides of their box add up to more than this, in r_cut.
 * In smaller boxes the quarters would have nearly the same sources. */
#ifndef P2P_WIDE
#define P2P_WIDE 1.6f
#endif
enum {
  LENGTHS = 256,
  ORDER_BLOCK = 1024
}; /* the ordering distinguishes list lengths up to
                                               LENGTHS */

/** Number of a leaf's target blocks. */
static __device__ inline uint32_t blocks_of(const struct p2p_problem &p, uint32_t leaf) {
  if (p.first) return (p.first[leaf + 1] - p.first[leaf] + PACKED_MOST - 1) / PACKED_MOST;
  return 1u << (p.block_level - p.depth);
}

/** The k-th of a leaf's n target blocks. */
static __device__ inline struct target_block block_of(const struct p2p_problem &p, uint32_t leaf,
                                                      uint32_t n, uint32_t k) {
  if (!p.first)
    return {leaf, level_first(p.count, p.block_level, leaf * n + k),
            level_first(p.count, p.block_level, leaf * n + k + 1)};
  const uint32_t begin = p.first[leaf], count = p.first[leaf + 1] - begin;
  return {leaf, begin + (uint32_t)((uint64_t)count * k / n),
          begin + (uint32_t)((uint64_t)count * (k + 1) / n)};
}

/** List the target blocks by falling length of their leaves' lists: the longest work begins first,
 * so that no multiprocessor waits for it at the end. The order of leaves of equal length varies
 * between runs and changes no result. */
static __global__ void __launch_bounds__(ORDER_BLOCK)
    order_leaves(const __grid_constant__ struct p2p_problem p) {
  __shared__ uint32_t longest, first[LENGTHS];
  const uint32_t me = threadIdx.x, leaves = 1u << p.depth, *offset = p.offset;
  if (me < LENGTHS) first[me] = 0;
  if (me == 0) longest = 1;
  __syncthreads();
  for (uint32_t i = me; i < leaves; i += ORDER_BLOCK)
    atomicMax(&longest, offset[i + 1] - offset[i]);
  __syncthreads();
  const auto rank = [&](uint32_t i) {
    return (uint32_t)((uint64_t)(longest - (offset[i + 1] - offset[i])) * (LENGTHS - 1) / longest);
  };
  for (uint32_t i = me; i < leaves; i += ORDER_BLOCK) atomicAdd(&first[rank(i)], blocks_of(p, i));
  __syncthreads();
  if (me < WARP) { /* counts to offsets */
    uint32_t sum = 0;
    for (uint32_t k = me * (LENGTHS / WARP); k < (me + 1) * (LENGTHS / WARP); k++) sum += first[k];
    uint32_t before = sum;
    for (uint32_t step = 1; step < WARP; step *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, before, step);
      before += me >= step ? other : 0;
    }
    before -= sum;
    for (uint32_t k = me * (LENGTHS / WARP); k < (me + 1) * (LENGTHS / WARP); k++) {
      const uint32_t n = first[k];
      first[k] = before;
      before += n;
    }
  }
  __syncthreads();
  for (uint32_t i = me; i < leaves; i += ORDER_BLOCK) {
    const uint32_t n = blocks_of(p, i), at = atomicAdd(&first[rank(i)], n);
    for (uint32_t k = 0; k < n; k++) p.order[at + k] = block_of(p, i, n, k);
  }
  __syncthreads();
  for (uint32_t i = first[LENGTHS - 1] + me; i < p.blocks; i += ORDER_BLOCK) p.order[i] = {0, 0, 0};
}

template <typename real, int FORM, int T, bool SOFT>
static __device__ inline void act_one(const struct law<real> &law, const float *table,
                                      const struct source<real> s, struct targets<real, T> &t) {
  real d[T][3], u[T], f[T]; /* all targets advance together: the dependent operations of one alone
                               would leave the arithmetic units idle */
#pragma unroll
  for (int j = 0; j < T; j++) {
    d[j][0] = s.x - t.x[j];
    d[j][1] = s.y - t.y[j];
    d[j][2] = s.z - t.z[j];
    u[j] = fma(d[j][0], d[j][0], fma(d[j][1], d[j][1], d[j][2] * d[j][2]));
  }
  if constexpr (FORM > 0 && !SOFT) {
    real y[T];
#pragma unroll
    for (int j = 0; j < T; j++) {
      y[j] = inverse_root(u[j]);
      f[j] = coefficient<real, FORM>(law, FORM);
    }
#pragma unroll
    for (int k = FORM - 1; k >= 0; k--)
#pragma unroll
      for (int j = 0; j < T; j++)
        f[j] = fma(f[j], argument<real, FORM>(u[j]), coefficient<real, FORM>(law, k));
#pragma unroll
    for (int j = 0; j < T; j++) f[j] = fma(y[j] * y[j], y[j], -f[j]);
  } else {
#pragma unroll
    for (int j = 0; j < T; j++)
      f[j] = SOFT ? softened<real, FORM>(law, law.soft, table, u[j])
                  : unsoftened<real, FORM>(law, table, u[j]);
  }
#pragma unroll
  for (int j = 0; j < T; j++) {
    add_in_reach(u[j], f[j], d[j], t.a[j], t.tide[j]);
    if (SOFT && u[j] == real(0)) t.tide[j] -= f[j]; /* the target itself */
  }
}

/** The same where masses or softening lengths differ. Of a pair the larger softening counts. */
template <typename real, int FORM, int T, bool SOFT>
static __device__ inline void
act_mixed(const struct law<real> &law, const float *table, const struct source<real> s, real soft2,
          const struct softened_targets<real, true, T> &own, struct targets<real, T> &t) {
#pragma unroll
  for (int j = 0; j < T; j++) {
    const real d[3] = {s.x - t.x[j], s.y - t.y[j], s.z - t.z[j]},
               u = fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2]));
    real f;
    if constexpr (SOFT) {
      const real larger = soft2 > own.soft2[j] ? soft2 : own.soft2[j];
      struct softening<real> pair = {
        larger, real(0), real(0)
      };
      if (law.soft.support2 > real(0))
        pair = {real(0), larger, larger > real(0) ? inverse_root(larger) : real(0)};
      f = softened<real, FORM>(law, pair, table, u);
    } else {
      f = unsoftened<real, FORM>(law, table, u);
    }
    add_in_reach(u, s.mass * f, d, t.a[j], t.tide[j]);
    if (SOFT && u == real(0)) t.tide[j] -= s.mass * f; /* the target itself */
  }
}

/** Sources that a warp has collected: up to ROOM, and those of one step. */
template <typename real, int ROOM, bool SOFTENED> struct list {
  static_assert(ROOM >= UNROLL * WARP, "a turn must fit");
  struct source<real> source[ROOM + STEP];
  real soft2[SOFTENED ? ROOM + STEP : 1];
};

/** Force of the first n sources on the targets; n is a multiple of UNROLL * parts. */
template <typename real, int FORM, int T, bool SOFT, bool MIXED, typename List>
static __device__ inline void act(const struct law<real> &law, const float *table,
                                  const struct softened_targets<real, MIXED, T> &own,
                                  const List *list, uint32_t n, const struct share &share,
                                  struct targets<real, T> &t) {
  constexpr int TURN = SOFT ? 1 : UNROLL;
  const struct source<real> *s = list->source + share.part;
  [[maybe_unused]] const real *soft2 = list->soft2 + share.part;
#pragma unroll 1
  for (const struct source<real> *end = s + n; s != end; s += TURN * share.parts) {
#pragma unroll
    for (int k = 0; k < TURN; k++) {
      if constexpr (MIXED)
        act_mixed<real, FORM, T, SOFT>(law, table, s[k * share.parts],
                                       SOFT ? soft2[k * share.parts] : real(0), own, t);
      else
        act_one<real, FORM, T, SOFT>(law, table, s[k * share.parts], t);
    }
    if constexpr (MIXED && SOFT) soft2 += TURN * share.parts;
  }
}

/** Force of the collected sources on the targets. Sources that do not fill a whole step are moved
 * to the front of the list, unless `all`. Returns the number of sources used. */
template <typename real, int FORM, int T, bool SOFT, bool MIXED, int ROOM>
static __device__ inline uint32_t flush(const struct law<real> &law, const float *table,
                                        const struct softened_targets<real, MIXED, T> &own,
                                        struct list<real, ROOM, MIXED && SOFT> *list, uint32_t n,
                                        bool all, const struct share &share,
                                        struct targets<real, T> &t) {
  static_assert(ROOM == TILE, "share.full is of a list with TILE sources");
  const uint32_t lane = threadIdx.x % WARP, turn = UNROLL * share.parts;
  uint32_t acting = share.full;
  if (all) { /* fill the last step with sources out of reach */
    acting = (n + turn - 1) / turn * turn;
    for (uint32_t k = n + lane; k < acting; k += WARP) {
      list->source[k] = {real(1e3), real(1e3), real(1e3), real(0)};
      if (MIXED && SOFT) list->soft2[k] = real(0);
    }
  }
  __syncwarp();
  act<real, FORM, T, SOFT, MIXED>(law, table, own, list, acting, share, t);
  __syncwarp();
  for (uint32_t k = acting; k < n; k += WARP) {
    const struct source<real> s = list->source[min(k + lane, n - 1)];
    const real soft2 = MIXED && SOFT ? list->soft2[min(k + lane, n - 1)] : real(0);
    __syncwarp();
    if (k + lane < n) {
      list->source[k + lane - acting] = s;
      if (MIXED && SOFT) list->soft2[k + lane - acting] = soft2;
    }
    __syncwarp();
  }
  return min(acting, n);
}

/** Sources of a warp for all warps of the CUDA block. */
template <bool QUARTERS> struct shelf {
  struct list<float, SHELF, false> list;
  uint32_t count;
  bool last; /* the warp has no more sources */
};
template <> struct shelf<false> {};

/** A warp's working memory: lists of sources, later sums. */
template <typename real, bool MIXED, int T, bool QUARTERS> union workspace {
  struct {
    struct list<real, TILE, false> far;
    struct list<real, TILE, MIXED> close;
    struct shelf<QUARTERS> shelf;
  };
  real sum[P2P_SUMS][WARP * T];
};

/** A particle as a source, the square of its distance from the targets' box, and its softening
 * where particles differ. */
template <typename real> struct candidate {
  struct source<real> source;
  float distance2;
  real soft2;
};

/** @param valid  otherwise the source is placed out of reach */
template <typename real>
static __device__ inline struct candidate<real> candidate_at(const struct reach &reach, real scale,
                                                             uint32_t x, uint32_t y, uint32_t z,
                                                             bool valid) {
  struct candidate<real> c;
  c.source = {rounded_product(real(position_difference(x, reach.centre[0])), scale),
              rounded_product(real(position_difference(y, reach.centre[1])), scale),
              rounded_product(real(position_difference(z, reach.centre[2])), scale), real(0)};
  const float ex = fmaxf(fabsf(float(c.source.x)) - reach.half[0], 0.0f),
              ey = fmaxf(fabsf(float(c.source.y)) - reach.half[1], 0.0f);
  const float ez = fmaxf(fabsf(float(c.source.z)) - reach.half[2], 0.0f);
  c.distance2 = valid ? fmaf(ex, ex, fmaf(ey, ey, ez *ez)) : 2.0f;
  c.soft2 = real(0);
  return c;
}

/** Add a neighbour's particle's mass and softening. */
template <typename real>
static __device__ inline void add_properties(const struct p2p_problem &p, uint32_t slot, uint32_t i,
                                             struct candidate<real> &c) {
  c.source.mass = real(mass_at(p, slot, i));
  c.soft2 = real(soft2_at(p, slot, i));
}

/** Append the wanted sources of all lanes. Returns their number. */
template <typename real, int ROOM, bool SOFTENED>
static __device__ inline uint32_t append(struct list<real, ROOM, SOFTENED> *list, uint32_t n,
                                         bool wanted, const struct candidate<real> &c) {
  const uint32_t lanes = __ballot_sync(~0u, wanted), before = (1u << threadIdx.x % WARP) - 1,
                 place = n + __popc(lanes & before);
  if (wanted) list->source[place] = c.source;
  if (SOFTENED && wanted) list->soft2[place] = c.soft2;
  return __popc(lanes);
}

/** The targets of a warp, and what it has collected for them. */
template <typename real, bool MIXED, int T, bool QUARTERS> struct collection {
  union workspace<real, MIXED, T, QUARTERS> *work;
  struct share share;
  uint32_t far, close, in_reach; /* sources in the lists; sources used so far */
};

/** Add sources in reach of the targets to the lists. Full lists act on the targets.
 * @param last  there are no sources; all that is in the lists acts */
template <typename real, int FORM, bool MIXED, int T, bool QUARTERS>
static __device__ inline void
collect(const struct law<real> &law, const float *table,
        const struct softened_targets<real, MIXED, T> &own, const struct candidate<real> &a,
        const struct candidate<real> &b, bool last, struct collection<real, MIXED, T, QUARTERS> &k,
        struct targets<real, T> &t) {
  /* Plummer softening acts at all distances */
  const float close2 = law.soft.plummer2 > real(0) ? 1.0f : float(law.soft.support2) * 1.0001f;
  const bool a_in = a.distance2 < R_CUT_SQUARED, a_close = a_in && a.distance2 <= close2;
  const bool b_in = b.distance2 < R_CUT_SQUARED, b_close = b_in && b.distance2 <= close2;
  k.far += append(&k.work->far, k.far, a_in && !a_close, a);
  k.far += append(&k.work->far, k.far, b_in && !b_close, b);
  if (__any_sync(~0u, a_close || b_close)) {
    k.close += append(&k.work->close, k.close, a_close, a);
    k.close += append(&k.work->close, k.close, b_close, b);
  }
  while (k.far >= (last ? 1u : (uint32_t)TILE)) {
    const uint32_t acted = flush<real, FORM, T, false, MIXED>(law, table, own, &k.work->far, k.far,
                                                              last, k.share, t);
    k.in_reach += acted;
    k.far -= acted;
  }
  while (k.close >= (last ? 1u : (uint32_t)TILE)) {
    const uint32_t acted = flush<real, FORM, T, true, MIXED>(law, table, own, &k.work->close,
                                                             k.close, last, k.share, t);
    k.in_reach += acted;
    k.close -= acted;
  }
}

/** Call take(a, b, false) for this warp's sources, two for each lane at a time, and at the end
 * take(a, b, true). */
template <typename real, bool MIXED, typename Take>
static __device__ inline void read_sources(const struct p2p_problem &p, uint32_t leaf,
                                           const struct reach &reach, Take take) {
  const uint32_t lane = threadIdx.x % WARP, warp = blockIdx.y * WARPS + threadIdx.x / WARP,
                 warps = p.divisions * WARPS, entries_end = p.offset[leaf + 1];
  const real scale = real(p.scale);
  uint32_t due = warp; /* steps until it is this warp's turn */
  bool last = false;   /* after the last entry follows a step that reads nothing */
  for (uint32_t batch = p.offset[leaf]; !last; batch += WARP) {
    last = batch >= entries_end;
    /* each lane looks up a source leaf; consecutive leaves are then read as one range, of which the
     * first lane knows the steps that are this warp's */
    struct range mine = {0, last ? p.x : nullptr, 0, 0, 0};
    if (batch + lane < entries_end) mine = source_range(p, p.entry[batch + lane]);
    const unsigned long long x_before = __shfl_up_sync(~0u, (unsigned long long)mine.x, 1);
    const uint32_t end_before = __shfl_up_sync(~0u, mine.end, 1);
    const bool head = lane == 0 || x_before != (unsigned long long)mine.x ||
                      end_before != mine.first;
    const uint32_t later = __ballot_sync(~0u, head) & ~((2u << lane) - 1),
                   range_end = __shfl_sync(~0u, mine.end, later ? __ffs(later) - 2 : WARP - 1),
                   steps = head && mine.x ? (range_end - mine.first + STEP - 1) / STEP : 0;
    uint32_t before = steps; /* steps of all ranges up to this one */
    for (uint32_t k = 1; k < WARP; k *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, before, k);
      before += lane >= k ? other : 0;
    }
    const uint32_t own = (due - (before - steps)) & (warps - 1);
    due = (due - __shfl_sync(~0u, before, WARP - 1)) & (warps - 1);
    mine.first += own * STEP;
    for (uint32_t runs = last ? 1u : __ballot_sync(~0u, own < steps); runs; runs &= runs - 1) {
      const uint32_t r = __ffs(runs) - 1;
      const uint32_t *x = (const uint32_t *)__shfl_sync(~0u, (unsigned long long)mine.x, r);
      const uint32_t n = __shfl_sync(~0u, mine.group_count, r),
                     end = __shfl_sync(~0u, range_end, r);
      const uint32_t *y = x + n, *z = y + n;
      [[maybe_unused]] const uint32_t neighbour = MIXED ? __shfl_sync(~0u, mine.slot, r) : 0;
      for (uint32_t i = __shfl_sync(~0u, mine.first, r); i < end || last; i += STEP * warps) {
        const uint32_t i0 = i + lane, i1 = i0 + WARP, safe = max(end, 1) - 1, k0 = min(i0, safe),
                       k1 = min(i1, safe);
        const uint32_t x0 = __ldg(x + k0), y0 = __ldg(y + k0), z0 = __ldg(z + k0);
        const uint32_t x1 = __ldg(x + k1), y1 = __ldg(y + k1), z1 = __ldg(z + k1);
        struct candidate<real> a = candidate_at<real>(reach, scale, x0, y0, z0, i0 < end);
        struct candidate<real> b = candidate_at<real>(reach, scale, x1, y1, z1, i1 < end);
        if constexpr (MIXED) {
          add_properties(p, neighbour, k0, a);
          add_properties(p, neighbour, k1, b);
        }
        take(a, b, last);
        if (last) break;
      }
    }
  }
}

/** Force of this warp's sources on the targets (at most WARP * T). Returns the number of sources in
 * reach. */
template <typename real, int FORM, bool MIXED, int T, bool QUARTERS>
static __device__ uint32_t act_on(const struct p2p_problem &p, const struct law<real> &law,
                                  const float *table,
                                  const struct softened_targets<real, MIXED, T> &own,
                                  union workspace<real, MIXED, T, QUARTERS> *work, uint32_t leaf,
                                  const struct reach &reach, const struct share &share,
                                  struct targets<real, T> &t) {
  struct collection<real, MIXED, T, QUARTERS> k = {
    work, share, 0, 0, 0
  };
  read_sources<real, MIXED>(
      p, leaf, reach,
      [&](const struct candidate<real> &a, const struct candidate<real> &b, bool last) {
        collect<real, FORM>(law, table, own, a, b, last, k, t);
      });
  return k.in_reach;
}

/** The box of the targets of a warp, relative to the centre of the target block. */
struct quarter {
  float centre[3], half[3];
};

template <int T>
static __device__ inline void axis_of(const float (&x)[T], uint32_t n, float *centre, float *half) {
  float low = x[0], high = x[0];
#pragma unroll
  for (int j = 1; j < T; j++) {
    low = fminf(low, x[j]);
    high = fmaxf(high, x[j]);
  }
#pragma unroll
  for (int step = WARP / 2; step > 0; step /= 2) {
    low = fminf(low, __shfl_xor_sync(~0u, low, step));
    high = fmaxf(high, __shfl_xor_sync(~0u, high, step));
  }
  *centre = 0.5f * (low + high);
  *half = n > 0 ? fmaxf(high - *centre, *centre - low) * 1.000001f : -1e3f;
}

/** Of n targets. */
template <int T>
static __device__ inline struct quarter quarter_of(const struct targets<float, T> &t, uint32_t n) {
  struct quarter q;
  axis_of(t.x, n, &q.centre[0], &q.half[0]);
  axis_of(t.y, n, &q.centre[1], &q.half[1]);
  axis_of(t.z, n, &q.centre[2], &q.half[2]);
  return q;
}

/** A source on a shelf. @param valid  otherwise it is out of reach */
static __device__ inline struct candidate<float>
candidate_from(const struct source<float> &s, const struct quarter &q, bool valid) {
  const float ex = fmaxf(fabsf(s.x - q.centre[0]) - q.half[0], 0.0f),
              ey = fmaxf(fabsf(s.y - q.centre[1]) - q.half[1], 0.0f),
              ez = fmaxf(fabsf(s.z - q.centre[2]) - q.half[2], 0.0f);
  return {s, valid ? fmaf(ex, ex, fmaf(ey, ey, ez *ez)) : 2.0f, 0.0f};
}

/** Force of the sources of all warps on this warp's targets, a quarter of those of the CUDA block.
 * Returns the number of sources in reach of their box. */
template <int FORM, int T>
static __device__ uint32_t act_on_quarter(const struct p2p_problem &p, const struct law<float> &law,
                                          const float *table,
                                          union workspace<float, false, T, true> *all,
                                          uint32_t leaf, const struct reach &reach,
                                          const struct quarter &q, const struct share &share,
                                          struct targets<float, T> &t) {
  const uint32_t lane = threadIdx.x % WARP;
  union workspace<float, false, T, true> *work = &all[threadIdx.x / WARP];
  struct collection<float, false, T, true> k = {
    work, share, 0, 0, 0
  };
  const struct softened_targets<float, false, T> own = {};
  uint32_t shelved = 0;
  read_sources<float, false>(
      p, leaf, reach,
      [&](const struct candidate<float> &a, const struct candidate<float> &b, bool last) {
        shelved += append(&work->shelf.list, shelved, a.distance2 < R_CUT_SQUARED, a);
        shelved += append(&work->shelf.list, shelved, b.distance2 < R_CUT_SQUARED, b);
        bool finished = false; /* all warps */
        while (shelved >= SHELF || (last && !finished)) {
          if (lane == 0) {
            work->shelf.count = shelved;
            work->shelf.last = last;
          }
          __syncthreads();
          finished = true;
          for (int w = 0; w < WARPS; w++) finished = finished && all[w].shelf.last;
          /* after the shelves follows a turn that flushes the lists */
          for (int w = 0; w < WARPS + finished; w++) {
            const bool end = w == WARPS;
            const uint32_t n = end ? 1 : all[w].shelf.count;
            const struct source<float> *s = all[end ? 0 : w].shelf.list.source;
#pragma unroll 1
            for (uint32_t i = lane; i < n + lane; i += STEP)
              collect<float, FORM>(law, table, own, candidate_from(s[i], q, !end && i < n),
                                   candidate_from(s[i + WARP], q, !end && i + WARP < n), end, k, t);
          }
          __syncthreads();
          shelved = 0;
        }
      });
  return k.in_reach;
}

/** Component c of the result for a target. */
template <typename real>
static __device__ inline void write(const struct p2p_problem &p, uint32_t c, uint32_t target,
                                    real sum) {
  p.acceleration[((size_t)blockIdx.y * p.components + c) * p.count + target] = p.factor *
                                                                               float(sum);
}

/** Add up the sums of the parts of each target, whose total the first part then has. */
template <typename real, int T>
static __device__ inline void add_parts(struct targets<real, T> &t, uint32_t lanes,
                                        uint32_t parts) {
  const uint32_t lane = threadIdx.x % WARP, part = lane / lanes;
  for (uint32_t half; parts > 1; parts = half) {
    half = (parts + 1) / 2;
    const bool adds = part + half < parts;
    const uint32_t other = (lane + half * lanes) % WARP;
    const auto add = [&](real &sum) {
      const real more = __shfl_sync(~0u, sum, other);
      if (adds) sum += more;
    };
#pragma unroll
    for (int j = 0; j < T; j++) {
#pragma unroll
      for (int c = 0; c < P2P_TIDE; c++) add(t.a[j][c]);
      add(t.tide[j]);
    }
  }
}

/** Call put(c, i, sum) for component c of this lane's target number i. */
template <typename real, int T, typename Put>
static __device__ inline void each_sum(const struct targets<real, T> &t, uint32_t lanes, Put put) {
  const uint32_t lane = threadIdx.x % WARP;
  if (lane >= lanes) return;
#pragma unroll
  for (int j = 0; j < T; j++) {
#pragma unroll
    for (int c = 0; c < P2P_TIDE; c++) put(c, j * lanes + lane, t.a[j][c]);
    put(P2P_TIDE, j * lanes + lane, t.tide[j]);
  }
}

/** Add up the sums of the warps, and write the results for n targets from `first` on. */
template <typename real, bool MIXED, int T, bool QUARTERS>
static __device__ void store(const struct p2p_problem &p, const struct targets<real, T> &t,
                             union workspace<real, MIXED, T, QUARTERS> *work, uint32_t first,
                             uint32_t n, uint32_t lanes) {
  __syncwarp();
  each_sum(t, lanes,
           [&](int c, uint32_t i, real sum) { work[threadIdx.x / WARP].sum[c][i] = sum; });
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < p.components * n; k += BLOCK) {
    const uint32_t c = k / n, i = k % n;
    real total = work[0].sum[c][i];
    for (int w = 1; w < WARPS; w++) total += work[w].sum[c][i];
    write(p, c, first + i, total);
  }
  __syncthreads();
}

/** A quarter of a target block. */
static __device__ inline struct target_block
quarter_block(const struct p2p_problem &p, const struct target_block &b, uint32_t quarter) {
  const uint32_t n = b.end - b.begin;
  if (p.first) return {b.leaf, b.begin + n * quarter / WARPS, b.begin + n * (quarter + 1) / WARPS};
  const uint32_t node = level_node(p.count, p.block_level, b.begin) * WARPS + quarter;
  return {b.leaf, level_first(p.count, p.block_level + QUARTER_LEVELS, node),
          level_first(p.count, p.block_level + QUARTER_LEVELS, node + 1)};
}

/** Forces on the quarter of a target block that belongs to this warp. Returns the number of pairs. */
template <int FORM, int T>
static __device__ unsigned long long
quarter_forces(const struct p2p_problem &p, const struct law<float> &law, const float *table,
               union workspace<float, false, T, true> *work, const struct target_block &block,
               const struct reach &reach) {
  const struct target_block own = quarter_block(p, block, threadIdx.x / WARP);
  const uint32_t n = own.end - own.begin, some = max(n, 1), lanes = (some + T - 1) / T,
                 parts = WARP / lanes, lane = threadIdx.x % WARP, part = lane / lanes;
  struct targets<float, T> t = load_targets<float, T>(p, reach.centre, own.begin, some, lanes,
                                                      lane % lanes);
  const struct share share = {part < parts ? part : 0, parts, TILE - TILE % (UNROLL * parts)};
  const uint32_t in_reach = act_on_quarter<FORM, T>(p, law, table, work, block.leaf, reach,
                                                    quarter_of(t, n), share, t);
  add_parts(t, lanes, parts);
  each_sum(t, lanes, [&](uint32_t c, uint32_t i, float sum) {
    if (i < n && c < p.components) write(p, c, own.begin + i, sum);
  });
  return (unsigned long long)n * in_reach;
}

/** @tparam QUARTERS  targets may be divided among the warps */
template <typename real, int FORM, bool MIXED, int T, bool QUARTERS>
static __global__ void __launch_bounds__(BLOCK, sizeof(real) == sizeof(float) ? P2P_BLOCKS : 3)
    p2p(const __grid_constant__ struct p2p_problem p,
        const __grid_constant__ struct law<real> law) {
  constexpr int TABLE_FLOATS = FORM <= TABLE ? (TABLE - FORM + 1) * TABLE_ENTRIES : 1;
  __shared__ union workspace<real, MIXED, T, QUARTERS> work[WARPS];
  __shared__ float table[TABLE_FLOATS];
  if (FORM <= TABLE) {
    for (int i = threadIdx.x; i < TABLE_FLOATS; i += BLOCK) table[i] = law.table[i];
    __syncthreads();
  }
  const struct target_block block = p.order[blockIdx.x];
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, leaf = block.leaf,
                 begin = block.begin, end = block.end;
  if (begin == end) return;
  struct reach reach = reach_of(p, begin, end);
  /* where the nearest image of a source differs between the targets, each target has its own
   * sources */
  const bool wide = fmaxf(fmaxf(reach.half[0], reach.half[1]), reach.half[2]) + R_CUT >=
                    (float)(0.5 * POSITION_TURN) * p.scale;
  unsigned long long pairs = 0;
  if constexpr (QUARTERS)
    if (!wide && reach.half[0] + reach.half[1] + reach.half[2] > 0.5f * P2P_WIDE) {
      pairs = quarter_forces<FORM, T>(p, law, table, work, block, reach);
      if (lane == 0 && pairs) atomicAdd(p.pairs, pairs);
      return;
    }
  for (uint32_t first = begin; first < end;) {
    const uint32_t n = wide ? 1 : end - first, lanes = (n + T - 1) / T, parts = WARP / lanes;
    const uint32_t part = lane / lanes, slot = lane % lanes;
    if (wide) reach = reach_of(p, first, first + 1);
    struct targets<real, T> t = load_targets<real, T>(p, reach.centre, first, n, lanes, slot);
    const struct softened_targets<real, MIXED, T> own = load_softening<real, MIXED, T>(p, first, n,
                                                                                       lanes, slot);
    /* results of lanes beyond the last part are not used */
    const struct share share = {part < parts ? part : 0, parts, TILE - TILE % (UNROLL * parts)};
    pairs += (unsigned long long)n *
             act_on<real, FORM>(p, law, table, own, &work[warp], leaf, reach, share, t);
    add_parts(t, lanes, parts);
    store(p, t, work, first, n, lanes);
    first += n;
  }
  if (lane == 0 && pairs) atomicAdd(p.pairs, pairs);
}

/** Add up the sums of all divisions, in their order. */
static __global__ void add_divisions(uint32_t n, uint32_t divisions, const float *part,
                                     float *acceleration) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  float sum = part[i];
  for (uint32_t k = 1; k < divisions; k++) sum += part[(size_t)k * n + i];
  acceleration[i] = sum;
}

template <typename real, int FORM>
static void launch(const struct gpu *g, const struct p2p_problem &p, const struct law<real> &law,
                   int t) {
  const dim3 blocks(p.blocks, p.divisions);
  if (p.source_mass || p.source_type)
    p2p<real, FORM, true, 2, false><<<blocks, BLOCK, 0, g->stream>>>(p, law);
  else if (sizeof(real) == sizeof(double) || t == 2)
    p2p<real, FORM, false, 2, false><<<blocks, BLOCK, 0, g->stream>>>(p, law);
  else if constexpr (sizeof(real) == sizeof(float)) {
    constexpr bool QUARTERS = FORM >= ANY_DEGREE; /* tables take the memory that this needs */
    if (t == 3)
      p2p<real, FORM, false, 3, QUARTERS><<<blocks, BLOCK, 0, g->stream>>>(p, law);
    else
      p2p<real, FORM, false, 4, QUARTERS><<<blocks, BLOCK, 0, g->stream>>>(p, law);
  }
}

template <typename real>
static void launch_form(const struct gpu *g, const struct gpu_split *tables,
                        const struct p2p_law *l, const struct p2p_problem &p, int t) {
  const struct law<real> law = law_for<real>(tables, l);
  if (l->kind == P2P_EXACT) return launch<real, EXACT>(g, p, law, t);
  if (l->kind == P2P_TABLE) switch (l->table_order) {
    case 0: return launch<real, TABLE>(g, p, law, t);
    case 1: return launch<real, TABLE - 1>(g, p, law, t);
    case 2: return launch<real, TABLE - 2>(g, p, law, t);
    case 3: return launch<real, TABLE - 3>(g, p, law, t);
    default: return launch<real, TABLE - 4>(g, p, law, t);
    }
  switch (law.degree) {
  case 6: return launch<real, 6>(g, p, law, t);
  case 7: return launch<real, 7>(g, p, law, t);
  case 8: return launch<real, 8>(g, p, law, t);
  default: return launch<real, ANY_DEGREE>(g, p, law, t);
  }
}

/** Targets of each lane such that n targets leave the fewest lanes of a warp idle. */
static int targets_per_lane(uint32_t n) {
  int best = 4;
  uint32_t used = 0;
  for (int t = 4; t >= 2; t--) {
    const uint32_t lanes = (n + (uint32_t)t - 1) / (uint32_t)t;
    if (lanes > WARP) continue;
    const uint32_t share = 1000 * n * (WARP / lanes) / (WARP * (uint32_t)t);
    if (share > used) {
      used = share;
      best = t;
    }
  }
  return best;
}

/** The same for packed targets, of whose leaves only the mean number of targets is known. Of isolated
 * systems most leaves are empty, and the kernel looks at the number of each block. */
static int packed_per_lane(uint32_t count, unsigned depth, bool newton) {
  return newton || count >> depth > PACKED_FEW ? 4 : 2;
}

/** @param wanted  target blocks times divisions that fill a GPU */
static uint32_t divisions_for(uint32_t target_blocks, uint32_t wanted) {
  uint32_t divisions = 1;
  while (target_blocks * divisions < wanted && divisions < DIVISIONS_MOST) divisions *= 2;
  return divisions;
}

/** The power of 2, at most a warp, that holds the particles of the largest source leaf. */
static uint32_t lanes_for_leaf(const struct p2p_target *target, uint32_t slots) {
  uint32_t largest = 1, lanes = 1;
  for (uint32_t i = 0; i < slots; i++)
    largest = max(largest, ((target->source_count[i] - 1) >> target->source_depth) + 1);
  while (lanes < largest && lanes < WARP) lanes *= 2;
  return lanes;
}

/** Copy the tables of the sources to the GPU. */
static void upload_sources(struct gpu *g, const struct p2p_law *law,
                           const struct p2p_target *target, uint32_t slots, struct p2p_problem *p) {
  const size_t pointers = slots * sizeof(void *), counts = slots * sizeof *target->source_count;
  char *x = (char *)gpu_scratch(g, SCRATCH_TABLE, 3 * pointers + counts + 8), *count = x + pointers,
       *mass = x + pointers + (counts + 7) / 8 * 8, *type = mass + pointers;
  gpu_upload_pair(g, x, target->source_x, pointers, target->source_count, counts);
  if (target->source_mass) gpu_upload(g, mass, target->source_mass, pointers);
  if (target->source_type) gpu_upload(g, type, target->source_type, pointers);
  p->source_x = (const uint32_t *const *)x;
  p->source_count = (const uint32_t *)count;
  p->source_mass = target->source_mass ? (const float *const *)mass : NULL;
  p->source_type = target->source_type ? (const uint8_t *const *)type : NULL;
  p->index = target->index;
  p->soft2 = law->softening_kind == SOFTENING_SPLINE ? law->support2 : law->plummer2;
  for (int k = 0; k < PARTICLE_TYPES; k++) p->soft2_of[k] = law->soft2_of[k];
}

void p2p_problem_init(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target,
                      uint32_t slots, const struct device_list *list, struct p2p_problem *p) {
  *p = {};
  upload_sources(g, law, target, slots, p);
  p->count = target->count;
  p->depth = p->block_level = target->depth;
  while ((((uint64_t)p->count - 1) >> p->block_level) + 1 > P2P_TARGETS_MOST) p->block_level++;
  p->first = target->first;
  p->source_depth = target->source_depth;
  p->scale = target->scale;
  p->factor = target->factor;
  p->x = target->x;
  p->offset = list->offset;
  p->entry = list->entry;
}

void gpu_p2p(struct gpu *g, const struct gpu_split *tables, const struct p2p_law *law,
             const struct p2p_target *target, uint32_t slots, bool double_precision,
             float *acceleration, uint64_t *pairs) {
  const uint32_t leaves = 1u << target->depth;
  const struct device_list list = gpu_list(g, target->near, leaves);
  CHECK_CUDA(cudaMemsetAsync(g->counters + COUNTERS_P2P, 0, sizeof *g->counters, g->stream));

  struct p2p_problem p;
  p2p_problem_init(g, law, target, slots, &list, &p);
  p.components = p2p_components(target);
  p.span = lanes_for_leaf(target, slots);
  const unsigned level = p.block_level;
  p.blocks = p.first ? min(leaves, p.count) + p.count / PACKED_MOST : 1u << level;
  p.order = (struct target_block *)gpu_scratch(g, SCRATCH_ORDER, p.blocks * sizeof *p.order);
  const bool newton = law->split->kind == SPLIT_NEWTON; /* a warp for each division, not four */
  p.divisions = divisions_for(p.first ? min(leaves, (p.count + 7) / 8) : 1u << level,
                              newton ? WARPS * CUDA_BLOCKS_WANTED : CUDA_BLOCKS_WANTED);
  p.acceleration = p.divisions == 1 ? acceleration
                                    : (float *)gpu_scratch(g, SCRATCH_PARTS,
                                                           (size_t)p.components * p.divisions *
                                                               p.count * sizeof(float));
  p.pairs = (unsigned long long *)(g->counters + COUNTERS_P2P);
  order_leaves<<<1, ORDER_BLOCK, 0, g->stream>>>(p);
  gpu_launched("order_leaves");
  const int t = p.first ? packed_per_lane(p.count, p.depth, newton)
                        : targets_per_lane((uint32_t)((((uint64_t)p.count - 1) >> level) + 1));
  if (newton)
    p2p_newton_launch(g, law, &p, t, double_precision);
  else if (double_precision)
    launch_form<double>(g, tables, law, p, t);
  else
    launch_form<float>(g, tables, law, p, t);
  gpu_launched("p2p");
  if (p.divisions > 1) {
    const uint32_t n = p.components * p.count;
    add_divisions<<<blocks_for(n, BLOCK), BLOCK, 0, g->stream>>>(n, p.divisions, p.acceleration,
                                                                 acceleration);
    gpu_launched("add_divisions");
  }
  CHECK_CUDA(cudaMemcpyAsync(pairs, g->counters + COUNTERS_P2P, sizeof *pairs,
                             cudaMemcpyDeviceToHost, g->stream));
}
