/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operators of the fast multipole method on the tree of one group: the loops around the
 * generated expansions (fmm_generated.h). Each operator is compiled once for each order (INSTANCE
 * below), with the order a constant. */
#include "photons/tree/fmm.h"

#include <stdbool.h>
#include <stddef.h>

#include "photons/runtime/idle_workers.h"
#include "photons/runtime/parts.h"
#include "photons/tree/kernels.h"

#include "fmm_lanes.h"

/* P2M: multipoles of the leaves from their particles. */

INLINE void p2m_order(int p, uint32_t count, unsigned depth, uint32_t root, float scale,
                      const uint32_t *x, const float *mass, const struct node *nodes,
                      float *multipole) {
  const int size = (int)fmm_multipole_size(p);
  const unsigned levels = depth - node_level(root);
  for (uint32_t leaf = root << levels; leaf < (root + 1) << levels; leaf++) {
    const uint32_t *centre = nodes[leaf].centre, end = node_end(count, leaf);
    vfloat m[MULTIPOLE_MAX];
    for (int k = 0; k < (size < 4 ? 4 : size); k++) m[k] = v_set(0.0f);
    for (uint32_t i = node_first(count, leaf); i < end; i += LANES) {
      vmask valid = v_first(end - i);
      vfloat d[3];
      for (size_t c = 0; c < 3; c++)
        d[c] = v_set(-scale) * v_difference(x + c * count + i, centre[c], valid);
      vfloat of_one = v_set(1.0f);
      if (mass) {
        float masses[LANES] = {0.0f};
        memcpy(masses, mass + i, (end - i < LANES ? end - i : LANES) * sizeof *mass);
        of_one = v_load(masses);
      }
      EXPANSION(p, p2m, d[0], d[1], d[2], v_keep(valid, of_one), m);
    }
    sum_lanes(m, size, multipole + (size_t)leaf * (size_t)size);
  }
}

/* M2M: multipoles of parents from those of their children, for a vector of parents at a time. */

INLINE void m2m_order(int p, uint32_t root, unsigned top, unsigned depth, float scale,
                      const struct node *nodes, float *multipole) {
  const int size = (int)fmm_multipole_size(p);
  ALIGNED float rows[ROW_STAGE_MAX], centres[STAGE];
  for (unsigned level = depth; level-- > top;) {
    const unsigned below = level - node_level(root);
    const uint32_t last = ((root + 1) << below) - 1;
    for (uint32_t first = root << below; first <= last; first += LANES) {
      vfloat m[MULTIPOLE_MAX];
      for (int k = 0; k < (size < 4 ? 4 : size); k++) m[k] = v_set(0.0f);
      for (uint32_t child = 0; child < 2; child++) {
        vfloat c[MULTIPOLE_MAX], r[4];
        for (int lane = 0; lane < LANES; lane++) { /* lanes without a node repeat the last one */
          uint32_t parent = first + (uint32_t)lane < last ? first + (uint32_t)lane : last,
                   node = 2 * parent + child;
          stage_row(multipole + (size_t)node * (size_t)size, size, rows, lane);
          store_block(stage_lane(centres, lane), centre_difference(&nodes[parent], &nodes[node]));
        }
        stage_to_lanes(rows, size, c);
        lengths(centres, scale, r);
        EXPANSION(p, m2m, r[0], r[1], r[2], c, m);
      }
      lanes_to_stage(m, size, rows);
      for (int lane = 0; lane < LANES && first + (uint32_t)lane <= last; lane++)
        unstage_row(rows, lane, size, multipole + (size_t)(first + (uint32_t)lane) * (size_t)size);
    }
  }
}

/* M2L: local expansions from multipoles. Every lane works through the list of its own target and
 * takes the next target when that list ends. Lanes are thus idle only at the very end, and a
 * target's sum has the order of its list whatever the number of lanes. */

/** The arguments of m2l. */
struct m2l_lists {
  unsigned depth, source_depth;
  float scale;
  const struct interaction_list *far;
  const struct node *nodes;
  const struct node *const *source_nodes;
  const float *const *source_multipole;
  float *local;
  uint32_t first, end; /* nodes */
  uint32_t parts;      /* of M2L: see m2l_parts */
};

/** The state of the lanes. */
struct m2l_lanes {
  uint32_t target[LANES];                    /**< 0: no target */
  const uint32_t *entry[LANES], *end[LANES]; /**< rest of the target's list */
  uint32_t next_target;
};

