/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P2P: direct short-range forces from gathered sources, two targets at a time against one vector of sources. */
#include "photons/p2p.h"

#include "photons/kernels.h"
#include "simd.h"

/** Positions go out relative to the target leaf's centre, so that floats lose nothing that matters. */
struct gather {
  uint32_t centre[3];
  float half[3]; /* box around the targets: sources farther than r_cut = 1 from it are dropped */
};

/** Append to the scratch those of n sources that can reach the box; returns the new number. */
static size_t gather_range(const struct gather *g, float scale, const uint32_t *const x[3], uint32_t n, struct p2p_scratch *s,
                           size_t have) {
  const vfloat unit = v_set(scale), zero = v_set(0.0f), one = v_set(1.0f);
  const vfloat hx = v_set(g->half[0]), hy = v_set(g->half[1]), hz = v_set(g->half[2]);
  for (uint32_t i = 0; i < n; i += LANES) {
    vmask valid = v_first(n - i);
    vfloat dx = v_difference(x[0] + i, g->centre[0], valid) * unit;
    vfloat dy = v_difference(x[1] + i, g->centre[1], valid) * unit;
    vfloat dz = v_difference(x[2] + i, g->centre[2], valid) * unit;
    vfloat ex = v_max(v_abs(dx) - hx, zero), ey = v_max(v_abs(dy) - hy, zero), ez = v_max(v_abs(dz) - hz, zero);
    vmask keep = v_both(valid, v_less(v_fma(ex, ex, v_fma(ey, ey, ez * ez)), one));
    v_compress(s->x[0] + have, keep, dx);
    v_compress(s->x[1] + have, keep, dy);
    v_compress(s->x[2] + have, keep, dz);
    have += v_count(keep);
  }
  return have;
}

static size_t gather_sources(const struct gather *g, const struct p2p_target *t, uint32_t leaf, struct p2p_scratch *s) {
  size_t have = 0;
  const uint32_t node_mask = tree_nodes(t->depth) - 1;
  for (uint32_t e = t->near->offset[leaf]; e < t->near->offset[leaf + 1]; e++) {
    uint32_t slot = t->near->entry[e] >> (t->depth + 1), node = t->near->entry[e] & node_mask;
    uint32_t n = t->source_count[slot], first = node_first(n, node), end = node_end(n, node);
    const uint32_t *x = t->source_x[slot];
    const uint32_t *const components[3] = {x + first, x + n + first, x + 2 * (size_t)n + first};
    p2p_scratch_reserve(s, have + (end - first) + 2 * LANES);
    have = gather_range(g, t->scale, components, end - first, s, have);
  }
  p2p_scratch_reserve(s, have + 2 * LANES);
  for (size_t i = have; i < have + LANES; i++) /* pad the last vector with sources out of reach */
    s->x[0][i] = s->x[1][i] = s->x[2][i] = 4.0f;
  return have;
}

/** Spline-softened F/d where u < support^2, in a branch of its own: rare outside halos' centres. */
static __attribute__((noinline)) vfloat spline_vector(vfloat u, float support2) {
  const float inverse = 1.0f / sqrtf(support2), inverse3 = inverse * inverse * inverse;
  vfloat q = v_sqrt(u) * v_set(inverse), q2 = q * q;
  vfloat in = v_fma(q2, v_fma(v_set(32.0f), q, v_set(-38.4f)), v_set(32.0f / 3.0f));
  vfloat safe = v_max(q, v_set(0.25f)), safe3 = safe * safe * safe;
  vfloat out = v_fma(q2, v_fma(v_set(-32.0f / 3.0f), q, v_set(38.4f)), v_fma(v_set(-48.0f), q, v_set(64.0f / 3.0f))) -
               v_set(1.0f / 15.0f) / safe3;
  return v_select(v_less(q, v_set(0.5f)), in, out) * v_set(inverse3);
}

