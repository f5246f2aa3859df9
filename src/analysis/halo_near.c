/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_near.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/domain/tree.h"

#define MARGIN 1.12 /* a search begins with so many times the distance that was enough before */
#define GROWTH 1.5  /* and goes on with so many times the reach */

struct halo_near halo_near_create(const struct halo_tree *t, uint32_t most) {
  return (struct halo_near){.tree = t, .kernels = halo_kernels_select(), .most = most};
}

void halo_near_free(struct halo_near *n) {
  for (int c = 0; c < HALO_AXES; c++) free(n->x[c]);
  free(n->place);
}

static void make_room(struct halo_near *n, uint32_t more) {
  static const char what[] = "neighbours in a halo";
  if (n->count + more <= n->room) return;
  n->room = 2 * (n->count + more);
  for (int c = 0; c < HALO_AXES; c++) n->x[c] = reallocate(n->x[c], n->room, sizeof *n->x[c], what);
  n->place = reallocate(n->place, n->room, sizeof *n->place, what);
}

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

/** Add particles of a leaf. Each is stored, and the next one over it where it is out of reach. */
static void add_leaf(struct halo_near *n, uint32_t node, double reach2) {
  const struct halo_tree *t = n->tree;
  const uint32_t first = node_first(t->count, node), end = node_end(t->count, node);
  make_room(n, end - first);
  const struct halo_node leaf = *n->leaf; /* a copy, which no store below can change */
  uint32_t *place = n->place, next = n->count;
  for (uint32_t i = first; i < end; i++) {
    for (int c = 0; c < HALO_AXES; c++) n->x[c][next] = t->x[i][c];
    place[next] = i;
    next += box_distance2(t->x[i], t->x[i], &leaf) <= reach2;
  }
  n->count = next;
}

static void gather_node(struct halo_near *n, uint32_t node, double reach2) {
  const struct halo_node *box = &n->tree->node[node];
  if (box_distance2(box->low, box->high, n->leaf) > reach2) return;
  if (node >= 1U << n->tree->depth) {
    add_leaf(n, node, reach2);
    return;
  }
  gather_node(n, 2 * node, reach2);
  gather_node(n, 2 * node + 1, reach2);
}

static void gather(struct halo_near *n, double reach) {
  n->reach = reach;
  n->count = 0;
  gather_node(n, 1, reach * reach);
}

static double longest_side(const struct halo_node *node) {
  double longest = 0.0;
  for (int c = 0; c < HALO_AXES; c++) longest = fmax(longest, node->high[c] - node->low[c]);
  return longest;
}

void halo_near_leaf(struct halo_near *n, uint32_t leaf) {
  n->leaf = &n->tree->node[leaf];
  gather(n, n->last > 0.0 ? MARGIN * n->last : longest_side(n->leaf));
  n->last = n->reach / MARGIN;
}

/** Reach further. Where all particles of the leaf before were at one place, as far as all particles are. */
static void reach_further(struct halo_near *n) {
  gather(n, n->reach > 0.0 ? GROWTH * n->reach : 2.0 * longest_side(&n->tree->node[1]));
}

void halo_near_find(struct halo_near *n, uint32_t place, struct neighbour *found) {
  double limit = fmin(MARGIN * n->last, n->reach);
  for (;;) {
    const struct halo_crowd crowd = {n->count,
                                     {n->x[0], n->x[1], n->x[2], n->x[3], n->x[4], n->x[5]}};
    if (n->kernels->nearest(&crowd, n->tree->x[place], limit * limit, n->most, found) == n->most)
      break;
    if (limit >= n->reach) reach_further(n);
    limit = n->reach;
  }
  for (uint32_t k = 0; k < n->most; k++) found[k].index = n->place[found[k].index];
  n->last = sqrt(found[n->most - 1].distance2);
}
