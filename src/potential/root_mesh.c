/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "root_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(gas_root_transform, 0x115522, .family = "gas");

static fftw_complex *complex_numbers(const struct root_mesh *m, size_t count) {
  fftw_complex *memory = fftw_alloc_complex(count + 1);
  if (!memory)
    fail(EXIT_RUN_FAILED, "not enough memory for the potential of %u x %u x %u cells", m->size[0],
         m->size[1], m->size[2]);
  return memory;
}

static size_t plane_size(const struct root_mesh *m) { return (size_t)m->size[1] * m->row; }

/** The lines of a rank. */
static uint32_t first_line(const struct root_mesh *m, int rank) {
  return (uint32_t)comm_first(m->size[1], rank);
}

/** Transforms in place along y or z, of `row` neighbouring columns. */
static fftw_plan plan_columns(const struct root_mesh *m, int n, int sign) {
  fftw_complex *memory = complex_numbers(m, (size_t)n * m->row);
  const int row = (int)m->row;
  const fftw_plan plan = fftw_plan_many_dft(1, &n, row, memory, NULL, row, 1, memory, NULL, row, 1,
                                            sign, FFTW_ESTIMATE);
  fftw_free(memory);
  return plan;
}

static void make_plans(struct root_mesh *m) {
  const int x = (int)m->size[0], row = (int)m->row, rows = (int)m->cells[1];
  fftw_complex *memory = complex_numbers(m, plane_size(m));
  double *values = (double *)memory;
  m->rows[0] = fftw_plan_many_dft_r2c(1, &x, rows, values, NULL, 1, 2 * row, memory, NULL, 1, row,
                                      FFTW_ESTIMATE);
  m->rows[1] = fftw_plan_many_dft_c2r(1, &x, rows, memory, NULL, 1, row, values, NULL, 1, 2 * row,
                                      FFTW_ESTIMATE);
  fftw_free(memory);
  for (int i = 0; i < 2; i++) {
    const int sign = i == 0 ? FFTW_FORWARD : FFTW_BACKWARD;
    m->columns[i] = plan_columns(m, (int)m->size[1], sign);
    m->lines_along_z[i] = plan_columns(m, (int)m->size[2], sign);
    if (!m->rows[i] || !m->columns[i] || !m->lines_along_z[i])
      fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %u x %u x %u cells", m->size[0],
           m->size[1], m->size[2]);
  }
}

void root_mesh_init(struct root_mesh *m, const uint32_t cells[3], bool padded) {
  *m = (struct root_mesh){0};
  for (int c = 0; c < 3; c++) {
    m->cells[c] = cells[c];
    m->size[c] = padded ? 2 * cells[c] : cells[c];
  }
  m->row = m->size[0] / 2 + 1;
  m->planes = root_mesh_first(m, comm_rank() + 1) - root_mesh_first(m, comm_rank());
  m->first_line = first_line(m, comm_rank());
  m->lines = first_line(m, comm_rank() + 1) - m->first_line;
  fftw_complex *values = complex_numbers(m, m->planes * plane_size(m));
  m->values = (double *)values;
  m->waves = values;
  if (comm_size() > 1) {
    m->waves = complex_numbers(m, (size_t)m->cells[2] * m->lines * m->row);
    m->packed = complex_numbers(m, m->planes * plane_size(m));
  }
  make_plans(m);
}

void root_mesh_free(struct root_mesh *m) {
  for (int i = 0; i < 2; i++) {
    fftw_destroy_plan(m->rows[i]);
    fftw_destroy_plan(m->columns[i]);
    fftw_destroy_plan(m->lines_along_z[i]);
  }
  if (comm_size() > 1) fftw_free(m->waves);
  fftw_free(m->packed);
  fftw_free(m->values);
}

double root_mesh_bytes(const struct root_mesh *m) {
  return (double)m->cells[2] * (double)plane_size(m) * sizeof *m->waves *
         (comm_size() > 1 ? 3.0 : 1.0);
}

void root_mesh_clear(struct root_mesh *m) {
  memset(m->values, 0, m->planes * plane_size(m) * sizeof *m->waves);
}

/** A transform at work. */
struct transform {
  struct root_mesh *mesh;
  bool whole, back;
  root_mesh_work *work;
  void *context;
};

static fftw_complex *plane_of(const struct root_mesh *m, uint32_t plane) {
  return (fftw_complex *)root_mesh_row(m, plane, 0);
}

