/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Displacements in first and second order of Lagrangian perturbation theory, on a mesh (Crocce et
 * al. 2006, MNRAS 373, 369, appendix D). */
#include "ic_displacement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ic_lattice_growth.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/runtime/loop.h"

static size_t side(const struct displacement *d) { return d->fft.size[0]; }

void *displacement_planes(const struct displacement *d, bool next) {
  const size_t plane = d->fft.values.step[0] * sizeof(double),
               bytes = fft_bytes(&d->fft) + (next ? plane : 0);
  void *memory = fftw_malloc(bytes);
  if (!memory)
    fail(EXIT_RUN_FAILED,
         "not enough memory for initial conditions: several meshes of %zu x %zu^2 cells, %.1f GiB "
         "each",
         d->fft.values.count[0], side(d), (double)bytes / 1073741824.0);
  use_huge_pages(memory, bytes);
  return memory;
}

double displacement_frequency(const struct displacement *d, size_t i) {
  return 2 * i == side(d) ? 0.0 : fft_frequency(i, side(d));
}

static double frequency_squared(const struct displacement *d, size_t i) {
  const double absolute = fft_frequency(i, side(d));
  return absolute * absolute;
}

/* A loop over this rank's modes of equal k1. */
struct loop {
  const struct displacement *d;
  const fftw_complex *modes;
  fftw_complex *out;
  unsigned axis[2]; /* of a gradient; axis[0] of a displacement */
  double factor;
  enum displacement_field order; /* of a displacement */
};

static void for_lines(void (*function)(void *context, uint32_t line), struct loop *loop) {
  loop_run(&initial_conditions_stage, (uint32_t)loop->d->fft.modes.count[1], function, loop);
}

/* dPsi_a/dq_b: ik_b k_a A. */
static void gradient_line(void *context, uint32_t line) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  const struct fft_box *b = &d->fft.modes;
  for (size_t i = 0; i < side(d); i++)
    for (size_t k = 0, m = fft_at(b, i, line, 0); k < b->count[2]; k++, m++) {
      const double q[3] = {displacement_frequency(d, i),
                           displacement_frequency(d, b->first[1] + line),
                           displacement_frequency(d, b->first[2] + k)};
      const double factor = l->factor * (q[l->axis[0]] * q[l->axis[1]]);
      l->out[m][0] = -factor * l->modes[m][1];
      l->out[m][1] = factor * l->modes[m][0];
    }
}

double *displacement_gradient(const struct displacement *d, enum displacement_field order,
                              unsigned a, unsigned b, double *field) {
  struct loop loop = {.d = d,
                      .modes = d->modes[order],
                      .out = (fftw_complex *)field,
                      .axis = {a, b},
                      .factor = d->scale * d->scale};
  for_lines(gradient_line, &loop);
  fft_backward(&d->fft, field);
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
  const size_t step = s->d->fft.values.step[0], first = plane * step, end = first + step;
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
  const uint32_t planes = (uint32_t)d->fft.values.count[0];
  struct source s = {
      .d = d, .source = (double *)d->modes[1], .sum = d->field[0], .next = d->field[1]};
  displacement_gradient(d, FIRST_ORDER, 0, 0, s.sum);
  displacement_gradient(d, FIRST_ORDER, 1, 1, s.next);
  s.term = FIRST_PRODUCT;
  loop_run(&initial_conditions_stage, planes, source_plane, &s);
  displacement_gradient(d, FIRST_ORDER, 2, 2, s.next);
  s.term = SECOND_PRODUCT;
  loop_run(&initial_conditions_stage, planes, source_plane, &s);
  s.term = SQUARE;
  for (unsigned a = 0; a < 3; a++) {
    displacement_gradient(d, FIRST_ORDER, a, (a + 1) % 3, s.next);
    loop_run(&initial_conditions_stage, planes, source_plane, &s);
  }
}

