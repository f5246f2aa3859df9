/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digits of medians, from the particles of all ranks. */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "keys.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"
#include "photons/domain/group_cut.h"

/* CUTS_OF_ALL: cuts whose counts all ranks add up together. If a level has no more, all ranks do. Of more cuts each
 * has a home, a rank that adds up what the few ranks with particles in the node send. HOLDERS_MOST: ranks with
 * particles of a node, on average, above which homes would get too much: then all ranks add up the counts of all cuts,
 * of a few after the other. */
enum { CUTS_OF_ALL = 16, HOLDERS_MOST = 4 };

static int compare_cuts(const void *a, const void *b) {
  const struct cut *x = a, *y = b;
  return (x->node > y->node) - (x->node < y->node);
}

void cuts_find_rows(struct level_cuts *c, const uint32_t *held, uint32_t helds) {
  c->here = reallocate(c->here, 2 * (size_t)helds + 1, sizeof *c->here, "cuts");
  c->held = reallocate(c->held, 2 * (size_t)helds + 1, sizeof *c->held, "cuts");
  c->rows = 0;
  if (c->level == 0) c->here[c->rows++] = 0;
  for (uint32_t k = 0; k < 2 * helds; k++) {
    const struct cut key = {.node = 2 * held[k / 2] + k % 2};
    const struct cut *cut = bsearch(&key, c->cut, c->cuts, sizeof key, compare_cuts);
    if (cut) c->here[c->rows++] = (uint32_t)(cut - c->cut);
  }
  cuts_look_at(c, 0, c->cuts);
}

void cuts_choose_axes(const struct domain *d, struct level_cuts *c, uint32_t (*low)[3],
                      uint32_t (*high)[3]) {
  const size_t cuts = c->cuts;
  uint32_t(*all_low)[3] = allocate(2 * cuts, sizeof *all_low, "boxes of the domain decomposition"),
  (*all_high)[3] = all_low + cuts;
  memset(all_low, 0xff, cuts * sizeof *all_low);
  for (uint32_t row = 0; row < c->rows; row++) {
    memcpy(all_low[c->here[row]], low[row], sizeof *low);
    memcpy(all_high[c->here[row]], high[row], sizeof *high);
  }
  comm_min_u32(all_low[0], 3 * cuts);
  comm_max_u32(all_high[0], 3 * cuts);
  for (size_t k = 0; k < cuts; k++)
    c->cut[k].axis = side_to_cut(c->level, d->group_count, all_low[k], all_high[k]);
  free(all_low);
}

uint32_t cuts_together(struct level_cuts *c, uint32_t held) {
  uint64_t holders = held;
  c->by_all = comm_size() == 1 || c->cuts <= CUTS_OF_ALL;
  if (c->by_all) return c->cuts;
  comm_sum_u64(&holders, 1);
  c->by_all = holders > (uint64_t)HOLDERS_MOST * c->cuts;
  return c->by_all ? CUTS_OF_ALL : c->cuts;
}

void cuts_look_at(struct level_cuts *c, uint32_t first, uint32_t count) {
  c->first = first;
  c->end = count < c->cuts - first ? first + count : c->cuts;
  for (c->first_row = 0; c->first_row < c->rows && c->here[c->first_row] < c->first;)
    c->first_row++;
  for (c->end_row = c->first_row; c->end_row < c->rows && c->here[c->end_row] < c->end;)
    c->end_row++;
}

uint32_t cut_find_digit(struct cut *cut, int digit, const uint64_t *of_value) {
  uint32_t found = 0;
  while (found + 1 < DIGIT_VALUES && cut->left >= of_value[found]) cut->left -= of_value[found++];
  cut->value |= found << digit_shift(digit);
  return found;
}

uint32_t cut_digit(const struct cut *cut, int digit) {
  const uint32_t rest = digit == 0 ? cut->value : cut->value & ((1u << digit_shift(digit - 1)) - 1);
  return rest >> digit_shift(digit);
}

