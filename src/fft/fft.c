/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows and columns of each plane are transformed in place. An exchange then brings the lines along
 * axis 0 together: in memory they are [x0][k1 here][k2], on one rank where they were. Each worker
 * copies the lines of one k1 into memory of its own, transforms them, and copies them back. */
#include "photons/fft/fft.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(mesh_transform, 0xddcc77, .untimed = true);

enum { FORWARD, BACKWARD, DIRECTIONS };
static const int sign_of[DIRECTIONS] = {FFTW_FORWARD, FFTW_BACKWARD};

/* A plan of either precision, in place. The algorithm that FFTW chooses, and so the rounding, does
 * not depend on the number of ranks. */
union plan {
  fftw_plan wide;
  fftwf_plan narrow;
};

struct fft_plans {
  union plan rows[DIRECTIONS];    /* along axis 2, of cells[1] rows */
  union plan columns[DIRECTIONS]; /* along axis 1, of a plane */
  union plan lines[DIRECTIONS];   /* along axis 0, [x0][k2] of one k1 */
  union plan line;                /* along axis 0, a single one forward */
};

static bool is_single(const struct fft *f) { return f->mesh.precision == FFT_SINGLE; }

static size_t complex_bytes(enum fft_precision p) {
  return p == FFT_SINGLE ? sizeof(fftwf_complex) : sizeof(fftw_complex);
}

/* Memory that FFTW likes. */
static void *take(const struct fft *f, size_t complex_numbers) {
  void *memory = fftw_malloc((complex_numbers + 1) * complex_bytes(f->mesh.precision));
  if (!memory)
    fail(EXIT_RUN_FAILED, "not enough memory to transform a mesh of %zu x %zu x %zu cells",
         f->size[0], f->size[1], f->size[2]);
  return memory;
}

/* Plans. */

/** Transforms of `count` lines of n complex numbers. @param step  from number to number
 * @param apart  from line to line */
static union plan plan_complex(const struct fft *f, size_t n, size_t count, size_t step,
                               size_t apart, int direction, void *memory) {
  const int size = (int)n, many = (int)count, to_next = (int)step, to_line = (int)apart,
            sign = sign_of[direction];
  const unsigned flags = FFTW_ESTIMATE | (many == 1 ? FFTW_UNALIGNED : 0);
  union plan p = {NULL};
  if (is_single(f))
    p.narrow = fftwf_plan_many_dft(1, &size, many, memory, NULL, to_next, to_line, memory, NULL,
                                   to_next, to_line, sign, flags);
  else
    p.wide = fftw_plan_many_dft(1, &size, many, memory, NULL, to_next, to_line, memory, NULL,
                                to_next, to_line, sign, flags);
  return p;
}

/** Transforms of the rows of a plane between real and complex numbers. */
static union plan plan_rows(const struct fft *f, int direction, void *memory) {
  const int n = (int)f->size[2], count = (int)f->mesh.cells[1], reals = (int)f->values.step[1],
            modes = reals / 2;
  union plan p = {NULL};
  if (is_single(f) && direction == FORWARD)
    p.narrow = fftwf_plan_many_dft_r2c(1, &n, count, memory, NULL, 1, reals, memory, NULL, 1, modes,
                                       FFTW_ESTIMATE);
  else if (is_single(f))
    p.narrow = fftwf_plan_many_dft_c2r(1, &n, count, memory, NULL, 1, modes, memory, NULL, 1, reals,
                                       FFTW_ESTIMATE);
  else if (direction == FORWARD)
    p.wide = fftw_plan_many_dft_r2c(1, &n, count, memory, NULL, 1, reals, memory, NULL, 1, modes,
                                    FFTW_ESTIMATE);
  else
    p.wide = fftw_plan_many_dft_c2r(1, &n, count, memory, NULL, 1, modes, memory, NULL, 1, reals,
                                    FFTW_ESTIMATE);
  return p;
}

static void execute_complex(const struct fft *f, union plan p, void *place) {
  if (is_single(f))
    fftwf_execute_dft(p.narrow, place, place);
  else
    fftw_execute_dft(p.wide, place, place);
}