/** The paper's table: T(x') by Taylor expansion about the nearest of 512 entries; x' = r/(2 r_s). Returns T. */
static vfloat table_vector(const struct p2p_law *law, vfloat r) {
  const struct split *s = law->split;
  const float to_argument = (float)(s->r_cut / (2.0 * s->r_s)), inverse_step = (float)(1.0 / s->table_step), step = (float)s->table_step;
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

/** F/d of one vector of squared distances (units of r_cut), zero where u >= 1. */
static inline __attribute__((always_inline)) vfloat force_vector(const struct p2p_law *law, int degree, int table, vfloat u) {
  const vfloat one = v_set(1.0f), support2 = v_set(law->support2);
  vfloat soft2 = u + v_set(law->plummer2); /* plummer2 is 0 for the spline */
  /* r^-3 = y^3 (1 + 3/2 e), e = 1 - r^2 y^2, from an estimate y: one Newton step carried straight to the cube */
  vfloat y = v_rsqrt_estimate(soft2), y2 = y * y;
  vfloat newton = y2 * y * v_fma(v_fnma(soft2, y2, one), v_set(1.5f), one);
  vfloat h;
  if (table) {
    vfloat r2 = v_max(u, v_set(1e-12f)), r = v_sqrt(r2);
    h = (one - table_vector(law, r)) / (r * r2);
  } else {
    const float *c = law->split->p2p;
    vfloat t = v_fma(v_set(2.0f), u, v_set(-1.0f));
    h = v_set(c[degree]);
#pragma GCC unroll 16
    for (int k = degree - 1; k >= 0; k--) h = v_fma(h, t, v_set(c[k]));
  }
  vfloat f = v_keep(v_less(u, one), newton - h);
  vmask softened = v_less(u, support2);
  if (__builtin_expect(v_any(softened), 0)) f = v_select(softened, spline_vector(u, law->support2) - h, f);
  return f;
}

/** Forces of n gathered sources on targets i and j (relative positions); sums into a[0..2], b[0..2]. */
static inline __attribute__((always_inline)) void pair_of_targets(const struct p2p_law *law, int degree, int table,
                                                                  const struct p2p_scratch *s, size_t n, const float ti[3],
                                                                  const float tj[3], float a[3], float b[3]) {
  vfloat xi = v_set(ti[0]), yi = v_set(ti[1]), zi = v_set(ti[2]), xj = v_set(tj[0]), yj = v_set(tj[1]), zj = v_set(tj[2]);
  vfloat ax = v_set(0), ay = v_set(0), az = v_set(0), bx = v_set(0), by = v_set(0), bz = v_set(0);
  for (size_t k = 0; k < n; k += LANES) {
    vfloat sx = v_load(s->x[0] + k), sy = v_load(s->x[1] + k), sz = v_load(s->x[2] + k);
    vfloat dx = sx - xi, dy = sy - yi, dz = sz - zi;
    vfloat f = force_vector(law, degree, table, v_fma(dx, dx, v_fma(dy, dy, dz * dz)));
    ax = v_fma(f, dx, ax), ay = v_fma(f, dy, ay), az = v_fma(f, dz, az);
    dx = sx - xj, dy = sy - yj, dz = sz - zj;
    f = force_vector(law, degree, table, v_fma(dx, dx, v_fma(dy, dy, dz * dz)));
    bx = v_fma(f, dx, bx), by = v_fma(f, dy, by), bz = v_fma(f, dz, bz);
  }
  a[0] = v_sum(ax), a[1] = v_sum(ay), a[2] = v_sum(az);
  b[0] = v_sum(bx), b[1] = v_sum(by), b[2] = v_sum(bz);
}

/* One copy of the pair loop for each degree, so that the coefficients stay in registers. */
#define PAIR_LOOP(degree)                                                                                                   \
  static void pair_degree_##degree(const struct p2p_law *law, const struct p2p_scratch *s, size_t n, const float ti[3],      \
                                   const float tj[3], float a[3], float b[3]) {                                              \
    pair_of_targets(law, degree, 0, s, n, ti, tj, a, b);                                                                     \
  }
