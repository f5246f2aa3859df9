/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the catalogue. No rank holds the whole catalogue: halos are distributed by size
 * (sample sort) and numbered, and every rank learns the rows of its particles. */
#include <stdlib.h>

#include "halo_home.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"

enum {
  SAMPLES = 64, /* halos of each home that determine where ranks begin */
  PARTS = 256   /* of a loop over the halos of a home */
};

/** A halo of a home, and the number of halos that it represents; 0: unused. All ranks have those of all ranks. */
struct sample {
  struct halo_key key;
  uint64_t weight;
};

static int compare_samples(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  if ((x->weight == 0) != (y->weight == 0)) return x->weight == 0 ? 1 : -1;
  return halo_compare_keys(&x->key, &y->key);
}

/** How many halos of this home go to each rank. */
static void choose_processes(const struct halo_home *home, size_t *send_count) {
  const size_t ranks = (size_t)comm_size();
  size_t most = home->count;
  if (most > SAMPLES) most = SAMPLES;
  struct sample mine[SAMPLES] = {{.weight = 0}};
  for (size_t i = 0; i < most; i++) {
    const size_t first = block_first(home->count, most, i);
    mine[i] = (struct sample){halo_key_of(&home->halo[first], first),
                              block_first(home->count, most, i + 1) - first};
  }
  struct sample *all = allocate(ranks, sizeof mine, "the order of halos");
  comm_gather_all(mine, sizeof mine, all);
  qsort(all, SAMPLES * ranks, sizeof *all, compare_samples);
  uint64_t sum = 0, before = 0;
  for (size_t i = 0; i < SAMPLES * ranks; i++) sum += all[i].weight;
  size_t next = 0, to = 0;
  for (size_t i = 0; i < SAMPLES * ranks && all[i].weight > 0; before += all[i++].weight) {
    for (; next < home->count; next++) {
      const struct halo_key own = halo_key_of(&home->halo[next], next);
      if (halo_compare_keys(&own, &all[i].key) >= 0) break;
      send_count[to]++;
    }
    /* rank 0 for the first, the largest halo of the run */
    to = (size_t)((unsigned __int128)before * ranks / sum);
  }
  send_count[to] += home->count - next;
  free(all);
}

/** Bring the subhalos of the homes to where their halos are placed.
 * @param halos_to  [rank] halos that it receives from this home
 * @param from      where each halo of the catalogue was among those received */
static void order_subhalos(struct halo_catalogue *c, const struct halo_home *home,
                           const size_t *halos_to, const size_t *from) {
  uint64_t all = home->subhalos;
  comm_sum_u64(&all, 1);
  c->all_subhalos = all;
  if (all == 0) return;
  size_t *send_count = exchange_counts(), *count_from = exchange_counts(), h = 0;
  const struct halo *of_home = home->halo ? home->halo : c->halo;
  for (int r = 0; r < comm_size(); r++)
    for (const size_t end = h + halos_to[r]; h < end; h++) send_count[r] += of_home[h].subhalos;
  struct subhalo *received = exchange_records(home->subhalo, sizeof *received, send_count,
                                              count_from);
  c->subhalos = exchange_total(count_from);
  c->subhalo = allocate(c->subhalos, sizeof *c->subhalo, "subhalos");
  c->first_subhalo = comm_sum_before(c->subhalos);
  size_t *begin = allocate(c->count + 1, sizeof *begin, "subhalos"); /* [received halo] */
  for (size_t i = 0; i < c->count; i++) begin[from[i] + 1] = c->halo[i].subhalos;
  for (size_t i = 0; i < c->count; i++) begin[i + 1] += begin[i];
  size_t next = 0;
  for (size_t i = 0; i < c->count; i++) {
    c->halo[i].first_subhalo = c->first_subhalo + next;
    for (size_t k = 0; k < c->halo[i].subhalos; k++, next++) {
      c->subhalo[next] = received[begin[from[i]] + k];
      c->subhalo[next].first += c->halo[i].first;
      c->subhalo[next].halo = c->first_halo + i;
    }
  }
  free(begin);
  free(received);
  free(count_from);
  free(send_count);
}

