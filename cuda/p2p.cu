/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: a block for some targets of a leaf. Each of its warps takes every WARPS-th source leaf, keeps the particles in reach of the
 * targets' box in shared memory, and lets them act on all targets: a lane holds up to T targets in registers, and where the targets
 * leave lanes over, these split the sources among them. All sums run in a fixed order.
 * Few sources are so near that softening could matter: they are listed apart, so that the main loop need not ask. */
#include "gpu.cuh"

/* What was tuned: blocks that registers must leave room for on a multiprocessor (1: no bound), unrolling over sources. */
#ifndef P2P_BLOCKS
#define P2P_BLOCKS 1
#endif
#ifndef P2P_UNROLL
#define P2P_UNROLL 1
#endif

enum { UNROLL = P2P_UNROLL, WARPS = 4, BLOCK = WARPS * WARP, TILE = 128, FAR_ROOM = TILE + WARP, CLOSE_TILE = 32, CLOSE_ROOM = CLOSE_TILE + WARP };

/** What acts between two particles, and how it is computed. */
template <typename real>
struct law {
  real support2, inverse_support, plummer2;
  real coefficient[P2P_DEGREE_MAX + 1]; /* of h(t) */
  int degree;
  const float *table;
  real to_argument, inverse_step, step; /* of the table */
  const double *exact;
  int exact_degree;
  bool gauss;
};

struct problem {
  uint32_t count;
  unsigned depth, block_level; /* of the leaves, and of the targets' blocks below them */
  float scale, factor;
  const uint32_t *x, *offset, *entry;
  const uint32_t *const *source_x;
  const uint32_t *source_count;
  float *acceleration;
  unsigned long long *pairs;
};

template <typename real>
struct alignas(4 * sizeof(real)) source {
  real x, y, z, unused;
};

/* The few operations that differ between single and double precision. */
static __device__ inline float inverse_root(float a) {
  float y; /* 2^-22.9 */
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}
static __device__ inline double inverse_root(double a) { return rsqrt(a); }
/** A product that is rounded, and not by half fused into the subtraction that follows: a particle is nowhere else as a source. */
static __device__ inline float rounded_product(float a, float b) { return __fmul_rn(a, b); }
static __device__ inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }
/** u^-3/2. The estimate of the single-precision root is not good enough near the cutoff, where h takes nearly all of it away: one Newton
 * step carried straight to the cube. */
static __device__ inline float inverse_cube(float u) {
  const float y = inverse_root(u), y2 = y * y;
#ifdef P2P_ESTIMATE
  return y2 * y;
#endif
  return y2 * y * fmaf(fmaf(-u, y2, 1.0f), 1.5f, 1.0f);
}
static __device__ inline double inverse_cube(double u) {
  const double y = rsqrt(u);
  return y * y * y;
}

/** Forms of the force: DEGREE > 0 a polynomial of that degree, else one of these. */
enum { ANY_DEGREE = 0, EXACT = -1, TABLE = -2 /* of order 0; -3: order 1 ... -6: order 4 */ };

/** h(u) of the split: F/d = r^-3 - h. */
template <typename real, int FORM>
static __device__ inline real smooth_part(const struct law<real> &law, real u) {
  const real t = fma(real(2), u, real(-1));
  if constexpr (FORM > 0) {
    real h = law.coefficient[FORM];
#pragma unroll
    for (int k = FORM - 1; k >= 0; k--) h = fma(h, t, law.coefficient[k]);
    return h;
  } else if constexpr (FORM == ANY_DEGREE) {
    real h = law.coefficient[law.degree];
    for (int k = law.degree - 1; k >= 0; k--) h = fma(h, t, law.coefficient[k]);
    return h;
  } else {
    real h = real(law.exact[law.exact_degree]);
    for (int k = law.exact_degree - 1; k >= 0; k--) h = fma(h, t, real(law.exact[k]));
    return h;
  }
}

/** T(x') by Taylor expansion about the nearest of the table's entries. */
template <typename real, int ORDER>
static __device__ inline real table_value(const struct law<real> &law, const float *table, real r) {
  const real x = r * law.to_argument;
  int i = int(x * law.inverse_step);
  i = min(i, TABLE_ENTRIES - 1);
  const real d = x - (real(i) + real(0.5)) * law.step;
  real t = real(table[ORDER * TABLE_ENTRIES + i]);
#pragma unroll
  for (int q = ORDER - 1; q >= 0; q--) t = fma(t, d, real(table[q * TABLE_ENTRIES + i]));
  return t;
}

