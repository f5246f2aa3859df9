/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/topology.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "topology_keys.h"
#include "topology_links.h"

/** The groups of a rank. */
static struct group_span share_of(const struct topology *t, int level, int rank) {
  const uint32_t count = t->level[level].count;
  return t->share ? t->share(t->sharing, level, count, rank) : (struct group_span){0, count};
}

static struct group_span share_evenly(const void *context, int level, uint32_t count, int rank) {
  (void)context;
  (void)level;
  return (struct group_span){(uint32_t)comm_first(count, rank),
                             (uint32_t)comm_first(count, rank + 1)};
}

int topology_owner(const struct topology *t, int level, uint32_t group) {
  int low = 0, count = t->share ? comm_size() - 1 : 0;
  if (!t->share) return comm_rank();
  while (count > 0) { /* the first rank whose groups end after it */
    const int half = count / 2;
    if (share_of(t, level, low + half).end <= group) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

/** The groups that lower ranks have, and all. */
struct counts {
  uint64_t before, all;
};

static struct counts counts_of(const struct topology *t, int level, uint32_t count) {
  struct counts c = {0, count};
  if (!t->share) return c;
  c.before = comm_sum_before(count);
  comm_sum_u64(&c.all, 1);
  if (c.all >= NO_GROUP)
    fail(EXIT_RUN_FAILED, "level %d would have %llu groups of patches, and %u is the most", level,
         (unsigned long long)c.all, NO_GROUP - 1);
  return c;
}

/** Send the keys of a level to the ranks that own them. @param key  [count] of this rank, the first of which is number
 * `before` of all; freed @return those of own groups */
static uint64_t *deal(const struct topology *t, int level, uint64_t *key, uint32_t count,
                      uint32_t before) {
  struct sparse_pieces to = {0}, from;
  for (int r = 0; r < comm_size(); r++) {
    const struct group_span s = share_of(t, level, r);
    const uint32_t first = s.first > before ? s.first : before,
                   end = s.end < before + count ? s.end : before + count;
    if (first < end) sparse_add(&to, r, (end - first) * sizeof *key);
  }
  uint64_t *own = comm_exchange_sparse(key, &to, &from);
  sparse_free(&from);
  sparse_free(&to);
  free(key);
  return own;
}

/** Find where the keys of each rank begin. */
static void find_ranges(struct topology *t, int level) {
  struct gas_tree_level *l = &t->level[level];
  const int ranks = comm_size();
  const uint64_t first = l->own.end > l->own.first ? l->key[0] : KEY_END;
  free(l->begin);
  l->begin = allocate((size_t)ranks + 1, sizeof *l->begin, "ranges of keys");
  comm_gather_all(&first, sizeof first, l->begin);
  l->begin[ranks] = KEY_END;
  for (int r = ranks - 1; r >= 0; r--) /* a rank without groups ends where it begins */
    if (l->begin[r] == KEY_END) l->begin[r] = l->begin[r + 1];
  l->begin[0] = 0;
  l->own_range = l->count == 0
                     ? (struct key_range){0, KEY_END}
                     : (struct key_range){l->begin[comm_rank()], l->begin[comm_rank() + 1]};
}

/** Give a level the keys of own groups. */
static void set_keys(struct topology *t, int level, uint64_t *key) {
  struct gas_tree_level *l = &t->level[level];
  free(l->key);
  l->key = key;
  l->own_range = (struct key_range){0, KEY_END};
  l->changes++;
  if (t->share && comm_size() > 1) find_ranges(t, level);
  topology_link(t, level);
}

void topology_replace(struct topology *t, int level, uint64_t *key, uint32_t count) {
  struct gas_tree_level *l = &t->level[level];
  const struct counts c = counts_of(t, level, count);
  l->count = (uint32_t)c.all;
  l->own = share_of(t, level, comm_rank());
  if (t->share && comm_size() > 1) key = deal(t, level, key, count, (uint32_t)c.before);
  set_keys(t, level, key);
}

/** Fill in topology.step and topology.around. */
static void make_steps(struct topology *t) {
  for (int p = 0; p < 8; p++)
    for (int n = 0; n < NEIGHBOURS; n++) {
      const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      int group = 0, patch = 0;
      for (int c = 2; c >= 0; c--) {
        const int place = (p >> c & 1) + direction[c] + 2; /* of the patch, in groups' halves */
        patch |= (place & 1) << c;
        group = 3 * group + place / 2;
      }
      t->step[p][n] = (struct patch_step){(uint8_t)group, (uint8_t)patch};
      t->around[p] |= 1u << group;
    }
}

static void init(struct topology *t, const uint32_t root[3], const enum gas_boundary boundary[3][2],
                 const struct topology *how) {
  *t = *how;
  memcpy(t->root, root, sizeof t->root);
  memcpy(t->boundary, boundary, sizeof t->boundary);
  make_steps(t);
  for (int l = 0; l <= t->finest; l++) t->level[l].own_range = (struct key_range){0, KEY_END};
  struct gas_tree_level *first = &t->level[0];
  first->count = root[0] * root[1] * root[2];
  first->own = share_of(t, 0, comm_rank());
  set_keys(t, 0, root_keys(root, first->own.first, first->own.end));
}

void topology_init_divided(struct topology *t, const uint32_t root[3],
                           const enum gas_boundary boundary[3][2], int finest,
                           topology_share *share, const void *context) {
  init(t, root, boundary, &(struct topology){.finest = finest, .share = share, .sharing = context});
}

void topology_init_keys(struct topology *t, const uint32_t root[3],
                        const enum gas_boundary boundary[3][2], int finest) {
  init(t, root, boundary,
       &(struct topology){.finest = finest, .share = share_evenly, .keys_alone = true});
}

void topology_init(struct topology *t, const uint32_t root[3],
                   const enum gas_boundary boundary[3][2], int finest) {
  init(t, root, boundary, &(struct topology){.finest = finest});
}

void topology_free(struct topology *t) {
  for (int l = 0; l <= t->finest; l++) {
    free(t->level[l].key);
    free(t->level[l].begin);
    for (int use = 0; use < KEY_USES; use++) pieces_free(&t->level[l].told[use]);
    topology_unlink(&t->level[l]);
  }
}
