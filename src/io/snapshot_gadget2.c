/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots in Gadget-2's binary format 1 (Gadget-2 user guide, section 6): records of a header and of the
 * blocks positions, velocities, ids and masses, each between two 32-bit markers with its size. Numbers have
 * the byte order of this machine. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_finite.h"
#include "hdf5_util.h"
#include "photons/base/comm.h"
#include "photons/io/snapshot.h"
#include "snapshot_set.h"

enum { TYPES = PARTICLE_TYPES, HEADER_SIZE = 256, MARKER = 4 };

/* Blocks of one type begin behind those of the types below it. Markers are read as signed numbers, too. */
#define BLOCK_MOST 2147483647.0

/** The header as the file has it. */
struct header {
  uint32_t in_file[TYPES];
  double mass[TYPES], time, redshift;
  uint32_t star_formation, feedback, total[TYPES], cooling, files;
  double box, omega_m, omega_lambda, h;
  uint32_t stellar_age, metals, total_high[TYPES], entropy;
  char unused[60];
};
static_assert(sizeof(struct header) == HEADER_SIZE, "Gadget-2's header has no gaps");

/** A block of a file: numbers of one kind of all types. */
struct block {
  const struct snapshot_field *field;
  uint64_t rows[TYPES]; /* of this file */
  size_t width;         /* bytes of a number in the file */
};
enum { BLOCKS = 4 };

/** A file as it is written. */
struct binary {
  const struct snapshot *snapshot;
  const struct output_turn *turn;
  FILE *stream;
  struct block block[BLOCKS];
};

static void require(bool written, const char *path) {
  if (!written) fail(EXIT_RUN_FAILED, "%s: cannot write the file: %s", path, strerror(errno));
}

static void put(const struct binary *f, const void *bytes, size_t count) {
  require(fwrite(bytes, 1, count, f->stream) == count, f->turn->path);
}

static uint64_t block_bytes(const struct block *b) {
  uint64_t rows = 0;
  for (unsigned t = 0; t < TYPES; t++) rows += b->rows[t];
  return rows * b->field->columns * b->width;
}

/** Bytes of the records before block @p k, whose first marker follows. A block without rows is not there. */
static uint64_t block_offset(const struct binary *f, int k) {
  uint64_t offset = HEADER_SIZE + 2 * MARKER;
  for (int i = 0; i < k; i++)
    if (block_bytes(&f->block[i]) > 0) offset += block_bytes(&f->block[i]) + 2 * MARKER;
  return offset;
}

static const struct snapshot_field *field_named(const char *name) {
  const struct rounding none = {0};
  const struct parameters plain = {0};
  for (size_t i = 0; i < snapshot_field_count; i++)
    if (strcmp(snapshot_fields[i].name, name) == 0 &&
        snapshot_field_wanted(&snapshot_fields[i], &plain, &none))
      return &snapshot_fields[i];
  return NULL;
}

/** The blocks of a file. Masses are in the header where a type has one. */
static void plan(struct binary *f) {
  static const char *const names[BLOCKS] = {"Coordinates", "Velocities", "ParticleIDs", "Masses"};
  const struct snapshot *s = f->snapshot;
  for (int k = 0; k < BLOCKS; k++) {
    struct block *b = &f->block[k];
    *b = (struct block){.field = field_named(names[k]), .width = sizeof(float)};
    if (b->field->number == FIELD_ID && s->largest_id > UINT32_MAX) b->width = sizeof(uint64_t);
    for (unsigned t = 0; t < TYPES; t++)
      if (!b->field->mass || s->mass[t] == 0.0)
        b->rows[t] = snapshot_count(s, t, f->turn->first, f->turn->last + 1);
  }
}

static void write_header(const struct binary *f) {
  const struct snapshot *s = f->snapshot;
  const struct parameters *p = s->parameters;
  const bool isolated = p->box.boundary == BOUNDARY_ISOLATED;
  struct header h = {.time = s->time,
                     .redshift = 1.0 / s->a - 1.0,
                     .files = (uint32_t)s->files,
                     .box = s->box,
                     .omega_m = isolated ? 0.0 : p->cosmology.omega_m,
                     .omega_lambda = isolated ? 0.0 : p->cosmology.omega_lambda,
                     .h = isolated ? 1.0 : p->cosmology.h};
  for (unsigned t = 0; t < TYPES; t++) {
    h.in_file[t] = (uint32_t)snapshot_count(s, t, f->turn->first, f->turn->last + 1);
    h.total[t] = (uint32_t)snapshot_count(s, t, 0, comm_size());
    h.mass[t] = s->mass[t];
  }
  const uint32_t size = HEADER_SIZE;
  put(f, &size, MARKER);
  put(f, &h, sizeof h);
  put(f, &size, MARKER);
}

