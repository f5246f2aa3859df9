/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of the particles of a halo. Of many sources a walk lists what acts on several points near each other, and sums
 * over the list follow, in single precision about the middle of the points. Of few particles all pairs are summed, each once
 * for both. The bits depend on the particles, and not on the instruction set. */
#include <math.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "photons/base/simd.h"
#include "photons/domain/tree.h"
#include "src/analysis/halo_sources.h"

#define ANGLE \
  0.75F /* longest side over distance from the box of the points of a node that acts as a point */
enum { LISTED = 512 };  /* entries of a list */
enum { TOGETHER = 16 }; /* particles that pairs are summed of at a time */
#define FAR 1e15F       /* is as good as no particle */

/** What acts on the points: particles, and nodes as their mass at their centre. */
struct list {
  float softening2, middle[3], half[3]; /* of the box of the points */
  float point[3][HALO_POINTS];          /* from the middle */
  float x[3][LISTED], count[LISTED];    /* from the middle; particles of an entry */
  int entries;
  double *sum;
};

/** The bits of LANES floats. */
typedef uint32_t vbits __attribute__((vector_size(4 * LANES)));

/** 1/sqrt(x) to 5e-6 of itself, for any x of a halo: Newton's method twice, from what half of the exponent gives (Lomont 2003,
 * Fast inverse square root). It has no root and no division, and the same bits with all instruction sets. */
static inline vfloat inverse_root(vfloat x) {
  const vfloat half = 0.5F * x;
  vfloat y = (vfloat)(0x5f375a86U - ((vbits)x >> 1));
  y *= 1.5F - half * y * y;
  return y * (1.5F - half * y * y);
}

enum { PAIR = 2 * LANES }; /* points at a time: all that a sum over entries needs is in registers */
_Static_assert(HALO_POINTS % PAIR == 0, "points are whole pairs of vectors");

/** 1/sqrt(r^2 + softening^2), r from LANES points to x, y, z. */
static inline vfloat inverse_distance(const vfloat point[3], float x, float y, float z,
                                      vfloat softening2) {
  const vfloat dx = x - point[0], dy = y - point[1], dz = z - point[2];
  return inverse_root(dx * dx + dy * dy + dz * dz + softening2);
}

/** Add the potential of all entries to the sums of PAIR points. */
static inline void add_entries(const struct list *l, int points) {
  vfloat point[2][3], sum[2] = {v_set(0.0F), v_set(0.0F)};
  const vfloat softening2 = v_set(l->softening2);
  for (int v = 0; v < 2; v++)
    for (int c = 0; c < 3; c++) point[v][c] = v_load(l->point[c] + points + v * LANES);
  for (int i = 0; i < l->entries; i++)
    for (int v = 0; v < 2; v++)
      sum[v] += l->count[i] *
                inverse_distance(point[v], l->x[0][i], l->x[1][i], l->x[2][i], softening2);
  float sums[PAIR];
  for (int v = 0; v < 2; v++) v_store(sums + v * LANES, sum[v]);
  for (int k = 0; k < PAIR; k++) l->sum[points + k] += (double)sums[k];
}

/** Add the potential of all entries to the sums, and empty the list. */
static void add_list(struct list *l) {
  for (int points = 0; points < HALO_POINTS; points += PAIR) add_entries(l, points);
  l->entries = 0;
}

static inline void list_one(struct list *l, const float x[3], float count) {
  if (l->entries == LISTED) add_list(l);
  for (int c = 0; c < 3; c++) l->x[c][l->entries] = x[c] - l->middle[c];
  l->count[l->entries++] = count;
}

/** List the particles of a leaf, at most LISTED. */
static inline void list_leaf(struct list *l, const struct halo_sources *s, uint32_t first,
                             int particles) {
  if (l->entries + particles > LISTED) add_list(l);
  for (int c = 0; c < 3; c++) {
    float *to = l->x[c] + l->entries;
    const float *x = s->x[c] + first, middle = l->middle[c];
    for (int i = 0; i < particles; i++) to[i] = x[i] - middle;
  }
  for (int i = 0; i < particles; i++) l->count[l->entries + i] = 1.0F;
  l->entries += particles;
}

static inline float larger(float a, float b) { return a > b ? a : b; }

/** Three coordinates and another number at once: comparisons of each would be branches that nobody can foresee. */
typedef float four __attribute__((vector_size(16)));
typedef int32_t four_masks __attribute__((vector_size(16)));

/** Whether a node acts on all points as its mass at its centre (Barnes & Hut 1986, Nature 324, 446). Particles at one place do
 * so in any case.
 * @param middle, half  of the box of the points; the last numbers are not used */
static inline bool acts_as_point(const struct source_node *n, four middle, four half) {
  four apart;
  _Static_assert(sizeof apart == sizeof *n, "the centre of a node, and its side");
  memcpy(&apart, n, sizeof apart);
  apart = (four)((four_masks)(apart - middle) & 0x7fffffff) - half;
  apart = (four)((four_masks)apart & (apart > 0.0F));
  apart *= apart;
  return n->side * n->side <= ANGLE * ANGLE * (apart[0] + apart[1] + apart[2]);
}

/** The node that is visited behind all of a node's descendants; 1: none. */
static inline uint32_t node_behind(uint32_t node) { return (node + 1) >> __builtin_ctz(node + 1); }

