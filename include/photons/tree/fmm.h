/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cartesian fast multipole operators of order p = 1 .. 6 on the tree of one group. Lengths
 * are in units of r_cut, masses in units of particles.mass.
 *
 * Multi-indices n = (nx, ny, nz) are ordered by degree |n|, inside a degree by falling nx, then
 * falling ny: 000; 100 010 001; 200 110 101 020 011 002; ... A lower order is thus a prefix of a
 * higher one.
 *
 *   M_m = sum_j m_j (-d_j)^m / m!            |m| <= p-1; d_j: particle j, of mass m_j, relative to its node's centre
 *   L_k = sum_m M_m D_{k+m}(R)           1 <= |k| <= p, |m| <= p-|k|; R = target centre - source
 *                                        centre, D_n = grad^n psi
 *   acceleration = grad sum_k L_k y^k/k! y: particle relative to its node's centre
 *
 * L_0 is the potential, which no force needs. It is stored apart and only where potentials are
 * computed; the highest degree of M, which only L_0 needs, is not stored. D_n follows by recurrence
 * (McMurchie & Davidson 1978; Dehnen 2014) from
 *   f_(n) = (1/r d/dr)^n psi = (-1)^n (2n-1)!!/r^(2n+1) - 2^n H^(n)(u)    (H, u: split.h)
 * H = 0 is Newton's gravity. */
#ifndef PHOTONS_FMM_H
#define PHOTONS_FMM_H

#include <stdint.h>

#include "photons/domain/tree.h"
#include "photons/tree/interaction_list.h"
#include "photons/tree/split.h"

/** m2m and l2l work on so many nodes of a level at a time, at most (the lanes of AVX-512): 2 to the power of this. */
enum { FMM_NODES_LOG2 = 4 };

/** Number of coefficients of degree <= p in three variables. */
static HOST_DEVICE inline uint32_t fmm_terms(int p) {
  return (uint32_t)((p + 1) * (p + 2) * (p + 3) / 6);
}
/** Floats per node of multipoles and of local expansions of order p. Those of node i begin at i
 * times this number. */
static HOST_DEVICE inline uint32_t fmm_multipole_size(int p) { return fmm_terms(p - 1); }
static HOST_DEVICE inline uint32_t fmm_local_size(int p) { return fmm_terms(p) - 1; }

/** The operators, compiled once for each instruction set (kernels.h).
 * scale: units of lengths per position unit, L / 2^32 / r_cut where the unit is r_cut
 * x:     positions of the group's particles, component c at x + c * count
 * mass:  their masses; NULL: all are 1
 * nodes, multipole, local: indexed by heap node */
struct fmm_operators {
  /** Multipoles of the leaves below a node. @param root  the node; 1: all leaves */
  void (*p2m)(int order, uint32_t count, unsigned depth, uint32_t root, float scale,
              const uint32_t *x, const float *mass, const struct node *nodes, float *multipole);
  /** Multipoles of a node and of all nodes below it that are on the levels top .. depth - 1, from those of their
   * children, the lowest level first.
   * @param root   the node, on level `top` or above; 1: all nodes on these levels
   * @param depth  the level of nodes whose multipoles are there */
  void (*m2m)(int order, uint32_t root, unsigned top, unsigned depth, float scale,
              const struct node *nodes, float *multipole);
  /** Local expansions of all nodes from the far list; `local` is overwritten. Targets of the list
   * are heap nodes, so far->offset has tree_nodes(depth) + 1 entries.
   * depth, source_depth: of the trees of the targets and of the sources
   * source_nodes[slot], source_multipole[slot]: nodes and multipoles of the group's neighbours */
  void (*m2l)(int order, unsigned depth, unsigned source_depth, float scale,
              const struct split *split, const struct interaction_list *far,
              const struct node *nodes, const struct node *const *source_nodes,
              const float *const *source_multipole, float *local);
  /** Add the expansions of a node and of all nodes below it that are on the levels top .. depth - 1 to those of their
   * children, the highest level first. The arguments are those of m2m. */
  void (*l2l)(int order, uint32_t root, unsigned top, unsigned depth, float scale,
              const struct node *nodes, float *local);
  /** acceleration += factor * gradient of the leaf's expansion, for the particles below a node. Component c at
   * acceleration + c * count. `first`: table of the leaves (tree.h), or NULL. @param root  the node; 1: all particles */
  void (*l2p)(int order, uint32_t count, unsigned depth, const uint32_t *first, uint32_t root,
              float scale, float factor, const uint32_t *x, const struct node *nodes,
              const float *local, float *acceleration);

  /* The potential psi of unit masses, in units of 1/length, for Newton's gravity: */
  /** L_0 of all nodes from the far list, with |m| <= p-1; the arguments are those of m2l.
   * @param[out] constant  [tree_nodes(depth)] */
  void (*m2l_potential)(int order, unsigned depth, unsigned source_depth, float scale,
                        const struct split *split, const struct interaction_list *far,
                        const struct node *nodes, const struct node *const *source_nodes,
                        const float *const *source_multipole, float *constant);
  /** Add the potential of the far list to that of the particles, after l2l.
   * @param factor             multiplies the potential of the far list
   * @param[in,out] constant   of m2l_potential; becomes the sum over a node and all above it
   * @param[in,out] potential  [count] */
  void (*l2p_potential)(int order, uint32_t count, unsigned depth, float scale, float factor,
                        const uint32_t *x, const struct node *nodes, const float *local,
                        float *constant, float *potential);
};

#endif
