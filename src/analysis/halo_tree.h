/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A binary tree over the particles of one halo, or of a part of it. In phase space it finds nearest neighbours (halo_near.h).
 * In positions it finds the particles near a subhalo, and gives the order that halo_sources.h needs.
 * Nodes are cut in two by the median along the longest side of their box; their order is that of
 * photons/domain/tree.h. */
#ifndef PHOTONS_HALO_TREE_H
#define PHOTONS_HALO_TREE_H

#include "halo_body.h"
#include "photons/analysis/kernels.h"

struct halo_node {
  double low[HALO_AXES], high[HALO_AXES]; /**< box of its particles */
};

/** Particles are known by their numbers among those that the tree was made of; place: their place in
 * the order of the tree. */
struct halo_tree {
  uint32_t count;
  unsigned depth;
  int axes;               /**< 3: of positions; 6: of phase space */
  uint32_t *body;         /**< [place] the particle's number */
  double (*x)[HALO_AXES]; /**< [place] positions over a time, and velocities; NULL: of positions */
  float *single;          /**< of phase space: [axis][place] x rounded, see halo_tree_single() */
  struct halo_node *node; /**< heap order; node 1 is the root */
};

/** loop_parts() of halos: run function(context, i) for i < n, with the help of workers that have nothing to do. */
void halo_loop(uint32_t n, void (*function)(void *context, uint32_t i), void *context);

/** @param n       particles, 1 .. 2^32 - 1
 *  @param time    of a tree of phase space, Mpc/h / (km/s): distances there are of sqrt(v^2 + (x/time)^2); 0: a tree of
 *                 positions */
struct halo_tree halo_tree_create(size_t n, const struct halo_body *b, double time);
void halo_tree_free(struct halo_tree *t);
/** Free all but the numbers of the particles. */
void halo_tree_free_nodes(struct halo_tree *t);

/** Rounded coordinates along an axis of a tree of phase space: [place], with HALO_SINGLE_PADDING numbers behind them. */
float *halo_tree_single(const struct halo_tree *t, int axis);

/** At least what rounding changes of the distance of two particles. */
double halo_tree_rounding(const struct halo_tree *t);

#endif