/* From the source S to -i factor S/k^2, in place. */
static void inverse_laplacian_line(void *context, uint32_t line) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  const struct fft_box *b = &d->fft.modes;
  for (size_t i = 0; i < side(d); i++) {
    fftw_complex *mode = l->out + fft_at(b, i, line, 0);
    for (size_t k = 0; k < b->count[2]; k++, mode++) {
      const double square = frequency_squared(d, i) + frequency_squared(d, b->first[1] + line) +
                            frequency_squared(d, b->first[2] + k);
      const double re = (*mode)[0], im = (*mode)[1];
      (*mode)[0] = square > 0.0 ? im * l->factor / square : 0.0;
      (*mode)[1] = square > 0.0 ? -re * l->factor / square : 0.0;
    }
  }
}

/* Crocce et al. 2006, appendix D: Psi2 = D2 grad phi2, where the Laplacian of phi2 is the source
 * for D1 = 1; so A2 = -i D2 S/k^2. The source here is computed from the first-order displacements
 * at this redshift and therefore contains a factor D1^2. */
void second_order_modes(struct displacement *d, const struct growth *g) {
  d->modes[1] = displacement_planes(d, false);
  second_order_source(d);
  fft_forward(&d->fft, (double *)d->modes[1]);
  const double cells = (double)side(d) * (double)side(d) * (double)side(d);
  struct loop loop = {.d = d,
                      .out = d->modes[1],
                      .factor = g->d2 / (g->d1 * g->d1) / (cells * d->scale * d->scale)};
  for_lines(inverse_laplacian_line, &loop);
}

/* Rates by the square of the mode number. */
struct rates {
  const struct displacement *d;
  const double *rate;
};

static void rate_line(void *context, uint32_t line) {
  const struct rates *r = context;
  const struct displacement *d = r->d;
  const struct fft_box *b = &d->fft.modes;
  for (size_t i = 0; i < side(d); i++)
    for (size_t k = 0, m = fft_at(b, i, line, 0); k < b->count[2]; k++, m++) {
      const double square = frequency_squared(d, i) + frequency_squared(d, b->first[1] + line) +
                            frequency_squared(d, b->first[2] + k);
      const double rate = r->rate[(size_t)square];
      d->modes[FIRST_RATE][m][0] = rate * d->modes[FIRST_ORDER][m][0];
      d->modes[FIRST_RATE][m][1] = rate * d->modes[FIRST_ORDER][m][1];
    }
}

/* Modes of the first order times f(k)/f1. */
static void rate_modes(struct displacement *d, const struct wave_growth *waves) {
  const size_t half = side(d) / 2, squares = 3 * half * half + 1;
  double *rate = allocate(squares, sizeof *rate, "growth rates");
  for (size_t i = 1; i < squares; i++)
    rate[i] = wave_rate(waves, d->scale * sqrt((double)i)) / waves->f1;
  d->modes[FIRST_RATE] = displacement_planes(d, false);
  loop_run(&initial_conditions_stage, (uint32_t)d->fft.modes.count[1], rate_line,
           &(struct rates){d, rate});
  free(rate);
}

static bool on_lattice(const struct parameters *p) { return p->ic.lattice_growth > 1.0; }

size_t displacement_meshes(const struct parameters *p) {
  const bool rates = p->cosmology.species_file[0] || p->ic.transfer_file[0] || on_lattice(p);
  const size_t rate = rates ? 2 : 0;
  /* While the third order is made: modes of two orders, three fields, four slopes of the first order that
   * are in no field, and four sources. */
  return rate + (p->ic.order == 3 ? 2 + 3 + 4 + 4 : 2 * (size_t)p->ic.order);
}

