/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 compresses one chunk after the other, on the thread that writes. Here tasks do what its filters
 * would do, and HDF5 stores the result. A task makes the values of a chunk a strip at a time: while a strip is in the
 * caches of its core, the task looks for numbers that are not finite, adds the strip to the checksum and shuffles it. At the
 * fastest level deflate_planes() packs the chunk, and at the others libdeflate (docs/results/lean-files.md). */
#include "hdf5_chunks.h"

#include <libdeflate.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_checksum.h"
#include "hdf5_finite.h"
#include "hdf5_util.h"
#include "photons/io/kernels.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(compress, 0x887766, .untimed = true);

enum {
  GROUP = 32,      /* chunks that are packed before they are stored */
  STRIP = 1 << 10, /* rows that are made at a time */
  COLUMNS_MOST = 3,
  NUMBER_MOST = 8, /* bytes */
  ROW_MOST = COLUMNS_MOST * NUMBER_MOST
};

/* Tasks do not call HDF5, which may not be safe with several threads. */

/** What a task makes of the rows of this rank in a chunk. */
struct chunk {
  size_t first, count; /* rows of the dataset */
  unsigned char *packed[COLUMNS_MOST];
  size_t size[COLUMNS_MOST]; /* of what is packed; 0: there was not enough memory */
  unsigned char *rows;       /* NULL, or `count` rows that are not packed */
};

/** A dataset while it is written. */
struct dataset {
  size_t first, end, all;     /* rows: of this rank, and all */
  size_t rows, columns, size; /* rows of a chunk; columns; bytes of a number */
  hid_t type;
  bool floats; /* or doubles */
  unsigned level;
  bool by_planes; /* deflate_planes(), and not libdeflate */
  const struct io_kernels *kernels;
  const struct column_source *source;
  size_t before;        /* chunks that are stored */
  struct chunk *chunk;  /* of the group */
  _Atomic uint64_t sum; /* of the rows that are packed */
};

void hdf5_set_chunks(hid_t layout, const char *path, size_t rows, size_t columns, unsigned level) {
  const hsize_t chunk[2] = {rows, 1};
  hdf5_check(H5Pset_chunk(layout, columns > 1 ? 2 : 1, chunk), EXIT_RUN_FAILED, path, "compress");
  hdf5_check(H5Pset_shuffle(layout), EXIT_RUN_FAILED, path, "compress");
  hdf5_check(H5Pset_deflate(layout, level), EXIT_RUN_FAILED, path, "compress");
}

/** The columns of a chunk while they are packed. */
struct columns {
  const struct dataset *dataset;
  const unsigned char *planes; /* [column][byte of a number][row of the chunk] */
  struct chunk *chunk;
};

static size_t deflate(const struct dataset *d, const unsigned char *planes, unsigned char *packed,
                      size_t room) {
  struct libdeflate_compressor *compressor = libdeflate_alloc_compressor((int)d->level);
  if (!compressor) return 0;
  const size_t bytes = libdeflate_zlib_compress(compressor, planes, d->rows * d->size, packed,
                                                room);
  libdeflate_free_compressor(compressor);
  return bytes;
}

static void pack_column(void *context, uint32_t column) {
  const struct columns *k = context;
  const struct dataset *d = k->dataset;
  const unsigned char *planes = k->planes + column * d->rows * d->size;
  const size_t room = d->by_planes ? deflate_planes_bound(d->size, d->rows)
                                   : libdeflate_zlib_compress_bound(NULL, d->rows * d->size);
  unsigned char *packed = malloc(room);
  size_t size = 0;
  if (packed)
    size = d->by_planes ? d->kernels->deflate_planes(d->size, d->rows, planes, packed)
                        : deflate(d, planes, packed, room);
  unsigned char *shorter = size > 0 ? realloc(packed, size) : NULL;
  k->chunk->packed[column] = shorter ? shorter : packed;
  k->chunk->size[column] = size;
}

/** Make the next rows as columns. */
static void make_columns(const struct dataset *d, size_t chunk, size_t count, void *columns) {
  d->source->make(d->source->context, d->before + chunk, count, columns);
}

/** Make rows of columns. */
static void join_columns(const struct dataset *d, size_t count, const void *columns, void *rows) {
  if (d->columns == 1)
    memcpy(rows, columns, count * d->size);
  else
    d->kernels->rows_of_three(count, d->size, columns, rows);
}

/** Make the rows of a chunk and shuffle them: of each column the first bytes of all numbers, then the second bytes, and so
 * on. Rows of which a number is not finite remain as the rows of the chunk.
 * @return whether all are finite */
static bool fill_planes(struct dataset *d, size_t number, unsigned char *planes) {
  unsigned char columns[STRIP * ROW_MOST] __attribute__((aligned(64)));
  struct chunk *c = &d->chunk[number];
  uint64_t sum = 0;
  for (size_t done = 0, n; done < c->count; done += n) {
    n = c->count - done < STRIP ? c->count - done : STRIP;
    make_columns(d, number, n, columns);
    if (d->floats && !d->kernels->all_finite(d->size, n * d->columns, columns)) {
      c->first += done;
      c->count = n;
      c->rows = malloc(n * d->columns * d->size);
      if (c->rows) join_columns(d, n, columns, c->rows);
      return false;
    }
    sum += d->kernels->checksum_columns(d->columns, d->size, n, columns, c->first + done);
    for (size_t k = 0; k < d->columns; k++)
      d->kernels->shuffle(n, d->size, columns + k * n * d->size, d->rows,
                          planes + k * d->rows * d->size + done);
  }
  atomic_fetch_add(&d->sum, sum);
  return true;
}

