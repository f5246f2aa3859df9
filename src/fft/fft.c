/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of a transform, forward:
 *
 * - Rows along axis 2 are transformed in place. Where the grid of ranks has several columns, the ranks of each of its
 *   rows exchange them: pieces [column][x0][half][x1 of it][k2 here], half 1 being the rows of x1 >= cells[1] of a padded
 *   mesh that has values there.
 * - Lines along axis 1 are copied to a worker's memory, FFT_LINES neighbours along axis 2 at a time, transformed,
 *   and copied to the pieces that the ranks of each column of the grid exchange, [row][x0][k1 of it][k2 here].
 * - Lines along axis 0 are in memory as [x0][k1 here][k2 here] then; they are transformed in the same way.
 *
 * On one rank all this is in place. Backward the steps are the same in the opposite order. */
#include "photons/fft/fft.h"

#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/fft/kernels.h"
#include "photons/runtime/loop.h"
#include "plans.h"
#include "share.h"

LOOP_STAGE(mesh_transform, 0xddcc77, .untimed = true);

struct fft fft_create(const struct fft_mesh *mesh) {
  struct fft f = {.mesh = *mesh, .grid = fft_grid_of(mesh)};
  if (!f.mesh.stage) f.mesh.stage = &mesh_transform_stage;
  for (int axis = 0; axis < 3; axis++) f.size[axis] = (mesh->padded ? 2 : 1) * mesh->cells[axis];
  f.values = fft_values_of(mesh, f.grid, comm_rank());
  f.modes = fft_own_modes(&f);
  f.plans = fft_plans_create(&f);
  if (mesh->lasting && comm_size() > 1) f.buffer = fft_take(&f, fft_exchange_numbers(&f));
  return f;
}

void fft_free(struct fft *f) {
  fft_plans_free(f, f->plans);
  fftw_free(f->buffer);
  *f = (struct fft){0};
}

/* A transform at work. */
struct transform {
  const struct fft *f;
  char *memory, *buffer; /* buffer: for exchanges; one rank: NULL */
  size_t width;          /* numbers along axis 2 that are transformed along the others */
  bool whole, forward, back;
  fft_work *work; /* NULL: none */
  void *context;
};

static void require_alignment(const void *memory) {
  if (fftw_alignment_of((double *)memory) != 0)
    fail(EXIT_RUN_FAILED, "the memory of a mesh to transform lacks the alignment that FFTW needs");
}

static struct transform begin(const struct fft *f, void *memory) {
  require_alignment(memory);
  struct transform t = {.f = f, .memory = memory, .buffer = f->buffer, .width = f->modes.count[2]};
  if (!t.buffer && comm_size() > 1) t.buffer = fft_take(f, fft_exchange_numbers(f));
  return t;
}

static void end(struct transform *t) {
  if (t->buffer != t->f->buffer) fftw_free(t->buffer);
}

/** A complex number of some memory, counted from the first one. */
static char *number(const struct transform *t, char *memory, size_t i) {
  return memory + i * complex_bytes(t->f->mesh.precision);
}

static size_t halves(const struct transform *t) { return t->whole ? 2 : 1; }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/** Batches of FFT_LINES neighbours along axis 2. */
static size_t batches(const struct transform *t) { return (t->width + FFT_LINES - 1) / FFT_LINES; }
static size_t in_batch(const struct transform *t, size_t batch) {
  return smaller(FFT_LINES, t->width - batch * FFT_LINES);
}

static void for_parts(const struct transform *t, size_t parts,
                      void (*function)(void *context, uint32_t part)) {
  if (parts > UINT32_MAX)
    fail(EXIT_RUN_FAILED, "a mesh of %zu x %zu x %zu cells is too large for one rank to transform",
         t->f->size[0], t->f->size[1], t->f->size[2]);
  loop_run(t->f->mesh.stage, (uint32_t)parts, function, (void *)t);
}

