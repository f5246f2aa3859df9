/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos and their members, with each halo complete on one rank, its home. */
#include "halo_home.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "src/base/exchange.h"

int halo_compare(const void *a, const void *b) {
  const struct halo *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return (x->lowest_id > y->lowest_id) - (x->lowest_id < y->lowest_id);
}

void halo_find_block(const struct particles *s, size_t i, struct particle_block *block) {
  if (i - block->first < block->count) return;
  *block = particles_block(s, block_containing(s->all, s->all_blocks, particles_first(s) + i) -
                                  s->first_block);
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

/** List the halos whose home is this rank. On return slot[head] is the halo's number + 1, 0 for FoF
 * groups that are too small, and larger than any number here for halos whose home is elsewhere. */
static void list_halos(struct halo_home *home, size_t min_members, uint32_t *slot,
                       const struct away_list *away) {
  const size_t n = home->fof->particles->count;
  for (size_t i = 0; i < n; i++) home->count += slot[i] >= min_members && slot[i] > 0;
  home->halo = allocate(home->count, sizeof *home->halo, "halos");
  uint32_t next = 0;
  for (size_t i = 0; i < n; i++) {
    if (slot[i] < min_members || slot[i] == 0) {
      slot[i] = 0;
      continue;
    }
    home->halo[next] = (struct halo){.count = slot[i], .first = i, .lowest_id = UINT64_MAX};
    slot[i] = ++next;
  }
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

/** Sort the members whose halos are elsewhere by the list, and find the lowest ids of the halos at
 * home here. */
static void look_through(struct halo_home *home, const uint32_t *slot,
                         const struct away_list *away) {
  const struct particles *s = home->fof->particles;
  uint64_t *next = allocate(away->count, sizeof *next, "halo members"), sends = 0;
  for (size_t k = 0; k < away->count; k++) {
    next[k] = sends;
    sends += away->list[k].is_halo ? away->list[k].count : 0;
  }
  home->sent = allocate(sends, sizeof *home->sent, "halo members");
  for (size_t i = 0; i < s->count; i++) {
    const uint32_t number = slot[home->fof->head[i]];
    if (number == 0) continue;
    if (number > home->count) {
      home->sent[next[number - home->count - 1]++] = (uint32_t)i;
      continue;
    }
    struct halo *h = &home->halo[number - 1];
    if (s->id[i] < h->lowest_id) h->lowest_id = s->id[i];
  }
  free(next);
}

struct halo_home halo_home_create(const struct fof *f, size_t min_members) {
  const struct particles *s = f->particles;
  struct halo_home home = {
      .fof = f, .guests_from = exchange_counts(), .sent_to = exchange_counts()};
  uint32_t *slot = allocate(s->count, sizeof *slot, "halo numbers");
  for (size_t i = 0; i < s->count; i++) slot[f->head[i]]++;
  struct away_list away = count_spans(f, min_members, slot);
  list_halos(&home, min_members, slot, &away);
  look_through(&home, slot, &away);
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
  qsort(home.halo, home.count, sizeof *home.halo, halo_compare);
  uint64_t *next = allocate(home.count, sizeof *next, "halo members");
  for (size_t h = 0; h < home.count; h++) {
    slot[home.halo[h].first] = (uint32_t)h + 1; /* `first` still holds the head here */
    next[h] = home.halo[h].first = home.members;
    home.members += home.halo[h].count;
  }
  home.member = allocate(home.members, sizeof *home.member, "halo members");
  for (size_t i = 0; i < s->count; i++) {
    const uint32_t number = slot[f->head[i]];
    if (number > 0 && number <= home.count) home.member[next[number - 1]++] = (uint32_t)i;
  }
  for (size_t i = 0; i < guests; i++)
    home.member[next[slot[home.guest[i].label - first] - 1]++] = (uint32_t)(s->count + i);
  free(next);
  free(slot);
  return home;
}

void halo_home_free(struct halo_home *home) {
  free(home->halo);
  free(home->member);
  free(home->guest);
  free(home->guests_from);
  free(home->sent);
  free(home->sent_to);
}
