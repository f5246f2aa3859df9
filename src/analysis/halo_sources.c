/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_sources.h"

#include <stdlib.h>

#include "halo_tree.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"

enum {
  LEAF = 16,   /* most particles of a leaf */
  LEAVES = 128 /* of a part of a loop */
};

/** Sources that are being made. */
struct making {
  struct halo_sources *sources;
  const struct halo_body *body;
  const uint32_t *number;
};

static void copy(const struct making *m, uint32_t first, uint32_t end) {
  const struct halo_sources *s = m->sources;
  float *const x = s->x[0], *const y = s->x[1], *const z = s->x[2];
  for (uint32_t i = first; i < end; i++) {
    const struct halo_body *b = &m->body[m->number ? m->number[i] : i];
    x[i] = (float)b->x[0];
    y[i] = (float)b->x[1];
    z[i] = (float)b->x[2];
  }
}

/** The box of a node while the tree is made, and the sum of the positions. */
struct measured {
  float low[3], high[3];
  double sum[3];
};

static struct source_node node_of(const struct measured *m, uint32_t count) {
  struct source_node node = {.side = 0.0F};
  for (int c = 0; c < 3; c++) {
    const float side = m->high[c] - m->low[c];
    node.side = side > node.side ? side : node.side;
    node.centre[c] = (float)(m->sum[c] / (double)count);
  }
  return node;
}

static struct measured measure_leaf(const struct halo_sources *s, uint32_t first, uint32_t end) {
  struct measured m;
  for (int c = 0; c < 3; c++) {
    const float *x = s->x[c];
    float low = x[first], high = low;
    double sum = 0.0;
    for (uint32_t i = first; i < end; i++) {
      low = x[i] < low ? x[i] : low;
      high = x[i] > high ? x[i] : high;
      sum += (double)x[i];
    }
    m.low[c] = low;
    m.high[c] = high;
    m.sum[c] = sum;
  }
  return m;
}

static struct measured join(const struct measured *a, const struct measured *b) {
  struct measured m;
  for (int c = 0; c < 3; c++) {
    m.low[c] = a->low[c] < b->low[c] ? a->low[c] : b->low[c];
    m.high[c] = a->high[c] > b->high[c] ? a->high[c] : b->high[c];
    m.sum[c] = a->sum[c] + b->sum[c];
  }
  return m;
}

/** Copy the particles of a node, and make it and all below. */
static struct measured make_from(const struct making *m, uint32_t node) {
  const struct halo_sources *s = m->sources;
  const uint32_t first = node_first(s->count, node), end = node_end(s->count, node);
  struct measured measured;
  if (node < 1U << s->depth) {
    const struct measured left = make_from(m, 2 * node), right = make_from(m, 2 * node + 1);
    measured = join(&left, &right);
  } else {
    copy(m, first, end);
    measured = measure_leaf(s, first, end);
  }
  s->node[node] = node_of(&measured, end - first);
  return measured;
}

/** A level of nodes below which loops go, and what is measured of these. */
struct level {
  const struct making *making;
  uint32_t first;
  struct measured *measured;
};

static void make_branch(void *context, uint32_t j) {
  const struct level *level = context;
  level->measured[j] = make_from(level->making, level->first + j);
}

/** Make nodes above a level. @param measured  [node] of the level */
static struct measured make_above(const struct level *level, uint32_t node) {
  const struct halo_sources *s = level->making->sources;
  if (node >= level->first) return level->measured[node - level->first];
  const struct measured left = make_above(level, 2 * node), right = make_above(level, 2 * node + 1),
                        measured = join(&left, &right);
  s->node[node] = node_of(&measured, node_end(s->count, node) - node_first(s->count, node));
  return measured;
}

static void make_nodes(const struct making *m) {
  const uint32_t leaves = 1U << m->sources->depth;
  if (leaves <= LEAVES) {
    (void)make_from(m, 1);
    return;
  }
  struct level level = {m, leaves / LEAVES, NULL};
  level.measured = allocate(level.first, sizeof *level.measured, "the field of a halo");
  halo_loop(level.first, make_branch, &level);
  (void)make_above(&level, 1);
  free(level.measured);
}

unsigned halo_sources_depth(uint32_t count) {
  unsigned depth = 0;
  while (count > (uint32_t)LEAF << depth) depth++;
  return depth;
}

struct halo_sources halo_sources_create(const struct halo_body *body, uint32_t count,
                                        const uint32_t *number, bool tree) {
  struct halo_sources s = {.count = count};
  const struct making m = {&s, body, number};
  s.x[0] = reallocate(NULL, 3 * (size_t)count, sizeof *s.x[0], "the field of a halo");
  s.x[1] = s.x[0] + count;
  s.x[2] = s.x[1] + count;
  if (!tree) {
    copy(&m, 0, count);
    return s;
  }
  s.depth = halo_sources_depth(count);
  s.node = reallocate(NULL, tree_nodes(s.depth), sizeof *s.node, "the field of a halo");
  make_nodes(&m);
  return s;
}

void halo_sources_free(struct halo_sources *s) {
  free(s->x[0]);
  free(s->node);
}