/** One interaction for each lane. */
struct m2l_batch {
  ALIGNED float rows[(MULTIPOLE_MAX + 3) / 4 * STAGE];
  ALIGNED float centres[STAGE];
  uint32_t keep;     /**< bit set: the lane continues the target of the previous batch */
  uint32_t finished; /**< bit set: the previous batch was the last one for target `done` */
  uint32_t done[LANES];
};

/* A part has blocks of so many nodes that follow each other. */
enum { PART_BLOCK = 8 };

/** The node of a part that follows a node. */
static uint32_t node_after(const struct m2l_lists *s, uint32_t node) {
  return (node + 1) % PART_BLOCK > 0 ? node + 1 : node + 1 + (s->parts - 1) * PART_BLOCK;
}

/** Give a lane the next target that has a list. Local expansions of targets without one are set to
 * zero. */
static bool next_target(const struct m2l_lists *s, int size, struct m2l_lanes *lanes, int lane) {
  for (; lanes->next_target < s->end; lanes->next_target = node_after(s, lanes->next_target)) {
    const uint32_t target = lanes->next_target, *offset = s->far->offset + target;
    if (offset[0] == offset[1]) {
      memset(s->local + (size_t)target * (size_t)size, 0, (size_t)size * sizeof(float));
      continue;
    }
    lanes->target[lane] = target;
    lanes->entry[lane] = s->far->entry + offset[0];
    lanes->end[lane] = s->far->entry + offset[1];
    lanes->next_target = node_after(s, target);
    return true;
  }
  lanes->target[lane] = 0;
  return false;
}

/** Stage the next interaction of every lane; false if none is left. */
INLINE bool m2l_fill(int p, const struct m2l_lists *s, struct m2l_lanes *lanes,
                     struct m2l_batch *batch) {
  static const float no_multipole[MULTIPOLE_MAX];
  const int size = (int)fmm_multipole_size(p);
  const vblock far_away = (vblock)(vblock_uint){1u << 30};
  bool any = false;
  batch->keep = batch->finished = 0;
  for (int lane = 0; lane < LANES; lane++) {
    if (lanes->entry[lane] == lanes->end[lane]) {
      if (lanes->target[lane]) {
        batch->finished |= 1u << lane;
        batch->done[lane] = lanes->target[lane];
      }
      /* An idle lane computes zero times a finite number. */
      if (!next_target(s, (int)fmm_local_size(p), lanes, lane)) {
        stage_row(no_multipole, size, batch->rows, lane);
        store_block(stage_lane(batch->centres, lane), far_away);
        continue;
      }
    } else
      batch->keep |= 1u << lane;
    any = true;
    const uint32_t entry = *lanes->entry[lane]++, slot = entry >> (s->source_depth + 1),
                   node = entry & (tree_nodes(s->source_depth) - 1);
    stage_row(s->source_multipole[slot] + (size_t)node * (size_t)size, size, batch->rows, lane);
    store_block(stage_lane(batch->centres, lane),
                centre_difference(&s->nodes[lanes->target[lane]], &s->source_nodes[slot][node]));
  }
  return any;
}

/** e[j] = r^j f_(j), 1 <= j <= p, from r^2 and 1/r (f: fmm.h, H: split.h). Zero from fmm_range
 * on. */
INLINE void m2l_prefactors(int p, const struct split *split, vfloat r2, vfloat inverse, vfloat *e) {
  const vmask inside = v_less(r2, v_set(split->fmm_range));
  const vfloat t = v_keep(inside, v_fma(r2, v_set(2.0f / split->fmm_range), v_set(-1.0f)));
  vfloat r = r2 * inverse, r_power = v_set(1.0f), inverse_power = inverse;
  for (int j = 1; j <= p; j++) {
    const float *c = split->fmm[j];
    vfloat h = v_set(c[FMM_DEGREE]);
#pragma GCC unroll 16
    for (int k = FMM_DEGREE - 1; k >= 0; k--) h = v_fma(h, t, v_set(c[k]));
    r_power *= r;
    inverse_power *= inverse;
    e[j] = v_keep(inside, v_fnma(r_power, h, v_set(newton[j]) * inverse_power));
  }
}

