/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Displacements in first and second order of Lagrangian perturbation theory, on a mesh. */
#include <complex.h> /* first: makes fftw_complex a C complex number */

#include "ic_displacement.h"

#include <math.h>
#include <stdlib.h>

#include "photons/error.h"
#include "photons/parameters.h"

static size_t row_modes(const struct displacement *d) { return d->mesh / 2 + 1; }
static size_t mesh_modes(const struct displacement *d) { return d->mesh * d->mesh * row_modes(d); }

static void *allocate_mesh(const struct displacement *d) {
  fftw_complex *modes = fftw_alloc_complex(mesh_modes(d));
  if (!modes)
    fail(EXIT_RUN_FAILED, "not enough memory for initial conditions: 4 meshes of %zu^3 cells, %.1f GiB each", d->mesh,
         (double)mesh_modes(d) * sizeof *modes / 1073741824.0);
  return modes;
}

/* Wavenumber for derivatives, in units of the fundamental mode. The slope of a wave at the Nyquist frequency vanishes at
 * mesh points: 0. (2LPTic has -mesh/2 there, which moves 7 % of the second order, so 3e-4 of all, at z = 49.) */
static double frequency(const struct displacement *d, size_t i) {
  if (2 * i == d->mesh) return 0.0;
  return 2 * i < d->mesh ? (double)i : (double)i - (double)d->mesh;
}

static double frequency_squared(const struct displacement *d, size_t i) {
  const double absolute = (double)(2 * i <= d->mesh ? i : d->mesh - i);
  return absolute * absolute;
}

static void transform_backward(const struct displacement *d, fftw_complex *modes) {
  fftw_execute_dft_c2r(d->backward, modes, (double *)modes);
}

/* dPsi_a/dq_b: ik_b k_a A. */
static double *displacement_gradient(const struct displacement *d, int a, int b, double *field) {
  fftw_complex *out = (fftw_complex *)field;
  const double complex unit = I * d->scale * d->scale;
  const size_t row = row_modes(d);
  for (size_t i = 0; i < d->mesh; i++) {
    for (size_t j = 0; j < d->mesh; j++) {
      for (size_t k = 0, m = (i * d->mesh + j) * row; k < row; k++, m++) {
        const double q[3] = {frequency(d, i), frequency(d, j), frequency(d, k)};
        out[m] = unit * (q[a] * q[b]) * d->modes[0][m];
      }
    }
  }
  transform_backward(d, out);
  return field;
}

/* Sum over a < b of Psi_aa Psi_bb - Psi_ab^2, in place of three of its six terms at a time. */
static void second_order_source(const struct displacement *d, double *source) {
  const size_t cells = 2 * mesh_modes(d);
  double *sum = displacement_gradient(d, 0, 0, d->field[0]);
  double *next = displacement_gradient(d, 1, 1, d->field[1]);
  for (size_t i = 0; i < cells; i++) {
    source[i] = sum[i] * next[i];
    sum[i] += next[i];
  }
  displacement_gradient(d, 2, 2, next);
  for (size_t i = 0; i < cells; i++) source[i] += sum[i] * next[i];
  for (int a = 0; a < 3; a++) {
    displacement_gradient(d, a, (a + 1) % 3, next);
    for (size_t i = 0; i < cells; i++) source[i] -= next[i] * next[i];
  }
}

/* Crocce et al. 2006, appendix D: Psi2 = D2 grad phi2, laplacian phi2 = the source of D1 = 1, so A2 = -i D2 S/k^2.
 * The source here is of the first-order displacements at this redshift: it carries D1^2. */
