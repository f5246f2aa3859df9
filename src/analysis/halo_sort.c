/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos in the order of halo_compare(), on all workers. */
#include <stdlib.h>

#include "halo_home.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(halos, 0x661100, .untimed = true);

enum {
  PARTS = 256, /* of a loop over halos */
  /* Halos of fewer members are sorted among those of their size alone, a task for each size. */
  SIZES = 1 << 12
};

struct halo_key halo_key_of(const struct halo *h, size_t place) {
  return (struct halo_key){h->count, h->lowest_id, place};
}

int halo_compare_keys(const void *a, const void *b) {
  const struct halo_key *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return (x->lowest_id > y->lowest_id) - (x->lowest_id < y->lowest_id);
}

int halo_compare(const void *a, const void *b) {
  const struct halo_key x = halo_key_of(a, 0), y = halo_key_of(b, 0);
  return halo_compare_keys(&x, &y);
}

/** Keys on their way into order. */
struct sorting {
  size_t count;
  const struct halo *halo;
  struct halo_key *key, *sorted;
  size_t *end; /* [size] of the halos of a size among the sorted ones, the largest first */
  struct halo *to;
};

static size_t end_of_part(const struct sorting *s, uint32_t part) {
  return block_first(s->count, PARTS, (size_t)part + 1);
}

static bool are_sorted(const struct sorting *s) {
  for (size_t h = 1; h < s->count; h++)
    if (halo_compare_keys(&s->key[h - 1], &s->key[h]) > 0) return false;
  return true;
}

/** 0 for the largest ones. */
static size_t size_of(const struct halo_key *k) {
  return k->count < SIZES ? SIZES - (size_t)k->count : 0;
}

static void order_by_size(struct sorting *s) {
  for (size_t h = 0; h < s->count; h++) s->end[size_of(&s->key[h])]++;
  for (size_t k = 0, sum = 0; k <= SIZES; k++) {
    const size_t here = s->end[k];
    s->end[k] = sum;
    sum += here;
  }
  for (size_t h = 0; h < s->count; h++) s->sorted[s->end[size_of(&s->key[h])]++] = s->key[h];
}

static void sort_size(void *context, uint32_t size) {
  const struct sorting *s = context;
  const size_t first = size > 0 ? s->end[size - 1] : 0;
  if (s->end[size] - first > 1)
    qsort(s->sorted + first, s->end[size] - first, sizeof *s->sorted, halo_compare_keys);
}

static const char what[] = "the order of halos";

struct halo_key *halo_keys_sorted(size_t count, struct halo_key *key) {
  struct sorting s = {.count = count, .key = key};
  if (are_sorted(&s)) return key;
  s.sorted = reallocate(NULL, count, sizeof *s.sorted, what);
  s.end = allocate(SIZES + 1, sizeof *s.end, what);
  order_by_size(&s);
  loop_run(&halos_stage, SIZES + 1, sort_size, &s);
  free(s.end);
  free(key);
  return s.sorted;
}

static void make_keys(void *context, uint32_t part) {
  const struct sorting *s = context;
  for (size_t h = block_first(s->count, PARTS, part); h < end_of_part(s, part); h++)
    s->key[h] = halo_key_of(&s->halo[h], h);
}

static void move_part(void *context, uint32_t part) {
  const struct sorting *s = context;
  for (size_t h = block_first(s->count, PARTS, part); h < end_of_part(s, part); h++)
    s->to[h] = s->halo[s->sorted[h].place];
}

struct halo *halo_sorted(size_t count, const struct halo *halo, size_t *place) {
  struct sorting s = {.count = count,
                      .halo = halo,
                      .key = reallocate(NULL, count, sizeof *s.key, what),
                      .to = allocate_large(count, sizeof *s.to, what)};
  loop_run(&halos_stage, PARTS, make_keys, &s);
  s.sorted = halo_keys_sorted(count, s.key);
  loop_run(&halos_stage, PARTS, move_part, &s);
  for (size_t h = 0; h < count && place; h++) place[h] = s.sorted[h].place;
  free(s.sorted);
  return s.to;
}
