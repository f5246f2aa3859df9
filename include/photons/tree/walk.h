/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The refit of a group's tree to its particles, the acceptance criterion for pairs of nodes, and
 * the dual walk that makes the interaction lists. */
#ifndef PHOTONS_WALK_H
#define PHOTONS_WALK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/config/choices.h"
#include "photons/domain/geometry.h"
#include "photons/domain/tree.h"
#include "photons/tree/interaction_list.h"
#include "photons/tree/split.h"

#define MAC_TABLE 128 /* entries of the error table, distances 0 .. r_cut */

/** The criterion by which two nodes may interact through their expansions. Lengths are in units of
 * r_cut, accelerations in units of G m / r_cut^2. */
struct acceptance {
  enum mac_kind kind; /**< relative: besides the limit theta, the estimated error must be below
                       *   tolerance * |a|; gothic: (m/d^2) (size/d)^2 must be below that */
  float theta;
  float theta_first; /**< theta while accelerations are unknown (acc_min = 0) */
  float tolerance;
  int order;
  float separation; /**< least gap between the boxes: beyond the softening, and far from float
                     *   overflow */
  float half_box;   /**< L/2; infinite in isolated systems, which have no images */
  int exponent;     /**< of size/d in the estimate of the error */
  float factor;     /**< its factor, where the force is Newton's */
  /** Tolerance for the sum of the errors of the larger node's expansion, open_where_errors_add_up();
   * infinite in periodic boxes and with other kinds. See walk_bounds_sums(). */
  float sum_tolerance;
  bool newton;    /**< the force is Newton's at all distances: no table of its derivative */
  float scale;    /**< units of r_cut per position unit */
  unsigned depth; /**< of the trees of the sources */
  /** |d^(order+1) psi/dr^(order+1)| / order! at r = i / MAC_TABLE, made monotonic. Times
   * M_B (r_A + r_B)^order it bounds the first term of the force that expansions of this order leave
   * out (Dehnen 2014, section 3). */
  float derivative[MAC_TABLE + 1];
};

/**
 * Set up an acceptance criterion.
 * @param order               of the expansions, 1 .. FMM_ORDER_MAX
 * @param softening_support   distance, Mpc/h, beyond which the force is Newton's
 * @param box                 L, Mpc/h
 * @param depth               of the trees
 */
void acceptance_init(struct acceptance *a, enum mac_kind kind, double theta, double tolerance,
                     int order, double softening_support, double box, unsigned depth,
                     const struct split *split);
/** In isolated systems also bound the sum of the errors of each node's own expansion: to three times
 * the tolerance. */
void acceptance_bound_sums(struct acceptance *a);

enum verdict { DROP, ACCEPT, OPEN };

/** a * b, never fused with a following sum: if one CUDA kernel fused it and another did not, they
 * could judge a pair of nodes differently. */
static HOST_DEVICE inline float plain_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/** The verdict without expansions: whether a pair of nodes is to be opened. */
static HOST_DEVICE inline bool nodes_in_reach(float scale, const struct node *t,
                                              const struct node *s) {
  float gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    const float d = plain_product(fabsf((float)position_difference(s->centre[c], t->centre[c])),
                                  scale);
    const float gap = fmaxf(d - (t->half[c] + s->half[c]), 0.0f);
    gap2 += plain_product(gap, gap);
  }
  return gap2 < R_CUT_SQUARED;
}

/**
 * Weight of packed targets, in units of particles.mass, where pairs of nodes are judged. A force on
 * them gives no acceleration to the sources, so that its error there does not matter. But the more of
 * the particles are active, the more of the errors of both nodes cancel in the sums of momentum and
 * energy if a pair is judged for both. With this power the energies of a Plummer sphere and of M31
 * change as with a weight of 1, at 0.94 and 0.72 of the pairs. In periodic boxes expansions save little
 * in sub-steps, and the weight is 1.
 * @param a       the criterion
 * @param active  targets of a group
 * @param all     its particles
 */
static inline float packed_weight(const struct acceptance *a, uint32_t active, uint32_t all) {
  const double share = (double)active / (double)all;
  return a->newton ? (float)(share * share * share) : 1.0f;
}

