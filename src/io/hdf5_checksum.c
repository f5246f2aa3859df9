/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checksums of the rows of datasets and of the attributes of groups. */
#include "hdf5_checksum.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL /* a row is short: the call would take longer than the sum */
#include <xxhash.h>

#include "hdf5_share.h"
#include "hdf5_util.h"
#include "photons/base/comm.h"
#include "photons/base/input_file.h"
#include "photons/io/kernels.h"
#include "photons/io/provenance.h"
#include "photons/runtime/loop.h"

_Static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 gives its final values since xxHash 0.8.0");

LOOP_STAGE(checksum, 0x998877, .untimed = true);
enum { PART = 1 << 15 }; /* rows of a task */

static const char of_rows[] = "xxh3_rows", of_attributes[] = "xxh3_attributes";

/** With @p bytes known to the compiler this is a few instructions a row. */
static inline uint64_t sum_rows(const unsigned char *rows, size_t bytes, size_t first,
                                size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += XXH3_64bits_withSeed(rows + i * bytes, bytes, (XXH64_hash_t)(first + i));
  return sum;
}

static uint64_t sum_part(const void *rows, size_t row_bytes, size_t first, size_t count) {
  switch (row_bytes) {
  case 4:
  case 8: return io_kernels_select()->checksum_columns(1, row_bytes, count, rows, first);
  case 12: return sum_rows(rows, 12, first, count);
  case 24: return sum_rows(rows, 24, first, count);
  default: return sum_rows(rows, row_bytes, first, count);
  }
}

/** Rows that the workers sum together. */
struct summing {
  const char *rows;
  size_t row_bytes, first, count;
  _Atomic uint64_t sum; /* modulo 2^64: the order of the parts does not matter */
};

static void sum_on_worker(void *context, uint32_t part) {
  struct summing *s = context;
  const size_t begin = (size_t)part * PART, n = s->count - begin < PART ? s->count - begin : PART;
  atomic_fetch_add(&s->sum,
                   sum_part(s->rows + begin * s->row_bytes, s->row_bytes, s->first + begin, n));
}

uint64_t checksum_rows(const void *rows, size_t row_bytes, size_t first, size_t count) {
  if (count <= PART) return sum_part(rows, row_bytes, first, count);
  struct summing s = {.rows = rows, .row_bytes = row_bytes, .first = first, .count = count};
  loop_run(&checksum_stage, (uint32_t)((count + PART - 1) / PART), sum_on_worker, &s);
  return s.sum;
}

/** Equal rows that the workers sum together. */
struct equal_rows {
  const void *number; /* of a row, of `size` bytes */
  size_t size, first, count;
  const struct io_kernels *kernels;
  _Atomic uint64_t sum;
};

static void sum_equal_rows(void *context, uint32_t part) {
  struct equal_rows *s = context;
  const size_t begin = s->first + (size_t)part * PART, all_end = s->first + s->count,
               end = all_end - begin < PART ? all_end : begin + PART;
  atomic_fetch_add(&s->sum, s->kernels->checksum_equal(s->size, end - begin, s->number, begin));
}

uint64_t checksum_equal_numbers(const void *number, size_t size, size_t first, size_t count) {
  struct equal_rows s = {number, size, first, count, io_kernels_select(), 0};
  loop_run(&checksum_stage, (uint32_t)((count + PART - 1) / PART), sum_equal_rows, &s);
  return s.sum;
}

void hdf5_checksum_begin(hid_t dataset, const char *path) {
  const uint64_t none = 0;
  hdf5_write_attribute(dataset, path, of_rows, H5T_NATIVE_UINT64, 0, &none);
}

void hdf5_checksum_add(hid_t dataset, const char *path, uint64_t sum) {
  const hid_t attribute = hdf5_check(H5Aopen(dataset, of_rows, H5P_DEFAULT), EXIT_RUN_FAILED, path,
                                     "continue a checksum");
  uint64_t before;
  hdf5_check(H5Aread(attribute, H5T_NATIVE_UINT64, &before), EXIT_RUN_FAILED, path,
             "continue a checksum");
  sum += before;
  hdf5_check(H5Awrite(attribute, H5T_NATIVE_UINT64, &sum), EXIT_RUN_FAILED, path,
             "write a checksum");
  hdf5_check(H5Aclose(attribute), EXIT_RUN_FAILED, path, "write a checksum");
}

