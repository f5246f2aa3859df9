/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Displacements in first and second order of Lagrangian perturbation theory, on a mesh (Crocce et
 * al. 2006, MNRAS 373, 369, appendix D). */
#include "ic_displacement.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/runtime/loop.h"

static size_t plane_modes(const struct displacement *d) { return d->fft.n * d->fft.kz; }

/* Allocate without touching the memory: tasks touch it first. */
static void *allocate_planes(const struct displacement *d, size_t planes) {
  const size_t count = planes * plane_modes(d) + 1;
  fftw_complex *modes = fftw_alloc_complex(count);
  if (!modes)
    fail(EXIT_RUN_FAILED,
         "not enough memory for initial conditions: 4 meshes of %zu x %zu^2 cells, %.1f GiB each",
         d->fft.planes, d->fft.n, (double)(planes * plane_modes(d)) * sizeof *modes / 1073741824.0);
  use_huge_pages(modes, count * sizeof *modes);
  return modes;
}

/* Wavenumber for derivatives, in units of the fundamental mode. The slope of a wave at the Nyquist
 * frequency vanishes at mesh points, hence 0. (2LPTic has -mesh/2 there. At z = 49 that changes the
 * second-order displacement by 7 % and the whole displacement by 3e-4.) */
static double frequency(const struct displacement *d, size_t i) {
  if (2 * i == d->fft.n) return 0.0;
  return 2 * i < d->fft.n ? (double)i : (double)i - (double)d->fft.n;
}

static double frequency_squared(const struct displacement *d, size_t i) {
  const double absolute = (double)(2 * i <= d->fft.n ? i : d->fft.n - i);
  return absolute * absolute;
}

/* A loop over planes of modes or of a field. */
struct loop {
  const struct displacement *d;
  const fftw_complex *modes;
  fftw_complex *out;
  unsigned axis[2]; /* of a gradient; axis[0] of a displacement */
  double factor;
};

static void for_planes(void (*function)(void *context, uint32_t plane), struct loop *loop) {
  loop_run(&initial_conditions_stage, (uint32_t)loop->d->fft.planes, function, loop);
}

/* dPsi_a/dq_b: ik_b k_a A. */
static void gradient_plane(void *context, uint32_t plane) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  size_t m = plane * plane_modes(d);
  for (size_t i = 0; i < d->fft.n; i++)
    for (size_t k = 0; k < d->fft.kz; k++, m++) {
      const double q[3] = {frequency(d, i), frequency(d, d->fft.first + plane), frequency(d, k)};
      const double factor = l->factor * (q[l->axis[0]] * q[l->axis[1]]);
      l->out[m][0] = -factor * l->modes[m][1];
      l->out[m][1] = factor * l->modes[m][0];
    }
}

static double *displacement_gradient(const struct displacement *d, unsigned a, unsigned b,
                                     double *field) {
  struct loop loop = {.d = d,
                      .modes = d->modes[0],
                      .out = (fftw_complex *)field,
                      .axis = {a, b},
                      .factor = d->scale * d->scale};
  for_planes(gradient_plane, &loop);
  slab_fft_backward(&d->fft, field);
  return field;
}

/* The terms of the second-order source are computed one after the other. */
struct source {
  const struct displacement *d;
  double *source, *sum, *next;
  enum { FIRST_PRODUCT, SECOND_PRODUCT, SQUARE } term;
};

static void source_plane(void *context, uint32_t plane) {
  const struct source *s = context;
  const size_t first = plane * 2 * plane_modes(s->d), end = first + 2 * plane_modes(s->d);
  double *source = s->source, *sum = s->sum, *next = s->next;
  switch (s->term) {
  case FIRST_PRODUCT:
    for (size_t i = first; i < end; i++) {
      source[i] = sum[i] * next[i];
      sum[i] += next[i];
    }
    break;
  case SECOND_PRODUCT:
    for (size_t i = first; i < end; i++) source[i] += sum[i] * next[i];
    break;
  case SQUARE:
    for (size_t i = first; i < end; i++) source[i] -= next[i] * next[i];
    break;
  }
}

/* Sum over a < b of Psi_aa Psi_bb - Psi_ab^2, with memory for three of its six terms at a time. The
 * result is in the array of the second-order modes. */
