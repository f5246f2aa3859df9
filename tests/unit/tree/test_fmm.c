/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The FMM operators of every order and instruction set against moments, derivatives and forces
 * summed in higher precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/tree/fmm.h"
#include "support/kernels.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#include "support/assert_near.h"
#include "support/fmm_reference.h"

#define SCALE 0x1p-29 /* r_cut units per position unit: the box is 8 r_cut wide */
#define BOX 8.0
#define EPSILON 0x1p-24 /* largest relative rounding error of a float */

/** Call the test for every instruction set of this processor. */
static void for_each_isa(void (*test)(const struct fmm_operators *f)) {
  static const char *const isas[] = {"baseline", "avx2", "avx512"};
  unsetenv("PHOTONS_ISA");
  const struct kernels best = kernels_select();
  for (int i = 0; i < 3; i++) {
    setenv("PHOTONS_ISA", isas[i], 1);
    const struct kernels k = kernels_select();
    test(&k.fmm);
    if (strcmp(k.name, best.name) == 0) return;
  }
}

/* ---- Groups of particles ---- */

struct group {
  uint32_t count;
  unsigned depth;
  uint32_t *x;
  struct node *nodes;
  float *multipole, *local, *acceleration;
};

static double random_unit(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static double separation(uint32_t a, uint32_t b) { return (double)(int32_t)(a - b) * SCALE; }

/** Compute boxes around the particles of each node. Empty nodes get a distant place, which must not
 * matter. */
static void refit(struct group *g) {
  for (uint32_t i = 1; i < tree_nodes(g->depth); i++) {
    struct node *node = &g->nodes[i];
    uint32_t first = node_first(g->count, i), end = node_end(g->count, i);
    double radius2 = 0.0;
    for (size_t c = 0; c < 3; c++) {
      const uint32_t *x = g->x + c * g->count;
      if (first == end) {
        node->centre[c] = 12345;
        continue;
      }
      int32_t low = 0, high = 0;
      for (uint32_t k = first; k < end; k++) {
        int32_t d = (int32_t)(x[k] - x[first]);
        low = d < low ? d : low;
        high = d > high ? d : high;
      }
      node->centre[c] = x[first] + (uint32_t)((low + high) / 2);
      node->half[c] = (float)(0.5 * SCALE * ((double)high - low + 1.0));
    }
    for (uint32_t k = first; k < end; k++) {
      double r2 = 0.0;
      for (size_t c = 0; c < 3; c++)
        r2 += pow(separation(g->x[c * g->count + k], node->centre[c]), 2.0);
      radius2 = fmax(radius2, r2);
    }
    node->radius = (float)sqrt(radius2);
  }
}

/** Random particles in a ball about a place in units of r_cut, sorted so that the first half of
 * them lies on its left side. */
static struct group make_group(uint32_t count, unsigned depth, double cx, double cy, double cz,
                               double radius, uint64_t seed) {
  struct group g = {.count = count, .depth = depth};
  const double centre[3] = {cx, cy, cz};
  g.x = allocate(3 * (size_t)count, sizeof *g.x, "positions");
  g.nodes = allocate(tree_nodes(depth), sizeof *g.nodes, "nodes");
  g.multipole = allocate((size_t)tree_nodes(depth) * fmm_multipole_size(FMM_ORDER_MAX),
                         sizeof(float), "multipoles");
  g.local = allocate((size_t)tree_nodes(depth) * fmm_local_size(FMM_ORDER_MAX), sizeof(float),
                     "local expansions");
  g.acceleration = allocate(3 * (size_t)count, sizeof(float), "accelerations");
  uint32_t left = 0, right = count;
  while (left < right) {
    double p[3], r2 = 0.0;
    for (int c = 0; c < 3; c++) p[c] = 2.0 * random_unit(&seed) - 1.0, r2 += p[c] * p[c];
    if (r2 > 1.0) continue;
    uint32_t to = p[0] < 0.0 ? left++ : --right;
    for (size_t c = 0; c < 3; c++) {
      double turns = (centre[c] + radius * p[c]) / BOX;
      g.x[c * count + to] = (uint32_t)(int64_t)((turns - floor(turns)) * 0x1p32);
    }
  }
  refit(&g);
  return g;
}

static void free_group(struct group *g) {
  free(g->x), free(g->nodes), free(g->multipole), free(g->local), free(g->acceleration);
}

static void upward(const struct fmm_operators *f, int p, struct group *g) {
  f->p2m(p, g->count, g->depth, 1, (float)SCALE, g->x, NULL, g->nodes, g->multipole);
  f->m2m(p, 1, 0, g->depth, (float)SCALE, g->nodes, g->multipole);
}

/** The operators up and down the tree by subtrees, and what is above them, leave what they leave of the whole tree. */
static void check_subtrees(const struct fmm_operators *f) {
  enum { PARTICLES = 5000, DEPTH = 8, LEVEL = 2, TOP = 4 };
  const float scale = (float)SCALE;
  struct group g = make_group(PARTICLES, DEPTH, 1.0, 2.0, 3.0, 0.5, 9);
  for (int p = 1; p <= FMM_ORDER_MAX; p++) {
    const size_t up = tree_nodes(DEPTH) * fmm_multipole_size(p),
                 down = tree_nodes(DEPTH) * fmm_local_size(p), three = 3 * (size_t)PARTICLES;
    float *multipole = allocate(up, sizeof *multipole, "multipoles"),
          *local = allocate(down, sizeof *local, "local expansions"),
          *acceleration = allocate(three, sizeof *acceleration, "accelerations");
    uint64_t state = 3;
    for (size_t i = 0; i < down; i++) g.local[i] = local[i] = (float)(random_unit(&state) - 0.5);
    memset(g.multipole, 0, up * sizeof *multipole);
    memset(g.acceleration, 0, three * sizeof *acceleration);
    upward(f, p, &g);
    f->l2l(p, 1, 0, DEPTH, scale, g.nodes, g.local);
    f->l2p(p, PARTICLES, DEPTH, NULL, 1, scale, 2.0f, g.x, g.nodes, g.local, g.acceleration);
    for (uint32_t root = 2u << LEVEL; --root >= 1u << LEVEL;) {
      f->p2m(p, PARTICLES, DEPTH, root, scale, g.x, NULL, g.nodes, multipole);
      f->m2m(p, root, TOP, DEPTH, scale, g.nodes, multipole);
    }
    f->m2m(p, 1, 0, TOP, scale, g.nodes, multipole);
    f->l2l(p, 1, 0, TOP, scale, g.nodes, local);
    for (uint32_t root = 2u << LEVEL; --root >= 1u << LEVEL;) {
      f->l2l(p, root, TOP, DEPTH, scale, g.nodes, local);
      f->l2p(p, PARTICLES, DEPTH, NULL, root, scale, 2.0f, g.x, g.nodes, local, acceleration);
    }
    assert_memory_equal(multipole, g.multipole, up * sizeof *multipole);
    assert_memory_equal(local, g.local, down * sizeof *local);
    assert_memory_equal(acceleration, g.acceleration, three * sizeof *acceleration);
    free(multipole), free(local), free(acceleration);
  }
  free_group(&g);
}

static void test_subtrees(void **state) {
  (void)state;
  for_each_isa(check_subtrees);
}

/** Force of one root on another, down to the particles. */
static void root_on_root(const struct fmm_operators *f, int p, const struct law *l,
                         struct group *target, const struct group *source) {
  uint32_t *offset = allocate(tree_nodes(target->depth) + 1, sizeof *offset, "list"), entry = 1;
  for (uint32_t t = 2; t <= tree_nodes(target->depth); t++) offset[t] = 1;
  const struct interaction_list far = {.offset = offset, .entry = &entry, .entries = 1};
  const struct node *nodes = source->nodes;
  const float *multipole = source->multipole;
  f->m2l(p, target->depth, target->depth, (float)SCALE, &l->split, &far, target->nodes, &nodes,
         &multipole, target->local);
  f->l2l(p, 1, 0, target->depth, (float)SCALE, target->nodes, target->local);
  memset(target->acceleration, 0, 3 * (size_t)target->count * sizeof(float));
  f->l2p(p, target->count, target->depth, NULL, 1, (float)SCALE, 1.0f, target->x, target->nodes,
         target->local, target->acceleration);
  free(offset);
}

/* ---- Tests ---- */

/* A term (-d)^m/m! of a leaf is right to |m| + 3 roundings, and each level above adds up terms no
 * larger than (2 half)^m/m!, with half the node's own half width, by |m| + 2 more; 12 roundings of
 * the sum of those bounds cover the three levels. */
static void moments(const struct fmm_operators *f, uint32_t count, unsigned depth) {
  const struct index *index = indices();
  struct group g = make_group(count, depth, 0.01, 4.0, 7.99, 0.3, 1); /* across the periodic edge */
  for (int p = 1; p <= FMM_ORDER_MAX; p++) {
    upward(f, p, &g);
    for (uint32_t i = 1; i < tree_nodes(depth); i++)
      for (uint32_t m = 0; m < fmm_multipole_size(p); m++) {
        uint32_t first = node_first(count, i), end = node_end(count, i);
        double sum = 0.0, d[3], half[3];
        for (uint32_t k = first; k < end; k++) {
          for (size_t c = 0; c < 3; c++)
            d[c] = -separation(g.x[c * count + k], g.nodes[i].centre[c]);
          sum += power(d, index[m]) / factorial(index[m]);
        }
        for (int c = 0; c < 3; c++) half[c] = 2.0 * (double)g.nodes[i].half[c];
        double bound = (end - first) * power(half, index[m]) / factorial(index[m]);
        assert_near((double)g.multipole[i * fmm_multipole_size(p) + m], sum, 12 * EPSILON * bound);
      }
  }
  free_group(&g);
}

static void isa_moments(const struct fmm_operators *f) {
  moments(f, 1, 0);
  moments(f, 333, 3);
  moments(f, 1000, 6);
  moments(f, 5, 3); /* fewer particles than leaves: some are empty */
}

static void test_moments(void **state) {
  (void)state;
  for_each_isa(isa_moments);
}

/* L of a unit monopole is D itself. 1/|R| is right to 2.5 roundings and D of degree n is a product
 * of n + 1 of them, n components of R and the factors of n steps of the recurrence, two roundings
 * each: 5 n + 4 at most, relative to the largest term. The same covers the polynomials of H, which
 * are right to 2 units in the last place of H^(n)(0). */
static void isa_derivatives(const struct fmm_operators *f) {
  enum { DEPTH = 7, NODES = 2 << DEPTH };
  static struct node nodes[NODES], sources[NODES];
  static float multipole[NODES * 56], local[NODES * 83];
  static uint32_t offset[NODES + 1], entry[NODES];
  for (int which = 0; which < LAWS; which++) {
    struct law l = make_law(which);
    const double largest = which ? sqrt((double)l.split.fmm_range) : 1.5;
    uint64_t seed = 7;
    for (uint32_t i = 1; i < NODES; i++) {
      double r = 1e-4 * pow(0.999 * largest / 1e-4, random_unit(&seed)),
             z = 2.0 * random_unit(&seed) - 1.0;
      if (i < 16) z = 0.0; /* on a plane or an axis too */
      double phi = i < 8 ? 0.0 : 2.0 * M_PI * random_unit(&seed), rho = sqrt(1.0 - z * z);
      const double unit[3] = {rho * cos(phi), rho * sin(phi), z};
      for (int c = 0; c < 3; c++) {
        sources[i].centre[c] = (uint32_t)(random_unit(&seed) * 0x1p32);
        nodes[i].centre[c] = sources[i].centre[c] + (uint32_t)(int32_t)lrint(unit[c] * r / SCALE);
      }
      offset[i] = i - 1;
      entry[i - 1] = i;
    }
    offset[NODES] = NODES - 1;
    const struct interaction_list far = {.offset = offset, .entry = entry, .entries = NODES - 1};
    for (int p = 1; p <= FMM_ORDER_MAX; p++) {
      const uint32_t size = fmm_local_size(p);
      memset(multipole, 0, sizeof multipole);
      for (uint32_t i = 1; i < NODES; i++) multipole[i * fmm_multipole_size(p)] = 1.0f;
      const struct node *source_nodes = sources;
      const float *source_multipole = multipole;
      f->m2l(p, DEPTH, DEPTH, (float)SCALE, &l.split, &far, nodes, &source_nodes, &source_multipole,
             local);
      for (uint32_t i = 1; i < NODES; i++) {
        long double d[TERMS_MAX];
        double bound[TERMS_MAX], r[3];
        for (int c = 0; c < 3; c++) r[c] = separation(nodes[i].centre[c], sources[i].centre[c]);
        derivatives(&l, r, d, bound);
        for (uint32_t k = 1; k <= size; k++)
          assert_near((double)local[i * size + k - 1], (double)d[k],
                      (5 * degree(indices()[k]) + 4) * EPSILON * bound[k]);
      }
    }
  }
}

static void test_derivatives(void **state) {
  (void)state;
  for_each_isa(isa_derivatives);
}

/** Largest and rms error of the target's accelerations in units of count/R^2, Newton's acceleration
 * by the whole source. */
struct force_error {
  double largest, rms;
};

/** Against direct summation; the law's series holds beyond r_cut as well. */
static struct force_error measure_error(const struct law *l, const struct group *target,
                                        const struct group *source, double distance) {
  struct force_error e = {0.0, 0.0};
  for (size_t i = 0; i < target->count; i++) {
    double error2 = 0.0, sum[3] = {0.0, 0.0, 0.0};
    for (size_t j = 0; j < source->count; j++) {
      double d[3], r2 = 0.0;
      for (size_t c = 0; c < 3; c++) {
        d[c] = separation(target->x[c * target->count + i], source->x[c * source->count + j]);
        r2 += d[c] * d[c];
      }
      for (int c = 0; c < 3; c++)
        sum[c] += d[c] * (-1.0 / (r2 * sqrt(r2)) - (double)law_h(l, 1, (long double)r2));
    }
    for (size_t c = 0; c < 3; c++)
      error2 += pow((double)target->acceleration[c * target->count + i] - sum[c], 2.0);
    error2 *= pow(distance * distance / source->count, 2.0);
    e.largest = fmax(e.largest, sqrt(error2));
    e.rms += error2 / target->count;
  }
  e.rms = sqrt(e.rms);
  return e;
}

/* The force's Taylor term of degree n between points displaced by s = theta d is at most (n + 1)
 * theta^n of Newton's force at d (the gradient of a solid harmonic), so order p, which keeps
 * degrees below p, errs by at most sum_{n >= p} (n + 1) theta^n = theta^p (1 + p (1 - theta)) / (1
 * - theta)^2. The split adds the derivatives of H, smooth over r_s; for the displacements used here
 * they at most double the sum. From one order to the next the error falls by theta, or, where the
 * split's Gaussian governs, exp(-(d + s)^2 / 4 r_s^2), by E / (p + 1) with E = d s / 2 r_s^2 (its
 * Taylor terms are E^n / n!). 2e-6: float. */
static void convergence(const struct fmm_operators *f, int which, double distance, double radius) {
  struct law l = make_law(which);
  struct group source = make_group(60, 2, 7.9, 0.05, 3.0, radius, 3);
  struct group target = make_group(50, 3, 7.9 + 0.6 * distance, 0.05 - 0.64 * distance,
                                   3.0 + 0.48 * distance, radius, 5);
  double d2 = 0.0, previous = INFINITY;
  for (int c = 0; c < 3; c++)
    d2 += pow(separation(target.nodes[1].centre[c], source.nodes[1].centre[c]), 2.0);
  const double d = sqrt(d2), theta = (double)(source.nodes[1].radius + target.nodes[1].radius) / d;
  const double gaussian = which ? theta * d2 * 0.5 * pow(l.split.r_cut / l.split.r_s, 2.0) : 0.0;
  for (int p = 1; p <= FMM_ORDER_MAX; p++) {
    upward(f, p, &source);
    root_on_root(f, p, &l, &target, &source);
    struct force_error e = measure_error(&l, &target, &source, d);
    double bound = pow(theta, p) * (1.0 + p * (1.0 - theta)) / ((1.0 - theta) * (1.0 - theta));
    assert_true(e.largest < (which ? 2.0 : 1.0) * bound + 2e-6);
    assert_true(e.rms < fmax(theta, gaussian / p) * previous + 2e-6);
    previous = e.rms;
  }
  free_group(&source);
  free_group(&target);
}

static void isa_convergence(const struct fmm_operators *f) {
  for (int which = 0; which < LAWS; which++) {
    convergence(f, which, 0.05, 0.01);
    convergence(f, which, 0.5, 0.12);
    convergence(f, which, which == KAISER ? 0.8 : 1.1,
                0.1); /* 1.1: centres beyond r_cut, where only a Gaussian has a tail */
  }
}

static void test_convergence(void **state) {
  (void)state;
  for_each_isa(isa_convergence);
}

/* Expansions that keep |m| + |k| <= p treat both nodes alike, so that the two forces cancel but for
 * rounding: 100 roundings of the sum of absolute values, some 30 of the operators and a random walk
 * over the particles. */
static void isa_momentum(const struct fmm_operators *f) {
  for (int which = 0; which < LAWS; which++) {
    struct law l = make_law(which);
    struct group a = make_group(40, 1, 0.1, 0.1, 0.1, 0.1, 11),
                 b = make_group(77, 2, 0.4, 0.2, 7.9, 0.12, 12);
    for (int p = 1; p <= FMM_ORDER_MAX; p++) {
      upward(f, p, &a);
      upward(f, p, &b);
      root_on_root(f, p, &l, &a, &b);
      root_on_root(f, p, &l, &b, &a);
      for (size_t c = 0; c < 3; c++) {
        double sum = 0.0, absolute = 0.0;
        for (size_t i = 0; i < a.count; i++)
          sum += (double)a.acceleration[c * a.count + i],
              absolute += fabs((double)a.acceleration[c * a.count + i]);
        for (size_t i = 0; i < b.count; i++)
          sum += (double)b.acceleration[c * b.count + i],
              absolute += fabs((double)b.acceleration[c * b.count + i]);
        assert_near(sum, 0.0, 100 * EPSILON * absolute);
      }
    }
    free_group(&a);
    free_group(&b);
  }
}

static void test_momentum(void **state) {
  (void)state;
  for_each_isa(isa_momentum);
}

/** Lists of all lengths over several slots, some empty. */
enum { LIST_DEPTH = 5, LIST_NODES = 2 << LIST_DEPTH, LIST_SLOTS = 3, LIST_LONGEST = 37 };
struct lists {
  struct node nodes[LIST_SLOTS][LIST_NODES];
  float multipole[LIST_SLOTS][LIST_NODES * 56];
  uint32_t offset[LIST_NODES + 1], entry[LIST_NODES * LIST_LONGEST];
};

/** Targets in a cube of 0.4 r_cut, the other slots' nodes in another one 0.6 r_cut away; moments as
 * of nodes 0.05 r_cut wide. */
static struct lists *make_lists(int p) {
  struct lists *s = allocate(1, sizeof *s, "lists");
  uint64_t seed = 21;
  const uint32_t size = fmm_multipole_size(p);
  for (uint32_t slot = 0; slot < LIST_SLOTS; slot++)
    for (uint32_t i = 0; i < LIST_NODES; i++) {
      for (int c = 0; c < 3; c++)
        s->nodes[slot][i].centre[c] = (uint32_t)(int64_t)((0.4 * random_unit(&seed) - 0.2 +
                                                           (c == 0 && slot ? 0.6 : 0.0)) /
                                                          SCALE);
      for (uint32_t m = 0; m < size; m++)
        s->multipole[slot][i * size + m] = (float)((2.0 * random_unit(&seed) - 1.0) *
                                                   pow(0.05, degree(indices()[m])));
    }
  for (uint32_t t = 1; t < LIST_NODES; t++) {
    uint32_t length = t % 5 == 1 ? 0 : (uint32_t)(random_unit(&seed) * (LIST_LONGEST + 1)),
             e = s->offset[t];
    for (uint32_t k = 0; k < length; k++) {
      uint32_t slot = 1 + (uint32_t)(random_unit(&seed) * 2.0),
               node = 1 + (uint32_t)(random_unit(&seed) * (LIST_NODES - 1));
      s->entry[e++] = (slot << (LIST_DEPTH + 1)) | node;
    }
    s->offset[t + 1] = e;
  }
  return s;
}

static void run_lists(const struct fmm_operators *f, int p, const struct law *l, struct lists *s,
                      const struct interaction_list *far, float *local) {
  const struct node *nodes[LIST_SLOTS];
  const float *multipole[LIST_SLOTS];
  for (int i = 0; i < LIST_SLOTS; i++) nodes[i] = s->nodes[i], multipole[i] = s->multipole[i];
  /* must be overwritten */
  for (uint32_t i = 0; i < LIST_NODES * fmm_local_size(p); i++) local[i] = NAN;
  f->m2l(p, LIST_DEPTH, LIST_DEPTH, (float)SCALE, &l->split, far, s->nodes[0], nodes, multipole,
         local);
}

/** L of one target in double, and the sum of its terms' bounds. */
static void reference_local(int p, const struct law *l, const struct lists *s, uint32_t target,
                            double *local, double *bound) {
  const struct index *index = indices();
  for (int k = 1; k < TERMS_MAX; k++) local[k] = bound[k] = 0.0;
  for (uint32_t e = s->offset[target]; e < s->offset[target + 1]; e++) {
    uint32_t slot = s->entry[e] >> (LIST_DEPTH + 1), node = s->entry[e] % LIST_NODES;
    long double d[TERMS_MAX];
    double d_bound[TERMS_MAX], r[3];
    for (int c = 0; c < 3; c++)
      r[c] = separation(s->nodes[0][target].centre[c], s->nodes[slot][node].centre[c]);
    derivatives(l, r, d, d_bound);
    for (uint32_t k = 1; k <= fmm_local_size(p); k++)
      for (uint32_t m = 0; m < fmm_terms(p - degree(index[k])); m++) {
        const int *kn = index[k].n, *mn = index[m].n;
        int sum = place(kn[0] + mn[0], kn[1] + mn[1], kn[2] + mn[2]);
        double moment = (double)s->multipole[slot][node * fmm_multipole_size(p) + m];
        local[k] += moment * (double)d[sum];
        bound[k] += fabs(moment) * d_bound[sum];
      }
  }
}

/* Up to 34 roundings of D (see the derivatives) and a random walk of at most sqrt(37 * 56)
 * additions. */
static void isa_lists(const struct fmm_operators *f) {
  static float local[LIST_NODES * 83], alone[LIST_NODES * 83];
  const struct law l = make_law(GAUSS);
  for (int p = 1; p <= FMM_ORDER_MAX; p++) {
    struct lists *s = make_lists(p);
    const uint32_t size = fmm_local_size(p);
    struct interaction_list far = {
        .offset = s->offset, .entry = s->entry, .entries = s->offset[LIST_NODES]};
    run_lists(f, p, &l, s, &far, local);
    for (uint32_t t = 1; t < LIST_NODES; t++) {
      double expected[TERMS_MAX], bound[TERMS_MAX];
      reference_local(p, &l, s, t, expected, bound);
      for (uint32_t k = 1; k <= size; k++)
        assert_near((double)local[t * size + k - 1], expected[k], 80 * EPSILON * bound[k]);
    }
    /* the order of a target's sum does not depend on the other targets: without them it gives the
     * same bits */
    uint32_t offset[LIST_NODES + 1], only = LIST_NODES / 2;
    for (uint32_t t = 0; t <= LIST_NODES; t++) offset[t] = s->offset[t <= only ? only : only + 1];
    assert_true(offset[only] < offset[only + 1]);
    far.offset = offset;
    far.entries = offset[LIST_NODES];
    run_lists(f, p, &l, s, &far, alone);
    assert_memory_equal(local + only * size, alone + only * size, size * sizeof *local);
    free(s);
  }
}

static void test_lists(void **state) {
  (void)state;
  for_each_isa(isa_lists);
}

/* From fmm_range on nothing acts: L is exactly zero. */
static void isa_range(const struct fmm_operators *f) {
  const struct law l = make_law(KAISER);
  for (int p = 1; p <= FMM_ORDER_MAX; p++) {
    struct group a = make_group(9, 0, 1.0, 1.0, 1.0, 0.1, 1),
                 b = make_group(9, 0, 1.0, 1.0, 2.8, 0.1, 2);
    upward(f, p, &b);
    root_on_root(f, p, &l, &a, &b);
    for (size_t i = 0; i < 3 * (size_t)a.count; i++) assert_true(a.acceleration[i] == 0.0f);
    free_group(&a);
    free_group(&b);
  }
}

static void test_range(void **state) {
  (void)state;
  for_each_isa(isa_range);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_moments),     cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_convergence), cmocka_unit_test(test_subtrees),
      cmocka_unit_test(test_momentum),    cmocka_unit_test(test_lists),
      cmocka_unit_test(test_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
