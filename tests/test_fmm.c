/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The FMM operators of every order and instruction set against moments, derivatives and forces summed in higher precision. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/error.h"
#include "photons/fmm.h"
#include "photons/kernels.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#include "assert_near.h"

#define SCALE 0x1p-29 /* r_cut units per position unit: the box is 8 r_cut wide */
#define BOX 8.0
#define EPSILON 0x1p-24 /* largest relative rounding error of a float */
enum { TERMS_MAX = 84, SERIES = 200 };

/* ---- Instruction sets and splits ---- */

/** Call test once an instruction set of this processor. */
static void for_each_isa(void (*test)(const struct fmm_operators *f)) {
  static const char *const isas[] = {"baseline", "avx2", "avx512"};
  unsetenv("PHOTONS_ISA");
  const struct kernels *best = kernels_select();
  for (int i = 0; i < 3; i++) {
    setenv("PHOTONS_ISA", isas[i], 1);
    const struct kernels *k = kernels_select();
    test(&k->fmm);
    if (k == best) return;
  }
}

/** psi = 1/r - H with H's power series in long double, which the cancellation of its alternating terms leaves 12 digits. */
struct law {
  const char *name;
  struct split split;
  long double h[SERIES];
};

static struct law make_law(int which) {
  static const char *const names[] = {"Newton", "Gauss", "Kaiser"};
  struct law l = {.name = names[which]};
  if (which == 0) {
    l.split.fmm_range = FLT_MAX;
    return l;
  }
  const double r_s = 1.2, ratio = 5.0;
  split_init(&l.split, which == 1 ? SPLIT_GAUSS : SPLIT_KAISER, r_s, ratio * r_s, 9);
  const long double g2 = 0.25L * ratio * ratio, beta2 = 0.25L * ratio * ratio * ratio * ratio;
  long double sum = 0.0L;
  for (int j = 0; j < SERIES; j++) { /* w(v) = sum a_j v^j; H(u) = int_0^1 w(u y^2) dy = sum a_j u^j / (2j + 1) */
    long double a;
    if (which == 1) { /* w = 2/sqrt(pi) g exp(-g^2 v) */
      a = 1.12837916709551257390L * sqrtl(g2);
      for (int k = 1; k <= j; k++) a *= -g2 / k;
    } else { /* w ~ I0(beta sqrt(1 - v)) = sum (beta^2/4)^k (1 - v)^k / k!^2, of which (1 - v)^k gives binomial(k, j) (-v)^j */
      long double term = j % 2 ? -1.0L : 1.0L;
      for (int k = 1; k <= j; k++) term *= beta2 / 4 / ((long double)k * k);
      a = term;
      for (int k = j + 1; k < j + 100; k++) {
        term *= beta2 / 4 / ((long double)k * k) * k / (k - j);
        a += term;
      }
    }
    l.h[j] = a / (2 * j + 1);
    sum += l.h[j];
  }
  if (which == 2) /* all of the cloud's mass lies within r_cut: H(1) = 1 */
    for (int j = 0; j < SERIES; j++) l.h[j] /= sum;
  return l;
}

/** 2^n d^n H/du^n; absolute: with all terms positive it is not wanted, but at u = 0 it is the largest value anywhere. */
static long double law_h(const struct law *l, int n, long double u) {
  long double sum = 0.0L;
  for (int j = SERIES - 1; j >= n; j--) {
    long double falling = 1.0L;
    for (int i = 0; i < n; i++) falling *= 2 * (j - i);
    sum = sum * u + falling * l->h[j];
  }
  return sum;
}

/* ---- Multi-indices and derivatives in long double ---- */

struct index {
  int n[3];
};

static int place(int a, int b, int c) {
  int d = a + b + c, rest = b + c;
  return d * (d + 1) * (d + 2) / 6 + rest * (rest + 1) / 2 + c;
}

