/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_near.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/domain/tree.h"

/* A search begins with so many times the distance that was enough before, and a leaf with so many times the mean of these. */
#define MARGIN 1.12
#define LEAF_MARGIN 1.2
/* It goes on with the distance at which all are found where they fill phase space evenly, times the margin, within these
 * bounds. */
#define GROWTH_LEAST 1.1
#define GROWTH 1.5

struct halo_near halo_near_create(const struct halo_tree *t, uint32_t most) {
  struct halo_near n = {.tree = t, .kernels = halo_kernels_select(), .most = most};
  n.crowd = (struct halo_crowd){.x = t->x, .rounding = halo_tree_rounding(t)};
  for (int c = 0; c < HALO_AXES; c++) n.crowd.single[c] = halo_tree_single(t, c);
  return n;
}

void halo_near_free(struct halo_near *n) { free(n->range); }

static inline double larger(double a, double b) { return a > b ? a : b; }

/** Squared distance of two boxes. */
static inline double box_distance2(const double low[HALO_AXES], const double high[HALO_AXES],
                                   const struct halo_node *to) {
  double sum = 0.0;
  for (int c = 0; c < HALO_AXES; c++) {
    const double apart = larger(larger(to->low[c] - high[c], low[c] - to->high[c]), 0.0);
    sum += apart * apart;
  }
  return sum;
}

/** Add particles of a leaf. Leaves mostly follow each other. */
static void add_leaf(struct halo_near *n, uint32_t node) {
  const uint32_t first = node_first(n->tree->count, node), end = node_end(n->tree->count, node);
  if (n->crowd.ranges > 0 && n->range[n->crowd.ranges - 1].end == first) {
    n->range[n->crowd.ranges - 1].end = end;
    return;
  }
  if (n->crowd.ranges == n->room) {
    n->room = 2 * n->room + 64;
    n->range = reallocate(n->range, n->room, sizeof *n->range, "neighbours in a halo");
  }
  n->range[n->crowd.ranges++] = (struct halo_range){first, end};
}

static void gather_node(struct halo_near *n, uint32_t node, double reach2) {
  const struct halo_node *box = &n->tree->node[node];
  if (box_distance2(box->low, box->high, n->leaf) > reach2) return;
  if (node >= 1U << n->tree->depth) {
    add_leaf(n, node);
    return;
  }
  gather_node(n, 2 * node, reach2);
  gather_node(n, 2 * node + 1, reach2);
}

static void gather(struct halo_near *n, double reach) {
  n->reach = reach;
  n->crowd.ranges = 0;
  gather_node(n, 1, reach * reach);
  n->crowd.range = n->range;
}

static double longest_side(const struct halo_node *node) {
  double longest = 0.0;
  for (int c = 0; c < HALO_AXES; c++) longest = fmax(longest, node->high[c] - node->low[c]);
  return longest;
}

void halo_near_leaf(struct halo_near *n, uint32_t leaf) {
  n->leaf = &n->tree->node[leaf];
  const double mean = n->found > 0 ? n->sum / n->found : 0.0;
  gather(n, mean > 0.0 ? LEAF_MARGIN * mean : longest_side(n->leaf));
  n->last = mean > 0.0 ? mean : n->reach / MARGIN;
  n->sum = 0.0;
  n->found = 0;
}

/** How much further to search where only so many have been found. */
static double growth(const struct halo_near *n, uint32_t found) {
  const double more = (double)n->most / (found + 1.0);
  return fmax(GROWTH_LEAST, fmin(MARGIN * sqrt(cbrt(more)), GROWTH));
}

void halo_near_find(struct halo_near *n, uint32_t place, struct neighbour *found) {
  double limit = fmin(MARGIN * n->last, n->reach);
  for (;;) {
    const uint32_t count = n->kernels->nearest(&n->crowd, n->tree->x[place], limit * limit, n->most,
                                               found);
    if (count == n->most) break;
    /* Where all particles of the leaf before were at one place, as far as all particles are. */
    const double further = limit > 0.0 ? growth(n, count) * limit
                                       : 2.0 * longest_side(&n->tree->node[1]);
    if (limit >= n->reach) gather(n, further);
    limit = fmin(further, n->reach);
  }
  n->last = sqrt(found[n->most - 1].distance2);
  n->sum += n->last;
  n->found++;
}