static void second_order_source(const struct displacement *d) {
  const uint32_t planes = (uint32_t)d->fft.planes;
  struct source s = {
      .d = d, .source = (double *)d->modes[1], .sum = d->field[0], .next = d->field[1]};
  displacement_gradient(d, 0, 0, s.sum);
  displacement_gradient(d, 1, 1, s.next);
  s.term = FIRST_PRODUCT;
  loop_run(&initial_conditions_stage, planes, source_plane, &s);
  displacement_gradient(d, 2, 2, s.next);
  s.term = SECOND_PRODUCT;
  loop_run(&initial_conditions_stage, planes, source_plane, &s);
  s.term = SQUARE;
  for (unsigned a = 0; a < 3; a++) {
    displacement_gradient(d, a, (a + 1) % 3, s.next);
    loop_run(&initial_conditions_stage, planes, source_plane, &s);
  }
}

/* From the source S to -i factor S/k^2, in place. */
static void inverse_laplacian_plane(void *context, uint32_t plane) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  fftw_complex *mode = l->out + plane * plane_modes(d);
  for (size_t i = 0; i < d->fft.n; i++)
    for (size_t k = 0; k < d->fft.kz; k++, mode++) {
      const double square = frequency_squared(d, i) + frequency_squared(d, d->fft.first + plane) +
                            frequency_squared(d, k);
      const double re = (*mode)[0], im = (*mode)[1];
      (*mode)[0] = square > 0.0 ? im * l->factor / square : 0.0;
      (*mode)[1] = square > 0.0 ? -re * l->factor / square : 0.0;
    }
}

/* Crocce et al. 2006, appendix D: Psi2 = D2 grad phi2, where the Laplacian of phi2 is the source
 * for D1 = 1; so A2 = -i D2 S/k^2. The source here is computed from the first-order displacements
 * at this redshift and therefore contains a factor D1^2. */
static void second_order_modes(struct displacement *d, const struct growth *g) {
  d->modes[1] = allocate_planes(d, d->fft.planes);
  second_order_source(d);
  slab_fft_forward(&d->fft, (double *)d->modes[1]);
  const double cells = (double)d->fft.n * (double)d->fft.n * (double)d->fft.n;
  struct loop loop = {.d = d,
                      .out = d->modes[1],
                      .factor = g->d2 / (g->d1 * g->d1) / (cells * d->scale * d->scale)};
  for_planes(inverse_laplacian_plane, &loop);
}

struct displacement displacement_create(const struct parameters *p,
                                        const struct linear_power *power, const struct growth *g,
                                        size_t mesh, bool between) {
  struct displacement d = {
      .fft = slab_fft_create(mesh), .scale = 2.0 * M_PI / p->box.size, .between = between};
  for (int order = 0; order < p->ic.order; order++)
    d.field[order] = allocate_planes(&d, d.fft.planes + 1);
  d.modes[0] = allocate_planes(&d, d.fft.planes);

  d.window = allocate(mesh, sizeof *d.window, "interpolation window");
  for (size_t i = 0; i < mesh; i++) {
    const double x = M_PI * frequency(&d, i) / (double)mesh;
    d.window[i] = between && x != 0.0 ? pow(x / sin(x), 2.0) : 1.0;
  }

  ic_random_modes(p, power, &d.fft, g->d1, d.modes[0]);
  if (p->ic.order == 2) second_order_modes(&d, g);
  return d;
}

/* The mean of cos(k x) over a cell in whose middle it is 1. */
static double cell_window(const struct displacement *d, double frequency) {
  const double x = M_PI * frequency / (double)d->fft.n;
  return x == 0.0 ? 1.0 : sin(x) / x;
}

/* Multiply by the mean of exp(i k x) over a cell whose lowest corner is x = 0. */
static void average_plane(void *context, uint32_t plane) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  fftw_complex *mode = l->out + plane * plane_modes(d);
  for (size_t i = 0; i < d->fft.n; i++)
    for (size_t k = 0; k < d->fft.kz; k++, mode++) {
      const double q[3] = {frequency(d, i), frequency(d, d->fft.first + plane), frequency(d, k)};
      const double phase = M_PI / (double)d->fft.n * (q[0] + q[1] + q[2]);
      const double window = cell_window(d, q[0]) * cell_window(d, q[1]) * cell_window(d, q[2]);
      const double re = window * (*mode)[0], im = window * (*mode)[1];
      (*mode)[0] = re * cos(phase) - im * sin(phase);
      (*mode)[1] = re * sin(phase) + im * cos(phase);
    }
}

