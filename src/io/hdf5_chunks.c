/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 compresses one chunk after the other, on the thread that writes. Here tasks do what its filters
 * would do, and HDF5 stores the result. libdeflate makes a stream of deflate's format in half of zlib's time. */
#include "hdf5_chunks.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>

#include "hdf5_checksum.h"
#include "hdf5_util.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(compress, 0x887766, .untimed = true);

/** Whole chunks of a dataset, by row of chunks and column. */
struct chunks {
  size_t rows, columns, size; /* rows of a chunk; columns of the dataset; bytes of a number */
  unsigned level;
  const unsigned char *values; /* [row][column] */
  size_t room;                 /* bytes of each `packed` */
  unsigned char *packed;       /* [chunk] */
  size_t *packed_size;         /* [chunk]; 0: it could not be packed */
};

void hdf5_set_chunks(hid_t layout, const char *path, size_t rows, size_t columns, unsigned level) {
  const hsize_t chunk[2] = {rows, 1};
  hdf5_check(H5Pset_chunk(layout, columns > 1 ? 2 : 1, chunk), EXIT_RUN_FAILED, path, "compress");
  hdf5_check(H5Pset_shuffle(layout), EXIT_RUN_FAILED, path, "compress");
  hdf5_check(H5Pset_deflate(layout, level), EXIT_RUN_FAILED, path, "compress");
}

/** HDF5's filter shuffle: the first bytes of all numbers, then the second bytes, and so on. */
static void shuffle(const struct chunks *c, uint32_t chunk, unsigned char *bytes) {
  const size_t column = chunk % c->columns, stride = c->columns * c->size;
  const unsigned char *from = c->values + chunk / c->columns * c->rows * stride + column * c->size;
  for (size_t i = 0; i < c->rows; i++)
    for (size_t b = 0; b < c->size; b++) bytes[b * c->rows + i] = from[i * stride + b];
}

static void pack(void *context, uint32_t chunk) {
  const struct chunks *c = context;
  const size_t bytes = c->rows * c->size;
  unsigned char *shuffled = malloc(bytes);
  struct libdeflate_compressor *deflate = libdeflate_alloc_compressor((int)c->level);
  c->packed_size[chunk] = 0;
  if (shuffled && deflate) {
    shuffle(c, chunk, shuffled);
    c->packed_size[chunk] = libdeflate_zlib_compress(deflate, shuffled, bytes,
                                                     c->packed + chunk * c->room, c->room);
  }
  libdeflate_free_compressor(deflate);
  free(shuffled);
}

/** Rows of a chunk of a dataset, and the level of its deflate filter. */
static void ask_layout(hid_t dataset, const char *path, struct chunks *c) {
  const hid_t layout = hdf5_check(H5Dget_create_plist(dataset), EXIT_RUN_FAILED, path, "compress");
  hsize_t chunk[HDF5_DIMENSIONS_MOST];
  unsigned flags, level = 0;
  size_t values = 1;
  hdf5_check(H5Pget_chunk(layout, HDF5_DIMENSIONS_MOST, chunk), EXIT_RUN_FAILED, path, "compress");
  hdf5_check(
      H5Pget_filter_by_id2(layout, H5Z_FILTER_DEFLATE, &flags, &values, &level, 0, NULL, NULL),
      EXIT_RUN_FAILED, path, "compress");
  c->rows = chunk[0];
  c->level = level;
  H5Pclose(layout);
}

/** Pack and store @p count chunks, from row @p first on. */
static void store(hid_t dataset, const char *path, const char *name, struct chunks *c, size_t first,
                  size_t count) {
  c->room = libdeflate_zlib_compress_bound(NULL, c->rows * c->size);
  c->packed = allocate(count, c->room, "compressing a dataset");
  c->packed_size = allocate(count, sizeof *c->packed_size, "compressing a dataset");
  loop_run(&compress_stage, (uint32_t)count, pack, c);
  char what[128];
  snprintf(what, sizeof what, "write %s", name);
  for (size_t k = 0; k < count; k++) {
    const hsize_t place[2] = {first + k / c->columns * c->rows, k % c->columns};
    if (c->packed_size[k] == 0)
      fail(EXIT_RUN_FAILED, "%s: not enough memory to compress %s", path, name);
    hdf5_check(
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, place, c->packed_size[k], c->packed + k * c->room),
        EXIT_RUN_FAILED, path, what);
  }
  free(c->packed);
  free(c->packed_size);
}

void hdf5_write_chunks(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                       size_t count, size_t columns, const void *rows) {
  struct chunks c = {.columns = columns, .size = H5Tget_size(type)};
  ask_layout(dataset, path, &c);
  const unsigned char *values = rows;
  const size_t row_size = columns * c.size, offset = first % c.rows;
  const size_t before = offset == 0 ? 0 : c.rows - offset < count ? c.rows - offset : count;
  const size_t whole = (count - before) / c.rows, behind = before + whole * c.rows;
  hdf5_write_rows(dataset, path, name, type, first, before, columns, values);
  if (whole > 0) {
    c.values = values + before * row_size;
    hdf5_require_finite(path, name, type, first + before, whole * c.rows, columns, c.values);
    store(dataset, path, name, &c, first + before, whole * columns);
    hdf5_checksum_add(dataset, path,
                      checksum_rows(c.values, row_size, first + before, whole * c.rows));
  }
  hdf5_write_rows(dataset, path, name, type, first + behind, count - behind, columns,
                  values + behind * row_size);
}