INLINE void m2l_batch(int p, float scale, const struct split *split, const struct m2l_batch *batch,
                      vfloat *local) {
  vfloat r[4], m[MULTIPOLE_MAX], e[FMM_ORDER_MAX + 1];
  lengths(batch->centres, scale, r);
  const vfloat r2 = v_fma(r[0], r[0], v_fma(r[1], r[1], r[2] * r[2])), inverse = inverse_root(r2);
  if (split->kind == SPLIT_NEWTON)
    m2l_newton(p, split, r2, inverse, e);
  else
    m2l_prefactors(p, split, r2, inverse, e);
  stage_to_lanes(batch->rows, (int)fmm_multipole_size(p), m);
  EXPANSION(p, m2l, r[0] * inverse, r[1] * inverse, r[2] * inverse, inverse, e, v_bits(batch->keep),
            m, local);
}

INLINE void m2l_order(int p, const struct m2l_lists *s, const struct split *split) {
  const uint32_t size = fmm_local_size(p);
  struct m2l_lanes lanes = {.next_target = s->first};
  struct m2l_batch batches[2];
  vfloat local[LOCAL_MAX];
  for (uint32_t k = 0; k < size; k++) local[k] = v_set(0.0f);
  /* One batch is staged while the processor still computes the one before, so that no load waits
   * for a store. */
  bool more = m2l_fill(p, s, &lanes, &batches[0]);
  for (unsigned current = 0; more; current = 1 - current) {
    struct m2l_batch *next = &batches[1 - current];
    more = m2l_fill(p, s, &lanes, next);
    m2l_batch(p, s->scale, split, &batches[current], local);
    for (uint32_t bits = next->finished; bits; bits &= bits - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(bits);
      float *row = s->local + (size_t)next->done[lane] * size;
      for (uint32_t k = 0; k < size; k++) row[k] = local[k][lane];
    }
  }
}

/* L2L: local expansions of parents added to those of their children, for a vector of children at a
 * time. */

INLINE void l2l_order(int p, uint32_t root, unsigned top, unsigned depth, float scale,
                      const struct node *nodes, float *local) {
  const int size = (int)fmm_local_size(p);
  ALIGNED float rows[2][ROW_STAGE_MAX], centres[STAGE];
  for (unsigned level = top + 1; level <= depth; level++) {
    const unsigned below = level - node_level(root);
    const uint32_t last = ((root + 1) << below) - 1;
    for (uint32_t first = root << below; first <= last; first += LANES) {
      vfloat parent[LOCAL_MAX + 1], l[LOCAL_MAX + 1], r[4];
      for (int lane = 0; lane < LANES; lane++) { /* lanes without a node repeat the last one */
        uint32_t node = first + (uint32_t)lane < last ? first + (uint32_t)lane : last;
        stage_row(local + (size_t)(node / 2) * (size_t)size, size, rows[0], lane);
        stage_row(local + (size_t)node * (size_t)size, size, rows[1], lane);
        store_block(stage_lane(centres, lane), centre_difference(&nodes[node], &nodes[node / 2]));
      }
      stage_to_lanes(rows[0], size, parent);
      stage_to_lanes(rows[1], size, l);
      lengths(centres, scale, r);
      EXPANSION(p, l2l, r[0], r[1], r[2], parent, l);
      lanes_to_stage(l, size, rows[1]);
      for (int lane = 0; lane < LANES && first + (uint32_t)lane <= last; lane++)
        unstage_row(rows[1], lane, size, local + (size_t)(first + (uint32_t)lane) * (size_t)size);
    }
  }
}

/* L2P: accelerations of particles from the local expansions of their leaves. */

INLINE void l2p_order(int p, uint32_t count, unsigned depth, const uint32_t *first, uint32_t root,
                      float scale, float factor, const uint32_t *x, const struct node *nodes,
                      const float *local, float *acceleration) {
  const unsigned levels = depth - node_level(root);
  for (uint32_t leaf = root << levels; leaf < (root + 1) << levels; leaf++) {
    const uint32_t *centre = nodes[leaf].centre, j = leaf - (1u << depth),
                   end = tree_level_first(count, depth, first, depth, j + 1);
    const float *l = local + (size_t)leaf * fmm_local_size(p);
    for (uint32_t i = tree_level_first(count, depth, first, depth, j); i < end; i += LANES) {
      vmask valid = v_first(end - i);
      vfloat d[3], a[3];
      for (size_t c = 0; c < 3; c++)
        d[c] = v_set(scale) * v_difference(x + c * count + i, centre[c], valid);
      EXPANSION(p, l2p, l, d[0], d[1], d[2], a);
      for (size_t c = 0; c < 3; c++)
        v_add_to(acceleration + c * count + i, valid, v_set(factor) * a[c]);
    }
  }
}

/* One function for each order, and the choice among them at run time. */