/** Multi-indices in the order that fmm.h defines. */
static const struct index *indices(void) {
  static struct index table[TERMS_MAX];
  for (int a = 0; a <= FMM_ORDER_MAX; a++)
    for (int b = 0; a + b <= FMM_ORDER_MAX; b++)
      for (int c = 0; a + b + c <= FMM_ORDER_MAX; c++) table[place(a, b, c)] = (struct index){{a, b, c}};
  return table;
}

static int degree(struct index i) { return i.n[0] + i.n[1] + i.n[2]; }

static double factorial(struct index i) {
  double f = 1.0;
  for (int c = 0; c < 3; c++)
    for (int k = 2; k <= i.n[c]; k++) f *= k;
  return f;
}

static double power(const double x[3], struct index i) {
  double f = 1.0;
  for (int c = 0; c < 3; c++)
    for (int k = 0; k < i.n[c]; k++) f *= x[c];
  return f;
}

/**
 * D_n = grad^n psi at R by composing Taylor series, another way than the recurrence's: psi at |R + y| is
 * sum_q f_(q) / (2^q q!) s^q with s = 2 R.y + y^2, and D_n / n! is the coefficient of y^n.
 * @param[out] bound the same with every term replaced by the largest value of its parts: what rounding errors are relative to
 */
static void derivatives(const struct law *l, const double r[3], long double *d, double *bound) {
  const struct index *index = indices();
  long double r2 = 0.0L, s_power[2][TERMS_MAX] = {{1.0L}, {1.0L}};
  for (int c = 0; c < 3; c++) r2 += (long double)r[c] * r[c];
  for (int i = 0; i < TERMS_MAX; i++) d[i] = bound[i] = 0.0;
  long double newton = 1.0L / sqrtl(r2), q_factorial = 1.0L;
  for (int q = 0; q <= FMM_ORDER_MAX; q++) {
    long double f = newton - law_h(l, q, r2), f_bound = fabsl(newton) + fabsl(law_h(l, q, 0.0L));
    for (int i = 0; i < TERMS_MAX; i++) {
      d[i] += f / q_factorial * s_power[0][i] * factorial(index[i]);
      bound[i] += (double)(f_bound / q_factorial * s_power[1][i] * factorial(index[i]));
    }
    newton *= -(2 * q + 1) / r2;
    q_factorial *= 2.0L * (q + 1);
    for (int with_bound = 0; with_bound < 2; with_bound++) {
      long double next[TERMS_MAX] = {0.0L};
      for (int i = 0; i < TERMS_MAX; i++)
        for (int c = 0; c < 3; c++)
          for (int k = 1; k <= 2 && degree(index[i]) + k <= FMM_ORDER_MAX; k++) {
            struct index to = index[i];
            to.n[c] += k;
            long double factor = k == 2 ? 1.0L : with_bound ? 2.0L * fabsl((long double)r[c]) : 2.0L * (long double)r[c];
            next[place(to.n[0], to.n[1], to.n[2])] += factor * s_power[with_bound][i];
          }
      memcpy(s_power[with_bound], next, sizeof next);
    }
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

static double difference(uint32_t a, uint32_t b) { return (double)(int32_t)(a - b) * SCALE; }

/** Boxes around the particles of each node; empty nodes get a place far off, which must not matter. */
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
      for (size_t c = 0; c < 3; c++) r2 += pow(difference(g->x[c * g->count + k], node->centre[c]), 2.0);
      radius2 = fmax(radius2, r2);
    }
    node->radius = (float)sqrt(radius2);
  }
}

