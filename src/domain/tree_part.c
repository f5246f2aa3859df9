/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes and particles of a group a part of its tree has. */
#include "photons/base/error.h"
#include "photons/domain/tree.h"

uint32_t part_count_open(const uint64_t *below, uint32_t first, uint32_t end) {
  uint32_t n = 0;
  for (uint32_t node = first, next; node < end; node = next) {
    next = (node / 64 + 1) * 64 < end ? (node / 64 + 1) * 64 : end;
    const uint64_t wanted = UINT64_MAX >> (64 - (next - node)) << node % 64;
    n += (uint32_t)__builtin_popcountll(below[node / 64] & wanted);
  }
  return n;
}

struct tree_part tree_part_of(const uint64_t *below, uint32_t top) {
  return (struct tree_part){below, part_count_open(below, 1u << top, 2u << top), top};
}

uint32_t part_room(const struct tree_part *p, unsigned depth) {
  if (p->branches != 0) return tree_nodes(depth);
  for (uint32_t k = p->below ? part_words(p->top) : 0; k-- > 0;)
    if (p->below[k] != 0)
      return tree_nodes(node_level(64 * k + 63 - (uint32_t)__builtin_clzll(p->below[k])) + 1);
  return tree_nodes(0);
}

uint32_t part_nodes(const struct tree_part *p, unsigned depth) {
  if (!p->below) return part_room(p, depth);
  return tree_nodes(0) + 2 * part_count_open(p->below, 1, 1u << p->top) +
         p->branches * (tree_nodes(depth - p->top) - 2);
}

/** Runs of elements. */
struct runs {
  struct array_run *run;
  uint32_t count;
};

/** Add elements, to the last run if they follow it. */
static void add_elements(struct runs *r, uint32_t first, uint32_t count) {
  if (count == 0) return;
  struct array_run *last = r->count > 0 ? &r->run[r->count - 1] : NULL;
  if (last && last->first + last->count == first)
    last->count += count;
  else
    r->run[r->count++] = (struct array_run){first, count};
}

/** The most runs of nodes of a level: every second node begins one. */
static size_t runs_most(uint32_t level) { return level > 0 ? (size_t)1 << (level - 1) : 1; }

/** The first node from `node` on, below `end`, of which the part has what is below; `end`: there is none. */
static uint32_t next_open(const struct tree_part *p, uint32_t node, uint32_t end) {
  if (!p->below) return p->branches != 0 ? node : end;
  while (node < end) {
    const uint64_t open = p->below[node / 64] >> node % 64;
    if (open != 0) {
      node += (uint32_t)__builtin_ctzll(open);
      break;
    }
    node = (node / 64 + 1) * 64;
  }
  return node < end ? node : end;
}
#define FOR_OPEN(p, node, first, end) \
  for (uint32_t node = next_open(p, first, end); node < (end); node = next_open(p, node + 1, end))

/** Add the children of the nodes of a level. Below the level of branches the nodes of a branch follow each other. */
static void add_children(struct runs *r, const struct tree_part *p, unsigned level) {
  const unsigned seen = level < p->top ? level : p->top, below = level + 1 - seen;
  FOR_OPEN(p, node, 1u << seen, 2u << seen) add_elements(r, node << below, 1u << below);
}

struct array_run *part_node_runs(const struct tree_part *p, unsigned depth, uint32_t *runs) {
  size_t most = 1;
  for (unsigned level = 0; level < depth; level++)
    most += runs_most(level < p->top ? level : p->top);
  struct runs r = {.run = allocate(most, sizeof *r.run, "runs of nodes")};
  add_elements(&r, 0, tree_nodes(0));
  for (unsigned level = 0; level < depth; level++) add_children(&r, p, level);
  *runs = r.count;
  return r.run;
}

struct array_run *part_particle_runs(const struct tree_part *p, uint32_t particles,
                                     uint32_t *runs) {
  struct runs r = {.run = allocate(runs_most(p->top), sizeof *r.run, "runs of particles")};
  FOR_OPEN(p, node, 1u << p->top, 2u << p->top) {
    const uint32_t b = node - (1u << p->top), first = level_first(particles, p->top, b);
    add_elements(&r, first, level_first(particles, p->top, b + 1) - first);
  }
  *runs = r.count;
  return r.run;
}
