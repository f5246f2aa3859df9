/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the catalogue. No rank holds the whole catalogue: halos are distributed by size
 * (sample sort) and numbered, and every rank learns the rows of its particles. */
#include <stdlib.h>

#include "halo_home.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "src/base/exchange.h"

enum { SAMPLES = 64 }; /* halos of each home that determine where ranks begin */

/** A halo of a home, and the number of halos that it represents; 0: unused. */
struct sample {
  struct halo halo;
  uint64_t weight;
};

static int compare_samples(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  if ((x->weight == 0) != (y->weight == 0)) return x->weight == 0 ? 1 : -1;
  return halo_compare(&x->halo, &y->halo);
}

/** How many halos of this home go to each rank. */
static void choose_processes(const struct halo_home *home, size_t *send_count) {
  const size_t ranks = (size_t)comm_size();
  size_t most = home->count;
  if (most > SAMPLES) most = SAMPLES;
  struct sample mine[SAMPLES] = {{.weight = 0}};
  for (size_t i = 0; i < most; i++) {
    const size_t first = block_first(home->count, most, i);
    mine[i] = (struct sample){home->halo[first], block_first(home->count, most, i + 1) - first};
  }
  struct sample *all = allocate(ranks, sizeof mine, "the order of halos");
  comm_gather_all(mine, sizeof mine, all);
  qsort(all, SAMPLES * ranks, sizeof *all, compare_samples);
  uint64_t sum = 0, before = 0;
  for (size_t i = 0; i < SAMPLES * ranks; i++) sum += all[i].weight;
  size_t next = 0, to = 0;
  for (size_t i = 0; i < SAMPLES * ranks && all[i].weight > 0; before += all[i++].weight) {
    for (; next < home->count && halo_compare(&home->halo[next], &all[i].halo) < 0; next++)
      send_count[to]++;
    /* rank 0 for the first, the largest halo of the run */
    to = (size_t)((unsigned __int128)before * ranks / sum);
  }
  send_count[to] += home->count - next;
  free(all);
}

/** A halo on its way to its place, and its place among the halos received. */
struct placed {
  struct halo halo;
  size_t from;
};

/** Bring the subhalos of the homes to where their halos are placed.
 * @param halos_to  [rank] halos that it receives from this home
 * @param placed    halos of this rank in the order of the catalogue */
static void order_subhalos(struct halo_catalogue *c, const struct halo_home *home,
                           const size_t *halos_to, const struct placed *placed) {
  size_t *send_count = exchange_counts(), *count_from = exchange_counts(), h = 0;
  for (int r = 0; r < comm_size(); r++)
    for (const size_t end = h + halos_to[r]; h < end; h++) send_count[r] += home->halo[h].subhalos;
  struct subhalo *received = exchange_records(home->subhalo, sizeof *received, send_count,
                                              count_from);
  c->subhalos = exchange_total(count_from);
  c->subhalo = allocate(c->subhalos, sizeof *c->subhalo, "subhalos");
  c->first_subhalo = comm_sum_before(c->subhalos);
  uint64_t all = c->subhalos;
  comm_sum_u64(&all, 1);
  c->all_subhalos = all;
  size_t *begin = allocate(c->count + 1, sizeof *begin, "subhalos"); /* [received halo] */
  for (size_t i = 0; i < c->count; i++) begin[placed[i].from + 1] = placed[i].halo.subhalos;
  for (size_t i = 0; i < c->count; i++) begin[i + 1] += begin[i];
  size_t next = 0;
  for (size_t i = 0; i < c->count; i++) {
    c->halo[i].first_subhalo = c->first_subhalo + next;
    for (size_t k = 0; k < c->halo[i].subhalos; k++, next++) {
      c->subhalo[next] = received[begin[placed[i].from] + k];
      c->subhalo[next].first += c->halo[i].first;
      c->subhalo[next].halo = c->first_halo + i;
    }
  }
  free(begin);
  free(received);
  free(count_from);
  free(send_count);
}