/** Particles at random in a ball about a place in units of r_cut, sorted so that the first half of them lies on its left side. */
static struct group make_group(uint32_t count, unsigned depth, double cx, double cy, double cz, double radius, uint64_t seed) {
  struct group g = {.count = count, .depth = depth};
  const double centre[3] = {cx, cy, cz};
  g.x = allocate(3 * (size_t)count, sizeof *g.x, "positions");
  g.nodes = allocate(tree_nodes(depth), sizeof *g.nodes, "nodes");
  g.multipole = allocate((size_t)tree_nodes(depth) * fmm_multipole_size(FMM_ORDER_MAX), sizeof(float), "multipoles");
  g.local = allocate((size_t)tree_nodes(depth) * fmm_local_size(FMM_ORDER_MAX), sizeof(float), "local expansions");
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
  f->p2m(p, g->count, g->depth, (float)SCALE, g->x, g->nodes, g->multipole);
  f->m2m(p, g->depth, (float)SCALE, g->nodes, g->multipole);
}

/** Force of one root on another, down to the particles. */
static void root_on_root(const struct fmm_operators *f, int p, const struct law *l, struct group *target, const struct group *source) {
  uint32_t *offset = allocate(tree_nodes(target->depth) + 1, sizeof *offset, "list"), entry = 1;
  for (uint32_t t = 2; t <= tree_nodes(target->depth); t++) offset[t] = 1;
  const struct interaction_list far = {.offset = offset, .entry = &entry, .entries = 1};
  const struct node *nodes = source->nodes;
  const float *multipole = source->multipole;
  f->m2l(p, target->depth, (float)SCALE, &l->split, &far, target->nodes, &nodes, &multipole, target->local);
  f->l2l(p, target->depth, (float)SCALE, target->nodes, target->local);
  memset(target->acceleration, 0, 3 * (size_t)target->count * sizeof(float));
  f->l2p(p, target->count, target->depth, (float)SCALE, 1.0f, target->x, target->nodes, target->local, target->acceleration);
  free(offset);
}

/* ---- Tests ---- */

/* A term (-d)^m/m! of a leaf is right to |m| + 3 roundings, and each level above adds up terms no larger than (2 half)^m/m!, with
 * half the node's own half width, by |m| + 2 more; 12 roundings of the sum of those bounds cover the three levels. */
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
          for (size_t c = 0; c < 3; c++) d[c] = -difference(g.x[c * count + k], g.nodes[i].centre[c]);
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

/* L of a unit monopole is D itself. 12 roundings: 3 of 1/|R| and the unit vector, about 2 for each of up to 6 steps of the recurrence
 * in terms that are smaller than the bound's largest; the polynomials of H add 2 units in the last place of H^(n)(0). */
static void isa_derivatives(const struct fmm_operators *f) {
  enum { DEPTH = 7, NODES = 2 << DEPTH };
  static struct node nodes[NODES], sources[NODES];
  static float multipole[NODES * 56], local[NODES * 83];
  static uint32_t offset[NODES + 1], entry[NODES];
  for (int which = 0; which < 3; which++) {
    struct law l = make_law(which);
    const double largest = which ? sqrt((double)l.split.fmm_range) : 1.5;
    uint64_t seed = 7;
    for (uint32_t i = 1; i < NODES; i++) {
      double r = 1e-4 * pow(0.999 * largest / 1e-4, random_unit(&seed)), z = 2.0 * random_unit(&seed) - 1.0;
      if (i < 16) z = 0.0; /* on a plane or an axis too */
      double phi = i < 8 ? 0.0 : 2.0 * M_PI * random_unit(&seed), unit[3] = {sqrt(1.0 - z * z) * cos(phi), sqrt(1.0 - z * z) * sin(phi), z};
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
      f->m2l(p, DEPTH, (float)SCALE, &l.split, &far, nodes, &source_nodes, &source_multipole, local);
      for (uint32_t i = 1; i < NODES; i++) {
        long double d[TERMS_MAX];
        double bound[TERMS_MAX], r[3];
        for (int c = 0; c < 3; c++) r[c] = difference(nodes[i].centre[c], sources[i].centre[c]);
        derivatives(&l, r, d, bound);
        for (uint32_t k = 1; k <= size; k++)
          assert_near((double)local[i * size + k - 1], (double)d[k], 12 * EPSILON * bound[k]);
      }
    }
  }
}

