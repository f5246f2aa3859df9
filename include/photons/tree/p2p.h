/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Direct short-range forces between the particles of leaves (P2P): the force law, the target group
 * and the kernels. */
#ifndef PHOTONS_P2P_H
#define PHOTONS_P2P_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/config/choices.h"
#include "photons/domain/particles.h"
#include "photons/domain/tree.h"
#include "photons/tree/interaction_list.h"
#include "photons/tree/split.h"

/** The least softening length in units of r_cut: the resolution of float positions in a leaf.
 * Without this limit, particles at one point, and a particle's force on itself, would give 0/0. */
#define SOFTENING_LEAST 1e-6
/** Radius of the spline kernel / Plummer-equivalent softening (Springel et al. 2001). */
#define SPLINE_SUPPORT 2.8

/** The force law between two particles, for a source of mass 1. Lengths are in units of r_cut. */
struct p2p_law {
  enum p2p_kind kind;
  enum softening_kind softening_kind;
  const struct split *split;
  float support2;  /**< spline: square of the radius 2.8 epsilon inside which the force is softened;
                    *   plummer: 0 */
  float plummer2;  /**< plummer: epsilon^2; spline: 0 */
  int table_order; /**< of the table kernel */
  bool by_type; /**< types of particles have lengths of their own; of a pair the larger one counts */
  float soft2_of[PARTICLE_TYPES]; /**< by type: what support2 or plummer2 is for it */
};

/**
 * Set up a force law; `split` must outlive it.
 * @param softening  Plummer-equivalent length, Mpc/h (comoving)
 * @param table_order  of the table kernel, 0 .. TABLE_ORDER_MAX
 */
void p2p_law_init(struct p2p_law *law, enum p2p_kind kind, enum softening_kind softening_kind,
                  double softening, int table_order, const struct split *split);
/** Give types of particles softening lengths of their own.
 * @param softening  by type, as in p2p_law_init() */
void p2p_law_soften(struct p2p_law *law, const double softening[PARTICLE_TYPES]);

/** Targets of direct forces (targets.h). */
struct p2p_target {
  uint32_t count;           /**< particles */
  unsigned depth;           /**< of their tree */
  const uint32_t *first;    /**< table of its leaves (tree.h), or NULL */
  unsigned source_depth;    /**< of the trees of the sources */
  float scale;              /**< units of r_cut per position unit */
  float factor;             /**< multiplies the result: G m / r_cut^2 */
  const uint32_t *x;        /**< positions, component c at x + c * count */
  const struct node *nodes; /**< their tree */
  const struct interaction_list
      *near; /**< near list (interaction_list.h); its targets are leaves, by index in their level */
  const uint32_t *const *source_x; /**< [slot] positions of the neighbours */
  const uint32_t *source_count;    /**< [slot] numbers of their particles */
  /** [slot] their masses, where masses differ; and types, where the law is by type. Else NULL. Slot
   * 0 is the group of the targets. */
  const float *const *source_mass;
  const uint8_t *const *source_type;
  const uint32_t *index; /**< place of each target in its group; NULL: targets are the whole group */
  uint32_t leaf, leaf_end; /**< the leaves to compute, by index in their level; leaf_end = 0: all */
  bool tide;               /**< the tides of the targets are wanted, too */
};

/** Sums over the sources of a target: the three components of the acceleration, and the tide, the sum
 * of G m F/d over all sources elsewhere, where F is the force of a unit mass at the distance d. The
 * tidal tensor of one source has the eigenvalues -F/d, -F/d, and at most 2 F/d: the tide bounds the
 * change of the acceleration along a path, and its inverse root is a time in which that may change by
 * itself. Not of Newton's gravity, where far sources are in expansions. */
enum { P2P_TIDE = 3, P2P_SUMS };

