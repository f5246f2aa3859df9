/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups a level gets, from the flags of the next coarser one. */
#include <stdlib.h>
#include <string.h>

#include "photons/amr/topology.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/** Patches of a group of another rank that are to be refined. */
struct mark {
  uint32_t group, patches; /* patches: a bit for each */
};

/** What is to be refined of a level. */
struct marks {
  const struct topology *topology;
  int level;
  uint8_t *own; /* [own group] a bit for each patch */
  size_t count, room;
  struct mark *mark; /* [count] of groups of other ranks */
};

static struct group_span own_groups(const struct marks *m) {
  return m->topology->level[m->level].own;
}

static void add_mark(struct marks *m, uint32_t group, uint32_t patches) {
  const struct group_span own = own_groups(m);
  if (is_in_span(own, group)) {
    m->own[group - own.first] |= (uint8_t)patches;
    return;
  }
  if (m->count > 0 && m->mark[m->count - 1].group == group) {
    m->mark[m->count - 1].patches |= patches;
    return;
  }
  if (m->count == m->room)
    m->mark = reallocate(m->mark, m->room = 2 * m->room + 64, sizeof *m->mark, "flags of patches");
  m->mark[m->count++] = (struct mark){group, patches};
}

/** Take the lowest bit away. @return its number; -1: there is none */
static int next_bit(uint32_t *bits) {
  if (*bits == 0) return -1;
  const int bit = __builtin_ctz(*bits);
  *bits &= *bits - 1;
  return bit;
}

/** Mark the patches that the flags of own groups and their buffers name. */
static void mark_flagged(struct marks *m, const uint32_t (*flags)[8]) {
  const struct topology *t = m->topology;
  const struct gas_tree_level *l = &t->level[m->level];
  for (uint32_t i = 0; i < l->own.end - l->own.first; i++)
    for (int p = 0; p < 8; p++) {
      uint32_t left = flags[i][p];
      for (int n; (n = next_bit(&left)) >= 0;) {
        const struct patch_number at = patch_neighbour(t, &l->group[i], p, n);
        if (at.group != NO_GROUP) add_mark(m, at.group, 1u << at.patch);
      }
    }
}

/** The neighbours of a group that the neighbourhoods of some of its patches reach.
 * @param patches  a bit for each of these */
static uint32_t reached(const struct topology *t, uint32_t patches) {
  uint32_t groups = 0;
  for (int p; (p = next_bit(&patches)) >= 0;) groups |= t->around[p];
  return groups;
}

static uint32_t refined_patches(const struct gas_group *g) {
  uint32_t patches = 0;
  for (int p = 0; p < 8; p++) patches |= (uint32_t)(g->son[p] != NO_GROUP) << p;
  return patches;
}

/** Mark the patches whose sons hold refined patches of own groups of the finer level, or neighbours of these. */
static void mark_nested(struct marks *m) {
  const struct topology *t = m->topology;
  const int finer = m->level + 1;
  const struct gas_tree_level *fine = &t->level[finer];
  for (uint32_t i = 0; i < fine->own.end - fine->own.first; i++) {
    uint32_t left = reached(t, refined_patches(&fine->group[i]));
    for (int n; (n = next_bit(&left)) >= 0;) {
      const uint32_t son = fine->group[i].near[n];
      if (son != NO_GROUP)
        add_mark(m, topology_group(t, finer, son)->father, 1u << topology_patch(t, finer, son));
    }
  }
}

static int compare_marks(const void *a, const void *b) {
  const struct mark *x = a, *y = b;
  return (x->group > y->group) - (x->group < y->group);
}

/** The groups of a rank. */
static struct group_span share_of(const struct marks *m, int rank) {
  const struct topology *t = m->topology;
  return t->share(t->sharing, m->level, t->level[m->level].count, rank);
}

/** Marks of other ranks' groups, as messages. */
struct mark_letters {
  uint32_t ranks;
  int *rank;
  size_t *bytes;
};

