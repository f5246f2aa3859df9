/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a message of fields in the order of a tree, so that a group finds those which it reads. */
#include <stdlib.h>

#include "fields.h"
#include "photons/base/error.h"

enum { LEAF_PARTS = 16 }; /* a leaf has at least half as many, unless it is the root */

/** The cells that hold those of some parts. */
static void enclose(struct mesh_part_node *node, const struct field_part *part, uint32_t count) {
  for (int c = 0; c < 3; c++) {
    uint32_t first = UINT32_MAX, end = 0;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t part_end = part[i].first[c] + part[i].size[c];
      first = part[i].first[c] < first ? part[i].first[c] : first;
      end = part_end > end ? part_end : end;
    }
    node->first[c] = first;
    node->end[c] = end;
  }
}

static int longest_side(const struct mesh_part_node *node) {
  int longest = 0;
  for (int c = 1; c < 3; c++)
    if (node->end[c] - node->first[c] > node->end[longest] - node->first[longest]) longest = c;
  return longest;
}

/* By their middles along an axis. */
#define COMPARE_ALONG(name, axis)                                                                  \
  static int name(const void *a, const void *b) {                                                  \
    const struct field_part *p = a, *q = b;                                                        \
    const uint32_t x = 2 * p->first[axis] + p->size[axis], y = 2 * q->first[axis] + q->size[axis]; \
    return x != y ? (x > y) - (x < y) : (p->at > q->at) - (p->at < q->at);                         \
  }
COMPARE_ALONG(compare_x, 0)
COMPARE_ALONG(compare_y, 1)
COMPARE_ALONG(compare_z, 2)

/** Make the nodes of parts low .. high - 1. */
static void make(struct mesh_message *m, uint32_t low, uint32_t high) {
  static int (*const compare[])(const void *, const void *) = {compare_x, compare_y, compare_z};
  const uint32_t me = m->nodes++;
  enclose(&m->node[me], m->field + low, high - low);
  m->node[me].part = low;
  if (high - low > LEAF_PARTS) {
    const uint32_t middle = low + (high - low) / 2;
    qsort(m->field + low, high - low, sizeof *m->field, compare[longest_side(&m->node[me])]);
    make(m, low, middle);
    make(m, middle, high);
  }
  m->node[me].next = m->nodes;
}

void part_tree_make(struct mesh_message *m) {
  const size_t leaves = m->parts / (LEAF_PARTS / 2) + 1;
  m->nodes = 0;
  m->node = reallocate(m->node, 2 * leaves - 1, sizeof *m->node, "messages of the mesh");
  if (m->parts > 0) make(m, 0, m->parts);
}

const struct field_part *parts_near(const struct mesh_message *m, uint32_t cells,
                                    const struct cell_layout *box, uint32_t *node,
                                    const struct field_part **end) {
  for (uint32_t i = *node; i < m->nodes;) {
    const struct mesh_part_node *n = &m->node[i];
    const struct cell_layout all = {
        .first = {n->first[0], n->first[1], n->first[2]},
        .size = {n->end[0] - n->first[0], n->end[1] - n->first[1], n->end[2] - n->first[2]}};
    const bool near = cells_meet(cells, &all, box), is_leaf = n->next == i + 1;
    i = near ? i + 1 : n->next;
    if (!near || !is_leaf) continue;
    *node = i;
    *end = m->field + (i < m->nodes ? m->node[i].part : m->parts);
    return m->field + n->part;
  }
  return NULL;
}
