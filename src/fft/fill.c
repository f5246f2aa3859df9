/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modes that are made column by column. The ranks of a row of the grid, which have different k2 of the same k1, divide
 * the columns of these k1 by k0, and exchange what they made: pieces [column of the grid][k0 here][k1 here][k2
 * of it]. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "plans.h"
#include "share.h"

struct filling {
  const struct fft *f;
  struct fft_box columns;
  fftw_complex *to; /* modes; on several ranks their pieces */
  fft_column *column;
  void *context;
};

struct fft_box fft_columns(const struct fft *f) {
  struct fft_box b = f->modes;
  const size_t part = (size_t)comm_rank() % f->grid.columns;
  b.first[0] = block_first(f->size[0], f->grid.columns, part);
  b.count[0] = block_first(f->size[0], f->grid.columns, part + 1) - b.first[0];
  b.first[2] = 0;
  b.count[2] = f->size[2] / 2 + 1;
  return b;
}

/** Where modes from k2 on are to be, of this rank's column (i, line). */
static fftw_complex *place(const struct filling *g, struct part k2, size_t i, size_t line) {
  const struct fft_box *b = &g->columns;
  if (comm_size() == 1) return g->to + fft_at(&g->f->modes, i, line, 0);
  return g->to + b->count[0] * b->count[1] * k2.first + (i * b->count[1] + line) * k2.count;
}

static void fill_column(void *context, uint32_t number) {
  const struct filling *g = context;
  const struct fft_box *b = &g->columns;
  const size_t i = number / b->count[1], line = number % b->count[1];
  fftw_complex *modes = fft_take(g->f, b->count[2]);
  g->column(g->context, b->first[0] + i, b->first[1] + line, modes);
  for (size_t c = 0; c < g->f->grid.columns; c++) {
    const struct part k2 = fft_k2(g->f, c);
    memcpy(place(g, k2, i, line), modes + k2.first, k2.count * sizeof *modes);
  }
  fftw_free(modes);
}

static void exchange(const struct filling *g, double *memory) {
  const struct fft *f = g->f;
  const size_t ranks = (size_t)comm_size(), columns = f->grid.columns, lines = f->modes.count[1],
               first = (size_t)comm_rank() / columns * columns;
  size_t *send = allocate(2 * ranks, sizeof *send, "message sizes"), *receive = send + ranks;
  for (size_t c = 0; c < columns && lines > 0; c++) {
    const size_t k0 = block_first(f->size[0], columns, c + 1) - block_first(f->size[0], columns, c);
    send[first + c] = g->columns.count[0] * lines * fft_k2(f, c).count * sizeof(fftw_complex);
    receive[first + c] = k0 * lines * f->modes.count[2] * sizeof(fftw_complex);
  }
  comm_exchange(g->to, send, memory, receive);
  free(send);
}

void fft_fill(const struct fft *f, double *memory, fft_column *column, void *context) {
  const bool pieces = f->grid.columns > 1;
  struct filling g = {.f = f, .columns = fft_columns(f), .column = column, .context = context};
  const size_t all = g.columns.count[0] * g.columns.count[1];
  if (all > UINT32_MAX)
    fail(EXIT_RUN_FAILED, "%zu columns of modes are too many for one rank", all);
  g.to = pieces ? fft_take(f, all * g.columns.count[2]) : (fftw_complex *)memory;
  loop_run(f->mesh.stage, (uint32_t)all, fill_column, &g);
  if (!pieces) return;
  exchange(&g, memory);
  fftw_free(g.to);
}
