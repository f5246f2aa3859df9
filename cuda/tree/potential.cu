/* SPDX-License-Identifier: GPL-3.0-or-later */
/* potential: one CUDA block for some targets of a leaf, two for each lane. The four warps divide the
 * entries of the leaf's near list; each reads its sources a warp at a time, keeps those in reach of
 * the targets' box in CUDA shared memory, and adds up their potential at all targets. All sums run in
 * a fixed order. */
#include "cuda/domain/targets.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/lists.cuh"
#include "cuda/tree/p2p.cuh"

enum { WARPS = 4, BLOCK = WARPS * WARP, OF_LANE = 2, TARGETS = OF_LANE * WARP, KEPT = 4 * WARP };
static_assert(TARGETS >= P2P_TARGETS_MOST, "a CUDA block must hold a target block");

/** psi(u) = u^-1/2 - H(u), lengths in r_cut; H is zero for Newton's gravity. */
struct potential_law {
  bool spline;
  float soft2; /* of all particles, where types have no softening of their own */
  float h[FMM_DEGREE + 1];
};
enum { NEWTON = -1 }; /* in place of the degree of H */

struct potential_problem {
  struct p2p_problem p;
  struct potential_law law;
  float *potential; /* [count] */
};

/** u^-1/2 to rounding, because H cancels most of it. */
static __device__ inline float exact_inverse_root(float u) {
  const float y = inverse_root(u);
  return fmaf(0.5f * y, fmaf(-u * y, y, 1.0f), y);
}

/** Spline-softened u^-1/2 for u < support2 (Springel et al. 2001, New Astronomy 6, 79, eq. 71). */
static __device__ float spline_potential(float u, float support2) {
  const float inverse = exact_inverse_root(support2), q = sqrtf(u) * inverse, q2 = q * q;
  const float inner = 2.8f + q2 * (-16.0f / 3.0f + q2 * (9.6f - 6.4f * q));
  const float outer = 3.2f - (1.0f / 15.0f) / fmaxf(q, 0.25f) +
                      q2 * (-32.0f / 3.0f + q * 16.0f + q2 * (-9.6f + q * (32.0f / 15.0f)));
  return (q < 0.5f ? inner : outer) * inverse;
}

/** H(u), u < 1. */
template <int DEGREE>
static __device__ inline float smooth_part(const struct potential_law &law, float u) {
  if (DEGREE == NEWTON) return 0.0f;
  const float t = fmaf(u, 2.0f, -1.0f);
  float h = law.h[DEGREE == NEWTON ? 0 : DEGREE];
#pragma unroll
  for (int k = DEGREE - 1; k >= 0; k--) h = fmaf(h, t, law.h[k]);
  return h;
}

/** psi of a pair with this softening, for u < 1 or Newton's gravity. */
template <int DEGREE>
static __device__ inline float potential_of(const struct potential_law &law, float u, float soft2) {
  const bool softened = law.spline && u < soft2;
  const float newton = softened ? spline_potential(u, soft2)
                                : exact_inverse_root(law.spline ? u : u + soft2);
  return newton - smooth_part<DEGREE>(law, u);
}

/** A lane's targets. Masses at a target's place that are not softened more than it are added up
 * apart, so that without the target's own mass the sum is exact. */
struct potential_targets {
  float x[OF_LANE][3], soft2[OF_LANE], sum[OF_LANE], here[OF_LANE];
};

/** Sources of a warp in CUDA shared memory. */
struct kept_sources {
  struct source<float> source[KEPT];
  float soft2[KEPT]; /* where types have softenings of their own */
};

/** Add the potential of n sources at all targets of this warp. */
template <int DEGREE, bool TYPES>
static __device__ inline void act(const struct potential_law &law, const struct kept_sources &kept,
                                  uint32_t n, struct potential_targets &t) {
#pragma unroll 2
  for (uint32_t k = 0; k < n; k++) {
    const struct source<float> s = kept.source[k];
    float u[OF_LANE], soft2[OF_LANE];
    bool rare = false;
#pragma unroll
    for (int j = 0; j < OF_LANE; j++) {
      const float d[3] = {s.x - t.x[j][0], s.y - t.x[j][1], s.z - t.x[j][2]};
      u[j] = fmaf(d[0], d[0], fmaf(d[1], d[1], d[2] * d[2]));
      soft2[j] = TYPES ? fmaxf(kept.soft2[k], t.soft2[j]) : law.soft2;
      rare = rare || u[j] <= soft2[j];
    }
    if (__any_sync(~0u, rare)) { /* softened pairs, and those of zero distance */
#pragma unroll
      for (int j = 0; j < OF_LANE; j++) {
        if (u[j] + (soft2[j] - t.soft2[j]) == 0.0f)
          t.here[j] += s.mass;
        else if (DEGREE == NEWTON || u[j] < R_CUT_SQUARED)
          t.sum[j] = fmaf(s.mass, potential_of<DEGREE>(law, u[j], soft2[j]), t.sum[j]);
      }
      continue;
    }
#pragma unroll
    for (int j = 0; j < OF_LANE; j++) {
      const float psi = exact_inverse_root(law.spline ? u[j] : u[j] + soft2[j]) -
                        smooth_part<DEGREE>(law, u[j]);
      const bool near = DEGREE == NEWTON || u[j] < R_CUT_SQUARED;
      t.sum[j] = fmaf(near ? s.mass : 0.0f, psi, t.sum[j]);
    }
  }
}

