/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/links.h"

#include <stdlib.h>
#include <string.h>

#include "photons/amr/gas.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/pinned.h"

/* A part of the loop has so many groups at least: fewer take less time than a worker needs to begin. There are not more
 * parts, since each one makes its sets anew. */
enum { PART_GROUPS = 64, PARTS_MOST = 64 };

/** A set of batches of a level, while it is made: some tens. */
struct batch_set {
  uint32_t groups;      /* of a batch */
  uint32_t count, room; /* of batches in the set */
  uint32_t *number;     /* [count] */
  uint32_t latest; /* place in the set of the batch that was named last: mostly the next one, too */
  uint32_t first;  /* group of that */
};

enum set { NEAR, COARSE, FINE, SONS, AROUND, SETS };

/** What is linked, and with what. */
struct linking {
  const struct gas *gas;
  int level;
  bool finest;                  /* there are no finer groups */
  uint32_t first_son, end_sons; /* groups of the next finer level that are of the batch's home */
  struct batch_set set[SETS];
};

static struct batch_set set_make(const struct gas *g, int level) {
  const bool exists = level >= 0 && topology_has_groups(&g->topology, level);
  return (struct batch_set){.groups = exists ? g->level[level].batch_groups : 1, .first = NO_GROUP};
}

/** Let s->first and s->latest be of the batch that has a group. @return false: the set has it not */
static inline bool go_to(struct batch_set *s, uint32_t group) {
  if (s->first <= group && group - s->first < s->groups) return true;
  const uint32_t batch = group / s->groups;
  for (uint32_t i = s->count; i-- > 0;)
    if (s->number[i] == batch) {
      s->latest = i;
      s->first = batch * s->groups;
      return true;
    }
  return false;
}

static void add_groups(struct batch_set *s, uint32_t *group, int count) {
  for (int i = 0; i < count; i++) {
    if (group[i] == NO_GROUP || go_to(s, group[i])) continue;
    if (s->count == s->room)
      s->number = reallocate(s->number, s->room = 2 * s->room + 32, sizeof *s->number,
                             "lists of batches");
    s->latest = s->count;
    s->number[s->count++] = group[i] / s->groups;
    s->first = group[i] / s->groups * s->groups;
  }
}