/** Bring the halos of all homes into order: c->halo and c->count.
 * @param[out] send_count  [rank] halos that it receives from this home
 * @param[out] count_from  [rank] halos received from it
 * @return where each was among those received */
static size_t *place_halos(struct halo_catalogue *c, struct halo_home *home, size_t *send_count,
                           size_t *count_from) {
  static const char what[] = "the order of halos";
  if (comm_size() == 1) { /* its halos are in order, and stay where they are */
    c->count = send_count[0] = count_from[0] = home->count;
    c->halo = home->halo;
    home->halo = NULL;
    size_t *from = reallocate(NULL, c->count, sizeof *from, what);
    for (size_t i = 0; i < c->count; i++) from[i] = i;
    return from;
  }
  choose_processes(home, send_count);
  struct halo *received = exchange_records(home->halo, sizeof *received, send_count, count_from);
  c->count = exchange_total(count_from);
  size_t *from = allocate(c->count, sizeof *from, what);
  c->halo = halo_sorted(c->count, received, from);
  free(received);
  return from;
}

/** Halos on their way to their first rows. */
struct row_numbers {
  struct halo_catalogue *catalogue;
  const size_t *from;        /* [halo] where it was among those received */
  uint64_t *first;           /* [halo received] its first row */
  uint64_t begin[PARTS + 1]; /* first row of the part's halos; of the last one, the end */
};

static void count_rows(void *context, uint32_t part) {
  struct row_numbers *n = context;
  const struct halo_catalogue *c = n->catalogue;
  const size_t end = block_first(c->count, PARTS, (size_t)part + 1);
  for (size_t i = block_first(c->count, PARTS, part); i < end; i++)
    n->begin[part + 1] += c->halo[i].count;
}

static void number_rows(void *context, uint32_t part) {
  const struct row_numbers *n = context;
  const struct halo_catalogue *c = n->catalogue;
  const size_t end = block_first(c->count, PARTS, (size_t)part + 1);
  uint64_t row = n->begin[part];
  for (size_t i = block_first(c->count, PARTS, part); i < end; i++) {
    c->halo[i].first = n->first[n->from[i]] = row;
    row += c->halo[i].count;
  }
}

