/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gathers the objects of all outputs into trees. Outputs are read from the last to the first, so that
 * the tree of an object's descendant is known. */
#include "tree_forest.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "src/base/exchange.h"
#include "tree_file.h"
#include "tree_join.h"
#include "tree_lookup.h"

static const char what[] = "merger trees";

/** An output, and the trees of its objects. */
struct level {
  bool there;
  struct tree_links links;
  uint64_t *tree; /* [links.objects.count] */
};

static void level_free(struct level *l) {
  tree_links_free(&l->links);
  free(l->tree);
  *l = (struct level){0};
}

static void require(bool sound, const struct parameters *p, size_t output) {
  if (!sound)
    fail(EXIT_BAD_INPUT, "%s does not follow the files of the outputs before: remove it",
         tree_path_of(p, output).text);
}

/** Where the descendant of an object is, among the one or two outputs after its own. */
static void find_descendant(const struct level later[2], size_t i, struct tree_node *node) {
  node->descendant_output = node->descendant_number = TREE_NONE;
  for (unsigned k = 0; k < 2 && later[k].there; k++) {
    const struct tree_fates *f = k == 0 ? &later[k].links.before : &later[k].links.skipped;
    if (f->descendant[i] == TREE_NONE) continue;
    node->descendant_output = node->output + 1 + k; /* a descendant after a skipped output counts */
    node->descendant_number = f->descendant[i];
  }
}

/** The trees of those objects whose descendants are in one of the later outputs. */
static void follow(const struct level *later, size_t output, size_t count,
                   const struct tree_node *node, uint64_t *tree) {
  uint64_t *index = allocate(count, sizeof *index, what);
  for (size_t i = 0; i < count; i++)
    index[i] = node[i].descendant_output == output ? node[i].descendant_number : TREE_NONE;
  uint64_t *found = tree_fetch(later->links.objects.all, later->tree, count, index);
  for (size_t i = 0; i < count; i++)
    if (index[i] != TREE_NONE) tree[i] = found[i];
  free(found);
  free(index);
}

/** Objects without descendants are roots: number their trees. */
static void plant(struct tree_forest *f, size_t count, const struct tree_node *node,
                  uint64_t *tree) {
  uint64_t roots = 0;
  for (size_t i = 0; i < count; i++) roots += node[i].descendant_output == TREE_NONE;
  uint64_t next = f->trees + comm_sum_before(roots);
  for (size_t i = 0; i < count; i++)
    if (node[i].descendant_output == TREE_NONE) tree[i] = next++;
  comm_sum_u64(&roots, 1);
  f->trees += roots;
}

/** Add the objects of an output as nodes. */
static void add_level(struct tree_forest *f, struct level *now, const struct level later[2],
                      struct tree_bonds *bonds) {
  const struct tree_objects *o = &now->links.objects;
  f->node = reallocate(f->node, f->node_count + o->count, sizeof *f->node, what);
  struct tree_node *node = f->node + f->node_count;
  now->tree = allocate(o->count, sizeof *now->tree, what);
  for (size_t i = 0; i < o->count; i++) {
    node[i] = (struct tree_node){
        .output = now->links.output, .number = o->first + i, .object = o->object[i]};
    find_descendant(later, i, &node[i]);
  }
  for (unsigned k = 0; k < 2 && later[k].there; k++)
    follow(&later[k], now->links.output + 1 + k, o->count, node, now->tree);
  plant(f, o->count, node, now->tree);
  tree_bonds_add(bonds, o, now->tree);
  for (size_t i = 0; i < o->count; i++) node[i].tree = now->tree[i];
  f->node_count += o->count;
}

/** Read all outputs.
 * @param[out] bonds  between trees of subhalos of one halo */
static void read_levels(struct tree_forest *f, const struct parameters *p, size_t last,
                        struct tree_bonds *bonds) {
  struct level later[2] = {{0}}, now = {.there = true, .links = tree_links_read(p, last)};
  f->first_output = now.links.first_output;
  f->outputs = last - f->first_output + 1;
  f->a = allocate(f->outputs, sizeof *f->a, what);
  for (size_t output = last;; output--) {
    require(!later[0].there || later[0].links.before.all == now.links.objects.all, p, output + 1);
    require(!later[1].there || later[1].links.skipped.all == now.links.objects.all, p, output + 2);
    require(now.links.first_output == f->first_output, p, output + 1);
    f->a[output - f->first_output] = now.links.a;
    add_level(f, &now, later, bonds);
    level_free(&later[1]);
    later[1] = later[0];
    later[0] = now;
    if (output == f->first_output) break;
    now = (struct level){.there = true, .links = tree_links_read(p, output - 1)};
  }
  level_free(&later[0]);
  level_free(&later[1]);
}