/**
 * Whether a walk bounds sums of errors. It does where a quarter of a group's particles or more are targets. Fewer targets are far
 * from each other, so that their leaves are wide whatever is around: with bounds such walks would open nearly all nodes, in lists
 * whose lengths are not foreseen.
 * @param active  targets of a group
 * @param all     its particles
 */
static inline bool walk_bounds_sums(const struct acceptance *a, uint32_t active, uint32_t all) {
  return a->sum_tolerance < INFINITY && active >= all / 4;
}

/**
 * Leaves of the smaller node of a pair, the number by which the error that is allowed to the pair is
 * divided. All particles of a node have the same error of a force, so that the error's torque grows with
 * the smaller node of both, and the angular momentum of isolated systems changes by it. Pairs of large
 * nodes are few. In periodic boxes and with GOTHIC's criterion: 1.
 * @param target, source  the nodes; packed targets are divided as their whole group is
 */
static HOST_DEVICE inline float shared_leaves(const struct acceptance *a, uint32_t target,
                                              uint32_t source) {
  if (!a->newton || a->kind != MAC_RELATIVE) return 1.0f;
  const uint32_t leaves = (1u << a->depth) >> node_level(target > source ? target : source);
  return leaves > 1 ? (float)leaves : 1.0f;
}

/** Judge a pair of nodes: out of reach (DROP), to be computed by expansions (ACCEPT), or to be
 * opened (OPEN). The verdict is the same with target and source exchanged, and so is the order of
 * opening: expansions between A and B act both ways, so that momentum is conserved.
 * @param target_mass, source_mass  in units of particles.mass: numbers of particles of equal mass;
 *                                  of packed targets see packed_weight()
 * @param leaves                    of the smaller node: see shared_leaves() */
static HOST_DEVICE inline enum verdict judge(const struct acceptance *a, const struct node *t,
                                             const struct node *s, float target_mass,
                                             float source_mass, float leaves) {
  float d2 = 0.0f, gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = plain_product(fabsf((float)position_difference(s->centre[c], t->centre[c])),
                            a->scale);
    float gap = fmaxf(d - (t->half[c] + s->half[c]), 0.0f);
    d2 += plain_product(d, d);
    gap2 += plain_product(gap, gap);
  }
  if (gap2 >= R_CUT_SQUARED) return DROP;
  float size = t->radius + s->radius, weakest = fminf(t->acc_min, s->acc_min);
  /* Beyond r_cut the expansion of psi does not hold. Nodes as wide as the box meet more than one
   * image. */
  if (d2 >= R_CUT_SQUARED || gap2 <= a->separation * a->separation || size + R_CUT > a->half_box)
    return OPEN;
  float theta = a->kind != MAC_GEOMETRIC && weakest <= 0.0f ? a->theta_first : a->theta;
  if (size * size >= theta * theta * d2) return OPEN;
  if (a->kind == MAC_GEOMETRIC || weakest <= 0.0f) return ACCEPT;
  const float d = sqrtf(d2);
  float power = leaves * (a->newton ? a->factor / d2 : a->derivative[(int)(d * MAC_TABLE)]);
  const float factor = a->newton ? size / d : size;
  for (int k = 0; k < a->exponent; k++) power *= factor;
  return power * source_mass <= a->tolerance * t->acc_min &&
                 power * target_mass <= a->tolerance * s->acc_min
             ? ACCEPT
             : OPEN;
}

/**
 * Whether the target, and not the source, of a pair of nodes is to be opened. At least one of the
 * nodes is not a leaf.
 * @param target_depth, source_depth  of their trees
 */
static HOST_DEVICE inline bool opens_target(unsigned target_depth, uint32_t t, float target_radius,
                                            unsigned source_depth, uint32_t s,
                                            float source_radius) {
  return s >= 1u << source_depth || (t < 1u << target_depth && target_radius >= source_radius);
}

/** Parts of a walk, which workers without a task may take (parts.h): parts of the group itself, and ranges of other sources,
 * each with one source in most walks, since the nearest ones take many times as long as others. */
enum {
  WALK_PARTS_OWN = 8,
  WALK_PARTS_OTHERS = 32,
  WALK_PARTS = WALK_PARTS_OWN + WALK_PARTS_OTHERS
};

