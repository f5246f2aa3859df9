/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest particles to a point. Rounded coordinates tell those that may be within the limit, many at a time; exact ones
 * decide. These are collected without branches, and the place of each by distance is the number of nearer ones: no step
 * waits for a comparison that nobody can foresee. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "photons/base/simd.h"

enum { RANKED = 16 }; /* particles ranked at a time */
/* Particles collected before the furthest are dropped: a multiple of RANKED, and LANES more find room. */
enum { ROOM = 128 + RANKED };
#define NONE UINT32_MAX
/* More than rounding changes of a squared distance, and room for "less" in the place of "no more". */
#define SINGLE_MARGIN 1e-5

/** Particles collected so far. */
struct collected {
  uint32_t count;
  double distance2[ROOM];
  uint32_t index[ROOM];
};

/** What is looked for: no further than limit2, so that rounded coordinates are no further than single_limit2. */
struct wanted {
  double point[HALO_AXES], limit2;
  float single[HALO_AXES], single_limit2;
};

static void set_limit(struct wanted *w, const struct halo_crowd *crowd, double limit2) {
  const double limit = sqrt(limit2) + crowd->rounding;
  w->limit2 = limit2;
  w->single_limit2 = (float)(limit * limit * (1.0 + SINGLE_MARGIN)) + FLT_MIN;
}

/** Those of LANES particles that may be within the limit. */
static inline vmask find_near(const struct halo_crowd *crowd, uint32_t first,
                              const struct wanted *w) {
  vfloat distance2 = v_set(0.0F);
  for (int a = 0; a < HALO_AXES; a++) {
    const vfloat apart = v_load(crowd->single[a] + first) - v_set(w->single[a]);
    distance2 = v_fma(apart, apart, distance2);
  }
  return v_less(distance2, v_set(w->single_limit2));
}

static double exact_distance2(const double x[HALO_AXES], const double point[HALO_AXES]) {
  const double dx = x[0] - point[0], dy = x[1] - point[1], dz = x[2] - point[2],
               du = x[3] - point[3], dv = x[4] - point[4], dw = x[5] - point[5];
  return dx * dx + dy * dy + dz * dz + du * du + dv * dv + dw * dw;
}

/** Collect those of up to LANES particles that are within the limit. */
static inline void collect(const struct halo_crowd *crowd, uint32_t first, uint32_t count,
                           const struct wanted *w, struct collected *c) {
  const vmask near = v_both(find_near(crowd, first, w), v_first(count));
  if (!v_any(near)) return;
  const vint order = v_order(near);
  const uint32_t found = v_count(near);
  uint32_t lane[LANES], next = c->count;
  memcpy(lane, &order, sizeof lane);
  for (uint32_t k = 0; k < found; k++) {
    const uint32_t place = first + lane[k];
    c->distance2[next] = exact_distance2(crowd->x[place], w->point);
    c->index[next] = place;
    next += c->distance2[next] <= w->limit2;
  }
  c->count = next;
}

/** How many of n are nearer than each of RANKED particles. Whole numbers, in the type of what is compared. */
static inline void rank_lanes(uint32_t n, const double *distance2, const double mine[RANKED],
                              double rank[RANKED]) {
  double nearer[RANKED] = {0.0}, own[RANKED];
  for (int k = 0; k < RANKED; k++) own[k] = mine[k];
  for (uint32_t j = 0; j < n; j++) {
    const double other = distance2[j];
#pragma omp simd
    for (int k = 0; k < RANKED; k++) nearer[k] += other < own[k] ? 1.0 : 0.0;
  }
  for (int k = 0; k < RANKED; k++) rank[k] = nearer[k];
}

/** Sort what is collected. Particles at one distance have the same rank and take the places from there on.
 * @param[out] order  [ROOM] by rising distance, then index */
static void sort(struct collected *c, uint32_t *order) {
  double rank[ROOM];
  for (uint32_t i = c->count; i % RANKED != 0; i++) c->distance2[i] = HUGE_VAL;
  for (uint32_t i = 0; i < c->count; i += RANKED)
    rank_lanes(c->count, c->distance2, c->distance2 + i, rank + i);
  for (uint32_t i = 0; i < c->count; i++) order[i] = NONE;
  for (uint32_t i = 0; i < c->count; i++) {
    int place = (int)rank[i];
    while (order[place] != NONE) place++;
    order[place] = i;
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

uint32_t KERNEL(halo_nearest)(const struct halo_crowd *crowd, const double point[HALO_AXES],
                              double limit2, uint32_t most, struct neighbour *found) {
  struct wanted w;
  struct collected c;
  for (int a = 0; a < HALO_AXES; a++) w.single[a] = (float)(w.point[a] = point[a]);
  set_limit(&w, crowd, limit2);
  c.count = 0;
  for (const struct halo_range *r = crowd->range; r < crowd->range + crowd->ranges; r++)
    for (uint32_t first = r->first; first < r->end; first += LANES) {
      if (c.count > ROOM - LANES) set_limit(&w, crowd, drop_furthest(&c, most));
      collect(crowd, first, r->end - first, &w, &c);
    }
  return c.count < most ? c.count : take_nearest(&c, most, found);
}
