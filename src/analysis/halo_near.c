/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_near.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/domain/tree.h"

/* A search begins with so many times the distance that was enough before, and a leaf with so many times the mean of these. */
#define MARGIN 1.03
#define LEAF_MARGIN 1.2
/* A search goes on with so many times the distance in which too few are. */
#define GROWTH 1.3
/* What is listed about a node, in units of what its first leaf needs. */
#define BLOCK_MARGIN 1.3
#define ROUNDED_UP (1.0 + 1e-9)
enum {
  BLOCK_LEVELS = 5, /* of a node whose surroundings are listed at once above the leaves */
  ALL_LEVELS = 8,   /* where a tree has no more than these, all leaves are */
  FEW = 256         /* particles of a tree: up to so many one list serves all leaves */
};

struct halo_near halo_near_create(const struct halo_tree *t, uint32_t most) {
  struct halo_near n = {.tree = t, .kernels = halo_kernels_select(), .most = most};
  /* Middles and halves of boxes are rounded, and so are their differences. */
  n.boxes.rounding = n.crowd.rounding = 4.0 * halo_tree_rounding(t);
  n.crowd.x = t->x;
  return n;
}

void halo_near_free(struct halo_near *n) {
  free(n->listed);
  free(n->near_leaf);
  free(n->range);
  free(n->box_memory);
  free(n->crowd_memory);
  free(n->crowd.place);
  free(n->crowd.marked);
}

/** Floats of a row, whole cache lines. */
static size_t row_of(uint32_t count) {
  return ((size_t)count + 2 * HALO_SINGLE_PADDING - 1) / HALO_SINGLE_PADDING * HALO_SINGLE_PADDING;
}

/** Rows that begin with cache lines, in the place of others. @param memory  of the rows */
static float *reallocate_rows(float **memory, size_t rows, size_t row) {
  free(*memory);
  *memory = reallocate(NULL, rows * row + HALO_SINGLE_PADDING, sizeof **memory,
                       "neighbours in a halo");
  const size_t line = HALO_SINGLE_PADDING * sizeof **memory;
  return *memory + (line - (uintptr_t)*memory % line) % line / sizeof **memory;
}

/** Have room for so many leaves in the list. What was in it is lost. */
static void list_room(struct halo_near *n, uint32_t leaves) {
  if (leaves <= n->room) return;
  n->room = leaves;
  const size_t row = row_of(leaves);
  float *const box = reallocate_rows(&n->box_memory, 2 * HALO_AXES, row);
  for (int c = 0; c < HALO_AXES; c++) {
    n->boxes.middle[c] = box + (size_t)c * row;
    n->boxes.half[c] = box + (size_t)(HALO_AXES + c) * row;
  }
  n->listed = reallocate(n->listed, leaves, sizeof *n->listed, "neighbours in a halo");
  n->range = reallocate(n->range, leaves, sizeof *n->range, "neighbours in a halo");
  n->near_leaf = reallocate(n->near_leaf, row, sizeof *n->near_leaf, "neighbours in a halo");
}

/** Have room for so many particles in the crowd. What was in it is lost. */
static void crowd_room(struct halo_near *n, uint32_t particles) {
  struct halo_crowd *c = &n->crowd;
  if (particles <= n->crowd_room) return;
  n->crowd_room = (particles + particles / 4) / HALO_CROWD_MARKED * HALO_CROWD_MARKED +
                  HALO_CROWD_MARKED;
  const size_t row = row_of(n->crowd_room);
  free(c->place);
  free(c->marked);
  float *const x = reallocate_rows(&n->crowd_memory, HALO_AXES + 1, row);
  for (int a = 0; a < HALO_AXES; a++) c->single[a] = x + (size_t)a * row;
  c->distance2 = x + HALO_AXES * row;
  c->place = reallocate(NULL, row, sizeof *c->place, "neighbours in a halo");
  c->marked = reallocate(NULL, n->crowd_room / HALO_CROWD_MARKED, sizeof *c->marked,
                         "neighbours in a halo");
}

static inline double larger(double a, double b) { return a > b ? a : b; }

/** Squared distance of the boxes of two nodes. */
static double nodes_distance2(const struct halo_node *a, const struct halo_node *b) {
  double sum = 0.0;
  for (int c = 0; c < HALO_AXES; c++) {
    const double apart = larger(larger(a->low[c] - b->high[c], b->low[c] - a->high[c]), 0.0);
    sum += apart * apart;
  }
  return sum;
}

static struct halo_box box_of(const struct halo_node *node) {
  struct halo_box box;
  for (int c = 0; c < HALO_AXES; c++) {
    box.middle[c] = (float)(0.5 * (node->low[c] + node->high[c]));
    box.half[c] = (float)(0.5 * (node->high[c] - node->low[c]));
  }
  return box;
}

static void list_leaf(struct halo_near *n, uint32_t leaf) {
  const struct halo_box box = box_of(&n->tree->node[leaf]);
  struct halo_boxes *b = &n->boxes;
  for (int c = 0; c < HALO_AXES; c++) {
    b->middle[c][b->count] = box.middle[c];
    b->half[c][b->count] = box.half[c];
  }
  n->listed[b->count++] = leaf - (1U << n->tree->depth);
}

