/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/** The coordinate of a particle along the axis of a cut. */
struct key {
  double x;
  uint32_t body;
};

/** A tree that is made. */
struct making {
  struct halo_tree *tree;
  double (*row)[HALO_AXES]; /* [body] coordinates */
  struct key *key;          /* [place] */
};

/** Member by member: what is read next of a key that was written as two must not be one longer word. */
static inline void exchange(struct key *a, struct key *b) {
  const double x = a->x;
  const uint32_t body = a->body;
  a->x = b->x;
  a->body = b->body;
  b->x = x;
  b->body = body;
}

/** Particles at one coordinate are ordered by their numbers. */
static inline bool is_before(const struct key *a, const struct key *b) {
  return (a->x < b->x) | ((a->x <= b->x) & (a->body < b->body));
}

/** Bring those keys of places first .. end - 1 before place `middle` that belong there (Hoare's selection). Nothing waits for
 * the comparisons, which nobody can foresee. */
static void select_median(struct key *key, size_t first, size_t middle, size_t end) {
  while (end - first > 1) {
    exchange(&key[first], &key[first + (end - first) / 2]);
    const struct key cut = key[first];
    size_t pivot = first;
    for (size_t i = first + 1; i < end; i++) {
      const size_t before = is_before(&key[i], &cut);
      exchange(&key[i], &key[i - before * (i - pivot - 1)]); /* with itself, if it is not */
      pivot += before;
    }
    exchange(&key[first], &key[pivot]);
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

/** Measure the box along three axes. */
static void measure_three(const struct making *m, size_t first, size_t end, int axis,
                          struct halo_node *node) {
  double x0 = DBL_MAX, y0 = DBL_MAX, z0 = DBL_MAX, x1 = -DBL_MAX, y1 = -DBL_MAX, z1 = -DBL_MAX;
  for (size_t i = first; i < end; i++) {
    const double *row = m->row[m->key[i].body] + axis, x = row[0], y = row[1], z = row[2];
    x0 = smaller(x, x0), y0 = smaller(y, y0), z0 = smaller(z, z0);
    x1 = larger(x, x1), y1 = larger(y, y1), z1 = larger(z, z1);
  }
  memcpy(node->low + axis, (double[]){x0, y0, z0}, 3 * sizeof x0);
  memcpy(node->high + axis, (double[]){x1, y1, z1}, 3 * sizeof x1);
}

static struct halo_node measure_node(const struct making *m, size_t first, size_t end) {
  struct halo_node node = {.low = {0.0}};
  for (int axis = 0; axis < m->tree->axes; axis += 3) measure_three(m, first, end, axis, &node);
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

/** Coordinates of the particles of a leaf, in the order of places. */
static void place_leaf(const struct making *m, uint32_t first, uint32_t end) {
  const struct halo_tree *t = m->tree;
  for (uint32_t i = first; i < end; i++) {
    t->body[i] = m->key[i].body;
    if (t->x) memcpy(t->x[i], m->row[t->body[i]], sizeof t->x[i]);
  }
  for (int c = 0; t->x && c < t->axes; c++) {
    float *single = halo_tree_single(t, c);
    for (uint32_t i = first; i < end; i++) single[i] = (float)t->x[i][c];
  }
}

/** Cut particles in two along an axis. */
static void cut(const struct making *m, int axis, uint32_t first, uint32_t middle, uint32_t end) {
  for (uint32_t i = first; i < end; i++) m->key[i].x = m->row[m->key[i].body][axis];
  select_median(m->key, first, middle, end);
}

/** Measure a node and cut it in two. */
static void make_node(const struct making *m, uint32_t node) {
  const struct halo_tree *t = m->tree;
  const uint32_t first = node_first(t->count, node), end = node_end(t->count, node);
  t->node[node] = measure_node(m, first, end);
  if (node < 1u << t->depth)
    cut(m, longest_side(&t->node[node]), first, node_end(t->count, 2 * node), end);
  else
    place_leaf(m, first, end);
}

struct level {
  const struct making *making;
  unsigned number;
};

static void make_one(void *context, uint32_t j) {
  const struct level *level = context;
  make_node(level->making, (1u << level->number) + j);
}

static void make_from(const struct making *m, uint32_t node) {
  make_node(m, node);
  if (node >= 1u << m->tree->depth) return;
  make_from(m, 2 * node);
  make_from(m, 2 * node + 1);
}

static void make_branch(void *context, uint32_t j) {
  const struct level *level = context;
  make_from(level->making, (1u << level->number) + j);
}

static void make_nodes(const struct making *m) {
  const struct halo_tree *t = m->tree;
  struct level level = {m, 0};
  for (; level.number < t->depth && t->count >> level.number > PART; level.number++)
    halo_loop(1u << level.number, make_one, &level);
  halo_loop(1u << level.number, make_branch, &level);
}

struct halo_tree halo_tree_create(size_t n, const struct halo_body *b, double time) {
  static const char what[] = "the tree of a halo";
  const bool phase_space = time > 0.0;
  struct halo_tree t = {.count = (uint32_t)n, .axes = phase_space ? HALO_AXES : 3};
  while (n > (size_t)LEAF << t.depth) t.depth++;
  t.body = reallocate(NULL, n, sizeof *t.body, what);
  t.node = reallocate(NULL, tree_nodes(t.depth), sizeof *t.node, what);
  if (phase_space) {
    t.x = reallocate(NULL, n, sizeof *t.x, what);
    t.single = allocate(HALO_AXES * (n + HALO_SINGLE_PADDING), sizeof *t.single, what);
  }
  struct making m = {&t, reallocate(NULL, n, sizeof *m.row, what),
                     reallocate(NULL, n, sizeof *m.key, what)};
  for (uint32_t i = 0; i < n; i++) {
    m.key[i].body = i;
    for (int c = 0; c < 3; c++) {
      m.row[i][c] = phase_space ? b[i].x[c] / time : b[i].x[c];
      m.row[i][3 + c] = b[i].v[c];
    }
  }
  make_nodes(&m);
  free(m.row);
  free(m.key);
  return t;
}

void halo_tree_free_nodes(struct halo_tree *t) {
  free(t->x);
  free(t->node);
  free(t->single);
  t->x = NULL;
  t->node = NULL;
  t->single = NULL;
}

void halo_tree_free(struct halo_tree *t) {
  halo_tree_free_nodes(t);
  free(t->body);
}
