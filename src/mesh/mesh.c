/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particle mesh: tables and FFTW plans. */
#include "plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/cosmology/species.h"
#include "photons/fft/fft.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(mesh_green, 0x887733, .family = "pm", .untimed = true);

static fftwf_plan plan_lines(const struct mesh *m, uint32_t lines, int stride_in, int stride_out,
                             int sign, fftwf_complex *in, fftwf_complex *out) {
  const int n = (int)m->cells;
  return fftwf_plan_many_dft(1, &n, (int)lines, in, NULL, stride_in, 1, out, NULL, stride_out, 1,
                             sign, FFTW_ESTIMATE);
}

static struct mesh_plans *plans_create(const struct mesh *m) {
  struct mesh_plans *p = allocate(1, sizeof *p, "FFT plans");
  const int n = (int)m->cells, spectrum_row = (int)m->row / 2;
  float *plane = fftwf_alloc_real(plane_floats(m));
  fftwf_complex *spectrum = fftwf_alloc_complex(spectrum_size(m));
  fftwf_complex *lines = fftwf_alloc_complex(lines_size(m)),
                *lines_out = fftwf_alloc_complex(lines_size(m));
  if (!plane || !spectrum || !lines || !lines_out)
    fail(EXIT_RUN_FAILED, "not enough memory for FFT plans of a mesh of %d cells a side", n);