struct displacement displacement_create(const struct parameters *p,
                                        const struct linear_power *power,
                                        const struct wave_growth *waves, const struct growth *g,
                                        size_t mesh, bool between) {
  /* with room for the next rank's first row */
  const struct fft_mesh cells = {.cells = {mesh, mesh, mesh}, .spare = between};
  struct displacement d = {
      .fft = fft_create(&cells), .scale = 2.0 * M_PI / p->box.size, .between = between};
  const bool rates = wave_rate_depends_on_k(waves) || on_lattice(p);
  for (int order = 0; order < p->ic.order; order++) d.field[order] = displacement_planes(&d, true);
  if (on_lattice(p)) {
    d.lattice = lattice_growth_create();
    d.growth = p->ic.lattice_growth;
    d.particles = (double)p->box.npart_side;
  }
  if (rates) d.field[FIRST_RATE] = displacement_planes(&d, true);
  d.modes[0] = displacement_planes(&d, false);

  d.window = allocate(mesh, sizeof *d.window, "interpolation window");
  for (size_t i = 0; i < mesh; i++) {
    const double x = M_PI * displacement_frequency(&d, i) / (double)mesh;
    d.window[i] = between && x != 0.0 ? pow(x / sin(x), 2.0) : 1.0;
  }

  ic_random_modes(p, power, waves, &d.fft, d.modes[0]);
  if (p->ic.f_nl != 0.0) {
    const struct cosmology c = cosmology_from(p);
    ic_add_local_term(p, power, waves, &c, &d.fft, d.modes[0], d.field[0]);
  }
  if (rates) rate_modes(&d, waves);
  if (p->ic.order >= 2) second_order_modes(&d, g);
  return d;
}

/* The mean of cos(k x) over a cell in whose middle it is 1. */
static double cell_window(const struct displacement *d, double frequency) {
  const double x = M_PI * frequency / (double)side(d);
  return x == 0.0 ? 1.0 : sin(x) / x;
}

/* Multiply by the mean of exp(i k x) over a cell whose lowest corner is x = 0. */
static void average_line(void *context, uint32_t line) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  const struct fft_box *b = &d->fft.modes;
  for (size_t i = 0; i < side(d); i++) {
    fftw_complex *mode = l->out + fft_at(b, i, line, 0);
    for (size_t k = 0; k < b->count[2]; k++, mode++) {
      const double q[3] = {displacement_frequency(d, i),
                           displacement_frequency(d, b->first[1] + line),
                           displacement_frequency(d, b->first[2] + k)};
      const double phase = M_PI / (double)side(d) * (q[0] + q[1] + q[2]);
      const double window = cell_window(d, q[0]) * cell_window(d, q[1]) * cell_window(d, q[2]);
      const double re = window * (*mode)[0], im = window * (*mode)[1];
      (*mode)[0] = re * cos(phase) - im * sin(phase);
      (*mode)[1] = re * sin(phase) + im * cos(phase);
    }
  }
}

void displacement_average(struct displacement *d) {
  for (int order = 0; order < DISPLACEMENT_FIELDS; order++) {
    if (!d->modes[order]) continue;
    struct loop loop = {.d = d, .out = d->modes[order]};
    for_lines(average_line, &loop);
  }
}

/* -i k^2 A. */
static void contrast_line(void *context, uint32_t line) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  const struct fft_box *b = &d->fft.modes;
  for (size_t i = 0; i < side(d); i++)
    for (size_t k = 0, m = fft_at(b, i, line, 0); k < b->count[2]; k++, m++) {
      const double square = frequency_squared(d, i) + frequency_squared(d, b->first[1] + line) +
                            frequency_squared(d, b->first[2] + k);
      l->out[m][0] = l->factor * square * l->modes[m][1];
      l->out[m][1] = -l->factor * square * l->modes[m][0];
    }
}

void displacement_contrast(struct displacement *d) {
  struct loop loop = {.d = d,
                      .modes = d->modes[0],
                      .out = (fftw_complex *)d->field[0],
                      .factor = d->scale * d->scale};
  for_lines(contrast_line, &loop);
  fft_backward(&d->fft, d->field[0]);
}

/* The component of a displacement by which A_k is multiplied, in units of the fundamental mode. On a grid of particles
 * the first order is that from which the growth of the grid's waves leads to the fluid's. */