static void test_derivatives(void **state) {
  (void)state;
  for_each_isa(isa_derivatives);
}

/** Largest and rms error of the target's accelerations in units of count/R^2, Newton's acceleration by the whole source. */
struct force_error {
  double largest, rms;
};

/** Against direct summation; the law's series holds beyond r_cut as well. */
static struct force_error measure_error(const struct law *l, const struct group *target, const struct group *source, double distance) {
  struct force_error e = {0.0, 0.0};
  for (size_t i = 0; i < target->count; i++) {
    double error2 = 0.0, sum[3] = {0.0, 0.0, 0.0};
    for (size_t j = 0; j < source->count; j++) {
      double d[3], r2 = 0.0;
      for (size_t c = 0; c < 3; c++) {
        d[c] = difference(target->x[c * target->count + i], source->x[c * source->count + j]);
        r2 += d[c] * d[c];
      }
      for (int c = 0; c < 3; c++) sum[c] += d[c] * (-1.0 / (r2 * sqrt(r2)) - (double)law_h(l, 1, (long double)r2));
    }
    for (size_t c = 0; c < 3; c++) error2 += pow((double)target->acceleration[c * target->count + i] - sum[c], 2.0);
    error2 *= pow(distance * distance / source->count, 2.0);
    e.largest = fmax(e.largest, sqrt(error2));
    e.rms += error2 / target->count;
  }
  e.rms = sqrt(e.rms);
  return e;
}

/* The force's Taylor term of degree n between points displaced by s = theta d is at most (n + 1) theta^n of Newton's force at d (the
 * gradient of a solid harmonic), so order p, which keeps degrees below p, errs by at most
 * sum_{n >= p} (n + 1) theta^n = theta^p (1 + p (1 - theta)) / (1 - theta)^2. The split adds the derivatives of H, smooth over r_s;
 * for the displacements used here they at most double the sum. 2e-6: float. */
static void convergence(const struct fmm_operators *f, int which, double distance, double radius) {
  struct law l = make_law(which);
  struct group source = make_group(60, 2, 7.9, 0.05, 3.0, radius, 3);
  struct group target = make_group(50, 3, 7.9 + 0.6 * distance, 0.05 - 0.64 * distance, 3.0 + 0.48 * distance, radius, 5);
  double d2 = 0.0, previous = INFINITY;
  for (int c = 0; c < 3; c++) d2 += pow(difference(target.nodes[1].centre[c], source.nodes[1].centre[c]), 2.0);
  const double d = sqrt(d2), theta = (double)(source.nodes[1].radius + target.nodes[1].radius) / d;
  assert_true(theta < 0.75);
  for (int p = 1; p <= FMM_ORDER_MAX; p++) {
    upward(f, p, &source);
    root_on_root(f, p, &l, &target, &source);
    struct force_error e = measure_error(&l, &target, &source, d);
    double bound = pow(theta, p) * (1.0 + p * (1.0 - theta)) / ((1.0 - theta) * (1.0 - theta));
    print_message("%s d %.2f p %d theta %.3f rms %.2e max %.2e bound %.2e\n", l.name, d, p, theta, e.rms, e.largest, bound);
    assert_true(e.largest < (which ? 2.0 : 1.0) * bound + 2e-6);
    assert_true(e.rms < theta * previous + 2e-6);
    previous = e.rms;
  }
  free_group(&source);
  free_group(&target);
}

static void isa_convergence(const struct fmm_operators *f) {
  for (int which = 0; which < 3; which++) {
    convergence(f, which, 0.05, 0.01);
    convergence(f, which, 0.5, 0.12);
    convergence(f, which, 1.1, 0.25); /* centres beyond r_cut */
  }
}

static void test_convergence(void **state) {
  (void)state;
  for_each_isa(isa_convergence);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_moments),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_convergence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