/** Fill the catalogue's halos and subhalos. @return first row of each halo of the home */
static uint64_t *order_halos(struct halo_catalogue *c, const struct halo_home *home) {
  size_t *send_count = exchange_counts(), *count_from = exchange_counts();
  choose_processes(home, send_count);
  struct halo *received = exchange_records(home->halo, sizeof *received, send_count, count_from);
  c->count = exchange_total(count_from);
  struct placed *placed = allocate(c->count, sizeof *placed, "the order of halos");
  for (size_t i = 0; i < c->count; i++) placed[i] = (struct placed){received[i], i};
  /* the comparison reads the halo, which is the first member */
  qsort(placed, c->count, sizeof *placed, halo_compare);
  c->halo = received;
  uint64_t members = 0, *first = allocate(c->count, sizeof *first, "the order of halos");
  for (size_t i = 0; i < c->count; i++) members += placed[i].halo.count;
  uint64_t totals[2] = {c->count, members}, row = comm_sum_before(members);
  for (size_t i = 0; i < c->count; i++) {
    c->halo[i] = placed[i].halo;
    c->halo[i].first = first[placed[i].from] = row;
    row += c->halo[i].count;
  }
  c->first_halo = comm_sum_before(c->count);
  comm_sum_u64(totals, 2);
  c->all = totals[0];
  c->all_members = totals[1];
  order_subhalos(c, home, send_count, placed);
  uint64_t *first_row = exchange_answers(first, sizeof *first, count_from, send_count);
  free(first);
  free(placed);
  free(send_count);
  free(count_from);
  return first_row;
}

/** A particle in a halo whose home is another rank. */
struct sent_member {
  uint64_t row;
  uint32_t particle;
};

static int compare_rows(const void *a, const void *b) {
  const struct sent_member *x = a, *y = b;
  return (x->row > y->row) - (x->row < y->row);
}

/** Ask the homes for the rows of the particles that were sent to them. */
static struct sent_member *rows_of_sent(const struct halo_home *home, const uint64_t *first_row) {
  const size_t count = home->fof->particles->count, sends = exchange_total(home->sent_to);
  uint64_t *guest_row = allocate(exchange_total(home->guests_from), sizeof *guest_row,
                                 "the order of halo members");
  for (size_t h = 0; h < home->count; h++)
    for (uint64_t k = 0; k < home->halo[h].count; k++) {
      const uint32_t member = home->member[home->halo[h].first + k];
      if (member >= count) guest_row[member - count] = first_row[h] + k;
    }
  uint64_t *row = exchange_answers(guest_row, sizeof *row, home->guests_from, home->sent_to);
  struct sent_member *sent = allocate(sends, sizeof *sent, "the order of halo members");
  for (size_t i = 0; i < sends; i++) sent[i] = (struct sent_member){row[i], home->sent[i]};
  qsort(sent, sends, sizeof *sent, compare_rows);
  free(row);
  free(guest_row);
  return sent;
}

void halo_number(struct halo_catalogue *c, const struct halo_home *home) {
  const size_t count = home->fof->particles->count, sends = exchange_total(home->sent_to);
  uint64_t *first_row = order_halos(c, home);
  struct sent_member *sent = rows_of_sent(home, first_row);
  const size_t most = home->members - exchange_total(home->guests_from) + sends;
  c->member = allocate(most, sizeof *c->member, "halo members");
  c->row = allocate(most, sizeof *c->row, "halo members");
  size_t next = 0;                            /* index of the next particle sent */
  for (size_t h = 0; h <= home->count; h++) { /* the halos of a home have the order of the
                                                 catalogue, so that both lists can be merged */
    for (; next < sends && (h == home->count || sent[next].row < first_row[h]); next++) {
      c->member[c->members] = sent[next].particle;
      c->row[c->members++] = sent[next].row;
    }
    for (uint64_t k = 0; h < home->count && k < home->halo[h].count; k++) {
      const uint32_t member = home->member[home->halo[h].first + k];
      if (member >= count) continue;
      c->member[c->members] = member;
      c->row[c->members++] = first_row[h] + k;
    }
  }
  free(sent);
  free(first_row);
}