#define INSTANCE(p)                                                                             \
  NOINLINE void p2m_order_##p(uint32_t n, unsigned depth, uint32_t root, float scale,           \
                              const uint32_t *x, const float *mass, const struct node *nodes,   \
                              float *m) {                                                       \
    p2m_order(p, n, depth, root, scale, x, mass, nodes, m);                                     \
  }                                                                                             \
  NOINLINE void m2m_order_##p(uint32_t root, unsigned top, unsigned depth, float scale,         \
                              const struct node *nodes, float *m) {                             \
    m2m_order(p, root, top, depth, scale, nodes, m);                                            \
  }                                                                                             \
  NOINLINE void m2l_order_##p(const struct m2l_lists *lists, const struct split *split) {       \
    m2l_order(p, lists, split);                                                                 \
  }                                                                                             \
  NOINLINE void l2l_order_##p(uint32_t root, unsigned top, unsigned depth, float scale,         \
                              const struct node *nodes, float *l) {                             \
    l2l_order(p, root, top, depth, scale, nodes, l);                                            \
  }                                                                                             \
  NOINLINE void l2p_order_##p(uint32_t n, unsigned depth, const uint32_t *first, uint32_t root, \
                              float scale, float factor, const uint32_t *x,                     \
                              const struct node *nodes, const float *l, float *a) {             \
    l2p_order(p, n, depth, first, root, scale, factor, x, nodes, l, a);                         \
  }
INSTANCE(1)
INSTANCE(2)
INSTANCE(3)
INSTANCE(4)
INSTANCE(5)
INSTANCE(6)

void KERNEL(fmm_p2m)(int order, uint32_t count, unsigned depth, uint32_t root, float scale,
                     const uint32_t *x, const float *mass, const struct node *nodes,
                     float *multipole) {
  EXPANSION(order, p2m_order, count, depth, root, scale, x, mass, nodes, multipole);
}

void KERNEL(fmm_m2m)(int order, uint32_t root, unsigned top, unsigned depth, float scale,
                     const struct node *nodes, float *multipole) {
  EXPANSION(order, m2m_order, root, top, depth, scale, nodes, multipole);
}

/** Interactions of a part of M2L, 0.1 ms and more: where a worker has no task, and elsewhere, because workers may have none
 * before the last part. At the end of a part lanes are idle. */
enum { PART_INTERACTIONS = 4000, LONG_PART_INTERACTIONS = 16000 };

/** M2L in parts, each with nodes of all levels: lists of nodes of one level are about equally long, those of different levels are
 * not. Of n parts each has every n-th block of nodes. */
struct m2l_parts {
  int order;
  const struct m2l_lists *lists;
  const struct split *split;
  uint32_t n;
};

static void m2l_part(void *context, uint32_t i) {
  const struct m2l_parts *p = context;
  struct m2l_lists lists = *p->lists;
  if (i > 0) lists.first = i * PART_BLOCK;
  EXPANSION(p->order, m2l_order, &lists, p->split);
}

void KERNEL(fmm_m2l)(int order, unsigned depth, unsigned source_depth, float scale,
                     const struct split *split, const struct interaction_list *far,
                     const struct node *nodes, const struct node *const *source_nodes,
                     const float *const *source_multipole, float *local) {
  struct m2l_lists lists = {.depth = depth,
                            .source_depth = source_depth,
                            .scale = scale,
                            .far = far,
                            .nodes = nodes,
                            .source_nodes = source_nodes,
                            .source_multipole = source_multipole,
                            .first = 1,
                            .end = tree_nodes(depth)};
  lists.local = local;
  struct m2l_parts p = {order, &lists, split, 1};
  p.n += far->entries / (idle_workers_now() > 0 ? PART_INTERACTIONS : LONG_PART_INTERACTIONS);
  if (p.n > lists.end / PART_BLOCK) p.n = lists.end < PART_BLOCK ? 1 : lists.end / PART_BLOCK;
  lists.parts = p.n;
  parts_run(p.n, m2l_part, &p);
}

void KERNEL(fmm_l2l)(int order, uint32_t root, unsigned top, unsigned depth, float scale,
                     const struct node *nodes, float *local) {
  EXPANSION(order, l2l_order, root, top, depth, scale, nodes, local);
}

void KERNEL(fmm_l2p)(int order, uint32_t count, unsigned depth, const uint32_t *first,
                     uint32_t root, float scale, float factor, const uint32_t *x,
                     const struct node *nodes, const float *local, float *acceleration) {
  EXPANSION(order, l2p_order, count, depth, first, root, scale, factor, x, nodes, local,
            acceleration);
}
