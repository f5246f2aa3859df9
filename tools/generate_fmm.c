/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes fmm_generated.h: the expansions of include/photons/tree/fmm.h as straight-line code over vectors of lanes, orders 1 to 6.
 * No multi-index is left at run time: every sum is unrolled into multiply-adds in a fixed order. A lane is a particle (p2m, l2p),
 * a node (m2m, l2l) or a pair of nodes (m2l). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MAX = 6, TERMS_MAX = 84, CHUNK = 9 };

struct index {
  int n[3]; /* nx, ny, nz */
};

static int degree(struct index i) { return i.n[0] + i.n[1] + i.n[2]; }
static int terms(int p) { return (p + 1) * (p + 2) * (p + 3) / 6; }

/** Place of a multi-index: by degree, then nx falling, then ny falling. */
static int place(struct index i) {
  int d = degree(i), rest = d - i.n[0];
  return terms(d - 1) + rest * (rest + 1) / 2 + i.n[2];
}

static struct index at(int wanted) {
  struct index i = {{0, 0, 0}};
  for (int d = 0; d <= ORDER_MAX; d++)
    for (i.n[0] = d; i.n[0] >= 0; i.n[0]--)
      for (i.n[1] = d - i.n[0]; i.n[1] >= 0; i.n[1]--) {
        i.n[2] = d - i.n[0] - i.n[1];
        if (place(i) == wanted) return i;
      }
  abort();
}

static struct index plus(struct index a, struct index b) {
  return (struct index){{a.n[0] + b.n[0], a.n[1] + b.n[1], a.n[2] + b.n[2]}};
}

static struct index lower(struct index i, int axis, int by) {
  i.n[axis] -= by;
  return i;
}

static bool within(struct index a, struct index b) {
  return a.n[0] <= b.n[0] && a.n[1] <= b.n[1] && a.n[2] <= b.n[2];
}

static struct index minus(struct index a, struct index b) {
  return (struct index){{a.n[0] - b.n[0], a.n[1] - b.n[1], a.n[2] - b.n[2]}};
}

static void name(char kind, struct index i) { printf("%c%d%d%d", kind, i.n[0], i.n[1], i.n[2]); }

/** w_abc = x^a y^b z^c / (a! b! c!) up to a degree; each is one multiplication by x, x/2, x/3 ... */
static void print_monomials(int top, const char *unit) {
  printf("  const vfloat w000 = %s;\n", unit);
  for (int axis = 0; axis < 3; axis++)
    for (int k = 2; k <= top; k++)
      printf("  const vfloat %c_%d = v_set(1.0f / %d.0f) * %c;\n", "xyz"[axis], k, k, "xyz"[axis]);
  for (int t = 1; t < terms(top); t++) {
    struct index i = at(t);
    int axis = i.n[0] ? 0 : i.n[1] ? 1 : 2; /* the smallest power: needs no x/k */
    for (int a = 0; a < 3; a++)
      if (i.n[a] && i.n[a] < i.n[axis]) axis = a;
    printf("  const vfloat ");
    name('w', i);
    printf(" = ");
    name('w', lower(i, axis, 1));
    printf(i.n[axis] == 1 ? " * %c;\n" : " * %c_%d;\n", "xyz"[axis], i.n[axis]);
  }
}

static void print_p2m(int p) {
  printf("/** m_k += w (x, y, z)^k / k!, |k| <= %d: x, y, z are minus the particle's place, w is 1 "
         "or 0. */\n",
         p - 1);
  printf("GENERATED void p2m_%d(vfloat x, vfloat y, vfloat z, vfloat w, vfloat *m) {\n", p);
  if (p == 1) printf("  (void)x, (void)y, (void)z;\n");
  print_monomials(p - 1, "w");
  for (int t = 0; t < terms(p - 1); t++) {
    printf("  m[%d] += ", t);
    name('w', at(t));
    printf(";\n");
  }
  printf("}\n\n");
}

static void print_m2m(int p) {
  printf("/** m_k += sum over l <= k of (x, y, z)^(k-l)/(k-l)! c_l: x, y, z are the parent's "
         "centre minus the child's. "
         "*/\n");
  printf("GENERATED void m2m_%d(vfloat x, vfloat y, vfloat z, const vfloat *c, vfloat *m) {\n", p);
  if (p == 1) printf("  (void)x, (void)y, (void)z;\n");
  print_monomials(p - 1, "v_set(1.0f)");
  for (int k = 0; k < terms(p - 1); k++) {
    printf("  vfloat s%d = m[%d] + c[%d];\n", k, k, k);
    for (int l = 0; l < k; l++) {
      if (!within(at(l), at(k))) continue;
      printf("  s%d = v_fma(c[%d], ", k, l);
      name('w', minus(at(k), at(l)));
      printf(", s%d);\n", k);
    }
    printf("  m[%d] = s%d;\n", k, k);
  }
  if (p == 1) printf("  (void)w000;\n");
  printf("}\n\n");
}

