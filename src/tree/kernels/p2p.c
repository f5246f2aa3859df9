/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P2P: direct short-range forces of gathered sources, on two targets at a time with one vector of
 * sources. */
#include "photons/tree/p2p.h"
#include "photons/domain/geometry.h"

#include <stdbool.h>

#include "photons/base/simd.h"
#include "photons/tree/kernels.h"

/** Sources of a leaf or of a part of it. Positions are relative to the leaf's centre, so that
 * floats are accurate enough. */
struct sources {
  float *x[3];
  float *mass, *soft2; /* where particles differ (p2p_soft2()), else NULL */
  size_t count;
};

/** A box around targets, relative to the leaf's centre. Sources beyond r_cut from it are
 * dropped. */
struct reach {
  float centre[3], half[3];
};

static struct sources list_of_level(const struct p2p_scratch *s, unsigned level) {
  float *base = s->data + P2P_ROWS * s->capacity * level;
  return (struct sources){.x = {base, base + s->capacity, base + 2 * s->capacity}};
}

/** The same with room for masses and softening. */
static struct sources mixed_list_of_level(const struct p2p_scratch *s, unsigned level) {
  struct sources list = list_of_level(s, level);
  list.mass = list.x[2] + s->capacity;
  list.soft2 = list.mass + s->capacity;
  return list;
}

static inline vmask in_reach(const struct reach *r, vfloat dx, vfloat dy, vfloat dz) {
  const vfloat zero = v_set(0.0f);
  vfloat ex = v_max(v_abs(dx - v_set(r->centre[0])) - v_set(r->half[0]), zero);
  vfloat ey = v_max(v_abs(dy - v_set(r->centre[1])) - v_set(r->half[1]), zero);
  vfloat ez = v_max(v_abs(dz - v_set(r->centre[2])) - v_set(r->half[2]), zero);
  return v_less(v_fma(ex, ex, v_fma(ey, ey, ez * ez)), v_set(R_CUT_SQUARED));
}

static inline void append(struct sources *s, vmask keep, vfloat dx, vfloat dy, vfloat dz) {
  v_compress(s->x[0] + s->count, keep, dx);
  v_compress(s->x[1] + s->count, keep, dy);
  v_compress(s->x[2] + s->count, keep, dz);
  s->count += v_count(keep);
}

/** Units of r_cut. Even Newton's force from there is below what floats resolve. */
#define FAR_AWAY 1e6f

/** Fill up the last vector with sources that are far from all targets. */
static void pad(struct sources *s) {
  for (size_t i = s->count; i < s->count + LANES; i++)
    s->x[0][i] = s->x[1][i] = s->x[2][i] = FAR_AWAY;
  for (size_t i = s->count; s->mass && i < s->count + LANES; i++) s->mass[i] = s->soft2[i] = 0.0f;
}

/** Append masses and softening to those of a list, whose count has not yet grown. The arrays have
 * `left` particles. */
static inline void append_properties(struct sources *s, vmask keep, const struct p2p_law *law,
                                     const float *mass, const uint8_t *type, uint32_t left) {
  float masses[LANES] = {0.0f}, soft2[LANES] = {0.0f};
  for (uint32_t k = 0; k < LANES && k < left; k++) {
    masses[k] = mass ? mass[k] : 1.0f;
    soft2[k] = p2p_soft2(law, type, k);
  }
  v_compress(s->mass + s->count, keep, v_load(masses));
  v_compress(s->soft2 + s->count, keep, v_load(soft2));
}

/** Gather the sources on the leaf's near list within reach, relative to `origin` (position
 * units). */
