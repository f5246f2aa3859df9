/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest particles to a point. Rounded coordinates tell those that may be within the limit, many at a time; exact ones
 * decide. What is near a box is listed once for all points in it. The squared distances of a list from a point are kept: limits
 * are tried on them until few more than wanted are within. These are collected without branches, and the place of each by
 * distance is the number of nearer ones: no step waits for a comparison that nobody can foresee. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "photons/base/simd.h"

enum { MARKED = HALO_CROWD_MARKED }; /* particles that a word has a bit for */
enum { FOUR = 4 };                   /* particles whose exact distances are found together */
enum { LISTED = 2 * MARKED };        /* and that are listed before */
enum { RANKED = 16 };                /* what is ranked has numbers behind it up to a multiple */
/* Particles collected before the furthest are dropped, a multiple of RANKED. */
enum { ROOM = LISTED + 2 * RANKED };
_Static_assert(HALO_NEAREST_MOST <= ROOM - LISTED, "what is left finds room beside what is listed");
enum { TRIED = 12 }; /* limits at most, of which the last one may have any number within */
/* More than rounding changes of a squared distance, and room for "less" in the place of "no more". */
#define SINGLE_MARGIN 1e-5
/* Where so many more than wanted are within a limit, a smaller one saves time. A new limit is for WANTED times as many as wanted. */
#define MANY 1.5
#define WANTED 1.2

/** Particles collected so far. */
struct collected {
  uint32_t count;
  float rounded[ROOM];
  double distance2[ROOM];
  uint32_t index[ROOM];
};

/** The squared distance of rounded coordinates of particles that are at most this far from each other. */
static float single_limit2(double limit2, double rounding) {
  const double limit = sqrt(limit2) + rounding;
  return (float)(limit * limit * (1.0 + SINGLE_MARGIN)) + FLT_MIN;
}

/** A box in all lanes. */
struct wide_box {
  vfloat middle[HALO_AXES], half[HALO_AXES];
};

static struct wide_box widen(const struct halo_box *box) {
  struct wide_box w;
  for (int a = 0; a < HALO_AXES; a++) {
    w.middle[a] = v_set(box->middle[a]);
    w.half[a] = v_set(box->half[a]);
  }
  return w;
}

/** Squared distances of LANES boxes from a box. */
static inline vfloat boxes_distance2(float *const middle[HALO_AXES], float *const half[HALO_AXES],
                                     uint32_t first, const struct wide_box *from) {
  vfloat sum = v_set(0.0F);
  for (int a = 0; a < HALO_AXES; a++) {
    vfloat apart = v_abs(v_load(middle[a] + first) - from->middle[a]) - from->half[a];
    apart = v_max(apart - v_load(half[a] + first), v_set(0.0F));
    sum = v_fma(apart, apart, sum);
  }
  return sum;
}

/** Squared distances of LANES points from a box. */
static inline vfloat points_distance2(float *const x[HALO_AXES], uint32_t first,
                                      const struct wide_box *from) {
  vfloat sum = v_set(0.0F);
  for (int a = 0; a < HALO_AXES; a++) {
    const vfloat apart = v_max(v_abs(v_load(x[a] + first) - from->middle[a]) - from->half[a],
                               v_set(0.0F));
    sum = v_fma(apart, apart, sum);
  }
  return sum;
}

uint32_t KERNEL(halo_boxes_near)(const struct halo_boxes *b, const struct halo_box *from,
                                 double reach, uint32_t *index) {
  const vfloat limit2 = v_set(single_limit2(reach * reach, b->rounding));
  const struct wide_box wide = widen(from);
  uint32_t found = 0;
  for (uint32_t first = 0; first < b->count; first += LANES) {
    const vmask near = v_both(v_less(boxes_distance2(b->middle, b->half, first, &wide), limit2),
                              v_first(b->count - first));
    if (v_any(near)) found += v_list(near, first, index + found);
  }
  return found;
}

/** Add those of LANES particles that are near. */
static inline uint32_t crowd_add(const struct halo_crowd *c, uint32_t count,
                                 float *const single[HALO_AXES], uint32_t first, vmask near) {
  const vint order = v_order(near);
  for (int a = 0; a < HALO_AXES; a++)
    v_store(c->single[a] + count, v_permute(v_load(single[a] + first), order));
  return count + v_list(near, first, c->place + count);
}