void displacement_average(struct displacement *d) {
  for (int order = 0; order < 2 && d->modes[order]; order++) {
    struct loop loop = {.d = d, .out = d->modes[order]};
    for_planes(average_plane, &loop);
  }
}

/* -i k^2 A. */
static void contrast_plane(void *context, uint32_t plane) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  size_t m = plane * plane_modes(d);
  for (size_t i = 0; i < d->fft.n; i++)
    for (size_t k = 0; k < d->fft.kz; k++, m++) {
      const double square = frequency_squared(d, i) + frequency_squared(d, d->fft.first + plane) +
                            frequency_squared(d, k);
      l->out[m][0] = l->factor * square * l->modes[m][1];
      l->out[m][1] = -l->factor * square * l->modes[m][0];
    }
}

void displacement_contrast(struct displacement *d) {
  struct loop loop = {.d = d,
                      .modes = d->modes[0],
                      .out = (fftw_complex *)d->field[0],
                      .factor = d->scale * d->scale};
  for_planes(contrast_plane, &loop);
  slab_fft_backward(&d->fft, d->field[0]);
}

static void component_plane(void *context, uint32_t plane) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  const size_t j = d->fft.first + plane;
  size_t m = plane * plane_modes(d);
  for (size_t i = 0; i < d->fft.n; i++) {
    const double window = d->scale * d->window[i] * d->window[j];
    for (size_t k = 0; k < d->fft.kz; k++, m++) {
      const double q[3] = {frequency(d, i), frequency(d, j), frequency(d, k)};
      const double factor = q[l->axis[0]] * window * d->window[k];
      l->out[m][0] = factor * l->modes[m][0];
      l->out[m][1] = factor * l->modes[m][1];
    }
  }
}

/* Receive the plane that follows this rank's planes; it is the first plane of another rank. */
static void fetch_next_plane(const struct displacement *d, double *field) {
  const size_t n = d->fft.n, plane = 2 * plane_modes(d), size = (size_t)comm_size();
  size_t *send = allocate(2 * size, sizeof *send, "message sizes"), *receive = send + size;
  if (d->fft.planes > 0) {
    send[block_containing(n, size, (d->fft.first + n - 1) % n)] = plane * sizeof *field;
    receive[block_containing(n, size, (d->fft.first + d->fft.planes) % n)] = plane * sizeof *field;
  }
  comm_exchange(field, send, field + d->fft.planes * plane, receive);
  free(send);
}

void displacement_transform(struct displacement *d, unsigned axis) {
  for (int order = 0; order < 2 && d->modes[order]; order++) {
    struct loop loop = {
        .d = d, .modes = d->modes[order], .out = (fftw_complex *)d->field[order], .axis = {axis}};
    for_planes(component_plane, &loop);
    slab_fft_backward(&d->fft, d->field[order]);
    if (d->between) fetch_next_plane(d, d->field[order]);
  }
}

void displacement_read(const struct displacement *d, const double q[3], double psi[2]) {
  const size_t n = d->fft.n;
  size_t index[3][2];
  double weight[3][2];
  for (int c = 0; c < 3; c++) {
    index[c][0] = (size_t)q[c] % n;
    index[c][1] = (index[c][0] + 1) % n;
    weight[c][1] = q[c] - floor(q[c]);
    weight[c][0] = 1.0 - weight[c][1];
  }
  index[0][0] -= d->fft.first;
  index[0][1] = index[0][0] + 1;
  psi[0] = psi[1] = 0.0;
  for (int corner = 0; corner < 8; corner++) {
    const int x = corner >> 2, y = corner >> 1 & 1, z = corner & 1;
    const double w = weight[0][x] * weight[1][y] * weight[2][z];
    if (w == 0.0) continue;
    const size_t cell = (index[0][x] * n + index[1][y]) * (2 * d->fft.kz) + index[2][z];
    for (int order = 0; order < 2 && d->modes[order]; order++)
      psi[order] += w * d->field[order][cell];
  }
}

void displacement_free(struct displacement *d) {
  for (int order = 0; order < 2; order++) {
    fftw_free(d->modes[order]);
    fftw_free(d->field[order]);
  }
  slab_fft_free(&d->fft);
  free(d->window);
  *d = (struct displacement){0};
}