static double component_of(const struct loop *l, const double q[3]) {
  const struct displacement *d = l->d;
  const unsigned axis = l->axis[0];
  const bool any = q[0] != 0.0 || q[1] != 0.0 || q[2] != 0.0;
  if (!d->lattice || !any || l->order == SECOND_ORDER) return q[axis];
  const struct lattice_wave wave = lattice_growth_of(d->lattice, q, d->particles);
  const double first = wave.direction[axis] * pow(d->growth, 1.0 - wave.rate);
  return l->order == FIRST_RATE ? wave.rate * first : first;
}

static void component_line(void *context, uint32_t line) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  const struct fft_box *b = &d->fft.modes;
  const size_t j = b->first[1] + line;
  for (size_t i = 0; i < side(d); i++) {
    const double window = d->scale * d->window[i] * d->window[j];
    size_t m = fft_at(b, i, line, 0);
    for (size_t k = b->first[2]; k < b->first[2] + b->count[2]; k++, m++) {
      const double q[3] = {displacement_frequency(d, i), displacement_frequency(d, j),
                           displacement_frequency(d, k)};
      const double factor = component_of(l, q) * window * d->window[k];
      l->out[m][0] = factor * l->modes[m][0];
      l->out[m][1] = factor * l->modes[m][1];
    }
  }
}

/* The window of interpolation for a component of the third order. */
static void third_line(void *context, uint32_t line) {
  const struct loop *l = context;
  const struct displacement *d = l->d;
  const struct fft_box *b = &d->fft.modes;
  for (size_t i = 0; i < side(d); i++) {
    const double window = d->window[i] * d->window[b->first[1] + line];
    size_t m = fft_at(b, i, line, 0);
    for (size_t k = b->first[2]; k < b->first[2] + b->count[2]; k++, m++) {
      l->out[m][0] = window * d->window[k] * l->modes[m][0];
      l->out[m][1] = window * d->window[k] * l->modes[m][1];
    }
  }
}

void displacement_transform(struct displacement *d, unsigned axis) {
  for (int order = 0; order < DISPLACEMENT_FIELDS; order++) {
    if (!d->field[order]) continue;
    const bool third = order == THIRD_ORDER;
    struct loop loop = {.d = d,
                        .modes = third ? d->third[axis] : d->modes[order],
                        .out = (fftw_complex *)d->field[order],
                        .axis = {axis},
                        .order = (enum displacement_field)order};
    for_lines(third ? third_line : component_line, &loop);
    fft_backward(&d->fft, d->field[order]);
    if (!d->between) continue;
    displacement_fetch_edges(d, d->field[order]);
  }
}

void displacement_read(const struct displacement *d, const double q[3],
                       double psi[DISPLACEMENT_FIELDS]) {
  const size_t n = side(d);
  size_t index[3][2];
  double weight[3][2];
  for (int c = 0; c < 3; c++) {
    index[c][0] = (size_t)q[c] % n;
    index[c][1] = (index[c][0] + 1) % n;
    weight[c][1] = q[c] - floor(q[c]);
    weight[c][0] = 1.0 - weight[c][1];
  }
  for (int c = 0; c < 2; c++) {
    index[c][0] -= d->fft.values.first[c];
    index[c][1] = index[c][0] + 1;
  }
  memset(psi, 0, DISPLACEMENT_FIELDS * sizeof *psi);
  for (int corner = 0; corner < 8; corner++) {
    const int x = corner >> 2, y = corner >> 1 & 1, z = corner & 1;
    const double w = weight[0][x] * weight[1][y] * weight[2][z];
    if (w == 0.0) continue;
    const size_t cell = fft_at(&d->fft.values, index[0][x], index[1][y], index[2][z]);
    for (int order = 0; order < DISPLACEMENT_FIELDS; order++)
      if (d->field[order]) psi[order] += w * d->field[order][cell];
  }
}

void displacement_free(struct displacement *d) {
  for (int order = 0; order < DISPLACEMENT_FIELDS; order++) {
    fftw_free(d->modes[order]);
    fftw_free(d->field[order]);
  }
  for (int axis = 0; axis < 3; axis++) fftw_free(d->third[axis]);
  fft_free(&d->fft);
  free(d->window);
  free(d->lattice);
  *d = (struct displacement){0};
}