/** @return [node_count] the tree of each node; free() it */
static uint64_t *list_trees(const struct tree_forest *f) {
  uint64_t *tree = allocate(f->node_count, sizeof *tree, what);
  for (size_t i = 0; i < f->node_count; i++) tree[i] = f->node[i].tree;
  return tree;
}

/** Join trees, and give nodes the numbers of the trees that remain. */
static void join_trees(struct tree_forest *f, struct tree_bonds *bonds) {
  const size_t all = f->trees;
  uint64_t *numbers = tree_join(bonds, &f->trees), *tree = list_trees(f);
  uint64_t *joined = tree_fetch(all, numbers, f->node_count, tree);
  for (size_t i = 0; i < f->node_count; i++) f->node[i].tree = joined[i];
  free(joined);
  free(tree);
  free(numbers);
}

/** Where the nodes of the trees of this rank's even share begin, in the order of all nodes.
 * @param tree  [node_count] of each node */
static uint64_t *find_begins(const struct tree_forest *f, const uint64_t *tree) {
  const size_t ranks = (size_t)comm_size(), first = comm_first(f->trees, comm_rank()),
               count = comm_first(f->trees, comm_rank() + 1) - first;
  size_t *send = exchange_counts(), *receive = exchange_counts();
  uint32_t *rank = allocate(f->node_count, sizeof *rank, what);
  for (size_t i = 0; i < f->node_count; i++)
    rank[i] = (uint32_t)block_containing(f->trees, ranks, tree[i]);
  uint64_t *received = exchange_scattered(tree, sizeof *tree, f->node_count, rank, NULL, send,
                                          receive);
  const size_t nodes = exchange_total(receive);
  uint64_t *begin = allocate(count, sizeof *begin, what), before = comm_sum_before(nodes);
  for (size_t i = 0; i < nodes; i++) begin[received[i] - first]++;
  for (size_t t = 0; t < count; t++) {
    const uint64_t length = begin[t];
    begin[t] = before;
    before += length;
  }
  free(received);
  free(rank);
  free(send);
  free(receive);
  return begin;
}

/** The rank in whose even share of all nodes the tree of each node begins. */
static uint32_t *find_ranks(const struct tree_forest *f) {
  uint64_t *tree = list_trees(f), *mine = find_begins(f, tree);
  uint64_t *begin = tree_fetch(f->trees, mine, f->node_count, tree);
  uint32_t *rank = allocate(f->node_count, sizeof *rank, what);
  for (size_t i = 0; i < f->node_count; i++)
    rank[i] = (uint32_t)block_containing(f->nodes, (size_t)comm_size(), begin[i]);
  free(begin);
  free(mine);
  free(tree);
  return rank;
}

static int compare_nodes(const void *a, const void *b) {
  const struct tree_node *x = a, *y = b;
  if (x->tree != y->tree) return x->tree < y->tree ? -1 : 1;
  if (x->output != y->output) return x->output > y->output ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/** Bring each tree to one rank. */
static void deal_trees(struct tree_forest *f) {
  size_t *send = exchange_counts(), *receive = exchange_counts();
  uint32_t *rank = find_ranks(f);
  struct tree_node *received = exchange_scattered(f->node, sizeof *received, f->node_count, rank,
                                                  NULL, send, receive);
  free(f->node);
  f->node = received;
  f->node_count = exchange_total(receive);
  qsort(f->node, f->node_count, sizeof *f->node, compare_nodes);
  f->first_node = comm_sum_before(f->node_count);
  free(rank);
  free(send);
  free(receive);
}

static void measure_trees(struct tree_forest *f) {
  f->length = allocate(f->node_count, sizeof *f->length, what); /* as many trees at most */
  for (size_t i = 0; i < f->node_count; i++) {
    f->tree_count += i == 0 || f->node[i].tree != f->node[i - 1].tree;
    f->length[f->tree_count - 1]++;
  }
  f->first_tree = comm_sum_before(f->tree_count);
}

struct tree_forest tree_forest_read(const struct parameters *p, size_t last) {
  struct tree_forest f = {0};
  struct tree_bonds bonds = {0};
  read_levels(&f, p, last, &bonds);
  join_trees(&f, &bonds);
  f.nodes = f.node_count;
  comm_sum_u64(&f.nodes, 1);
  deal_trees(&f);
  measure_trees(&f);
  return f;
}

void tree_forest_free(struct tree_forest *f) {
  free(f->a);
  free(f->length);
  free(f->node);
  *f = (struct tree_forest){0};
}
