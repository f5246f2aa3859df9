/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends on this rank: the boxes of the trees, links inside each ORB group and between
 * the ORB groups of this rank. `block` stands for the particles of one ORB group. */
#include "photons/analysis/fof.h"
#include "photons/domain/geometry.h"

#include <stdlib.h>

#include "fof_link.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "photons/runtime/loop.h"

static void fill_shares(struct fof *f) {
  const struct particles *s = f->particles;
  const size_t ranks = (size_t)comm_size();
  f->rank_block = allocate(ranks + 1, sizeof *f->rank_block, "first groups of the ranks");
  f->rank_first = allocate(ranks + 1, sizeof *f->rank_first, "first particles of the ranks");
  comm_gather_all(&s->first_block, sizeof s->first_block, f->rank_block);
  f->rank_block[ranks] = s->all_blocks;
  for (size_t r = 0; r <= ranks; r++)
    f->rank_first[r] = block_first(s->all, s->all_blocks, f->rank_block[r]);
}

/* Tasks, one for each ORB group. */

static void link_block(void *context, uint32_t g) {
  struct fof *f = context;
  const struct side side = side_of_block(f, g);
  side_fill_boxes(&side);
  for (uint32_t i = 0; i < side.count; i++) f->head[side.first + i] = side.first + i;
  struct link l = link_begin(f);
  link_node(&l, &side, 1);
  link_end(&l);
}

/** One ORB group to be linked with others. */
struct block_link {
  struct link link;
  struct side side;
};

static void link_to_block(void *context, size_t g) {
  const struct block_link *b = context;
  struct fof *f = b->link.fof;
  const struct side other = side_of_block(f, g - f->particles->first_block);
  link_pair(&b->link, &b->side, 1, &other, 1);
}

static void link_to_others(void *context, uint32_t g) {
  struct fof *f = context;
  const struct particles *s = f->particles;
  struct block_link b = {.link = link_begin(f), .side = side_of_block(f, g)};
  fof_near_blocks(f, &b.side.boxes[1], f->length2, s->first_block + g + 1,
                  s->first_block + s->blocks, link_to_block, &b);
  link_end(&b.link);
}

static void settle_heads(void *context, uint32_t g) {
  struct fof *f = context;
  const struct particle_block b = particles_block(f->particles, g);
  for (size_t i = b.first; i < b.first + b.count; i++) f->head[i] = fof_head(f, (uint32_t)i);
}

uint64_t fof_length2(double length, double box) {
  const double units = length / box * POSITION_TURN;
  return (uint64_t)(units * units);
}

struct fof *fof_find(const struct particles *s, unsigned depth, double length) {
  if (s->count > UINT32_MAX)
    fail(EXIT_RUN_FAILED, "friends of friends: %zu particles are more than 2^32 on one rank",
         s->count);
  if (length >= 0.25 * s->box)
    fail(EXIT_BAD_USAGE, "analysis.linking_length: %g Mpc/h is a quarter of the box or more",
         length);
  struct fof *f = allocate(1, sizeof *f, "friends of friends");
  const size_t nodes = s->blocks * tree_nodes(depth);
  f->particles = s;
  f->depth = depth;
  while ((size_t)1 << f->top_depth < s->all_blocks) f->top_depth++;
  f->length2 = fof_length2(length, s->box);
  f->boxes = allocate(nodes, sizeof *f->boxes, "boxes for friends of friends");
  f->whole = allocate(nodes, sizeof *f->whole, "boxes for friends of friends");
  f->top = allocate(tree_nodes(f->top_depth), sizeof *f->top, "boxes for friends of friends");
  f->head = allocate(s->count, sizeof *f->head, "heads of groups");
  fill_shares(f);
  const uint32_t blocks = (uint32_t)s->blocks;
  loop_run(&fof_stage, blocks, link_block, f);
  fof_fill_top(f);
  loop_run(&fof_stage, blocks, link_to_others, f);
  if (comm_size() > 1) fof_link_ranks(f);
  loop_run(&fof_stage, blocks, settle_heads, f);
  return f;
}

static int compare_span(const void *key, const void *span) {
  const uint32_t head = *(const uint32_t *)key, other = ((const struct fof_span *)span)->head;
  return (head > other) - (head < other);
}

uint64_t fof_label(const struct fof *f, uint32_t i) {
  const struct fof_span *span = f->spans ? bsearch(&f->head[i], f->span, f->spans, sizeof *span,
                                                   compare_span)
                                         : NULL;
  return span ? span->label : particles_first(f->particles) + f->head[i];
}

void fof_free(struct fof *f) {
  if (!f) return;
  free(f->boxes);
  free(f->whole);
  free(f->top);
  free(f->head);
  free(f->rank_block);
  free(f->rank_first);
  free(f->span);
  free(f);
}
