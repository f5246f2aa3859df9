/* Cartesian fast multipole operators of order p = 1 .. 6 on the tree of one group, unit masses, lengths in r_cut.
 *
 * Multi-indices n = (nx, ny, nz) are ordered by degree |n|, inside a degree by nx falling, then ny falling:
 * 000; 100 010 001; 200 110 101 020 011 002; ... so that a lower order is a prefix of a higher one.
 *   M_m = sum_j (-d_j)^m / m!,  |m| <= p-1        d_j: particle j relative to its node's centre
 *   L_k = sum_m M_m D_{k+m}(R), 1 <= |k| <= p, |m| <= p-|k|    R = target centre - source centre, D_n = grad^n psi
 *   acceleration = grad sum_k L_k y^k / k!       y: particle relative to its node's centre
 * L_0 is the potential, which no force needs: it is not kept, and with it falls the highest degree of M.
 * D_n from f_(n) = (1/r d/dr)^n psi = (-1)^n (2n-1)!!/r^(2n+1) - 2^n H^(n)(u) (split.h) by recurrence
 * (McMurchie & Davidson 1978; Dehnen 2014). With H = 0 it is Newton's gravity. */
#ifndef PHOTONS_FMM_H
#define PHOTONS_FMM_H

#include <stdint.h>

#include "photons/tree/interaction_list.h"
#include "photons/tree/split.h"
#include "photons/domain/tree.h"

/** Coefficients of degree <= p in three variables. */
static HOST_DEVICE inline uint32_t fmm_terms(int p) { return (uint32_t)((p + 1) * (p + 2) * (p + 3) / 6); }
/** Floats a node: multipole and local expansion of order p. Node i's stand at i * that. */
static HOST_DEVICE inline uint32_t fmm_multipole_size(int p) { return fmm_terms(p - 1); }
static HOST_DEVICE inline uint32_t fmm_local_size(int p) { return fmm_terms(p) - 1; }

/** Operators, compiled once an instruction set (kernels.h). `scale` is r_cut units per position unit: L / 2^32 / r_cut.
 * x: positions of the group, component c at x + c * count. nodes, multipole and local are indexed by heap node. */
struct fmm_operators {
  /** Multipoles of all leaves. */
  void (*p2m)(int order, uint32_t count, unsigned depth, float scale, const uint32_t *x, const struct node *nodes,
              float *multipole);
  /** Multipoles of all inner nodes, from the leaves up. */
  void (*m2m)(int order, unsigned depth, float scale, const struct node *nodes, float *multipole);
  /** Local expansions of all nodes from the far list (targets are heap nodes: offset has tree_nodes(depth)+1 entries); L is overwritten.
   * source_nodes[slot], source_multipole[slot]: tables of the neighbours. */
  void (*m2l)(int order, unsigned depth, float scale, const struct split *split, const struct interaction_list *far,
              const struct node *nodes, const struct node *const *source_nodes, const float *const *source_multipole,
              float *local);
  /** Shift every inner node's expansion to its children (added), from the root down. */
  void (*l2l)(int order, unsigned depth, float scale, const struct node *nodes, float *local);
  /** acceleration += factor * grad of the leaf's expansion; acceleration: component c at + c * count. */
  void (*l2p)(int order, uint32_t count, unsigned depth, float scale, float factor, const uint32_t *x,
              const struct node *nodes, const float *local, float *acceleration);
};

#endif