/** Copy n numbers each of neighbouring lines between memory, where these are `step` numbers apart, and the lines of a worker. */
static void copy(const struct transform *t, char *lines, char *memory, size_t step, size_t n,
                 size_t count, bool gather) {
  const enum fft_precision precision = t->f->mesh.precision;
  const size_t bytes = complex_bytes(precision), from_step = gather ? step : FFT_LINES,
               to_step = gather ? FFT_LINES : step;
  const char *from = gather ? memory : lines;
  char *to = gather ? lines : memory;
  if (count == FFT_LINES)
    fft_kernels_select()->copy_lines(precision, n, from, from_step, to, to_step);
  else
    for (size_t i = 0; i < n; i++)
      memcpy(to + i * to_step * bytes, from + i * from_step * bytes, count * bytes);
}

/** A worker's memory for lines of n numbers, of zeros where some of these are not copied to it. */
static char *take_lines(const struct transform *t, size_t n, size_t count) {
  char *lines = fft_take(t->f, n * FFT_LINES);
  if (count < FFT_LINES || t->f->mesh.padded)
    memset(lines, 0, n * FFT_LINES * complex_bytes(t->f->mesh.precision));
  return lines;
}

/* Rows along axis 2. */

enum { ROWS = 16 }; /* of a part of a loop */

static size_t row_parts(const struct transform *t) {
  return t->f->values.count[0] * ((t->f->values.count[1] + ROWS - 1) / ROWS);
}

/** Do something with each of the rows of a part. @param at  of the row in memory, in complex numbers */
static void for_rows(const struct transform *t, uint32_t part,
                     void (*function)(const struct transform *t, size_t plane, size_t half,
                                      size_t y, char *row)) {
  const struct fft_box *b = &t->f->values;
  const size_t parts = (b->count[1] + ROWS - 1) / ROWS, plane = part / parts,
               first = part % parts * ROWS;
  for (size_t half = 0; half < halves(t); half++)
    for (size_t y = first; y < smaller(first + ROWS, b->count[1]); y++)
      function(
          t, plane, half, y,
          number(t, t->memory, (plane * b->step[0] + (half * b->count[1] + y) * b->step[1]) / 2));
}

/** Copy a row to or from the pieces for the ranks of this row of the grid. */
static void copy_pieces(const struct transform *t, size_t plane, size_t half, size_t y, char *row,
                        bool pack) {
  const struct fft *f = t->f;
  const size_t planes = f->values.count[0], rows = f->values.count[1];
  for (size_t c = 0; c < f->grid.columns; c++) {
    const struct part k2 = fft_k2(f, c);
    char *piece = number(t, t->buffer,
                         planes * halves(t) * rows * k2.first +
                             ((plane * halves(t) + half) * rows + y) * k2.count);
    char *inside = number(t, row, k2.first);
    memcpy(pack ? piece : inside, pack ? inside : piece,
           k2.count * complex_bytes(f->mesh.precision));
  }
}

static void row_forward(const struct transform *t, size_t plane, size_t half, size_t y, char *row) {
  fft_execute_row(t->f, FORWARD, row);
  if (t->f->grid.columns > 1) copy_pieces(t, plane, half, y, row, true);
}

static void row_backward(const struct transform *t, size_t plane, size_t half, size_t y,
                         char *row) {
  if (t->f->grid.columns > 1) copy_pieces(t, plane, half, y, row, false);
  fft_execute_row(t->f, BACKWARD, row);
}

static void pack_row(const struct transform *t, size_t plane, size_t half, size_t y, char *row) {
  copy_pieces(t, plane, half, y, row, true);
}

static void pack_rows(void *context, uint32_t part) { for_rows(context, part, pack_row); }
static void rows_forward(void *context, uint32_t part) { for_rows(context, part, row_forward); }
static void rows_backward(void *context, uint32_t part) { for_rows(context, part, row_backward); }