static inline __attribute__((always_inline)) struct sources
gather_some(const struct p2p_law *law, const struct p2p_target *t, bool mixed, uint32_t leaf,
            const uint32_t origin[3], const struct reach *reach, struct p2p_scratch *scratch) {
  const uint32_t node_mask = tree_nodes(t->source_depth) - 1, begin = t->near->offset[leaf],
                 stop = t->near->offset[leaf + 1];
  const vfloat unit = v_set(t->scale);
  size_t most = 0;
  for (uint32_t e = begin; e < stop; e++) {
    uint32_t n = t->source_count[t->near->entry[e] >> (t->source_depth + 1)],
             node = t->near->entry[e] & node_mask;
    most += node_end(n, node) - node_first(n, node);
  }
  p2p_scratch_reserve(scratch, most + 2 * LANES, 1);
  struct sources out = mixed ? mixed_list_of_level(scratch, 0) : list_of_level(scratch, 0);
  for (uint32_t e = begin; e < stop; e++) {
    uint32_t slot = t->near->entry[e] >> (t->source_depth + 1),
             node = t->near->entry[e] & node_mask;
    uint32_t n = t->source_count[slot], first = node_first(n, node), end = node_end(n, node);
    const uint32_t *x = t->source_x[slot], *y = x + n, *z = y + n;
    const float *mass = mixed && t->source_mass ? t->source_mass[slot] : NULL;
    const uint8_t *type = mixed && t->source_type ? t->source_type[slot] : NULL;
    for (uint32_t i = first; i < end; i += LANES) {
      vmask valid = v_first(end - i);
      vfloat dx = v_difference(x + i, origin[0], valid) * unit;
      vfloat dy = v_difference(y + i, origin[1], valid) * unit;
      vfloat dz = v_difference(z + i, origin[2], valid) * unit;
      const vmask keep = v_both(valid, in_reach(reach, dx, dy, dz));
      if (mixed)
        append_properties(&out, keep, law, mass ? mass + i : NULL, type ? type + i : NULL, end - i);
      append(&out, keep, dx, dy, dz);
    }
  }
  pad(&out);
  return out;
}

/** Whether masses or softening lengths differ. */
static bool is_mixed(const struct p2p_target *t) { return t->source_mass || t->source_type; }

static struct sources gather(const struct p2p_law *law, const struct p2p_target *t, uint32_t leaf,
                             const uint32_t origin[3], const struct reach *reach,
                             struct p2p_scratch *scratch) {
  if (is_mixed(t)) return gather_some(law, t, true, leaf, origin, reach, scratch);
  return gather_some(law, t, false, leaf, origin, reach, scratch);
}

/** Copy the sources within reach to the list of the next level. */
static struct sources filter(const struct sources *in, const struct reach *reach,
                             const struct p2p_scratch *scratch, unsigned level) {
  struct sources out = in->mass ? mixed_list_of_level(scratch, level)
                                : list_of_level(scratch, level);
  for (size_t i = 0; i < in->count; i += LANES) { /* sources of the padding are out of reach */
    vfloat dx = v_load(in->x[0] + i), dy = v_load(in->x[1] + i), dz = v_load(in->x[2] + i);
    const vmask keep = in_reach(reach, dx, dy, dz);
    if (in->mass) {
      v_compress(out.mass + out.count, keep, v_load(in->mass + i));
      v_compress(out.soft2 + out.count, keep, v_load(in->soft2 + i));
    }
    append(&out, keep, dx, dy, dz);
  }
  pad(&out);
  return out;
}

/** Spline-softened F/d for u < support^2, from 1/support. */
static inline vfloat spline_factors(vfloat u, vfloat inverse, vfloat inverse3) {
  vfloat q = v_sqrt(u) * inverse, q2 = q * q;
  vfloat in = v_fma(q2, v_fma(v_set(32.0f), q, v_set(-38.4f)), v_set(32.0f / 3.0f));
  vfloat safe = v_max(q, v_set(0.25f)), safe3 = safe * safe * safe;
  vfloat out = v_fma(q2, v_fma(v_set(-32.0f / 3.0f), q, v_set(38.4f)),
                     v_fma(v_set(-48.0f), q, v_set(64.0f / 3.0f))) -
               v_set(1.0f / 15.0f) / safe3;
  return v_select(v_less(q, v_set(0.5f)), in, out) * inverse3;
}

