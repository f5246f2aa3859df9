/* SPDX-License-Identifier: GPL-3.0-or-later */
/* halo_potential: one thread for each particle. Of few particles it sums all pairs. Of others a warp has the particles that cores
 * find potentials of at a time (HALO_POTENTIALS): it walks the tree for all of them.
 *
 * The order of operations is that of the CPU's kernels, and none are fused (Makefile.am), so that bits are the same. */
#include "cuda/analysis/halo_part.cuh"
#include "cuda/runtime/gpu.cuh"
#include "photons/domain/tree.h"

enum {
  BLOCK = 128,
  TOGETHER = 16, /* particles that cores sum pairs of at a time */
  LISTED = 512   /* entries that cores sum up in single precision */
};
#define ANGLE 0.75f
#define FAR 1e15f /* is as good as no particle */
#define ALL (~0u)
static_assert((int)HALO_POTENTIALS == (int)WARP, "a warp walks for the points of one list");

/** Particles of a tree. */
struct sources {
  uint32_t count;
  const float *x, *y, *z;
};

struct point {
  float x, y, z;
};

/** 1/sqrt(x): inverse_root() of src/analysis/kernels/halo.c. */
static __device__ inline float inverse_root(float x) {
  const float half = 0.5f * x;
  float y = __int_as_float((int)(0x5f375a86u - ((uint32_t)__float_as_int(x) >> 1)));
  y *= 1.5f - half * y * y;
  return y * (1.5f - half * y * y);
}

/** 1/sqrt(r^2 + softening^2) at a distance. */
static __device__ inline float inverse_distance(float dx, float dy, float dz, float softening2) {
  return inverse_root(dx * dx + dy * dy + dz * dz + softening2);
}

/** Particles behind the last one are far away. */
static __device__ inline struct point source_at(const struct sources &s, uint32_t i) {
  if (i >= s.count) return {FAR, FAR, FAR};
  return {s.x[i], s.y[i], s.z[i]};
}

static __device__ inline float pair(const struct point &a, const struct point &b,
                                    float softening2) {
  return inverse_distance(a.x - b.x, a.y - b.y, a.z - b.z, softening2);
}

/** What the particles of later sixteens add to the sum of a particle: back of halo_pairs(). */
static __device__ float sum_behind(const struct sources &s, const struct point &own, uint32_t first,
                                   float softening2) {
  float sum[TOGETHER];
#pragma unroll
  for (int k = 0; k < TOGETHER; k++) sum[k] = 0.0f;
  for (; first < s.count; first += TOGETHER)
#pragma unroll
    for (int k = 0; k < TOGETHER; k++)
      sum[k] += pair(own, source_at(s, first + (uint32_t)k), softening2);
#pragma unroll
  for (int half = TOGETHER / 2; half > 0; half /= 2)
#pragma unroll
    for (int k = 0; k < half; k++) sum[k] += sum[k + half];
  return sum[0];
}

/** The sum over all pairs of a particle: halo_pairs(). Lanes sum what is behind together, though each adds it at a place of its own. */
static __device__ double sum_pairs(const struct sources &s, uint32_t place, float softening2) {
  const struct point own = source_at(s, place);
  const uint32_t end = (place / TOGETHER + 1) * TOGETHER;
  const float behind = sum_behind(s, own, end, softening2);
  float sum = 0.0f;
  for (uint32_t i = 0; i < end && i < s.count; i++) {
    sum += pair(own, source_at(s, i), softening2);
    if (i == place) sum += behind;
  }
  return (double)sum;
}

/** The sum of a lane's particle over what the walk has found. */
struct walk {
  struct point own, middle, half; /* own: from the middle of the warp's box */
  float softening2, sum;
  double done; /* sums of whole lists */
  uint32_t entries;
};

/** Have room for entries in the list, whose sum is single. */
static __device__ inline void list_room(struct walk *w, uint32_t entries) {
  if (w->entries + entries > LISTED) {
    w->done += (double)w->sum;
    w->sum = 0.0f;
    w->entries = 0;
  }
  w->entries += entries;
}

