/* SPDX-License-Identifier: GPL-3.0-or-later */
/* halo_density: one warp for each particle. The warp goes down the tree by five levels at a time: a lane has one of the 32
 * descendants of a node, and the nearest of these that may have neighbours comes next. Nodes above the leaves have at most 32
 * particles, a lane each. The nearest particles so far are in the lanes, the nearest one in lane 0.
 *
 * The order of operations is that of the CPU, and none are fused (Makefile.am), so that bits are the same. Rounding does not
 * change the order of numbers: no particle of a box is nearer than the rounded distance of the box. */
#include <math.h>

#include "cuda/analysis/halo_part.cuh"
#include "cuda/runtime/gpu.cuh"
#include "photons/domain/tree.h"

enum {
  BLOCK = 256,
  AXES = HALO_PHASE_AXES,
  SMOOTHED = 20, /* neighbours that make a density: HALO_NEAREST_MOST */
  STEP = 5,      /* levels of the tree at a time: 2^STEP nodes for a warp */
  STEPS = 6      /* of a tree of 2^32 particles */
};
#define ALL (~0u)

struct nearest {
  double distance2; /* of the lane's one; INFINITY: none */
  uint32_t place;
};

struct query {
  double x[AXES];
  uint32_t lane, most; /* most: neighbours that are wanted */
  double limit2;       /* no neighbour is further */
  struct nearest mine;
};

static __device__ inline double distance2_to(const struct query &q, const double *x) {
  double sum = 0.0;
  for (int a = 0; a < AXES; a++) {
    const double apart = x[a] - q.x[a];
    sum += apart * apart;
  }
  return sum;
}

static __device__ inline double box_distance2(const struct query &q, const struct density_box &b) {
  double sum = 0.0;
  for (int a = 0; a < AXES; a++) {
    const double apart = fmax(fmax(b.low[a] - q.x[a], q.x[a] - b.high[a]), 0.0);
    sum += apart * apart;
  }
  return sum;
}

/** Take a particle among the nearest; those at one distance have rising places. */
static __device__ inline void insert(struct query *q, double distance2, uint32_t place) {
  const double below2 = __shfl_up_sync(ALL, q->mine.distance2, 1);
  const uint32_t below = __shfl_up_sync(ALL, q->mine.place, 1);
  const bool stays = q->mine.distance2 < distance2 ||
                     (q->mine.distance2 == distance2 && q->mine.place < place);
  const uint32_t rank = (uint32_t)__popc(__ballot_sync(ALL, stays));
  if (q->lane > rank) q->mine = {below2, below};
  if (q->lane == rank) q->mine = {distance2, place};
  q->limit2 = __shfl_sync(ALL, q->mine.distance2, (int)q->most - 1);
}

/** Look at the particles of a node, at most a warp. */
static __device__ void visit(struct query *q, const double (*x)[AXES], uint32_t first,
                             uint32_t end) {
  const uint32_t place = first + q->lane;
  const double distance2 = place < end ? distance2_to(*q, x[place]) : INFINITY;
  uint32_t near = __ballot_sync(ALL, place < end && distance2 <= q->limit2);
  for (; near; near &= near - 1) {
    const int lane = __ffs((int)near) - 1;
    const double next2 = __shfl_sync(ALL, distance2, lane);
    if (next2 <= q->limit2) insert(q, next2, first + (uint32_t)lane);
  }
}

/** Nodes of a level of the walk, a lane each. */
struct level {
  double distance2; /* of the lane's node */
  uint32_t left;    /* lanes whose nodes have not been visited */
};

/** The lane of the nearest node that may have neighbours; -1: there is none. */
static __device__ inline int nearest_node(const struct query &q, const struct level &l) {
  const bool may = (l.left >> q.lane & 1) && l.distance2 <= q.limit2;
  double least = may ? l.distance2 : INFINITY;
  if (!__any_sync(ALL, may)) return -1;
  for (int step = WARP / 2; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(ALL, least, step);
    least = other < least ? other : least;
  }
  return __ffs((int)__ballot_sync(ALL, may && l.distance2 == least)) - 1;
}

