/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over all groups along the ORB tree: a node's sum is that of its left child plus that of its right one.
 * Consecutive groups, as ranks have them, are the groups below a few nodes. Ranks are added up two by two, and
 * where both children of a node are there, the node takes their place. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/domain.h"

enum { NODES_MOST = 2 * 32 + 1 }; /* of consecutive groups, and one more while it is added */

/** The sums of the nodes above consecutive groups. */
struct row {
  size_t n; /* numbers of each sum */
  uint32_t count;
  struct {
    uint32_t first, groups; /* a power of two, which divides `first` */
  } node[NODES_MOST];
  double *sum; /* [NODES_MOST][n] */
};

/** Whether the last two nodes are the children of one. */
static bool end_is_whole(const struct row *r) {
  if (r->count < 2) return false;
  const uint32_t first = r->node[r->count - 2].first, groups = r->node[r->count - 2].groups;
  return groups == r->node[r->count - 1].groups && first % (2 * groups) == 0;
}

/** Add a node that follows the last one. */
static void add_node(struct row *r, uint32_t first, uint32_t groups, const double *sum) {
  memcpy(r->sum + r->count * r->n, sum, r->n * sizeof *sum);
  r->node[r->count].first = first;
  r->node[r->count++].groups = groups;
  for (; end_is_whole(r); r->count--) {
    double *left = r->sum + (r->count - 2) * r->n, *right = left + r->n;
    for (size_t i = 0; i < r->n; i++) left[i] += right[i];
    r->node[r->count - 2].groups *= 2;
  }
}

/** The groups of the largest node that begins with group `first` and ends before `end`. */
static uint32_t largest_node(uint32_t first, uint32_t end) {
  uint32_t groups = 1;
  while (first % (2 * groups) == 0 && first + 2 * groups <= end) groups *= 2;
  return groups;
}

/** The number of nodes above the groups first .. end - 1. */
static uint32_t nodes_above(uint32_t first, uint32_t end) {
  uint32_t nodes = 0;
  for (; first < end; first += largest_node(first, end)) nodes++;
  return nodes;
}

/** Add the sums of the ranks from `rank` to before `end`, which rank `rank` has. */
static void receive(const struct domain *d, struct row *r, int rank, int end) {
  uint32_t first = group_first(d, rank), k = 0;
  const uint32_t last = group_first(d, end), nodes = nodes_above(first, last);
  if (nodes == 0) return;
  double *sum = allocate(nodes * r->n, sizeof *sum, "sums of groups");
  comm_receive(sum, nodes * r->n * sizeof *sum, rank);
  for (uint32_t groups; first < last; first += groups) {
    groups = largest_node(first, last);
    add_node(r, first, groups, sum + r->n * k++);
  }
  free(sum);
}

static void add_ranks(const struct domain *d, struct row *r) {
  const int me = comm_rank();
  for (int step = 1; step < comm_size(); step *= 2) {
    if (me % (2 * step) != 0) {
      if (r->count > 0) comm_send(r->sum, r->count * r->n * sizeof *r->sum, me - step);
      return;
    }
    const int end = me + 2 * step < comm_size() ? me + 2 * step : comm_size();
    if (me + step < comm_size()) receive(d, r, me + step, end);
  }
}

void group_sums(const struct domain *d, const double *of_group, size_t n, double *sum) {
  struct row r = {.n = n, .sum = allocate(NODES_MOST * n, sizeof *r.sum, "sums of groups")};
  FOR_GROUPS(d, g) add_node(&r, g->index, 1, of_group + group_place(d, g) * n);
  add_ranks(d, &r);
  memcpy(sum, r.sum, n * sizeof *sum); /* on rank 0 that of the root */
  comm_broadcast(sum, n * sizeof *sum, 0);
  free(r.sum);
}