/** Pack a chunk. Rows behind the end of the dataset are 0. */
static void pack(struct dataset *d, size_t number) {
  struct chunk *c = &d->chunk[number];
  const size_t planes = d->columns * d->size;
  unsigned char *data = malloc(planes * d->rows);
  if (data && fill_planes(d, number, data)) {
    for (size_t p = 0; p < planes; p++)
      memset(data + p * d->rows + c->count, 0, d->rows - c->count);
    loop_parts(&compress_stage, (uint32_t)d->columns, pack_column, &(struct columns){d, data, c});
  }
  free(data);
}

/** Make the rows of a part of a chunk, which HDF5 compresses with those of other ranks. */
static void keep(const struct dataset *d, size_t number) {
  unsigned char columns[STRIP * ROW_MOST] __attribute__((aligned(64)));
  struct chunk *c = &d->chunk[number];
  const size_t row_size = d->columns * d->size;
  c->rows = malloc(c->count * row_size);
  for (size_t done = 0, n; c->rows && done < c->count; done += n) {
    n = c->count - done < STRIP ? c->count - done : STRIP;
    make_columns(d, number, n, columns);
    join_columns(d, n, columns, c->rows + done * row_size);
  }
}

static void pack_or_keep(void *context, uint32_t number) {
  struct dataset *d = context;
  struct chunk *c = &d->chunk[number];
  const size_t place = (d->first / d->rows + d->before + number) * d->rows,
               next = place + d->rows < d->all ? place + d->rows : d->all,
               end = next < d->end ? next : d->end;
  c->first = place > d->first ? place : d->first;
  c->count = end - c->first;
  if (c->first == place && end == next)
    pack(d, number);
  else
    keep(d, number);
}

/** Store a chunk. */
static void store(hid_t dataset, const char *path, const char *name, const struct dataset *d,
                  struct chunk *c) {
  char what[128];
  snprintf(what, sizeof what, "write %s", name);
  if (c->rows) /* one that is not finite ends the program here */
    hdf5_write_rows(dataset, path, name, d->type, c->first, c->count, d->columns, c->rows);
  for (size_t k = 0; k < d->columns && !c->rows; k++) {
    const hsize_t place[2] = {c->first, k};
    if (c->size[k] == 0) fail(EXIT_RUN_FAILED, "%s: not enough memory to compress %s", path, name);
    hdf5_check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, place, c->size[k], c->packed[k]),
               EXIT_RUN_FAILED, path, what);
  }
  for (size_t k = 0; k < d->columns; k++) free(c->packed[k]);
  free(c->rows);
}

/** Rows of the dataset and of its chunks, and the level of its deflate filter. */
static void ask_layout(hid_t dataset, const char *path, struct dataset *d) {
  const hid_t layout = hdf5_check(H5Dget_create_plist(dataset), EXIT_RUN_FAILED, path, "compress");
  const hid_t space = hdf5_check(H5Dget_space(dataset), EXIT_RUN_FAILED, path, "compress");
  hsize_t chunk[HDF5_DIMENSIONS_MOST], extent[HDF5_DIMENSIONS_MOST];
  unsigned flags, level = 0;
  size_t values = 1;
  hdf5_check(H5Pget_chunk(layout, HDF5_DIMENSIONS_MOST, chunk), EXIT_RUN_FAILED, path, "compress");
  hdf5_check(H5Sget_simple_extent_dims(space, extent, NULL), EXIT_RUN_FAILED, path, "compress");
  hdf5_check(
      H5Pget_filter_by_id2(layout, H5Z_FILTER_DEFLATE, &flags, &values, &level, 0, NULL, NULL),
      EXIT_RUN_FAILED, path, "compress");
  d->rows = chunk[0];
  d->all = extent[0];
  d->level = level;
  H5Sclose(space);
  H5Pclose(layout);
}

void hdf5_write_chunks(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                       size_t count, size_t columns, const struct column_source *source) {
  struct dataset d = {.first = first,
                      .end = first + count,
                      .columns = columns,
                      .size = H5Tget_size(type),
                      .type = type,
                      .floats = H5Tget_class(type) == H5T_FLOAT,
                      .kernels = io_kernels_select(),
                      .source = source};
  if ((d.size != 4 && d.size != 8) || columns * d.size > ROW_MOST)
    fail(EXIT_RUN_FAILED, "%s: rows of %zu numbers of %zu bytes in %s are not packed", path,
         columns, d.size, name);
  ask_layout(dataset, path, &d);
  d.by_planes = d.level == 1;
  const size_t chunks = count == 0 ? 0 : (d.end - 1) / d.rows - first / d.rows + 1;
  for (size_t n; d.before < chunks; d.before += n) {
    n = chunks - d.before < GROUP ? chunks - d.before : GROUP;
    d.chunk = allocate(n, sizeof *d.chunk, "compressing a dataset");
    loop_run(&compress_stage, (uint32_t)n, pack_or_keep, &d);
    for (size_t k = 0; k < n; k++) store(dataset, path, name, &d, &d.chunk[k]);
    free(d.chunk);
  }
  hdf5_checksum_add(dataset, path, d.sum);
}