static void print_l2l(int p) {
  printf("/** l_k += sum over n >= k of parent_n (x, y, z)^(n-k)/(n-k)!: x, y, z are the child's "
         "centre minus the "
         "parent's. */\n");
  printf("GENERATED void l2l_%d(vfloat x, vfloat y, vfloat z, const vfloat *parent, vfloat *l) {\n",
         p);
  if (p == 1) printf("  (void)x, (void)y, (void)z;\n");
  print_monomials(p - 1, "v_set(1.0f)");
  if (p == 1) printf("  (void)w000;\n");
  for (int k = 1; k < terms(p); k++) {
    printf("  vfloat s%d = l[%d] + parent[%d];\n", k, k - 1, k - 1);
    for (int n = k + 1; n < terms(p); n++) {
      if (!within(at(k), at(n))) continue;
      printf("  s%d = v_fma(parent[%d], ", k, n - 1);
      name('w', minus(at(n), at(k)));
      printf(", s%d);\n", k);
    }
    printf("  l[%d] = s%d;\n", k - 1, k);
  }
  printf("}\n\n");
}

static void print_l2p(int p) {
  printf("/** Gradient of sum l_k (x, y, z)^k / k!, 1 <= |k| <= %d. */\n", p);
  printf("GENERATED void l2p_%d(const float *l, vfloat x, vfloat y, vfloat z, vfloat *a) {\n", p);
  if (p == 1) printf("  (void)x, (void)y, (void)z;\n");
  print_monomials(p - 1, "v_set(1.0f)");
  if (p == 1) printf("  (void)w000;\n");
  for (int axis = 0; axis < 3; axis++) {
    struct index unit = {{axis == 0, axis == 1, axis == 2}};
    printf("  vfloat s%c = v_set(l[%d]);\n", "xyz"[axis], place(unit) - 1);
    for (int m = 1; m < terms(p - 1); m++) {
      printf("  s%c = v_fma(v_set(l[%d]), ", "xyz"[axis], place(plus(at(m), unit)) - 1);
      name('w', at(m));
      printf(", s%c);\n", "xyz"[axis]);
    }
    printf("  a[%d] = s%c;\n", axis, "xyz"[axis]);
  }
  printf("}\n\n");
}

/** How E^(j)_i is made: along which axis, from E^(j+1). */
struct derivation {
  bool needed;
  int axis;
};

/** Operations that a choice of axis costs: those of terms of the next level that nothing else has needed so far, and its own. */
static int cost(const struct derivation *next, struct index i, int axis) {
  int c = i.n[axis] > 1; /* the second term */
  for (int by = 1; by <= 2 && by <= i.n[axis]; by++) {
    struct index from = lower(i, axis, by);
    if (degree(from) > 0) c += 2 * !next[place(from)].needed;
  }
  return c;
}

/** Choose an axis for all needed terms of each level, those without much choice first. */
static void plan_derivatives(int p, struct derivation plan[ORDER_MAX + 1][TERMS_MAX]) {
  for (int t = 1; t < terms(p); t++) plan[0][t].needed = true;
  for (int j = 0; j < p; j++)
    for (int choices = 1; choices <= 3; choices++)
      for (int t = terms(p - j) - 1; t >= 1; t--) {
        struct index i = at(t);
        if (!plan[j][t].needed || (i.n[0] > 0) + (i.n[1] > 0) + (i.n[2] > 0) != choices) continue;
        int best = -1;
        for (int axis = 0; axis < 3; axis++)
          if (i.n[axis] && (best < 0 || cost(plan[j + 1], i, axis) < cost(plan[j + 1], i, best)))
            best = axis;
        plan[j][t].axis = best;
        plan[j + 1][place(lower(i, best, 1))].needed = true;
        if (i.n[best] > 1) plan[j + 1][place(lower(i, best, 2))].needed = true;
      }
}

static void level_name(int j, struct index i) {
  if (degree(i) == 0)
    printf("e[%d]", j);
  else {
    printf(j ? "e%d_" : "d", j);
    printf("%d%d%d", i.n[0], i.n[1], i.n[2]);
  }
}