static void execute_rows(const struct fft *f, int direction, void *place) {
  const union plan p = f->plans->rows[direction];
  if (is_single(f) && direction == FORWARD)
    fftwf_execute_dft_r2c(p.narrow, place, place);
  else if (is_single(f))
    fftwf_execute_dft_c2r(p.narrow, place, place);
  else if (direction == FORWARD)
    fftw_execute_dft_r2c(p.wide, place, place);
  else
    fftw_execute_dft_c2r(p.wide, place, place);
}

static void check_plan(const struct fft *f, union plan p) {
  if (is_single(f) ? !p.narrow : !p.wide)
    fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %zu x %zu x %zu cells", f->size[0],
         f->size[1], f->size[2]);
}

static void destroy_plan(const struct fft *f, union plan p) {
  if (is_single(f))
    fftwf_destroy_plan(p.narrow);
  else
    fftw_destroy_plan(p.wide);
}

static void make_plans(struct fft *f) {
  struct fft_plans *plans = allocate(1, sizeof *plans, "FFT plans");
  const size_t row = f->values.step[1] / 2, modes = f->size[2] / 2 + 1;
  void *plane = take(f, f->values.step[0] / 2), *lines = take(f, f->size[0] * modes);
  for (int i = FORWARD; i < DIRECTIONS; i++) {
    plans->rows[i] = plan_rows(f, i, plane);
    plans->columns[i] = plan_complex(f, f->size[1], modes, row, 1, i, plane);
    plans->lines[i] = plan_complex(f, f->size[0], modes, modes, 1, i, lines);
    check_plan(f, plans->rows[i]);
    check_plan(f, plans->columns[i]);
    check_plan(f, plans->lines[i]);
  }
  plans->line = plan_complex(f, f->size[0], 1, 1, 1, FORWARD, lines);
  check_plan(f, plans->line);
  fftw_free(plane);
  fftw_free(lines);
  f->plans = plans;
}

/* What ranks have. */

static size_t padding(const struct fft_mesh *m) { return m->padded ? 2 : 1; }

static size_t row_of(const struct fft_mesh *m) {
  const size_t least = 2 * (padding(m) * m->cells[2] / 2 + 1);
  if (m->row > 0) return m->row;
  return m->precision == FFT_SINGLE ? (least + 3) & ~(size_t)3 : least;
}

static size_t plane_of(const struct fft_mesh *m) {
  return m->plane > 0 ? m->plane : padding(m) * m->cells[1] * row_of(m);
}

struct fft_box fft_values_of(const struct fft_mesh *m, int rank) {
  const size_t first = comm_first(m->cells[0], rank);
  return (struct fft_box){
      .first = {first},
      .count = {comm_first(m->cells[0], rank + 1) - first, m->cells[1], m->cells[2]},
      .step = {plane_of(m), row_of(m), 1}};
}

/** The first k1 of a rank. */
static size_t first_line(const struct fft *f, int rank) { return comm_first(f->size[1], rank); }

static struct fft_box own_modes(const struct fft *f) {
  const size_t first = first_line(f, comm_rank()), modes = f->size[2] / 2 + 1;
  const size_t lines = first_line(f, comm_rank() + 1) - first;
  struct fft_box b = {.first = {0, first}, .count = {f->size[0], lines, modes}};
  b.step[0] = comm_size() > 1 ? lines * modes : f->values.step[0] / 2;
  b.step[1] = comm_size() > 1 ? modes : f->values.step[1] / 2;
  b.step[2] = 1;
  return b;
}

