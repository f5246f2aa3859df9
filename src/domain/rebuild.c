/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rebuild of the domain: particles are sorted into groups and leaves by orthogonal recursive
 * bisection and moved to the ranks that own them. */
#include "rebuild.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "keys.h"
#include "moves.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"

enum { CHUNKS = 64 };

/** The state of a rebuild. Particles pass through three orders: the old order; the order by part (a
 * part is split further by one rank), in which they are sent; the new order. Where nothing is sent
 * and parts are split further, arrays go from the old order to the new order at once. Where parts
 * are groups, and tasks sort them later, the order by part is the new order: there are no keys. */
struct rebuild {
  struct domain *domain;
  struct particles old;
  struct orb_parts parts;
  struct key *keys; /* key.index: place in the order that decides ties, from which the other columns
                     * are rearranged; NULL: parts are groups */
  uint32_t *from;   /* [count] this index alone, in the new order; NULL: the order by part */
  struct moves moves; /* of particles to the owners of parts */
  size_t *next;       /* [chunk][part] place, by part, of the next particle */
  uint32_t *place;    /* [old count] place in the order by part; NULL: this order is skipped */
  const struct particle_column *column; /* the column being moved */
  const void *array;                    /* its array in the old order */
  char *rows;                           /* its rows as packed or received; NULL without `place` */
  char *permuted;                       /* its array in the new order */
  char *room;                           /* for one column; NULL with several ranks */
};

static size_t chunk_first(const struct rebuild *r, uint32_t chunk) {
  return block_first(r->old.count, CHUNKS, chunk);
}

/** The range of the old order that holds particle i of this rank. */
static struct particle_block old_block(const struct rebuild *r, size_t i) {
  return particles_block_of(&r->old, i);
}

static void count_parts(void *context, uint32_t chunk) {
  const struct rebuild *r = context;
  size_t *next = r->next + (size_t)chunk * r->parts.count;
  for (size_t i = chunk_first(r, chunk); i < chunk_first(r, chunk + 1); i++)
    next[r->parts.part_of[i]]++;
}

static void sort_chunk(void *context, uint32_t chunk) {
  const struct rebuild *r = context;
  size_t *next = r->next + (size_t)chunk * r->parts.count;
  for (size_t i = chunk_first(r, chunk), end = chunk_first(r, chunk + 1); i < end;) {
    const struct particle_block b = old_block(r, i);
    for (; i < end && i < b.first + b.count; i++) {
      const size_t place = next[r->parts.part_of[i]]++, k = i - b.first;
      if (r->keys) r->keys[place] = (struct key){{b.x[0][k], b.x[1][k], b.x[2][k]}, (uint32_t)i};
      if (r->place) r->place[i] = (uint32_t)place;
    }
  }
}

/**
 * Make keys, if parts are split further, and places. The order is by part, and inside a part the old
 * order. Places take the memory of the numbers of parts.
 * @param of_part  [part] on return: particles of this rank in each part
 */
static void sort_by_part(struct rebuild *r, bool trees, size_t *of_part) {
  r->next = allocate((size_t)CHUNKS * r->parts.count, sizeof *r->next, "parts");
  if (trees)
    r->keys = allocate_large(r->old.count, sizeof *r->keys, "keys of the domain decomposition");
  if (!trees || comm_size() > 1) r->place = r->parts.part_of;
  loop_run(&rebuild_stage, CHUNKS, count_parts, r);
  size_t sum = 0;
  for (uint32_t p = 0; p < r->parts.count; p++)
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
      size_t *next = &r->next[(size_t)chunk * r->parts.count + p], n = *next;
      *next = sum;
      sum += n;
      of_part[p] += n;
    }
  loop_run(&rebuild_stage, CHUNKS, sort_chunk, r);
  free(r->next);
}

/** Split a part further, down to its groups. */
static void split_part(void *context, uint32_t k) {
  struct rebuild *r = context;
  struct domain *d = r->domain;
  const struct orb_part *part = &r->parts.part[r->moves.first_part + k];
  const size_t all = d->particles.all,
               begin = block_first(all, (size_t)1 << part->level, part->index);
  struct key *keys = r->keys + r->moves.part_first[k];
  for (unsigned level = part->level; 1u << level < d->group_count; level++) {
    const size_t nodes = (size_t)2 << level, below = (size_t)1 << (level - part->level);
    for (size_t j = part->index * below; j < (part->index + 1) * below; j++) {
      const size_t first = block_first(all, nodes, 2 * j),
                   middle = block_first(all, nodes, 2 * j + 1);
      keys_cut(keys + (first - begin), block_first(all, nodes, 2 * j + 2) - first, middle - first,
               level, d->group_count);
    }
  }
}