/* Exchanges. */

/** Bytes of the pieces before and after an exchange, for each rank: [2][rank]. */
static size_t *make_sizes(void) {
  return allocate(2 * (size_t)comm_size(), sizeof(size_t), "message sizes");
}

/** Exchange in a row of the grid: rows of values for parts of all rows, or back. */
static void exchange_in_row(const struct transform *t, bool forward) {
  const struct fft *f = t->f;
  const size_t ranks = (size_t)comm_size(), columns = f->grid.columns,
               planes = f->values.count[0] * halves(t) * complex_bytes(f->mesh.precision),
               row = (size_t)comm_rank() / columns;
  size_t *before = make_sizes(), *after = before + ranks;
  for (size_t c = 0; c < columns && row < f->grid.rows; c++) {
    before[row * columns + c] = planes * f->values.count[1] * fft_k2(f, c).count;
    after[row * columns + c] = planes * fft_rows(f, c).count * f->modes.count[2];
  }
  if (forward)
    comm_exchange(t->buffer, before, t->memory, after);
  else
    comm_exchange(t->memory, after, t->buffer, before);
  free(before);
}

/** Exchange in a column of the grid: planes for lines along axis 0, or back. */
static void exchange_in_column(const struct transform *t, bool forward) {
  const struct fft *f = t->f;
  const size_t ranks = (size_t)comm_size(), columns = f->grid.columns,
               bytes = f->modes.count[2] * complex_bytes(f->mesh.precision),
               column = (size_t)comm_rank() % columns;
  size_t *before = make_sizes(), *after = before + ranks;
  for (size_t r = 0; r < f->grid.rows; r++) {
    before[r * columns + column] = f->values.count[0] * fft_k1(f, r).count * bytes;
    after[r * columns + column] = fft_planes(f, r).count * f->modes.count[1] * bytes;
  }
  if (forward)
    comm_exchange(t->buffer, before, t->memory, after);
  else
    comm_exchange(t->memory, after, t->buffer, before);
  free(before);
}

/* Lines along axis 1. */

/** Copy the numbers x1 of a batch of lines between a worker's memory and the rows, or pieces of them. */
static void copy_x1(const struct transform *t, size_t plane, size_t k2, size_t count, char *lines,
                    bool gather) {
  const struct fft *f = t->f;
  const bool pieces = f->grid.columns > 1;
  const size_t planes = f->values.count[0], width = f->modes.count[2], cells = f->mesh.cells[1];
  for (size_t c = 0; c < f->grid.columns; c++) {
    const struct part rows = fft_rows(f, c);
    for (size_t half = 0; half < halves(t); half++) {
      const size_t step = pieces ? width : f->values.step[1] / 2;
      const size_t first = pieces
                               ? (planes * halves(t) * rows.first +
                                  (plane * halves(t) + half) * rows.count) *
                                     width
                               : (plane * f->values.step[0] + half * cells * f->values.step[1]) / 2;
      copy(t, number(t, lines, (half * cells + rows.first) * FFT_LINES),
           number(t, t->memory, first + k2), step, rows.count, count, gather);
    }
  }
}

/** Copy the numbers k1 of a batch of lines between a worker's memory and pieces of planes; on one rank the planes. */
static void copy_k1(const struct transform *t, size_t plane, size_t k2, size_t count, char *lines,
                    bool gather) {
  const struct fft *f = t->f;
  const bool alone = comm_size() == 1;
  const size_t planes = f->values.count[0], width = f->modes.count[2];
  for (size_t r = 0; r < f->grid.rows; r++) {
    const struct part k1 = fft_k1(f, r);
    const size_t step = alone ? f->values.step[1] / 2 : width;
    const size_t first = alone ? plane * f->values.step[0] / 2
                               : (planes * k1.first + plane * k1.count) * width;
    copy(t, number(t, lines, k1.first * FFT_LINES),
         number(t, alone ? t->memory : t->buffer, first + k2), step, k1.count, count, gather);
  }
}