/** Pairs (target, entry) in the order in which a part of a walk finds them, before they are sorted into
 * lists. */
struct walk_pairs {
  uint32_t *pair[2]; /**< [near, far] target, entry, target, entry ... */
  size_t count[2], capacity[2];
};
/** Each worker has one; it starts zero-initialised. */
struct walk_scratch {
  struct walk_pairs part[WALK_PARTS];
};
/** Free the buffers. */
void walk_scratch_free(struct walk_scratch *s);
/** Make room for at least n more pairs of a list (0: near, 1: far). */
void walk_pairs_reserve(struct walk_pairs *p, int list, size_t n);

struct walk_result {
  uint64_t pairs;        /**< particle pairs on the near list, including pairs beyond r_cut */
  uint64_t interactions; /**< entries of the far list */
  uint64_t entries;      /**< entries of the near list */
  uint64_t visits;       /**< pairs of nodes judged */
  uint32_t
      lacks; /**< a node of a source that was to be opened, and what is below it is not here; 0: none */
  uint32_t longest;               /**< of a walk on a GPU: entries of the longest list */
  uint32_t near_blocks, far_kept; /**< of a walk on a GPU that keeps entries: blocks and entries */
  uint32_t written; /**< of a walk on a GPU: whether the lists had room, and have their entries */
};

/** End the run if a walk lacks what is below a node of a source: the owner has not sent it, or the node is above groups. */
void walk_check(const struct walk_result *result);

struct walk_kernels {
  /**
   * Pack the active particles of a group, those with rung >= top, in their order.
   * Component c of a packed array stands at array + c * active.
   * @param active  their number
   * @param depth   of their tree
   * @param[out] index  [active] where they stand in the group
   * @param[out] first  [2^depth + 1] table of the leaves (tree.h): leaf j holds the active ones of
   *         the group's particles [level_first(count, depth, j), level_first(count, depth, j + 1))
   * @return how many there are
   */
  uint32_t (*pack)(uint32_t count, const uint8_t *rung, uint8_t top, const uint32_t *x,
                   const float *acceleration, uint32_t active, unsigned depth, uint32_t *index,
                   uint32_t *first, uint32_t *packed_x, float *packed_acceleration);
  /** Compute boxes, radii and acc_min of a node and of all nodes below it from the particles. The array
   * acceleration has the layout of x; times acc_unit it is in units of G m / r_cut^2. With a table
   * `first` (tree.h), nodes without particles have no meaning.
   * @param root   the node; 1: all nodes
   * @param least  acc_min of a leaf is the least |acceleration| of its particles that is not 0. Else it
   *               is their rms, with which boxes have the same errors for the same work */
  void (*refit)(uint32_t count, unsigned depth, const uint32_t *first, uint32_t root, float scale,
                float acc_unit, bool least, const uint32_t *x, const float *acceleration,
                struct node *nodes);
  /** Compute the node above two nodes. */
  void (*join)(float scale, const struct node *a, const struct node *b, struct node *parent);
  /**
   * Make the lists of one group's targets (targets.h). Targets of the near list are leaves
   * (2^depth), those of the far list all heap nodes (tree_nodes(depth)).
   * @param count, depth, first, nodes  number of the targets, and their tree (tree.h)
   * @param slots        number of neighbours, the group itself first
   * @param source_nodes [slots] their trees
   * @param slot_count   [slots] numbers of their particles
   * @param slot_mass    [slots] masses of their nodes; NULL: those of all particles are 1
   * @param slot_part    [slots] what is here of them, or NULL, all; NULL: all of all. Lists of a walk that `lacks` more
   *         are short of it: walk_check()
   */
  struct walk_result (*walk)(const struct acceptance *a, uint32_t count, unsigned depth,
                             const uint32_t *first, const struct node *nodes, uint32_t slots,
                             const struct node *const *source_nodes, const uint32_t *slot_count,
                             const float *const *slot_mass,
                             const struct tree_part *const *slot_part, struct walk_scratch *scratch,
                             struct interaction_list *near, struct interaction_list *far);
};

#endif
