/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Common to the kernels of p2p: target blocks and their targets, and sources. */
#ifndef PHOTONS_CUDA_P2P_CUH
#define PHOTONS_CUDA_P2P_CUH

#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/lists.cuh"
#include "cuda/tree/p2p_force.cuh"
#include "photons/domain/geometry.h"

/** Some targets of a leaf, none if begin == end, and a segment of the leaf's list. */
struct target_block {
  uint32_t leaf, begin, end;
  uint32_t segment, segments;
  uint32_t part; /* of several segments: where the sums of the first one are */
};

struct p2p_problem {
  uint32_t count;
  unsigned depth, block_level; /* levels of the leaves, and of the target blocks below them */
  const uint32_t *first;       /* table of the leaves, or NULL. With it block_level is not used */
  unsigned source_depth;       /* of the sources' trees */
  uint32_t span; /* Newton's gravity: lanes that read a leaf of sources, a power of 2 */
  float scale, factor;
  const uint32_t *x, *offset, *entry;
  struct target_block *order; /* [blocks] */
  uint32_t blocks;            /* largest possible number of target blocks */
  uint32_t longest;           /* a list with fewer entries is one segment */
  const uint32_t *const *source_x;
  const uint32_t *source_count;
  const float *const *source_mass;       /* where masses differ, or NULL */
  const uint8_t *const *source_type;     /* where the softening differs, or NULL */
  const uint32_t *index;                 /* of packed targets in their group, or NULL */
  float soft2, soft2_of[PARTICLE_TYPES]; /* the law's support2 or plummer2, and that of each type */
  uint32_t divisions;                    /* parts of the sources of a target block, a power of 2 */
  uint32_t components;                   /* of the result: with or without tides */
  float *acceleration;                   /* [division][components][count]: sums of each division */
  float *part; /* [part][division][components][P2P_TARGETS_MOST]: sums of each segment */
  uint32_t *
      finished; /* [part][division]: segments of the target block with this first part whose sums are there */
  unsigned long long *pairs;
};

/** Position relative to the centre of the targets' box, in r_cut; mass where particles differ. */
template <typename real> struct alignas(4 * sizeof(real)) source { real x, y, z, mass; };

template <typename real, int T> struct targets { real x[T], y[T], z[T], a[T][3], tide[T]; };

/** Division of the sources among the lanes of a warp: a lane takes every parts-th source, beginning
 * with source `part`. */
struct share {
  uint32_t part, parts;
  uint32_t full; /* sources of a full list that are divided evenly */
};

/** The box of some targets. */
struct reach {
  uint32_t centre[3];
  float half[3];
};

static __device__ struct reach reach_of(const struct p2p_problem &p, uint32_t first, uint32_t end) {
  struct reach r;
  for (uint32_t c = 0; c < 3; c++) {
    const uint32_t *x = p.x + (size_t)c * p.count, reference = x[first];
    int low = 0, high = 0;
#pragma unroll 1
    for (uint32_t i = first + threadIdx.x % WARP; i < end; i += WARP) {
      const int d = position_difference(x[i], reference);
      low = min(low, d);
      high = max(high, d);
    }
    low = warp_min(low);
    high = warp_max(high);
    const int64_t middle = ((int64_t)low + high) / 2, half = max(high - middle, middle - low);
    r.centre[c] = reference + (uint32_t)middle;
    r.half[c] = (float)half * p.scale * 1.000001f;
  }
  return r;
}

/** Particles of a source leaf, or of several consecutive ones; x is NULL where there are none. */
struct range {
  uint32_t slot;
  const uint32_t *x;
  uint32_t group_count, first, end;
};

static __device__ inline struct range source_range(const struct p2p_problem &p, uint32_t entry) {
  const unsigned depth = p.source_depth;
  const uint32_t slot = entry >> (depth + 1),
                 leaf = (entry & (tree_nodes(depth) - 1)) - (1u << depth);
  const uint32_t n = p.source_count[slot], first = level_first(n, depth, leaf),
                 end = level_first(n, depth, leaf + 1);
  return {slot, first < end ? p.source_x[slot] : nullptr, n, first, end};
}

/* Masses and softening, where particles differ. */

static __device__ inline float mass_at(const struct p2p_problem &p, uint32_t slot, uint32_t i) {
  return p.source_mass ? __ldg(p.source_mass[slot] + i) : 1.0f;
}
/** Of a neighbour's particle, as the law's support2 or plummer2. */
static __device__ inline float soft2_at(const struct p2p_problem &p, uint32_t slot, uint32_t i) {
  return p.source_type ? p.soft2_of[__ldg(p.source_type[slot] + i)] : p.soft2;
}
/** Of a target, whose group is the first neighbour. */
static __device__ inline float target_soft2(const struct p2p_problem &p, uint32_t i) {
  return soft2_at(p, 0, p.source_type && p.index ? p.index[i] : i);
}

/** Read n targets from `first` on, at most T for each of so many lanes. A lane's j-th target is
 * number j * lanes + slot; lanes with fewer targets repeat the last one. */
template <typename real, int T>
static __device__ inline struct targets<real, T>
load_targets(const struct p2p_problem &p, const uint32_t centre[3], uint32_t first, uint32_t n,
             uint32_t lanes, uint32_t slot) {
  struct targets<real, T> t;
  const auto place = [&](size_t c, uint32_t i) {
    return rounded_product(real(position_difference(p.x[c * p.count + i], centre[c])),
                           real(p.scale));
  };
#pragma unroll
  for (int j = 0; j < T; j++) {
    const uint32_t i = first + min(j * lanes + slot, n - 1);
    t.x[j] = place(0, i);
    t.y[j] = place(1, i);
    t.z[j] = place(2, i);
    t.a[j][0] = t.a[j][1] = t.a[j][2] = t.tide[j] = real(0);
  }
  return t;
}

/** Softening of a lane's targets, where it differs. */
template <typename real, bool MIXED, int T>
struct softened_targets {
  real soft2[MIXED ? T : 1];
};

template <typename real, bool MIXED, int T>
static __device__ inline struct softened_targets<real, MIXED, T>
load_softening(const struct p2p_problem &p, uint32_t first, uint32_t n, uint32_t lanes,
               uint32_t slot) {
  struct softened_targets<real, MIXED, T> t = {};
  if constexpr (MIXED)
#pragma unroll
    for (int j = 0; j < T; j++)
      t.soft2[j] = real(target_soft2(p, first + min(j * lanes + slot, n - 1)));
  return t;
}

/** What is known of targets and sources: everything but order, blocks, longest, span, divisions,
 * and what concerns the result. Copies the tables of the sources to the GPU.
 * @param slots  number of neighbours */
void p2p_problem_init(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target,
                      uint32_t slots, const struct device_list *list, struct p2p_problem *p);
/** Launch the kernel of Newton's gravity, which has no cutoff: one warp for each target block and
 * division.
 * @param t  targets of a lane, 2 .. 4 */
void p2p_newton_launch(const struct gpu *g, const struct p2p_law *law, const struct p2p_problem *p,
                       int t, bool double_precision);

#endif