/** Add the potential of this warp's share of a leaf's sources. */
template <int DEGREE, bool TYPES>
static __device__ void act_on(const struct potential_problem &q, uint32_t leaf,
                              const struct reach &reach, struct kept_sources &kept,
                              struct potential_targets &t) {
  const struct p2p_problem &p = q.p;
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  uint32_t n = 0;
  for (uint32_t e = p.offset[leaf] + warp; e < p.offset[leaf + 1]; e += WARPS) {
    const struct range r = source_range(p, p.entry[e]);
    for (uint32_t from = r.first; from < r.end; from += WARP) {
      const uint32_t i = min(from + lane, r.end - 1);
      float x[3], distance2 = 0.0f;
      for (int c = 0; c < 3; c++) {
        const uint32_t at = __ldg(r.x + (size_t)c * r.group_count + i);
        x[c] = rounded_product((float)position_difference(at, reach.centre[c]), p.scale);
        const float outside = fmaxf(fabsf(x[c]) - reach.half[c], 0.0f);
        distance2 = fmaf(outside, outside, distance2);
      }
      const bool wanted = from + lane < r.end && (DEGREE == NEWTON || distance2 < R_CUT_SQUARED);
      const uint32_t lanes = __ballot_sync(~0u, wanted);
      if (wanted) {
        const uint32_t k = n + __popc(lanes & ((1u << lane) - 1));
        kept.source[k] = {x[0], x[1], x[2], mass_at(p, r.slot, i)};
        if (TYPES) kept.soft2[k] = soft2_at(p, r.slot, i);
      }
      n += __popc(lanes);
      if (n <= KEPT - WARP) continue;
      __syncwarp();
      act<DEGREE, TYPES>(q.law, kept, n, t);
      __syncwarp();
      n = 0;
    }
  }
  __syncwarp();
  act<DEGREE, TYPES>(q.law, kept, n, t);
}

/** The potential at n targets, at most TARGETS. A lane's j-th target is number j * WARP + lane;
 * lanes with fewer targets repeat the last one. */
template <int DEGREE, bool TYPES>
static __device__ void potential_at(const struct potential_problem &q, uint32_t leaf,
                                    uint32_t first, uint32_t n, const struct reach &reach,
                                    struct kept_sources &kept, float sum[2][WARPS][TARGETS]) {
  const struct p2p_problem &p = q.p;
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  struct potential_targets t;
  for (int j = 0; j < OF_LANE; j++) {
    const uint32_t i = first + min(j * WARP + lane, n - 1);
    for (int c = 0; c < 3; c++)
      t.x[j][c] = rounded_product(
          (float)position_difference(p.x[(size_t)c * p.count + i], reach.centre[c]), p.scale);
    t.soft2[j] = target_soft2(p, i);
    t.sum[j] = t.here[j] = 0.0f;
  }
  act_on<DEGREE, TYPES>(q, leaf, reach, kept, t);
  for (int j = 0; j < OF_LANE; j++) {
    sum[0][warp][j * WARP + lane] = t.sum[j];
    sum[1][warp][j * WARP + lane] = t.here[j];
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < n; k += BLOCK) {
    float all = 0.0f, others = -mass_at(p, 0, first + k);
    for (int w = 0; w < WARPS; w++) {
      all += sum[0][w][k];
      others += sum[1][w][k];
    }
    if (others > 0.0f)
      all = fmaf(others, potential_of<DEGREE>(q.law, 0.0f, target_soft2(p, first + k)), all);
    q.potential[first + k] = all;
  }
  __syncthreads();
}

template <int DEGREE, bool TYPES>
static __global__ void __launch_bounds__(BLOCK)
    potential(const __grid_constant__ struct potential_problem q) {
  __shared__ struct kept_sources kept[WARPS];
  __shared__ float sum[2][WARPS][TARGETS];
  const struct p2p_problem &p = q.p;
  const uint32_t number = blockIdx.x, leaf = number >> (p.block_level - p.depth),
                 begin = level_first(p.count, p.block_level, number),
                 end = level_first(p.count, p.block_level, number + 1);
  if (begin == end) return;
  struct reach reach = reach_of(p, begin, end);
  /* where the nearest image of a source differs between the targets, each target has its own
   * sources */
  const bool wide = DEGREE != NEWTON &&
                    fmaxf(fmaxf(reach.half[0], reach.half[1]), reach.half[2]) + R_CUT >=
                        (float)(0.5 * POSITION_TURN) * p.scale;
  for (uint32_t first = begin; first < end;) {
    const uint32_t n = wide ? 1 : end - first;
    if (wide) reach = reach_of(p, first, first + 1);
    potential_at<DEGREE, TYPES>(q, leaf, first, n, reach, kept[threadIdx.x / WARP], sum);
    first += n;
  }
}

template <int DEGREE> static void launch(const struct gpu *g, const struct potential_problem &q) {
  const uint32_t blocks = 1u << q.p.block_level;
  if (q.p.source_type)
    potential<DEGREE, true><<<blocks, BLOCK, 0, g->stream>>>(q);
  else
    potential<DEGREE, false><<<blocks, BLOCK, 0, g->stream>>>(q);
}

void gpu_potential(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target,
                   uint32_t slots, float *potentials) {
  const struct device_list list = gpu_list(g, target->near, 1u << target->depth);
  const struct split *split = law->split;
  struct potential_problem q = {};
  p2p_problem_init(g, law, target, slots, &list, &q.p);
  q.law.spline = law->softening_kind == SOFTENING_SPLINE;
  q.law.soft2 = q.p.soft2;
  for (int k = 0; k <= FMM_DEGREE; k++) q.law.h[k] = split->potential[k]; /* 0 above the degree */
  q.potential = potentials;
  if (split->kind == SPLIT_NEWTON)
    launch<NEWTON>(g, q);
  else if (split->potential_degree <= 9)
    launch<9>(g, q);
  else if (split->potential_degree <= 12)
    launch<12>(g, q);
  else
    launch<FMM_DEGREE>(g, q);
  gpu_launched("potential");
}