/** Transform lines along axis 1 of a plane: x1 to k1, or back. */
static void along_1(const struct transform *t, uint32_t part, enum fft_direction way) {
  const struct fft *f = t->f;
  const size_t plane = part / batches(t), batch = part % batches(t), count = in_batch(t, batch);
  char *lines = take_lines(t, f->size[1], count);
  (way == FORWARD ? copy_x1 : copy_k1)(t, plane, batch * FFT_LINES, count, lines, true);
  fft_execute_lines(f, f->plans->lines[1][way], lines);
  (way == FORWARD ? copy_k1 : copy_x1)(t, plane, batch * FFT_LINES, count, lines, false);
  fftw_free(lines);
}

static void along_1_forward(void *context, uint32_t part) { along_1(context, part, FORWARD); }
static void along_1_backward(void *context, uint32_t part) { along_1(context, part, BACKWARD); }

/** After rows_forward() */
static void rows_to_lines(const struct transform *t) {
  if (t->f->grid.columns > 1) exchange_in_row(t, true);
  for_parts(t, t->f->values.count[0] * batches(t), along_1_forward);
  if (comm_size() > 1) exchange_in_column(t, true);
}

static void to_lines(const struct transform *t) {
  for_parts(t, row_parts(t), rows_forward);
  rows_to_lines(t);
}

static void to_values(const struct transform *t) {
  if (comm_size() > 1) exchange_in_column(t, false);
  for_parts(t, t->f->values.count[0] * batches(t), along_1_backward);
  if (t->f->grid.columns > 1) exchange_in_row(t, false);
  for_parts(t, row_parts(t), rows_backward);
}

/* Lines along axis 0. */

static void copy_x0(const struct transform *t, size_t line, size_t k2, size_t count, char *lines,
                    bool gather) {
  const struct fft *f = t->f;
  copy(t, lines, number(t, t->memory, fft_at(&f->modes, 0, line, k2)), f->modes.step[0],
       f->mesh.cells[0], count, gather);
}

/** Bring the numbers of `count` lines together, [k0][count], or apart again. */
static void pack_lines(const struct transform *t, char *lines, size_t count, bool together) {
  const size_t n = t->f->size[0], bytes = count * complex_bytes(t->f->mesh.precision);
  for (size_t i = 0; i < n && count < FFT_LINES; i++) {
    const size_t k0 = together ? i : n - 1 - i;
    char *packed = number(t, lines, k0 * count), *apart = number(t, lines, k0 * FFT_LINES);
    memmove(together ? packed : apart, together ? apart : packed, bytes);
  }
}

static void along_0(void *context, uint32_t part) {
  const struct transform *t = context;
  const struct fft *f = t->f;
  const size_t line = part / batches(t), k2 = part % batches(t) * FFT_LINES,
               count = in_batch(t, part % batches(t));
  char *lines = take_lines(t, f->size[0], count);
  copy_x0(t, line, k2, count, lines, true);
  if (t->forward) fft_execute_lines(f, f->plans->lines[0][FORWARD], lines);
  if (t->work) {
    pack_lines(t, lines, count, true);
    t->work(t->context, f->modes.first[1] + line, f->modes.first[2] + k2, count,
            (fftw_complex *)lines);
    pack_lines(t, lines, count, false);
  }
  if (t->back) fft_execute_lines(f, f->plans->lines[0][BACKWARD], lines);
  if (t->back || !t->work) copy_x0(t, line, k2, count, lines, false);
  fftw_free(lines);
}

static void for_lines(const struct transform *t) {
  for_parts(t, t->f->modes.count[1] * batches(t), along_0);
}

/* What can be done. */

void fft_forward(const struct fft *f, double *memory) {
  struct transform t = begin(f, memory);
  t.forward = true;
  to_lines(&t);
  for_lines(&t);
  end(&t);
}

