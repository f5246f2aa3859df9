/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 compresses one chunk after the other, on the thread that writes. Here tasks do what its filters
 * would do, and HDF5 stores the result. libdeflate makes a stream of deflate's format in half of zlib's time. At the fastest
 * level floating-point numbers are packed plane by plane instead: a lean file takes 0.4 of the time, ids included, which
 * libdeflate packs at all levels (docs/results/lean-files.md). */
#include "hdf5_chunks.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deflate_planes.h"
#include "hdf5_checksum.h"
#include "hdf5_util.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(compress, 0x887766, .untimed = true);

/** Whole chunks of a dataset, by row of chunks and column. */
struct chunks {
  size_t rows, columns, size; /* rows of a chunk; columns of the dataset; bytes of a number */
  unsigned level;
  bool by_planes;              /* deflate_planes(), and not libdeflate */
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

typedef unsigned char bytes16 __attribute__((vector_size(16)));

static inline uint32_t load_word(const unsigned char *from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

static inline bytes16 load_four(const unsigned char *from, size_t stride) {
  typedef uint32_t words4 __attribute__((vector_size(16)));
  return (bytes16)(words4){load_word(from), load_word(from + stride), load_word(from + 2 * stride),
                           load_word(from + 3 * stride)};
}

static inline bytes16 interleave_low(bytes16 a, bytes16 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
static inline bytes16 interleave_high(bytes16 a, bytes16 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}

/** The bytes of sixteen numbers of four, by place. Each round moves the byte of place p of 64 to place 2 p mod 63; after
 * four of them that is 16 times the place in its number, and behind it the number. */
static inline void shuffle_sixteen(const unsigned char *from, size_t stride, bytes16 v[4]) {
  for (size_t i = 0; i < 4; i++) v[i] = load_four(from + 4 * i * stride, stride);
  for (int round = 0; round < 4; round++) {
    const bytes16 a = v[0], b = v[1], c = v[2], d = v[3];
    v[0] = interleave_low(a, c);
    v[1] = interleave_high(a, c);
    v[2] = interleave_low(b, d);
    v[3] = interleave_high(b, d);
  }
}

/** shuffle() of four bytes of each number. */
static void shuffle_four(size_t rows, size_t stride, const unsigned char *from,
                         unsigned char *bytes) {
  size_t i = 0;
  for (; i + 16 <= rows; i += 16) {
    bytes16 v[4];
    shuffle_sixteen(from + i * stride, stride, v);
    for (size_t b = 0; b < 4; b++) memcpy(bytes + b * rows + i, &v[b], sizeof v[b]);
  }
  for (; i < rows; i++)
    for (size_t b = 0; b < 4; b++) bytes[b * rows + i] = from[i * stride + b];
}

/** HDF5's filter shuffle: the first bytes of all numbers, then the second bytes, and so on. */
static void shuffle(const struct chunks *c, uint32_t chunk, unsigned char *bytes) {
  const size_t column = chunk % c->columns, stride = c->columns * c->size;
  const unsigned char *from = c->values + chunk / c->columns * c->rows * stride + column * c->size;
  size_t byte = 0;
  for (; byte + 4 <= c->size; byte += 4)
    shuffle_four(c->rows, stride, from + byte, bytes + byte * c->rows);
  for (; byte < c->size; byte++)
    for (size_t i = 0; i < c->rows; i++) bytes[byte * c->rows + i] = from[i * stride + byte];
}

/** @return bytes; 0: there is not enough memory */
static size_t deflate(const struct chunks *c, const unsigned char *shuffled,
                      unsigned char *packed) {
  if (c->by_planes) return deflate_planes(c->size, c->rows, shuffled, packed);
  struct libdeflate_compressor *compressor = libdeflate_alloc_compressor((int)c->level);
  if (!compressor) return 0;
  const size_t bytes = libdeflate_zlib_compress(compressor, shuffled, c->rows * c->size, packed,
                                                c->room);
  libdeflate_free_compressor(compressor);
  return bytes;
}

static void pack(void *context, uint32_t chunk) {
  const struct chunks *c = context;
  unsigned char *shuffled = malloc(c->rows * c->size);
  c->packed_size[chunk] = 0;
  if (shuffled) {
    shuffle(c, chunk, shuffled);
    c->packed_size[chunk] = deflate(c, shuffled, c->packed + chunk * c->room);
  }
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
  c->room = c->by_planes ? deflate_planes_bound(c->size, c->rows)
                         : libdeflate_zlib_compress_bound(NULL, c->rows * c->size);
  c->packed = reallocate(NULL, count, c->room, "compressing a dataset");
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
  c.by_planes = c.level == 1 && H5Tget_class(type) == H5T_FLOAT;
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
