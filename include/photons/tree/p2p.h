/* Direct short-range forces between the particles of leaves: the kernel's parameters and the sources' gather. */
#ifndef PHOTONS_P2P_H
#define PHOTONS_P2P_H

#include <stddef.h>
#include <stdint.h>

#include "photons/config/choices.h"
#include "photons/domain/tree.h"
#include "photons/tree/interaction_list.h"
#include "photons/tree/split.h"
#include "photons/domain/tree.h"

/** What the force between two particles depends on. Lengths in r_cut, unit masses. */
struct p2p_law {
  enum p2p_kind kind;
  enum softening_kind softening_kind;
  const struct split *split;
  float support2;  /**< spline: square of the radius 2.8 epsilon inside which the force is softened; plummer: 0 */
  float plummer2;  /**< plummer: epsilon^2; spline: 0 */
  int table_order; /**< of the table kernel */
};

/** @param softening Plummer-equivalent length in Mpc/h (comoving) */
void p2p_law_init(struct p2p_law *law, enum p2p_kind kind, enum softening_kind softening_kind, double softening,
                  int table_order, const struct split *split);

/** One group as the target of direct forces. */
struct p2p_target {
  uint32_t count;           /**< particles */
  unsigned depth;           /**< of its tree (and of every neighbour's) */
  float scale;              /**< r_cut units per position unit */
  float factor;             /**< multiplies the result: G m / r_cut^2 */
  const uint32_t *x;        /**< positions, component c at x + c * count */
  const struct node *nodes; /**< its tree */
  const struct interaction_list
      *near; /**< target: leaf (index in its level); entries: (slot << (depth + 1)) | source node */
  const uint32_t *const *source_x; /**< [slot] positions of the neighbours */
  const uint32_t *source_count;    /**< [slot] their particles */
};

/** Targets that share one list of sources in the pair loop: the leaf is halved down to blocks of at most this many, and each
 * half keeps only the sources in its reach. The particles of a leaf are sorted by further bisection for this. */
#define P2P_BLOCK TREE_BLOCK

/** Growing buffers for gathered sources, one list a level of halving; one set a worker, zero-initialise. */
struct p2p_scratch {
  float *data;
  size_t capacity; /**< sources a list, and levels of lists */
  unsigned levels;
};
void p2p_scratch_reserve(struct p2p_scratch *s, size_t sources, unsigned levels);
void p2p_scratch_free(struct p2p_scratch *s);

struct p2p_kernels {
  /**
   * acceleration (component c at + c * count) = factor * sum over the near list, overwritten.
   * @return pairs computed: targets times the sources within r_cut of the box of their block
   */
  uint64_t (*p2p)(const struct p2p_law *law, const struct p2p_target *target, struct p2p_scratch *scratch,
                  float *acceleration);
};

/** The same in double precision with the exact T(x), pair by pair: the reference (p2p_kernel = exact). */
uint64_t p2p_exact(const struct p2p_law *law, const struct p2p_target *target, float *acceleration);

/** Softened Newtonian factor F/d in units of 1/support^3 ... of Springel et al. (2001)'s spline at q = r/support in [0, 1). */
static HOST_DEVICE inline double spline_factor(double q) {
  return q < 0.5 ? 32.0 / 3.0 + q * q * (32.0 * q - 38.4)
                 : 64.0 / 3.0 - 48.0 * q + 38.4 * q * q - 32.0 / 3.0 * q * q * q - 1.0 / (15.0 * q * q * q);
}

#endif