/** F/d at squared distance u > 0, Newtonian or with Plummer's softening. */
template <typename real, int FORM>
static __device__ inline real unsoftened(const struct law<real> &law, const float *table, real u) {
  if constexpr (FORM <= TABLE) {
    const real y = inverse_root(u);
    return table_value<real, TABLE - FORM>(law, table, u * y) * (y * y) * y;
  } else if constexpr (FORM == EXACT) {
    if (law.gauss) {
      const real y = inverse_root(u), x = u * y * law.to_argument;
      return (erfc(x) + real(1.1283791670955126) * x * exp(-x * x)) * (y * y) * y;
    }
  }
  return inverse_cube(u) - smooth_part<real, FORM>(law, u);
}

/** The same with softening, for any u. Where particles nearly touch, h is taken from its polynomial or series: 1 - T has no digits there. */
template <typename real, int FORM>
static __device__ inline real softened(const struct law<real> &law, const float *table, real u) {
  constexpr int SERIES = FORM >= ANY_DEGREE || FORM == EXACT ? FORM : ANY_DEGREE;
  if (law.plummer2 > real(0)) {
    const real soft = inverse_cube(u + law.plummer2);
    if (FORM == SERIES || u < real(1e-3)) return soft - smooth_part<real, SERIES>(law, u);
    return soft - (inverse_cube(u) - unsoftened<real, FORM>(law, table, u));
  }
  if (FORM != SERIES && u >= law.support2) return unsoftened<real, FORM>(law, table, u);
  /* spline_factor() of p2p.h at q = r/support, without branches; at u = 0 anything finite will do */
  const real safe = u > real(1e-30) ? u : real(1e-30), q = safe * inverse_root(safe) * law.inverse_support;
  const real newton = inverse_cube(safe), cube = law.inverse_support * law.inverse_support * law.inverse_support;
  const real inner = real(32.0 / 3.0) + q * q * (real(32) * q - real(38.4));
  const real outer = real(64.0 / 3.0) + q * (real(-48) + q * (real(38.4) - real(32.0 / 3.0) * q));
  const real soft = q < real(0.5) ? inner * cube : fma(real(-1.0 / 15.0), newton, outer * cube);
  return (u < law.support2 ? soft : newton) - smooth_part<real, SERIES>(law, u);
}

template <typename real, int T>
struct targets {
  real x[T], y[T], z[T], ax[T], ay[T], az[T];
};

/** Sources first, first + step ... < n act on the targets. */
template <typename real, int FORM, int T, bool SOFT>
static __device__ inline void act(const struct law<real> &law, const float *table, const struct source<real> *sources, uint32_t n,
                                  uint32_t first, uint32_t step, struct targets<real, T> &t) {
#pragma unroll UNROLL
  for (uint32_t k = first; k < n; k += step) {
    const struct source<real> s = sources[k];
#pragma unroll
    for (int j = 0; j < T; j++) {
      const real dx = s.x - t.x[j], dy = s.y - t.y[j], dz = s.z - t.z[j];
      const real u = fma(dx, dx, fma(dy, dy, dz * dz));
      real f = SOFT ? softened<real, FORM>(law, table, u) : unsoftened<real, FORM>(law, table, u);
      f = u < real(1) ? f : real(0);
      t.ax[j] = fma(f, dx, t.ax[j]);
      t.ay[j] = fma(f, dy, t.ay[j]);
      t.az[j] = fma(f, dz, t.az[j]);
    }
  }
}

/** In which sources are collected, one a warp. */
template <typename real>
struct lists {
  struct source<real> far[FAR_ROOM], close[CLOSE_ROOM];
};

/** The box of some targets. */
struct reach {
  uint32_t centre[3];
  float half[3];
};