/** List what acts on the points, from the left to the right. */
static void list_nodes(struct list *l, const struct halo_sources *s) {
  const uint32_t leaves = 1U << s->depth;
  const four middle = {l->middle[0], l->middle[1], l->middle[2], 0.0F},
             half = {l->half[0], l->half[1], l->half[2], 0.0F};
  uint32_t node = 1;
  do {
    const bool point = acts_as_point(&s->node[node], middle, half);
    if (!point && node < leaves) {
      node *= 2;
      continue;
    }
    const uint32_t first = node_first(s->count, node), particles = node_end(s->count, node) - first;
    if (point)
      list_one(l, s->node[node].centre, (float)particles);
    else
      list_leaf(l, s, first, (int)particles);
    node = node_behind(node);
  } while (node != 1);
}

/** Points behind the last one are at the middle. */
static void set_points(struct list *l, const struct halo_points *p) {
  for (int c = 0; c < 3; c++) {
    float low = p->x[c][0], high = p->x[c][0];
    for (int k = 1; k < p->count; k++) {
      low = p->x[c][k] < low ? p->x[c][k] : low;
      high = larger(high, p->x[c][k]);
    }
    l->middle[c] = 0.5F * (low + high);
    l->half[c] = 0.5F * (high - low);
    for (int k = 0; k < HALO_POINTS; k++)
      l->point[c][k] = k < p->count ? p->x[c][k] - l->middle[c] : 0.0F;
  }
}

void KERNEL(halo_potentials)(const struct halo_sources *s, float softening, struct halo_points *p) {
  struct list list;
  list.softening2 = softening * softening;
  list.entries = 0;
  list.sum = p->sum;
  for (int k = 0; k < HALO_POINTS; k++) p->sum[k] = 0.0;
  set_points(&list, p);
  list_nodes(&list, s);
  add_list(&list);
}

/** Particles whose pairs are summed: whole numbers of TOGETHER, with others that are far away behind them. */
struct pairs {
  int count;
  float softening2;
  float x[3][HALO_PAIRS], sum[HALO_PAIRS];
};

enum { VECTORS = TOGETHER / LANES };

/** Add to the sums of TOGETHER particles what one particle adds, and to `back` what they add to it. */
static inline void add_pairs(struct pairs *p, int i, int first, vfloat back[VECTORS]) {
  const vfloat softening2 = v_set(p->softening2);
  for (int v = 0; v < VECTORS; v++) {
    const int at = first + v * LANES;
    const vfloat point[3] = {v_load(p->x[0] + at), v_load(p->x[1] + at), v_load(p->x[2] + at)},
                 one = inverse_distance(point, p->x[0][i], p->x[1][i], p->x[2][i], softening2);
    v_store(p->sum + at, v_load(p->sum + at) + one);
    back[v] += one;
  }
}

static float sum_of(const vfloat parts[VECTORS]) {
  float part[TOGETHER], sum[TOGETHER / 2];
  for (int v = 0; v < VECTORS; v++) v_store(part + v * LANES, parts[v]);
  for (int k = 0; k < TOGETHER / 2; k++) sum[k] = part[k] + part[k + TOGETHER / 2];
  for (int half = TOGETHER / 4; half > 0; half /= 2)
    for (int k = 0; k < half; k++) sum[k] += sum[k + half];
  return sum[0];
}

void KERNEL(halo_pairs)(const struct halo_sources *s, float softening, double *sum) {
  struct pairs p = {.softening2 = softening * softening};
  const int n = (int)s->count;
  p.count = (n + TOGETHER - 1) / TOGETHER * TOGETHER;
  for (int c = 0; c < 3; c++)
    for (int k = 0; k < p.count; k++) p.x[c][k] = k < n ? s->x[c][k] : FAR;
  for (int k = 0; k < p.count; k++) p.sum[k] = 0.0F;
  for (int i = 0; i < n; i++) {
    vfloat back[VECTORS] = {v_set(0.0F)}, none[VECTORS] = {v_set(0.0F)};
    const int own = i / TOGETHER * TOGETHER;
    add_pairs(&p, i, own, none); /* once for each of the two */
    for (int first = own + TOGETHER; first < p.count; first += TOGETHER)
      add_pairs(&p, i, first, back);
    p.sum[i] += sum_of(back);
  }
  for (int k = 0; k < n; k++) sum[k] = (double)p.sum[k];
}

extern const struct halo_kernels KERNEL(halo_kernels);
const struct halo_kernels KERNEL(halo_kernels) = {
    .potentials = KERNEL(halo_potentials),
    .pairs = KERNEL(halo_pairs),
    .boxes_near = KERNEL(halo_boxes_near),
    .crowd_fill = KERNEL(halo_crowd_fill),
    .nearest = KERNEL(halo_nearest),
    .smoothed = KERNEL(halo_smoothed),
    .farthest2 = KERNEL(halo_farthest2),
    .stay_inside = KERNEL(halo_stay_inside),
    .keep = KERNEL(halo_keep),
    .distances = KERNEL(halo_distances),
    .fastest = KERNEL(halo_fastest),
    .momenta = KERNEL(halo_momenta),
    .sums = KERNEL(halo_sums),
};