/** Kept out of the pair loop, since it is rare outside the centres of halos. */
static __attribute__((noinline)) vfloat spline_vector(vfloat u, float support2) {
  const float inverse = 1.0f / sqrtf(support2), inverse3 = inverse * inverse * inverse;
  return spline_factors(u, v_set(inverse), v_set(inverse3));
}
/** The same where pairs have different softening lengths. */
static __attribute__((noinline)) vfloat mixed_spline_vector(vfloat u, vfloat support2) {
  const vfloat inverse = v_set(1.0f) / v_sqrt(v_max(support2, v_set(1e-30f)));
  return spline_factors(u, inverse, inverse * inverse * inverse);
}

/** T from the table of PhotoNs-GPU (split.h), by Taylor expansion in x' = r/(2 r_s) about the
 * nearest of 512 entries. */
static vfloat table_vector(const struct p2p_law *law, vfloat r) {
  const struct split *s = law->split;
  const float to_argument = (float)(s->r_cut / (2.0 * s->r_s)),
              inverse_step = (float)(1.0 / s->table_step), step = (float)s->table_step;
  float argument[LANES], result[LANES];
  memcpy(argument, &r, sizeof argument);
  for (int l = 0; l < LANES; l++) {
    float x = argument[l] * to_argument;
    int i = (int)(x * inverse_step);
    i = i < TABLE_ENTRIES - 1 ? i : TABLE_ENTRIES - 1;
    float d = x - ((float)i + 0.5f) * step, t = s->table[i][law->table_order];
    for (int q = law->table_order - 1; q >= 0; q--) t = t * d + s->table[i][q];
    result[l] = t;
  }
  return v_load(result);
}

enum law { POLYNOMIAL, TABLE, NEWTON };

/** F/d for a vector of squared distances (units of r_cut^2); zero beyond r_cut, except for Newton's
 * gravity.
 * @param pair_soft2  softening of each pair, as law's support2 or plummer2; NULL: the law's own */
static inline __attribute__((always_inline)) vfloat force_vector(const struct p2p_law *law,
                                                                 int degree, enum law kind,
                                                                 vfloat u,
                                                                 const vfloat *pair_soft2) {
  const bool spline = law->softening_kind == SOFTENING_SPLINE;
  const vfloat one = v_set(1.0f), support2 = !pair_soft2 ? v_set(law->support2)
                                             : spline    ? *pair_soft2
                                                         : v_set(0.0f);
  vfloat soft2 = u + (!pair_soft2 ? v_set(law->plummer2) /* plummer2 is 0 for the spline */
                      : spline    ? v_set(0.0f)
                                  : *pair_soft2);
  /* r^-3 = y^3 (1 + 3/2 e), e = 1 - r^2 y^2, from an estimate y of 1/r: a Newton step for the
   * cube. */
  vfloat y = v_rsqrt_estimate(soft2), y2 = y * y;
  vfloat newton = y2 * y * v_fma(v_fnma(soft2, y2, one), v_set(1.5f), one);
  vfloat h = v_set(0.0f), f = newton;
  if (kind == TABLE) {
    vfloat r2 = v_max(u, v_set(1e-12f)), r = v_sqrt(r2);
    h = (one - table_vector(law, r)) / (r * r2);
  } else if (kind == POLYNOMIAL) {
    const float *c = law->split->p2p;
    vfloat t = v_fma(v_set(2.0f), u, v_set(-1.0f));
    h = v_set(c[degree]);
#pragma GCC unroll 16
    for (int k = degree - 1; k >= 0; k--) h = v_fma(h, t, v_set(c[k]));
  }
  if (kind != NEWTON) f = v_keep(v_less(u, v_set(R_CUT_SQUARED)), newton - h);
  vmask softened = v_less(u, support2);
  if (__builtin_expect(v_any(softened), 0))
    f = v_select(
        softened,
        (pair_soft2 ? mixed_spline_vector(u, support2) : spline_vector(u, law->support2)) - h, f);
  return f;
}

/** A target: its position relative to the origin, its softening (p2p_soft2()) and its mass. */
struct one {
  float x[3], soft2, mass;
};

/** Forces of the sources on targets i and j, written to a[0..2] and b[0..2].
 * @param mixed  masses or softening lengths differ */