static __device__ struct reach reach_of(const struct problem &p, uint32_t first, uint32_t end) {
  struct reach r;
  for (uint32_t c = 0; c < 3; c++) {
    const uint32_t *x = p.x + (size_t)c * p.count, reference = x[first];
    int low = 0, high = 0;
    for (uint32_t i = first + threadIdx.x % WARP; i < end; i += WARP) {
      const int d = (int)(x[i] - reference);
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

/** Where a source leaf stands. */
struct range {
  const uint32_t *x;
  uint32_t group_count, first, end;
};

static __device__ inline struct range source_range(const struct problem &p, uint32_t entry) {
  const uint32_t slot = entry >> (p.depth + 1), leaf = (entry & (tree_nodes(p.depth) - 1)) - (1u << p.depth);
  const uint32_t n = p.source_count[slot];
  return {p.source_x[slot], n, level_first(n, p.depth, leaf), level_first(n, p.depth, leaf + 1)};
}

template <typename real, int FORM, int T>
static __device__ void act_all(const struct law<real> &law, const float *table, const struct source<real> *sources, uint32_t n,
                               uint32_t first, uint32_t step, bool soft, struct targets<real, T> &t) {
  __syncwarp();
  if (soft)
    act<real, FORM, T, true>(law, table, sources, n, first, step, t);
  else
    act<real, FORM, T, false>(law, table, sources, n, first, step, t);
  __syncwarp();
}

/** All sources of this warp act on the targets first .. end - 1 (at most WARP * T); returns the number of those in reach. */
template <typename real, int FORM, int T>
static __device__ uint32_t act_on(const struct problem &p, const struct law<real> &law, const float *table, struct lists<real> *lists,
                                  uint32_t leaf, const struct reach &reach, uint32_t part, uint32_t parts,
                                  struct targets<real, T> &t) {
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, before = (1u << lane) - 1;
  const float close2 = float(law.support2) * 1.0001f;
  const bool all_soft = law.plummer2 > real(0);
  const uint32_t entries_end = p.offset[leaf + 1];
  uint32_t far = 0, close = 0, in_reach = 0;
  for (uint32_t batch = p.offset[leaf] + warp; batch < entries_end; batch += WARP * WARPS) {
    struct range mine = {nullptr, 0, 0, 0}; /* each lane looks up a source leaf, then all read the leaves in turn */
    if (batch + lane * WARPS < entries_end) mine = source_range(p, p.entry[batch + lane * WARPS]);
    const uint32_t ranges = min((entries_end - batch + WARPS - 1) / WARPS, (uint32_t)WARP);
    for (uint32_t r = 0; r < ranges; r++) {
      const uint32_t *x = (const uint32_t *)__shfl_sync(~0u, (unsigned long long)mine.x, r);
      const uint32_t n = __shfl_sync(~0u, mine.group_count, r), first = __shfl_sync(~0u, mine.first, r);
      const uint32_t end = __shfl_sync(~0u, mine.end, r);
      for (uint32_t i = first + lane; i - lane < end; i += WARP) {
        float e2 = 2.0f;
        struct source<real> s;
        if (i < end) {
          const int ix = (int)(x[i] - reach.centre[0]), iy = (int)(x[(size_t)n + i] - reach.centre[1]);
          const int iz = (int)(x[2 * (size_t)n + i] - reach.centre[2]);
          const real scale = real(p.scale);
          s = {rounded_product(real(ix), scale), rounded_product(real(iy), scale), rounded_product(real(iz), scale), real(0)};
          const float ex = fmaxf(fabsf(float(s.x)) - reach.half[0], 0.0f), ey = fmaxf(fabsf(float(s.y)) - reach.half[1], 0.0f);
          const float ez = fmaxf(fabsf(float(s.z)) - reach.half[2], 0.0f);
          e2 = fmaf(ex, ex, fmaf(ey, ey, ez * ez));
        }
        const bool is_close = all_soft ? e2 < 1.0f : e2 <= close2, is_far = e2 < 1.0f && !is_close;
        const uint32_t fars = __ballot_sync(~0u, is_far), closes = __ballot_sync(~0u, is_close);
        if (is_far) lists->far[far + __popc(fars & before)] = s;
        if (is_close) lists->close[close + __popc(closes & before)] = s;
        far += __popc(fars);
        close += __popc(closes);
        if (far >= TILE) {
          act_all<real, FORM, T>(law, table, lists->far, far, part, parts, false, t);
          in_reach += far;
          far = 0;
        }
        if (close >= CLOSE_TILE) {
          act_all<real, FORM, T>(law, table, lists->close, close, part, parts, true, t);
          in_reach += close;
          close = 0;
        }
      }
    }
  }
  act_all<real, FORM, T>(law, table, lists->far, far, part, parts, false, t);
  act_all<real, FORM, T>(law, table, lists->close, close, part, parts, true, t);
  return in_reach + far + close;
}

/** Sum over the parts of each target, then over the warps. */
template <typename real, int T>
static __device__ void store(const struct problem &p, struct targets<real, T> &t, real (*sum)[3][WARP * T], uint32_t first,
                             uint32_t n, uint32_t lanes, uint32_t parts) {
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll
  for (int j = 0; j < T; j++) {
    real a[3] = {t.ax[j], t.ay[j], t.az[j]};
    for (int c = 0; c < 3; c++) {
      real total = a[c];
      for (uint32_t part = 1; part < parts; part++) total += __shfl_sync(~0u, a[c], (lane + part * lanes) % WARP);
      if (lane < lanes) sum[warp][c][j * lanes + lane] = total;
    }
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < 3 * n; k += BLOCK) {
    const uint32_t c = k / n, i = k % n;
    real total = sum[0][c][i];
    for (int w = 1; w < WARPS; w++) total += sum[w][c][i];
    p.acceleration[(size_t)c * p.count + first + i] = p.factor * float(total);
  }
  __syncthreads();
}

template <typename real, int FORM, int T>
static __global__ void __launch_bounds__(BLOCK, P2P_BLOCKS) p2p(const __grid_constant__ struct problem p,
                                                    const __grid_constant__ struct law<real> law) {
  constexpr int TABLE_FLOATS = FORM <= TABLE ? (TABLE - FORM + 1) * TABLE_ENTRIES : 1;
  __shared__ struct lists<real> lists[WARPS];
  __shared__ real sum[WARPS][3][WARP * T];
  __shared__ float table[TABLE_FLOATS];
  if (FORM <= TABLE) {
    for (int i = threadIdx.x; i < TABLE_FLOATS; i += BLOCK) table[i] = law.table[i];
    __syncthreads();
  }
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, leaf = blockIdx.x >> (p.block_level - p.depth);
  const uint32_t begin = level_first(p.count, p.block_level, blockIdx.x), end = level_first(p.count, p.block_level, blockIdx.x + 1);
  struct reach reach = reach_of(p, begin, end);
  /* where a source's nearest image differs between the targets, each has its own sources */
  const bool wide = fmaxf(fmaxf(reach.half[0], reach.half[1]), reach.half[2]) + 1.0f >= 2147483648.0f * p.scale;
  unsigned long long pairs = 0;
  for (uint32_t first = begin; first < end;) {
    const uint32_t n = wide ? 1 : end - first, lanes = (n + T - 1) / T, parts = WARP / lanes;
    const uint32_t part = lane / lanes, slot = lane % lanes;
    if (wide) reach = reach_of(p, first, first + 1);
    struct targets<real, T> t;
#pragma unroll
    for (int j = 0; j < T; j++) {
      const uint32_t i = first + min(j * lanes + slot, n - 1);
      t.x[j] = rounded_product(real((int)(p.x[i] - reach.centre[0])), real(p.scale));
      t.y[j] = rounded_product(real((int)(p.x[(size_t)p.count + i] - reach.centre[1])), real(p.scale));
      t.z[j] = rounded_product(real((int)(p.x[2 * (size_t)p.count + i] - reach.centre[2])), real(p.scale));
      t.ax[j] = t.ay[j] = t.az[j] = real(0);
    }
    /* lanes beyond the last part have nothing to do: their first source is out of range */
    pairs += (unsigned long long)n *
             act_on<real, FORM, T>(p, law, table, &lists[warp], leaf, reach, part < parts ? part : UINT32_MAX - WARP, parts, t);
    store<real, T>(p, t, sum, first, n, lanes, parts);
    first += n;
  }
  if (lane == 0 && pairs) atomicAdd(p.pairs, pairs);
}

template <typename real>
static struct law<real> law_for(const struct gpu *g, const struct p2p_law *l) {
  const struct split *split = l->split;
  struct law<real> law = {};
  law.support2 = real(l->support2);
  law.inverse_support = l->support2 > 0.0f ? real(1.0 / sqrt((double)l->support2)) : real(0);
  law.plummer2 = real(l->plummer2);
  law.degree = split->p2p_degree;
  for (int k = 0; k <= split->p2p_degree; k++) law.coefficient[k] = real(split->p2p[k]);
  law.table = g->table;
  law.to_argument = real(split->r_cut / (2.0 * split->r_s));
  law.inverse_step = real(1.0 / split->table_step);
  law.step = real(split->table_step);
  law.exact = g->exact;
  law.exact_degree = g->exact_degree;
  law.gauss = split->kind == SPLIT_GAUSS;
  return law;
}

template <typename real, int FORM>
static void launch(const struct gpu *g, const struct problem &p, const struct law<real> &law, int t) {
  const uint32_t blocks = 1u << p.block_level;
  if (sizeof(real) == sizeof(double) || t == 2)
    p2p<real, FORM, 2><<<blocks, BLOCK, 0, g->stream>>>(p, law);
  else if constexpr (sizeof(real) == sizeof(float)) {
    if (t == 3)
      p2p<real, FORM, 3><<<blocks, BLOCK, 0, g->stream>>>(p, law);
    else
      p2p<real, FORM, 4><<<blocks, BLOCK, 0, g->stream>>>(p, law);
  }
}

template <typename real>
static void launch_form(const struct gpu *g, const struct p2p_law *l, const struct problem &p, int t) {
  const struct law<real> law = law_for<real>(g, l);
  if (l->kind == P2P_EXACT) return launch<real, EXACT>(g, p, law, t);
  if (l->kind == P2P_TABLE) switch (l->table_order) {
      case 0: return launch<real, TABLE>(g, p, law, t);
      case 1: return launch<real, TABLE - 1>(g, p, law, t);
      case 2: return launch<real, TABLE - 2>(g, p, law, t);
      case 3: return launch<real, TABLE - 3>(g, p, law, t);
      default: return launch<real, TABLE - 4>(g, p, law, t);
    }
  switch (law.degree) {
  case 8: return launch<real, 8>(g, p, law, t);
  case 9: return launch<real, 9>(g, p, law, t);
  case 10: return launch<real, 10>(g, p, law, t);
  default: return launch<real, ANY_DEGREE>(g, p, law, t);
  }
}

/** Targets a lane, such that n targets leave the fewest places of a warp empty. */
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

#ifndef P2P_TARGETS_MOST
#define P2P_TARGETS_MOST 32 /* of a block: more share one list of sources, fewer waste fewer pairs */
#endif

void gpu_p2p(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target, uint32_t slots, bool double_precision,
             float *acceleration, uint64_t *pairs) {
  const struct interaction_list *near = target->near;
  const uint32_t leaves = 1u << target->depth;
  const size_t offset_bytes = (leaves + 1) * sizeof *near->offset, entry_bytes = near->entries * sizeof *near->entry;
  uint32_t *list = (uint32_t *)gpu_scratch(g, SCRATCH_LIST, offset_bytes + entry_bytes);
  char *table = (char *)gpu_scratch(g, SCRATCH_TABLE, slots * (sizeof *target->source_x + sizeof *target->source_count));
  uint32_t *counts = (uint32_t *)(table + slots * sizeof *target->source_x);
  CHECK_CUDA(cudaMemcpyAsync(list, near->offset, offset_bytes, cudaMemcpyHostToDevice, g->stream));
  if (entry_bytes) CHECK_CUDA(cudaMemcpyAsync(list + leaves + 1, near->entry, entry_bytes, cudaMemcpyHostToDevice, g->stream));
  gpu_upload(g, table, target->source_x, slots * sizeof *target->source_x);
  gpu_upload(g, counts, target->source_count, slots * sizeof *target->source_count);
  CHECK_CUDA(cudaMemsetAsync(g->counters, 0, sizeof *g->counters, g->stream));

  unsigned level = target->depth;
  while ((((uint64_t)target->count - 1) >> level) + 1 > P2P_TARGETS_MOST) level++;
  struct problem p;
  p.count = target->count;
  p.depth = target->depth;
  p.block_level = level;
  p.scale = target->scale;
  p.factor = target->factor;
  p.x = target->x;
  p.offset = list;
  p.entry = list + leaves + 1;
  p.source_x = (const uint32_t *const *)table;
  p.source_count = counts;
  p.acceleration = acceleration;
  p.pairs = (unsigned long long *)g->counters;
  const int t = targets_per_lane((uint32_t)((((uint64_t)target->count - 1) >> level) + 1));
  if (double_precision)
    launch_form<double>(g, law, p, t);
  else
    launch_form<float>(g, law, p, t);
  gpu_launched("p2p");
  CHECK_CUDA(cudaMemcpyAsync(pairs, g->counters, sizeof *pairs, cudaMemcpyDeviceToHost, g->stream));
}
