/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: one CUDA block for some targets of a leaf, a target block; but for Newton's gravity see
 * p2p_newton.cu. Where a group has few target blocks, several CUDA blocks divide the sources of each, so
 * that the GPU is full; another kernel adds up their sums. The warps of these CUDA blocks take turns in
 * reading the sources, 64 at a time. Each warp keeps the sources in reach of the targets' box in CUDA
 * shared memory.
 *
 * Where the targets are close together, each warp computes the force of its sources on all targets.
 * Else each warp has a quarter of the targets, and computes the force on them of all sources in reach of
 * the quarter's box: from time to time each warp passes on the sources that all warps have kept.
 *
 * A lane holds up to T targets in registers; where there are fewer targets than lanes, several lanes
 * divide the sources of one target. All sums run in a fixed order. The few sources that are near enough
 * for softening to matter are listed apart, so that the main loop needs no test for them. */
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/lists.cuh"
#include "cuda/tree/p2p.cuh"
#include "cuda/tree/p2p_order.cuh"
#include "cuda/tree/p2p_results.cuh"
#include "cuda/tree/p2p_sources.cuh"

/* Tuned by measurement: CUDA blocks resident on a multiprocessor, which limits registers. */
#ifndef P2P_BLOCKS
#define P2P_BLOCKS 5
#endif

/* CUDA blocks of a task that fill a GPU on which other tasks run as well, and the most that divide
 * the sources of a target block. Results depend on these numbers, but not on the GPU. */
#ifndef P2P_CUDA_BLOCKS
#define P2P_CUDA_BLOCKS 512
#endif
enum { CUDA_BLOCKS_WANTED = P2P_CUDA_BLOCKS, DIVISIONS_MOST = 64 };
/* Entries of a list that are one segment of Newton's gravity. Results depend on it. */
#ifndef P2P_SEGMENT
#define P2P_SEGMENT 128
#endif
/* Leaves of packed targets with more than this many on average have four targets a lane; otherwise
 * two leave fewer lanes idle. */
enum { PACKED_FEW = 16 };
/* Targets are divided among the warps where the sides of their box add up to more than this, in r_cut.
 * In smaller boxes the quarters would have nearly the same sources. */
#ifndef P2P_WIDE
#define P2P_WIDE 1.6f
#endif

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

/** Target blocks that a leaf has, at most. */
static uint32_t blocks_of_leaf(const struct p2p_target *target, const struct p2p_problem &p) {
  if (!p.first) return 1u << (p.block_level - p.depth);
  const uint32_t particles = ((target->source_count[0] - 1) >> p.depth) + 1;
  return (min(particles, p.count) + PACKED_MOST - 1) / PACKED_MOST;
}

/** Set the target blocks, the order in which they begin, and that no segment has its sums.
 * @param parts  segments of lists with more than one, at most */
static void order_blocks(struct gpu *g, struct p2p_problem &p, uint32_t parts) {
  const size_t words = 2 * RANKS + 1 + (size_t)parts * p.divisions;
  uint32_t *of_rank = (uint32_t *)gpu_scratch(g, SCRATCH_SORT, words * sizeof *of_rank);
  p.order = (struct target_block *)gpu_scratch(g, SCRATCH_ORDER, p.blocks * sizeof *p.order);
  p.finished = of_rank + 2 * RANKS + 1;
  const uint32_t blocks = blocks_for(1ull << p.depth, ORDER_BLOCK);
  CHECK_CUDA(cudaMemsetAsync(of_rank, 0, words * sizeof *of_rank, g->stream));
  count_ranks<<<blocks, ORDER_BLOCK, 0, g->stream>>>(p, of_rank);
  gpu_launched("count_ranks");
  order_leaves<<<blocks, ORDER_BLOCK, 0, g->stream>>>(p, of_rank, of_rank + RANKS);
  gpu_launched("order_leaves");
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
  const bool newton = law->split->kind == SPLIT_NEWTON; /* a warp for each division, not four */
  p.divisions = divisions_for(p.first ? min(leaves, (p.count + 7) / 8) : 1u << level,
                              newton ? WARPS * CUDA_BLOCKS_WANTED : CUDA_BLOCKS_WANTED);
  p.longest = newton ? P2P_SEGMENT * p.divisions : UINT32_MAX;
  const uint32_t more = blocks_of_leaf(target, p) * (target->near->entries / p.longest);
  p.blocks += more; /* a list of n > 1 segments has n / 2 times `longest` entries or more */
  const size_t sums = p.divisions == 1 ? 0 : (size_t)p.divisions * p.components * p.count,
               parts = 2 * (size_t)more * p.divisions * p.components * P2P_TARGETS_MOST;
  float *scratch = (float *)gpu_scratch(g, SCRATCH_PARTS, (sums + parts) * sizeof *scratch);
  p.acceleration = p.divisions == 1 ? acceleration : scratch;
  p.part = scratch + sums;
  p.pairs = (unsigned long long *)(g->counters + COUNTERS_P2P);
  order_blocks(g, p, 2 * more);
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
