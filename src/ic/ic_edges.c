/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What interpolation between mesh points reads of the next ranks' displacements. */
#include <stdlib.h>
#include <string.h>

#include "ic_displacement.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/* Send numbers to the rank in front, and receive as many from the rank behind. */
static void exchange_edge(size_t in_front, size_t behind, size_t numbers, const double *first,
                          double *next) {
  const size_t size = (size_t)comm_size();
  size_t *send = allocate(2 * size, sizeof *send, "message sizes"), *receive = send + size;
  if (numbers > 0) send[in_front] = receive[behind] = numbers * sizeof *first;
  comm_exchange(first, send, next, receive);
  free(send);
}

/* Receive the plane that follows this rank's planes; it is the first plane of another rank. */
static void fetch_next_plane(const struct displacement *d, double *field) {
  const struct fft *f = &d->fft;
  const struct fft_box *b = &f->values;
  const size_t n = d->fft.size[0], columns = f->grid.columns,
               column = (size_t)comm_rank() % columns, before = (b->first[0] + n - 1) % n,
               after = (b->first[0] + b->count[0]) % n;
  exchange_edge(fft_row_of(f, before) * columns + column, fft_row_of(f, after) * columns + column,
                b->count[0] > 0 ? b->step[0] : 0, field, field + b->count[0] * b->step[0]);
}

/* The same of the row that follows this rank's rows, in all these planes. */
static void fetch_next_row(const struct displacement *d, double *field) {
  const struct fft *f = &d->fft;
  const struct fft_box *b = &f->values;
  const size_t n = d->fft.size[0], first = (size_t)comm_rank() / f->grid.columns * f->grid.columns,
               before = (b->first[1] + n - 1) % n, after = (b->first[1] + b->count[1]) % n,
               row = b->step[1], planes = b->count[0] > 0 ? b->count[0] + 1 : 0;
  double *rows = allocate(2 * planes * row, sizeof *rows, "edges of displacements"),
         *next = rows + planes * row;
  for (size_t x = 0; x < planes; x++)
    memcpy(rows + x * row, field + x * b->step[0], row * sizeof *rows);
  exchange_edge(first + fft_column_of(f, before), first + fft_column_of(f, after), planes * row,
                rows, next);
  for (size_t x = 0; x < planes; x++)
    memcpy(field + x * b->step[0] + b->count[1] * row, next + x * row, row * sizeof *rows);
  free(rows);
}

void displacement_fetch_edges(const struct displacement *d, double *field) {
  fetch_next_plane(d, field);
  fetch_next_row(d, field);
}