static inline __attribute__((always_inline)) void
pair_of_targets(const struct p2p_law *law, int degree, enum law kind, bool mixed,
                const struct sources *s, const struct one *i, const struct one *j, float a[3],
                float b[3]) {
  const float *ti = i->x, *tj = j->x;
  vfloat xi = v_set(ti[0]), yi = v_set(ti[1]), zi = v_set(ti[2]), xj = v_set(tj[0]),
         yj = v_set(tj[1]), zj = v_set(tj[2]);
  vfloat ax = v_set(0), ay = v_set(0), az = v_set(0), bx = v_set(0), by = v_set(0), bz = v_set(0);
  for (size_t k = 0; k < s->count; k += LANES) {
    vfloat sx = v_load(s->x[0] + k), sy = v_load(s->x[1] + k), sz = v_load(s->x[2] + k);
    vfloat dx = sx - xi, dy = sy - yi, dz = sz - zi;
    vfloat soft2 = v_set(0.0f);
    if (mixed) soft2 = v_max(v_load(s->soft2 + k), v_set(i->soft2));
    vfloat f = force_vector(law, degree, kind, v_fma(dx, dx, v_fma(dy, dy, dz * dz)),
                            mixed ? &soft2 : NULL);
    if (mixed) f = f * v_load(s->mass + k);
    ax = v_fma(f, dx, ax), ay = v_fma(f, dy, ay), az = v_fma(f, dz, az);
    dx = sx - xj, dy = sy - yj, dz = sz - zj;
    if (mixed) soft2 = v_max(v_load(s->soft2 + k), v_set(j->soft2));
    f = force_vector(law, degree, kind, v_fma(dx, dx, v_fma(dy, dy, dz * dz)),
                     mixed ? &soft2 : NULL);
    if (mixed) f = f * v_load(s->mass + k);
    bx = v_fma(f, dx, bx), by = v_fma(f, dy, by), bz = v_fma(f, dz, bz);
  }
  a[0] = v_sum(ax), a[1] = v_sum(ay), a[2] = v_sum(az);
  b[0] = v_sum(bx), b[1] = v_sum(by), b[2] = v_sum(bz);
}

/* One copy of the pair loop for each degree, so that the coefficients stay in registers; and for
 * each law one for particles that differ. (The declaration at its end takes the semicolon.) */
#define PAIR_LOOP(name, degree, kind, mixed)                                                       \
  static void pair_##name(const struct p2p_law *law, const struct sources *s, const struct one *i, \
                          const struct one *j, float a[3], float b[3]) {                           \
    pair_of_targets(law, degree, kind, mixed, s, i, j, a, b);                                      \
  }                                                                                                \
  struct sources
PAIR_LOOP(degree_6, 6, POLYNOMIAL, false);
PAIR_LOOP(degree_7, 7, POLYNOMIAL, false);
PAIR_LOOP(degree_8, 8, POLYNOMIAL, false);
PAIR_LOOP(degree_9, 9, POLYNOMIAL, false);
PAIR_LOOP(degree_10, 10, POLYNOMIAL, false);
PAIR_LOOP(degree_11, 11, POLYNOMIAL, false);
PAIR_LOOP(degree_12, 12, POLYNOMIAL, false);
PAIR_LOOP(degree_any, law->split->p2p_degree, POLYNOMIAL, false);
PAIR_LOOP(table, 0, TABLE, false);
PAIR_LOOP(newton, 0, NEWTON, false);
PAIR_LOOP(mixed_polynomial, law->split->p2p_degree, POLYNOMIAL, true);
PAIR_LOOP(mixed_table, 0, TABLE, true);
PAIR_LOOP(mixed_newton, 0, NEWTON, true);

typedef void pair_function(const struct p2p_law *, const struct sources *, const struct one *,
                           const struct one *, float[3], float[3]);

