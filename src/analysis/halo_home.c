/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos and their members, with each halo complete on one rank, its home. */
#include "halo_home.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"

/* On any thread. NOLINTBEGIN(readability-non-const-parameter): the check does not see that these write */
static uint64_t atomic_add_u64(uint64_t *to, uint64_t n) {
  return __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}
static void atomic_add_u32(uint32_t *to, uint32_t n) {
  __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}
static void atomic_min_u64(uint64_t *to, uint64_t value) {
  uint64_t now = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value < now &&
         !__atomic_compare_exchange_n(to, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}
/* NOLINTEND(readability-non-const-parameter) */

void halo_find_block(const struct particles *s, size_t i, struct particle_block *block) {
  if (i - block->first < block->count) return;
  *block = particles_block(s, block_containing(s->all, s->all_blocks, particles_first(s) + i) -
                                  s->first_block);
}

/** Consecutive particles of this rank, first .. end - 1, of one FoF group. */
struct run {
  size_t first, end;
};

/** Find the first run of particles first .. end - 1. Particles of a FoF group mostly follow each
 * other, so that tasks rarely meet at the numbers of one group. */
static struct run run_from(const struct fof *f, size_t first, size_t end) {
  struct run r = {first, first + 1};
  while (r.end < end && f->head[r.end] == f->head[first]) r.end++;
  return r;
}

enum { PARTS = 512 }; /* of the particles of this rank, one turn of a loop each */

static size_t part_first(const struct fof *f, uint32_t part) {
  return block_first(f->particles->count, PARTS, part);
}

/** Call a function for each run of a part. */
static void visit_runs(const struct fof *f, uint32_t part,
                       void (*visit)(void *context, const struct run *run), void *context) {
  const size_t begin = part_first(f, part), end = part_first(f, part + 1);
  struct run r = {begin, begin};
  while (r.end < end) {
    r = run_from(f, r.end, end);
    visit(context, &r);
  }
}

/** A FoF group that has members on this rank and its home on another. */
struct away {
  uint64_t label, count; /* count: members on this rank */
  int rank;              /* home of the FoF group */
  uint32_t head;         /* on this rank */
  bool is_halo;
};

struct away_list {
  struct away *list; /* in the order of ranks */
  size_t count;
};

static int compare_away(const void *a, const void *b) {
  const struct away *x = a, *y = b;
  return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                            : (x->label > y->label) - (x->label < y->label);
}

struct part_count {
  uint64_t label, count;
};

/** Sum up the members of FoF groups that span ranks.
 * @param size  [head] members on this rank; on return members of the whole FoF group at its home,
 *         else 0 */
static struct away_list count_spans(const struct fof *f, size_t min_members, uint32_t *size) {
  struct away_list away = {allocate(f->spans, sizeof *away.list, "FoF groups across ranks"), 0};
  size_t *send_count = exchange_counts(), *count_from = exchange_counts();
  for (size_t i = 0; i < f->spans; i++) {
    const struct fof_span *s = &f->span[i];
    const int rank = fof_rank_of_particle(f, s->label);
    if (rank == comm_rank()) continue;
    away.list[away.count++] = (struct away){s->label, size[s->head], rank, s->head, false};
    send_count[rank]++;
    size[s->head] = 0;
  }
  qsort(away.list, away.count, sizeof *away.list, compare_away);
  struct part_count *parts = allocate(away.count, sizeof *parts, "FoF groups across ranks");
  for (size_t i = 0; i < away.count; i++)
    parts[i] = (struct part_count){away.list[i].label, away.list[i].count};
  struct part_count *received = exchange_records(parts, sizeof *parts, send_count, count_from);
  const size_t receives = exchange_total(count_from);
  bool *is_halo = allocate(receives, sizeof *is_halo, "FoF groups across ranks");
  const uint64_t first = particles_first(f->particles);
  for (size_t i = 0; i < receives; i++) {
    /* at home the head is the FoF group's first particle */
    uint32_t *sum = &size[received[i].label - first];
    if (received[i].count > UINT32_MAX - *sum)
      fail(EXIT_RUN_FAILED, "friends of friends: a group of more than 2^32 particles");
    *sum += (uint32_t)received[i].count;
  }
  for (size_t i = 0; i < receives; i++) is_halo[i] = size[received[i].label - first] >= min_members;
  bool *answers = exchange_answers(is_halo, sizeof *is_halo, count_from, send_count);
  for (size_t i = 0; i < away.count; i++) away.list[i].is_halo = answers[i];
  free(answers);
  free(is_halo);
  free(received);
  free(parts);
  free(send_count);
  free(count_from);
  return away;
}

/** Halos by the particles that are their heads. */
struct heads {
  struct halo_home *home;
  size_t min_members;
  uint32_t *slot;  /* [head], as in list_halos() */
  uint32_t *first; /* [part] halos whose heads are in the part, then number of the first of them */
};

static bool is_head_of_halo(const struct heads *w, size_t i) {
  return w->slot[i] >= w->min_members && w->slot[i] > 0;
}

static void count_heads(void *context, uint32_t part) {
  const struct heads *w = context;
  const size_t end = part_first(w->home->fof, part + 1);
  for (size_t i = part_first(w->home->fof, part); i < end; i++)
    w->first[part] += is_head_of_halo(w, i);
}

static void list_heads(void *context, uint32_t part) {
  const struct heads *w = context;
  const size_t end = part_first(w->home->fof, part + 1);
  uint32_t next = w->first[part];
  for (size_t i = part_first(w->home->fof, part); i < end; i++) {
    if (!is_head_of_halo(w, i)) {
      w->slot[i] = 0;
      continue;
    }
    w->home->halo[next] = (struct halo){.count = w->slot[i], .first = i, .lowest_id = UINT64_MAX};
    w->slot[i] = ++next;
  }
}

/** List the halos whose home is this rank. On return slot[head] is the halo's number + 1, 0 for FoF
 * groups that are too small, and larger than any number here for halos whose home is elsewhere. */
static void list_halos(struct halo_home *home, size_t min_members, uint32_t *slot,
                       const struct away_list *away) {
  struct heads heads = {home, min_members, slot,
                        allocate(PARTS, sizeof *heads.first, "halos of parts")};
  loop_run(&halos_stage, PARTS, count_heads, &heads);
  for (uint32_t part = 0; part < PARTS; part++) {
    const uint32_t count = heads.first[part];
    heads.first[part] = (uint32_t)home->count;
    home->count += count;
  }
  home->halo = allocate(home->count, sizeof *home->halo, "halos");
  loop_run(&halos_stage, PARTS, list_heads, &heads);
  free(heads.first);
  for (size_t k = 0; k < away->count; k++)
    if (away->list[k].is_halo) slot[away->list[k].head] = (uint32_t)(home->count + 1 + k);
}

/** @param block  the particle's ORB group is stored here; on entry any ORB group of this rank, or
 *         an empty one */
static struct guest make_guest(const struct particles *s, uint64_t label, uint32_t i,
                               struct particle_block *block) {
  halo_find_block(s, i, block);
  const size_t at = i - block->first;
  return (struct guest){.label = label,
                        .id = s->id[i],
                        .x = {block->x[0][at], block->x[1][at], block->x[2][at]},
                        .p = {block->p[0][at], block->p[1][at], block->p[2][at]}};
}

/** Send members to the homes of their halos on other ranks (home->sent), and receive members of
 * halos whose home is this rank. */
static void exchange_guests(struct halo_home *home, const struct away_list *away) {
  size_t sends = 0, k = 0;
  for (size_t i = 0; i < away->count; i++)
    if (away->list[i].is_halo) {
      home->sent_to[away->list[i].rank] += away->list[i].count;
      sends += away->list[i].count;
    }
  struct guest *guests = allocate(sends, sizeof *guests, "halo members");
  struct particle_block block = {.count = 0};
  for (size_t i = 0; i < away->count; i++)
    for (uint64_t m = 0; away->list[i].is_halo && m < away->list[i].count; m++, k++)
      guests[k] = make_guest(home->fof->particles, away->list[i].label, home->sent[k], &block);
  home->guest = exchange_records(guests, sizeof *guests, home->sent_to, home->guests_from);
  free(guests);
}

/** What tasks know that look through the particles. Their order changes neither sums nor lowest ids.
 * It changes the order of members in their lists, which are sorted later. */
struct search {
  struct halo_home *home;
  uint32_t *slot; /* [head] */
  uint64_t *next; /* [list] where the next member is stored */
};

static void count_run(void *context, const struct run *run) {
  const struct search *s = context;
  atomic_add_u32(&s->slot[s->home->fof->head[run->first]], (uint32_t)(run->end - run->first));
}
static void count_part(void *context, uint32_t part) {
  const struct search *s = context;
  visit_runs(s->home->fof, part, count_run, context);
}

/** Store a run in one of the lists in @p list. */
static void list_run(const struct search *s, const struct run *run, size_t number, uint32_t *list) {
  uint64_t at = atomic_add_u64(&s->next[number], run->end - run->first);
  for (size_t i = run->first; i < run->end; i++) list[at++] = (uint32_t)i;
}

static void look_at_run(void *context, const struct run *run) {
  const struct search *s = context;
  const uint32_t number = s->slot[s->home->fof->head[run->first]];
  if (number == 0) return;
  if (number > s->home->count) {
    list_run(s, run, number - s->home->count - 1, s->home->sent);
    return;
  }
  const uint64_t *id = s->home->fof->particles->id;
  uint64_t lowest = UINT64_MAX;
  for (size_t i = run->first; i < run->end; i++) lowest = id[i] < lowest ? id[i] : lowest;
  atomic_min_u64(&s->home->halo[number - 1].lowest_id, lowest);
}
static void look_at_part(void *context, uint32_t part) {
  const struct search *s = context;
  visit_runs(s->home->fof, part, look_at_run, context);
}

/** List the members whose halos are elsewhere by these halos, and find the lowest ids of the halos
 * at home here. */
static void look_through(struct search *s, const struct away_list *away) {
  struct halo_home *home = s->home;
  uint64_t sends = 0;
  s->next = allocate(away->count, sizeof *s->next, "halo members");
  for (size_t k = 0; k < away->count; k++) {
    s->next[k] = sends;
    sends += away->list[k].is_halo ? away->list[k].count : 0;
  }
  home->sent = allocate(sends, sizeof *home->sent, "halo members");
  loop_run(&halos_stage, PARTS, look_at_part, s);
  free(s->next);
}

static void take_run(void *context, const struct run *run) {
  const struct search *s = context;
  const uint32_t number = s->slot[s->home->fof->head[run->first]];
  if (number > 0 && number <= s->home->count) list_run(s, run, number - 1, s->home->member);
}
static void take_part(void *context, uint32_t part) {
  const struct search *s = context;
  visit_runs(s->home->fof, part, take_run, context);
}

/** Bring the halos into the order of halo_compare(). */
static void sort_halos(struct halo_home *home) {
  struct halo *sorted = halo_sorted(home->count, home->halo, NULL);
  free(home->halo);
  home->halo = sorted;
}

size_t halo_first_of_part(const struct halo_home *home, uint32_t part, uint32_t parts) {
  size_t low = 0, high = home->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (home->halo[middle].first * parts / home->members < part)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct halo_home halo_home_create(const struct fof *f, size_t min_members) {
  const struct particles *s = f->particles;
  struct halo_home home = {
      .fof = f, .guests_from = exchange_counts(), .sent_to = exchange_counts()};
  uint32_t *slot = allocate(s->count, sizeof *slot, "halo numbers");
  struct search search = {&home, slot, NULL};
  loop_run(&halos_stage, PARTS, count_part, &search);
  struct away_list away = count_spans(f, min_members, slot);
  list_halos(&home, min_members, slot, &away);
  look_through(&search, &away);
  exchange_guests(&home, &away);
  free(away.list);

  const uint64_t first = particles_first(s);
  const size_t guests = exchange_total(home.guests_from);
  if (s->count + guests > UINT32_MAX)
    fail(EXIT_RUN_FAILED,
         "halos: %zu particles and %zu members received are more than 2^32 on one rank", s->count,
         guests);
  for (size_t i = 0; i < guests; i++) {
    struct halo *h = &home.halo[slot[home.guest[i].label - first] - 1];
    if (home.guest[i].id < h->lowest_id) h->lowest_id = home.guest[i].id;
  }
  sort_halos(&home);
  uint64_t *next = allocate(home.count, sizeof *next, "halo members");
  for (size_t h = 0; h < home.count; h++) {
    slot[home.halo[h].first] = (uint32_t)h + 1; /* `first` still holds the head here */
    next[h] = home.halo[h].first = home.members;
    home.members += home.halo[h].count;
  }
  home.member = allocate(home.members, sizeof *home.member, "halo members");
  search.next = next;
  loop_run(&halos_stage, PARTS, take_part, &search);
  for (size_t i = 0; i < guests; i++)
    home.member[next[slot[home.guest[i].label - first] - 1]++] = (uint32_t)(s->count + i);
  free(next);
  free(slot);
  return home;
}

void halo_home_free(struct halo_home *home) {
  free(home->halo);
  free(home->member);
  free(home->subhalo);
  free(home->guest);
  free(home->guests_from);
  free(home->sent);
  free(home->sent_to);
}
