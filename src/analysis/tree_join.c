/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connected components of trees: each tree has a label, the number of a tree that it is joined to. A bond
 * lowers the higher label of its two trees, until all bonds are within components. */
#include "tree_join.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "src/base/exchange.h"
#include "tree_lookup.h"

static const char what[] = "joining merger trees";

/** The halo and the tree of the object before the first one of this rank; TREE_NONE without one. */
static void find_before(const struct tree_objects *o, const uint64_t *tree, uint64_t *group_before,
                        uint64_t *tree_before) {
  uint64_t *group = allocate(o->count, sizeof *group, what);
  for (size_t i = 0; i < o->count; i++) group[i] = (uint64_t)o->object[i].group;
  const uint64_t index = o->count > 0 && o->first > 0 ? o->first - 1 : TREE_NONE;
  uint64_t *group_found = tree_fetch(o->all, group, 1, &index),
           *tree_found = tree_fetch(o->all, tree, 1, &index);
  *group_before = *group_found;
  *tree_before = *tree_found;
  free(tree_found);
  free(group_found);
  free(group);
}

void tree_bonds_add(struct tree_bonds *b, const struct tree_objects *o, const uint64_t *tree) {
  uint64_t group_before, tree_before;
  find_before(o, tree, &group_before, &tree_before);
  b->bond = reallocate(b->bond, b->count + o->count, sizeof *b->bond, what);
  for (size_t i = 0; i < o->count; i++) {
    const uint64_t group = (uint64_t)o->object[i].group;
    if (group == group_before && tree[i] != tree_before)
      b->bond[b->count++] = (struct tree_bond){tree_before, tree[i]};
    group_before = group;
    tree_before = tree[i];
  }
}

static int compare_bonds(const void *a, const void *b) {
  const struct tree_bond *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

/** Leave each bond once, the lower tree first, and none of a tree with itself. */
static void simplify(struct tree_bonds *b) {
  size_t count = 0;
  for (size_t i = 0; i < b->count; i++) {
    const struct tree_bond bond = b->bond[i];
    if (bond.a != bond.b)
      b->bond[count++] = bond.a < bond.b ? bond : (struct tree_bond){bond.b, bond.a};
  }
  qsort(b->bond, count, sizeof *b->bond, compare_bonds);
  b->count = 0;
  for (size_t i = 0; i < count; i++)
    if (i == 0 || compare_bonds(&b->bond[i], &b->bond[i - 1]) != 0)
      b->bond[b->count++] = b->bond[i];
}

/** The labels of this rank's trees. */
struct labels {
  uint64_t all;
  size_t first, count;
  uint64_t *label;
};

static struct labels labels_create(uint64_t trees) {
  struct labels l = {.all = trees, .first = comm_first(trees, comm_rank())};
  l.count = comm_first(trees, comm_rank() + 1) - l.first;
  l.label = allocate(l.count, sizeof *l.label, what);
  for (size_t i = 0; i < l.count; i++) l.label[i] = l.first + i;
  return l;
}

/** Lower the label of the higher tree of each bond to the lower tree. */
static void lower_labels(const struct labels *l, const struct tree_bonds *b) {
  size_t *send = exchange_counts(), *receive = exchange_counts();
  uint32_t *rank = allocate(b->count, sizeof *rank, what);
  for (size_t i = 0; i < b->count; i++)
    rank[i] = (uint32_t)block_containing(l->all, (size_t)comm_size(), b->bond[i].b);
  struct tree_bond *received = exchange_scattered(b->bond, sizeof *received, b->count, rank, NULL,
                                                  send, receive);
  const size_t count = exchange_total(receive);
  for (size_t i = 0; i < count; i++) {
    uint64_t *label = &l->label[received[i].b - l->first];
    if (received[i].a < *label) *label = received[i].a;
  }
  free(received);
  free(rank);
  free(send);
  free(receive);
}

/** Whether a condition holds on any rank. */
static bool on_any_rank(bool condition) {
  uint64_t ranks = condition;
  comm_sum_u64(&ranks, 1);
  return ranks > 0;
}

/** Follow labels to the trees that are their own labels. */
static void follow_labels(const struct labels *l) {
  bool changed = true;
  while (on_any_rank(changed)) {
    uint64_t *next = tree_fetch(l->all, l->label, l->count, l->label);
    changed = false;
    for (size_t i = 0; i < l->count; i++) {
      changed = changed || next[i] != l->label[i];
      l->label[i] = next[i];
    }
    free(next);
  }
}

/** Replace the trees of bonds by the labels of these trees. */
static void contract(struct tree_bonds *b, const struct labels *l) {
  uint64_t *tree = allocate(2 * b->count, sizeof *tree, what);
  for (size_t i = 0; i < b->count; i++) {
    tree[2 * i] = b->bond[i].a;
    tree[2 * i + 1] = b->bond[i].b;
  }
  uint64_t *label = tree_fetch(l->all, l->label, 2 * b->count, tree);
  for (size_t i = 0; i < b->count; i++)
    b->bond[i] = (struct tree_bond){label[2 * i], label[2 * i + 1]};
  free(label);
  free(tree);
}

/** Number the trees that are their own labels, and give their numbers to the others. */
static uint64_t *number_trees(const struct labels *l, uint64_t *trees) {
  uint64_t *number = allocate(l->count, sizeof *number, what), count = 0;
  for (size_t i = 0; i < l->count; i++) count += l->label[i] == l->first + i;
  uint64_t next = comm_sum_before(count);
  for (size_t i = 0; i < l->count; i++)
    if (l->label[i] == l->first + i) number[i] = next++;
  comm_sum_u64(&count, 1);
  uint64_t *numbers = tree_fetch(l->all, number, l->count, l->label);
  *trees = count;
  free(number);
  return numbers;
}

uint64_t *tree_join(struct tree_bonds *b, uint64_t *trees) {
  const struct labels l = labels_create(*trees);
  for (simplify(b); on_any_rank(b->count > 0); simplify(b)) {
    lower_labels(&l, b);
    follow_labels(&l);
    contract(b, &l);
  }
  uint64_t *numbers = number_trees(&l, trees);
  free(l.label);
  free(b->bond);
  *b = (struct tree_bonds){0};
  return numbers;
}
