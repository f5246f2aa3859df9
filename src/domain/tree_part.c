/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes of a tree a part has. */
#include "photons/domain/tree.h"

/** Runs of nodes. */
struct runs {
  struct node_run *run;
  uint32_t count;
};

/** Add nodes, to the last run if they follow it. */
static void add_nodes(struct runs *r, uint32_t first, uint32_t count) {
  struct node_run *last = &r->run[r->count - 1];
  if (last->first + last->count == first)
    last->count += count;
  else
    r->run[r->count++] = (struct node_run){first, count};
}

/** Add the children of the nodes of a level. Below the level of branches the nodes of a branch follow each other. */
static void add_children(struct runs *r, const struct tree_part *p, unsigned level) {
  const unsigned seen = level < p->top ? level : p->top, below = level + 1 - seen;
  for (uint32_t node = 1u << seen; node < 2u << seen; node++)
    if (part_has_below(p, node)) add_nodes(r, node << below, 1u << below);
}

uint32_t part_runs(const struct tree_part *p, unsigned depth, struct node_run *run) {
  struct runs r = {run, 1};
  run[0] = (struct node_run){0, tree_nodes(0)};
  for (unsigned level = 0; level < depth; level++) add_children(&r, p, level);
  return r.count;
}

uint32_t part_nodes(const struct tree_part *p, unsigned depth) {
  struct node_run run[NODE_RUNS_MOST];
  uint32_t nodes = 0;
  for (uint32_t k = part_runs(p, depth, run); k > 0; k--) nodes += run[k - 1].count;
  return nodes;
}
