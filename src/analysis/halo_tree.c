/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "halo_home.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "photons/runtime/loop.h"

enum {
  LEAF = 16,  /* most particles of a leaf */
  PART = 4096 /* and of a node that is one part of a loop with all below it */
};

void halo_loop(uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  loop_parts(&halos_stage, n, function, context);
}

static void exchange_places(struct halo_tree *t, size_t i, size_t j) {
  const uint32_t body = t->body[i];
  t->body[i] = t->body[j];
  t->body[j] = body;
  for (int c = 0; c < t->axes; c++) {
    const double x = t->x[i][c];
    t->x[i][c] = t->x[j][c];
    t->x[j][c] = x;
  }
}

/** Order along an axis; particles at one coordinate are ordered by their numbers. */
static bool is_before(const struct halo_tree *t, int axis, size_t place, double x, uint32_t body) {
  return t->x[place][axis] < x || (t->x[place][axis] <= x && t->body[place] < body);
}

/** Put those particles of places first .. end - 1 before place `middle` that belong there along the
 * axis (Hoare's selection). */
static void select_median(struct halo_tree *t, int axis, size_t first, size_t middle, size_t end) {
  while (end - first > 1) {
    exchange_places(t, first, first + (end - first) / 2);
    const double x = t->x[first][axis];
    const uint32_t body = t->body[first];
    size_t pivot = first;
    for (size_t i = first + 1; i < end; i++)
      if (is_before(t, axis, i, x, body)) exchange_places(t, i, ++pivot);
    exchange_places(t, first, pivot);
    if (pivot == middle) return;
    if (pivot < middle)
      first = pivot + 1;
    else
      end = pivot;
  }
}

/* fmax() and fmin() are calls, since they know NaN. */
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

static struct halo_node measure_node(const struct halo_tree *t, size_t first, size_t end) {
  struct halo_node node = {.low = {0.0}};
  for (int c = 0; c < t->axes; c++) {
    double low = DBL_MAX, high = -DBL_MAX;
    for (size_t i = first; i < end; i++) {
      low = smaller(low, t->x[i][c]);
      high = larger(high, t->x[i][c]);
    }
    node.low[c] = low;
    node.high[c] = high;
  }
  return node;
}

static int longest_side(const struct halo_node *node) {
  int axis = 0;
  for (int c = 1; c < HALO_AXES; c++)
    if (node->high[c] - node->low[c] > node->high[axis] - node->low[axis]) axis = c;
  return axis;
}

float *halo_tree_single(const struct halo_tree *t, int axis) {
  return t->single + (size_t)axis * (t->count + HALO_SINGLE_PADDING);
}

double halo_tree_rounding(const struct halo_tree *t) {
  double largest = 0.0;
  for (int c = 0; c < t->axes; c++)
    largest = fmax(largest, fmax(fabs(t->node[1].low[c]), fabs(t->node[1].high[c])));
  /* Each of two coordinates changes by half of FLT_EPSILON of itself at most. */
  return sqrt((double)t->axes) * FLT_EPSILON * largest;
}

static void round_leaf(const struct halo_tree *t, uint32_t first, uint32_t end) {
  for (int c = 0; c < t->axes; c++) {
    float *single = halo_tree_single(t, c);
    for (uint32_t i = first; i < end; i++) single[i] = (float)t->x[i][c];
  }
}

/** Measure a node and cut it in two. */
static void make_node(struct halo_tree *t, uint32_t node) {
  const uint32_t first = node_first(t->count, node), end = node_end(t->count, node);
  t->node[node] = measure_node(t, first, end);
  if (node < 1u << t->depth)
    select_median(t, longest_side(&t->node[node]), first, node_end(t->count, 2 * node), end);
  else if (t->single)
    round_leaf(t, first, end);
}

struct level {
  struct halo_tree *tree;
  unsigned number;
};

static void make_one(void *context, uint32_t j) {
  const struct level *level = context;
  make_node(level->tree, (1u << level->number) + j);
}

static void make_from(struct halo_tree *t, uint32_t node) {
  make_node(t, node);
  if (node >= 1u << t->depth) return;
  make_from(t, 2 * node);
  make_from(t, 2 * node + 1);
}

static void make_branch(void *context, uint32_t j) {
  const struct level *level = context;
  make_from(level->tree, (1u << level->number) + j);
}

static void make_nodes(struct halo_tree *t) {
  struct level level = {t, 0};
  for (; level.number < t->depth && t->count >> level.number > PART; level.number++)
    halo_loop(1u << level.number, make_one, &level);
  halo_loop(1u << level.number, make_branch, &level);
}

struct halo_tree halo_tree_create(size_t n, const struct halo_body *b, double time) {
  const bool phase_space = time > 0.0;
  struct halo_tree t = {.count = (uint32_t)n, .axes = phase_space ? HALO_AXES : 3};
  while (n > (size_t)LEAF << t.depth) t.depth++;
  t.body = reallocate(NULL, n, sizeof *t.body, "the tree of a halo");
  t.x = reallocate(NULL, n, sizeof *t.x, "the tree of a halo");
  t.node = reallocate(NULL, tree_nodes(t.depth), sizeof *t.node, "the tree of a halo");
  if (phase_space)
    t.single = allocate(HALO_AXES * (n + HALO_SINGLE_PADDING), sizeof *t.single,
                        "the tree of a halo");
  for (uint32_t i = 0; i < n; i++) {
    t.body[i] = i;
    for (int c = 0; c < 3; c++) {
      t.x[i][c] = phase_space ? b[i].x[c] / time : b[i].x[c];
      t.x[i][3 + c] = phase_space ? b[i].v[c] : 0.0;
    }
  }
  make_nodes(&t);
  return t;
}

void halo_tree_free(struct halo_tree *t) {
  free(t->body);
  free(t->x);
  free(t->node);
  free(t->single);
}