void KERNEL(halo_crowd_fill)(struct halo_crowd *c, float *const single[HALO_AXES], uint32_t ranges,
                             const struct halo_range *range, const struct halo_box *from,
                             double reach) {
  const vfloat limit2 = v_set(single_limit2(reach * reach, c->rounding));
  const struct wide_box wide = widen(from);
  const struct halo_crowd to = *c;
  uint32_t count = 0;
  for (const struct halo_range *r = range; r < range + ranges; r++)
    for (uint32_t first = r->first; first < r->end; first += LANES) {
      const vmask near = v_both(v_less(points_distance2(single, first, &wide), limit2),
                                v_first(r->end - first));
      count = crowd_add(&to, count, single, first, near);
    }
  c->count = count;
}

static uint32_t words_of(const struct halo_crowd *crowd) {
  return (crowd->count + MARKED - 1) / MARKED;
}

/** Set the squared distances of a crowd from a point. Those behind the last one are infinite. */
static void set_distances(const struct halo_crowd *crowd, const double point[HALO_AXES]) {
  const uint32_t count = crowd->count;
  const float *single[HALO_AXES];
  float *const to = crowd->distance2;
  vfloat from[HALO_AXES];
  for (int a = 0; a < HALO_AXES; a++) {
    from[a] = v_set((float)point[a]);
    single[a] = crowd->single[a];
  }
  for (uint32_t first = 0; first < count; first += LANES) {
    vfloat distance2 = v_set(0.0F);
    for (int a = 0; a < HALO_AXES; a++) {
      const vfloat apart = v_load(single[a] + first) - from[a];
      distance2 = v_fma(apart, apart, distance2);
    }
    v_store(to + first, distance2);
  }
  for (uint32_t k = count; k < words_of(crowd) * MARKED; k += LANES)
    v_store(to + k, v_set(HUGE_VALF));
}

/** Mark those within a limit. @return their number */
static uint32_t mark_within(const struct halo_crowd *crowd, double limit2) {
  const vfloat limit = v_set(single_limit2(limit2, crowd->rounding));
  const uint32_t words = words_of(crowd);
  const float *distance2 = crowd->distance2;
  uint32_t count = 0;
  for (uint32_t w = 0; w < words; w++, distance2 += MARKED) {
    uint64_t word = 0;
#pragma GCC unroll 16
    for (uint32_t k = 0; k < MARKED; k += LANES)
      word |= (uint64_t)v_to_bits(v_less(v_load(distance2 + k), limit)) << k;
    crowd->marked[w] = word;
    count += (uint32_t)__builtin_popcountll(word);
  }
  return count;
}

typedef double doubles2 __attribute__((vector_size(16)));
typedef double doubles4 __attribute__((vector_size(32)));
/* The same anywhere in memory. */
typedef double doubles2_there __attribute__((vector_size(16), aligned(8), may_alias));
typedef double doubles4_there __attribute__((vector_size(32), aligned(8), may_alias));

/** The squared sizes of four vectors, each added up from its first coordinate to its last. */
static inline void add_squares(const doubles4 a[FOUR], const doubles2 b[FOUR], double sum[FOUR]) {
  const doubles4 xz01 = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6),
                 yu01 = __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7),
                 xz23 = __builtin_shufflevector(a[2], a[3], 0, 4, 2, 6),
                 yu23 = __builtin_shufflevector(a[2], a[3], 1, 5, 3, 7),
                 vw02 = __builtin_shufflevector(b[0], b[2], 0, 1, 2, 3),
                 vw13 = __builtin_shufflevector(b[1], b[3], 0, 1, 2, 3);
  const doubles4 x = __builtin_shufflevector(xz01, xz23, 0, 1, 4, 5),
                 y = __builtin_shufflevector(yu01, yu23, 0, 1, 4, 5),
                 z = __builtin_shufflevector(xz01, xz23, 2, 3, 6, 7),
                 u = __builtin_shufflevector(yu01, yu23, 2, 3, 6, 7),
                 v = __builtin_shufflevector(vw02, vw13, 0, 4, 2, 6),
                 w = __builtin_shufflevector(vw02, vw13, 1, 5, 3, 7);
  const doubles4 squares = x * x + y * y + z * z + u * u + v * v + w * w;
  memcpy(sum, &squares, sizeof squares);
}

