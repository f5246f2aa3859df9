/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gadget-2 binary files, formats 1 and 2, either byte order (Gadget-2 user guide, section 6). A
 * file is a sequence of records, each between two 32-bit markers with the record's size modulo
 * 2^32. In format 1 the blocks have a fixed order. In format 2 a small record with the block's
 * label precedes each block. */
#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gadget.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"

enum block_kind { BLOCK_POS, BLOCK_VEL, BLOCK_ID, BLOCK_MASS, BLOCK_KINDS };
/* in files padded with blanks */
static const char *const block_label[BLOCK_KINDS] = {"POS", "VEL", "ID", "MASS"};

enum { HEADER_SIZE = 256, HEADER_TYPES = 6, LABEL_SIZE = 8 };

struct binary_file {
  FILE *stream;
  const char *path;
  uint64_t size;
  bool swapped, labelled; /* swapped: other byte order; labelled: format 2 */
};

/** Position of a block's values in the file. */
struct block {
  uint64_t offset;
  unsigned width; /* bytes of a number; 0: no such block */
};

static void read_bytes(const struct binary_file *file, const char *block, void *bytes,
                       size_t count) {
  if (fread(bytes, 1, count, file->stream) == count) return;
  if (ferror(file->stream))
    fail(EXIT_BAD_INPUT, "%s: cannot read block %s: %s", file->path, block, strerror(errno));
  fail(EXIT_BAD_INPUT, "%s: truncated: ends in block %s", file->path, block);
}

static void seek(const struct binary_file *file, uint64_t offset) {
  if (fseeko(file->stream, (off_t)offset, SEEK_SET) != 0)
    fail(EXIT_BAD_INPUT, "%s: cannot read: %s", file->path, strerror(errno));
}

static uint32_t read_marker(const struct binary_file *file, const char *block, uint64_t offset) {
  uint32_t marker;
  seek(file, offset);
  read_bytes(file, block, &marker, sizeof marker);
  return file->swapped ? bswap_32(marker) : marker;
}

/** Check the markers of a record of @p size bytes at @p offset. @return the offset behind it */
static uint64_t check_record(const struct binary_file *file, const char *block, uint64_t offset,
                             uint64_t size) {
  const uint64_t end = offset + 4 + size;
  const uint32_t before = read_marker(file, block, offset);
  if (before != (uint32_t)size)
    fail(EXIT_BAD_INPUT, "%s: block %s: record marker says %u bytes, expected %u", file->path,
         block, before, (uint32_t)size);
  if (end + 4 > file->size)
    fail(EXIT_BAD_INPUT, "%s: truncated: block %s ends at byte %llu, the file at %llu", file->path,
         block, (unsigned long long)end + 4, (unsigned long long)file->size);
  const uint32_t after = read_marker(file, block, end);
  if (after != before)
    fail(EXIT_BAD_INPUT, "%s: block %s: record marker says %u bytes at its begin, %u at its end",
         file->path, block, before, after);
  return end + 4;
}

static struct binary_file open_file(const char *path) {
  const char *reason;
  struct binary_file file = {.path = path, .stream = input_open(path, &reason)};
  if (!file.stream) fail(EXIT_BAD_INPUT, "cannot read %s: %s", path, reason);
  if (fseeko(file.stream, 0, SEEK_END) != 0)
    fail(EXIT_BAD_INPUT, "cannot read %s: %s", path, strerror(errno));
  file.size = (uint64_t)ftello(file.stream);
  if (file.size < 4)
    fail(EXIT_BAD_INPUT, "%s: truncated: %llu bytes only", path, (unsigned long long)file.size);
  const uint32_t marker = read_marker(&file, "HEAD", 0);
  file.swapped = marker == bswap_32(HEADER_SIZE) || marker == bswap_32(LABEL_SIZE);
  const uint32_t size = file.swapped ? bswap_32(marker) : marker;
  file.labelled = size == LABEL_SIZE;
  if (size != HEADER_SIZE && size != LABEL_SIZE)
    fail(EXIT_BAD_INPUT,
         "%s: not a Gadget file: begins with the record marker %u, expected 256 (format 1) or 8 "
         "(format 2)"
         " in either byte order, or HDF5's signature",
         path, marker);
  return file;
}

static uint64_t header_offset(const struct binary_file *file) {
  return file->labelled ? check_record(file, "HEAD", 0, LABEL_SIZE) : 0;
}

/** Read numbers of @p width bytes, converted to the byte order of this machine. */
static void read_numbers(const struct binary_file *file, const char *block, unsigned width,
                         size_t count, void *numbers) {
  read_bytes(file, block, numbers, count * width);
  if (!file->swapped) return;
  uint32_t *n4 = numbers;
  uint64_t *n8 = numbers;
  for (size_t i = 0; i < count; i++)
    if (width == 4)
      n4[i] = bswap_32(n4[i]);
    else
      n8[i] = bswap_64(n8[i]);
}

