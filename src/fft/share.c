/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each rank has of a mesh, and how much memory that takes. */
#include "share.h"

#include "photons/base/comm.h"
#include "photons/base/grid.h"
#include "plans.h"

static size_t padding(const struct fft_mesh *m) { return m->padded ? 2 : 1; }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t modes_along_2(const struct fft_mesh *m) { return padding(m) * m->cells[2] / 2 + 1; }

struct fft_grid fft_grid_of(const struct fft_mesh *m) {
  const size_t ranks = (size_t)comm_size(),
               rows_most = smaller(m->cells[0], padding(m) * m->cells[1]),
               columns_most = smaller(m->cells[1], modes_along_2(m));
  if (m->layout == FFT_SLABS || (m->layout == FFT_AUTO && ranks <= rows_most))
    return (struct fft_grid){ranks, 1};
  const size_t columns = grid_columns(ranks, rows_most, columns_most);
  return (struct fft_grid){smaller(ranks / columns, rows_most), columns};
}

static size_t row_of(const struct fft_mesh *m) {
  const size_t least = 2 * modes_along_2(m);
  if (m->row > 0) return m->row;
  return m->precision == FFT_SINGLE ? (least + 3) & ~(size_t)3 : least;
}

static struct part part_of(size_t n, size_t parts, size_t part) {
  if (part >= parts) return (struct part){n, 0};
  const size_t first = block_first(n, parts, part);
  return (struct part){first, block_first(n, parts, part + 1) - first};
}

struct part fft_planes(const struct fft *f, size_t row) {
  return part_of(f->mesh.cells[0], f->grid.rows, row);
}
struct part fft_rows(const struct fft *f, size_t column) {
  return part_of(f->mesh.cells[1], f->grid.columns, column);
}
struct part fft_k1(const struct fft *f, size_t row) {
  return part_of(f->size[1], f->grid.rows, row);
}
struct part fft_k2(const struct fft *f, size_t column) {
  return part_of(f->size[2] / 2 + 1, f->grid.columns, column);
}

struct fft_box fft_values_of(const struct fft_mesh *m, struct fft_grid grid, int rank) {
  const size_t row = (size_t)rank / grid.columns, column = (size_t)rank % grid.columns;
  const struct part planes = part_of(m->cells[0], grid.rows, row),
                    rows = part_of(m->cells[1], grid.columns, column);
  return (struct fft_box){.first = {planes.first, rows.first},
                          .count = {planes.count, rows.count, m->cells[2]},
                          .step = {(padding(m) * rows.count + m->spare) * row_of(m), row_of(m), 1}};
}

struct fft_box fft_own_modes(const struct fft *f) {
  const size_t rank = (size_t)comm_rank();
  const struct part k1 = fft_k1(f, rank / f->grid.columns), k2 = fft_k2(f, rank % f->grid.columns);
  struct fft_box b = {.first = {0, k1.first, k2.first}, .count = {f->size[0], k1.count, k2.count}};
  b.step[0] = comm_size() > 1 ? k1.count * k2.count : f->values.step[0] / 2;
  b.step[1] = comm_size() > 1 ? k2.count : f->values.step[1] / 2;
  b.step[2] = 1;
  return b;
}

/** Complex numbers of this rank's planes between the exchanges, with so many numbers along axis 1. */
static size_t between(const struct fft *f, size_t along_1) {
  return f->values.count[0] * along_1 * f->modes.count[2];
}

size_t fft_bytes(const struct fft *f) {
  const size_t values = f->values.count[0] * f->values.step[0] / 2,
               lines = f->mesh.cells[0] * f->modes.count[1] * f->modes.count[2];
  size_t most = values;
  if (comm_size() > 1) most = larger(most, lines);
  if (f->grid.columns > 1) most = larger(most, between(f, padding(&f->mesh) * f->mesh.cells[1]));
  return (most + 1) * complex_bytes(f->mesh.precision);
}

size_t fft_exchange_numbers(const struct fft *f) {
  const size_t rows = f->values.count[0] * padding(&f->mesh) * f->values.count[1] *
                      (f->size[2] / 2 + 1);
  return larger(between(f, f->size[1]), f->grid.columns > 1 ? rows : 0);
}

double fft_bytes_of_all(const struct fft_mesh *m) {
  const double rows = (double)(padding(m) * m->cells[1]) +
                      (double)(m->spare * fft_grid_of(m).columns);
  return (double)m->cells[0] * rows * (double)row_of(m) * (double)complex_bytes(m->precision) / 2.0;
}

double fft_exchange_bytes_of_all(const struct fft_mesh *m) {
  const size_t lines = padding(m) * m->cells[1];
  if (comm_size() == 1) return 0.0;
  return (double)m->cells[0] * (double)(lines * modes_along_2(m)) *
         (double)complex_bytes(m->precision);
}
