/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends on this rank: the boxes of the trees, links inside each ORB group and between
 * the ORB groups of this rank. `block` stands for the particles of one ORB group. */
#include "photons/analysis/fof.h"
#include "photons/domain/geometry.h"

#include <stdlib.h>

#include "fof_link.h"
#include "photons/analysis/codelets.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"

static void fill_shares(struct fof *f) {
  const size_t ranks = (size_t)comm_size();
  const uint64_t first = particles_first(f->particles);
  f->rank_first = allocate(ranks + 1, sizeof *f->rank_first, "first particles of the ranks");
  comm_gather_all(&first, sizeof first, f->rank_first);
  f->rank_first[ranks] = f->particles->all;
}

/* Loops over parts of the ORB groups: nodes of one level of their trees. With GPUs there are few, large
 * ORB groups, and their parts keep all workers busy. */

enum { PARTS_WANTED = 1024 };

static unsigned choose_part_level(const struct fof *f) {
  unsigned level = 0;
  while (level < f->depth && f->particles->blocks << level < PARTS_WANTED) level++;
  return level;
}

struct part {
  uint32_t block; /* ORB group of this rank */
  struct side side;
  uint32_t node; /* of the side */
};

static struct part part_of(struct fof *f, uint32_t i) {
  const uint32_t block = i >> f->part_level, before = block << f->part_level;
  return (struct part){block, side_of_block(f, block), (1u << f->part_level) + i - before};
}

static void run_parts(struct fof *f, void (*function)(void *context, uint32_t part)) {
  loop_run(&fof_stage, (uint32_t)f->particles->blocks << f->part_level, function, f);
}

static void fill_boxes(void *context, uint32_t i) {
  const struct part p = part_of(context, i);
  side_fill_boxes(&p.side, p.node);
}

static void fill_upper_boxes(void *context, uint32_t g) {
  struct fof *f = context;
  const struct side side = side_of_block(f, g);
  side_join_boxes(&side, f->part_level);
}

static void fill_whole(void *context, uint32_t i) {
  const struct part p = part_of(context, i);
  side_fill_whole(context, &p.side, p.node);
}

/** A part of an ORB group to be linked with other ORB groups. */
struct block_link {
  struct link link;
  struct part part;
};

static void link_to_block(void *context, uint32_t g) {
  const struct block_link *b = context;
  const struct side other = side_of_block(b->link.fof, g);
  link_pair(&b->link, &b->part.side, b->part.node, &other, 1);
}

static void link_to_others(void *context, uint32_t i) {
  struct fof *f = context;
  struct block_link b = {.link = link_begin(f), .part = part_of(f, i)};
  fof_tree_search(&f->own, &b.part.side.boxes[b.part.node], f->length2, b.part.block + 1,
                  link_to_block, &b);
  link_end(&b.link);
}

/** The head of a particle's FoF group, while tasks settle heads: each entry is written by the task of its particle alone, where
 * fof_head() could put an earlier head into an entry that another task has settled. */
static uint32_t settled_head(const struct fof *f, uint32_t i) {
  for (uint32_t above = fof_above(f, i); above != i; above = fof_above(f, i)) i = above;
  return i;
}

static void settle_heads(void *context, uint32_t i) {
  struct fof *f = context;
  const struct part p = part_of(f, i);
  const uint32_t first = p.side.first + node_first(p.side.count, p.node),
                 end = p.side.first + node_end(p.side.count, p.node);
  uint32_t before = first,
           root = settled_head(f, first); /* particles with one head mostly follow each other */
  for (uint32_t k = first; k < end; k++) {
    const uint32_t head = fof_above(f, k);
    if (head == k) continue;
    if (head != before) before = head, root = settled_head(f, head);
    if (head != root) /* most are settled: memory that is not written need not be stored */
      atomic_store_explicit((_Atomic uint32_t *)&f->head[k], root, memory_order_relaxed);
  }
}

/* Links inside each ORB group. */

static void link_block(void *context, uint32_t g) { fof_link_block(context, g); }

enum { TOUCH = 1024 }; /* heads on a page of memory */

/** All workers write to each page of the heads, and change nothing: else the one thread that copies heads from a GPU waits
 * for each page. */
static void touch_heads(void *context, uint32_t i) {
  struct fof *f = context;
  const struct part p = part_of(f, i);
  const uint32_t end = p.side.first + node_end(p.side.count, p.node);
  for (uint32_t k = p.side.first + node_first(p.side.count, p.node); k < end; k += TOUCH)
    atomic_fetch_or_explicit((_Atomic uint32_t *)&f->head[k], 0, memory_order_relaxed);
}

/** Tasks on GPUs link, while cores find the boxes of the trees. */
static void link_blocks_on_gpus(struct fof *f) {
  const uint32_t blocks = (uint32_t)f->particles->blocks;
  starpu_data_handle_t *position = allocate(2 * (size_t)blocks, sizeof *position, "data handles"),
                       *head = position + blocks;
  for (uint32_t g = 0; g < blocks; g++) {
    const struct particle_block b = particles_block(f->particles, g);
    position[g] = handle_register(b.x[0], 3 * b.count, sizeof *b.x[0]);
    head[g] = handle_register(f->head + b.first, b.count, sizeof *f->head);
    fof_link_submit(f, g, position[g], head[g]);
  }
  run_parts(f, touch_heads);
  run_parts(f, fill_boxes);
  loop_run(&fof_stage, blocks, fill_upper_boxes, f);
  for (uint32_t g = 0; g < 2 * blocks; g++) handle_unregister(&position[g]);
  free(position);
  run_parts(f, fill_whole);
}

static void link_blocks(struct fof *f) {
  if (starpu_is_initialized() && starpu_cuda_worker_get_count() > 0)
    link_blocks_on_gpus(f);
  else
    loop_run(&fof_stage, (uint32_t)f->particles->blocks, link_block, f);
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
  f->length2 = fof_length2(length, s->box);
  f->boxes = allocate_large(nodes, sizeof *f->boxes, "boxes for friends of friends");
  f->whole = allocate_large(nodes, sizeof *f->whole, "boxes for friends of friends");
  f->head = allocate_large(s->count, sizeof *f->head, "heads of groups");
  fill_shares(f);
  f->part_level = choose_part_level(f);
  link_blocks(f);
  fof_fill_top(f);
  run_parts(f, link_to_others);
  if (comm_size() > 1) fof_link_ranks(f);
  run_parts(f, settle_heads);
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
  fof_free_top(f);
  free(f->head);
  free(f->rank_first);
  free(f->span);
  free(f);
}
