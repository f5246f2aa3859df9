/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of pairs: of each target the largest one over its near list. Each vector of sources meets all
 * targets of a block before the next one is read. Most sources are so far that a rough bound of their
 * rates is enough. */
#include "photons/tree/pair_rates.h"

#include <stdbool.h>

#include "photons/base/simd.h"
#include "photons/domain/geometry.h"
#include "photons/tree/kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { TARGETS = 8 };

/** Targets of a leaf. Momenta are in units of pair_law.speed. */
struct block {
  uint32_t count, x[3][TARGETS];
  float p[3][TARGETS], mass[TARGETS], soft2[TARGETS];
  float largest[TARGETS]; /**< rates so far */
  float rough[TARGETS];   /**< rough_rate2() of sources with larger rates is above this */
};

/** A vector of sources. Positions stay whole numbers: rates are those of close pairs, whose distances shall not have
 * the rounding of distances from a third place. */
struct sources {
  vmask valid;
  const uint32_t *x[3];
  float scale;              /* of differences of positions */
  vfloat p[3], mass, soft2; /* the last two where particles differ */
};

/** What all pairs of a task share. */
struct rate_law {
  const struct pair_law *law;
  const struct p2p_law *forces;
  bool mixed; /**< masses or softening lengths differ */
};

INLINE vfloat inverse_root(vfloat a) {
  const vfloat y = v_rsqrt_estimate(a);
  return v_fma(v_set(0.5f) * y, v_fnma(a * y, y, v_set(1.0f)), y);
}

/** What a target and a vector of sources have. */
struct pairs {
  vmask other; /* sources that are not the target itself */
  vfloat d2, rv, v2, mass;
};

INLINE struct pairs pairs_of(const struct rate_law *r, const struct block *b, uint32_t t,
                             const struct sources *s) {
  vfloat r2 = v_set(0.0f), v2 = v_set(0.0f), rv = v_set(0.0f);
  for (int c = 0; c < 3; c++) {
    const vfloat d = v_set(s->scale) * v_difference(s->x[c], b->x[c][t], s->valid),
                 v = s->p[c] - v_set(b->p[c][t]);
    r2 = v_fma(d, d, r2);
    v2 = v_fma(v, v, v2);
    rv = v_fma(d, v, rv);
  }
  const vfloat own2 = v_set(b->soft2[t]), soft2 = r->mixed ? v_max(own2, s->soft2) : own2,
               one = r->mixed ? s->mass : v_set(1.0f);
  return (struct pairs){.other = v_both(s->valid, v_less(v_set(0.0f), r2 + v2)),
                        .d2 = v_fma(v_set(r->law->soft), soft2, r2),
                        .rv = rv,
                        .v2 = v2,
                        .mass = v_set(r->law->mass) * (v_set(b->mass[t]) + one)};
}

/** q of pair_rate() to 1e-3. */
INLINE vfloat rough_rate2(const struct pairs *p) {
  const vfloat y = v_rsqrt_estimate(p->d2);
  return v_fma(p->mass, y, p->v2) * (y * y) + v_set(PAIR_RATE2_LEAST);
}

/** What rough_rate2() of a pair with a larger rate is above. Half of the derivative in pair_rate() is below
 * 5/4 sqrt(q), since |rv| <= (d2 v2)^1/2. */
static float rough_of(const struct pair_law *law, float largest) {
  const float least = largest / (law->inverse_eta + 1.25f);
  return 0.998f * least * least;
}

/** pair_rate() of each lane; 0 of the target with itself. */
INLINE vfloat rates_of(const struct pair_law *law, const struct pairs *p) {
  const vfloat y = inverse_root(p->d2), inverse2 = y * y, turn = p->mass * inverse2 * y,
               pass = p->v2 * inverse2, q = pass + turn + v_set(PAIR_RATE2_LEAST),
               root = inverse_root(q),
               derivative = p->rv * inverse2 * v_fma(v_set(2.5f), turn, pass) * (root * root);
  return v_keep(p->other, v_fnma(v_set(0.5f), derivative, q * root * v_set(law->inverse_eta)));
}

static float larger_of_lanes(float largest, vfloat a) {
  float lane[LANES];
  v_store(lane, a);
  for (int k = 0; k < LANES; k++) largest = lane[k] > largest ? lane[k] : largest;
  return largest;
}

