/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshot_set.h"

#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/io/snapshot.h"
#include "photons/runtime/loop.h"

enum { RANKS_OF_FILE = 8 };

size_t snapshot_files(const struct parameters *p, size_t ranks) {
  const int64_t given = p->output.files;
  if (given < 0) return (ranks + RANKS_OF_FILE - 1) / RANKS_OF_FILE;
  return given == 0 || (size_t)given > ranks ? ranks : (size_t)given;
}

size_t snapshot_count(const struct snapshot *s, unsigned type, int first, int end) {
  size_t sum = 0;
  for (int r = first; r < end; r++) sum += s->count[r][type];
  return sum;
}

/** How many particles from @p i on are of one type, at most @p room. */
static size_t run_of_type(const struct particle_block *b, unsigned type, size_t i, size_t room) {
  const size_t most = b->count - i < room ? b->count - i : room;
  size_t n = 0;
  if (!b->type) return type == PARTICLE_HALO ? most : 0;
  while (n < most && b->type[i + n] == type) n++;
  return n;
}

/**
 * Take the next particles of a type.
 * @return how many; they are @p count at most, and those from at->i - n on in at->block
 */
static size_t take(const struct snapshot *s, unsigned type, struct snapshot_place *at,
                   size_t count) {
  for (;;) {
    while (at->i == at->block.count) {
      at->block = particles_block(s->particles, at->next_block++);
      at->i = 0;
    }
    const size_t n = run_of_type(&at->block, type, at->i, count);
    at->i += n > 0 ? n : 1;
    if (n > 0) return n;
  }
}

void snapshot_skip(const struct snapshot *s, unsigned type, struct snapshot_place *at,
                   size_t count) {
  for (size_t left = count; left > 0;) left -= take(s, type, at, left);
}

void snapshot_columns(const struct snapshot *s, const struct snapshot_field *f, unsigned type,
                      struct snapshot_place *at, size_t count, void *columns) {
  const size_t size = snapshot_field_size(f);
  for (size_t done = 0, n; done < count; done += n) {
    n = take(s, type, at, count - done);
    for (size_t c = 0; c < f->columns; c++)
      f->convert(&s->units, &at->block, c, at->i - n, n,
                 (char *)columns + (c * count + done) * size);
  }
}

LOOP_STAGE(convert, 0x779988, .untimed = true);
enum { PART = 1 << 15, STRIP = 1 << 10 }; /* rows of a task, and of columns that become rows */

/** Rows that the workers convert together. */
struct conversion {
  const struct snapshot *snapshot;
  const struct snapshot_field *field;
  unsigned type;
  size_t count, row_size;
  struct snapshot_place *place; /* [part] before its first row */
  char *rows;
};

static size_t rows_of_part(const struct conversion *c, uint32_t part) {
  const size_t begin = (size_t)part * PART;
  return c->count - begin < PART ? c->count - begin : PART;
}

static void convert_part(void *context, uint32_t part) {
  const struct conversion *c = context;
  const size_t columns = c->field->columns;
  struct snapshot_place at = c->place[part];
  char *rows = c->rows + (size_t)part * PART * c->row_size;
  double strip[STRIP * 3]; /* a number has at most their size */
  for (size_t left = rows_of_part(c, part), n; left > 0; left -= n) {
    n = left < STRIP ? left : STRIP;
    snapshot_columns(c->snapshot, c->field, c->type, &at, n, columns > 1 ? (void *)strip : rows);
    if (columns > 1)
      c->snapshot->units.kernels->rows_of_three(n, c->row_size / columns, strip, rows);
    rows += n * c->row_size;
  }
}

void snapshot_convert(const struct snapshot *s, const struct snapshot_field *f, unsigned type,
                      struct snapshot_place *at, size_t count, void *rows, size_t row_size) {
  const uint32_t parts = (uint32_t)((count + PART - 1) / PART);
  struct conversion c = {s, f, type, count, row_size, NULL, rows};
  c.place = allocate(parts, sizeof *c.place, "writing a snapshot");
  for (uint32_t part = 0; part < parts; part++) {
    c.place[part] = *at;
    snapshot_skip(s, type, at, rows_of_part(&c, part));
  }
  loop_run(&convert_stage, parts, convert_part, &c);
  free(c.place);
}
