/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: warps read their sources, and the sources of all warps act on a quarter of the targets. */
#ifndef PHOTONS_CUDA_TREE_P2P_SOURCES_CUH
#define PHOTONS_CUDA_TREE_P2P_SOURCES_CUH

#include "cuda/domain/targets.cuh"
#include "cuda/tree/p2p_lists.cuh"

static_assert(WARPS == 1 << QUARTER_LEVELS, "each warp has a quarter of the targets");

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

#endif