static void print_derivatives(int p) {
  struct derivation plan[ORDER_MAX + 1][TERMS_MAX] = {{{0}}};
  plan_derivatives(p, plan);
  for (int k = 2; k < p; k++) printf("  const vfloat q%d = v_set(%d.0f) * q1;\n", k, k);
  for (int j = p - 1; j >= 0; j--)
    for (int t = 1; t < terms(p - j); t++) {
      if (!plan[j][t].needed) continue;
      struct index i = at(t);
      int axis = plan[j][t].axis;
      printf("  const vfloat ");
      level_name(j, i);
      printf(i.n[axis] > 1 ? " = v_fma(%c, " : " = %c * ", "xyz"[axis]);
      level_name(j + 1, lower(i, axis, 1));
      if (i.n[axis] > 1) {
        printf(", q%d * ", i.n[axis] - 1);
        level_name(j + 1, lower(i, axis, 2));
        printf(")");
      }
      printf(";\n");
    }
}

/** The sums of one chunk stay in registers while the multipoles pass by. Nine fit into the 16 registers of AVX2 with room to spare;
 * on AVX-512, 6 to 19 were equally fast. */
static int chunk_end(int p, int first) {
  int end = first + CHUNK;
  return end < terms(p) ? end : terms(p);
}

static void print_m2l(int p) {
  printf("/** l_k = keep(l_k) + sum over |m| <= %d-|k| of m_m D_{k+m}. x, y, z: unit vector along "
         "R; q1 = 1/|R|; e[j], "
         "1 <= j <= %d:\n"
         " * |R|^j f_(j). E^(j)_n = |R|^j grad^n f_(j) follows E^(j)_{n+1} = x E^(j+1)_n + n q1 "
         "E^(j+1)_{n-1} along "
         "each axis, which\n"
         " * overflows no sooner than D = E^(0) itself does. */\n",
         p, p);
  printf("GENERATED void m2l_%d(vfloat x, vfloat y, vfloat z, vfloat q1, const vfloat *e, vmask "
         "keep, const vfloat *m, "
         "vfloat *l) {\n",
         p);
  if (p == 1) printf("  (void)q1;\n");
  print_derivatives(p);
  for (int first = 1, end; first < terms(p); first = end) {
    end = chunk_end(p, first);
    for (int k = first; k < end; k++) printf("  vfloat s%d = v_keep(keep, l[%d]);\n", k, k - 1);
    for (int m = 0; m < terms(p - degree(at(first))); m++) {
      printf("  const vfloat m%d_%d = m[%d];\n", first, m, m);
      for (int k = first; k < end; k++) {
        if (degree(at(m)) + degree(at(k)) > p) continue;
        printf("  s%d = v_fma(m%d_%d, ", k, first, m);
        name('d', plus(at(k), at(m)));
        printf(", s%d);\n", k);
      }
    }
    for (int k = first; k < end; k++) printf("  l[%d] = s%d;\n", k - 1, k);
  }
  printf("}\n\n");
}

static void print_m2l_potential(int p) {
  printf(
      "/** s += sum over |m| < %d of m_m D_m, the potential at R. e[0] is psi; otherwise as m2l. "
      "*/\n",
      p);
  printf(
      "GENERATED void m2l_potential_%d(vfloat x, vfloat y, vfloat z, vfloat q1, const vfloat *e, "
      "const vfloat *m, "
      "vfloat *s) {\n",
      p);
  if (p == 1) printf("  (void)x, (void)y, (void)z;\n");
  if (p <= 2) printf("  (void)q1;\n");
  print_derivatives(p - 1);
  printf("  *s = v_fma(m[0], e[0], *s);\n");
  for (int m = 1; m < terms(p - 1); m++) {
    printf("  *s = v_fma(m[%d], ", m);
    name('d', at(m));
    printf(", *s);\n");
  }
  printf("}\n\n");
}

static void print_l2p_potential(int p) {
  printf("/** s += sum l_k (x, y, z)^k / k!, 1 <= |k| <= %d. */\n", p);
  printf("GENERATED void l2p_potential_%d(const float *l, vfloat x, vfloat y, vfloat z, vfloat *s) "
         "{\n",
         p);
  print_monomials(p, "v_set(1.0f)");
  for (int k = 1; k < terms(p); k++) {
    printf("  *s = v_fma(v_set(l[%d]), ", k - 1);
    name('w', at(k));
    printf(", *s);\n");
  }
  printf("}\n\n");
}

int main(void) {
  printf("/* Written by tools/generate_fmm.c: change that program, not this file. */\n"
         "#ifndef GENERATED /* CUDA code defines it, and vfloat as float */\n"
         "#define GENERATED static inline __attribute__((always_inline))\n"
         "#endif\n\n");
  for (int p = 1; p <= ORDER_MAX; p++) {
    print_p2m(p);
    print_m2m(p);
    print_m2l(p);
    print_l2l(p);
    print_l2p(p);
    print_m2l_potential(p);
    print_l2p_potential(p);
  }
  printf("#undef GENERATED\n");
  return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