static void second_order_modes(struct displacement *d, const struct growth *g) {
  d->modes[1] = allocate_mesh(d);
  second_order_source(d, (double *)d->modes[1]);
  fftw_execute_dft_r2c(d->forward, (double *)d->modes[1], d->modes[1]);
  const double cells = (double)d->mesh * (double)d->mesh * (double)d->mesh;
  const double complex factor = -I * g->d2 / (g->d1 * g->d1) / (cells * d->scale * d->scale);
  const size_t row = row_modes(d);
  for (size_t i = 0; i < d->mesh; i++) {
    for (size_t j = 0; j < d->mesh; j++) {
      for (size_t k = 0, m = (i * d->mesh + j) * row; k < row; k++, m++) {
        const double square = frequency_squared(d, i) + frequency_squared(d, j) + frequency_squared(d, k);
        d->modes[1][m] = square > 0.0 ? d->modes[1][m] * factor / square : 0.0;
      }
    }
  }
}

struct displacement displacement_create(const struct parameters *p, const struct linear_power *power,
                                        const struct growth *g, size_t mesh, bool deconvolve) {
  struct displacement d = {.mesh = mesh, .box = p->box.size, .scale = 2.0 * M_PI / p->box.size};
  for (int order = 0; order < 2; order++) d.field[order] = allocate_mesh(&d);
  d.modes[0] = allocate_mesh(&d);

  const int n = (int)mesh;
  fftw_complex *any = (fftw_complex *)d.field[0];
  d.backward = fftw_plan_dft_c2r_3d(n, n, n, any, (double *)any, FFTW_ESTIMATE);
  d.forward = fftw_plan_dft_r2c_3d(n, n, n, (double *)any, any, FFTW_ESTIMATE);
  if (!d.backward || !d.forward) fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %d cells a side", n);

  d.window = allocate(mesh, sizeof *d.window, "interpolation window");
  for (size_t i = 0; i < mesh; i++) {
    const double x = M_PI * frequency(&d, i) / (double)mesh;
    d.window[i] = deconvolve && x != 0.0 ? pow(x / sin(x), 2.0) : 1.0;
  }

  ic_random_modes(p, power, mesh, g->d1, d.modes[0]);
  if (p->ic.order == 2) second_order_modes(&d, g);
  return d;
}

void displacement_transform(struct displacement *d, unsigned axis) {
  const size_t row = row_modes(d);
  for (int order = 0; order < 2; order++) {
    if (!d->modes[order]) continue;
    fftw_complex *out = (fftw_complex *)d->field[order];
    for (size_t i = 0; i < d->mesh; i++) {
      for (size_t j = 0; j < d->mesh; j++) {
        const double window = d->scale * d->window[i] * d->window[j];
        for (size_t k = 0, m = (i * d->mesh + j) * row; k < row; k++, m++) {
          const double q[3] = {frequency(d, i), frequency(d, j), frequency(d, k)};
          out[m] = q[axis] * window * d->window[k] * d->modes[order][m];
        }
      }
    }
    transform_backward(d, out);
  }
}

void displacement_read(const struct displacement *d, const double q[3], double psi[2]) {
  size_t index[3][2];
  double weight[3][2];
  for (int c = 0; c < 3; c++) {
    index[c][0] = (size_t)q[c] % d->mesh;
    index[c][1] = (index[c][0] + 1) % d->mesh;
    weight[c][1] = q[c] - floor(q[c]);
    weight[c][0] = 1.0 - weight[c][1];
  }
  psi[0] = psi[1] = 0.0;
  for (int corner = 0; corner < 8; corner++) {
    const int x = corner >> 2, y = corner >> 1 & 1, z = corner & 1;
    const double w = weight[0][x] * weight[1][y] * weight[2][z];
    if (w == 0.0) continue;
    const size_t cell = (index[0][x] * d->mesh + index[1][y]) * (2 * row_modes(d)) + index[2][z];
    for (int order = 0; order < 2 && d->modes[order]; order++) psi[order] += w * d->field[order][cell];
  }
}

void displacement_free(struct displacement *d) {
  for (int order = 0; order < 2; order++) {
    fftw_free(d->modes[order]);
    fftw_free(d->field[order]);
  }
  fftw_destroy_plan(d->forward);
  fftw_destroy_plan(d->backward);
  free(d->window);
  *d = (struct displacement){0};
}