static __device__ inline void add(struct walk *w, float x, float y, float z, float count) {
  const float dx = x - w->middle.x, dy = y - w->middle.y, dz = z - w->middle.z;
  w->sum += count * inverse_distance(dx - w->own.x, dy - w->own.y, dz - w->own.z, w->softening2);
}

static __device__ inline float outside(float centre, float middle, float half) {
  const float apart = fabsf(centre - middle) - half;
  return apart > 0.0f ? apart : 0.0f;
}

/** Whether a node acts on all points as its mass at its centre. */
static __device__ inline bool acts_as_point(const struct walk &w, const struct part_node &n) {
  const float x = outside(n.centre[0], w.middle.x, w.half.x),
              y = outside(n.centre[1], w.middle.y, w.half.y),
              z = outside(n.centre[2], w.middle.z, w.half.z);
  return n.side * n.side <= ANGLE * ANGLE * (x * x + y * y + z * z);
}

/** The node that is visited behind all of a node's descendants; 1: none. */
static __device__ inline uint32_t node_behind(uint32_t node) {
  return (node + 1) >> (__ffs((int)(node + 1)) - 1);
}

static __device__ inline float warp_least(float a) {
  for (int step = WARP / 2; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(ALL, a, step);
    a = other < a ? other : a;
  }
  return a;
}

/** Middle and half of the box along an axis, and the lane's coordinate from the middle. */
static __device__ inline void measure(bool exists, float *own, float *middle, float *half) {
  const float low = warp_least(exists ? *own : INFINITY),
              high = -warp_least(exists ? -*own : INFINITY);
  *middle = 0.5f * (low + high);
  *half = 0.5f * (high - low);
  *own = exists ? *own - *middle : 0.0f;
}

/** The sum over a tree for the particles of a warp: halo_potentials(). */
static __device__ double sum_tree(const struct sources &s, const struct part_node *nodes,
                                  uint32_t depth, uint32_t place, float softening2) {
  struct walk w = {source_at(s, place), {}, {}, softening2, 0.0f, 0.0, 0};
  const bool exists = place < s.count;
  measure(exists, &w.own.x, &w.middle.x, &w.half.x);
  measure(exists, &w.own.y, &w.middle.y, &w.half.y);
  measure(exists, &w.own.z, &w.middle.z, &w.half.z);
  uint32_t node = 1;
  do {
    const struct part_node n = nodes[node];
    const bool point = acts_as_point(w, n);
    if (!point && node < 1u << depth) {
      node *= 2;
      continue;
    }
    const uint32_t first = node_first(s.count, node), end = node_end(s.count, node);
    list_room(&w, point ? 1 : end - first);
    if (point)
      add(&w, n.centre[0], n.centre[1], n.centre[2], (float)(end - first));
    else
      for (uint32_t i = first; i < end; i++) add(&w, s.x[i], s.y[i], s.z[i], 1.0f);
    node = node_behind(node);
  } while (node != 1);
  return w.done + (double)w.sum;
}

static __global__ void __launch_bounds__(BLOCK)
    halo_potential(const __grid_constant__ struct potential_part p) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, row = p.of.first + i;
  if (i / WARP * WARP >= p.of.count) return; /* whole warps, each of one tree */
  const struct part_tree t = part_tree_of(p.of, row / WARP * WARP);
  const uint32_t place = row - t.first;
  const float *x = p.x + 3 * (size_t)t.first, softening2 = p.softening * p.softening;
  const struct sources s = {t.count, x, x + t.count, x + 2 * (size_t)t.count};
  double sum = 0.0;
  if (t.count > HALO_ALL_PAIRS)
    sum = sum_tree(s, p.node + t.node, t.depth, place, softening2);
  else if (place < t.count)
    sum = sum_pairs(s, place, softening2);
  if (place < t.count) p.sum[i] = sum;
}

void gpu_halo_potential(struct gpu *gpu, const struct potential_part *part) {
  halo_potential<<<blocks_for(part->of.count, BLOCK), BLOCK, 0, gpu->stream>>>(*part);
  gpu_launched("halo_potential");
}