/** @return 1, 0 where the object has none, negative where it cannot be read */
static int stored_sum(hid_t object, const char *name, uint64_t *sum) {
  const htri_t exists = H5Aexists(object, name);
  if (exists <= 0) return exists;
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), space = H5Aget_space(attribute);
  const bool read = H5Sget_simple_extent_npoints(space) == 1 &&
                    H5Aread(attribute, H5T_NATIVE_UINT64, sum) >= 0;
  if (space >= 0) H5Sclose(space);
  if (attribute >= 0) H5Aclose(attribute);
  return read ? 1 : -1;
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *sum) {
  if (strcmp(name, of_attributes) == 0) return 0;
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  const size_t size = (size_t)info->data_size;
  void *value = allocate(size, 1, "an attribute");
  /* What lies elsewhere in the file (strings of any length) is none of ours. */
  const bool read = H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tis_variable_str(type) <= 0 &&
                    H5Aread(attribute, type, value) >= 0;
  if (read) *(uint64_t *)sum += XXH3_64bits_withSeed(value, size, XXH3_64bits(name, strlen(name)));
  free(value);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return read ? 0 : -1;
}

static herr_t sum_attributes(hid_t group, uint64_t *sum) {
  *sum = 0;
  return H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_attribute, sum);
}

void hdf5_checksum_attributes(hid_t group, const char *path) {
  uint64_t sum;
  hdf5_check(sum_attributes(group, &sum), EXIT_RUN_FAILED, path, "make a checksum");
  hdf5_write_attribute(group, path, of_attributes, H5T_NATIVE_UINT64, 0, &sum);
}

bool hdf5_checksum_stored(hid_t dataset, const char *path, uint64_t *sum) {
  return hdf5_check(stored_sum(dataset, of_rows, sum), EXIT_BAD_INPUT, path, "read a checksum") > 0;
}

bool hdf5_check_attributes(hid_t group, const char *path) {
  uint64_t stored = 0, sum;
  if (!hdf5_check(stored_sum(group, of_attributes, &stored), EXIT_BAD_INPUT, path,
                  "read a checksum"))
    return false;
  hdf5_check(sum_attributes(group, &sum), EXIT_BAD_INPUT, path, "read the attributes");
  char name[64] = "";
  H5Iget_name(group, name, sizeof name);
  if (sum != stored)
    fail(EXIT_BAD_INPUT, "%s: the attributes of %s are not those that were written (checksum)",
         path, name);
  return true;
}

/** A look at a whole file. */
struct look {
  const char *path;
  char *reason; /* of `size` bytes */
  size_t size;
  size_t objects, datasets; /* met so far */
  struct sum {
    char name[64];
    uint64_t difference; /* found by this process minus stored, the latter on the first process */
  } * sum;
};

__attribute__((format(printf, 2, 3))) static bool damaged(struct look *look, const char *format,
                                                          ...) {
  const int length = snprintf(look->reason, look->size, "%s: ", look->path);
  va_list arguments;
  va_start(arguments, format);
  if (length >= 0 && (size_t)length < look->size)
    vsnprintf(look->reason + length, look->size - (size_t)length, format, arguments);
  va_end(arguments);
  return false;
}

static bool unreadable(struct look *look, const char *name) {
  char reason[256];
  hdf5_reason(reason);
  return damaged(look, "cannot read %s: %s", name, reason);
}

/** Sum over this process's share of the rows, in pieces of a few megabytes. */
static bool sum_share(hid_t dataset, hid_t type, size_t rows, size_t columns, uint64_t *sum) {
  const size_t row_bytes = columns * H5Tget_size(type), most = ((size_t)1 << 22) / row_bytes + 1;
  const size_t begin = comm_first(rows, comm_rank()), end = comm_first(rows, comm_rank() + 1);
  const size_t piece = end - begin < most ? end - begin : most;
  void *bytes = reallocate(NULL, piece, row_bytes, "a checksum");
  bool read = true;
  for (size_t first = begin, n; read && first < end; first += n) {
    n = end - first < piece ? end - first : piece;
    read = hdf5_try_rows(dataset, type, first, n, columns, bytes) >= 0;
    if (read) *sum += checksum_rows(bytes, row_bytes, first, n);
  }
  free(bytes);
  return read;
}

/** Keep what this process's share of a dataset adds up to. */
static void note_sum(struct look *look, const char *name, uint64_t stored, uint64_t sum) {
  look->sum = reallocate(look->sum, look->datasets + 1, sizeof *look->sum, "checksums");
  struct sum *entry = &look->sum[look->datasets++];
  snprintf(entry->name, sizeof entry->name, "%s", name);
  entry->difference = comm_rank() == 0 ? sum - stored : sum;
}