static void binary_header(const char *path, struct gadget_header *header) {
  const struct binary_file file = open_file(path);
  const uint64_t offset = header_offset(&file);
  check_record(&file, "HEAD", offset, HEADER_SIZE);

  uint32_t in_file[HEADER_TYPES], total[HEADER_TYPES], high[HEADER_TYPES], flags[2], files;
  double mass[HEADER_TYPES], time[2], cosmology[4];
  seek(&file, offset + 4);
  read_numbers(&file, "HEAD", 4, HEADER_TYPES, in_file);
  read_numbers(&file, "HEAD", 8, HEADER_TYPES, mass);
  read_numbers(&file, "HEAD", 8, 2, time);
  read_numbers(&file, "HEAD", 4, 2, flags); /* star formation, feedback */
  read_numbers(&file, "HEAD", 4, HEADER_TYPES, total);
  read_numbers(&file, "HEAD", 4, 1, flags); /* cooling */
  read_numbers(&file, "HEAD", 4, 1, &files);
  read_numbers(&file, "HEAD", 8, 4, cosmology);
  read_numbers(&file, "HEAD", 4, 2, flags); /* stellar age, metals */
  read_numbers(&file, "HEAD", 4, HEADER_TYPES, high);
  fclose(file.stream);

  *header = (struct gadget_header){.time = time[0],
                                   .redshift = time[1],
                                   .files = files,
                                   .box = cosmology[0],
                                   .omega_m = cosmology[1],
                                   .omega_lambda = cosmology[2],
                                   .h = cosmology[3],
                                   .unit_length = GADGET_ABSENT,
                                   .unit_mass = GADGET_ABSENT,
                                   .unit_velocity = GADGET_ABSENT,
                                   .total_is_32_bit = true};
  for (unsigned t = 0; t < HEADER_TYPES; t++) {
    header->in_file[t] = in_file[t];
    header->mass[t] = mass[t];
    /* Some older writers store other data where the high words are: use them only for a type that
     * is present. */
    const bool present = in_file[t] > 0 || total[t] > 0;
    header->total[t] = total[t] + (present ? (uint64_t)high[t] << 32 : 0);
    if (present && high[t] > 0) header->total_is_32_bit = false;
  }
}

/**
 * Bytes of a number in a block of @p elements numbers, from its record markers. With 2^30 particles
 * the size of a block is 0 modulo 2^32 in single and in double precision: then the marker of the
 * record that follows decides.
 */
static unsigned number_width(const struct binary_file *file, const char *block, uint64_t offset,
                             uint64_t elements) {
  const uint32_t marker = read_marker(file, block, offset);
  unsigned fitting = 0;
  for (unsigned width = 4; width <= 8; width += 4) {
    if ((uint32_t)(elements * width) != marker) continue;
    if (!fitting) fitting = width;
    const uint64_t end = offset + 4 + elements * width;
    if (end + 4 > file->size || read_marker(file, block, end) != marker) continue;
    if (marker == 0 && end + 8 <= file->size &&
        read_marker(file, block, end + 4) != (file->labelled ? LABEL_SIZE : 0))
      continue;
    return width;
  }
  if (!fitting)
    fail(EXIT_BAD_INPUT,
         "%s: block %s: record marker says %u bytes, expected %u or %u (%llu numbers of 4 or 8 "
         "bytes)",
         file->path, block, marker, (uint32_t)(elements * 4), (uint32_t)(elements * 8),
         (unsigned long long)elements);
  return fitting;
}

/** Find all blocks and check their sizes. */
static void find_blocks(const struct binary_file *file, const struct gadget_header *header,
                        struct block blocks[BLOCK_KINDS]) {
  const uint64_t count = gadget_before(header, HEADER_TYPES),
                 masses = gadget_masses_before(header, HEADER_TYPES);
  const unsigned needed = masses > 0 ? BLOCK_KINDS : BLOCK_MASS;
  memset(blocks, 0, BLOCK_KINDS * sizeof *blocks);

  uint64_t offset = check_record(file, "HEAD", header_offset(file), HEADER_SIZE);
  for (unsigned found = 0; found < needed;) {
    unsigned kind = found;
    if (offset >= file->size) {
      for (kind = 0; kind < needed && blocks[kind].width; kind++) {}
      if (kind == BLOCK_VEL && found + 1 == needed && file->labelled && header->analysed) return;
      fail(EXIT_BAD_INPUT, "%s: truncated: block %s is missing", file->path, block_label[kind]);
    }
    if (file->labelled) {
      char label[5] = "";
      const uint64_t record = check_record(file, "label", offset, LABEL_SIZE);
      seek(file, offset + 4);
      read_bytes(file, "label", label, 4);
      label[strcspn(label, " ")] = '\0';
      offset = record;
      for (kind = 0; kind < needed && strcmp(label, block_label[kind]) != 0; kind++) {}
      if (kind == needed) { /* a block that is not needed */
        offset = check_record(file, label, offset, read_marker(file, label, offset));
        continue;
      }
      if (blocks[kind].width) fail(EXIT_BAD_INPUT, "%s: block %s stands twice", file->path, label);
    }
    const uint64_t elements = kind == BLOCK_POS || kind == BLOCK_VEL ? 3 * count
                              : kind == BLOCK_MASS                   ? masses
                                                                     : count;
    const unsigned width = number_width(file, block_label[kind], offset, elements);
    blocks[kind] = (struct block){offset + 4, width};
    offset = check_record(file, block_label[kind], offset, elements * width);
    found++;
  }
}

