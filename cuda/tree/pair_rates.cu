/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pair_rates: one CUDA block for each leaf of targets. Its warps divide the entries of the leaf's near list; a
 * lane has a source, and goes through up to four targets at a time, which are in registers. Rates are compared
 * as integers, so that the result does not depend on any order. */
#include "cuda/domain/targets.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/lists.cuh"
#include "cuda/tree/p2p.cuh"

enum { WARPS = 4, BLOCK = WARPS * WARP, TARGETS = 4 };

struct rates_problem {
  struct p2p_problem p;
  struct pair_law law;
  const float *const *source_p; /* [slot] */
  float *rate;                  /* [count] */
};

/** A target or a source: position relative to the first target of the turn, r_cut; momentum. */
struct particle {
  float x[3], p[3], mass, soft2;
};

static __device__ inline struct particle particle_at(const struct rates_problem &q,
                                                     const uint32_t *x, const float *momentum,
                                                     uint32_t n, uint32_t i,
                                                     const uint32_t origin[3]) {
  struct particle a;
  for (int c = 0; c < 3; c++) {
    a.x[c] = rounded_product((float)position_difference(__ldg(x + (size_t)c * n + i), origin[c]),
                             q.p.scale);
    a.p[c] = __ldg(momentum + (size_t)c * n + i);
  }
  return a;
}

/** The source beside this lane in a range. */
static __device__ inline struct particle source_at(const struct rates_problem &q,
                                                   const struct range &r, uint32_t i,
                                                   const uint32_t origin[3]) {
  struct particle s = particle_at(q, r.x, q.source_p[r.slot], r.group_count, i, origin);
  s.mass = mass_at(q.p, r.slot, i);
  s.soft2 = soft2_at(q.p, r.slot, i);
  return s;
}

static __device__ inline struct particle target_at(const struct rates_problem &q, uint32_t i,
                                                   const uint32_t origin[3]) {
  const uint32_t place = q.p.index ? q.p.index[i] : i, n = q.p.source_count[0];
  struct particle t = particle_at(q, q.p.source_x[0], q.source_p[0], n, place, origin);
  t.mass = mass_at(q.p, 0, place);
  t.soft2 = soft2_at(q.p, 0, place);
  return t;
}

static __device__ inline float rate_of(const struct pair_law &law, const struct particle &t,
                                       const struct particle &s) {
  float r2 = 0.0f, v2 = 0.0f, rv = 0.0f;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const float r = s.x[c] - t.x[c], v = law.speed * (s.p[c] - t.p[c]);
    r2 = fmaf(r, r, r2);
    v2 = fmaf(v, v, v2);
    rv = fmaf(r, v, rv);
  }
  if (!(r2 + v2 > 0.0f)) return 0.0f; /* the target itself */
  return pair_rate(fmaf(law.soft, fmaxf(t.soft2, s.soft2), r2), rv, v2,
                   law.mass * (t.mass + s.mass), law.inverse_eta);
}

/** The largest rates of T targets from `first` on, those of this warp's sources. */
template <int T>
static __device__ void rates_of(const struct rates_problem &q, uint32_t leaf, uint32_t first,
                                float largest[T]) {
  const struct p2p_problem &p = q.p;
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP,
                 origin[3] = {p.x[first], p.x[(size_t)p.count + first],
                              p.x[2 * (size_t)p.count + first]};
  struct particle t[T];
#pragma unroll
  for (int j = 0; j < T; j++) {
    t[j] = target_at(q, first + j, origin);
    largest[j] = 0.0f;
  }
  for (uint32_t e = p.offset[leaf] + warp; e < p.offset[leaf + 1]; e += WARPS) {
    const struct range r = source_range(p, p.entry[e]);
    for (uint32_t i = r.first + lane; i < r.end; i += WARP) {
      const struct particle s = source_at(q, r, i, origin);
#pragma unroll
      for (int j = 0; j < T; j++) largest[j] = fmaxf(largest[j], rate_of(q.law, t[j], s));
    }
  }
}

/** Write the rates of T targets. */
template <int T>
static __device__ void write_rates(const struct rates_problem &q, uint32_t leaf, uint32_t first,
                                   int32_t of_warp[WARPS][TARGETS]) {
  float largest[T];
  rates_of<T>(q, leaf, first, largest);
#pragma unroll
  for (int j = 0; j < T; j++) {
    const int32_t all = warp_max(__float_as_int(largest[j])); /* they are not negative */
    if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP][j] = all;
  }
  __syncthreads();
  if (threadIdx.x < T) {
    int32_t all = 0;
    for (int w = 0; w < WARPS; w++) all = max(all, of_warp[w][threadIdx.x]);
    q.rate[first + threadIdx.x] = __int_as_float(all);
  }
  __syncthreads();
}

static __global__ void __launch_bounds__(BLOCK)
    pair_rates(const __grid_constant__ struct rates_problem q) {
  __shared__ int32_t of_warp[WARPS][TARGETS];
  const struct p2p_problem &p = q.p;
  const uint32_t leaf = blockIdx.x,
                 end = tree_level_first(p.count, p.depth, p.first, p.depth, leaf + 1);
  uint32_t i = tree_level_first(p.count, p.depth, p.first, p.depth, leaf);
  for (; i + TARGETS <= end; i += TARGETS) write_rates<TARGETS>(q, leaf, i, of_warp);
  if (i + 2 <= end) {
    write_rates<2>(q, leaf, i, of_warp);
    i += 2;
  }
  if (i < end) write_rates<1>(q, leaf, i, of_warp);
}

void gpu_pair_rates(struct gpu *g, const struct pair_law *law, const struct p2p_law *forces,
                    const struct pair_target *target, uint32_t slots, float *rate) {
  const uint32_t leaves = 1u << target->at.depth;
  const struct device_list list = gpu_list(g, target->at.near, leaves);
  const size_t bytes = slots * sizeof(void *);
  void *momenta = gpu_scratch(g, SCRATCH_ORDER, bytes);
  struct rates_problem q = {};
  p2p_problem_init(g, forces, &target->at, slots, &list, &q.p);
  gpu_upload(g, momenta, target->source_p, bytes);
  q.law = *law;
  q.source_p = (const float *const *)momenta;
  q.rate = rate;
  pair_rates<<<leaves, BLOCK, 0, g->stream>>>(q);
  gpu_launched("pair_rates");
}
