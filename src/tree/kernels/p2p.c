/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P2P: direct short-range forces of gathered sources on a block of targets. */
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
  float low[3], high[3];
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

/** Distance from the range of the box along an axis. */
static inline vfloat outside(const struct reach *r, int axis, vfloat x) {
  return x - v_min(v_max(x, v_set(r->low[axis])), v_set(r->high[axis]));
}

static inline vmask in_reach(const struct reach *r, const vfloat d[3]) {
  const vfloat ex = outside(r, 0, d[0]), ey = outside(r, 1, d[1]), ez = outside(r, 2, d[2]);
  return v_less(v_fma(ex, ex, v_fma(ey, ey, ez * ez)), v_set(R_CUT_SQUARED));
}

/** A vector of sources. */
struct candidates {
  vfloat d[3];
  vfloat mass, soft2; /* where particles differ */
};

/** Append the candidates that are kept. All LANES places are written. */
static inline void append(struct sources *s, vmask keep, const struct candidates *c) {
  const vint order = v_order(keep);
  for (int k = 0; k < 3; k++) v_store(s->x[k] + s->count, v_permute(c->d[k], order));
  if (s->mass) {
    v_store(s->mass + s->count, v_permute(c->mass, order));
    v_store(s->soft2 + s->count, v_permute(c->soft2, order));
  }
  s->count += v_count(keep);
}

/** Units of r_cut. Even Newton's force from there is below what floats resolve. */
#define FAR_AWAY 1e6f

/** Fill up the last vector with sources that are far from all targets, and one more, since pair
 * loops read ahead. */
static void pad(struct sources *s) {
  for (size_t i = s->count; i <= s->count + LANES; i += LANES) {
    for (int c = 0; c < 3; c++) v_store(s->x[c] + i, v_set(FAR_AWAY));
    if (!s->mass) continue;
    v_store(s->mass + i, v_set(0.0f));
    v_store(s->soft2 + i, v_set(0.0f));
  }
}

/** Masses and softening of candidates, of which the arrays have `left`. */
static inline void load_properties(struct candidates *c, const struct p2p_law *law,
                                   const float *mass, const uint8_t *type, uint32_t left) {
  float masses[LANES] = {0.0f}, soft2[LANES] = {0.0f};
  for (uint32_t k = 0; k < LANES && k < left; k++) {
    masses[k] = mass ? mass[k] : 1.0f;
    soft2[k] = p2p_soft2(law, type, k);
  }
  c->mass = v_load(masses);
  c->soft2 = v_load(soft2);
}

/** Gather the sources on the leaf's near list within reach, relative to `origin` (position
 * units). */