/** Exact squared distances of four particles from a point. */
static inline void exact_distances2(const double (*x)[HALO_AXES], const uint32_t place[FOUR],
                                    const double point[HALO_AXES], double distance2[FOUR]) {
  const doubles4_there *from_a = (const void *)point;
  const doubles2_there *from_b = (const void *)(point + 4);
  doubles4 a[FOUR];
  doubles2 b[FOUR];
#pragma GCC unroll 4
  for (int k = 0; k < FOUR; k++) {
    a[k] = *(const doubles4_there *)(const void *)x[place[k]] - *from_a;
    b[k] = *(const doubles2_there *)(const void *)(x[place[k]] + 4) - *from_b;
  }
  add_squares(a, b, distance2);
}

/** A whole number for each of LANES floats. */
typedef int32_t vwhole __attribute__((vector_size(4 * LANES)));

/** Set how many of n are nearer than each of LANES particles. Numbers behind the last particle, up to a multiple of four, are
 * infinite. */
static inline vwhole rank_lanes(uint32_t n, const float *rounded, const float *own, int32_t *rank) {
  const vfloat mine = v_load(own);
  vint nearer = v_none();
  for (uint32_t j = 0; j < n; j += 4)
#pragma GCC unroll 4
    for (uint32_t k = 0; k < 4; k++)
      nearer = v_add_one(nearer, v_less(v_set(rounded[j + k]), mine));
  memcpy(rank, &nearer, sizeof nearer);
  return (vwhole)nearer;
}

/** Rank what is collected by rounded distance.
 * @param[out] rank  [ROOM] how many are nearer
 * @return whether no two are at one distance */
static bool rank_rounded(struct collected *c, int32_t *rank) {
  const uint32_t n = c->count, padded = (n + RANKED - 1) / RANKED * RANKED;
  for (uint32_t i = 0; i < n; i++) c->rounded[i] = (float)c->distance2[i];
  for (uint32_t i = n; i < padded; i++) c->rounded[i] = HUGE_VALF;
  vwhole sums = {0};
  for (uint32_t i = 0; i < n; i += LANES)
    sums += rank_lanes(n, c->rounded, c->rounded + i, rank + i);
  uint32_t sum = 0, behind = (n + LANES - 1) / LANES * LANES - n; /* each of them has rank n */
  for (int k = 0; k < LANES; k++) sum += (uint32_t)sums[k];
  return sum - behind * n == n * (n - 1) / 2;
}

static inline struct neighbour collected_at(const struct collected *c, uint32_t i) {
  return (struct neighbour){c->distance2[i], c->index[i]};
}

/** Sort what is collected by exact distance, then index. */
static void sort(const struct collected *c, struct neighbour *sorted) {
  for (uint32_t i = 0; i < c->count; i++) {
    const struct neighbour one = collected_at(c, i);
    uint32_t k = i;
    for (; k > 0 && sorted[k - 1].distance2 > one.distance2; k--) sorted[k] = sorted[k - 1];
    sorted[k] = one;
  }
}

/** @return number of the nearest, at most @p most */
static uint32_t take_nearest(struct collected *c, uint32_t most, struct neighbour *found) {
  int32_t rank[ROOM];
  struct neighbour sorted[ROOM];
  if (rank_rounded(c, rank))
    for (uint32_t i = 0; i < c->count; i++) sorted[rank[i]] = collected_at(c, i);
  else
    sort(c, sorted);
  const uint32_t count = c->count < most ? c->count : most;
  memcpy(found, sorted, count * sizeof *found);
  return count;
}

/** Drop all but the nearest. Those that come later have higher indices, so that their order stays right.
 * @return the limit from now on */
static double drop_furthest(struct collected *c, uint32_t most) {
  struct neighbour nearest[HALO_NEAREST_MOST];
  c->count = take_nearest(c, most, nearest);
  for (uint32_t k = 0; k < c->count; k++) {
    c->distance2[k] = nearest[k].distance2;
    c->index[k] = nearest[k].index;
  }
  return nearest[c->count - 1].distance2;
}

