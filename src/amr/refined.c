/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups a level gets, from the flags of the next coarser one. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "photons/amr/topology.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "topology_links.h"

/** Patches of a group of another rank that are to be refined. */
struct mark {
  uint32_t group, patches; /* patches: a bit for each */
};

/** Marks that some groups leave on groups of other ranks. */
struct mark_list {
  size_t count, room;
  struct mark *mark; /* [count] */
};

/** What is to be refined of a level. */
struct marks {
  const struct topology *topology;
  int level;
  const uint32_t (*flags)[8]; /* of own groups */
  atomic_uchar *own;          /* [own group] a bit for each patch */
  uint32_t flagged, nested;   /* parts of the groups of the level, and of those of the finer one */
  struct mark_list *part;     /* [flagged + nested]; the first one gets the marks of all */
};

static struct group_span own_groups(const struct marks *m) {
  return m->topology->level[m->level].own;
}

static void add_mark(const struct marks *m, struct mark_list *others, uint32_t group,
                     uint32_t patches) {
  const struct group_span own = own_groups(m);
  if (is_in_span(own, group)) {
    atomic_uchar *marked = &m->own[group - own.first];
    if (patches & ~(uint32_t)atomic_load_explicit(marked, memory_order_relaxed))
      atomic_fetch_or_explicit(marked, (unsigned char)patches, memory_order_relaxed);
    return;
  }
  if (others->count > 0 && others->mark[others->count - 1].group == group) {
    others->mark[others->count - 1].patches |= patches;
    return;
  }
  if (others->count == others->room)
    others->mark = reallocate(others->mark, others->room = 2 * others->room + 64,
                              sizeof *others->mark, "flags of patches");
  others->mark[others->count++] = (struct mark){group, patches};
}

/** Take the lowest bit away. @return its number; -1: there is none */
static int next_bit(uint32_t *bits) {
  if (*bits == 0) return -1;
  const int bit = __builtin_ctz(*bits);
  *bits &= *bits - 1;
  return bit;
}

/** Mark the patches that the flags of a group and their buffers name. */
static void mark_flagged(const struct marks *m, struct mark_list *others, uint32_t i) {
  const struct topology *t = m->topology;
  const struct gas_group *group = &t->level[m->level].group[i];
  uint32_t patches[NEIGHBOURS] = {0}, near = 0;
  for (int p = 0; p < 8; p++) {
    uint32_t left = m->flags[i][p];
    for (int n; (n = next_bit(&left)) >= 0;) {
      const struct patch_step step = t->step[p][n];
      patches[step.group] |= 1u << step.patch;
      near |= 1u << step.group;
    }
  }
  for (int n; (n = next_bit(&near)) >= 0;)
    if (group->near[n] != NO_GROUP) add_mark(m, others, group->near[n], patches[n]);
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

/** Mark the patches whose sons hold refined patches of a group of the finer level, or neighbours of these. */
static void mark_nested(const struct marks *m, struct mark_list *others, uint32_t i) {
  const struct topology *t = m->topology;
  const int finer = m->level + 1;
  const struct gas_group *group = &t->level[finer].group[i];
  uint32_t left = reached(t, refined_patches(group));
  for (int n; (n = next_bit(&left)) >= 0;) {
    const uint32_t son = group->near[n];
    if (son != NO_GROUP)
      add_mark(m, others, topology_group(t, finer, son)->father,
               1u << topology_patch(t, finer, son));
  }
}

/* A part has so many groups: some tens of microseconds. */
enum { PART_GROUPS = 256 };

static uint32_t groups_at(const struct marks *m, int level) {
  const struct group_span own = m->topology->level[level].own;
  return own.end - own.first;
}

/** @param context  struct marks */
static void mark_part(void *context, uint32_t i) {
  const struct marks *m = context;
  const bool flagged = i < m->flagged;
  const uint32_t groups = groups_at(m, flagged ? m->level : m->level + 1),
                 begin = (flagged ? i : i - m->flagged) * PART_GROUPS,
                 end = groups - begin < PART_GROUPS ? groups : begin + PART_GROUPS;
  for (uint32_t group = begin; group < end; group++)
    if (flagged)
      mark_flagged(m, &m->part[i], group);
    else
      mark_nested(m, &m->part[i], group);
}

/** Let the first part have the marks of all. */
static void join_parts(struct marks *m, uint32_t parts) {
  size_t count = 0;
  for (uint32_t i = 0; i < parts; i++) count += m->part[i].count;
  if (count == 0) return;
  m->part[0].mark = reallocate(m->part[0].mark, m->part[0].room = count, sizeof(struct mark),
                               "flags of patches");
  for (uint32_t i = 1; i < parts; i++) {
    if (m->part[i].count > 0)
      memcpy(m->part[0].mark + m->part[0].count, m->part[i].mark,
             m->part[i].count * sizeof(struct mark));
    m->part[0].count += m->part[i].count;
    free(m->part[i].mark);
  }
}

/** Mark what own groups have to be refined, in a loop where there are many. */
static void mark_all(struct marks *m) {
  m->flagged = (groups_at(m, m->level) + PART_GROUPS - 1) / PART_GROUPS;
  m->nested = (groups_at(m, m->level + 1) + PART_GROUPS - 1) / PART_GROUPS;
  const uint32_t parts = m->flagged + m->nested;
  m->part = allocate(parts + 1, sizeof *m->part, "flags of patches");
  if (parts > 2)
    loop_run(&gas_groups_stage, parts, mark_part, m);
  else
    for (uint32_t i = 0; i < parts; i++) mark_part(m, i);
  join_parts(m, parts);
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

/** Sort marks of other ranks' groups by these ranks, whose groups rise. @return the pieces for them */
static struct sparse_pieces letters_of(struct marks *m) {
  struct sparse_pieces to = {0};
  if (m->part->count > 0)
    qsort(m->part->mark, m->part->count, sizeof *m->part->mark, compare_marks);
  int rank = 0;
  for (size_t i = 0; i < m->part->count; i++) {
    while (m->part->mark[i].group >= share_of(m, rank).end) rank++;
    sparse_add(&to, rank, sizeof *m->part->mark);
  }
  return to;
}

/** Tell other ranks what is to be refined of their groups, and hear it of own ones. */
static void exchange(struct marks *m) {
  struct sparse_pieces from, to = letters_of(m);
  struct mark *told = comm_exchange_sparse(m->part->mark, &to, &from);
  const size_t count = sparse_bytes(&from) / sizeof *told;
  for (size_t i = 0; i < count; i++)
    m->own[told[i].group - own_groups(m).first] |= (unsigned char)told[i].patches;
  sparse_free(&from);
  sparse_free(&to);
  free(told);
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
  struct marks m = {.topology = t, .level = level, .flags = flags};
  m.own = allocate(own, sizeof *m.own, "flags of patches");
  mark_all(&m);
  if (t->share) exchange(&m);
  for (uint32_t i = 0; i < own; i++)
    if (m.own[i]) m.own[i] &= (unsigned char)nested_patches(t, &l->group[i]);
  struct new_groups new = groups_of(&m);
  if (t->share) join_ranks(&new, level + 1);
  free(m.own);
  free(m.part->mark);
  free(m.part);
  return new;
}