void fft_backward(const struct fft *f, double *memory) {
  struct transform t = begin(f, memory);
  t.back = true;
  for_lines(&t);
  to_values(&t);
  end(&t);
}

void fft_convolve(const struct fft *f, double *memory, fft_work *work, void *context) {
  struct transform t = begin(f, memory);
  t.forward = t.back = true;
  t.work = work;
  t.context = context;
  to_lines(&t);
  for_lines(&t);
  to_values(&t);
  end(&t);
}

void fft_visit(const struct fft *f, double *memory, bool whole, fft_work *work, void *context) {
  struct transform t = begin(f, memory);
  t.forward = true;
  t.whole = whole && f->mesh.padded;
  t.work = work;
  t.context = context;
  to_lines(&t);
  for_lines(&t);
  end(&t);
}

/** Modes of this rank along axis 2 below a frequency and the Nyquist frequency. */
static size_t count_below(const struct fft *f, size_t width) {
  const size_t first = f->modes.first[2], nyquist = (f->size[2] + 1) / 2,
               end = smaller(first + f->modes.count[2], smaller(width, nyquist));
  return end > first ? end - first : 0;
}

enum { MANY = 64 }; /* planes enough for all workers */

/** Two meshes of one rank. */
struct pair {
  struct fft_pairs rows;
  struct transform mesh[2];
};

/** Rows and lines of a plane, while it is in the cache. */
static void plane_to_lines(void *context, uint32_t plane) {
  struct pair *p = context;
  const size_t rows = fft_pairs_in_plane(p->rows.f);
  for (size_t i = 0; i < rows; i++) fft_pairs_transform(&p->rows, (uint32_t)(plane * rows + i));
  for (int set = 0; set < 2; set++) {
    const size_t lines = batches(&p->mesh[set]);
    for (size_t i = 0; i < lines; i++)
      along_1_forward(&p->mesh[set], (uint32_t)(plane * lines + i));
  }
}

static void pair_on_one_rank(struct pair *p, void *const memory[2]) {
  const struct fft *f = p->rows.f;
  for (int set = 0; set < 2; set++) {
    p->mesh[set] = begin(f, memory[set]);
    p->mesh[set].width = count_below(f, p->rows.width);
  }
  loop_run(f->mesh.stage, (uint32_t)f->values.count[0], plane_to_lines, p);
}

void fft_pair_to_lines(const struct fft *f, void *const memory[2], size_t width, fft_weave *weave,
                       void *context) {
  struct pair p = {.rows = fft_pairs_of(f, memory, width, weave, context)};
  const size_t planes = f->values.count[0], parts = planes * fft_pairs_in_plane(f);
  if (parts > UINT32_MAX)
    fail(EXIT_RUN_FAILED, "a mesh of %zu x %zu x %zu cells is too large for one rank to transform",
         f->size[0], f->size[1], f->size[2]);
  if (comm_size() == 1 && planes >= MANY) {
    pair_on_one_rank(&p, memory);
    return;
  }
  loop_run(f->mesh.stage, (uint32_t)parts, fft_pairs_transform, &p.rows);
  for (int set = 0; set < 2; set++) {
    struct transform t = begin(f, memory[set]);
    t.width = count_below(f, width);
    if (f->grid.columns > 1) for_parts(&t, row_parts(&t), pack_rows);
    rows_to_lines(&t);
    end(&t);
  }
}

void fft_lines(const struct fft *f, const void *memory, size_t line, size_t k2, size_t count,
               void *out) {
  const struct transform t = {.f = f, .memory = (char *)memory, .width = f->modes.count[2]};
  if (count < FFT_LINES) memset(out, 0, f->size[0] * FFT_LINES * complex_bytes(f->mesh.precision));
  copy_x0(&t, line, k2, count, out, true);
  fft_execute_lines(f, f->plans->lines[0][FORWARD], out);
}