uint64_t *halo_number(struct halo_catalogue *c, struct halo_home *home) {
  size_t *send_count = exchange_counts(), *count_from = exchange_counts();
  size_t *from = place_halos(c, home, send_count, count_from);
  uint64_t *first = reallocate(NULL, c->count, sizeof *first, "the order of halos");
  struct row_numbers rows = {.catalogue = c, .from = from, .first = first};
  loop_run(&halos_stage, PARTS, count_rows, &rows);
  for (uint32_t part = 0; part < PARTS; part++) rows.begin[part + 1] += rows.begin[part];
  uint64_t totals[2] = {c->count, rows.begin[PARTS]};
  rows.begin[0] = comm_sum_before(totals[1]);
  for (uint32_t part = 0; part < PARTS; part++) rows.begin[part + 1] += rows.begin[0];
  loop_run(&halos_stage, PARTS, number_rows, &rows);
  c->first_halo = comm_sum_before(c->count);
  comm_sum_u64(totals, 2);
  c->all = totals[0];
  c->all_members = totals[1];
  order_subhalos(c, home, send_count, from);
  uint64_t *first_row = exchange_answers(first, sizeof *first, count_from, send_count);
  free(first);
  free(from);
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

/** The rows of all members on their way into the catalogue. */
struct numbering {
  struct halo_catalogue *catalogue;
  const struct halo_home *home;
  const uint64_t *first_row; /* [halo of the home] */
  uint64_t *guest_row;       /* [guest] */
  struct sent_member *sent;  /* by row */
  size_t sends;
  size_t own[PARTS];       /* members of the part's halos that are particles of this rank */
  size_t begin[PARTS + 1]; /* of the part in the list of the particles of this rank */
};

static uint64_t members_of(const struct halo_home *home, size_t h) {
  return home->before[h + 1] - home->before[h];
}

/** Count the members of a part that are here, and find the rows of the others. */
static void count_part(void *context, uint32_t part) {
  struct numbering *n = context;
  const struct halo_home *home = n->home;
  const size_t count = home->fof->particles->count, end = halo_first_of_part(home, part + 1, PARTS);
  for (size_t h = halo_first_of_part(home, part, PARTS); h < end; h++)
    for (uint64_t k = 0; k < members_of(home, h); k++) {
      const uint32_t member = home->member[home->place[h] + k];
      n->own[part] += member < count;
      if (member >= count) n->guest_row[member - count] = n->first_row[h] + k;
    }
}

/** Ask the homes for the rows of the particles that were sent to them. */
static void find_rows_of_sent(struct numbering *n) {
  const struct halo_home *home = n->home;
  n->sends = exchange_total(home->sent_to);
  uint64_t *row = exchange_answers(n->guest_row, sizeof *row, home->guests_from, home->sent_to);
  n->sent = allocate(n->sends, sizeof *n->sent, "the order of halo members");
  for (size_t i = 0; i < n->sends; i++) n->sent[i] = (struct sent_member){row[i], home->sent[i]};
  qsort(n->sent, n->sends, sizeof *n->sent, compare_rows);
  free(row);
}

/** How many of the particles sent come before a part, in the order of the catalogue. */
static size_t sent_before(const struct numbering *n, uint32_t part) {
  const size_t h = halo_first_of_part(n->home, part, PARTS);
  if (part == 0) return 0;
  if (part == PARTS || h == n->home->count) return n->sends;
  size_t low = 0, high = n->sends;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (n->sent[middle].row < n->first_row[h])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void add_row(struct halo_catalogue *c, size_t at, uint32_t member, uint64_t row) {
  c->member[at] = member;
  c->row[at] = row;
}

/** The halos of a home have the order of the catalogue, so that their members and the particles sent can be
 * merged. */
static void list_part(void *context, uint32_t part) {
  const struct numbering *n = context;
  const struct halo_home *home = n->home;
  const size_t count = home->fof->particles->count, end = halo_first_of_part(home, part + 1, PARTS),
               sent_end = sent_before(n, part + 1);
  size_t at = n->begin[part], next = sent_before(n, part); /* next: index of a particle sent */
  for (size_t h = halo_first_of_part(home, part, PARTS); h < end; h++) {
    for (; next < sent_end && n->sent[next].row < n->first_row[h]; next++)
      add_row(n->catalogue, at++, n->sent[next].particle, n->sent[next].row);
    for (uint64_t k = 0; k < members_of(home, h); k++) {
      const uint32_t member = home->member[home->place[h] + k];
      if (member < count) add_row(n->catalogue, at++, member, n->first_row[h] + k);
    }
  }
  for (; next < sent_end; next++)
    add_row(n->catalogue, at++, n->sent[next].particle, n->sent[next].row);
}

void halo_number_members(struct halo_catalogue *c, const struct halo_home *home,
                         const uint64_t *first_row) {
  static const char what[] = "the order of halo members";
  struct numbering n = {.catalogue = c, .home = home, .first_row = first_row};
  n.guest_row = allocate(exchange_total(home->guests_from), sizeof *n.guest_row, what);
  loop_run(&halos_stage, PARTS, count_part, &n);
  find_rows_of_sent(&n);
  for (uint32_t part = 0; part < PARTS; part++)
    n.begin[part + 1] = n.begin[part] + n.own[part] + sent_before(&n, part + 1) -
                        sent_before(&n, part);
  c->members = n.begin[PARTS];
  c->member = allocate_large(c->members, sizeof *c->member, what);
  c->row = allocate_large(c->members, sizeof *c->row, what);
  loop_run(&halos_stage, PARTS, list_part, &n);
  free(n.sent);
  free(n.guest_row);
}