/** Collect those of the listed particles of a crowd that are within the limit. @return the limit from now on */
static double collect(const struct halo_crowd *crowd, uint32_t listed, uint32_t *list,
                      const double point[HALO_AXES], double limit2, uint32_t most,
                      struct collected *c) {
  if (listed == 0) return limit2;
  if (c->count > ROOM - LISTED) limit2 = drop_furthest(c, most);
  const uint32_t behind = (FOUR - listed % FOUR) % FOUR;
  for (uint32_t k = 0; k < behind; k++) list[listed + k] = list[0];
  bool first_is_near = false;
  uint32_t next = c->count;
  for (uint32_t first = 0; first < listed; first += FOUR) {
    uint32_t place[FOUR];
    double distance2[FOUR];
    for (uint32_t k = 0; k < FOUR; k++) place[k] = crowd->place[list[first + k]];
    exact_distances2(crowd->x, place, point, distance2);
    if (first == 0) first_is_near = distance2[0] <= limit2;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < FOUR; k++) {
      c->distance2[next] = distance2[k];
      c->index[next] = place[k];
      next += distance2[k] <= limit2;
    }
  }
  c->count = next - (first_is_near ? behind : 0); /* it is listed once */
  return limit2;
}

/** Collect those of the marked particles of a crowd that are within the limit. */
static void collect_all(const struct halo_crowd *crowd, const double point[HALO_AXES],
                        double limit2, uint32_t most, struct collected *c) {
  uint32_t list[LISTED], listed = 0;
  c->count = 0;
  for (uint32_t w = 0; w < words_of(crowd); w++) {
    if (listed > LISTED - MARKED) {
      limit2 = collect(crowd, listed, list, point, limit2, most, c);
      listed = 0;
    }
    for (uint64_t word = crowd->marked[w]; word; word &= word - 1)
      list[listed++] = w * MARKED + (uint32_t)__builtin_ctzll(word);
  }
  (void)collect(crowd, listed, list, point, limit2, most, c);
}

/** The cube root to a hundredth, by a third of the exponent and Newton's method. */
static inline float cube_root(float x) {
  uint32_t bits;
  float y;
  memcpy(&bits, &x, sizeof bits);
  bits = bits / 3 + 0x2a514067U;
  memcpy(&y, &bits, sizeof y);
  return (2.0F * y + x / (y * y)) / 3.0F;
}

/** The squared limit within which there would be WANTED * most particles, if they filled phase space evenly. */
static double scaled(double limit2, uint32_t most, uint32_t within) {
  return limit2 * (double)cube_root((float)(WANTED * (double)most / ((double)within + 0.5)));
}

/** Mark what is within a squared limit: few more particles than wanted, or at least as many, or all within reach2. @return the
 * limit */
static double mark_few(const struct halo_crowd *crowd, uint32_t most, double limit2,
                       double reach2) {
  double low2 = 0.0, high2 = reach2;
  for (int tried = 0; tried < TRIED; tried++) {
    if (!(limit2 > low2 && limit2 < high2)) limit2 = 0.5 * (low2 + high2);
    const uint32_t within = mark_within(crowd, limit2);
    if (within >= most && (double)within <= MANY * (double)most) return limit2;
    *(within < most ? &low2 : &high2) = limit2;
    limit2 = scaled(limit2, most, within);
    if (limit2 >= reach2 && high2 >= reach2) break;
  }
  (void)mark_within(crowd, high2);
  return high2;
}

uint32_t KERNEL(halo_nearest)(const struct halo_crowd *crowd, const double point[HALO_AXES],
                              double limit2, double reach2, uint32_t most,
                              struct neighbour *found) {
  struct collected c;
  set_distances(crowd, point);
  limit2 = mark_few(crowd, most, limit2, reach2);
  collect_all(crowd, point, limit2, most, &c);
  if (c.count < most && limit2 < reach2) {
    (void)mark_within(crowd, reach2);
    collect_all(crowd, point, reach2, most, &c);
  }
  return c.count < most ? c.count : take_nearest(&c, most, found);
}

double KERNEL(halo_smoothed)(uint32_t n, const struct neighbour *near) {
  double weight[HALO_NEAREST_MOST], sum = 0.0;
  const double h2 = near[n - 1].distance2, h = sqrt(h2);
  if (!(h2 * h2 * h2 > 0.0)) return HUGE_VAL;
#pragma omp simd
  for (uint32_t k = 0; k < n; k++) {
    const double q = sqrt(near[k].distance2) / h, inner = 1.0 - 6.0 * q * q * (1.0 - q),
                 outer = 2.0 * (1.0 - q) * (1.0 - q) * (1.0 - q);
    weight[k] = q < 0.5 ? inner : outer;
  }
  for (uint32_t k = 0; k < n; k++) sum += weight[k];
  return sum / (h2 * h2 * h2);
}