/** Complex numbers of a rank's pieces: [plane here][k1][k2]. */
static size_t packed_size(const struct fft *f) {
  return f->values.count[0] * f->size[1] * f->modes.count[2];
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t fft_bytes(const struct fft *f) {
  const size_t values = f->values.count[0] * f->values.step[0] / 2,
               lines = f->mesh.cells[0] * f->modes.count[1] * f->modes.count[2];
  return (larger(values, comm_size() > 1 ? lines : 0) + 1) * complex_bytes(f->mesh.precision);
}

double fft_bytes_of_all(const struct fft_mesh *m) {
  return (double)m->cells[0] * (double)plane_of(m) * (double)complex_bytes(m->precision) / 2.0;
}

double fft_exchange_bytes_of_all(const struct fft_mesh *m) {
  const size_t modes = padding(m) * m->cells[2] / 2 + 1, lines = padding(m) * m->cells[1];
  if (comm_size() == 1) return 0.0;
  return (double)m->cells[0] * (double)(lines * modes) * (double)complex_bytes(m->precision);
}

struct fft fft_create(const struct fft_mesh *mesh) {
  struct fft f = {.mesh = *mesh};
  if (!f.mesh.stage) f.mesh.stage = &mesh_transform_stage;
  for (int axis = 0; axis < 3; axis++) f.size[axis] = padding(mesh) * mesh->cells[axis];
  f.values = fft_values_of(mesh, comm_rank());
  f.modes = own_modes(&f);
  make_plans(&f);
  if (mesh->lasting && comm_size() > 1) f.buffer = take(&f, packed_size(&f));
  return f;
}

void fft_free(struct fft *f) {
  for (int i = FORWARD; i < DIRECTIONS; i++) {
    destroy_plan(f, f->plans->rows[i]);
    destroy_plan(f, f->plans->columns[i]);
    destroy_plan(f, f->plans->lines[i]);
  }
  destroy_plan(f, f->plans->line);
  free(f->plans);
  fftw_free(f->buffer);
  *f = (struct fft){0};
}

/* A transform at work. */
struct transform {
  const struct fft *f;
  char *memory, *buffer; /* buffer: for exchanges; one rank: NULL */
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
  struct transform t = {.f = f, .memory = memory, .buffer = f->buffer};
  if (!t.buffer && comm_size() > 1) t.buffer = take(f, packed_size(f));
  return t;
}

static void end(struct transform *t) {
  if (t->buffer != t->f->buffer) fftw_free(t->buffer);
}

/** A complex number of the memory, counted from the first one. */
static char *number(const struct transform *t, char *memory, size_t i) {
  return memory + i * complex_bytes(t->f->mesh.precision);
}

static void for_planes(struct transform *t, void (*function)(void *context, uint32_t plane)) {
  loop_run(t->f->mesh.stage, (uint32_t)t->f->values.count[0], function, t);
}

/* Planes. */

static void plane_forward(void *context, uint32_t plane) {
  const struct transform *t = context;
  const struct fft *f = t->f;
  const size_t first = plane * f->values.step[0] / 2, row = f->values.step[1] / 2;
  const size_t rows = t->whole ? f->size[1] : f->mesh.cells[1];
  for (size_t y = 0; y < rows; y += f->mesh.cells[1])
    execute_rows(f, FORWARD, number(t, t->memory, first + y * row));
  execute_complex(f, f->plans->columns[FORWARD], number(t, t->memory, first));
}

static void plane_backward(void *context, uint32_t plane) {
  const struct transform *t = context;
  char *place = number(t, t->memory, plane * t->f->values.step[0] / 2);
  execute_complex(t->f, t->f->plans->columns[BACKWARD], place);
  execute_rows(t->f, BACKWARD, place);
}

/* Exchanges. */

/** Copy the lines of a plane to or from the pieces for the ranks, [rank][plane][k1 of rank][k2]. */
static void copy_plane(const struct transform *t, size_t plane, bool pack) {
  const struct fft *f = t->f;
  const size_t modes = f->modes.count[2], row = f->values.step[1] / 2;
  for (int r = 0; r < comm_size(); r++) {
    const size_t first = first_line(f, r), lines = first_line(f, r + 1) - first;
    for (size_t y = 0; y < lines; y++) {
      char *piece = number(t, t->buffer, (f->values.count[0] * first + plane * lines + y) * modes);
      char *inside = number(t, t->memory, plane * f->values.step[0] / 2 + (first + y) * row);
      memcpy(pack ? piece : inside, pack ? inside : piece,
             modes * complex_bytes(f->mesh.precision));
    }
  }
}

static void pack_plane(void *context, uint32_t plane) { copy_plane(context, plane, true); }
static void unpack_plane(void *context, uint32_t plane) { copy_plane(context, plane, false); }

/** Exchange pieces of planes for lines, or lines for pieces. */
static void exchange(const struct transform *t, bool to_lines) {
  const struct fft *f = t->f;
  const size_t ranks = (size_t)comm_size(),
               bytes = f->modes.count[2] * complex_bytes(f->mesh.precision);
  size_t *planes = allocate(2 * ranks, sizeof *planes, "message sizes"), *lines = planes + ranks;
  for (int r = 0; r < comm_size(); r++) {
    planes[r] = f->values.count[0] * (first_line(f, r + 1) - first_line(f, r)) * bytes;
    lines[r] = fft_values_of(&f->mesh, r).count[0] * f->modes.count[1] * bytes;
  }
  if (to_lines)
    comm_exchange(t->buffer, planes, t->memory, lines);
  else
    comm_exchange(t->memory, lines, t->buffer, planes);
  free(planes);
}

static void to_lines(struct transform *t) {
  for_planes(t, plane_forward);
  if (comm_size() == 1) return;
  for_planes(t, pack_plane);
  exchange(t, true);
}

static void to_planes(struct transform *t) {
  if (comm_size() > 1) {
    exchange(t, false);
    for_planes(t, unpack_plane);
  }
  for_planes(t, plane_backward);
}

/* Lines. */

/** Copy the lines of one k1 to [x0][k2] in a worker's memory, or back. */
static void copy_lines(const struct transform *t, uint32_t line, char *lines, bool gather) {
  const struct fft *f = t->f;
  const size_t modes = f->modes.count[2], bytes = modes * complex_bytes(f->mesh.precision);
  for (size_t x = 0; x < f->mesh.cells[0]; x++) {
    char *there = number(t, lines, x * modes),
         *here = number(t, t->memory, fft_at(&f->modes, x, line, 0));
    memcpy(gather ? there : here, gather ? here : there, bytes);
  }
}

static void work_on_lines(void *context, uint32_t line) {
  const struct transform *t = context;
  const struct fft *f = t->f;
  const size_t modes = f->modes.count[2], filled = f->mesh.cells[0] * modes;
  char *lines = take(f, f->size[0] * modes);
  copy_lines(t, line, lines, true);
  memset(number(t, lines, filled), 0,
         (f->size[0] * modes - filled) * complex_bytes(f->mesh.precision));
  if (t->forward) execute_complex(f, f->plans->lines[FORWARD], lines);
  if (t->work)
    t->work(t->context, f->modes.first[1] + line, f->modes.first[2], modes, (fftw_complex *)lines);
  if (t->back) execute_complex(f, f->plans->lines[BACKWARD], lines);
  if (t->back || !t->work) copy_lines(t, line, lines, false);
  fftw_free(lines);
}

static void for_lines(struct transform *t) {
  loop_run(t->f->mesh.stage, (uint32_t)t->f->modes.count[1], work_on_lines, t);
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
  to_planes(&t);
  end(&t);
}

void fft_convolve(const struct fft *f, double *memory, fft_work *work, void *context) {
  struct transform t = begin(f, memory);
  t.forward = t.back = true;
  t.work = work;
  t.context = context;
  to_lines(&t);
  for_lines(&t);
  to_planes(&t);
  end(&t);
}

void fft_visit(const struct fft *f, double *memory, bool whole, fft_work *work, void *context) {
  struct transform t = begin(f, memory);
  t.forward = true;
  t.whole = whole;
  t.work = work;
  t.context = context;
  to_lines(&t);
  for_lines(&t);
  end(&t);
}

void fft_to_lines(const struct fft *f, void *memory) {
  struct transform t = begin(f, memory);
  to_lines(&t);
  end(&t);
}

/** Copy lines along axis 0 of complex numbers of `bytes` each, which the compiler is to know. */
static inline void gather_lines(const struct fft *f, const char *from, size_t count, char *to,
                                size_t bytes) {
  const size_t n = f->mesh.cells[0], step = f->modes.step[0];
  for (size_t x = 0; x < n; x++)
    for (size_t i = 0; i < count; i++)
      memcpy(to + (i * n + x) * bytes, from + (x * step + i) * bytes, bytes);
}

void fft_lines(const struct fft *f, const void *memory, size_t line, size_t k2, size_t count,
               void *out) {
  const size_t bytes = complex_bytes(f->mesh.precision);
  const char *from = (const char *)memory + fft_at(&f->modes, 0, line, k2) * bytes;
  if (is_single(f))
    gather_lines(f, from, count, out, sizeof(fftwf_complex));
  else
    gather_lines(f, from, count, out, sizeof(fftw_complex));
  for (size_t i = 0; i < count; i++)
    execute_complex(f, f->plans->line, (char *)out + i * f->size[0] * bytes);
}