static pair_function *choose_pair_function(const struct p2p_law *law, bool mixed) {
  static pair_function *const by_degree[] = {pair_degree_6, pair_degree_7,  pair_degree_8,
                                             pair_degree_9, pair_degree_10, pair_degree_11,
                                             pair_degree_12};
  if (law->split->kind == SPLIT_NEWTON) return mixed ? pair_mixed_newton : pair_newton;
  if (law->kind == P2P_TABLE) return mixed ? pair_mixed_table : pair_table;
  if (mixed) return pair_mixed_polynomial;
  int degree = law->split->p2p_degree;
  return degree >= 6 && degree <= 12 ? by_degree[degree - 6] : pair_degree_any;
}

/* The potential, computed only where it is asked for: the same lists, with the potential of the
 * sources in place of their forces. */

/** Spline-softened 1/r for u < support^2 (Springel et al. 2001, eq. 71). */
static vfloat spline_potential(vfloat u, vfloat support2) {
  const vfloat inverse = v_set(1.0f) / v_sqrt(v_max(support2, v_set(1e-30f)));
  vfloat q = v_sqrt(u) * inverse, q2 = q * q, q4 = q2 * q2, safe = v_max(q, v_set(0.25f));
  vfloat in = v_set(2.8f) - q2 * v_set(16.0f / 3.0f) + q4 * v_fma(v_set(-6.4f), q, v_set(9.6f));
  vfloat out = v_set(3.2f) - v_set(1.0f / 15.0f) / safe -
               q2 * v_fma(v_set(-16.0f), q, v_set(32.0f / 3.0f)) +
               q4 * v_fma(v_set(32.0f / 15.0f), q, v_set(-9.6f));
  return v_select(v_less(q, v_set(0.5f)), in, out) * inverse;
}

/** 1/sqrt(u) for Newton's gravity; that of periodic boxes has exact roots, because H cancels most
 * of it. */
static inline vfloat inverse_root(enum law kind, vfloat u) {
  if (kind != NEWTON) return v_set(1.0f) / v_sqrt(u);
  const vfloat y = v_rsqrt_estimate(u);
  return v_fma(v_set(0.5f) * y, v_fnma(u * y, y, v_set(1.0f)), y);
}

/** psi for a vector of squared distances (units of r_cut^2); zero beyond r_cut.
 * @param soft2  softening of each pair, as law's support2 or plummer2 */
static inline __attribute__((always_inline)) vfloat
potential_vector(const struct p2p_law *law, enum law kind, vfloat u, vfloat soft2) {
  const bool spline = law->softening_kind == SOFTENING_SPLINE;
  const float *c = law->split->fmm[0];
  vfloat newton = inverse_root(kind, spline ? u : (vfloat)(u + soft2)), h = v_set(0.0f);
  if (kind != NEWTON) {
    vfloat t = v_fma(u, v_set(2.0f / law->split->fmm_range), v_set(-1.0f));
    h = v_set(c[FMM_DEGREE]);
    for (int k = FMM_DEGREE - 1; k >= 0; k--) h = v_fma(h, t, v_set(c[k]));
  }
  const vmask softened = v_less(u, spline ? soft2 : v_set(0.0f));
  if (__builtin_expect(v_any(softened), 0))
    newton = v_select(softened, spline_potential(u, soft2), newton);
  return v_keep(v_less(u, v_set(R_CUT_SQUARED)), newton - h);
}

/** The potential at a target, without that of the target itself. Masses at the target's place that
 * are not softened more than it are added up apart, so that without the target's own mass the sum
 * is exact, however deep a particle's own potential is. */
static inline __attribute__((always_inline)) float potential_of_target(const struct p2p_law *law,
                                                                       enum law kind,
                                                                       const struct sources *s,
                                                                       const struct one *t) {
  const vfloat zero = v_set(0.0f), own = v_set(t->soft2);
  vfloat sum = zero, here = zero;
  for (size_t k = 0; k < s->count; k += LANES) {
    vfloat d[3], soft2 = own, mass = v_set(1.0f);
    for (int c = 0; c < 3; c++) d[c] = v_load(s->x[c] + k) - v_set(t->x[c]);
    if (s->mass) {
      soft2 = v_max(own, v_load(s->soft2 + k));
      mass = v_load(s->mass + k);
    }
    const vfloat u = v_fma(d[0], d[0], v_fma(d[1], d[1], d[2] * d[2]));
    const vmask apart = v_less(zero, u + (soft2 - own));
    sum += v_keep(apart, potential_vector(law, kind, u, soft2) * mass);
    here += v_select(apart, zero, mass);
  }
  const float others = v_sum(here) - t->mass;
  return v_sum(sum) + (others > 0.0f ? others * potential_vector(law, kind, zero, own)[0] : 0.0f);
}

