/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms of distributed meshes: along y and z plane by plane, an exchange that gathers the
 * lines along x, and a transform of these lines. */
#include "photons/mesh/slab_fft.h"

#include <fftw3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(mesh_transform, 0xddcc77, .untimed = true);

/* Every plan works in place on one plane. The algorithm that FFTW chooses, and so the rounding,
 * does not depend on the number of ranks. */
struct slab_fft_plans {
  fftw_plan plane_forward, plane_backward; /* [y][z] */
  fftw_plan lines_forward, lines_backward; /* [x][kz] along x */
};

struct slab_fft slab_fft_create(size_t n) {
  const size_t first = comm_first(n, comm_rank()), kz = n / 2 + 1;
  struct slab_fft f = {
      .n = n, .kz = kz, .first = first, .planes = comm_first(n, comm_rank() + 1) - first};
  fftw_complex *plane = fftw_alloc_complex(n * kz);
  if (!plane)
    fail(EXIT_RUN_FAILED, "not enough memory to plan transforms of a mesh of %zu cells a side", n);
  const int side = (int)n, row = (int)kz;
  struct slab_fft_plans *plans = allocate(1, sizeof *plans, "FFT plans");
  plans->plane_forward = fftw_plan_dft_r2c_2d(side, side, (double *)plane, plane, FFTW_ESTIMATE);
  plans->plane_backward = fftw_plan_dft_c2r_2d(side, side, plane, (double *)plane, FFTW_ESTIMATE);
  fftw_plan *const lines[2] = {&plans->lines_forward, &plans->lines_backward};
  for (int i = 0; i < 2; i++)
    *lines[i] = fftw_plan_many_dft(1, &side, row, plane, NULL, row, 1, plane, NULL, row, 1,
                                   i == 0 ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
  fftw_free(plane);
  if (!plans->plane_forward || !plans->plane_backward || !plans->lines_forward ||
      !plans->lines_backward)
    fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %zu cells a side", n);
  f.plans = plans;
  return f;
}

void slab_fft_free(struct slab_fft *f) {
  fftw_destroy_plan(f->plans->plane_forward);
  fftw_destroy_plan(f->plans->plane_backward);
  fftw_destroy_plan(f->plans->lines_forward);
  fftw_destroy_plan(f->plans->lines_backward);
  free(f->plans);
  *f = (struct slab_fft){0};
}

size_t slab_fft_size(const struct slab_fft *f) { return 2 * f->planes * f->n * f->kz; }

/* A transform in progress. Rows are the kz complex numbers (or 2 kz reals) at one (x, y). */
struct work {
  const struct slab_fft *f;
  fftw_complex *mesh;
  fftw_complex *buffer; /* of the mesh's size; NULL with one rank */
  fftw_plan plan;
};

static void copy_row(const struct slab_fft *f, fftw_complex *to, size_t to_row,
                     const fftw_complex *from, size_t from_row) {
  memcpy(to + to_row * f->kz, from + from_row * f->kz, f->kz * sizeof *to);
}

/* One rank: swap rows (i, j) and (j, i). Tasks take the i-th row from the start and the i-th from
 * the end together, for equal work. */
static void swap_rows(void *context, uint32_t i) {
  const struct work *w = context;
  const size_t n = w->f->n, kz = w->f->kz;
  for (size_t side = 0; side < 2; side++)
    for (size_t x = side ? n - 1 - i : i, y = x + 1; y < n; y++) {
      fftw_complex *a = w->mesh + (x * n + y) * kz, *b = w->mesh + (y * n + x) * kz;
      for (size_t k = 0; k < kz; k++)
        for (int part = 0; part < 2; part++) {
          const double swap = a[k][part];
          a[k][part] = b[k][part];
          b[k][part] = swap;
        }
    }
}

/* Several ranks: from [plane here][line] to the send buffer [rank][plane here][line of the
 * rank]. */
static void pack_plane(void *context, uint32_t plane) {
  const struct work *w = context;
  const struct slab_fft *f = w->f;
  for (int r = 0; r < comm_size(); r++) {
    const size_t first = comm_first(f->n, r), lines = comm_first(f->n, r + 1) - first;
    memcpy(w->buffer + (f->planes * first + plane * lines) * f->kz,
           w->mesh + (plane * f->n + first) * f->kz, lines * f->kz * sizeof *w->mesh);
  }
}

/* From the receive buffer, [line][plane here] in the order of the ranks, to [plane here][line]. */
static void unpack_plane(void *context, uint32_t plane) {
  const struct work *w = context;
  for (size_t line = 0; line < w->f->n; line++)
    copy_row(w->f, w->buffer, plane * w->f->n + line, w->mesh, line * w->f->planes + plane);
}

/* Transpose [x here][y] to [y here][x] or back; both are the same operation. With several ranks the
 * result is left in the buffer. */
static void transpose(struct work *w) {
  const struct slab_fft *f = w->f;
  if (comm_size() == 1) {
    loop_run(&mesh_transform_stage, (uint32_t)(f->n / 2), swap_rows, w);
    return;
  }
  loop_run(&mesh_transform_stage, (uint32_t)f->planes, pack_plane, w);
  size_t *bytes = allocate((size_t)comm_size(), sizeof *bytes, "message sizes");
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (comm_first(f->n, r + 1) - comm_first(f->n, r)) * f->planes * f->kz *
               sizeof *w->mesh;
  comm_exchange(w->buffer, bytes, w->mesh, bytes);
  free(bytes);
  loop_run(&mesh_transform_stage, (uint32_t)f->planes, unpack_plane, w);
}

static fftw_complex *work_plane(const struct work *w, uint32_t plane, bool transposed) {
  const size_t size = w->f->n * w->f->kz;
  fftw_complex *place = w->mesh + plane * size;
  if (transposed && w->buffer) memcpy(place, w->buffer + plane * size, size * sizeof *place);
  return place;
}

static void plane_forward(void *context, uint32_t plane) {
  const struct work *w = context;
  fftw_complex *place = work_plane(w, plane, false);
  fftw_execute_dft_r2c(w->plan, (double *)place, place);
}

static void plane_backward(void *context, uint32_t plane) {
  const struct work *w = context;
  fftw_complex *place = work_plane(w, plane, true);
  fftw_execute_dft_c2r(w->plan, place, (double *)place);
}

static void lines_forward(void *context, uint32_t plane) {
  const struct work *w = context;
  fftw_complex *place = work_plane(w, plane, true);
  fftw_execute_dft(w->plan, place, place);
}

static void lines_backward(void *context, uint32_t plane) {
  const struct work *w = context;
  fftw_complex *place = work_plane(w, plane, false);
  fftw_execute_dft(w->plan, place, place);
}

struct pass {
  fftw_plan plan;
  void (*function)(void *context, uint32_t plane);
};

static void transform(const struct slab_fft *f, double *mesh, const struct pass pass[2]) {
  if (fftw_alignment_of(mesh) != 0)
    fail(EXIT_RUN_FAILED, "the memory of a mesh to transform lacks the alignment that FFTW needs");
  struct work w = {.f = f, .mesh = (fftw_complex *)mesh, .plan = pass[0].plan};
  if (comm_size() > 1) {
    w.buffer = fftw_alloc_complex(f->planes * f->n * f->kz + 1);
    if (!w.buffer)
      fail(EXIT_RUN_FAILED, "not enough memory to transpose %zu planes of %zu^2 cells", f->planes,
           f->n);
  }
  loop_run(&mesh_transform_stage, (uint32_t)f->planes, pass[0].function, &w);
  transpose(&w);
  w.plan = pass[1].plan;
  loop_run(&mesh_transform_stage, (uint32_t)f->planes, pass[1].function, &w);
  fftw_free(w.buffer);
}

void slab_fft_forward(const struct slab_fft *f, double *mesh) {
  transform(f, mesh,
            (struct pass[]){{f->plans->plane_forward, plane_forward},
                            {f->plans->lines_forward, lines_forward}});
}

void slab_fft_backward(const struct slab_fft *f, double *mesh) {
  transform(f, mesh,
            (struct pass[]){{f->plans->lines_backward, lines_backward},
                            {f->plans->plane_backward, plane_backward}});
}
