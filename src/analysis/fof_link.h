/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linking of friends of friends along trees. fof.c applies it to the ORB groups of this rank,
 * fof_ranks.c to ghosts of other ranks. */
#ifndef PHOTONS_FOF_LINK_H
#define PHOTONS_FOF_LINK_H

#include <stdatomic.h>

#include "photons/analysis/fof.h"
#include "photons/analysis/kernels.h"
#include "photons/runtime/stage.h"

/** Loops of friends of friends. */
extern struct stage fof_stage;

enum { GHOST_LEAF = 32 }; /* most particles in a leaf of ghosts */

/* Union-find without locks: head[i] is an earlier particle of i's FoF group, or i itself. Only the
 * head of a FoF group is ever given a new head, by compare-and-swap, and the new head is always an
 * earlier particle. In the end the head of every FoF group is therefore its first particle, in
 * whatever order the links were made. */

/** What was last known as the head of a particle: itself or an earlier particle of its FoF group. */
static inline uint32_t fof_above(const struct fof *f, uint32_t i) {
  return atomic_load_explicit((_Atomic uint32_t *)&f->head[i], memory_order_relaxed);
}

static inline uint32_t fof_head(struct fof *f, uint32_t i) {
  _Atomic uint32_t *head = (_Atomic uint32_t *)f->head;
  for (;;) {
    uint32_t above = atomic_load_explicit(&head[i], memory_order_relaxed);
    if (above == i) return i;
    uint32_t next = atomic_load_explicit(&head[above], memory_order_relaxed);
    if (next == above) return above;
    /* shorten the path: any ancestor is correct */
    atomic_store_explicit(&head[i], next, memory_order_relaxed);
    i = next;
  }
}

static inline void fof_unite(struct fof *f, uint32_t i, uint32_t j) {
  _Atomic uint32_t *head = (_Atomic uint32_t *)f->head;
  for (;;) {
    i = fof_head(f, i);
    j = fof_head(f, j);
    if (i == j) return;
    uint32_t low = i < j ? i : j, high = i < j ? j : i, expected = high;
    if (atomic_compare_exchange_weak_explicit(&head[high], &expected, low, memory_order_relaxed,
                                              memory_order_relaxed))
      return;
  }
}

/** Particles in the order of a tree: those of an ORB group, or ghosts. */
struct side {
  uint32_t first, count; /* first: index in fof.head */
  uint32_t *x[3];
  uint32_t leaf_begin; /* first leaf in heap order */
  struct fof_box *boxes;
  bool *whole;
};

/** Working memory for linking one side or a pair of sides. */
struct link {
  struct fof *fof;
  const struct fof_kernels *kernels;
  float limit2;                    /* length2 with a margin for float rounding */
  uint32_t reach;                  /* linking length, rounded up */
  uint32_t *near_a, *near_b, *hit; /* indices of particles in a leaf */
  uint32_t *place;                 /* of particles of a leaf */
  uint32_t *x;   /* coordinates of near_b, or of a leaf, one component after the other */
  uint32_t room; /* elements of each of these arrays */
};

struct link link_begin(struct fof *f);
void link_end(struct link *l);

/** The particles of this rank's ORB group g. */
struct side side_of_block(struct fof *f, size_t g);
/** Fill the boxes of a node of a side, and of all below. */
void side_fill_boxes(const struct side *s, uint32_t node);
/** Fill the boxes above a level, of which the nodes have theirs. */
void side_join_boxes(const struct side *s, unsigned level);
/** Find out for a node of a side and for all below, from the heads, whether they are whole. @return
 * whether the node is. */
bool side_fill_whole(struct fof *f, const struct side *s, uint32_t node);

/** Link the particles inside ORB group g of this rank, and fill its boxes. */
void fof_link_block(struct fof *f, uint32_t g);
/** Link the particles inside a node. @return whether they are all in one FoF group */
bool link_node(const struct link *l, const struct side *s, uint32_t node);
/** Link the particles of two nodes with each other. */
void link_pair(const struct link *l, const struct side *a, uint32_t node_a, const struct side *b,
               uint32_t node_b);

/** Find the links to particles of other ranks and make the heads of all ranks agree: fills head and
 * span. Collective. */
void fof_link_ranks(struct fof *f);

/** Make the trees own, met and ranks from the boxes; and free them. The former is collective. */
void fof_fill_top(struct fof *f);
void fof_free_top(struct fof *f);

/** Of two neighbouring ranks one sends its particles to the other. Each rank sends to about half of
 * its neighbours. */
static inline bool fof_sends_to(int from, int to) { return ((from + to) % 2 == 0) == (from > to); }

#endif