INLINE void meet(const struct rate_law *r, struct block *b, const struct sources *s) {
  for (uint32_t t = 0; t < b->count; t++) {
    const struct pairs p = pairs_of(r, b, t, s);
    if (!v_any(v_both(p.other, v_less(v_set(b->rough[t]), rough_rate2(&p))))) continue;
    b->largest[t] = larger_of_lanes(b->largest[t], rates_of(r->law, &p));
    b->rough[t] = rough_of(r->law, b->largest[t]);
  }
}

/** Places of sources in the columns of a group. */
struct range {
  uint32_t slot, particles, first, end;
};

static struct range range_of(const struct p2p_target *t, uint32_t entry) {
  const uint32_t slot = entry >> (t->source_depth + 1),
                 node = entry & (tree_nodes(t->source_depth) - 1), n = t->source_count[slot];
  return (struct range){slot, n, node_first(n, node), node_end(n, node)};
}

static void load_properties(struct sources *s, const struct p2p_law *forces, const float *mass,
                            const uint8_t *type, uint32_t left) {
  float masses[LANES], soft2[LANES];
  for (uint32_t k = 0; k < LANES; k++) {
    masses[k] = mass && k < left ? mass[k] : 1.0f;
    soft2[k] = k < left ? p2p_soft2(forces, type, k) : 0.0f;
  }
  s->mass = v_load(masses);
  s->soft2 = v_load(soft2);
}

INLINE struct sources load_sources(const struct rate_law *r, const struct pair_target *target,
                                   const struct range *from, uint32_t i) {
  const struct p2p_target *t = &target->at;
  struct sources s = {.valid = v_first(from->end - i), .scale = t->scale};
  for (size_t c = 0; c < 3; c++) {
    const size_t at = c * from->particles + i;
    s.x[c] = t->source_x[from->slot] + at;
    s.p[c] = v_set(r->law->speed) * v_load_some(target->source_p[from->slot] + at, s.valid);
  }
  if (r->mixed)
    load_properties(&s, r->forces, t->source_mass ? t->source_mass[from->slot] + i : NULL,
                    t->source_type ? t->source_type[from->slot] + i : NULL, from->end - i);
  return s;
}

/** @param first, count  the targets of the block */
static struct block block_of(const struct rate_law *r, const struct pair_target *target,
                             uint32_t first, uint32_t count) {
  const struct p2p_target *t = &target->at;
  struct block b = {.count = count};
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t i = first + k, place = t->index ? t->index[i] : i;
    for (size_t c = 0; c < 3; c++) {
      b.x[c][k] = t->x[c * t->count + i];
      b.p[c][k] = r->law->speed * target->source_p[0][c * t->source_count[0] + place];
    }
    b.mass[k] = p2p_target_mass(t, i);
    b.soft2[k] = p2p_target_soft2(r->forces, t, i);
    b.largest[k] = b.rough[k] = 0.0f;
  }
  return b;
}

INLINE void meet_all(const struct rate_law *r, const struct pair_target *target, uint32_t leaf,
                     struct block *b) {
  const struct interaction_list *near = target->at.near;
  for (uint32_t e = near->offset[leaf]; e < near->offset[leaf + 1]; e++) {
    const struct range from = range_of(&target->at, near->entry[e]);
    for (uint32_t i = from.first; i < from.end; i += LANES) {
      const struct sources s = load_sources(r, target, &from, i);
      meet(r, b, &s);
    }
  }
}

void KERNEL(pair_rates)(const struct pair_law *law, const struct p2p_law *forces,
                        const struct pair_target *target, float *rate) {
  const struct p2p_target *t = &target->at;
  const struct rate_law same = {law, forces, false}, mixed = {law, forces, true};
  for (uint32_t leaf = t->leaf; leaf < t->leaf_end; leaf++) {
    const uint32_t end = tree_level_first(t->count, t->depth, t->first, t->depth, leaf + 1);
    uint32_t first = tree_level_first(t->count, t->depth, t->first, t->depth, leaf);
    for (; first < end; first += TARGETS) {
      const uint32_t count = end - first < TARGETS ? end - first : TARGETS;
      struct block b = block_of(&same, target, first, count);
      if (t->source_mass || t->source_type)
        meet_all(&mixed, target, leaf, &b);
      else
        meet_all(&same, target, leaf, &b);
      for (uint32_t k = 0; k < count; k++) rate[first + k] = b.largest[k];
    }
  }
}