/** All ranks add up the counts of the cuts that are looked at. */
static void find_by_all(struct level_cuts *c, int digit, const uint64_t *of_value) {
  const size_t size = (size_t)(c->end - c->first) * DIGIT_VALUES;
  uint64_t *sum = allocate(size, sizeof *sum, "counts of the domain decomposition");
  kept_set(KEPT_COUNTS, c->bytes + size * sizeof *sum);
  for (uint32_t row = c->first_row; row < c->end_row; row++)
    memcpy(sum + (size_t)(c->here[row] - c->first) * DIGIT_VALUES,
           of_value + (size_t)(row - c->first_row) * DIGIT_VALUES, DIGIT_VALUES * sizeof *sum);
  comm_sum_u64(sum, size);
  for (uint32_t k = c->first; k < c->end; k++)
    (void)cut_find_digit(&c->cut[k], digit, sum + (size_t)(k - c->first) * DIGIT_VALUES);
  free(sum);
}

/** What a rank sends to the home of a cut, and what it is answered. */
struct counts {
  uint64_t cut, of_value[DIGIT_VALUES];
};
struct found {
  uint64_t left;
  uint32_t value;
};

/** The home of a cut: the rank that owns the first group on its right. */
static int home_of(const struct domain *d, const struct level_cuts *c, uint32_t k) {
  const size_t halves = (size_t)2 << c->level;
  return group_owner(d,
                     (uint32_t)block_first(d->group_count, halves, 2 * (size_t)c->cut[k].node + 1));
}

/** At the homes: find the digit of each cut from all counts that came. */
static void find_at_home(struct level_cuts *c, int digit, const struct counts *came, size_t n) {
  size_t first = c->cuts, end = 0;
  for (size_t i = 0; i < n; i++) {
    first = came[i].cut < first ? came[i].cut : first;
    end = came[i].cut >= end ? came[i].cut + 1 : end;
  }
  if (n == 0) return;
  uint64_t(*sum)[DIGIT_VALUES] = allocate(end - first, sizeof *sum,
                                          "counts of the domain decomposition");
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < DIGIT_VALUES; k++) sum[came[i].cut - first][k] += came[i].of_value[k];
  for (size_t k = first; k < end; k++) (void)cut_find_digit(&c->cut[k], digit, sum[k - first]);
  free(sum);
}

/** Answer all counts that came. @return the answers to those that were sent: homes follow each other as cuts do */
static struct found *answer(const struct level_cuts *c, const struct counts *came, size_t n,
                            struct sparse_pieces *from) {
  struct found *found = allocate(n, sizeof *found, "cuts");
  for (size_t i = 0; i < n; i++)
    found[i] = (struct found){c->cut[came[i].cut].left, c->cut[came[i].cut].value};
  for (uint32_t k = 0; k < from->ranks; k++)
    from->bytes[k] = from->bytes[k] / sizeof *came * sizeof *found;
  struct sparse_pieces homes;
  struct found *answers = comm_exchange_sparse(found, from, &homes);
  sparse_free(&homes);
  free(found);
  return answers;
}

/** Each cut's home adds up its counts. All cuts are looked at. */
static void find_by_homes(const struct domain *d, struct level_cuts *c, int digit,
                          const uint64_t *of_value) {
  struct counts *counts = allocate(c->rows, sizeof *counts, "counts of the domain decomposition");
  struct sparse_pieces homes = {0}, from;
  uint32_t sent = 0;
  for (uint32_t row = 0; row < c->rows; row++) {
    if (!c->held[row]) continue; /* a median is for those who have particles in the node */
    counts[sent].cut = c->here[row];
    memcpy(counts[sent++].of_value, of_value + (size_t)row * DIGIT_VALUES, sizeof counts->of_value);
    sparse_add(&homes, home_of(d, c, c->here[row]), sizeof *counts);
  }
  struct counts *came = comm_exchange_sparse(counts, &homes, &from);
  const size_t came_count = sparse_bytes(&from) / sizeof *came;
  kept_set(KEPT_COUNTS, c->bytes + (c->rows + 2 * came_count) * sizeof *counts);
  find_at_home(c, digit, came, came_count);
  struct found *found = answer(c, came, came_count, &from);
  for (uint32_t i = 0; i < sent; i++) {
    c->cut[counts[i].cut].left = found[i].left;
    c->cut[counts[i].cut].value = found[i].value;
  }
  free(found);
  sparse_free(&from);
  free(came);
  sparse_free(&homes);
  free(counts);
}

void cuts_find_digit(const struct domain *d, struct level_cuts *c, int digit,
                     const uint64_t *of_value) {
  if (c->by_all)
    find_by_all(c, digit, of_value);
  else
    find_by_homes(d, c, digit, of_value);
}
