/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plans.h"

#include <pthread.h>
#include <stdlib.h>

#include "photons/base/error.h"

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

void fft_planner_lock(void) { pthread_mutex_lock(&planner); }
void fft_planner_unlock(void) { pthread_mutex_unlock(&planner); }

static const int sign_of[DIRECTIONS] = {FFTW_FORWARD, FFTW_BACKWARD};

static bool is_single(const struct fft *f) { return f->mesh.precision == FFT_SINGLE; }

void *fft_take(const struct fft *f, size_t complex_numbers) {
  void *memory = fftw_malloc((complex_numbers + 1) * complex_bytes(f->mesh.precision));
  if (!memory)
    fail(EXIT_RUN_FAILED, "not enough memory to transform a mesh of %zu x %zu x %zu cells",
         f->size[0], f->size[1], f->size[2]);
  return memory;
}

/** Transforms of FFT_LINES lines of n complex numbers, side by side. */
static union plan plan_lines(const struct fft *f, size_t n, enum fft_direction direction,
                             void *memory) {
  const int size = (int)n, sign = sign_of[direction], count = FFT_LINES;
  union plan p = {NULL};
  if (is_single(f))
    p.narrow = fftwf_plan_many_dft(1, &size, count, memory, NULL, count, 1, memory, NULL, count, 1,
                                   sign, FFTW_ESTIMATE);
  else
    p.wide = fftw_plan_many_dft(1, &size, count, memory, NULL, count, 1, memory, NULL, count, 1,
                                sign, FFTW_ESTIMATE);
  return p;
}

static union plan plan_row(const struct fft *f, enum fft_direction direction, void *memory) {
  const int n = (int)f->size[2];
  if (direction == FORWARD)
    return (union plan){.wide = fftw_plan_dft_r2c_1d(n, memory, memory, FFTW_ESTIMATE)};
  return (union plan){.wide = fftw_plan_dft_c2r_1d(n, memory, memory, FFTW_ESTIMATE)};
}

void fft_execute_lines(const struct fft *f, union plan p, void *lines) {
  if (is_single(f))
    fftwf_execute_dft(p.narrow, lines, lines);
  else
    fftw_execute_dft(p.wide, lines, lines);
}

void fft_execute_row(const struct fft *f, enum fft_direction direction, void *row) {
  const union plan p = f->plans->row[direction];
  if (direction == FORWARD)
    fftw_execute_dft_r2c(p.wide, row, row);
  else
    fftw_execute_dft_c2r(p.wide, row, row);
}

static union plan checked(const struct fft *f, union plan p) {
  if (is_single(f) ? !p.narrow : !p.wide)
    fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %zu x %zu x %zu cells", f->size[0],
         f->size[1], f->size[2]);
  return p;
}

static void plan_lines_of_axes(const struct fft *f, struct fft_plans *plans,
                               enum fft_direction direction, void *memory) {
  for (int axis = 0; axis < 2; axis++)
    plans->lines[axis][direction] = checked(f, plan_lines(f, f->size[axis], direction, memory));
}

static void plan_single(const struct fft *f, struct fft_plans *plans, void *lines) {
  plan_lines_of_axes(f, plans, FORWARD, lines);
  plans->pairs = checked(f, plan_lines(f, f->size[2], FORWARD, lines));
}

static void plan_double(const struct fft *f, struct fft_plans *plans, void *lines) {
  void *row = fft_take(f, f->values.step[1] / 2);
  for (enum fft_direction i = FORWARD; i < DIRECTIONS; i++) {
    plans->row[i] = checked(f, plan_row(f, i, row));
    plan_lines_of_axes(f, plans, i, lines);
  }
  fftw_free(row);
}

struct fft_plans *fft_plans_create(const struct fft *f) {
  struct fft_plans *plans = allocate(1, sizeof *plans, "FFT plans");
  size_t most = f->size[2];
  for (int axis = 0; axis < 2; axis++) most = f->size[axis] > most ? f->size[axis] : most;
  void *lines = fft_take(f, most * FFT_LINES);
  fft_planner_lock();
  (is_single(f) ? plan_single : plan_double)(f, plans, lines);
  fft_planner_unlock();
  fftw_free(lines);
  return plans;
}

static void destroy(const struct fft *f, union plan p) {
  if (is_single(f) && p.narrow) fftwf_destroy_plan(p.narrow);
  if (!is_single(f) && p.wide) fftw_destroy_plan(p.wide);
}

void fft_plans_free(const struct fft *f, struct fft_plans *p) {
  fft_planner_lock();
  for (enum fft_direction i = FORWARD; i < DIRECTIONS; i++) {
    destroy(f, p->row[i]);
    for (int axis = 0; axis < 2; axis++) destroy(f, p->lines[axis][i]);
  }
  destroy(f, p->pairs);
  fft_planner_unlock();
  free(p);
}
