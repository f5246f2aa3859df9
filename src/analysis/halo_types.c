/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of halos and subhalos by type. Files that are in the order of rows have the particles of each type for
 * themselves: those of an object begin behind all particles of their type in lower rows. */
#include <stdlib.h>

#include "halo_home.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "src/base/exchange.h"
#include "src/base/index_order.h"

enum { STRIDE = 64 }; /* rows from one known number to the next */

/** Numbers of particles by type. */
struct type_counts {
  uint64_t of[PARTICLE_TYPES];
};

/** Types of the members in consecutive rows, which this rank has received. */
struct typed_rows {
  size_t first, count; /* rows */
  uint32_t *type;
  struct type_counts *before; /* [place / STRIDE] in all lower rows of the run */
};

static const char what[] = "types of halo members";

static struct typed_rows bring_types(const struct halo_catalogue *c) {
  uint32_t *mine = allocate(c->members, sizeof *mine, what);
  for (size_t k = 0; k < c->members; k++) mine[k] = c->particles->type[c->member[k]];
  struct index_order order = index_order_create(c->all_members, c->members, c->row);
  struct typed_rows r = {.first = comm_first(c->all_members, comm_rank()), .count = order.count};
  r.type = allocate(r.count, sizeof *r.type, what);
  index_order_apply(&order, mine, sizeof *mine, r.type);
  index_order_free(&order);
  free(mine);
  return r;
}

/** Fill r->before. @return the numbers of the run */
static struct type_counts count_rows(struct typed_rows *r) {
  struct type_counts own = {{0}};
  for (size_t i = 0; i < r->count; i++) own.of[r->type[i]]++;
  struct type_counts sum = own;
  comm_sums_before(sum.of, PARTICLE_TYPES);
  comm_sum_u64(own.of, PARTICLE_TYPES);
  r->before = allocate(r->count / STRIDE + 1, sizeof *r->before, what);
  for (size_t i = 0; i <= r->count; i++) {
    if (i % STRIDE == 0) r->before[i / STRIDE] = sum;
    if (i < r->count) sum.of[r->type[i]]++;
  }
  return own;
}

/** The numbers in all rows of the run below one that this rank has, or below the end of them. */
static struct type_counts counts_below(const struct typed_rows *r, uint64_t row) {
  const size_t place = row - r->first, known = place / STRIDE;
  struct type_counts sum = r->before[known];
  for (size_t i = known * STRIDE; i < place; i++) sum.of[r->type[i]]++;
  return sum;
}

/** The numbers below rows of the run. Collective. */
static struct type_counts *ask(const struct halo_catalogue *c, const struct typed_rows *r,
                               size_t count, const uint64_t *row) {
  const size_t ranks = (size_t)comm_size();
  uint32_t *rank = allocate(count, sizeof *rank, what);
  for (size_t i = 0; i < count; i++)
    rank[i] = (uint32_t)(row[i] < c->all_members ? block_containing(c->all_members, ranks, row[i])
                                                 : ranks - 1);
  size_t *place = allocate(count, sizeof *place, what), *send = exchange_counts(),
         *receive = exchange_counts();
  uint64_t *asked = exchange_scattered(row, sizeof *row, count, rank, place, send, receive);
  const size_t asks = exchange_total(receive);
  struct type_counts *below = allocate(asks, sizeof *below, what);
  for (size_t i = 0; i < asks; i++) below[i] = counts_below(r, asked[i]);
  struct type_counts *answer = exchange_answers(below, sizeof *below, receive, send),
                     *sorted = allocate(count, sizeof *sorted, what);
  for (size_t i = 0; i < count; i++) sorted[i] = answer[place[i]];
  free(answer);
  free(below);
  free(asked);
  free(receive);
  free(send);
  free(place);
  free(rank);
  return sorted;
}

/** From the numbers below the first row and below the end of each object. */
static struct member_types *types_of(size_t count, const struct type_counts *below) {
  struct member_types *types = allocate(count, sizeof *types, what);
  for (size_t i = 0; i < count; i++)
    for (int t = 0; t < PARTICLE_TYPES; t++) {
      types[i].first[t] = below[2 * i].of[t];
      types[i].count[t] = below[2 * i + 1].of[t] - below[2 * i].of[t];
    }
  return types;
}

void halo_count_types(struct halo_catalogue *c) {
  if (!particles_have(c->particles, COLUMN_type)) return;
  struct typed_rows r = bring_types(c);
  const struct type_counts all = count_rows(&r);
  int types = 0;
  for (int t = 0; t < PARTICLE_TYPES; t++) types += all.of[t] > 0;
  c->several_types = types > 1;
  const size_t objects = c->count + c->subhalos;
  uint64_t *row = allocate(2 * objects, sizeof *row, what);
  for (size_t i = 0; i < objects; i++) {
    const bool halo = i < c->count;
    row[2 * i] = halo ? c->halo[i].first : c->subhalo[i - c->count].first;
    row[2 * i + 1] = row[2 * i] + (halo ? c->halo[i].count : c->subhalo[i - c->count].count);
  }
  struct type_counts *below = ask(c, &r, 2 * objects, row);
  c->halo_types = types_of(c->count, below);
  c->subhalo_types = types_of(c->subhalos, below + 2 * c->count);
  free(below);
  free(row);
  free(r.before);
  free(r.type);
}
