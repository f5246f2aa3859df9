/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree above the ORB groups of the run, whose leaves they are, and the ranks that have them. Where
 * their number is no power of two, the last leaves are missing. */
#include <stdlib.h>

#include "fof_link.h"
#include "photons/analysis/fof.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(fof, 0x332288, .untimed = true);

/** First ORB group under a node of the top tree. */
static size_t top_first(const struct fof *f, uint32_t node) {
  return ((size_t)node << (f->top_depth - node_level(node))) - ((size_t)1 << f->top_depth);
}

struct block_search {
  const struct fof *fof;
  const struct fof_box *box;
  uint64_t distance2;
  size_t first, end;
  void (*visit)(void *context, size_t g);
  void *context;
};

static void search_node(const struct block_search *s, uint32_t node) {
  const struct fof *f = s->fof;
  const size_t first = top_first(f, node), width = (size_t)1 << (f->top_depth - node_level(node));
  if (first >= s->end || first + width <= s->first) return;
  if (fof_boxes_distance2(&f->top[node], s->box) > s->distance2) return;
  if (width == 1) {
    s->visit(s->context, first);
  } else {
    search_node(s, 2 * node);
    search_node(s, 2 * node + 1);
  }
}

void fof_near_blocks(const struct fof *f, const struct fof_box *box, uint64_t distance2,
                     size_t first, size_t end, void (*visit)(void *context, size_t g),
                     void *context) {
  const struct block_search s = {f, box, distance2, first, end, visit, context};
  if (first < end) search_node(&s, 1);
}

void fof_fill_top(struct fof *f) {
  const size_t blocks = f->particles->all_blocks;
  const uint32_t leaf_begin = 1u << f->top_depth;
  struct fof_box *mine = allocate(f->particles->blocks, sizeof *mine,
                                  "boxes for friends of friends");
  size_t *bytes = allocate((size_t)comm_size(), sizeof *bytes, "message sizes");
  for (size_t g = 0; g < f->particles->blocks; g++)
    mine[g] = f->boxes[g * tree_nodes(f->depth) + 1];
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (f->rank_block[r + 1] - f->rank_block[r]) * sizeof *mine;
  comm_gather_all_sizes(mine, bytes, f->top + leaf_begin);
  free(bytes);
  free(mine);
  for (uint32_t node = leaf_begin - 1; node > 0; node--)
    if (top_first(f, 2 * node + 1) < blocks)
      f->top[node] = fof_box_union(&f->top[2 * node], &f->top[2 * node + 1]);
    else
      f->top[node] = f->top[2 * node];
}

int fof_rank_of_particle(const struct fof *f, uint64_t i) {
  int low = 0, high = comm_size(); /* rank_first[low] <= i < rank_first[high] */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (f->rank_first[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return low;
}

int fof_rank_of_block(const struct fof *f, size_t g) {
  return fof_rank_of_particle(f, block_first(f->particles->all, f->particles->all_blocks, g));
}
