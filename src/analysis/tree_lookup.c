/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles are found by their ids in a table. Each rank has the part of the table with the ids that
 * a hash assigns to the rank. The table has the particles that are asked for, which are fewer than
 * the members of all objects. */
#include "tree_lookup.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "halo_home.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"

static const char what[] = "links of merger trees";
enum {
  MEMBERS_SENT = 1 << 20, /* by a rank at a time */
  NOTED = 1 << 14,        /* members or ids of a part of a loop */
  AHEAD = 16              /* of these between one and that whose slot is fetched */
};

/** 64 well mixed bits of an id: Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4). */
static uint64_t hash(uint64_t id) { return (id ^ id >> 32) * UINT64_C(0x9e3779b97f4a7c15); }

/** The rank whose part of the table has an id: the upper bits of its hash. */
static uint32_t rank_of_id(uint64_t id) {
  return (uint32_t)((unsigned __int128)hash(id) * (unsigned)comm_size() >> 64);
}

/** An id that is asked for. */
struct slot {
  uint64_t id;
  _Atomic uint64_t state; /* one of these, or FOUND + n: it is a member of object n */
};
enum { FREE, CLAIMED, ASKED, FOUND }; /* CLAIMED: another worker is about to store the id */

/** The ids that are asked for on any rank, and what is found: open addressing. All workers fill it. Which slot an id
 * has depends on them, what is found does not. */
struct table {
  size_t mask; /* slots - 1, a power of two of them */
  struct slot *slot;
};

static struct table table_create(size_t count) {
  size_t slots = 2;
  while (slots < 2 * count) slots *= 2;
  return (struct table){slots - 1, allocate_large(slots, sizeof(struct slot), what)};
}

/** Take a free slot for an id. @return the state of the slot: CLAIMED, by this worker; or what another one made of it */
static uint64_t claim(struct slot *s, uint64_t id) {
  uint64_t state = FREE;
  if (!atomic_compare_exchange_strong(&s->state, &state, CLAIMED)) return state;
  s->id = id;
  atomic_store_explicit(&s->state, ASKED, memory_order_release);
  return ASKED;
}

/** Where the slot of an id is looked for first. The ranks have used the upper bits of the hash. */
static size_t first_slot(const struct table *t, uint64_t id) {
  return (size_t)(hash(id) * UINT64_C(0xd1342543de82ef95) >> 20) & t->mask;
}

/** Fetch from memory what will be looked for soon: slots are far from each other. */
static void fetch_slot(const struct table *t, uint64_t id) {
  __builtin_prefetch(&t->slot[first_slot(t, id)]);
}

/** The slot of an id; NULL: nobody asks for it.
 * @param add  take a free one */
static struct slot *table_slot(const struct table *t, uint64_t id, bool add) {
  for (size_t i = first_slot(t, id);; i++) {
    struct slot *s = &t->slot[i & t->mask];
    uint64_t state = atomic_load_explicit(&s->state, memory_order_acquire);
    if (state == FREE && !add) return NULL;
    if (state == FREE) state = claim(s, id);
    while (state == CLAIMED) state = atomic_load_explicit(&s->state, memory_order_acquire);
    if (s->id == id) return s;
  }
}

/** Questions to the ranks that know the answers. */
struct questions {
  size_t *send, *receive; /* [rank] */
  size_t *place;          /* [question] of its answer */
  uint64_t *received;     /* from all ranks */
};

/** @param rank  [count] that each question is for */
static struct questions ask(size_t count, const uint64_t *question, const uint32_t *rank) {
  struct questions q = {.send = exchange_counts(),
                        .receive = exchange_counts(),
                        .place = allocate(count, sizeof *q.place, what)};
  q.received = exchange_scattered(question, sizeof *question, count, rank, q.place, q.send,
                                  q.receive);
  return q;
}

/** Send answers, which stand in the place of the questions received, and free the questions.
 * @return [count] the answers to this rank's questions */
static uint64_t *answer(struct questions *q, size_t count) {
  uint64_t *back = exchange_answers(q->received, sizeof *back, q->receive, q->send);
  uint64_t *answers = allocate(count, sizeof *answers, what);
  for (size_t i = 0; i < count; i++) answers[i] = back[q->place[i]];
  free(back);
  free(q->received);
  free(q->place);
  free(q->send);
  free(q->receive);
  return answers;
}

static struct questions ask_for_particles(size_t count, const uint64_t *id) {
  uint32_t *rank = allocate(count, sizeof *rank, what);
  for (size_t i = 0; i < count; i++) rank[i] = rank_of_id(id[i]);
  const struct questions q = ask(count, id, rank);
  free(rank);
  return q;
}

/** Call a function for parts of n things on all workers. */
static void visit_parts(size_t n, void (*visit)(void *context, uint32_t part), void *context) {
  loop_run(&halos_stage, (uint32_t)((n + NOTED - 1) / NOTED), visit, context);
}

