/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree inside a group: a complete binary tree in heap order, so that a node needs no pointers.
 * The root is node 1, the children of node i are 2i and 2i+1; index 0 is unused. Level l holds
 * nodes
 * 2^l .. 2^(l+1)-1; the leaves are level `depth`. Node i = 2^l + j at level l holds the particles
 * [n j >> l, n (j+1) >> l) of the group's n particles. */
#ifndef PHOTONS_TREE_H
#define PHOTONS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/domain/geometry.h"

struct node {
  uint32_t centre[3]; /**< of the bounding box of its particles, position units */
  float half[3];      /**< half widths of that box, units of r_cut */
  float radius;       /**< largest distance of a particle from the centre, units of r_cut */
  float acc_min;      /**< smallest least or rms |acceleration| of a leaf below in the last force
                  *   computation, units of G m / r_cut^2; 0 if unknown */
};

/** Number of array elements for the nodes of a tree (index 0 is unused). */
static HOST_DEVICE inline uint32_t tree_nodes(unsigned depth) { return 2u << depth; }
static HOST_DEVICE inline unsigned node_level(uint32_t node) {
#ifdef __CUDA_ARCH__
  return 31u - (unsigned)__clz((int)node);
#else
  return 31u - (unsigned)__builtin_clz(node);
#endif
}
/** First particle of node j of a level. The node's particles end where those of node j + 1
 * begin. */
static HOST_DEVICE inline uint32_t level_first(uint32_t count, unsigned level, uint32_t j) {
  return (uint32_t)(((uint64_t)count * j) >> level);
}
/** The node of a level, counted from the level's first, that holds particle `place`. */
static HOST_DEVICE inline uint32_t level_node(uint32_t count, unsigned level, uint32_t place) {
  return (uint32_t)(((((uint64_t)place + 1) << level) - 1) / count);
}
static HOST_DEVICE inline uint32_t node_first(uint32_t count, uint32_t node) {
  unsigned l = node_level(node);
  return level_first(count, l, node - (1u << l));
}
static HOST_DEVICE inline uint32_t node_end(uint32_t count, uint32_t node) {
  unsigned l = node_level(node);
  return level_first(count, l, node + 1 - (1u << l));
}

/* Tasks of large groups have parts (photons/runtime/parts.h) that are subtrees: what is below each node of a level. */

/** Particles of a subtree that is a part: 20 us and more of the shortest of these tasks. */
enum { SUBTREE_PARTICLES = 4096 };
/** The level of the roots of these subtrees; 0: the tree is one part. It follows from the number of particles, so that it is
 * the same on any number of workers. */
static inline unsigned subtree_level(uint32_t count, unsigned depth) {
  unsigned level = 0;
  while (level < depth && count >> level > SUBTREE_PARTICLES) level++;
  return level;
}

/* A tree over packed targets (photons/tree/targets.h) has leaves of any numbers of particles: leaf
 * j of level `depth` holds the particles [first[j], first[j + 1]). The functions below take first =
 * NULL for the trees described above. */

/** First particle of node j of a level of a tree with or without such a table. */
static HOST_DEVICE inline uint32_t tree_level_first(uint32_t count, unsigned depth,
                                                    const uint32_t *first, unsigned level,
                                                    uint32_t j) {
  return first ? first[j << (depth - level)] : level_first(count, level, j);
}
/** Number of particles of a node. */
static HOST_DEVICE inline uint32_t tree_node_count(uint32_t count, unsigned depth,
                                                   const uint32_t *first, uint32_t node) {
  const unsigned l = node_level(node);
  const uint32_t j = node - (1u << l);
  return tree_level_first(count, depth, first, l, j + 1) -
         tree_level_first(count, depth, first, l, j);
}

/** What a rank has of the tree of a group and of its particles: the root, the children of some nodes above a level, and all
 * nodes and particles below some nodes of this level, the branches. */
struct tree_part {
  /** [part_words(top)] bits: nodes 1 .. 2^(top + 1) - 1 below which something is in the part. NULL: all nodes if there are
   * branches, else none */
  const uint64_t *below;
  uint32_t branches; /**< their number */
  uint32_t top;      /**< their level, at most that of the leaves */
};
/** Words of the bits of nodes down to a level. */
static HOST_DEVICE inline uint32_t part_words(uint32_t top) {
  return top < 6 ? 1 : 1u << (top - 5);
}
/** Whether what is below a node is in the part: its children, or the particles of a leaf. */
static HOST_DEVICE inline bool part_has_below(const struct tree_part *p, uint32_t node) {
  if (!p->below) return p->branches != 0;
  const unsigned level = node_level(node);
  if (level > p->top) node >>= level - p->top;
  return p->below[node / 64] >> node % 64 & 1;
}
/** Set the bit of a node. */
static inline void part_open(uint64_t *below, uint32_t node) {
  below[node / 64] |= UINT64_C(1) << node % 64;
}
/** The number of the nodes first .. end - 1 whose bits are set. */
uint32_t part_count_open(const uint64_t *below, uint32_t first, uint32_t end);
/** A part by its bits, which it does not copy. */
struct tree_part tree_part_of(const uint64_t *below, uint32_t top);
/** Elements of an array that has room for a part in heap order. @param depth  of the tree */
uint32_t part_room(const struct tree_part *p, unsigned depth);
/** The number of elements that are in a part: 0, the root, and the children of nodes. */
uint32_t part_nodes(const struct tree_part *p, unsigned depth);

/** Elements of an array that follow each other. */
struct array_run {
  uint32_t first, count;
};
/** The elements that are in a part, in their order; no run is empty. @param[out] runs  their number @return free() it */
struct array_run *part_node_runs(const struct tree_part *p, unsigned depth, uint32_t *runs);
/** The particles in the branches. @param particles  of the group @param[out] runs  their number @return free() it */
struct array_run *part_particle_runs(const struct tree_part *p, uint32_t particles, uint32_t *runs);

/** The particles of a leaf are sorted by further bisection, down to parts of at most this many,
 * which are the blocks of targets of direct sums on CPUs (P2P_BLOCK). */
#define TREE_BLOCK 8

#endif
