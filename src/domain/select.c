/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of particles: of some of them, dealt out evenly among the ranks, and of all. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/particles.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(copy, 0x997755, .untimed = true);

/** Copy all columns of a particle from a row to its place in a range of particles, or the reverse.
 * @param first, count  of the range
 * @param i             the particle's number in the range */
static void copy_row(const struct particles *s, size_t first, size_t count, size_t i, char *row,
                     bool from_row) {
  FOR_PARTICLE_COLUMNS(s, k) {
    const struct particle_column *column = &particle_columns[k];
    char *range = (char *)particles_column(s, k) + first * particle_column_bytes(column);
    for (size_t c = 0; c < column->components; c++, row += column->size) {
      char *place = range + (c * count + i) * column->size;
      memcpy(from_row ? place : row, from_row ? row : place, column->size);
    }
  }
}

/** The rows of the particles to keep (malloc'ed). @param[out] kept  their number */
static char *pack(const struct particles *s, const bool *keep, size_t *kept) {
  const size_t size = columns_bytes(s->columns);
  *kept = 0;
  for (size_t i = 0; i < s->count; i++) *kept += keep[i];
  char *rows = allocate(*kept, size, "particles to keep"), *row = rows;
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++) {
      if (!keep[b.first + i]) continue;
      copy_row(s, b.first, b.count, i, row, false);
      row += size;
    }
  }
  return rows;
}

/** Bytes of the rows [first, end) of all ranks that belong to each rank. */
static void share_out(size_t all, size_t first, size_t end, size_t size, size_t *bytes) {
  for (int r = 0; r < comm_size(); r++) {
    const size_t low = comm_first(all, r) > first ? comm_first(all, r) : first,
                 high = comm_first(all, r + 1) < end ? comm_first(all, r + 1) : end;
    bytes[r] = low < high ? (high - low) * size : 0;
  }
}

struct particles particles_select(const struct particles *s, const bool *keep) {
  const size_t size = columns_bytes(s->columns), processes = (size_t)comm_size();
  size_t kept, *bytes = allocate(2 * processes, sizeof *bytes, "message sizes");
  char *mine = pack(s, keep, &kept);
  uint64_t all = kept;
  comm_sum_u64(&all, 1);
  const size_t first = comm_sum_before(kept);
  share_out(all, first, first + kept, size, bytes);
  comm_exchange_sizes(bytes, bytes + processes);
  struct particles new = particles_create_share(all, s->box, s->mass);
  particles_add_columns(&new, s->columns);
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    if (particles_have(&new, k) && !particles_have(s, k)) particles_drop_column(&new, k);
  char *rows = allocate(new.count, size, "particles to keep");
  comm_exchange(mine, bytes, rows, bytes + processes);
  free(mine); /* before the new columns have values */
  for (size_t i = 0; i < new.count; i++) copy_row(&new, 0, new.count, i, rows + i * size, true);
  free(rows);
  free(bytes);
  return new;
}

enum { PART = 1 << 22 }; /* bytes of a part of a copy */

struct copying {
  const char *from;
  char *to;
  size_t bytes;
};

static void copy_part(void *context, uint32_t part) {
  const struct copying *c = context;
  const size_t first = (size_t)part * PART;
  memcpy(c->to + first, c->from + first, c->bytes - first < PART ? c->bytes - first : PART);
}

struct particles particles_copy(const struct particles *s, column_set columns) {
  struct particles copy = *s;
  copy.columns = columns & s->columns;
  copy.potential = NULL;
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) {
    particles_set_column(&copy, k, NULL);
    if (!particles_have(&copy, k)) continue;
    const size_t size = particle_column_bytes(&particle_columns[k]);
    struct copying c = {particles_column(s, k),
                        allocate_uncleared(s->count, size, particle_columns[k].name),
                        s->count * size};
    particles_set_column(&copy, k, c.to);
    loop_run(&copy_stage, (uint32_t)((c.bytes + PART - 1) / PART), copy_part, &c);
  }
  return copy;
}