static size_t part_end(size_t n, uint32_t part) {
  const size_t end = ((size_t)part + 1) * NOTED;
  return end < n ? end : n;
}

/** Members whose objects are noted in a table. */
struct noting {
  const struct table *table;
  const struct tree_member *member;
  size_t count;
};

/** Each member is in one object and has a slot of its own. */
static void note_part(void *context, uint32_t part) {
  const struct noting *n = context;
  const size_t end = part_end(n->count, part);
  for (size_t i = (size_t)part * NOTED; i < end; i++) {
    if (i + AHEAD < end) fetch_slot(n->table, n->member[i + AHEAD].id);
    struct slot *s = table_slot(n->table, n->member[i].id, false);
    if (s) atomic_store_explicit(&s->state, FOUND + n->member[i].object, memory_order_relaxed);
  }
}

static void note_members(const struct table *t, const struct tree_member *member, size_t count) {
  visit_parts(count, note_part, &(struct noting){t, member, count});
}

/** Note the objects of some members, if these are asked for. Members go to the ranks of their ids. */
static void find_some(const struct table *t, const struct tree_member *member, size_t count) {
  size_t *send = exchange_counts(), *receive = exchange_counts();
  uint32_t *rank = allocate(count, sizeof *rank, what);
  for (size_t i = 0; i < count; i++) rank[i] = rank_of_id(member[i].id);
  struct tree_member *received = exchange_scattered(member, sizeof *member, count, rank, NULL, send,
                                                    receive);
  note_members(t, received, exchange_total(receive));
  free(received);
  free(rank);
  free(send);
  free(receive);
}

/** The same for all members, in pieces: copies of all of them would take much memory. */
static void find_all(const struct table *t, const struct tree_objects *o) {
  if (comm_size() == 1) {
    note_members(t, o->member, o->members);
    return;
  }
  double pieces = ceil((double)o->members / MEMBERS_SENT);
  comm_max_double(&pieces, 1);
  for (size_t k = 0; k < (size_t)pieces; k++) {
    const size_t first = block_first(o->members, (size_t)pieces, k);
    find_some(t, o->member + first, block_first(o->members, (size_t)pieces, k + 1) - first);
  }
}

/** Ids that are asked for, and in their place the answers. */
struct asking {
  const struct table *table;
  uint64_t *id;
  size_t count;
};

static void add_part(void *context, uint32_t part) {
  const struct asking *a = context;
  const size_t end = part_end(a->count, part);
  for (size_t i = (size_t)part * NOTED; i < end; i++) {
    if (i + AHEAD < end) fetch_slot(a->table, a->id[i + AHEAD]);
    table_slot(a->table, a->id[i], true);
  }
}

static void answer_part(void *context, uint32_t part) {
  const struct asking *a = context;
  const size_t end = part_end(a->count, part);
  for (size_t i = (size_t)part * NOTED; i < end; i++) {
    if (i + AHEAD < end) fetch_slot(a->table, a->id[i + AHEAD]);
    const struct slot *s = table_slot(a->table, a->id[i], false);
    const uint64_t state = atomic_load_explicit(&s->state, memory_order_relaxed);
    a->id[i] = state >= FOUND ? state - FOUND : TREE_NONE;
  }
}

/** Replace ids by the objects that have them. */
static void look_up(const struct tree_objects *o, struct asking asking) {
  const struct table t = table_create(asking.count);
  asking.table = &t;
  visit_parts(asking.count, add_part, &asking);
  find_all(&t, o);
  visit_parts(asking.count, answer_part, &asking);
  free(t.slot);
}

uint64_t *tree_lookup(const struct tree_objects *o, size_t count, uint64_t *id) {
  if (comm_size() == 1) {
    look_up(o, (struct asking){.id = id, .count = count});
    return id;
  }
  struct questions q = ask_for_particles(count, id);
  free(id);
  look_up(o, (struct asking){.id = q.received, .count = exchange_total(q.receive)});
  return answer(&q, count);
}

uint64_t *tree_fetch(size_t all, const uint64_t *mine, size_t count, const uint64_t *index) {
  const size_t ranks = (size_t)comm_size(), first = comm_first(all, comm_rank());
  uint32_t *rank = allocate(count, sizeof *rank, what);
  for (size_t i = 0; i < count; i++)
    rank[i] = index[i] == TREE_NONE ? 0 : (uint32_t)block_containing(all, ranks, index[i]);
  struct questions q = ask(count, index, rank);
  const size_t asked = exchange_total(q.receive);
  for (size_t i = 0; i < asked; i++)
    if (q.received[i] != TREE_NONE) q.received[i] = mine[q.received[i] - first];
  free(rank);
  return answer(&q, count);
}
