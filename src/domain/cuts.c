/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digits of medians, from the particles of all ranks. */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"
#include "photons/domain/group_cut.h"

/* Cuts up to which all ranks add up the counts of all cuts. Of more cuts each has a home, a rank that adds up what the
 * few ranks with particles in the node send. */
enum { CUTS_OF_ALL = 16 };

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

/** All ranks add up the counts of all cuts. */
static void find_by_all(struct level_cuts *c, int digit, const uint64_t *of_value) {
  const size_t size = (size_t)c->cuts * DIGIT_VALUES;
  uint64_t *sum = allocate(size, sizeof *sum, "counts of the domain decomposition");
  kept_set(KEPT_COUNTS, c->bytes + size * sizeof *sum);
  for (uint32_t row = 0; row < c->rows; row++)
    memcpy(sum + (size_t)c->here[row] * DIGIT_VALUES, of_value + (size_t)row * DIGIT_VALUES,
           DIGIT_VALUES * sizeof *sum);
  comm_sum_u64(sum, size);
  for (uint32_t k = 0; k < c->cuts; k++)
    (void)cut_find_digit(&c->cut[k], digit, sum + (size_t)k * DIGIT_VALUES);
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
                            struct sparse_from *from) {
  struct found *found = allocate(n, sizeof *found, "cuts");
  for (size_t i = 0; i < n; i++)
    found[i] = (struct found){c->cut[came[i].cut].left, c->cut[came[i].cut].value};
  for (uint32_t k = 0; k < from->ranks; k++)
    from->bytes[k] = from->bytes[k] / sizeof *came * sizeof *found;
  struct sparse_from homes;
  struct found *answers = comm_exchange_sparse(found, from->rank, from->bytes, from->ranks, &homes);
  sparse_from_free(&homes);
  free(found);
  return answers;
}

/** Each cut's home adds up its counts. */
static void find_by_homes(const struct domain *d, struct level_cuts *c, int digit,
                          const uint64_t *of_value) {
  struct counts *counts = allocate(c->rows, sizeof *counts, "counts of the domain decomposition");
  int *home = allocate(c->rows, sizeof *home, "message sizes");
  size_t *bytes = allocate(c->rows, sizeof *bytes, "message sizes"), came_count = 0;
  uint32_t homes = 0, sent = 0;
  for (uint32_t row = 0; row < c->rows; row++) {
    if (!c->held[row]) continue; /* a median is for those who have particles in the node */
    const int rank = home_of(d, c, c->here[row]);
    counts[sent].cut = c->here[row];
    memcpy(counts[sent++].of_value, of_value + (size_t)row * DIGIT_VALUES, sizeof counts->of_value);
    if (homes == 0 || home[homes - 1] != rank) home[homes++] = rank;
    bytes[homes - 1] += sizeof *counts;
  }
  struct sparse_from from;
  struct counts *came = comm_exchange_sparse(counts, home, bytes, homes, &from);
  for (uint32_t k = 0; k < from.ranks; k++) came_count += from.bytes[k] / sizeof *came;
  kept_set(KEPT_COUNTS, c->bytes + (c->rows + 2 * came_count) * sizeof *counts);
  find_at_home(c, digit, came, came_count);
  struct found *found = answer(c, came, came_count, &from);
  for (uint32_t i = 0; i < sent; i++) {
    c->cut[counts[i].cut].left = found[i].left;
    c->cut[counts[i].cut].value = found[i].value;
  }
  free(found);
  sparse_from_free(&from);
  free(came);
  free(bytes);
  free(home);
  free(counts);
}

void cuts_find_digit(const struct domain *d, struct level_cuts *c, int digit,
                     const uint64_t *of_value) {
  if (comm_size() == 1 || c->cuts <= CUTS_OF_ALL)
    find_by_all(c, digit, of_value);
  else
    find_by_homes(d, c, digit, of_value);
}
