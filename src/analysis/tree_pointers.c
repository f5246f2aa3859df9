/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pointers between the nodes of a tree. */
#include <stdlib.h>

#include "photons/base/error.h"
#include "tree_forest.h"

static const char what[] = "pointers of merger trees";

/** The nodes of one tree and their pointers. */
struct tree {
  const struct tree_node *node;
  struct tree_pointers *at;
  size_t length;
};

/** The place of an object in its tree, whose nodes are in order: binary search. */
static size_t place_of(const struct tree *t, uint64_t output, uint64_t number) {
  size_t low = 0, high = t->length; /* it is in [low, high) */
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    const struct tree_node *n = &t->node[middle];
    if (n->output > output || (n->output == output && n->number <= number))
      low = middle;
    else
      high = middle;
  }
  return low;
}

/** A node of which the descendant is known, to be sorted by descendants. */
struct progenitor {
  int64_t descendant, index;
  double history;
};

static int compare_progenitors(const void *a, const void *b) {
  const struct progenitor *x = a, *y = b;
  if (x->descendant != y->descendant) return x->descendant < y->descendant ? -1 : 1;
  if (x->history != y->history) return x->history > y->history ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/** Descendants and mass histories. Progenitors come after their descendants, so that going backwards
 * the history of a node is complete when its descendant needs it. */
static void find_histories(const struct tree *t) {
  for (size_t i = t->length; i-- > 0;) {
    struct tree_pointers *at = &t->at[i];
    at->history += (double)t->node[i].object.mass;
    if (t->node[i].descendant_output == TREE_NONE) continue;
    const size_t d = place_of(t, t->node[i].descendant_output, t->node[i].descendant_number);
    at->descendant = (int64_t)d;
    if (at->history > t->at[d].history) t->at[d].history = at->history;
  }
}

/** First and next progenitors, by falling mass history (De Lucia & Blaizot 2007, MNRAS 375, 2). */
static void point_to_progenitors(const struct tree *t) {
  struct progenitor *all = allocate(t->length, sizeof *all, what);
  size_t count = 0;
  for (size_t i = 0; i < t->length; i++)
    if (t->at[i].descendant >= 0)
      all[count++] = (struct progenitor){t->at[i].descendant, (int64_t)i, t->at[i].history};
  qsort(all, count, sizeof *all, compare_progenitors);
  for (size_t k = 0; k < count; k++)
    if (k == 0 || all[k].descendant != all[k - 1].descendant)
      t->at[all[k].descendant].first_progenitor = all[k].index;
    else
      t->at[all[k - 1].index].next_progenitor = all[k].index;
  free(all);
}

/** Objects of one halo follow each other in the catalogue, and so in the tree. */
static void point_in_groups(const struct tree *t) {
  for (size_t i = 0; i < t->length; i++) {
    const struct tree_node *n = &t->node[i], *before = n - 1;
    const bool begins = i == 0 || before->output != n->output ||
                        before->object.group != n->object.group;
    t->at[i].first_in_group = begins ? (int64_t)i : t->at[i - 1].first_in_group;
    if (!begins) t->at[i - 1].next_in_group = (int64_t)i;
  }
}

static void begin_pointers(const struct tree *t) {
  for (size_t i = 0; i < t->length; i++)
    t->at[i] = (struct tree_pointers){.tree = (int64_t)t->node[i].tree,
                                      .index = (int64_t)i,
                                      .output = (int64_t)t->node[i].output,
                                      .number = (int64_t)t->node[i].number,
                                      .descendant = -1,
                                      .first_progenitor = -1,
                                      .next_progenitor = -1,
                                      .next_in_group = -1};
}

struct tree_pointers *tree_forest_point(const struct tree_forest *f) {
  struct tree_pointers *pointers = allocate(f->node_count, sizeof *pointers, what);
  size_t first = 0;
  for (size_t k = 0; k < f->tree_count; first += f->length[k++]) {
    const struct tree t = {f->node + first, pointers + first, f->length[k]};
    begin_pointers(&t);
    find_histories(&t);
    point_to_progenitors(&t);
    point_in_groups(&t);
  }
  return pointers;
}
