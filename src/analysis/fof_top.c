/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of boxes above the ORB groups: of this rank's, of those of other ranks that are near, and of the domains of
 * all ranks. */
#include <stdlib.h>

#include "fof_link.h"
#include "photons/analysis/fof.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/tree.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(fof, 0x332288, .untimed = true);

static const char what[] = "boxes for friends of friends";

/* Trees. */

/** The first of the leaves low .. high - 1 on the right of the lowest node of the ORB tree above all of them. */
static uint32_t find_cut(const struct fof_leaf *leaf, uint32_t low, uint32_t high) {
  const uint32_t last = leaf[high - 1].block,
                 bit = 31 - (uint32_t)__builtin_clz(leaf[low].block ^ last),
                 right = last >> bit << bit;
  for (high--; high - low > 1;) { /* leaf[low] is on the left, leaf[high] on the right */
    const uint32_t middle = low + (high - low) / 2;
    if (leaf[middle].block < right)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static void make_node(struct fof_tree *t, uint32_t low, uint32_t high) {
  struct fof_tree_node *node = &t->node[t->nodes++];
  if (high - low == 1) {
    node->box = t->leaf[low].box;
  } else {
    const uint32_t cut = find_cut(t->leaf, low, high);
    make_node(t, low, cut);
    const struct fof_tree_node *right = &t->node[t->nodes];
    make_node(t, cut, high);
    node->box = fof_box_union(&node[1].box, &right->box);
  }
  node->last = high - 1;
  node->next = t->nodes;
}

/** Takes the array `leaf`, which is by rising block. */
static struct fof_tree make_tree(struct fof_leaf *leaf, uint32_t leaves) {
  struct fof_tree t = {.leaf = leaf, .leaves = leaves};
  t.node = allocate(2 * (size_t)leaves, sizeof *t.node, what);
  if (leaves > 0) make_node(&t, 0, leaves);
  return t;
}

static void free_tree(struct fof_tree *t) {
  free(t->leaf);
  free(t->node);
}

static size_t tree_bytes(const struct fof_tree *t) {
  return t->leaves * (sizeof *t->leaf + 2 * sizeof *t->node);
}

void fof_tree_search(const struct fof_tree *t, const struct fof_box *box, uint64_t distance2,
                     uint32_t first, void (*visit)(void *context, uint32_t k), void *context) {
  for (uint32_t i = 0; i < t->nodes;) {
    const struct fof_tree_node *node = &t->node[i];
    const bool near = node->last >= first && fof_boxes_distance2(&node->box, box) <= distance2,
               leaf = node->next == i + 1;
    if (near && leaf) visit(context, node->last);
    i = near ? i + 1 : node->next;
  }
}

/* Ranks. */

enum { PARTS = 2 }; /* of the domain of a rank */
static const uint32_t no_part = UINT32_MAX;

/** The domain of this rank. Consecutive ORB groups are some at the end of one node of the ORB tree and some at the
 * beginning of the next one: a box around both might be as large as the volume of all ranks. */
static void own_domain(const struct fof_tree *own, struct fof_leaf part[PARTS]) {
  const uint32_t first = PARTS * (uint32_t)comm_rank();
  const struct fof_tree_node *node = own->node;
  for (int k = 0; k < PARTS; k++) part[k].block = no_part;
  if (own->leaves == 0) return;
  const bool one = own->leaves == 1;
  part[0] = (struct fof_leaf){node[one ? 0 : 1].box, first};
  if (!one) part[1] = (struct fof_leaf){node[node[1].next].box, first + 1};
}

/** A tree of the domains of all ranks; the parts of a rank stand for blocks. */
static struct fof_tree tree_of_ranks(const struct fof_tree *own) {
  const size_t most = PARTS * (size_t)comm_size();
  struct fof_leaf mine[PARTS] = {{.block = 0}}, *all = allocate(most, sizeof *all, what);
  uint32_t parts = 0;
  own_domain(own, mine);
  comm_gather_all(mine, sizeof mine, all);
  for (size_t k = 0; k < most; k++)
    if (all[k].block != no_part) all[parts++] = all[k];
  return make_tree(all, parts);
}

/** The search for ranks. A rank's parts follow each other. */
struct rank_search {
  const struct fof_tree *ranks;
  int last;
  void (*visit)(void *context, int rank);
  void *context;
};

static void visit_rank(void *context, uint32_t k) {
  struct rank_search *s = context;
  const int rank = (int)(s->ranks->leaf[k].block / PARTS);
  if (rank == comm_rank() || rank == s->last) return;
  s->last = rank;
  s->visit(s->context, rank);
}

void fof_near_ranks(const struct fof *f, const struct fof_box *box, uint64_t distance2,
                    void (*visit)(void *context, int rank), void *context) {
  struct rank_search s = {&f->ranks, -1, visit, context};
  fof_tree_search(&f->ranks, box, distance2, 0, visit_rank, &s);
}

/* ORB groups of other ranks. */

/** Boxes of ORB groups to ranks, one rank after the other. */
struct letters {
  struct fof_leaf *letter;
  uint32_t letters, room;
  struct sparse_pieces to;
};

static void add_letter(struct letters *l, const struct fof_leaf *leaf) {
  if (l->letters == l->room) {
    l->room = 2 * l->room + 64;
    l->letter = reallocate(l->letter, l->room, sizeof *l->letter, what);
  }
  l->letter[l->letters++] = *leaf;
}

static bool is_near(const struct fof *f, const struct fof_box *box, const struct fof_leaf *part,
                    uint32_t parts) {
  for (uint32_t k = 0; k < parts; k++)
    if (fof_boxes_distance2(box, &part[k].box) <= f->length2) return true;
  return false;
}

/** Write to the rank with these parts about the ORB groups of this rank that are near them. */
static void write_to(const struct fof *f, const struct fof_leaf *part, uint32_t parts,
                     struct letters *l) {
  const uint32_t before = l->letters;
  for (uint32_t i = 0; i < f->own.nodes;) {
    const struct fof_tree_node *node = &f->own.node[i];
    const bool near = is_near(f, &node->box, part, parts), leaf = node->next == i + 1;
    if (near && leaf) add_letter(l, &f->own.leaf[node->last]);
    i = near ? i + 1 : node->next;
  }
  if (l->letters == before) return;
  sparse_add(&l->to, (int)(part->block / PARTS), (l->letters - before) * sizeof *l->letter);
}

/** To the ranks that send their particles to this one. */
static struct letters write_letters(const struct fof *f) {
  const struct fof_tree *ranks = &f->ranks;
  struct letters l = {.letter = NULL};
  for (uint32_t k = 0, end; k < ranks->leaves; k = end) {
    const uint32_t rank = ranks->leaf[k].block / PARTS;
    for (end = k + 1; end < ranks->leaves && ranks->leaf[end].block / PARTS == rank;) end++;
    if (fof_sends_to((int)rank, comm_rank())) write_to(f, &ranks->leaf[k], end - k, &l);
  }
  return l;
}

/** The ORB groups of which other ranks have told. */
static struct fof_tree tree_of_met(const struct letters *l) {
  struct sparse_pieces from;
  struct fof_leaf *letter = comm_exchange_sparse(l->letter, &l->to, &from);
  const size_t bytes = sparse_bytes(&from);
  sparse_free(&from);
  return make_tree(letter, (uint32_t)(bytes / sizeof *letter));
}

static struct fof_tree tree_of_own(const struct fof *f) {
  const struct particles *s = f->particles;
  struct fof_leaf *leaf = allocate(s->blocks, sizeof *leaf, what);
  for (size_t g = 0; g < s->blocks; g++)
    leaf[g] = (struct fof_leaf){f->boxes[g * tree_nodes(f->depth) + 1],
                                (uint32_t)(s->first_block + g)};
  return make_tree(leaf, (uint32_t)s->blocks);
}

void fof_fill_top(struct fof *f) {
  f->own = tree_of_own(f);
  if (comm_size() == 1) return;
  f->ranks = tree_of_ranks(&f->own);
  struct letters l = write_letters(f);
  f->met = tree_of_met(&l);
  kept_set(KEPT_FOF, tree_bytes(&f->own) + tree_bytes(&f->ranks) + tree_bytes(&f->met) +
                         l.letters * sizeof *l.letter + sparse_list_bytes(&l.to) +
                         (size_t)comm_size() * sizeof *f->rank_first);
  free(l.letter);
  sparse_free(&l.to);
}

void fof_free_top(struct fof *f) {
  free_tree(&f->own);
  free_tree(&f->ranks);
  free_tree(&f->met);
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