static void split_group(void *context, uint32_t g) {
  struct rebuild *r = context;
  struct domain *d = r->domain;
  const struct particle_block b = particles_block(&d->particles, g);
  keys_into_tree(r->keys + b.first, (uint32_t)b.count, d->depth);
}

/* The columns are moved one after the other: from the old order to rows sorted by part, to their
 * owners, to the new order. A row has the components of one particle. */

/** Write the rows of a chunk of the old order to their places in the order by part. */
#define PACK(type)                                          \
  for (; i < end && i < b.first + b.count; i++)             \
    for (size_t c = 0; c < components; c++)                 \
  ((type *)(void *)r->rows)[components * r->place[i] + c] = \
      ((const type *)r->array)[components * b.first + c * b.count + (i - b.first)]

static void pack_rows(void *context, uint32_t chunk) {
  const struct rebuild *r = context;
  const size_t components = r->column->components, size = r->column->size;
  for (size_t i = chunk_first(r, chunk), end = chunk_first(r, chunk + 1); i < end;) {
    const struct particle_block b = old_block(r, i);
    if (size == 8)
      PACK(uint64_t);
    else if (size == 4)
      PACK(uint32_t);
    else
      PACK(uint8_t);
  }
}

/** Write a group's particles in the new order, from rows or from the old order. Most particles are
 * from the range of the old order where the one before is from. */
#define UNPACK(type)                                                                        \
  for (size_t i = 0; i < b.count; i++) {                                                    \
    const size_t from = r->from ? r->from[b.first + i] : b.first + i;                       \
    const type *in;                                                                         \
    size_t step = 1;                                                                        \
    if (r->rows) {                                                                          \
      in = (const type *)(const void *)r->rows + components * from;                         \
    } else {                                                                                \
      if (from - old.first >= old.count) old = old_block(r, from);                          \
      in = (const type *)r->array + components * old.first + (from - old.first);            \
      step = old.count;                                                                     \
    }                                                                                       \
    for (size_t c = 0; c < components; c++)                                                 \
      ((type *)(void *)r->permuted)[components * b.first + c * b.count + i] = in[c * step]; \
  }

static void unpack_rows(void *context, uint32_t g) {
  const struct rebuild *r = context;
  struct particle_block old = {0};
  const struct particle_block b = particles_block(&r->domain->particles, g);
  const size_t components = r->column->components, size = r->column->size;
  if (size == 8)
    UNPACK(uint64_t)
  else if (size == 4)
    UNPACK(uint32_t)
  else
    UNPACK(uint8_t)
}

static void unpack_position(void *context, uint32_t g) {
  const struct rebuild *r = context;
  const struct particle_block b = particles_block(&r->domain->particles, g);
  for (size_t c = 0; c < 3; c++)
    for (size_t i = 0; i < b.count; i++) b.x[c][i] = r->keys[b.first + i].x[c];
  for (size_t i = 0; i < b.count; i++) r->from[b.first + i] = r->keys[b.first + i].index;
}

/** Unpack the keys, and free them. */
static void take_positions(struct rebuild *r) {
  struct particles *p = &r->domain->particles;
  if (r->moves.count != r->old.count) {
    free(p->position);
    p->position = allocate_large(3 * r->moves.count, sizeof *p->position, "particle positions");
  }
  r->from = allocate_large(r->moves.count, sizeof *r->from, "the order of particles");
  loop_run(&rebuild_stage, (uint32_t)p->blocks, unpack_position, r);
  free(r->keys);
}

struct copy {
  char *to;
  const char *from;
  size_t bytes;
};

static void copy_chunk(void *context, uint32_t chunk) {
  const struct copy *copy = context;
  const size_t first = block_first(copy->bytes, CHUNKS, chunk);
  memcpy(copy->to + first, copy->from + first, block_first(copy->bytes, CHUNKS, chunk + 1) - first);
}

/** Put a column in its new order, in its own memory unless this rank has another number of particles
 * now. */
