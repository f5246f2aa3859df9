/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of the particles of a halo, of several points near each other at a time. A walk lists what acts on all of
 * these, and sums over the list follow, in single precision about the middle of the points. The bits depend on the points,
 * and not on the instruction set. */
#include <math.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "photons/domain/tree.h"
#include "src/analysis/halo_tree.h"

#define ANGLE \
  0.75 /* longest side over distance from the box of the points of a node that acts as a point */
enum { LISTED = 512 }; /* entries of a list */

/** What acts on the points: particles, and nodes as their mass at their centre. */
struct list {
  double softening2, middle[3], half[3]; /* of the box of the points */
  float point[3][HALO_POINTS];           /* from the middle */
  float x[3][LISTED], count[LISTED];     /* from the middle; particles of an entry */
  int entries;
  double *sum;
};

/** 1/sqrt(x) to 5e-6 of itself, for any x of a halo: Newton's method twice, from what half of the exponent gives (Lomont 2003,
 * Fast inverse square root). It has no root and no division, and the same bits with all instruction sets. */
static inline float inverse_root(float x) {
  uint32_t bits;
  float y;
  memcpy(&bits, &x, sizeof bits);
  bits = 0x5f375a86U - (bits >> 1);
  memcpy(&y, &bits, sizeof y);
  const float half = 0.5F * x;
  y *= 1.5F - half * y * y;
  return y * (1.5F - half * y * y);
}

/** Add the potential of all entries to the sums, and empty the list. */
static void add_list(struct list *l) {
  const float softening2 = (float)l->softening2;
  float sum[HALO_POINTS] = {0.0F};
  for (int i = 0; i < l->entries; i++) {
    const float x = l->x[0][i], y = l->x[1][i], z = l->x[2][i], count = l->count[i];
#pragma omp simd
    for (int k = 0; k < HALO_POINTS; k++) {
      const float dx = x - l->point[0][k], dy = y - l->point[1][k], dz = z - l->point[2][k];
      sum[k] += count * inverse_root(dx * dx + dy * dy + dz * dz + softening2);
    }
  }
  for (int k = 0; k < HALO_POINTS; k++) l->sum[k] += (double)sum[k];
  l->entries = 0;
}

static inline void list_one(struct list *l, const double x[3], double count) {
  if (l->entries == LISTED) add_list(l);
  for (int c = 0; c < 3; c++) l->x[c][l->entries] = (float)(x[c] - l->middle[c]);
  l->count[l->entries++] = (float)count;
}

/** List the particles of a leaf, at most LISTED. */
static inline void list_leaf(struct list *l, const double (*x)[HALO_AXES], int particles) {
  if (l->entries + particles > LISTED) add_list(l);
  for (int c = 0; c < 3; c++) {
    float *to = l->x[c] + l->entries;
    const double middle = l->middle[c];
    for (int i = 0; i < particles; i++) to[i] = (float)(x[i][c] - middle);
  }
  for (int i = 0; i < particles; i++) l->count[l->entries + i] = 1.0F;
  l->entries += particles;
}

static inline double larger(double a, double b) { return a > b ? a : b; }

/** Whether a node acts on all points as its mass at its centre (Barnes & Hut 1986, Nature 324, 446). Particles at one place do
 * so in any case. */
static inline bool acts_as_point(const struct halo_node *n, const struct list *l) {
  double side = 0.0, distance2 = 0.0;
  for (int c = 0; c < 3; c++) {
    const double apart = larger(fabs(n->centre[c] - l->middle[c]) - l->half[c], 0.0);
    side = larger(side, n->high[c] - n->low[c]);
    distance2 += apart * apart;
  }
  return side * side <= ANGLE * ANGLE * distance2;
}

static void list_node(struct list *l, const struct halo_tree *t, uint32_t node) {
  const uint32_t first = node_first(t->count, node), end = node_end(t->count, node);
  if (acts_as_point(&t->node[node], l)) {
    list_one(l, t->node[node].centre, (double)(end - first));
    return;
  }
  if (node < 1U << t->depth) {
    list_node(l, t, 2 * node);
    list_node(l, t, 2 * node + 1);
    return;
  }
  list_leaf(l, t->x + first, (int)(end - first));
}

/** Points behind the last one are at the middle. */
static void set_points(struct list *l, const struct halo_points *p) {
  for (int c = 0; c < 3; c++) {
    double low = p->x[c][0], high = p->x[c][0];
    for (int k = 1; k < p->count; k++) {
      low = p->x[c][k] < low ? p->x[c][k] : low;
      high = larger(high, p->x[c][k]);
    }
    l->middle[c] = 0.5 * (low + high);
    l->half[c] = 0.5 * (high - low);
    for (int k = 0; k < HALO_POINTS; k++)
      l->point[c][k] = k < p->count ? (float)(p->x[c][k] - l->middle[c]) : 0.0F;
  }
}

void KERNEL(halo_potentials)(const struct halo_tree *t, double softening, struct halo_points *p) {
  struct list list;
  list.softening2 = softening * softening;
  list.entries = 0;
  list.sum = p->sum;
  for (int k = 0; k < HALO_POINTS; k++) p->sum[k] = 0.0;
  set_points(&list, p);
  list_node(&list, t, 1);
  add_list(&list);
}

extern const struct halo_kernels KERNEL(halo_kernels);
const struct halo_kernels KERNEL(halo_kernels) = {
    .potentials = KERNEL(halo_potentials),
    .nearest = KERNEL(halo_nearest),
    .farthest2 = KERNEL(halo_farthest2),
    .stay_inside = KERNEL(halo_stay_inside),
    .keep = KERNEL(halo_keep),
    .distances = KERNEL(halo_distances),
    .fastest = KERNEL(halo_fastest),
    .momenta = KERNEL(halo_momenta),
    .sums = KERNEL(halo_sums),
};