/** Groups become links. */
static void link_groups(struct batch_set *s, uint32_t *group, int count) {
  for (int i = 0; i < count; i++)
    if (group[i] != NO_GROUP && go_to(s, group[i]))
      group[i] = s->latest << GAS_LINK_SHIFT | (group[i] - s->first);
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** Number the batches of a set, rising. */
static void set_list(struct batch_set *s, struct batch_list *list) {
  if (s->count > 1) qsort(s->number, s->count, sizeof *s->number, compare_numbers);
  s->first = NO_GROUP; /* places in the set have changed */
  free(list->batch);
  *list = (struct batch_list){s->count, s->groups,
                              allocate(s->count, sizeof *s->number, "lists of batches")};
  for (uint32_t i = 0; i < s->count; i++) list->batch[i] = s->number[i];
}

static void set_empty(struct batch_set *s) {
  s->count = 0;
  s->first = NO_GROUP;
}

static uint32_t edges_of(const struct gas_group *group) {
  uint32_t edges = 0;
  for (int face = 0; face < GAS_FACES; face++)
    edges |= (group->outside >> topology_across(face) & 1) << face;
  return edges;
}

/** What is finer at a patch: group numbers in the place of links. */
static void find_finer(const struct linking *k, uint32_t group, int p, struct gas_links *links) {
  const struct topology *t = &k->gas->topology;
  const uint32_t son = topology_group(t, k->level, group)->son[p];
  const bool refined = son != NO_GROUP, gravity = k->gas->gravity;
  links->refined |= (uint32_t)refined << p;
  links->son[p] = refined && son >= k->first_son && son < k->end_sons ? son : NO_GROUP;
  links->share[p] = gravity ? son : NO_GROUP;
  for (int face = 0; face < GAS_FACES; face++) {
    const uint32_t finer = topology_finer_neighbour(t, k->level, group, p, topology_across(face));
    links->finer[p][face] = refined ? NO_GROUP : finer;
    links->share_beside[p][face] = gravity ? finer : NO_GROUP;
  }
}

/** Nothing is finer. */
static void set_none_finer(struct gas_links *links) {
  _Static_assert(NO_GROUP == UINT32_MAX, "its bytes are equal");
  memset(links->son, 0xff, sizeof links->son);
  memset(links->finer, 0xff, sizeof links->finer);
  memset(links->share, 0xff, sizeof links->share);
  memset(links->share_beside, 0xff, sizeof links->share_beside);
}

/** What is around a group: group numbers in the place of links. */
static void find_around(const struct linking *k, uint32_t group, struct gas_links *links) {
  const struct topology *t = &k->gas->topology;
  const struct gas_group *me = topology_group(t, k->level, group);
  links->patch = (uint32_t)topology_patch(t, k->level, group);
  links->edges = edges_of(me);
  links->refined = 0;
  memcpy(links->place, me->place, sizeof links->place);
  memcpy(links->near, me->near, sizeof links->near);
  for (int n = 0; n < NEIGHBOURS; n++)
    links->coarse[n] = k->level == 0 ? NO_GROUP
                                     : topology_patch_neighbour(t, k->level - 1, me->father,
                                                                (int)links->patch, n)
                                           .group;
  if (k->finest) set_none_finer(links);
  for (int p = 0; p < GAS_PATCHES && !k->finest; p++) find_finer(k, group, p, links);
}

/** Do something with all groups around a group, and the sets that they belong to. */
static inline void for_all(struct linking *k, struct gas_links *links,
                           void (*function)(struct batch_set *, uint32_t *, int)) {
  function(&k->set[NEAR], links->near, NEIGHBOURS);
  if (k->level > 0) function(&k->set[COARSE], links->coarse, NEIGHBOURS);
  if (k->finest) return;
  function(&k->set[SONS], links->son, GAS_PATCHES);
  function(&k->set[FINE], links->finer[0], GAS_PATCHES * GAS_FACES);
  if (!k->gas->gravity) return;
  function(&k->set[AROUND], links->share, GAS_PATCHES);
  function(&k->set[AROUND], links->share_beside[0], GAS_PATCHES * GAS_FACES);
}

/** Whether a home has all batches of a list of a level. */
static bool has_all(const struct gas *g, int level, uint32_t home, const struct batch_list *list) {
  for (uint32_t i = 0; i < list->count; i++)
    if (gas_home_of_batch(g, level, list->batch[i]) != home) return false;
  return true;
}

static struct gas_links *take_table(const struct gas_batch *b) {
  return pinned_take(engine_pool(), b->room * sizeof *b->link);
}

static void give_back_table(const struct gas_batch *b, struct gas_links *table) {
  if (table) pinned_give_back(engine_pool(), table, b->room * sizeof *table);
}

static void drop_table(struct gas_batch *b) {
  handle_drop(&b->links);
  give_back_table(b, b->link);
  b->link = NULL;
}

/** A table, unless a batch has an equal one: what StarPU has of that stays where it is. */
static struct gas_links *new_table(const struct gas_batch *b, struct gas_links *table) {
  if (!table || !b->link || memcmp(b->link, table, b->count * sizeof *table) != 0) return table;
  give_back_table(b, table);
  return NULL;
}

/** @param table  memory for the table of a batch; NULL: there are no tables */
static void link_batch(struct linking *k, uint32_t home, struct gas_batch *b,
                       struct gas_links *table) {
  struct gas_links one;
  for (uint32_t i = 0; i < b->count; i++) {
    struct gas_links *links = table ? &table[i] : &one;
    find_around(k, b->first + i, links);
    for_all(k, links, add_groups);
  }
  set_list(&k->set[NEAR], &b->near);
  set_list(&k->set[COARSE], &b->coarse);
  set_list(&k->set[FINE], &b->fine);
  set_list(&k->set[SONS], &b->sons);
  set_list(&k->set[AROUND], &b->around);
  b->inner = has_all(k->gas, k->level, home, &b->near) &&
             has_all(k->gas, k->level - 1, home, &b->coarse);
  for (uint32_t i = 0; i < b->count && table; i++) for_all(k, &table[i], link_groups);
  for (int s = 0; s < SETS; s++) set_empty(&k->set[s]);
}

/** The finer groups of a home. */
static void find_sons(struct linking *k, uint32_t home) {
  if (k->level == k->gas->topology.finest) return;
  k->first_son = gas_home_group(k->gas, k->level + 1, home);
  k->end_sons = gas_home_group(k->gas, k->level + 1, home + 1);
}

/** The links of a level's own batches, which follow each other from `first` on. A part has `part`
 * of them. */
struct all_links {
  struct gas *gas;
  int level;
  uint32_t first, end, part; /* batches */
  uint32_t parts;
  struct gas_links **table; /* [batch - first] memory, then new tables; NULL: none is new */
};

static struct linking linking_begin(const struct gas *g, int level) {
  const int level_of[SETS] = {level, level - 1, level + 1, level + 1, level + 1};
  struct linking k = {
      .gas = g, .level = level, .finest = level + 1 >= topology_levels(&g->topology)};
  for (int s = 0; s < SETS; s++) k.set[s] = set_make(g, level_of[s]);
  return k;
}

static void linking_end(struct linking *k) {
  for (int s = 0; s < SETS; s++) free(k->set[s].number);
}

static void link_part(const struct all_links *all, uint32_t part) {
  struct gas *g = all->gas;
  struct linking k = linking_begin(g, all->level);
  const uint32_t begin = all->first + part * all->part,
                 end = all->end - begin < all->part ? all->end : begin + all->part;
  for (uint32_t i = begin; i < end; i++) {
    const uint32_t home = gas_home_of_batch(g, all->level, i);
    struct gas_batch *b = gas_batch(g, all->level, i);
    struct gas_links **table = &all->table[i - all->first];
    find_sons(&k, home);
    link_batch(&k, home, b, *table);
    *table = new_table(b, *table);
  }
  linking_end(&k);
}

/** Batches of a part. */
static uint32_t part_of(uint32_t batch, uint32_t own) {
  const uint32_t least = (PART_GROUPS + batch - 1) / batch,
                 needed = (own + PARTS_MOST - 1) / PARTS_MOST;
  return needed > least ? needed : least;
}

static struct all_links all_links_of(struct gas *g, int level) {
  struct all_links all = {
      .gas = g, .level = level, .first = gas_own_begin(g, level), .end = gas_own_end(g, level)};
  const uint32_t own = all.end - all.first, batch = g->level[level].batch_groups;
  all.part = part_of(batch, own);
  all.parts = (own + all.part - 1) / all.part;
  all.table = allocate(own, sizeof *all.table, "links of groups");
  for (uint32_t i = 0; i < own && engine_gpu(); i++)
    all.table[i] = take_table(gas_batch(g, level, all.first + i));
  return all;
}

/** Give batches their new tables. */
static void set_tables(const struct all_links *all) {
  for (uint32_t i = all->first; i < all->end; i++) {
    struct gas_batch *b = gas_batch(all->gas, all->level, i);
    if (!all->table[i - all->first]) continue;
    drop_table(b);
    b->link = all->table[i - all->first];
    b->links = handle_register(b->link, b->room, sizeof *b->link);
  }
  free(all->table);
}

/** The links of some levels, while they are made. */
struct link_search {
  int count;
  struct all_links level[GAS_LEVELS_MAX]; /* [count] */
};

struct link_search *gas_links_begin(struct gas *g, int first, int last, uint32_t *parts) {
  struct link_search *all = allocate(1, sizeof *all, "links of groups");
  *parts = 0;
  for (int l = first; l <= last; l++)
    *parts += (all->level[all->count++] = all_links_of(g, l)).parts;
  return all;
}

void gas_links_part(const struct link_search *all, uint32_t i) {
  const struct all_links *level = all->level;
  for (; i >= level->parts; level++) i -= level->parts;
  link_part(level, i);
}

void gas_links_end(struct link_search *all) {
  for (int l = 0; l < all->count; l++) set_tables(&all->level[l]);
  free(all);
}

void gas_links_free(struct gas_batch *b) {
  drop_table(b);
  struct batch_list *const list[] = {&b->near, &b->coarse, &b->fine, &b->sons, &b->around};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    free(list[i]->batch);
    *list[i] = (struct batch_list){0};
  }
}
