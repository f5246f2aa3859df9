/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest particles to a point. Those within the limit are collected without branches, and the place of each by
 * distance is the number of nearer ones: no step waits for a comparison that nobody can foresee. */
#include <math.h>

#include "photons/analysis/kernels.h"

enum {
  PIECE = 64,         /* particles examined at a time */
  LANES = 16,         /* of them ranked at a time */
  ROOM = 128 + PIECE, /* collected before the furthest are dropped */
};
#define NONE UINT32_MAX

/** Particles collected so far. */
struct collected {
  uint32_t count;
  double distance2[ROOM];
  uint32_t index[ROOM];
};

static void collect_piece(const struct halo_crowd *crowd, uint32_t first, int count,
                          const double point[HALO_AXES], double limit2, struct collected *c) {
  const double *x = crowd->x[0] + first, *y = crowd->x[1] + first, *z = crowd->x[2] + first,
               *u = crowd->x[3] + first, *v = crowd->x[4] + first, *w = crowd->x[5] + first;
  double distance2[PIECE];
#pragma omp simd
  for (int i = 0; i < count; i++) {
    const double dx = x[i] - point[0], dy = y[i] - point[1], dz = z[i] - point[2],
                 du = u[i] - point[3], dv = v[i] - point[4], dw = w[i] - point[5];
    distance2[i] = dx * dx + dy * dy + dz * dz + du * du + dv * dv + dw * dw;
  }
  uint32_t next = c->count;
  for (int i = 0; i < count; i++) {
    c->distance2[next] = distance2[i];
    c->index[next] = first + (uint32_t)i;
    next += distance2[i] <= limit2;
  }
  c->count = next;
}

/** How many of n are nearer than each of LANES particles. Whole numbers, in the type of what is compared. */
static inline void rank_lanes(uint32_t n, const double *distance2, const double mine[LANES],
                              double rank[LANES]) {
  double nearer[LANES] = {0.0}, own[LANES];
  for (int k = 0; k < LANES; k++) own[k] = mine[k];
  for (uint32_t j = 0; j < n; j++) {
    const double other = distance2[j];
#pragma omp simd
    for (int k = 0; k < LANES; k++) nearer[k] += other < own[k] ? 1.0 : 0.0;
  }
  for (int k = 0; k < LANES; k++) rank[k] = nearer[k];
}

/** Sort what is collected. Particles at one distance have the same rank and take the places from there on.
 * @param[out] order  [ROOM] by rising distance, then index */
static void sort(struct collected *c, uint32_t *order) {
  double rank[ROOM];
  for (uint32_t i = c->count; i % LANES != 0; i++) c->distance2[i] = HUGE_VAL;
  for (uint32_t i = 0; i < c->count; i += LANES)
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
  struct collected c;
  c.count = 0;
  for (uint32_t first = 0; first < crowd->count; first += PIECE) {
    const uint32_t left = crowd->count - first;
    if (c.count > ROOM - PIECE) limit2 = drop_furthest(&c, most);
    collect_piece(crowd, first, left < PIECE ? (int)left : PIECE, point, limit2, &c);
  }
  return take_nearest(&c, most, found);
}