static void rearrange(struct rebuild *r, enum particle_column_index column) {
  struct particles *p = &r->domain->particles;
  void *old = particles_column(p, column);
  r->column = &particle_columns[column];
  r->array = old;
  const size_t size = particle_column_bytes(r->column);
  if (r->place) {
    r->rows = r->room ? r->room : allocate_large(r->old.count, size, "particles by part");
    loop_run(&rebuild_stage, CHUNKS, pack_rows, r);
    if (comm_size() > 1) r->rows = moves_rows(&r->moves, r->rows, size);
  }
  if (!r->rows)
    r->permuted = r->room;
  else if (r->moves.count == r->old.count)
    r->permuted = old;
  else
    r->permuted = allocate_large(r->moves.count, size, "particles in their new order");
  loop_run(&rebuild_stage, (uint32_t)p->blocks, unpack_rows, r);
  if (r->rows != r->room) free(r->rows);
  r->rows = NULL;
  if (r->permuted == r->room) {
    struct copy copy = {old, r->permuted, r->moves.count * size};
    loop_run(&rebuild_stage, CHUNKS, copy_chunk, &copy);
  } else if (r->permuted != old) {
    particles_set_column(p, column, r->permuted);
    free(old);
  }
}

/** Rearrange all columns. One rank does so with the same room for each of them. */
static void rearrange_all(struct rebuild *r, bool positions) {
  const struct particles *p = &r->domain->particles;
  if (comm_size() == 1)
    r->room = allocate_large(r->moves.count, columns_widest(p->columns),
                             "particles in their new order");
  FOR_PARTICLE_COLUMNS(p, k) {
    if (k != COLUMN_position || positions) rearrange(r, k);
  }
  free(r->room);
}

static void number_keys(void *context, uint32_t chunk) {
  const struct rebuild *r = context;
  for (size_t i = block_first(r->moves.count, CHUNKS, chunk);
       i < block_first(r->moves.count, CHUNKS, chunk + 1); i++)
    r->keys[i].index = (uint32_t)i;
}

/** Send keys to the owners of the parts. Their new indices keep the order of the particles of all
 * ranks, which decides ties. */
static void move_keys(struct rebuild *r) {
  if (comm_size() == 1) return;
  r->keys = (struct key *)(void *)moves_rows(&r->moves, (char *)r->keys, sizeof *r->keys);
  loop_run(&rebuild_stage, CHUNKS, number_keys, r);
}

/** A number that depends on which ids there are on all ranks, not on their order. */
static uint64_t sum_of_ids(const struct particles *p) {
  uint64_t sum = 0;
  for (size_t i = 0; i < p->count; i++) { /* scrambled, so that different sets differ */
    const uint64_t mixed = (p->id[i] ^ p->id[i] >> 31) * 0x9e3779b97f4a7c15u;
    sum += mixed ^ mixed >> 29;
  }
  comm_sum_u64(&sum, 1);
  return sum;
}

/** The blocks of all ranks hold every particle that there was, each rank those of its groups. */
static void check_rebuilt(const struct particles *p, uint64_t ids_before) {
  uint64_t all = p->count;
  comm_sum_u64(&all, 1);
  DEBUG_CHECK(all == p->all, "%llu particles of %zu", (unsigned long long)all, p->all);
  size_t count = 0;
  for (size_t g = 0; g < p->blocks; g++) count += particles_block(p, g).count;
  DEBUG_CHECK(count == p->count, "the groups of this rank hold %zu particles of %zu", count,
              p->count);
  DEBUG_CHECK(sum_of_ids(p) == ids_before, "ids of %zu particles changed", p->all);
}

void orb_rebuild(struct domain *d, bool trees) {
  struct particles *p = &d->particles;
  const uint64_t ids = DEBUG_CHECKS ? sum_of_ids(p) : 0;
  struct rebuild r = {.domain = d, .old = *p};
  if (p->count > UINT32_MAX)
    fail(EXIT_RUN_FAILED, "%zu particles on one rank are more than 2^32: use more ranks", p->count);
  r.parts = orb_split(d, !trees);
  size_t *of_part = allocate(r.parts.count, sizeof *of_part, "parts");
  sort_by_part(&r, trees, of_part);
  r.moves = moves_plan(&r.parts, of_part);
  free(of_part);
  if (!r.place) {
    free(r.parts.part_of);
    r.parts.part_of = NULL;
  }
  if (trees) move_keys(&r);
  p->all_blocks = d->group_count;
  p->first_block = group_first(d, comm_rank());
  p->blocks = group_first(d, comm_rank() + 1) - p->first_block;
  p->count = r.moves.count;
  p->sorted = true;
  if (trees) {
    loop_run(&rebuild_stage, r.moves.own_parts, split_part, &r);
    loop_run(&rebuild_stage, (uint32_t)p->blocks, split_group, &r);
    take_positions(&r); /* from the keys */
  }
  rearrange_all(&r, !trees);
  orb_parts_free(&r.parts);
  free(r.from);
  moves_free(&r.moves);
  if (DEBUG_CHECKS) check_rebuilt(p, ids);
}