static void binary_check(const char *path, const struct gadget_header *header) {
  if (gadget_before(header, HEADER_TYPES) == 0) return;
  const struct binary_file file = open_file(path);
  struct block blocks[BLOCK_KINDS];
  find_blocks(&file, header, blocks);
  for (unsigned t = 0; t < HEADER_TYPES; t++)
    if (header->in_file[t] > 0 && !blocks[BLOCK_VEL].width) gadget_say_still(path, t);
  fclose(file.stream);
}

typedef void put_reals(const struct gadget_sink *sink, const char *block, size_t first,
                       size_t count, const double *values);

/** @param before  rows of types that come before in the block */
static void read_reals(const struct binary_file *file, enum block_kind kind,
                       const struct block *block, uint64_t before, size_t columns,
                       const struct gadget_sink *sink, put_reals *put) {
  const size_t most = sink->rows < GADGET_CHUNK ? sink->rows : GADGET_CHUNK;
  double *values = allocate(most * columns, sizeof *values, "reading initial conditions");
  float *singles = allocate(most * columns, sizeof *singles, "reading initial conditions");
  const size_t end = sink->row + sink->rows;
  seek(file, block->offset + (before + sink->row) * columns * block->width);
  for (size_t first = sink->row, n; first < end; first += n) {
    n = end - first < GADGET_CHUNK ? end - first : GADGET_CHUNK;
    if (block->width == 8) {
      read_numbers(file, block_label[kind], 8, n * columns, values);
    } else {
      read_numbers(file, block_label[kind], 4, n * columns, singles);
      for (size_t i = 0; i < n * columns; i++) values[i] = singles[i];
    }
    put(sink, block_label[kind], first, n, values);
  }
  free(singles);
  free(values);
}

static void read_ids(const struct binary_file *file, const struct block *block, uint64_t before,
                     const struct gadget_sink *sink) {
  const size_t most = sink->rows < GADGET_CHUNK ? sink->rows : GADGET_CHUNK;
  uint64_t *ids = allocate(most, sizeof *ids, "reading initial conditions");
  uint32_t *short_ids = allocate(most, sizeof *short_ids, "reading initial conditions");
  const size_t end = sink->row + sink->rows;
  seek(file, block->offset + (before + sink->row) * block->width);
  for (size_t first = sink->row, n; first < end; first += n) {
    n = end - first < GADGET_CHUNK ? end - first : GADGET_CHUNK;
    if (block->width == 8) {
      read_numbers(file, block_label[BLOCK_ID], 8, n, ids);
    } else {
      read_numbers(file, block_label[BLOCK_ID], 4, n, short_ids);
      for (size_t i = 0; i < n; i++) ids[i] = short_ids[i];
    }
    gadget_put_ids(sink, block_label[BLOCK_ID], first, n, ids);
  }
  free(short_ids);
  free(ids);
}

static void binary_read(const char *path, const struct gadget_header *header,
                        const struct gadget_sink *sink) {
  const struct binary_file file = open_file(path);
  struct block blocks[BLOCK_KINDS];
  find_blocks(&file, header, blocks);
  const uint64_t before = gadget_before(header, sink->type);
  if (!sink->masses) {
    read_ids(&file, &blocks[BLOCK_ID], before, sink);
    read_reals(&file, BLOCK_POS, &blocks[BLOCK_POS], before, 3, sink, gadget_put_positions);
    if (blocks[BLOCK_VEL].width)
      read_reals(&file, BLOCK_VEL, &blocks[BLOCK_VEL], before, 3, sink, gadget_put_velocities);
  }
  if (gadget_wants(sink, header, GADGET_BLOCKS - 1))
    read_reals(&file, BLOCK_MASS, &blocks[BLOCK_MASS], gadget_masses_before(header, sink->type), 1,
               sink, gadget_put_masses);
  fclose(file.stream);
}

const struct gadget_format gadget_binary = {binary_header, binary_check, binary_read};
