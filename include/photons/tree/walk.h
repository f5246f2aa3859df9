/* Refit of a group's tree to its particles, and the dual walk that makes the interaction lists. */
#ifndef PHOTONS_WALK_H
#define PHOTONS_WALK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/domain/geometry.h"
#include "photons/base/host_device.h"
#include "photons/config/choices.h"
#include "photons/tree/interaction_list.h"
#include "photons/tree/split.h"
#include "photons/domain/tree.h"

#define MAC_TABLE 128 /* entries of the error table over distances 0 .. r_cut */

/** When two nodes may interact through their expansions. Lengths in r_cut, accelerations in G m / r_cut^2. */
struct acceptance {
  enum mac_kind kind; /**< relative: theta bounds it, and the estimated error stays below tolerance * |a| */
  float theta;
  float theta_first; /**< geometric angle while accelerations are unknown (acc_min = 0) */
  float tolerance;
  int order;
  float separation; /**< least distance of the boxes: beyond softening, and far from overflow */
  float half_box;   /**< L/2 */
  float scale;      /**< r_cut units per position unit */
  unsigned depth;
  /** |d^(order+1) psi/dr^(order+1)| / order! at r = i / MAC_TABLE, made monotone: times n_B (r_A + r_B)^order
   * it bounds the first term of the force that expansions of this order leave out (Dehnen 2014, section 3). */
  float derivative[MAC_TABLE + 1];
};

void acceptance_init(struct acceptance *a, enum mac_kind kind, double theta, double tolerance, int order,
                     double softening_support, double box, unsigned depth, const struct split *split);

enum verdict { DROP, ACCEPT, OPEN };

/** a * b as it is: were it fused with a sum in one CUDA kernel and not in another, these could come to different verdicts. */
static HOST_DEVICE inline float plain_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/** Is the interaction of two nodes nothing (out of reach), one of expansions, or to be opened? The answer is the same with target and
 * source exchanged, and so is the order of opening: what A takes from B by expansion B takes from A, and momentum is conserved. */
static HOST_DEVICE inline enum verdict judge(const struct acceptance *a, const struct node *t, const struct node *s,
                                             uint32_t target_count, uint32_t source_count) {
  float d2 = 0.0f, gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = plain_product(fabsf((float)position_difference(s->centre[c], t->centre[c])), a->scale);
    float gap = fmaxf(d - (t->half[c] + s->half[c]), 0.0f);
    d2 += plain_product(d, d);
    gap2 += plain_product(gap, gap);
  }
  if (gap2 >= R_CUT_SQUARED) return DROP;
  float size = t->radius + s->radius, weakest = fminf(t->acc_min, s->acc_min);
  /* beyond r_cut the expansion of psi does not hold; nodes as wide as the box meet more than one image */
  if (d2 >= R_CUT_SQUARED || gap2 <= a->separation * a->separation || size + R_CUT > a->half_box) return OPEN;
  float theta = a->kind == MAC_RELATIVE && weakest <= 0.0f ? a->theta_first : a->theta;
  if (size * size >= theta * theta * d2) return OPEN;
  if (a->kind == MAC_GEOMETRIC || weakest <= 0.0f) return ACCEPT;
  float power = a->derivative[(int)(sqrtf(d2) * MAC_TABLE)];
  for (int k = 0; k < a->order; k++) power *= size;
  return power * (float)source_count <= a->tolerance * t->acc_min &&
                 power * (float)target_count <= a->tolerance * s->acc_min
             ? ACCEPT
             : OPEN;
}

/** Of two nodes whose interaction is to be opened: which is? @param depth of their trees; not both are leaves */
static HOST_DEVICE inline bool opens_target(unsigned depth, uint32_t t, float target_radius, uint32_t s,
                                            float source_radius) {
  const uint32_t leaves = 1u << depth;
  return s >= leaves || (t < leaves && target_radius >= source_radius);
}

/** Pairs of (target, entry) as the walk finds them, before they are sorted into lists; one a worker, zero-initialise. */
struct walk_scratch {
  uint32_t *pair[2]; /**< near and far: target, entry, target, entry ... */
  size_t count[2], capacity[2];
};
void walk_scratch_free(struct walk_scratch *s);
/** Room for at least n more pairs. */
void walk_scratch_reserve(struct walk_scratch *s, int list, size_t n);

struct walk_result {
  uint64_t pairs;        /**< particle pairs on the near list, before the cut at r_cut */
  uint64_t interactions; /**< entries of the far list */
  uint64_t entries;      /**< of the near list */
  uint64_t visits;       /**< pairs of nodes looked at */
};

struct walk_kernels {
  /** Boxes, radii and acc_min of all nodes from the particles. acceleration (same layout as x) times acc_unit is in G m / r_cut^2. */
  void (*refit)(uint32_t count, unsigned depth, float scale, float acc_unit, const uint32_t *x,
                const float *acceleration, struct node *nodes);
  /**
   * Lists of one group: near has leaves as targets (2^depth), far all heap nodes (tree_nodes(depth)).
   * @param slots        number of neighbours, the group itself first
   * @param source_nodes [slots] their trees
   * @param slot_count   [slots] their particles
   */
  struct walk_result (*walk)(const struct acceptance *a, uint32_t count, const struct node *nodes, uint32_t slots,
                             const struct node *const *source_nodes, const uint32_t *slot_count,
                             struct walk_scratch *scratch, struct interaction_list *near, struct interaction_list *far);
};

#endif