PAIR_LOOP(6) PAIR_LOOP(7) PAIR_LOOP(8) PAIR_LOOP(9) PAIR_LOOP(10) PAIR_LOOP(11) PAIR_LOOP(12)

static void pair_degree_any(const struct p2p_law *law, const struct p2p_scratch *s, size_t n, const float ti[3], const float tj[3],
                            float a[3], float b[3]) {
  pair_of_targets(law, law->split->p2p_degree, 0, s, n, ti, tj, a, b);
}
static void pair_table(const struct p2p_law *law, const struct p2p_scratch *s, size_t n, const float ti[3], const float tj[3],
                       float a[3], float b[3]) {
  pair_of_targets(law, 0, 1, s, n, ti, tj, a, b);
}

typedef void pair_function(const struct p2p_law *, const struct p2p_scratch *, size_t, const float[3], const float[3], float[3],
                           float[3]);

static pair_function *choose_pair_function(const struct p2p_law *law) {
  static pair_function *const by_degree[] = {pair_degree_6, pair_degree_7,  pair_degree_8, pair_degree_9,
                                             pair_degree_10, pair_degree_11, pair_degree_12};
  if (law->kind == P2P_TABLE) return pair_table;
  int degree = law->split->p2p_degree;
  return degree >= 6 && degree <= 12 ? by_degree[degree - 6] : pair_degree_any;
}

static void relative_position(const struct p2p_target *t, uint32_t i, const uint32_t centre[3], float out[3]) {
  for (int c = 0; c < 3; c++) out[c] = (float)(int32_t)(t->x[(size_t)c * t->count + i] - centre[c]) * t->scale;
}

static void store(const struct p2p_target *t, uint32_t i, const float a[3], float *acceleration) {
  for (size_t c = 0; c < 3; c++) acceleration[c * t->count + i] = t->factor * a[c];
}

uint64_t KERNEL(p2p)(const struct p2p_law *law, const struct p2p_target *t, struct p2p_scratch *scratch, float *acceleration) {
  pair_function *pair = choose_pair_function(law);
  const float half_box = 2147483648.0f * t->scale;
  uint64_t pairs = 0;
  for (uint32_t leaf = 0; leaf < 1u << t->depth; leaf++) {
    const struct node *node = &t->nodes[(1u << t->depth) + leaf];
    uint32_t first = level_first(t->count, t->depth, leaf), end = level_first(t->count, t->depth, leaf + 1);
    struct gather g;
    float a[3], b[3], ti[3], tj[3];
    memcpy(g.centre, node->centre, sizeof g.centre);
    memcpy(g.half, node->half, sizeof g.half);
    if (fmaxf(fmaxf(g.half[0], g.half[1]), g.half[2]) + 1.0f < half_box) {
      size_t n = gather_sources(&g, t, leaf, scratch);
      pairs += (uint64_t)n * (end - first);
      for (uint32_t i = first; i < end; i += 2) {
        uint32_t j = i + 1 < end ? i + 1 : i;
        relative_position(t, i, g.centre, ti);
        relative_position(t, j, g.centre, tj);
        pair(law, scratch, n, ti, tj, a, b);
        store(t, i, a, acceleration);
        store(t, j, b, acceleration);
      }
    } else { /* a leaf so wide that a source's nearest image differs between its particles: gather for each particle alone */
      for (uint32_t i = first; i < end; i++) {
        for (int c = 0; c < 3; c++) {
          g.centre[c] = t->x[(size_t)c * t->count + i];
          g.half[c] = ti[c] = 0.0f;
        }
        size_t n = gather_sources(&g, t, leaf, scratch);
        pairs += n;
        pair(law, scratch, n, ti, ti, a, b);
        store(t, i, a, acceleration);
      }
    }
  }
  return pairs;
}
