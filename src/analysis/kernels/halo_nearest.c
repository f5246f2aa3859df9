/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest particles to a point. Rounded coordinates tell those that may be within the limit, many at a time; exact ones
 * decide. What is near a box is listed once for all points in it. The squared distances of a list from a point are kept: limits
 * are tried on them until few more than wanted are within. These are collected without branches, and the place of each by
 * distance is the number of nearer ones: no step waits for a comparison that nobody can foresee. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "photons/base/simd.h"

enum { RANKED = 16 };  /* particles ranked at a time */
enum { LISTED = 128 }; /* particles whose exact distances are found at a time */
/* Particles collected before the furthest are dropped, a multiple of RANKED. */
enum { ROOM = LISTED + 2 * RANKED };
_Static_assert(HALO_NEAREST_MOST <= ROOM - LISTED, "what is left finds room beside what is listed");
enum { TRIED = 12 }; /* limits at most, of which the last one may have any number within */
#define NONE UINT32_MAX
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
  for (uint32_t k = 0; k < LANES; k++) to[count + k] = HUGE_VALF;
}

static uint32_t count_within(const struct halo_crowd *crowd, float limit2) {
  const vfloat limit = v_set(limit2);
  const float *const distance2 = crowd->distance2;
  uint32_t count = 0;
  for (uint32_t first = 0; first < crowd->count; first += LANES)
    count += v_count(v_less(v_load(distance2 + first), limit));
  return count;
}

static double exact_distance2(const double x[HALO_AXES], const double point[HALO_AXES]) {
  const double dx = x[0] - point[0], dy = x[1] - point[1], dz = x[2] - point[2],
               du = x[3] - point[3], dv = x[4] - point[4], dw = x[5] - point[5];
  return dx * dx + dy * dy + dz * dz + du * du + dv * dv + dw * dw;
}

/** How many of n are nearer than each of RANKED particles. */
static inline void rank_lanes(uint32_t n, const float *rounded, const float mine[RANKED],
                              int32_t rank[RANKED]) {
  int32_t nearer[RANKED] = {0};
  float own[RANKED];
  for (int k = 0; k < RANKED; k++) own[k] = mine[k];
  for (uint32_t j = 0; j < n; j++) {
    const float other = rounded[j];
#pragma omp simd
    for (int k = 0; k < RANKED; k++) nearer[k] += other < own[k] ? 1 : 0;
  }
  for (int k = 0; k < RANKED; k++) rank[k] = nearer[k];
}

/** Order what is collected by rounded distance. Particles at one distance have the same rank and take the places from there on.
 * @param[out] order  [ROOM] */
static void order_rounded(struct collected *c, uint32_t *order) {
  int32_t rank[ROOM];
  const uint32_t padded = (c->count + RANKED - 1) / RANKED * RANKED;
  for (uint32_t i = 0; i < c->count; i++) c->rounded[i] = (float)c->distance2[i];
  for (uint32_t i = c->count; i < padded; i++) c->rounded[i] = HUGE_VALF;
  for (uint32_t i = 0; i < c->count; i += RANKED)
    rank_lanes(c->count, c->rounded, c->rounded + i, rank + i);
  for (uint32_t i = 0; i < c->count; i++) order[i] = NONE;
  for (uint32_t i = 0; i < c->count; i++) {
    int32_t place = rank[i];
    while (order[place] != NONE) place++;
    order[place] = i;
  }
}

/** The same by exact distance, then index. */
static void sort(struct collected *c, uint32_t *order) {
  order_rounded(c, order);
  for (uint32_t i = 1; i < c->count; i++) {
    const uint32_t one = order[i];
    uint32_t k = i;
    for (; k > 0 && c->distance2[order[k - 1]] > c->distance2[one]; k--) order[k] = order[k - 1];
    order[k] = one;
  }
}

/** @return number of the nearest, at most @p most */
static uint32_t take_nearest(struct collected *c, uint32_t most, struct neighbour *found) {
  uint32_t order[ROOM];
  sort(c, order);
  const uint32_t count = c->count < most ? c->count : most;
  for (uint32_t k = 0; k < count; k++)
    found[k] = (struct neighbour){c->distance2[order[k]], c->index[order[k]]};
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
static double collect(const struct halo_crowd *crowd, uint32_t listed, const uint32_t *list,
                      const double point[HALO_AXES], double limit2, uint32_t most,
                      struct collected *c) {
  if (c->count > ROOM - LISTED) limit2 = drop_furthest(c, most);
  uint32_t next = c->count;
  for (uint32_t k = 0; k < listed; k++) {
    const uint32_t place = crowd->place[list[k]];
    c->distance2[next] = exact_distance2(crowd->x[place], point);
    c->index[next] = place;
    next += c->distance2[next] <= limit2;
  }
  c->count = next;
  return limit2;
}

static void collect_all(const struct halo_crowd *crowd, const double point[HALO_AXES],
                        double limit2, uint32_t most, struct collected *c) {
  const vfloat single = v_set(single_limit2(limit2, crowd->rounding));
  uint32_t list[LISTED], listed = 0;
  c->count = 0;
  for (uint32_t first = 0; first < crowd->count; first += LANES) {
    if (listed > LISTED - LANES) {
      limit2 = collect(crowd, listed, list, point, limit2, most, c);
      listed = 0;
    }
    listed += v_list(v_less(v_load(crowd->distance2 + first), single), first, list + listed);
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

/** A squared limit with few more than the wanted particles within it, or at least as many; reach2 where there is none. */
static double find_limit2(const struct halo_crowd *crowd, uint32_t most, double limit2,
                          double reach2) {
  double low2 = 0.0, high2 = reach2;
  for (int tried = 0; tried < TRIED; tried++) {
    if (!(limit2 > low2 && limit2 < high2)) limit2 = 0.5 * (low2 + high2);
    const uint32_t within = count_within(crowd, single_limit2(limit2, crowd->rounding));
    if (within >= most && (double)within <= MANY * (double)most) return limit2;
    *(within < most ? &low2 : &high2) = limit2;
    limit2 = scaled(limit2, most, within);
    if (limit2 >= reach2 && high2 >= reach2) return reach2;
  }
  return high2;
}

uint32_t KERNEL(halo_nearest)(const struct halo_crowd *crowd, const double point[HALO_AXES],
                              double limit2, double reach2, uint32_t most,
                              struct neighbour *found) {
  struct collected c;
  set_distances(crowd, point);
  limit2 = find_limit2(crowd, most, limit2, reach2);
  collect_all(crowd, point, limit2, most, &c);
  if (c.count < most && limit2 < reach2) collect_all(crowd, point, reach2, most, &c);
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
