/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: the lists of sources in reach that a warp collects, and the force of the sources in them. */
#ifndef PHOTONS_CUDA_TREE_P2P_LISTS_CUH
#define PHOTONS_CUDA_TREE_P2P_LISTS_CUH

#include "cuda/tree/p2p.cuh"

/* Tuned by measurement: sources in one step of the main loop, and sources of a warp that all warps of the
 * CUDA block are given at a time. */
#ifndef P2P_UNROLL
#define P2P_UNROLL 1
#endif
#ifndef P2P_SHELF
#define P2P_SHELF 320
#endif
enum { WARPS = 4, BLOCK = WARPS * WARP, UNROLL = P2P_UNROLL, STEP = 2 * WARP, TILE = STEP };
enum { SHELF = P2P_SHELF };

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

#endif