static void list_node(struct halo_near *n, uint32_t node) {
  const struct halo_node *nodes = n->tree->node;
  if (n->block > 1 &&
      nodes_distance2(&nodes[node], &nodes[n->block]) > n->block_reach * n->block_reach)
    return;
  if (node >= 1U << n->tree->depth) {
    list_leaf(n, node);
    return;
  }
  list_node(n, 2 * node);
  list_node(n, 2 * node + 1);
}

/** The node above a leaf whose surroundings are listed. */
static uint32_t block_of(const struct halo_tree *t, uint32_t leaf) {
  return t->depth <= ALL_LEVELS ? 1 : leaf >> BLOCK_LEVELS;
}

/** List what is within reach of the leaf's block, if it is not listed yet. */
static void list_about(struct halo_near *n, double reach) {
  const uint32_t block = block_of(n->tree, n->leaf);
  if (n->block == block && reach <= n->block_reach) return;
  list_room(n, 1U << n->tree->depth);
  n->block = block;
  n->block_reach = block == 1 ? HUGE_VAL : BLOCK_MARGIN * reach;
  n->boxes.count = 0;
  list_node(n, 1);
}

/** Set the ranges of particles of the near leaves, which mostly follow each other. @return their number */
static uint32_t find_ranges(struct halo_near *n, uint32_t leaves, uint32_t *particles) {
  const struct halo_tree *t = n->tree;
  uint32_t ranges = 0;
  for (uint32_t k = 0; k < leaves; k++) {
    const uint32_t leaf = n->listed[n->near_leaf[k]], first = level_first(t->count, t->depth, leaf),
                   end = level_first(t->count, t->depth, leaf + 1);
    *particles += end - first;
    if (ranges > 0 && n->range[ranges - 1].end == first)
      n->range[ranges - 1].end = end;
    else
      n->range[ranges++] = (struct halo_range){first, end};
  }
  return ranges;
}

/** Make the crowd of what is within reach of the leaf. */
static void gather(struct halo_near *n, double reach) {
  const struct halo_tree *t = n->tree;
  float *single[HALO_AXES];
  for (int c = 0; c < HALO_AXES; c++) single[c] = halo_tree_single(t, c);
  list_about(n, reach);
  n->reach = reach;
  const uint32_t leaves = n->kernels->boxes_near(&n->boxes, &n->box, reach, n->near_leaf);
  uint32_t particles = 0;
  const uint32_t ranges = find_ranges(n, leaves, &particles);
  crowd_room(n, particles);
  n->kernels->crowd_fill(&n->crowd, single, ranges, n->range, &n->box, reach);
}

static double longest_side(const struct halo_node *node) {
  double longest = 0.0;
  for (int c = 0; c < HALO_AXES; c++) longest = larger(longest, node->high[c] - node->low[c]);
  return longest;
}

/** No two particles of a node are further from each other. */
static double widest(const struct halo_node *node) {
  double sum = 0.0;
  for (int c = 0; c < HALO_AXES; c++)
    sum += (node->high[c] - node->low[c]) * (node->high[c] - node->low[c]);
  return ROUNDED_UP * sqrt(sum);
}

/** Make the crowd of all particles. */
static void gather_all(struct halo_near *n) {
  const struct halo_tree *t = n->tree;
  const struct halo_range all = {0, t->count};
  float *single[HALO_AXES];
  for (int c = 0; c < HALO_AXES; c++) single[c] = halo_tree_single(t, c);
  n->reach = n->last = widest(&t->node[1]);
  n->box = box_of(&t->node[1]);
  crowd_room(n, t->count);
  n->kernels->crowd_fill(&n->crowd, single, 1, &all, &n->box, n->reach);
}

void halo_near_leaf(struct halo_near *n, uint32_t leaf) {
  if (n->tree->count <= FEW) {
    if (n->crowd.count == 0) gather_all(n);
    return;
  }
  n->leaf = leaf;
  n->box = box_of(&n->tree->node[leaf]);
  const double mean = n->found > 0 ? n->sum / n->found : 0.0;
  gather(n, mean > 0.0 ? LEAF_MARGIN * mean : longest_side(&n->tree->node[leaf]));
  n->last = mean > 0.0 ? mean : n->reach / MARGIN;
  n->sum = 0.0;
  n->found = 0;
}

void halo_near_find(struct halo_near *n, uint32_t place, struct neighbour *found) {
  const double limit = fmin(MARGIN * n->last, n->reach);
  while (n->kernels->nearest(&n->crowd, n->tree->x[place], limit * limit, n->reach * n->reach,
                             n->most, found) < n->most)
    /* Where all particles of the leaf before were at one place, as far as all particles are. */
    gather(n, n->reach > 0.0 ? GROWTH * n->reach : 2.0 * longest_side(&n->tree->node[1]));
  n->last = sqrt(found[n->most - 1].distance2);
  n->sum += n->last;
  n->found++;
}
