/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over all groups along the ORB tree: a node's sum is that of its left child plus that of its right one.
 * Consecutive groups, as ranks have them, are the groups below a few nodes. Ranks are added up two by two, and
 * where both children of a node are there, the node takes their place. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/particles.h"

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

/** The groups first .. end - 1. */
struct range {
  uint32_t first, end;
};

static void send(const struct row *r, int rank) {
  struct range groups = {0};
  if (r->count > 0)
    groups = (struct range){r->node[0].first,
                            r->node[r->count - 1].first + r->node[r->count - 1].groups};
  comm_send(&groups, sizeof groups, rank);
  if (r->count > 0) comm_send(r->sum, r->count * r->n * sizeof *r->sum, rank);
}

/** Add the sums that another rank sends, which follow those of this one. */
static void receive(struct row *r, int rank) {
  struct range left;
  comm_receive(&left, sizeof left, rank);
  const uint32_t nodes = nodes_above(left.first, left.end);
  if (nodes == 0) return;
  double *sum = allocate(nodes * r->n, sizeof *sum, "sums of groups");
  comm_receive(sum, nodes * r->n * sizeof *sum, rank);
  for (const double *next = sum; left.first < left.end; next += r->n) {
    const uint32_t groups = largest_node(left.first, left.end);
    add_node(r, left.first, groups, next);
    left.first += groups;
  }
  free(sum);
}

static void add_ranks(struct row *r) {
  const int me = comm_rank();
  for (int step = 1; step < comm_size(); step *= 2) {
    if (me % (2 * step) != 0) {
      send(r, me - step);
      return;
    }
    if (me + step < comm_size()) receive(r, me + step);
  }
}

/** The sum of all groups, on rank 0. Where their number is no power of two, several nodes are left. */
static void add_rest(const struct row *r, double *sum) {
  memset(sum, 0, r->n * sizeof *sum);
  for (uint32_t k = 0; k < r->count; k++)
    for (size_t i = 0; i < r->n; i++) sum[i] += r->sum[k * r->n + i];
}

void group_sums(const struct particles *p, const double *of_group, size_t n, double *sum) {
  struct row r = {.n = n, .sum = allocate(NODES_MOST * n, sizeof *r.sum, "sums of groups")};
  for (size_t g = 0; g < p->blocks; g++)
    add_node(&r, (uint32_t)(p->first_block + g), 1, of_group + g * n);
  add_ranks(&r);
  add_rest(&r, sum);
  comm_broadcast(sum, n * sizeof *sum, 0);
  free(r.sum);
}
