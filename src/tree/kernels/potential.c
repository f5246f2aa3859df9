/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of isolated systems from expansions. Forces need no L_0 (fmm.h), the potential at
 * the centres of the targets. Here it is made from the far list, and with the other terms of the
 * local expansions it gives the potential of particles. */
#include <stddef.h>

#include "photons/tree/fmm.h"
#include "photons/tree/kernels.h"

#include "fmm_lanes.h"

struct sources {
  unsigned depth; /* of their trees */
  const struct node *const *nodes;
  const float *const *multipole;
};

/** L_0 of a target from up to LANES entries of its list, a lane each. */
INLINE void add_entries(int p, float scale, const struct split *split, const struct node *target,
                        const struct sources *sources, const uint32_t *entry, uint32_t entries,
                        vfloat *sum) {
  static const float no_multipole[MULTIPOLE_MAX];
  const int size = (int)fmm_multipole_size(p);
  const vblock far_away = (vblock)(vblock_uint){1u << 30};
  ALIGNED float rows[(MULTIPOLE_MAX + 3) / 4 * STAGE], centres[STAGE];
  vfloat r[4], m[MULTIPOLE_MAX], e[FMM_ORDER_MAX + 1];
  for (int lane = 0; lane < LANES; lane++) {
    const bool used = (uint32_t)lane < entries;
    const uint32_t slot = used ? entry[lane] >> (sources->depth + 1) : 0,
                   node = used ? entry[lane] & (tree_nodes(sources->depth) - 1) : 0;
    const float *row = sources->multipole[slot] + (size_t)node * (size_t)size;
    stage_row(used ? row : no_multipole, size, rows, lane);
    store_block(stage_lane(centres, lane),
                used ? centre_difference(target, &sources->nodes[slot][node]) : far_away);
  }
  lengths(centres, scale, r);
  const vfloat r2 = v_fma(r[0], r[0], v_fma(r[1], r[1], r[2] * r[2])), inverse = inverse_root(r2);
  m2l_newton(p, split, r2, inverse, e);
  stage_to_lanes(rows, size, m);
  EXPANSION(p, m2l_potential, r[0] * inverse, r[1] * inverse, r[2] * inverse, inverse, e, m, sum);
}

INLINE void m2l_order(int p, unsigned depth, float scale, const struct split *split,
                      const struct interaction_list *far, const struct node *nodes,
                      const struct sources *sources, float *constant) {
  for (uint32_t target = 1; target < tree_nodes(depth); target++) {
    const uint32_t end = far->offset[target + 1];
    vfloat sum = v_set(0.0f);
    for (uint32_t i = far->offset[target]; i < end; i += LANES)
      add_entries(p, scale, split, &nodes[target], sources, far->entry + i, end - i, &sum);
    constant[target] = v_sum(sum);
  }
}

/** Add to every node's L_0 the potential of its parent's expansion at its centre, from the root
 * down. */
INLINE void l2l_order(int p, unsigned depth, float scale, const struct node *nodes,
                      const float *local, float *constant) {
  for (uint32_t node = 2; node < tree_nodes(depth); node++) {
    const uint32_t parent = node / 2;
    vfloat d[3], sum = v_set(0.0f);
    for (int c = 0; c < 3; c++)
      d[c] = v_set((float)position_difference(nodes[node].centre[c], nodes[parent].centre[c]) *
                   scale);
    EXPANSION(p, l2p_potential, local + (size_t)parent * fmm_local_size(p), d[0], d[1], d[2], &sum);
    constant[node] += constant[parent] + sum[0];
  }
}

INLINE void l2p_order(int p, uint32_t count, unsigned depth, float scale, float factor,
                      const uint32_t *x, const struct node *nodes, const float *local,
                      const float *constant, float *potential) {
  for (uint32_t leaf = 1u << depth; leaf < tree_nodes(depth); leaf++) {
    const uint32_t *centre = nodes[leaf].centre, end = node_end(count, leaf);
    for (uint32_t i = node_first(count, leaf); i < end; i += LANES) {
      const vmask valid = v_first(end - i);
      vfloat d[3], sum = v_set(constant[leaf]);
      for (size_t c = 0; c < 3; c++)
        d[c] = v_set(scale) * v_difference(x + c * count + i, centre[c], valid);
      EXPANSION(p, l2p_potential, local + (size_t)leaf * fmm_local_size(p), d[0], d[1], d[2], &sum);
      v_add_to(potential + i, valid, v_set(factor) * sum);
    }
  }
}

#define INSTANCE(p)                                                                            \
  NOINLINE void m2l_order_##p(unsigned depth, float scale, const struct split *split,          \
                              const struct interaction_list *far, const struct node *nodes,    \
                              const struct sources *sources, float *constant) {                \
    m2l_order(p, depth, scale, split, far, nodes, sources, constant);                          \
  }                                                                                            \
  NOINLINE void l2p_order_##p(uint32_t count, unsigned depth, float scale, float factor,       \
                              const uint32_t *x, const struct node *nodes, const float *local, \
                              float *constant, float *potential) {                             \
    l2l_order(p, depth, scale, nodes, local, constant);                                        \
    l2p_order(p, count, depth, scale, factor, x, nodes, local, constant, potential);           \
  }
INSTANCE(1)
INSTANCE(2)
INSTANCE(3)
INSTANCE(4)
INSTANCE(5)
INSTANCE(6)

void KERNEL(fmm_m2l_potential)(int order, unsigned depth, unsigned source_depth, float scale,
                               const struct split *split, const struct interaction_list *far,
                               const struct node *nodes, const struct node *const *source_nodes,
                               const float *const *source_multipole, float *constant) {
  const struct sources sources = {source_depth, source_nodes, source_multipole};
  EXPANSION(order, m2l_order, depth, scale, split, far, nodes, &sources, constant);
}

void KERNEL(fmm_l2p_potential)(int order, uint32_t count, unsigned depth, float scale, float factor,
                               const uint32_t *x, const struct node *nodes, const float *local,
                               float *constant, float *potential) {
  EXPANSION(order, l2p_order, count, depth, scale, factor, x, nodes, local, constant, potential);
}