/** Mass of a target. */
static inline float p2p_target_mass(const struct p2p_target *t, uint32_t i) {
  return t->source_mass ? t->source_mass[0][t->index ? t->index[i] : i] : 1.0f;
}
/** The softening of a particle, as the law's support2 or plummer2. */
static inline float p2p_soft2(const struct p2p_law *law, const uint8_t *type, uint32_t i) {
  if (type) return law->soft2_of[type[i]];
  return law->softening_kind == SOFTENING_SPLINE ? law->support2 : law->plummer2;
}
static inline float p2p_target_soft2(const struct p2p_law *law, const struct p2p_target *t,
                                     uint32_t i) {
  return p2p_soft2(law, t->source_type ? t->source_type[0] : NULL, t->index ? t->index[i] : i);
}

/** Largest number of targets that use one list of sources in the pair loop. A leaf is halved down
 * to blocks of this size, and each half keeps only the sources within its reach. The particles of a
 * leaf are sorted by further bisection for this purpose. */
#define P2P_BLOCK TREE_BLOCK

/** Numbers of a source: position, and where particles differ mass and softening. */
enum { P2P_ROWS = 5 };

/** Growing buffers for gathered sources, one list for each level of halving. Each worker has one;
 * it starts zero-initialised. */
struct p2p_scratch {
  float *data;     /**< [level][P2P_ROWS][capacity] */
  size_t capacity; /**< sources per list */
  unsigned levels;
};
/** Make room for `levels` lists of `sources` sources each; old contents are lost. */
void p2p_scratch_reserve(struct p2p_scratch *s, size_t sources, unsigned levels);
/** Free the buffers. */
void p2p_scratch_free(struct p2p_scratch *s);

struct pair_law;
struct pair_target;

struct p2p_kernels {
  /**
   * acceleration = factor * sum over the near list; overwritten.
   * Component c stands at acceleration + c * count, and the tide, in units of acceleration per r_cut,
   * at acceleration + P2P_TIDE * count.
   * @return number of pairs computed: targets times the sources within r_cut of the box of their
   *         block
   */
  uint64_t (*p2p)(const struct p2p_law *law, const struct p2p_target *target,
                  struct p2p_scratch *scratch, float *acceleration);
  /** The short-range potential psi (split.h) of the sources, softened, in units of 1/r_cut: the sum
   * over the near list of psi of a unit mass times the source's mass, without the target itself.
   * The targets must be sources, too.
   * @param[out] potential  [targets] */
  void (*potential)(const struct p2p_law *law, const struct p2p_target *target,
                    struct p2p_scratch *scratch, float *potential);
  /** The largest rates of pairs (pair_rates.h) of the targets of the leaves [leaf, leaf_end).
   * @param[out] rate  [targets] 1/step, km/s/Mpc, 0 or more */
  void (*pair_rates)(const struct pair_law *law, const struct p2p_law *forces,
                     const struct pair_target *target, float *rate);
};

/** Components of the result for these targets. */
static inline unsigned p2p_components(const struct p2p_target *t) {
  return t->tide ? P2P_SUMS : P2P_TIDE;
}

/** The same in double precision with the exact T(x) of the split, pair by pair: the reference
 * (p2p_kernel = exact). */
uint64_t p2p_exact(const struct p2p_law *law, const struct p2p_target *target, float *acceleration);

/** The softened Newtonian potential of a unit mass, 1/r far away, in units of 1/r_cut, in double
 * precision.
 * @param soft2  of the pair: the larger of both, p2p_soft2()
 * @param u      squared distance in units of r_cut^2 */
double p2p_newton_potential(const struct p2p_law *law, double soft2, double u);

/** F/d of softened Newtonian gravity, in units of 1/support^3: the spline of Springel et al. (2001)
 * at q = r/support in [0, 1). */
static HOST_DEVICE inline double spline_factor(double q) {
  return q < 0.5 ? 32.0 / 3.0 + q * q * (32.0 * q - 38.4)
                 : 64.0 / 3.0 - 48.0 * q + 38.4 * q * q - 32.0 / 3.0 * q * q * q -
                       1.0 / (15.0 * q * q * q);
}

#endif
