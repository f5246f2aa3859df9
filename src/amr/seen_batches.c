/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What homes have of batches of other homes: of those that messages bring something of. */
#include "seen_batches.h"

#include <stdlib.h>

#include "batch_data.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"

static int compare_first(const void *a, const void *b) {
  const struct gas_batch *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/** The batch that begins with a group; NULL: the home has nothing of it. */
static struct gas_batch *seen_find(const struct seen_batches *s, uint32_t first) {
  const struct gas_batch wanted = {.first = first};
  return s->count ? bsearch(&wanted, s->batch, s->count, sizeof wanted, compare_first) : NULL;
}

struct gas_batch *gas_seen(const struct gas *g, int level, uint32_t home, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  const bool own = batch >= gas_home_batch(g, level, home) &&
                   batch < gas_home_batch(g, level, home + 1);
  return own ? gas_batch(g, level, batch)
             : seen_find(&l->seen[home - gas_home_begin(g)], gas_batch_span(l, batch).first);
}

/** Add a batch at the end, with the data that it has. */
static struct gas_batch *append(struct seen_batches *s, struct gas_batch b) {
  if (s->count == s->room)
    s->batch = reallocate(s->batch, s->room = 2 * s->room + 16, sizeof *s->batch,
                          "batches of other ranks");
  s->batch[s->count] = b;
  return &s->batch[s->count++];
}

void seen_free(struct seen_batches *s) {
  for (uint32_t i = 0; i < s->count; i++) batch_drop(&s->batch[i]);
  free(s->batch);
  *s = (struct seen_batches){0};
}

/** What a home had of a batch, as that of the same number of a new level. */
static void reuse(const struct gas *g, int level, uint32_t home, uint32_t number,
                  struct gas_batch *old) {
  const struct gas_level *l = &g->level[level];
  struct gas_batch b = gas_batch_without_data(g, level, number);
  if (gas_home_of_batch(g, level, number) == home || b.room != old->room) return;
  const struct gas_batch place = b;
  b = *old;
  b.first = place.first;
  b.count = place.count;
  append(&l->seen[home - gas_home_begin(g)], b);
  *old = (struct gas_batch){.first = old->first, .count = old->count, .room = old->room};
}

void seen_reuse(struct gas *g, int level, struct gas_level *old) {
  const struct gas_level *l = &g->level[level];
  for (uint32_t h = 0; h < l->homes && h < old->homes; h++)
    for (uint32_t i = 0; i < old->seen[h].count; i++) {
      struct gas_batch *b = &old->seen[h].batch[i];
      const uint32_t number = b->first / old->batch_groups;
      if (number < l->batch_count) reuse(g, level, gas_home_begin(g) + h, number, b);
    }
}

static bool gets(const struct gas_batch *b, enum ghost_kind kind) { return b->kinds >> kind & 1; }

/** Let what a home has of a batch of another home be what messages bring. Data that are there stay: what they hold is
 * old until a message comes. */
static void fit_ghost(const struct gas *g, struct gas_batch *b) {
  if (!gets(b, GHOST_CELLS))
    for (int i = 0; i < 2; i++) batch_drop_cells(b, i);
  else if (!b->handle[0])
    batch_make_cells(g, b);
  if (!gets(b, GHOST_SIDES))
    handle_drop(&b->sides);
  else if (!b->sides)
    batch_make_sides(g, b);
  if (!gets(b, GHOST_POTENTIALS))
    for (int i = 0; i < POTENTIALS; i++) handle_drop(&b->potential[i]);
  else if (!b->potential[0])
    batch_make_potentials(g, b);
  if (!gets(b, GHOST_SHARES))
    handle_drop(&b->shares);
  else if (!b->shares)
    batch_make_shares(g, b);
  if (!gets(b, GHOST_MATTER))
    handle_drop(&b->matter);
  else if (!b->matter)
    batch_make_matter(g, b);
  b->kinds = 0;
}

/** Numbers of batches that messages bring something of, and a bit for the kind of each message. */
struct brought {
  uint32_t batch, kinds;
};

static int compare_brought(const void *a, const void *b) {
  const struct brought *x = a, *y = b;
  return (x->batch > y->batch) - (x->batch < y->batch);
}

/** What messages bring to a home, by rising batches; free() it. Means go to batches of this rank. */
static struct brought *find_brought(const struct gas *g, int level, uint32_t home,
                                    uint32_t *count) {
  const struct gas_level *l = &g->level[level];
  uint32_t n = 0, room = 0;
  struct brought *list = NULL;
  for (int kind = 0; kind < GHOST_KINDS; kind++) {
    const struct ghost_messages *all = &l->ghosts.received[kind];
    for (uint32_t i = 0; i < all->count && !ghost_for_fathers((enum ghost_kind)kind); i++)
      for (uint32_t k = 0; k < all->message[i].batches.count && all->message[i].to == home; k++) {
        if (n == room)
          list = reallocate(list, room = 2 * room + 64, sizeof *list, "batches of other ranks");
        list[n++] = (struct brought){all->message[i].batches.batch[k], 1u << kind};
      }
  }
  if (n > 1) qsort(list, n, sizeof *list, compare_brought);
  *count = 0;
  for (uint32_t i = 0; i < n; i++)
    if (*count > 0 && list[*count - 1].batch == list[i].batch)
      list[*count - 1].kinds |= list[i].kinds;
    else
      list[(*count)++] = list[i];
  return list;
}

/** Let a home have what messages bring, and nothing else. */
static void make_home(const struct gas *g, int level, uint32_t home, struct seen_batches *s) {
  struct seen_batches old = *s;
  uint32_t count;
  struct brought *list = find_brought(g, level, home, &count);
  *s = (struct seen_batches){.room = count,
                             .batch = allocate(count, sizeof *s->batch, "batches of other ranks")};
  for (uint32_t i = 0; i < count; i++) {
    struct gas_batch b = gas_batch_without_data(g, level, list[i].batch);
    struct gas_batch *had = seen_find(&old, b.first);
    if (had) {
      b = *had;
      *had = (struct gas_batch){.first = had->first};
    }
    b.kinds = list[i].kinds;
    fit_ghost(g, append(s, b));
  }
  seen_free(&old);
  free(list);
}

void seen_make(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  for (uint32_t h = 0; h < l->homes; h++) make_home(g, level, gas_home_begin(g) + h, &l->seen[h]);
}