static __device__ inline struct level
level_from(const struct query &q, const struct density_box *box, uint32_t first, uint32_t count) {
  const bool exists = q.lane < count;
  struct level l;
  l.distance2 = exists ? box_distance2(q, box[first + q.lane]) : INFINITY;
  l.left = count == WARP ? ALL : (1u << count) - 1;
  return l;
}

/** Find the nearest particles of a tree. @param depth  of nodes of at most a warp of particles */
static __device__ void walk(struct query *q, const struct density_box *box, const double (*x)[AXES],
                            uint32_t count, uint32_t depth) {
  struct level level[STEPS];
  const uint32_t begin = (depth - 1) % STEP + 1;
  uint32_t first = 1u << begin, done = begin; /* first: node of lane 0; done: its level */
  int at = 0;
  level[0] = level_from(*q, box, first, 1u << begin);
  while (at >= 0) {
    const int lane = nearest_node(*q, level[at]);
    if (lane < 0) {
      at--;
      first = at > 0 ? first >> STEP >> STEP << STEP : 1u << begin;
      done -= STEP;
      continue;
    }
    const uint32_t node = first + (uint32_t)lane;
    level[at].left &= ~(1u << lane);
    if (done == depth) {
      visit(q, x, node_first(count, node), node_end(count, node));
    } else {
      first = node << STEP;
      done += STEP;
      level[++at] = level_from(*q, box, first, WARP);
    }
  }
}

/** The density of the neighbours in the lanes: halo_smoothed(). */
static __device__ double smoothed(const struct query &q) {
  const double h2 = __shfl_sync(ALL, q.mine.distance2, (int)q.most - 1), h = sqrt(h2);
  if (!(h2 * h2 * h2 > 0.0)) return INFINITY;
  const double x = sqrt(q.mine.distance2) / h, inner = 1.0 - 6.0 * x * x * (1.0 - x),
               outer = 2.0 * (1.0 - x) * (1.0 - x) * (1.0 - x), weight = x < 0.5 ? inner : outer;
  double sum = 0.0;
  for (uint32_t k = 0; k < q.most; k++) sum += __shfl_sync(ALL, weight, (int)k);
  return sum / (h2 * h2 * h2);
}

static __global__ void __launch_bounds__(BLOCK)
    halo_density(const __grid_constant__ struct density_part p) {
  const uint32_t i = (uint32_t)(((uint64_t)blockIdx.x * BLOCK + threadIdx.x) / WARP);
  if (i >= p.of.count) return;
  const struct part_tree t = part_tree_of(p.of, p.of.first + i);
  const double(*const x)[AXES] = p.x + t.first;
  const uint32_t place = p.of.first + i - t.first;
  struct query q;
  for (int a = 0; a < AXES; a++) q.x[a] = x[place][a];
  q.lane = threadIdx.x % WARP;
  q.most = t.count < SMOOTHED ? t.count : SMOOTHED;
  q.limit2 = INFINITY;
  q.mine = {INFINITY, UINT32_MAX};
  if (t.depth <= 1)
    visit(&q, x, 0, t.count);
  else
    walk(&q, p.box + t.node, x, t.count, t.depth - 1);
  const double density = smoothed(q);
  if (q.lane == 0) p.density[i] = density;
  if (q.lane < HALO_LINKED && q.lane < q.most) p.neighbour[i][q.lane] = q.mine.place;
}

void gpu_halo_density(struct gpu *gpu, const struct density_part *part) {
  const uint32_t blocks = blocks_for((uint64_t)part->of.count * WARP, BLOCK);
  halo_density<<<blocks, BLOCK, 0, gpu->stream>>>(*part);
  gpu_launched("halo_density");
}