static inline __attribute__((always_inline)) struct sources
gather_some(const struct p2p_law *law, const struct p2p_target *t, bool mixed, uint32_t leaf,
            const uint32_t *centre, const struct reach *box, struct p2p_scratch *scratch) {
  const bool all = law->split->kind == SPLIT_NEWTON; /* are within reach */
  const struct reach reach = *box;                   /* copies stay in registers */
  const uint32_t origin[3] = {centre[0], centre[1], centre[2]};
  const uint32_t node_mask = tree_nodes(t->source_depth) - 1, begin = t->near->offset[leaf],
                 stop = t->near->offset[leaf + 1];
  const vfloat unit = v_set(t->scale);
  size_t most = 0;
  for (uint32_t e = begin; e < stop; e++) {
    const uint32_t n = t->source_count[t->near->entry[e] >> (t->source_depth + 1)];
    most += (n >> node_level(t->near->entry[e] & node_mask)) + 1;
  }
  p2p_scratch_reserve(scratch, most + 2 * LANES, 1); /* with padding */
  struct sources out = mixed ? mixed_list_of_level(scratch, 0) : list_of_level(scratch, 0);
  for (uint32_t e = begin; e < stop; e++) {
    uint32_t slot = t->near->entry[e] >> (t->source_depth + 1),
             node = t->near->entry[e] & node_mask;
    uint32_t n = t->source_count[slot], first = node_first(n, node), end = node_end(n, node);
    const uint32_t *x = t->source_x[slot], *y = x + n, *z = y + n;
    const float *mass = mixed && t->source_mass ? t->source_mass[slot] : NULL;
    const uint8_t *type = mixed && t->source_type ? t->source_type[slot] : NULL;
    for (uint32_t i = first; i < end; i += LANES) {
      const vmask valid = v_first(end - i);
      struct candidates c = {.d = {v_difference(x + i, origin[0], valid) * unit,
                                   v_difference(y + i, origin[1], valid) * unit,
                                   v_difference(z + i, origin[2], valid) * unit}};
      if (mixed) load_properties(&c, law, mass ? mass + i : NULL, type ? type + i : NULL, end - i);
      append(&out, all ? valid : v_both(valid, in_reach(&reach, c.d)), &c);
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
static inline __attribute__((always_inline)) struct sources
filter_some(const struct sources *sources, bool mixed, const struct reach *box,
            const struct p2p_scratch *scratch, unsigned level) {
  const struct sources in = *sources;
  const struct reach reach = *box;
  struct sources out = mixed ? mixed_list_of_level(scratch, level) : list_of_level(scratch, level);
  for (size_t i = 0; i < in.count; i += LANES) { /* sources of the padding are out of reach */
    struct candidates c = {.d = {v_load(in.x[0] + i), v_load(in.x[1] + i), v_load(in.x[2] + i)}};
    if (mixed) c.mass = v_load(in.mass + i), c.soft2 = v_load(in.soft2 + i);
    append(&out, in_reach(&reach, c.d), &c);
  }
  pad(&out);
  return out;
}

static struct sources filter(const struct sources *in, const struct reach *reach,
                             const struct p2p_scratch *scratch, unsigned level) {
  if (in->mass) return filter_some(in, true, reach, scratch, level);
  return filter_some(in, false, reach, scratch, level);
}

/* The pair loops compute FORCE_UNIT times the force, because r^-3 takes an instruction less so. y is
 * an estimate of 1/r, and e = 1 - u y^2. */
#if RSQRT_BITS >= 14
/* r^-3 = y^3 (1 + 3/2 e + ...), times -2/3: y^3 (u y^2 - 5/3) */
#define CUBE_CENTRE (5.0f / 3.0f)
#define FORCE_UNIT (1.0 - (double)CUBE_CENTRE)
static inline vfloat cube_correction(vfloat u, vfloat y2) {
  return v_fms(u, y2, v_set(CUBE_CENTRE));
}
#else
/* r^-3 = y^3 (1 + 3/2 e + 15/8 e^2 + ...), times 8/15: y^3 ((u y^2 - 7/5)^2 + 28/75) */
#define CUBE_CENTRE 1.4f
#define CUBE_REST (28.0f / 75.0f)
#define FORCE_UNIT ((1.0 - (double)CUBE_CENTRE) * (1.0 - (double)CUBE_CENTRE) + (double)CUBE_REST)
static inline vfloat cube_correction(vfloat u, vfloat y2) {
  const vfloat v = v_fms(u, y2, v_set(CUBE_CENTRE));
  return v_fma(v, v, v_set(CUBE_REST));
}
#endif

/** Spline-softened F/d for u < support^2, times FORCE_UNIT. */
static inline vfloat spline_vector(vfloat u, vfloat support2) {
  const vfloat inverse = v_set(1.0f) / v_sqrt(v_max(support2, v_set(1e-30f))),
               inverse3 = inverse * inverse * inverse * v_set((float)FORCE_UNIT);
  vfloat q = v_sqrt(u) * inverse, q2 = q * q;
  vfloat in = v_fma(q2, v_fma(v_set(32.0f), q, v_set(-38.4f)), v_set(32.0f / 3.0f));
  vfloat safe = v_max(q, v_set(0.25f)), safe3 = safe * safe * safe;
  vfloat out = v_fma(q2, v_fma(v_set(-32.0f / 3.0f), q, v_set(38.4f)),
                     v_fma(v_set(-48.0f), q, v_set(64.0f / 3.0f))) -
               v_set(1.0f / 15.0f) / safe3;
  return v_select(v_less(q, v_set(0.5f)), in, out) * inverse3;
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

enum law { POLYNOMIAL, ADAPTED, TABLE, NEWTON };

/** What a pair loop computes: constants where it is compiled.
 *
 * With few targets a vector holds LANES sources and one target, which is the same in all lanes, and
 * there are VECTORS of targets. With many, each quarter of a vector has a target of its own and the
 * same QUARTER sources, and there are VECTORS of sources. */
struct loop {
  enum law law;
  int degree;   /* of the polynomial */
  bool plummer; /* Plummer's softening, else the spline */
  bool mixed;   /* masses or softening lengths differ */
  bool many;    /* targets: MANY, else FEW */
  int vectors;  /* VECTORS, or 1 */
};
/* As the registers allow: AVX-512 has 32, others have 16. */
enum { VECTORS = LANES == 16 ? 2 : 1, FEW = VECTORS, MANY = 4 };
_Static_assert(P2P_BLOCK % MANY == 0, "a block fills vectors of targets");
#define FOR_VECTORS(k) _Pragma("GCC unroll 2") for (int k = 0; k < loop.vectors; k++)

/** Added to squared distances, so that the force of a target on itself is finite times zero. Other
 * squared distances are larger than ELSEWHERE, because one position unit is 2^-32 of the box. */
#define SELF 1e-21f
#define ELSEWHERE (2.0f * SELF)

/** Of the power k of u - 1/2. */
static inline float coefficient(const float *c, int k) {
  return (float)(FORCE_UNIT * (double)(1 << k) * (double)c[k]);
}

/** The adapted polynomial (split.h) times FORCE_UNIT: z, w and their sum times a root of the leading
 * coefficient, so that no multiplication is left for it. There are as many instructions as in Horner's
 * rule, but two multiplications fewer: processors that add beside them (AMD's) gain. */
static inline __attribute__((always_inline)) void adapted_polynomial(const struct p2p_law *law,
                                                                     struct loop loop,
                                                                     const vfloat u[VECTORS],
                                                                     vfloat h[VECTORS]) {
  const double *a = law->split->adapted, lead = FORCE_UNIT * a[6], root = sqrt(fabs(lead));
  const vfloat g = v_set((float)root), a0 = v_set((float)(root * a[0])),
               a1 = v_set((float)(root * a[1])), a2 = v_set((float)a[2]),
               a3 = v_set((float)(root * a[3])), a4 = v_set((float)(root * a[4])),
               a5 = v_set((float)(lead * a[5]));
  vfloat z[VECTORS], w[VECTORS];
  FOR_VECTORS(k) z[k] = v_fma(u[k], v_fma(u[k], g, a0), a1);
  FOR_VECTORS(k) w[k] = v_fma(u[k] + a2, z[k], a3);
  FOR_VECTORS(k) z[k] = w[k] + (z[k] + a4);
  FOR_VECTORS(k) h[k] = FORCE_UNIT < 0.0 ? v_fnma(z[k], w[k], a5) : v_fma(z[k], w[k], a5);
}

/** The long-range part of F/d, times FORCE_UNIT. */
static inline __attribute__((always_inline)) void long_range(const struct p2p_law *law,
                                                             struct loop loop,
                                                             const vfloat u[VECTORS],
                                                             vfloat h[VECTORS]) {
  if (loop.law == NEWTON) {
    FOR_VECTORS(k) h[k] = v_set(0.0f);
  } else if (loop.law == ADAPTED) {
    adapted_polynomial(law, loop, u, h);
  } else if (loop.law == TABLE) {
    FOR_VECTORS(k) {
      const vfloat r2 = v_max(u[k], v_set(1e-12f)), r = v_sqrt(r2);
      h[k] = (v_set(1.0f) - table_vector(law, r)) / (r * r2) * v_set((float)FORCE_UNIT);
    }
  } else {
    const float *c = law->split->p2p;
    vfloat t[VECTORS];
    FOR_VECTORS(k) t[k] = u[k] - v_set(0.5f); /* half of the polynomial's argument */
    FOR_VECTORS(k) h[k] = v_set(coefficient(c, loop.degree));
#pragma GCC unroll 16
    for (int i = loop.degree - 1; i >= 0; i--)
      FOR_VECTORS(k) h[k] = v_fma(h[k], t[k], v_set(coefficient(c, i)));
  }
}

/** F/d times FORCE_UNIT with the softened pairs put right. Kept out of the pair loop, since it is
 * rare outside the centres of halos. */
static __attribute__((noinline)) vfloat soften(const struct p2p_law *law, enum law kind, vfloat u,
                                               vfloat support2, vfloat f) {
  const struct loop one = {.law = kind, .degree = law->split->p2p_degree, .vectors = 1};
  const vmask softened = v_both(v_less(v_set(ELSEWHERE), u), v_less(u, support2));
  vfloat at[VECTORS] = {u}, h[VECTORS]; /* one of them is used */
  long_range(law, one, at, h);
  return v_select(softened, spline_vector(u, support2) - h[0], f);
}

/** Targets: their positions relative to the origin, softening (p2p_soft2()) and masses. */
struct targets {
  float x[3][P2P_BLOCK], soft2[P2P_BLOCK], mass[P2P_BLOCK];
};

/** Vector k of the targets' numbers. */
static inline vfloat vector_of_targets(struct loop loop, const float *of_target, int k) {
  return loop.many ? v_spread(of_target) : v_set(of_target[k]);
}
/** Vector k of the sources' numbers. */
static inline vfloat vector_of_sources(struct loop loop, const float *of_source, int k) {
  return loop.many ? v_repeat(of_source + QUARTER * (ptrdiff_t)k) : v_load(of_source);
}

/** Write the sums over the sources' lanes for vector k of the targets. */
static inline void sum_lanes(struct loop loop, vfloat a, float *of_target, int k) {
  if (loop.many)
    v_sum_quarters(a, of_target);
  else
    of_target[k] = v_sum(a);
}

/** Vectors of pairs. */
struct pairs {
  vfloat d[VECTORS][3];  /* from target to source */
  vfloat u[VECTORS];     /* squared distance, in units of r_cut^2 */
  vfloat v[VECTORS];     /* the same with Plummer's softening */
  vfloat soft2[VECTORS]; /* of mixed pairs their softening, as law's support2 or plummer2 */
};

/** F/d times FORCE_UNIT; zero beyond r_cut and of a target on itself, except for Newton's gravity.
 * One comparison of ranks finds both, and none of them calls for softening. */
static inline __attribute__((always_inline)) void force_vectors(const struct p2p_law *law,
                                                                struct loop loop,
                                                                const struct pairs *p,
                                                                vfloat f[VECTORS]) {
  vfloat h[VECTORS];
  vint rank[VECTORS];
  long_range(law, loop, p->u, h);
  FOR_VECTORS(k) {
    const vfloat y = v_rsqrt_rough(p->v[k]), y2 = y * y;
    rank[k] = v_rank(p->u[k], ELSEWHERE);
    f[k] = v_fms(y2 * y, cube_correction(p->v[k], y2), h[k]);
    if (loop.law != NEWTON)
      f[k] = v_keep(v_is_lower(rank[k], v_rank(v_set(R_CUT_SQUARED), ELSEWHERE)), f[k]);
  }
  if (loop.plummer) return;
  if (loop.mixed) {
    FOR_VECTORS(k) {
      if (v_any(v_is_lower(rank[k], v_rank(p->soft2[k], ELSEWHERE))))
        f[k] = soften(law, loop.law, p->u[k], p->soft2[k], f[k]);
    }
    return;
  }
  vint nearest = rank[0];
  FOR_VECTORS(k) nearest = v_lower(nearest, rank[k]);
  if (__builtin_expect(v_any(v_is_lower(nearest, v_rank(v_set(law->support2), ELSEWHERE))), 0))
    FOR_VECTORS(k) f[k] = soften(law, loop.law, p->u[k], v_set(law->support2), f[k]);
}

/** The pairs of the targets with the sources from number i on. */
static inline __attribute__((always_inline)) struct pairs
pairs_at(const struct p2p_law *law, struct loop loop, const struct sources *s, size_t i,
         vfloat x[VECTORS][3], const vfloat own[VECTORS]) {
  struct pairs p;
  FOR_VECTORS(k) {
    const int j = loop.many ? 0 : k;
    vfloat *d = p.d[k];
    for (int c = 0; c < 3; c++) d[c] = vector_of_sources(loop, s->x[c] + i, k) - x[j][c];
    p.u[k] = v_fma(d[0], d[0], v_fma(d[1], d[1], v_fma(d[2], d[2], v_set(SELF))));
    if (loop.mixed) p.soft2[k] = v_max(vector_of_sources(loop, s->soft2 + i, k), own[j]);
    p.v[k] = p.u[k];
    if (loop.plummer) p.v[k] += loop.mixed ? p.soft2[k] : v_set(law->plummer2);
  }
  return p;
}

/** Forces of the sources on targets. The distances of the next pairs are computed before the forces
 * of these: a processor that waits for one has the other to do. */
static inline __attribute__((always_inline)) void
forces_on_targets(const struct p2p_law *law, struct loop loop, const struct sources *s,
                  const struct targets *t, float sum[P2P_SUMS][P2P_BLOCK]) {
  const int targets = loop.many ? 1 : loop.vectors; /* vectors of them */
  const size_t step = loop.many ? (size_t)(QUARTER * loop.vectors) : LANES;
  vfloat x[VECTORS][3], a[VECTORS][P2P_SUMS], own[VECTORS];
#pragma GCC unroll 2
  for (int k = 0; k < targets; k++) {
    own[k] = vector_of_targets(loop, t->soft2, k);
    for (int c = 0; c < 3; c++) x[k][c] = vector_of_targets(loop, t->x[c], k);
    for (int c = 0; c < P2P_SUMS; c++) a[k][c] = v_set(0.0f);
  }
  struct pairs next = pairs_at(law, loop, s, 0, x, own);
  for (size_t i = 0; i < s->count; i += step) {
    const struct pairs p = next;
    vfloat f[VECTORS];
    next = pairs_at(law, loop, s, i + step, x, own);
    force_vectors(law, loop, &p, f);
    FOR_VECTORS(k) {
      const int j = loop.many ? 0 : k;
      if (loop.mixed) f[k] = f[k] * vector_of_sources(loop, s->mass + i, k);
      for (int c = 0; c < 3; c++) a[j][c] = v_fma(f[k], p.d[k][c], a[j][c]);
      if (loop.law != NEWTON) a[j][P2P_TIDE] += f[k];
    }
  }
#pragma GCC unroll 2
  for (int k = 0; k < targets; k++) {
    for (int c = 0; c < P2P_SUMS; c++) sum_lanes(loop, a[k][c], sum[c], k);
  }
}

/** Forces, or in the first component the potential, of sources on targets. */
typedef void pair_function(const struct p2p_law *, const struct sources *, const struct targets *,
                           float sum[P2P_SUMS][P2P_BLOCK]);
/** Of up to MANY targets, or NULL; and of up to FEW. */
struct pair_functions {
  pair_function *many, *few;
};

/* One copy of the pair loop for each degree, so that the coefficients stay in registers or nearby;
 * and for each law one for particles that differ. */
#define PAIR_LOOP(name, law_, degree_, plummer_, mixed_, many_)                                 \
  static void name(const struct p2p_law *law, const struct sources *s, const struct targets *t, \
                   float sum[P2P_SUMS][P2P_BLOCK]) {                                            \
    const struct loop loop = {.law = law_,                                                      \
                              .degree = degree_,                                                \
                              .plummer = plummer_,                                              \
                              .mixed = mixed_,                                                  \
                              .many = many_,                                                    \
                              .vectors = VECTORS};                                              \
    forces_on_targets(law, loop, s, t, sum);                                                    \
  }
#define PAIR_LOOPS(name, law, degree, mixed)                        \
  PAIR_LOOP(name##_spline_many, law, degree, false, mixed, true)    \
  PAIR_LOOP(name##_spline_few, law, degree, false, mixed, false)    \
  PAIR_LOOP(name##_plummer_many, law, degree, true, mixed, true)    \
  PAIR_LOOP(name##_plummer_few, law, degree, true, mixed, false)    \
  static const struct pair_functions name##_loops[] = {             \
      [SOFTENING_SPLINE] = {name##_spline_many, name##_spline_few}, \
      [SOFTENING_PLUMMER] = {name##_plummer_many, name##_plummer_few}};
PAIR_LOOPS(adapted, ADAPTED, 6, false)
PAIR_LOOPS(degree_7, POLYNOMIAL, 7, false)
PAIR_LOOPS(degree_8, POLYNOMIAL, 8, false)
PAIR_LOOPS(degree_9, POLYNOMIAL, 9, false)
PAIR_LOOPS(degree_10, POLYNOMIAL, 10, false)
PAIR_LOOPS(degree_11, POLYNOMIAL, 11, false)
PAIR_LOOPS(degree_12, POLYNOMIAL, 12, false)
PAIR_LOOPS(degree_any, POLYNOMIAL, law->split->p2p_degree, false)
PAIR_LOOPS(table, TABLE, 0, false)
PAIR_LOOPS(newton, NEWTON, 0, false)
PAIR_LOOPS(mixed_polynomial, POLYNOMIAL, law->split->p2p_degree, true)
PAIR_LOOPS(mixed_table, TABLE, 0, true)
PAIR_LOOPS(mixed_newton, NEWTON, 0, true)

static const struct pair_functions *choose_pair_functions(const struct p2p_law *law, bool mixed) {
  static const struct pair_functions *const by_degree[] = {degree_7_loops,  degree_8_loops,
                                                           degree_9_loops,  degree_10_loops,
                                                           degree_11_loops, degree_12_loops};
  const enum softening_kind softening = law->softening_kind;
  const int degree = law->split->p2p_degree;
  if (law->split->kind == SPLIT_NEWTON)
    return &(mixed ? mixed_newton_loops : newton_loops)[softening];
  if (law->kind == P2P_TABLE) return &(mixed ? mixed_table_loops : table_loops)[softening];
  if (mixed) return &mixed_polynomial_loops[softening];
  if (law->split->adapts) return &adapted_loops[softening];
  return &(degree >= 7 && degree <= 12 ? by_degree[degree - 7] : degree_any_loops)[softening];
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
  const float *c = law->split->potential;
  vfloat newton = inverse_root(kind, spline ? u : (vfloat)(u + soft2)), h = v_set(0.0f);
  if (kind != NEWTON) {
    const int degree = law->split->potential_degree;
    vfloat t = v_fma(u, v_set(2.0f), v_set(-1.0f));
    h = v_set(c[degree]);
    for (int k = degree - 1; k >= 0; k--) h = v_fma(h, t, v_set(c[k]));
  }
  const vmask softened = v_less(u, spline ? soft2 : v_set(0.0f));
  if (__builtin_expect(v_any(softened), 0))
    newton = v_select(softened, spline_potential(u, soft2), newton);
  return v_keep(v_less(u, v_set(R_CUT_SQUARED)), newton - h);
}

/** The potential at a target, without that of the target itself. Masses at the target's place that
 * are not softened more than it are added up apart, so that without the target's own mass the sum
 * is exact, however deep a particle's own potential is. */
static inline __attribute__((always_inline)) float
potential_of_target(const struct p2p_law *law, enum law kind, const struct sources *s,
                    const struct targets *t, int k) {
  const vfloat zero = v_set(0.0f), own = v_set(t->soft2[k]);
  vfloat sum = zero, here = zero;
  for (size_t i = 0; i < s->count; i += LANES) {
    vfloat d[3], soft2 = own, mass = v_set(1.0f);
    for (int c = 0; c < 3; c++) d[c] = v_load(s->x[c] + i) - v_set(t->x[c][k]);
    if (s->mass) {
      soft2 = v_max(own, v_load(s->soft2 + i));
      mass = v_load(s->mass + i);
    }
    const vfloat u = v_fma(d[0], d[0], v_fma(d[1], d[1], d[2] * d[2]));
    const vmask apart = v_less(zero, u + (soft2 - own));
    sum += v_keep(apart, potential_vector(law, kind, u, soft2) * mass);
    here += v_select(apart, zero, mass);
  }
  const float others = v_sum(here) - t->mass[k];
  return v_sum(sum) + (others > 0.0f ? others * potential_vector(law, kind, zero, own)[0] : 0.0f);
}

/** The potential at FEW targets. */
static void potential_periodic(const struct p2p_law *law, const struct sources *s,
                               const struct targets *t, float sum[P2P_SUMS][P2P_BLOCK]) {
  for (int k = 0; k < FEW; k++) sum[0][k] = potential_of_target(law, POLYNOMIAL, s, t, k);
}
static void potential_newton(const struct p2p_law *law, const struct sources *s,
                             const struct targets *t, float sum[P2P_SUMS][P2P_BLOCK]) {
  for (int k = 0; k < FEW; k++) sum[0][k] = potential_of_target(law, NEWTON, s, t, k);
}

/** The state of the computation of one leaf. */
struct leaf {
  const struct p2p_law *law;
  const struct p2p_target *target;
  struct p2p_scratch *scratch;
  struct pair_functions pair;
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

/** Targets first .. first + used - 1, and copies of the first one in the other slots. */
static struct targets targets_at(const struct leaf *l, uint32_t first, uint32_t used,
                                 uint32_t slots) {
  struct targets t;
  for (uint32_t k = 0; k < slots; k++) {
    const uint32_t i = first + (k < used ? k : 0);
    float x[3];
    relative_position(l, i, x);
    for (int c = 0; c < 3; c++) t.x[c][k] = x[c];
    t.soft2[k] = p2p_target_soft2(l->law, l->target, i);
    t.mass[k] = p2p_target_mass(l->target, i);
  }
  return t;
}

/** Compute the forces on particles first .. end - 1, a block, from a list of all their sources. */
static void block(struct leaf *l, const struct sources *sources, uint32_t first, uint32_t end) {
  const float factor = (float)((double)l->target->factor / FORCE_UNIT);
  for (uint32_t i = first; i < end;) {
    const bool many = end - i > MANY / 2 && l->pair.many;
    const uint32_t slots = many ? MANY : FEW, used = end - i < slots ? end - i : slots;
    const struct targets targets = targets_at(l, i, used, slots);
    float sum[P2P_SUMS][P2P_BLOCK];
    (many ? l->pair.many : l->pair.few)(l->law, sources, &targets, sum);
    for (uint32_t k = 0; k < used && l->potential; k++) l->potential[i + k] = sum[0][k];
    for (size_t c = 0; c < p2p_components(l->target) && l->acceleration; c++)
      for (uint32_t k = 0; k < used; k++)
        l->acceleration[c * l->target->count + i + k] = factor * sum[c][k];
    i += used;
  }
  l->pairs += (uint64_t)sources->count * (end - first);
}

static struct reach reach_of(const struct leaf *l, uint32_t first, uint32_t end) {
  struct reach r = {{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
  for (uint32_t i = first; i < end; i++) {
    float x[3];
    relative_position(l, i, x);
    for (int c = 0; c < 3; c++) {
      r.low[c] = fminf(r.low[c], x[c]);
      r.high[c] = fmaxf(r.high[c], x[c]);
    }
  }
  return r;
}

/* Parts of a leaf with more targets than a block and at most so many use the sources of the whole:
 * filtering these for the part saves the blocks no more time than it takes. */
enum { UNFILTERED = 32 };

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
    const uint32_t count = halves[k].end - halves[k].first;
    if (count > P2P_BLOCK && count <= UNFILTERED) {
      halve(l, sources, &halves[k]);
      continue;
    }
    const struct reach reach = reach_of(l, halves[k].first, halves[k].end);
    const struct sources kept = filter(sources, &reach, l->scratch,
                                       halves[k].level - l->target->depth);
    halve(l, &kept, &halves[k]);
  }
}

/** Most particles of a leaf before `end`. */
static uint32_t largest_leaf(const struct p2p_target *t, uint32_t end) {
  uint32_t most = (t->count >> t->depth) + 1;
  for (uint32_t leaf = t->leaf; t->first && leaf < end; leaf++)
    if (t->first[leaf + 1] - t->first[leaf] > most) most = t->first[leaf + 1] - t->first[leaf];
  return most;
}

/** Compute the forces on all targets, or their potential. */
static void all_leaves(struct leaf *l) {
  const struct p2p_target *t = l->target;
  struct p2p_scratch *scratch = l->scratch;
  const float half_box = (float)(0.5 * POSITION_TURN) * t->scale;
  const bool newton = l->law->split->kind == SPLIT_NEWTON;
  const uint32_t leaf_end = t->leaf_end ? t->leaf_end : 1u << t->depth,
                 largest = largest_leaf(t, leaf_end);
  unsigned levels = 1;
  while ((largest >> (levels - 1)) + 1 > P2P_BLOCK) levels++;
  p2p_scratch_reserve(scratch, 1, levels + 1);
  for (uint32_t leaf = t->leaf; leaf < leaf_end; leaf++) {
    const struct node *node = &t->nodes[(1u << t->depth) + leaf];
    const uint32_t first = tree_level_first(t->count, t->depth, t->first, t->depth, leaf),
                   end = tree_level_first(t->count, t->depth, t->first, t->depth, leaf + 1);
    if (first == end) continue;
    if (newton || fmaxf(fmaxf(node->half[0], node->half[1]), node->half[2]) + R_CUT < half_box) {
      const float *half = node->half;
      const struct reach reach = {{-half[0], -half[1], -half[2]}, {half[0], half[1], half[2]}};
      memcpy(l->origin, node->centre, sizeof l->origin);
      struct sources sources = gather(l->law, t, leaf, l->origin, &reach, scratch);
      halve(l, &sources, &(const struct part){t->depth, leaf, first, end});
    } else { /* wide leaf: nearest images differ among its particles */
      for (uint32_t i = first; i < end; i++) {
        const struct reach reach = {{0.0f}, {0.0f}};
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
                   .pair = *choose_pair_functions(law, is_mixed(t)),
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
                   .pair = {.few = newton ? potential_newton : potential_periodic},
                   .potential = potential};
  all_leaves(&l);
}