/** The potential at targets i and j, written to a[0] and b[0]. */
static void potential_periodic(const struct p2p_law *law, const struct sources *s,
                               const struct one *i, const struct one *j, float a[3], float b[3]) {
  a[0] = potential_of_target(law, POLYNOMIAL, s, i);
  b[0] = potential_of_target(law, POLYNOMIAL, s, j);
}
static void potential_newton(const struct p2p_law *law, const struct sources *s,
                             const struct one *i, const struct one *j, float a[3], float b[3]) {
  a[0] = potential_of_target(law, NEWTON, s, i);
  b[0] = potential_of_target(law, NEWTON, s, j);
}

/** The state of the computation of one leaf. */
struct leaf {
  const struct p2p_law *law;
  const struct p2p_target *target;
  struct p2p_scratch *scratch;
  pair_function *pair;
  uint32_t origin[3];  /* positions are relative to this point */
  float *acceleration; /* NULL: the potential is computed */
  float *potential;
  uint64_t pairs;
};

static void relative_position(const struct leaf *l, uint32_t i, float out[3]) {
  const struct p2p_target *t = l->target;
  for (int c = 0; c < 3; c++)
    out[c] = (float)position_difference(t->x[(size_t)c * t->count + i], l->origin[c]) * t->scale;
}

static struct one target_at(const struct leaf *l, uint32_t i) {
  struct one target;
  relative_position(l, i, target.x);
  target.soft2 = p2p_target_soft2(l->law, l->target, i);
  target.mass = p2p_target_mass(l->target, i);
  return target;
}

static void store(const struct leaf *l, uint32_t i, const float a[3]) {
  for (size_t c = 0; c < 3; c++)
    l->acceleration[c * l->target->count + i] = l->target->factor * a[c];
}

/** Compute the forces on particles first .. end - 1, a block, from a list of all their sources. */
static void block(struct leaf *l, const struct sources *sources, uint32_t first, uint32_t end) {
  float a[3], b[3];
  for (uint32_t i = first; i < end; i += 2) {
    uint32_t j = i + 1 < end ? i + 1 : i;
    const struct one ti = target_at(l, i), tj = target_at(l, j);
    l->pair(l->law, sources, &ti, &tj, a, b);
    if (l->acceleration) {
      store(l, i, a);
      store(l, j, b);
    } else {
      l->potential[i] = a[0];
      l->potential[j] = b[0];
    }
  }
  l->pairs += (uint64_t)sources->count * (end - first);
}

static struct reach reach_of(const struct leaf *l, uint32_t first, uint32_t end) {
  float low[3] = {1e30f, 1e30f, 1e30f}, high[3] = {-1e30f, -1e30f, -1e30f}, x[3];
  struct reach r;
  for (uint32_t i = first; i < end; i++) {
    relative_position(l, i, x);
    for (int c = 0; c < 3; c++) {
      low[c] = fminf(low[c], x[c]);
      high[c] = fmaxf(high[c], x[c]);
    }
  }
  for (int c = 0; c < 3; c++) {
    r.centre[c] = 0.5f * (low[c] + high[c]);
    r.half[c] = 0.5f * (high[c] - low[c]) + 1e-6f; /* covers the rounding of the centre */
  }
  return r;
}

/** A part of the targets of a leaf: part j of level `level` of bisection, counted from the group's
 * root. */
struct part {
  unsigned level;
  uint32_t j, first, end;
};

/** Where a part is halved: targets that are not packed are sorted for that (group_sort.h). */
static uint32_t middle_of(const struct p2p_target *t, const struct part *p) {
  return t->first ? (p->first + p->end) / 2 : level_first(t->count, p->level + 1, 2 * p->j + 1);
}

