/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos and their members, with each halo complete on one rank, its home. */
#include "halo_home.h"

#include <stdlib.h>

#include "halo_members.h"

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
/* NOLINTEND(readability-non-const-parameter) */

enum { PARTS = 512 }; /* of the particles of this rank, one turn of a loop each */

static size_t part_first(const struct fof *f, uint32_t part) {
  return block_first(f->particles->count, PARTS, part);
}

/** The end of the run of particles of one FoF group that begins with a particle. Particles of a FoF group mostly follow
 * each other, so that tasks rarely meet at the numbers of one group. */
static size_t run_end(const struct fof *f, size_t first, size_t end) {
  const uint32_t head = f->head[first];
  while (++first < end && f->head[first] == head) {}
  return first;
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

/** No number of other members: the FoF group has its home on another rank. */
#define AWAY UINT32_MAX

/** Sum up the members of FoF groups that span ranks.
 * @param others  [head] members on this rank but the head; on return members of the whole FoF group but one at its
 *         home, else AWAY */
static struct away_list count_spans(const struct fof *f, size_t min_members, uint32_t *others) {
  struct away_list away = {allocate(f->spans, sizeof *away.list, "FoF groups across ranks"), 0};
  size_t *send_count = exchange_counts(), *count_from = exchange_counts();
  for (size_t i = 0; i < f->spans; i++) {
    const struct fof_span *s = &f->span[i];
    const int rank = fof_rank_of_particle(f, s->label);
    if (rank == comm_rank()) continue;
    away.list[away.count++] = (struct away){s->label, (uint64_t)others[s->head] + 1, rank, s->head,
                                            false};
    send_count[rank]++;
    others[s->head] = AWAY;
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
    uint32_t *sum = &others[received[i].label - first];
    if (received[i].count >= AWAY - *sum)
      fail(EXIT_RUN_FAILED, "friends of friends: a group of more than 2^32 particles");
    *sum += (uint32_t)received[i].count;
  }
  for (size_t i = 0; i < receives; i++)
    is_halo[i] = (size_t)others[received[i].label - first] + 1 >= min_members;
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

/** Halos on their way into a list: `lowest_id` and `place` of the keys are set later. */
struct search {
  struct halo_home *home;
  size_t min_members;
  uint32_t *slot;            /* [head] other members; after list_halos(), of halos, their number */
  uint32_t *heads[PARTS];    /* of halos in the part */
  uint32_t first[PARTS + 1]; /* halos whose heads are in lower parts */
  struct halo_key *key;      /* [halo] by rising head */
  uint64_t *next;            /* [halo, halo elsewhere] where in a list the next member is stored */
};

/** Count the members of FoF groups but their heads. */
static void count_part(void *context, uint32_t part) {
  const struct search *s = context;
  const struct fof *f = s->home->fof;
  const size_t end = part_first(f, part + 1);
  for (size_t i = part_first(f, part); i < end;) {
    const size_t first = f->head[i] == i ? i + 1 : i;
    i = first < end && f->head[first] == f->head[i] ? run_end(f, first, end) : first;
    if (i > first) atomic_add_u32(&s->slot[f->head[first]], (uint32_t)(i - first));
  }
}

static bool is_head_of_halo(const struct search *s, size_t i) {
  return (size_t)s->slot[i] + 1 >= s->min_members && s->slot[i] != AWAY &&
         s->home->fof->head[i] == i;
}

static void find_heads(void *context, uint32_t part) {
  struct search *s = context;
  const size_t end = part_first(s->home->fof, part + 1);
  size_t room = 0, count = 0;
  for (size_t i = part_first(s->home->fof, part); i < end; i++) {
    if (!is_head_of_halo(s, i)) continue;
    if (count == room) {
      room = 2 * room + 64;
      s->heads[part] = reallocate(s->heads[part], room, sizeof *s->heads[part], "halos");
    }
    s->heads[part][count++] = (uint32_t)i;
  }
  s->first[part + 1] = (uint32_t)count;
}

/** The slot of the head of a halo: smaller ones are those of FoF groups that are no halos. */
static uint32_t slot_of(const struct search *s, size_t number) {
  return (uint32_t)(s->min_members - 1 + number);
}

/** The halo of a particle. @return false: it is in none */
static bool find_number(const struct search *s, size_t i, size_t *number) {
  const size_t slot = s->slot[s->home->fof->head[i]], first = s->min_members - 1;
  *number = slot - first;
  return slot >= first && slot != AWAY;
}

static void list_heads(void *context, uint32_t part) {
  const struct search *s = context;
  const uint32_t *head = s->heads[part];
  for (size_t next = s->first[part]; next < s->first[part + 1]; next++, head++) {
    s->key[next] = (struct halo_key){(uint64_t)s->slot[*head] + 1, UINT64_MAX, 0};
    s->slot[*head] = slot_of(s, next);
  }
  free(s->heads[part]);
}

/** List the halos whose home is this rank. The numbers of halos whose home is elsewhere are larger. */
static void list_halos(struct search *s, const struct away_list *away) {
  struct halo_home *home = s->home;
  loop_run(&halos_stage, PARTS, find_heads, s);
  for (uint32_t part = 0; part < PARTS; part++) s->first[part + 1] += s->first[part];
  home->count = s->first[PARTS];
  s->key = reallocate(NULL, home->count, sizeof *s->key, "halos");
  loop_run(&halos_stage, PARTS, list_heads, s);
  for (size_t k = 0; k < away->count; k++)
    if (away->list[k].is_halo) s->slot[away->list[k].head] = slot_of(s, home->count + k);
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

static void take_part(void *context, uint32_t part) {
  const struct search *s = context;
  const struct fof *f = s->home->fof;
  const size_t end = part_first(f, part + 1);
  for (size_t i = part_first(f, part); i < end;) {
    size_t number;
    if (!find_number(s, i, &number)) {
      i++;
      continue;
    }
    const size_t last = run_end(f, i, end);
    uint32_t *list = number < s->home->count ? s->home->member : s->home->sent;
    uint64_t at = atomic_add_u64(&s->next[number], last - i);
    for (; i < last; i++) list[at++] = (uint32_t)i;
  }
}

/** List the members of halos, at home here or elsewhere. Tasks do so in any order. */
static void list_members(struct search *s, const struct away_list *away) {
  struct halo_home *home = s->home;
  uint64_t sends = 0;
  s->next = reallocate(NULL, home->count + away->count, sizeof *s->next, "halo members");
  for (size_t h = 0; h < home->count; h++) {
    s->key[h].place = s->next[h] = home->members;
    home->members += s->key[h].count;
  }
  for (size_t k = 0; k < away->count; k++) {
    s->next[home->count + k] = sends;
    sends += away->list[k].is_halo ? away->list[k].count : 0;
  }
  home->member = allocate_large(home->members, sizeof *home->member, "halo members");
  home->sent = allocate(sends, sizeof *home->sent, "halo members");
  loop_run(&halos_stage, PARTS, take_part, s);
}

/** Add the members on other ranks to the lists. */
static void list_guests(const struct search *s) {
  const struct particles *p = s->home->fof->particles;
  const size_t guests = exchange_total(s->home->guests_from);
  if (p->count + guests > UINT32_MAX)
    fail(EXIT_RUN_FAILED,
         "halos: %zu particles and %zu members received are more than 2^32 on one rank", p->count,
         guests);
  for (size_t i = 0; i < guests; i++) {
    size_t number;
    if (find_number(s, s->home->guest[i].label - particles_first(p), &number))
      s->home->member[s->next[number]++] = (uint32_t)(p->count + i);
  }
}

static void find_lowest_ids(void *context, uint32_t part) {
  const struct search *s = context;
  const size_t end = block_first(s->home->count, PARTS, (size_t)part + 1);
  for (size_t h = block_first(s->home->count, PARTS, part); h < end; h++)
    for (uint64_t k = 0; k < s->key[h].count; k++) {
      const uint64_t id = halo_member_id(s->home, s->home->member[s->key[h].place + k]);
      if (id < s->key[h].lowest_id) s->key[h].lowest_id = id;
    }
}

static void make_halos(void *context, uint32_t part) {
  const struct search *s = context;
  const size_t end = block_first(s->home->count, PARTS, (size_t)part + 1);
  for (size_t h = block_first(s->home->count, PARTS, part); h < end; h++) {
    const struct halo_key *key = &s->key[h];
    s->home->place[h] = key->place;
    s->home->halo[h] = (struct halo){
        .first = key->place, .count = key->count, .lowest_id = key->lowest_id};
  }
}

/** Make the halos, in the order of halo_compare(). */
static void sort_halos(struct search *s) {
  struct halo_home *home = s->home;
  s->key = halo_keys_sorted(home->count, s->key);
  home->halo = allocate_large(home->count, sizeof *home->halo, "halos");
  home->place = reallocate(NULL, home->count, sizeof *home->place, "halos");
  home->before = reallocate(NULL, home->count + 1, sizeof *home->before, "halos");
  home->before[0] = 0;
  for (size_t h = 0; h < home->count; h++) home->before[h + 1] = home->before[h] + s->key[h].count;
  loop_run(&halos_stage, PARTS, make_halos, s);
}

size_t halo_first_of_part(const struct halo_home *home, uint32_t part, uint32_t parts) {
  size_t low = 0, high = home->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (home->before[middle] * parts / home->members < part)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct halo_home halo_home_create(const struct fof *f, size_t min_members) {
  struct halo_home home = {
      .fof = f, .guests_from = exchange_counts(), .sent_to = exchange_counts()};
  struct search search = {
      .home = &home,
      .min_members = min_members,
      .slot = allocate_large(f->particles->count, sizeof *search.slot, "halo numbers")};
  loop_run(&halos_stage, PARTS, count_part, &search);
  struct away_list away = count_spans(f, min_members, search.slot);
  list_halos(&search, &away);
  list_members(&search, &away);
  exchange_guests(&home, &away);
  list_guests(&search);
  loop_run(&halos_stage, PARTS, find_lowest_ids, &search);
  sort_halos(&search);
  free(search.key);
  free(search.next);
  free(search.slot);
  free(away.list);
  return home;
}

void halo_home_free(struct halo_home *home) {
  free(home->halo);
  free(home->before);
  free(home->place);
  free(home->member);
  free(home->subhalo);
  free(home->guest);
  free(home->guests_from);
  free(home->sent);
  free(home->sent_to);
}
