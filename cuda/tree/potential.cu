/* SPDX-License-Identifier: GPL-3.0-or-later */
/* potential: one CUDA block for some targets of a leaf, two for each lane. The four warps divide the
 * entries of the leaf's near list; each reads its sources a warp at a time, keeps those in reach of
 * the targets' box in CUDA shared memory, and adds up their potential at all targets. All sums run in
 * a fixed order. */
#include "cuda/domain/targets.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/lists.cuh"
#include "cuda/tree/p2p.cuh"

enum { WARPS = 4, BLOCK = WARPS * WARP, OF_LANE = 2, TARGETS = OF_LANE * WARP };
static_assert(TARGETS >= P2P_TARGETS_MOST, "a CUDA block must hold a target block");

/** psi(u) = u^-1/2 - H(u), lengths in r_cut; H is zero for Newton's gravity. */
struct potential_law {
  bool newton, spline;
  float h[FMM_DEGREE + 1], to_argument;
};

struct potential_problem {
  struct p2p_problem p;
  struct potential_law law;
  float *potential; /* [count] */
};

struct source_of_potential {
  float x[3], mass, soft2;
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

/** psi of a pair with this softening, for u < 1 or Newton's gravity. */
static __device__ inline float potential_of(const struct potential_law &law, float u, float soft2) {
  const bool softened = law.spline && u < soft2;
  const float newton = softened ? spline_potential(u, soft2)
                                : exact_inverse_root(law.spline ? u : u + soft2);
  if (law.newton) return newton;
  const float t = fmaf(u, law.to_argument, -1.0f);
  float h = law.h[FMM_DEGREE];
#pragma unroll
  for (int k = FMM_DEGREE - 1; k >= 0; k--) h = fmaf(h, t, law.h[k]);
  return newton - h;
}

/** A lane's targets. Masses at a target's place that are not softened more than it are added up
 * apart, so that without the target's own mass the sum is exact. */
struct potential_targets {
  float x[OF_LANE][3], soft2[OF_LANE], sum[OF_LANE], here[OF_LANE];
};

/** Add the potential of n sources at all targets of this warp. */
static __device__ inline void act(const struct potential_law &law,
                                  const struct source_of_potential *source, uint32_t n,
                                  struct potential_targets &t) {
#pragma unroll 1
  for (uint32_t k = 0; k < n; k++) {
    const struct source_of_potential s = source[k];
#pragma unroll
    for (int j = 0; j < OF_LANE; j++) {
      const float d[3] = {s.x[0] - t.x[j][0], s.x[1] - t.x[j][1], s.x[2] - t.x[j][2]},
                  u = fmaf(d[0], d[0], fmaf(d[1], d[1], d[2] * d[2])),
                  soft2 = fmaxf(s.soft2, t.soft2[j]);
      if (u + (soft2 - t.soft2[j]) == 0.0f)
        t.here[j] += s.mass;
      else if (law.newton || u < R_CUT_SQUARED)
        t.sum[j] = fmaf(s.mass, potential_of(law, u, soft2), t.sum[j]);
    }
  }
}

/** Add the potential of this warp's share of a leaf's sources. */
static __device__ void act_on(const struct potential_problem &q, uint32_t leaf,
                              const struct reach &reach, struct source_of_potential *kept,
                              struct potential_targets &t) {
  const struct p2p_problem &p = q.p;
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  for (uint32_t e = p.offset[leaf] + warp; e < p.offset[leaf + 1]; e += WARPS) {
    const struct range r = source_range(p, p.entry[e]);
    for (uint32_t from = r.first; from < r.end; from += WARP) {
      const uint32_t i = min(from + lane, r.end - 1);
      struct source_of_potential s = {.mass = mass_at(p, r.slot, i),
                                      .soft2 = soft2_at(p, r.slot, i)};
      float distance2 = 0.0f;
      for (int c = 0; c < 3; c++) {
        const uint32_t x = __ldg(r.x + (size_t)c * r.group_count + i);
        s.x[c] = rounded_product((float)position_difference(x, reach.centre[c]), p.scale);
        const float outside = fmaxf(fabsf(s.x[c]) - reach.half[c], 0.0f);
        distance2 = fmaf(outside, outside, distance2);
      }
      const bool wanted = from + lane < r.end && (q.law.newton || distance2 < R_CUT_SQUARED);
      const uint32_t lanes = __ballot_sync(~0u, wanted);
      if (wanted) kept[__popc(lanes & ((1u << lane) - 1))] = s;
      __syncwarp();
      act(q.law, kept, __popc(lanes), t);
      __syncwarp();
    }
  }
}

/** The potential at n targets, at most TARGETS. A lane's j-th target is number j * WARP + lane;
 * lanes with fewer targets repeat the last one. */
static __device__ void potential_at(const struct potential_problem &q, uint32_t leaf,
                                    uint32_t first, uint32_t n, const struct reach &reach,
                                    struct source_of_potential *kept,
                                    float sum[2][WARPS][TARGETS]) {
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
  act_on(q, leaf, reach, kept, t);
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
      all = fmaf(others, potential_of(q.law, 0.0f, target_soft2(p, first + k)), all);
    q.potential[first + k] = all;
  }
  __syncthreads();
}

static __global__ void __launch_bounds__(BLOCK)
    potential(const __grid_constant__ struct potential_problem q) {
  __shared__ struct source_of_potential kept[WARPS][WARP];
  __shared__ float sum[2][WARPS][TARGETS];
  const struct p2p_problem &p = q.p;
  const uint32_t number = blockIdx.x, leaf = number >> (p.block_level - p.depth),
                 begin = level_first(p.count, p.block_level, number),
                 end = level_first(p.count, p.block_level, number + 1);
  if (begin == end) return;
  struct reach reach = reach_of(p, begin, end);
  /* where the nearest image of a source differs between the targets, each target has its own
   * sources */
  const bool wide = !q.law.newton &&
                    fmaxf(fmaxf(reach.half[0], reach.half[1]), reach.half[2]) + R_CUT >=
                        (float)(0.5 * POSITION_TURN) * p.scale;
  for (uint32_t first = begin; first < end;) {
    const uint32_t n = wide ? 1 : end - first;
    if (wide) reach = reach_of(p, first, first + 1);
    potential_at(q, leaf, first, n, reach, kept[threadIdx.x / WARP], sum);
    first += n;
  }
}

void gpu_potential(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target,
                   uint32_t slots, float *potentials) {
  const struct device_list list = gpu_list(g, target->near, 1u << target->depth);
  struct potential_problem q = {};
  p2p_problem_init(g, law, target, slots, &list, &q.p);
  q.law.newton = law->split->kind == SPLIT_NEWTON;
  q.law.spline = law->softening_kind == SOFTENING_SPLINE;
  q.law.to_argument = 2.0f / law->split->fmm_range;
  for (int k = 0; k <= FMM_DEGREE; k++) q.law.h[k] = law->split->fmm[0][k];
  q.potential = potentials;
  potential<<<1u << q.p.block_level, BLOCK, 0, g->stream>>>(q);
  gpu_launched("potential");
}