static bool look_at_dataset(struct look *look, hid_t dataset, const char *name) {
  uint64_t stored, sum = 0;
  const int has = stored_sum(dataset, of_rows, &stored);
  if (has < 0) return unreadable(look, name);
  if (has == 0) return damaged(look, "dataset %s has no checksum", name);
  char reason[256];
  if (!hdf5_share_stored(dataset, reason)) return damaged(look, "%s %s", name, reason);
  const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  /* Of a scalar; more dimensions have been refused. */
  hsize_t extent[HDF5_DIMENSIONS_MOST] = {1, 1, 1, 1};
  bool read = type >= 0 && H5Tget_size(type) > 0 &&
              H5Sget_simple_extent_dims(space, extent, NULL) >= 0;
  const size_t columns = extent[1] * extent[2] * extent[3];
  read = read && columns > 0 &&
         (extent[0] == 0 || sum_share(dataset, type, extent[0], columns, &sum));
  if (!read) unreadable(look, name); /* first: the next call of HDF5 forgets the reason */
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  if (read) note_sum(look, name, stored, sum);
  return read;
}

static bool look_at_attributes(struct look *look, hid_t group, const char *name) {
  uint64_t stored, sum;
  const int has = stored_sum(group, of_attributes, &stored);
  if (has < 0 || sum_attributes(group, &sum) < 0) return unreadable(look, name);
  if (has == 0 && sum == 0) return true; /* there are no attributes */
  if (has == 0) return damaged(look, "the attributes of %s have no checksum", name);
  return sum == stored ||
         damaged(look, "the attributes of %s are not those that were written (checksum)", name);
}

/** The attributes of a group, its datasets and the groups in it. The provenance is left out: no run
 * needs it, so that damage to it is no reason to refuse a file. */
static bool look_at_group(struct look *look, hid_t group, const char *name) {
  enum { OBJECTS_MOST = 1000 }; /* a group may be a member of itself; this program writes few */
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) return unreadable(look, name);
  bool good = look_at_attributes(look, group, name);
  for (hsize_t i = 0; good && i < info.nlinks; i++) {
    char inner[64];
    if (++look->objects > OBJECTS_MOST)
      return damaged(look, "holds more than %d groups and datasets", OBJECTS_MOST);
    if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, inner, sizeof inner,
                           H5P_DEFAULT) < 0)
      return unreadable(look, name);
    if (strcmp(inner, PROVENANCE_GROUP) == 0) continue;
    const hid_t object = H5Oopen(group, inner, H5P_DEFAULT);
    const H5I_type_t type = object < 0 ? H5I_BADID : H5Iget_type(object);
    good = type == H5I_GROUP     ? look_at_group(look, object, inner)
           : type == H5I_DATASET ? look_at_dataset(look, object, inner)
                                 : unreadable(look, inner);
    if (object >= 0) H5Oclose(object);
  }
  return good;
}

static bool look_at_format(struct look *look, hid_t file, const char *format) {
  char found[64] = "";
  if (!format) return true;
  if (H5Aexists(file, "format") <= 0) return damaged(look, "not a complete '%s'", format);
  if (!hdf5_try_text(file, "format", found, sizeof found)) return unreadable(look, "format");
  return strcmp(found, format) == 0 || damaged(look, "is '%s', expected '%s'", found, format);
}

static bool look_at_file(struct look *look, const char *format) {
  const char *refusal = input_refusal(look->path);
  if (refusal) return damaged(look, "cannot open the HDF5 file: %s", refusal);
  const hid_t file = hdf5_try_open(look->path);
  if (file < 0) {
    char reason[256];
    hdf5_reason(reason);
    return damaged(look, "cannot open the HDF5 file: %s", reason);
  }
  const bool good = look_at_format(look, file, format) && look_at_group(look, file, "the file");
  H5Fclose(file);
  return good;
}

/** One answer from those of all processes. A process that meets damage does not see all datasets.
 */
static bool agree(struct look *look, bool good) {
  const uint32_t rank = (uint32_t)comm_rank();
  uint32_t speaker = good ? UINT32_MAX : rank;
  comm_min_u32(&speaker, 1);
  if (speaker != UINT32_MAX) {
    comm_broadcast(look->reason, look->size, (int)speaker);
    return false;
  }
  uint32_t most = (uint32_t)look->datasets, least = most;
  comm_max_u32(&most, 1);
  comm_min_u32(&least, 1);
  if (most != least) return damaged(look, "processes see different files");
  for (size_t d = 0; d < look->datasets; d++) {
    uint64_t difference = look->sum[d].difference;
    comm_sum_u64(&difference, 1);
    if (difference != 0)
      return damaged(look, "dataset %s is not what was written (checksum)", look->sum[d].name);
  }
  return true;
}

bool hdf5_intact(const char *path, const char *format, char *reason, size_t size) {
  struct look look = {.path = path, .reason = reason, .size = size};
  memset(reason, 0, size);
  const bool good = agree(&look, look_at_file(&look, format));
  free(look.sum);
  return good;
}