/** Sort marks by their ranks, whose groups rise. */
static struct mark_letters letters_of(struct marks *m) {
  struct mark_letters l = {
      .rank = allocate((size_t)comm_size(), sizeof *l.rank, "flags of patches"),
      .bytes = allocate((size_t)comm_size(), sizeof *l.bytes, "flags of patches")};
  if (m->count > 0) qsort(m->mark, m->count, sizeof *m->mark, compare_marks);
  int rank = 0;
  for (size_t i = 0; i < m->count; i++) {
    while (m->mark[i].group >= share_of(m, rank).end) rank++;
    if (l.ranks == 0 || l.rank[l.ranks - 1] != rank) l.rank[l.ranks++] = rank;
    l.bytes[l.ranks - 1] += sizeof *m->mark;
  }
  return l;
}

/** Tell other ranks what is to be refined of their groups, and hear it of own ones. */
static void exchange(struct marks *m) {
  struct sparse_from from;
  struct mark_letters l = letters_of(m);
  struct mark *told = comm_exchange_sparse(m->mark, l.rank, l.bytes, l.ranks, &from);
  size_t count = 0;
  for (uint32_t i = 0; i < from.ranks; i++) count += from.bytes[i] / sizeof *told;
  for (size_t i = 0; i < count; i++)
    m->own[told[i].group - own_groups(m).first] |= (uint8_t)told[i].patches;
  sparse_from_free(&from);
  free(told);
  free(l.rank);
  free(l.bytes);
}

/** The patches of a group all of whose neighbours exist or are outside the box. */
static uint32_t nested_patches(const struct topology *t, const struct gas_group *g) {
  const uint32_t missing = ~(g->there | g->outside);
  uint32_t patches = 0;
  for (int p = 0; p < 8; p++) patches |= (uint32_t)((t->around[p] & missing) == 0) << p;
  return patches;
}

/** The keys of what refines the patches of own groups; whether other patches are refined now. */
static struct new_groups groups_of(const struct marks *m) {
  const struct gas_tree_level *l = &m->topology->level[m->level];
  const uint32_t own = l->own.end - l->own.first;
  struct new_groups new = {0};
  for (uint32_t i = 0; i < own; i++) new.count += (uint32_t)__builtin_popcount(m->own[i]);
  uint64_t *key = new.key = allocate(new.count, sizeof *key, "patch groups");
  for (uint32_t i = 0; i < own; i++) {
    uint32_t patches = m->own[i];
    new.changed |= patches != refined_patches(&l->group[i]);
    for (int p; (p = next_bit(&patches)) >= 0;) *key++ = l->key[i] << 3 | (uint32_t)p;
  }
  new.all = new.count;
  return new;
}

/** What of it concerns all ranks. */
static void join_ranks(struct new_groups *new, int finer) {
  uint64_t all[2] = {new->count, new->changed};
  comm_sum_u64(all, 2);
  if (all[0] >= NO_GROUP)
    fail(EXIT_RUN_FAILED, "level %d would have %llu groups of patches, and %u is the most", finer,
         (unsigned long long)all[0], NO_GROUP - 1);
  new->all = (uint32_t)all[0];
  new->changed = all[1] > 0;
}

struct new_groups topology_refined(const struct topology *t, int level,
                                   const uint32_t (*flags)[8]) {
  const struct gas_tree_level *l = &t->level[level];
  const uint32_t own = l->own.end - l->own.first;
  struct marks m = {.topology = t, .level = level};
  m.own = allocate(own, sizeof *m.own, "flags of patches");
  mark_flagged(&m, flags);
  mark_nested(&m);
  if (t->share) exchange(&m);
  for (uint32_t i = 0; i < own; i++)
    if (m.own[i]) m.own[i] &= (uint8_t)nested_patches(t, &l->group[i]);
  struct new_groups new = groups_of(&m);
  if (t->share) join_ranks(&new, level + 1);
  free(m.own);
  free(m.mark);
  return new;
}
