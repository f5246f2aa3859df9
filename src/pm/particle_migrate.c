/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "particle_migrate.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(gas_settle, 0x776655, .family = "gas");

enum { PIECE = 256 }; /* particles in turn, which take some tens of microseconds */

/** A particle in a message. */
struct particle_parcel {
  struct gas_particle particle;
  struct home home;
};

struct particle_migration migration_begin(const struct gas *g, int first, int last) {
  struct particle_migration m = {.gas = g, .first = first, .last = last};
  for (int level = first; level <= last; level++) m.count += g->particles->level[level].count;
  m.particle = allocate(m.count, sizeof *m.particle, "particles");
  m.home = allocate(m.count, sizeof *m.home, "particles");
  m.touched = allocate(m.count, sizeof *m.touched, "particles");
  size_t i = 0;
  for (int level = first; level <= last; level++) {
    const struct particle_level *l = &g->particles->level[level];
    const size_t before = l->first ? (size_t)(l->particle - l->all) : 0;
    uint32_t group = l->own_first;
    for (size_t k = 0; k < l->count; k++, i++) {
      while (l->first && before + k >= particle_first(l, group + 1)) group++;
      m.particle[i] = &l->particle[k];
      m.home[i] = (struct home){level, l->first ? group : NO_GROUP};
    }
  }
  return m;
}

/** What tasks call. */
struct planning {
  const struct particle_migration *migration;
  void (*plan)(const struct particle_migration *m, size_t i);
};

static void plan_piece(void *context, uint32_t piece) {
  const struct planning *p = context;
  const size_t begin = (size_t)piece * PIECE;
  for (size_t i = begin; i < begin + PIECE && i < p->migration->count; i++)
    p->plan(p->migration, i);
}

void migration_plan(struct particle_migration *m,
                    void (*plan)(const struct particle_migration *m, size_t i)) {
  loop_run(&gas_settle_stage, (uint32_t)((m->count + PIECE - 1) / PIECE), plan_piece,
           &(struct planning){m, plan});
}

void settle_groups(size_t particles, uint32_t n, void (*function)(void *context, uint32_t i),
                   void *context) {
  enum { MANY = 1024 }; /* fewer take less time than tasks need to begin */
  if (particles >= MANY)
    loop_run(&gas_settle_stage, n, function, context);
  else
    for (uint32_t i = 0; i < n; i++) function(context, i);
}

/** The ranks that are to have a particle. @return their number */
static int find_ranks(const struct particle_migration *m, size_t i, int rank[NEIGHBOURS]) {
  const struct home *home = &m->home[i];
  int count = 0;
  for (uint32_t left = m->touched[i]; left; left &= left - 1) {
    const uint32_t near = topology_near(&m->gas->topology, home->level, home->group,
                                        __builtin_ctz(left));
    const int owner = gas_owner(m->gas, home->level, near);
    int k = 0;
    while (k < count && rank[k] != owner) k++;
    if (k == count) rank[count++] = owner;
  }
  return count;
}

/** Bytes of the messages to each rank. */
static void count_sent(const struct particle_migration *m, size_t *bytes_of) {
  for (size_t i = 0; i < m->count; i++) {
    int rank[NEIGHBOURS];
    for (int k = find_ranks(m, i, rank) - 1; k >= 0; k--)
      if (rank[k] != comm_rank()) bytes_of[rank[k]] += sizeof(struct particle_parcel);
  }
}

/** Copy particles to the messages. Those that this rank is to have stay in the list. */
static void pack(struct particle_migration *m, const size_t *bytes_of,
                 struct particle_parcel *send) {
  const size_t ranks = (size_t)comm_size(), all = m->count;
  size_t *next = allocate(ranks + 1, sizeof *next, "message sizes");
  for (size_t r = 0; r < ranks; r++) next[r + 1] = next[r] + bytes_of[r] / sizeof *send;
  m->count = 0;
  for (size_t i = 0; i < all; i++) {
    const struct particle_parcel parcel = {*m->particle[i], m->home[i]};
    int rank[NEIGHBOURS];
    bool stays = false;
    for (int k = find_ranks(m, i, rank) - 1; k >= 0; k--)
      if (rank[k] == comm_rank())
        stays = true;
      else
        send[next[rank[k]]++] = parcel;
    if (!stays) continue;
    m->particle[m->count] = m->particle[i];
    m->home[m->count++] = parcel.home;
  }
  free(next);
}

/** Add particles to the list. */
static void add_received(struct particle_migration *m, size_t count) {
  m->particle = reallocate(m->particle, m->count + count, sizeof *m->particle, "particles");
  m->home = reallocate(m->home, m->count + count, sizeof *m->home, "particles");
  for (size_t i = 0; i < count; i++, m->count++) {
    m->particle[m->count] = &m->received[i].particle;
    m->home[m->count] = m->received[i].home;
  }
}

void migration_run(struct particle_migration *m) {
  const size_t ranks = (size_t)comm_size(), bytes = sizeof(struct particle_parcel);
  m->kept = m->count;
  if (ranks == 1) return;
  size_t *bytes_of = allocate(2 * ranks, sizeof *bytes_of, "message sizes"), sent = 0, arrived = 0;
  count_sent(m, bytes_of);
  comm_exchange_sizes(bytes_of, bytes_of + ranks);
  for (size_t r = 0; r < ranks; r++) {
    sent += bytes_of[r] / bytes;
    arrived += bytes_of[ranks + r] / bytes;
  }
  struct particle_parcel *send = allocate(sent, bytes, "particles for other ranks");
  m->received = allocate(arrived, bytes, "particles of other ranks");
  pack(m, bytes_of, send);
  m->kept = m->count;
  comm_exchange(send, bytes_of, m->received, bytes_of + ranks);
  add_received(m, arrived);
  free(send);
  free(bytes_of);
}