static void plane_forward(void *context, uint32_t plane) {
  const struct transform *t = context;
  const struct root_mesh *m = t->mesh;
  for (uint32_t y = 0; y < (t->whole ? m->size[1] : m->cells[1]); y += m->cells[1]) {
    double *row = root_mesh_row(m, plane, y);
    fftw_execute_dft_r2c(m->rows[0], row, (fftw_complex *)row);
  }
  fftw_execute_dft(m->columns[0], plane_of(m, plane), plane_of(m, plane));
}

static void plane_backward(void *context, uint32_t plane) {
  const struct transform *t = context;
  const struct root_mesh *m = t->mesh;
  fftw_execute_dft(m->columns[1], plane_of(m, plane), plane_of(m, plane));
  fftw_execute_dft_c2r(m->rows[1], plane_of(m, plane), root_mesh_row(m, plane, 0));
}

/** Transform lines of the same y along z, work on them, and transform them back. */
static void work_on_line(void *context, uint32_t line) {
  const struct transform *t = context;
  const struct root_mesh *m = t->mesh;
  const size_t row = m->row, bytes = row * sizeof *m->waves;
  fftw_complex *waves = complex_numbers(m, m->size[2] * row);
  for (uint32_t z = 0; z < m->cells[2]; z++)
    memcpy(waves + z * row, m->waves + (z * (size_t)m->lines + line) * row, bytes);
  memset(waves + m->cells[2] * row, 0, (m->size[2] - m->cells[2]) * bytes);
  fftw_execute_dft(m->lines_along_z[0], waves, waves);
  t->work(t->context, m->first_line + line, waves);
  if (t->back) {
    fftw_execute_dft(m->lines_along_z[1], waves, waves);
    for (uint32_t z = 0; z < m->cells[2]; z++)
      memcpy(m->waves + (z * (size_t)m->lines + line) * row, waves + z * row, bytes);
  }
  fftw_free(waves);
}

/** Copy the lines of a plane to or from the pieces for the ranks, [rank][plane][line of rank]. */
static void copy_plane(const struct root_mesh *m, uint32_t plane, bool pack) {
  for (int r = 0; r < comm_size(); r++) {
    const size_t first = first_line(m, r), lines = first_line(m, r + 1) - first;
    fftw_complex *piece = m->packed + (m->planes * first + plane * lines) * m->row;
    fftw_complex *inside = plane_of(m, plane) + first * m->row;
    memcpy(pack ? piece : inside, pack ? inside : piece, lines * m->row * sizeof *piece);
  }
}

static void pack_plane(void *context, uint32_t plane) {
  copy_plane(((const struct transform *)context)->mesh, plane, true);
}
static void unpack_plane(void *context, uint32_t plane) {
  copy_plane(((const struct transform *)context)->mesh, plane, false);
}

/** Exchange planes for lines, or lines for planes. */
static void exchange(const struct root_mesh *m, bool to_lines) {
  const size_t ranks = (size_t)comm_size(), bytes = m->row * sizeof *m->waves;
  size_t *planes = allocate(2 * ranks, sizeof *planes, "message sizes"), *lines = planes + ranks;
  for (int r = 0; r < comm_size(); r++) {
    planes[r] = m->planes * (size_t)(first_line(m, r + 1) - first_line(m, r)) * bytes;
    lines[r] = (root_mesh_first(m, r + 1) - root_mesh_first(m, r)) * (size_t)m->lines * bytes;
  }
  if (to_lines)
    comm_exchange(m->packed, planes, m->waves, lines);
  else
    comm_exchange(m->waves, lines, m->packed, planes);
  free(planes);
}

static void run(struct transform *t) {
  const struct root_mesh *m = t->mesh;
  const bool several = comm_size() > 1;
  loop_run(&gas_root_transform_stage, m->planes, plane_forward, t);
  if (several) {
    loop_run(&gas_root_transform_stage, m->planes, pack_plane, t);
    exchange(m, true);
  }
  loop_run(&gas_root_transform_stage, m->lines, work_on_line, t);
  if (!t->back) return;
  if (several) {
    exchange(m, false);
    loop_run(&gas_root_transform_stage, m->planes, unpack_plane, t);
  }
  loop_run(&gas_root_transform_stage, m->planes, plane_backward, t);
}

void root_mesh_transform(struct root_mesh *m, bool whole, root_mesh_work *work, void *context) {
  run(&(struct transform){m, whole, false, work, context});
}

void root_mesh_convolve(struct root_mesh *m, root_mesh_work *work, void *context) {
  run(&(struct transform){m, false, true, work, context});
}