static void go_to(const struct binary *f, uint64_t offset) {
  require(fseeko(f->stream, (off_t)offset, SEEK_SET) == 0, f->turn->path);
}

/** The header and the markers of all blocks: the file has its full size then. */
static void create(const struct binary *f) {
  write_header(f);
  for (int k = 0; k < BLOCKS; k++) {
    const uint64_t size = block_bytes(&f->block[k]);
    const uint32_t marker = (uint32_t)size;
    if (size == 0) continue;
    if ((double)size > BLOCK_MOST)
      fail(EXIT_RUN_FAILED,
           "%s: %s have %" PRIu64 " bytes, more than a file of Gadget-2 can hold: raise "
           "output.files, on as many ranks, or choose output.format = hdf5",
           f->turn->path, f->block[k].field->name, size);
    go_to(f, block_offset(f, k));
    put(f, &marker, MARKER);
    go_to(f, block_offset(f, k) + MARKER + size);
    put(f, &marker, MARKER);
  }
}

/** From the numbers of an HDF5 snapshot to those of the file, in place. */
static void narrow(const struct binary *f, const struct block *b, size_t numbers, void *rows) {
  if (b->field->number == FIELD_DOUBLE) {
    const float side = (float)f->snapshot->units.side;
    for (size_t i = 0; i < numbers; i++) {
      const float x = (float)((double *)rows)[i];
      ((float *)rows)[i] = x < side ? x : 0.0f; /* rounded to the end of the box */
    }
  } else if (b->field->number == FIELD_ID && b->width == sizeof(uint32_t)) {
    for (size_t i = 0; i < numbers; i++) ((uint32_t *)rows)[i] = (uint32_t)((uint64_t *)rows)[i];
  }
}

/** The particles of a type of this rank. */
static void write_rows(const struct binary *f, int k, unsigned type) {
  const struct snapshot *s = f->snapshot;
  const struct block *b = &f->block[k];
  const size_t count = s->count[comm_rank()][type], columns = b->field->columns;
  const size_t row_size = columns * H5Tget_size(snapshot_field_type(b->field));
  if (count == 0 || b->rows[type] == 0) return;
  uint64_t before = snapshot_count(s, type, f->turn->first, comm_rank());
  for (unsigned t = 0; t < type; t++) before += b->rows[t];
  char *rows = allocate(count < SNAPSHOT_PIECE ? count : SNAPSHOT_PIECE, row_size,
                        "writing a snapshot");
  struct snapshot_place at = {0};
  go_to(f, block_offset(f, k) + MARKER + before * columns * b->width);
  for (size_t first = 0, n; first < count; first += n) {
    n = count - first < SNAPSHOT_PIECE ? count - first : SNAPSHOT_PIECE;
    snapshot_convert(s, b->field, type, &at, n, rows, row_size);
    hdf5_require_finite(f->turn->path, b->field->name, snapshot_field_type(b->field), first, n,
                        columns, rows);
    narrow(f, b, n * columns, rows);
    put(f, rows, n * columns * b->width);
  }
  free(rows);
}

void snapshot_write_gadget2(void *snapshot, const struct output_turn *turn) {
  struct binary f = {.snapshot = snapshot, .turn = turn};
  const bool first = comm_rank() == turn->first;
  f.stream = first ? output_open(turn->temporary) : fopen(turn->temporary, "r+b");
  require(f.stream != NULL, turn->path);
  plan(&f);
  if (first) create(&f);
  for (int k = 0; k < BLOCKS; k++)
    for (unsigned t = 0; t < TYPES; t++) write_rows(&f, k, t);
  output_close(f.stream, turn->path);
}

void snapshot_require_possible(const struct parameters *p, size_t particles) {
  if (!p->output.snapshots || p->output.format != FORMAT_GADGET2) return;
  const double in_file = (double)particles / (double)snapshot_files(p, (size_t)comm_size());
  if ((double)particles > UINT32_MAX)
    fail(EXIT_BAD_USAGE,
         "output.format = gadget2: %zu particles are more than its header counts, 2^32 - 1: choose "
         "output.format = hdf5",
         particles);
  if (3.0 * sizeof(float) * in_file > BLOCK_MOST)
    fail(EXIT_BAD_USAGE,
         "output.format = gadget2: a file has room for %.0f particles, and would get %.0f: raise "
         "output.files, on as many ranks, or choose output.format = hdf5",
         BLOCK_MOST / (3.0 * sizeof(float)), in_file);
}