/** Compute the forces on a part: halve it, filtering its sources, until it is a block. Of Newton's
 * gravity no source is out of reach. */
static void halve(struct leaf *l, const struct sources *sources, const struct part *p) {
  if (p->end - p->first <= P2P_BLOCK || l->law->split->kind == SPLIT_NEWTON) {
    block(l, sources, p->first, p->end);
    return;
  }
  const uint32_t middle = middle_of(l->target, p);
  const struct part halves[] = {{p->level + 1, 2 * p->j, p->first, middle},
                                {p->level + 1, 2 * p->j + 1, middle, p->end}};
  for (int k = 0; k < 2; k++) {
    const struct reach reach = reach_of(l, halves[k].first, halves[k].end);
    const struct sources kept = filter(sources, &reach, l->scratch,
                                       halves[k].level - l->target->depth);
    halve(l, &kept, &halves[k]);
  }
}

/** Most particles of a leaf. */
static uint32_t largest_leaf(const struct p2p_target *t) {
  uint32_t most = (t->count >> t->depth) + 1;
  for (uint32_t leaf = 0; t->first && leaf < 1u << t->depth; leaf++)
    if (t->first[leaf + 1] - t->first[leaf] > most) most = t->first[leaf + 1] - t->first[leaf];
  return most;
}

/** Compute the forces on all targets, or their potential. */
static void all_leaves(struct leaf *l) {
  const struct p2p_target *t = l->target;
  struct p2p_scratch *scratch = l->scratch;
  const float half_box = (float)(0.5 * POSITION_TURN) * t->scale;
  const bool newton = l->law->split->kind == SPLIT_NEWTON;
  unsigned levels = 1;
  while ((largest_leaf(t) >> (levels - 1)) + 1 > P2P_BLOCK) levels++;
  p2p_scratch_reserve(scratch, 1, levels + 1);
  for (uint32_t leaf = 0; leaf < 1u << t->depth; leaf++) {
    const struct node *node = &t->nodes[(1u << t->depth) + leaf];
    const uint32_t first = tree_level_first(t->count, t->depth, t->first, t->depth, leaf),
                   end = tree_level_first(t->count, t->depth, t->first, t->depth, leaf + 1);
    if (first == end) continue;
    if (newton || fmaxf(fmaxf(node->half[0], node->half[1]), node->half[2]) + R_CUT < half_box) {
      struct reach reach = {.half = {node->half[0], node->half[1], node->half[2]}};
      memcpy(l->origin, node->centre, sizeof l->origin);
      struct sources sources = gather(l->law, t, leaf, l->origin, &reach, scratch);
      halve(l, &sources, &(const struct part){t->depth, leaf, first, end});
    } else { /* wide leaf: nearest images differ among its particles */
      for (uint32_t i = first; i < end; i++) {
        const struct reach reach = {.half = {0.0f, 0.0f, 0.0f}};
        for (size_t c = 0; c < 3; c++) l->origin[c] = t->x[c * t->count + i];
        struct sources sources = gather(l->law, t, leaf, l->origin, &reach, scratch);
        block(l, &sources, i, i + 1);
      }
    }
  }
}

/* acceleration is not const: struct leaf writes to it. */
uint64_t KERNEL(p2p)(const struct p2p_law *law, const struct p2p_target *t,
                     struct p2p_scratch *scratch,
                     float *acceleration) { /* NOLINT(readability-non-const-parameter) */
  struct leaf l = {.law = law,
                   .target = t,
                   .scratch = scratch,
                   .pair = choose_pair_function(law, is_mixed(t)),
                   .acceleration = acceleration};
  all_leaves(&l);
  return l.pairs;
}

void KERNEL(p2p_potential)(const struct p2p_law *law, const struct p2p_target *t,
                           struct p2p_scratch *scratch,
                           float *potential) { /* NOLINT(readability-non-const-parameter) */
  const bool newton = law->split->kind == SPLIT_NEWTON;
  struct leaf l = {.law = law,
                   .target = t,
                   .scratch = scratch,
                   .pair = newton ? potential_newton : potential_periodic,
                   .potential = potential};
  all_leaves(&l);
}
