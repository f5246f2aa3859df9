/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Displacements in third order of Lagrangian perturbation theory (Buchert 1994, MNRAS 267, 811; Catelan 1995,
 * MNRAS 276, 115; Michaux et al. 2021, MNRAS 500, 663). With Psi_a,b the slope of component a along b,
 *
 *   div Psi3  = D3a det(Psi1_a,b)/D1^3 + D3b/(D1 D2) (Psi1_a,a Psi2_b,b - Psi1_a,b Psi2_a,b)/2
 *   curl Psi3 = D3c/(D1 D2) sum over a of grad Psi1_a x grad Psi2_a
 */
#include <fftw3.h>

#include "ic_displacement.h"
#include "photons/runtime/loop.h"

/* Components of a symmetric tensor: xx, yy, zz, xy, zx, yz. */
enum { COMPONENTS = 6 };
static size_t component(unsigned a, unsigned b) { return a == b ? a : a + b + 2; }

struct third_order {
  struct displacement *d;
  double *first[COMPONENTS]; /* Psi1_a,b */
  double *second;            /* one Psi2_a,b */
  unsigned a, b;             /* which one, a <= b */
  double *divergence, *curl[3];
  double determinant, mixed, transverse; /* their factors */
};

static void for_planes(struct third_order *t, void (*function)(void *context, uint32_t plane)) {
  loop_run(&initial_conditions_stage, (uint32_t)t->d->fft.values.count[0], function, t);
}

static void determinant_plane(void *context, uint32_t plane) {
  const struct third_order *t = context;
  const size_t step = t->d->fft.values.step[0], first = plane * step;
  for (size_t i = first; i < first + step; i++) {
    const double xx = t->first[0][i], yy = t->first[1][i], zz = t->first[2][i], xy = t->first[3][i],
                 zx = t->first[4][i], yz = t->first[5][i];
    t->divergence[i] = t->determinant * (xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * zx) +
                                         zx * (xy * yz - yy * zx));
    for (int c = 0; c < 3; c++) t->curl[c][i] = 0.0;
  }
}

/* What Psi2_k,l adds to the curl of one cell. */
static void add_curl(const struct third_order *t, size_t i, unsigned k, unsigned l, double slope) {
  const unsigned next = (l + 1) % 3, last = (l + 2) % 3;
  t->curl[next][i] += t->transverse * t->first[component(k, last)][i] * slope;
  t->curl[last][i] -= t->transverse * t->first[component(k, next)][i] * slope;
}

/* What Psi2_a,b adds, and Psi2_b,a, which is the same. */
static void second_plane(void *context, uint32_t plane) {
  const struct third_order *t = context;
  const size_t step = t->d->fft.values.step[0], first = plane * step;
  const unsigned a = t->a, b = t->b;
  for (size_t i = first; i < first + step; i++) {
    const double slope = t->second[i], here = t->first[component(a, b)][i];
    const double trace = t->first[0][i] + t->first[1][i] + t->first[2][i];
    t->divergence[i] += t->mixed * slope * (a == b ? 0.5 * (trace - here) : -here);
    add_curl(t, i, a, b, slope);
    if (a != b) add_curl(t, i, b, a, slope);
  }
}

/* From divergence and curl to components, Psi = -i k S/k^2 + i k x T/k^2, in the places of the curl. */
static void component_line(void *context, uint32_t line) {
  const struct third_order *t = context;
  const struct displacement *d = t->d;
  const struct fft_box *b = &d->fft.modes;
  const size_t n = d->fft.size[0];
  const double cells = (double)n * (double)n * (double)n;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0, m = fft_at(b, i, line, 0); k < b->count[2]; k++, m++) {
      const size_t index[3] = {i, b->first[1] + line, b->first[2] + k};
      double q[3], square = 0.0, out[3][2];
      for (int c = 0; c < 3; c++) {
        q[c] = displacement_frequency(d, index[c]);
        square += fft_frequency(index[c], n) * fft_frequency(index[c], n);
      }
      const double factor = square > 0.0 ? 1.0 / (d->scale * cells * square) : 0.0;
      for (int c = 0; c < 3; c++)
        for (int part = 0; part < 2; part++) {
          const int next = (c + 1) % 3, last = (c + 2) % 3;
          out[c][part] = factor * (q[next] * t->curl[last][2 * m + (size_t)part] -
                                   q[last] * t->curl[next][2 * m + (size_t)part] -
                                   q[c] * t->divergence[2 * m + (size_t)part]);
        }
      for (int c = 0; c < 3; c++) { /* times i */
        t->curl[c][2 * m] = -out[c][1];
        t->curl[c][2 * m + 1] = out[c][0];
      }
    }
}

/* Fill both sources. */
static void make_sources(struct third_order *t) {
  for (unsigned a = 0; a < 3; a++)
    for (unsigned b = a; b < 3; b++)
      displacement_gradient(t->d, FIRST_ORDER, a, b, t->first[component(a, b)]);
  for_planes(t, determinant_plane);
  for (t->a = 0; t->a < 3; t->a++)
    for (t->b = t->a; t->b < 3; t->b++) {
      displacement_gradient(t->d, SECOND_ORDER, t->a, t->b, t->second);
      for_planes(t, second_plane);
    }
}

void third_order_modes(struct displacement *d, const struct growth *g,
                       const struct third_growth *third) {
  struct third_order t = {.d = d,
                          .second = d->field[FIRST_ORDER],
                          .determinant = third->d3a / (g->d1 * g->d1 * g->d1),
                          .mixed = third->d3b / (g->d1 * g->d2),
                          .transverse = third->d3c / (g->d1 * g->d2)};
  /* Two fields have memory that nothing else needs now. */
  t.first[0] = d->field[SECOND_ORDER];
  t.first[1] = d->field[THIRD_ORDER];
  for (size_t i = 2; i < COMPONENTS; i++) t.first[i] = displacement_planes(d, false);
  t.divergence = displacement_planes(d, false);
  for (int c = 0; c < 3; c++) t.curl[c] = displacement_planes(d, false);
  make_sources(&t);
  for (size_t i = 2; i < COMPONENTS; i++) fftw_free(t.first[i]);
  fft_forward(&d->fft, t.divergence);
  for (int c = 0; c < 3; c++) fft_forward(&d->fft, t.curl[c]);
  loop_run(&initial_conditions_stage, (uint32_t)d->fft.modes.count[1], component_line, &t);
  fftw_free(t.divergence);
  for (int c = 0; c < 3; c++) d->third[c] = (fftw_complex *)t.curl[c];
}