  fft_planner_lock();
  p->z_forward = fftwf_plan_dft_r2c_1d(n, plane, spectrum, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
  p->z_backward = fftwf_plan_dft_c2r_1d(n, spectrum, plane, FFTW_ESTIMATE);
  bool complete = p->z_forward && p->z_backward;
  for (int tail = 0; tail < 2; tail++) {
    uint32_t count = tail ? m->kz % LINES : LINES;
    if (count == 0 || count > m->kz) continue;
    p->y_forward[tail] = plan_lines(m, count, spectrum_row, LINE_STRIDE, FFTW_FORWARD, spectrum,
                                    lines);
    p->y_backward[tail] = plan_lines(m, count, LINE_STRIDE, spectrum_row, FFTW_BACKWARD, lines,
                                     spectrum);
    p->x_forward[tail] = plan_lines(m, count, LINE_STRIDE, LINE_STRIDE, FFTW_FORWARD, lines,
                                    lines_out);
    p->x_backward[tail] = plan_lines(m, count, LINE_STRIDE, LINE_STRIDE, FFTW_BACKWARD, lines,
                                     lines_out);
    complete = complete && p->y_forward[tail] && p->y_backward[tail] && p->x_forward[tail] &&
               p->x_backward[tail];
  }
  fft_planner_unlock();
  if (!complete) fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %d cells a side", n);
  fftwf_free(plane);
  fftwf_free(spectrum);
  fftwf_free(lines);
  fftwf_free(lines_out);
  return p;
}

/** S(k) of a mesh without pairs: 1/2 at its cut. Where none is given, that is at 0.513 of its Nyquist frequency,
 * about that of the particles where the mesh has twice as many cells a side, and 5e-5 is left at all of it. There
 * lies the lattice that particles begin on. Its waves, displaced by long waves, pull along these: with S = 1 the forces of 32^3 particles in
 * 250 Mpc/h at z = 9 are 2.7 times too large. Four-point differences of a wave along an axis are 1 - (kh)^4/30 of its gradient, h being a
 * cell; the mean over all directions, 1 - (kh)^4/70, is made up for. */
static double mesh_alone_factor(const struct mesh *m, double k) {
  const double cell = k * m->box / m->cells, of_nyquist = cell / M_PI,
               cut = exp(-(m->cut > 0.0 ? M_LN2 / pow(m->cut, 4.0) : 10.0) * pow(of_nyquist, 4.0));
  return m->gradient == GRADIENT_FD4 ? cut * (1.0 + pow(cell, 4.0) / 70.0) : cut;
}

enum { GREEN_PART = 4096 }; /* entries of Green's function that a task computes */

struct green {
  struct mesh *mesh;
  const struct response *response; /* or NULL */
};

static void green_part(void *context, uint32_t part) {
  const struct green *g = context;
  const struct mesh *m = g->mesh;
  const double fundamental = 2.0 * M_PI / m->box,
               unit = 4.0 * M_PI / (m->box * m->box * m->box) / (m->interlace ? 2.0 : 1.0);
  const size_t first = (size_t)part * GREEN_PART,
               end = first + GREEN_PART < m->squares ? first + GREEN_PART : m->squares;
  for (size_t i = first; i < end; i++) {
    const size_t square = m->first_square + i;
    if (square == 0) continue;
    const double k = fundamental * sqrt((double)square),
                 others = g->response ? response_at(g->response, k) : 0;
    const double own = m->split ? split_mesh_factor(m->split, k) : mesh_alone_factor(m, k);
    m->green[i] = (float)(unit / (k * k) * (own + others));
  }
}

void mesh_make_green(struct mesh *m, const struct response *response) {
  struct green g = {m, response};
  if (m->squares == 0) return;
  loop_run(&mesh_green_stage, (uint32_t)((m->squares + GREEN_PART - 1) / GREEN_PART), green_part,
           &g);
}

static size_t square_of(const struct mesh *m, uint32_t i) {
  const ptrdiff_t n = signed_index(m, i);
  return (size_t)(n * n);
}

void mesh_take_columns(struct mesh *m, uint32_t first, uint32_t end) {
  const uint32_t first_ky = column_first(m, first), end_ky = column_first(m, end),
                 end_kz = m->first_kz + m->kzs;
  size_t least = SIZE_MAX, most = 0;
  for (uint32_t ky = first_ky; ky < end_ky; ky++) {
    const size_t square = square_of(m, ky);
    least = square < least ? square : least;
    most = square > most ? square : most;
  }
  const bool any = first_ky < end_ky && m->kzs > 0;
  m->first_square = any ? least + square_of(m, m->first_kz) : 0;
  m->squares = any ? most + square_of(m, end_kz - 1) + square_of(m, m->cells / 2) + 1 -
                         m->first_square
                   : 0;
  free(m->green);
  m->green = allocate(m->squares, sizeof *m->green, "Green's function");
  kept_set(KEPT_GREEN, m->squares * sizeof *m->green);
  mesh_make_green(m, NULL);
}

static void tables_create(struct mesh *m) {
  const uint32_t n = m->cells, half = n / 2;
  const double fundamental = 2.0 * M_PI / m->box;
  m->window = allocate(n, sizeof *m->window, "assignment window");
  m->wave = allocate(n, sizeof *m->wave, "wave numbers");
  /* the window of a scheme of width w is sinc^w */
  const double power = -2.0 * assignment_width(m->assignment);
  for (uint32_t i = 0; i < n; i++) {
    int s = signed_index(m, i);
    double x = M_PI * s / n;
    m->window[i] = (float)pow(s == 0 ? 1.0 : sin(x) / x, power);
    m->wave[i] = i == half ? 0.0f : (float)(fundamental * s);
  }
  m->phase = allocate(5 * (size_t)half + 1, sizeof *m->phase, "interlacing phases");
  for (size_t i = 0; i <= 5 * (size_t)half; i++) {
    double angle = M_PI * ((double)i - n) / n;
    m->phase[i] = (float)cos(angle) + (float)sin(angle) * I;
  }
}

struct mesh *mesh_create(uint32_t cells, uint32_t slabs, uint32_t columns, double box,
                         enum assignment assignment, enum gradient gradient, bool interlace,
                         const struct split *split) {
  if (cells < 8 || cells > MESH_MOST || cells % 2)
    fail(EXIT_BAD_USAGE, "a mesh of %u cells a side: the number must be even, 8 to %d", cells,
         MESH_MOST);
  if (slabs < 1 || slabs > cells || columns < 1 || columns > cells)
    fail(EXIT_BAD_USAGE,
         "%u slabs and %u columns for a mesh of %u cells a side: allowed are 1 to that number",
         slabs, columns, cells);
  struct mesh *m = allocate(1, sizeof *m, "mesh");
  *m = (struct mesh){.cells = cells,
                     .row = mesh_row(cells),
                     .kz = cells / 2 + 1,
                     .slabs = slabs,
                     .columns = columns,
                     .box = box,
                     .assignment = assignment,
                     .gradient = gradient,
                     .interlace = interlace,
                     .fields = gradient == GRADIENT_SPECTRAL ? 3 : 1,
                     .spectra = gradient == GRADIENT_SPECTRAL ? 2 : 1,
                     .split = split};
  mesh_divide(m, 1, 0);
  tables_create(m);
  m->plans = plans_create(m);
  return m;
}

void mesh_divide(struct mesh *m, uint32_t parts, uint32_t part) {
  m->parts = parts;
  m->part = part;
  m->first_y = part_first_y(m, part);
  m->ys = part_first_y(m, part + 1) - m->first_y;
  m->first_kz = part_first_kz(m, part);
  m->kzs = part_first_kz(m, part + 1) - m->first_kz;
}

void mesh_free(struct mesh *m) {
  if (!m) return;
  fft_planner_lock();
  fftwf_destroy_plan(m->plans->z_forward);
  fftwf_destroy_plan(m->plans->z_backward);
  for (int tail = 0; tail < 2; tail++) {
    fftwf_destroy_plan(m->plans->y_forward[tail]);
    fftwf_destroy_plan(m->plans->y_backward[tail]);
    fftwf_destroy_plan(m->plans->x_forward[tail]);
    fftwf_destroy_plan(m->plans->x_backward[tail]);
  }
  fft_planner_unlock();
  free(m->plans);
  free(m->green);
  free(m->window);
  free(m->wave);
  free(m->phase);
  free(m);
}