static int compare_numbers(const void *a, const void *b) {
  const struct gas_particle *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/** Put the particles of a group into the order of their numbers. */
static void sort_group(void *context, uint32_t place) {
  const struct particle_level *l = context;
  const size_t begin = l->first[place], end = l->first[place + 1];
  bool sorted = true;
  for (size_t i = begin; i + 1 < end; i++)
    sorted = sorted && l->all[i].number <= l->all[i + 1].number;
  if (!sorted) qsort(l->all + begin, end - begin, sizeof *l->all, compare_numbers);
}

static int compare_groups(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

void particle_level_list(struct particle_level *l, const struct particle_migration *m, int level) {
  uint32_t room = 0, count = 0;
  for (size_t i = 0; i < m->count; i++) {
    const uint32_t group = m->home[i].group;
    if (m->home[i].level != level || (group >= l->own_first && group < l->own_end)) continue;
    if (l->others > 0 && l->other[l->others - 1] == group) continue;
    if (l->others == room)
      l->other = reallocate(l->other, room = 2 * room + 64, sizeof *l->other,
                            "particles of groups");
    l->other[l->others++] = group;
  }
  if (l->others > 1) qsort(l->other, l->others, sizeof *l->other, compare_groups);
  for (uint32_t i = 0; i < l->others; i++)
    if (count == 0 || l->other[count - 1] != l->other[i]) l->other[count++] = l->other[i];
  l->others = count;
  l->below = particle_others_before(l, l->own_first);
}

size_t *particle_level_count(const struct particle_level *l, const struct particle_migration *m,
                             int level) {
  const uint32_t listed = particle_listed(l);
  size_t *first = allocate(listed + 1, sizeof *first, "particles of groups");
  for (size_t i = 0; i < m->count; i++)
    if (m->home[i].level == level) first[particle_place(l, m->home[i].group) + 1]++;
  for (uint32_t i = 0; i < listed; i++) first[i + 1] += first[i];
  return first;
}

struct particle_level migration_arrive(const struct particle_migration *m, int level) {
  const struct gas *g = m->gas;
  struct particle_level l = {.own_first = gas_first_group(g, level, comm_rank()),
                             .own_end = gas_first_group(g, level, comm_rank() + 1)};
  particle_level_list(&l, m, level);
  const uint32_t listed = particle_listed(&l);
  size_t *next = allocate(listed + 1, sizeof *next, "particles of groups");
  l.first = particle_level_count(&l, m, level);
  memcpy(next, l.first, (listed + 1) * sizeof *next);
  l.all = gas_shared_room(l.first[listed] * sizeof *l.all, "particles");
  for (size_t i = 0; i < m->count; i++)
    if (m->home[i].level == level)
      l.all[next[particle_place(&l, m->home[i].group)]++] = *m->particle[i];
  free(next);
  loop_run(&gas_settle_stage, listed, sort_group, &l);
  const size_t first = particle_first(&l, l.own_first);
  l.particle = l.all + first;
  l.count = particle_first(&l, l.own_end) - first;
  return l;
}

void migration_end(struct particle_migration *m) {
  free(m->particle);
  free(m->home);
  free(m->touched);
  free(m->received);
  *m = (struct particle_migration){0};
}

uint32_t particle_others_before(const struct particle_level *l, uint32_t group) {
  uint32_t low = 0, count = l->others;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (l->other[low + half] < group) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

starpu_data_handle_t particle_handle(const struct particle_level *l, uint32_t batch) {
  if (batch - l->begin < l->batches) return l->handle[batch - l->begin];
  for (uint32_t low = 0, end = l->copies; low < end;) {
    const uint32_t middle = low + (end - low) / 2;
    if (l->copy[middle].batch == batch) return l->copy[middle].handle;
    if (l->copy[middle].batch < batch)
      low = middle + 1;
    else
      end = middle;
  }
  return NULL;
}

size_t particle_batch_count(const struct particle_level *l, uint32_t batch) {
  const uint32_t first = batch * l->batch_groups;
  if (first < l->own_first || first >= l->own_end) return 0;
  const uint32_t left = l->own_end - first;
  return particle_first(l, first + (left < l->batch_groups ? left : l->batch_groups)) -
         particle_first(l, first);
}

void particle_level_free(struct particle_level *l) {
  for (uint32_t i = 0; i < l->batches; i++) handle_drop(&l->handle[i]); /* waits for their tasks */
  for (uint32_t i = 0; i < l->copies; i++) handle_drop(&l->copy[i].handle);
  handle_drop(&l->readers);
  gas_free_shared(l->all, (l->first ? l->first[particle_listed(l)] : l->count) * sizeof *l->all);
  free(l->handle);
  free(l->copy);
  free(l->other);
  free(l->key);
  free(l->first);
  gas_free_shared(l->sums, (l->own_end - l->own_first) * sizeof *l->sums);
  *l = (struct particle_level){0};
}
