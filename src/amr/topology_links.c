/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "topology_links.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/runtime/loop.h"
#include "topology_keys.h"

LOOP_STAGE(gas_groups, 0x668877, .family = "gas");

/* Groups that a worker links at a time: fewer take less time than a worker needs to begin. To find the 27 neighbours of
 * groups takes much longer than to find fathers or sons alone. */
enum { PART_GROUPS = 4096, PART_GROUPS_NEAR = 512 };

static uint32_t own_count(const struct gas_tree_level *l) { return l->own.end - l->own.first; }

/** A list of groups of a level. */
struct numbers {
  uint32_t count, room, *group;
};

static void add_number(struct numbers *n, uint32_t group) {
  if (n->count > 0 && n->group[n->count - 1] == group) return;
  if (n->count == n->room)
    n->group = reallocate(n->group, n->room = 2 * n->room + 64, sizeof *n->group, "patch groups");
  n->group[n->count++] = group;
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** Let numbers rise, each one once. */
static void sort_numbers(struct numbers *n) {
  uint32_t count = 0;
  if (n->count > 1) qsort(n->group, n->count, sizeof *n->group, compare_numbers);
  for (uint32_t i = 0; i < n->count; i++)
    if (count == 0 || n->group[count - 1] != n->group[i]) n->group[count++] = n->group[i];
  n->count = count;
}

/** place + the direction of neighbour n */
static void neighbour_place(const uint32_t place[3], int n, int64_t neighbour[3]) {
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  for (int c = 0; c < 3; c++) neighbour[c] = (int64_t)place[c] + direction[c];
}

/** The bits of gas_group.outside. */
static uint32_t outside_of(const struct topology *t, int level, const uint32_t place[3]) {
  static const int stride[3] = {1, 3, 9};
  uint32_t bits = 0;
  for (int c = 0; c < 3; c++) {
    const bool low = place[c] == 0, high = place[c] == (t->root[c] << level) - 1;
    if (t->boundary[c][0] == GAS_PERIODIC || !(low || high)) continue;
    for (int n = 0; n < NEIGHBOURS; n++) {
      const int direction = n / stride[c] % 3 - 1;
      if ((low && direction < 0) || (high && direction > 0)) bits |= 1u << n;
    }
  }
  return bits;
}

/** The sons of the groups that have neighbours of a patch.
 * @param[out] son  [neighbour of the group] gas_group.son of those of topology.around
 * @return false: one of these groups is not known */
static bool sons_around(const struct topology *t, int level, const struct gas_group *group,
                        int patch, const uint32_t *son[NEIGHBOURS]) {
  static const uint32_t none[8] = {NO_GROUP, NO_GROUP, NO_GROUP, NO_GROUP,
                                   NO_GROUP, NO_GROUP, NO_GROUP, NO_GROUP};
  for (uint32_t left = t->around[patch]; left; left &= left - 1) {
    const int n = __builtin_ctz(left);
    const uint32_t near = group->near[n];
    const struct gas_group *known = near == NO_GROUP ? NULL : topology_known(t, level, near);
    if (near != NO_GROUP && !known) return false;
    son[n] = known ? known->son : none;
  }
  return true;
}

static uint32_t near_by_place(const struct topology *t, int level, const struct gas_group *g,
                              int n) {
  int64_t place[3];
  neighbour_place(g->place, n, place);
  return topology_find(t, level, place);
}

/** Fill in the neighbours of a group: they are sons of those of its father, where the linked groups of the next coarser
 * level show these. */
static void link_near(const struct topology *t, int level, int patch, struct gas_group *g) {
  const struct gas_group *father = level > 0 ? topology_known(t, level - 1, g->father) : NULL;
  const uint32_t *son[NEIGHBOURS];
  const bool shown = father && sons_around(t, level - 1, father, patch, son);
  uint32_t there = 0;
  for (int n = 0; n < NEIGHBOURS; n++) {
    const struct patch_step step = t->step[patch][n];
    g->near[n] = shown ? son[step.group][step.patch] : near_by_place(t, level, g, n);
    there |= (uint32_t)(g->near[n] != NO_GROUP) << n;
  }
  g->there = there;
}

/** Where, among own keys, the groups above and below those that were linked last begin: mostly those of the next ones
 * follow. */
struct latest {
  uint32_t father, son;
};

/** Fill in the father of a group. */
static void link_father(const struct topology *t, int level, uint64_t key, struct latest *latest,
                        struct gas_group *g) {
  const struct gas_tree_level *coarse = &t->level[level - 1];
  const uint32_t own = own_count(coarse);
  for (int step = 0; step < 2 && latest->father < own; step++)
    if (coarse->key[latest->father] < key >> 3) latest->father++;
  if (latest->father < own && coarse->key[latest->father] == key >> 3) {
    g->father = coarse->own.first + latest->father;
    return;
  }
  g->father = topology_with_key(t, level - 1, key >> 3);
  if (g->father == NO_GROUP) fail(EXIT_RUN_FAILED, "a patch group without a coarser one around it");
  if (is_in_span(coarse->own, g->father)) latest->father = g->father - coarse->own.first;
}

/** Fill in the sons of a group all of whose sons are own ones. */
static void link_own_sons(const struct gas_tree_level *fine, uint64_t first, struct latest *latest,
                          struct gas_group *g) {
  const uint32_t own = own_count(fine);
  uint32_t i = latest->son;
  if (i > own || (i < own && fine->key[i] < first) || (i > 0 && fine->key[i - 1] >= first))
    i = keys_from(fine->key, own, first);
  for (; i < own && fine->key[i] < first + 8; i++) g->son[fine->key[i] & 7] = fine->own.first + i;
  latest->son = i;
}

/** Fill in the sons of a group. */
static void link_sons(const struct topology *t, int level, uint64_t key, struct latest *latest,
                      struct gas_group *g) {
  for (int p = 0; p < 8; p++) g->son[p] = NO_GROUP;
  if (level == t->finest) return;
  const struct gas_tree_level *fine = &t->level[level + 1];
  const uint64_t first = key << 3;
  if (is_in_range(fine->own_range, first) && first + 8 <= fine->own_range.end)
    link_own_sons(fine, first, latest, g);
  else
    for (uint64_t p = 0; p < 8; p++) g->son[p] = topology_with_key(t, level + 1, first + p);
}

static void link_group(const struct topology *t, int level, uint64_t key, struct latest *latest,
                       struct gas_group *g) {
  morton_place(key, g->place);
  g->outside = outside_of(t, level, g->place);
  g->father = NO_GROUP;
  if (level > 0) link_father(t, level, key, latest, g);
  link_sons(t, level, key, latest, g);
  link_near(t, level, (int)(key & 7), g);
}

uint32_t topology_there(const struct topology *t, int level, uint32_t group) {
  const struct gas_group *known = topology_known(t, level, group);
  struct gas_group g;
  if (known) return known->there;
  const uint64_t key = topology_key(t, level, group);
  morton_place(key, g.place);
  g.father = topology_with_key(t, level - 1, key >> 3);
  link_near(t, level, (int)(key & 7), &g);
  return g.there;
}

uint32_t topology_near(const struct topology *t, int level, uint32_t group, int n) {
  struct gas_group g;
  if (n == MYSELF) return group;
  const struct gas_group *known = topology_known(t, level, group);
  if (known) return known->near[n];
  topology_place(t, level, group, g.place);
  return near_by_place(t, level, &g, n);
}

/** What of groups is linked: all, or what has changed. */
enum linked { ALL, FATHERS, SONS };

/** Groups that are linked. */
struct linking {
  struct topology *topology;
  int level;
  const uint32_t *group; /* [i] their numbers; NULL: first + i */
  uint32_t first, count;
  struct gas_group *to; /* [i] */
  enum linked what;
};

static uint32_t part_groups(const struct linking *k) {
  return k->what == ALL ? PART_GROUPS_NEAR : PART_GROUPS;
}

static void link_part(void *context, uint32_t part) {
  const struct linking *k = context;
  const uint32_t groups = part_groups(k), begin = part * groups,
                 end = k->count - begin < groups ? k->count : begin + groups;
  struct latest latest = {0, 0};
  for (uint32_t i = begin; i < end; i++) {
    const uint64_t key = topology_key(k->topology, k->level, k->group ? k->group[i] : k->first + i);
    if (k->what == ALL)
      link_group(k->topology, k->level, key, &latest, &k->to[i]);
    else if (k->what == FATHERS)
      link_father(k->topology, k->level, key, &latest, &k->to[i]);
    else
      link_sons(k->topology, k->level, key, &latest, &k->to[i]);
  }
}

static void link_all(struct linking k) {
  const uint32_t parts = (k.count + part_groups(&k) - 1) / part_groups(&k);
  if (parts == 1)
    link_part(&k, 0);
  else
    loop_run(&gas_groups_stage, parts, link_part, &k);
}

static void link_own(struct topology *t, int level, enum linked what) {
  const struct gas_tree_level *l = &t->level[level];
  link_all((struct linking){t, level, NULL, l->own.first, own_count(l), l->group, what});
}

static void link_others(struct topology *t, int level, enum linked what) {
  const struct gas_tree_level *l = &t->level[level];
  link_all((struct linking){t, level, l->other, 0, l->others, l->other_group, what});
}

/** Take groups as the known ones of other ranks, in the place of those that were known; they are not linked yet. */
static void know(struct gas_tree_level *l, struct numbers n) {
  free(l->other);
  free(l->other_group);
  l->others = n.count;
  l->other = n.group;
  l->other_group = allocate(n.count, sizeof *l->other_group, "patch groups");
}

/** Add the neighbours of groups that are of other ranks. */
static void add_near(const struct gas_tree_level *l, const struct gas_group *g, uint32_t count,
                     struct numbers *n) {
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < NEIGHBOURS; k++)
      if (g[i].near[k] != NO_GROUP && !is_in_span(l->own, g[i].near[k]))
        add_number(n, g[i].near[k]);
}

/** Find and link the groups of a level that this rank knows. The next coarser level has been linked. */
static void make_level(struct topology *t, int level) {
  struct gas_tree_level *l = &t->level[level];
  struct numbers n = {0};
  free(l->group);
  l->group = allocate(own_count(l), sizeof *l->group, "patch groups");
  link_own(t, level, ALL);
  for (uint32_t i = 0; i < l->aboves; i++) add_number(&n, l->above[i]);
  know(l, n);
  if (own_count(l) == l->count) return;
  link_others(t, level, ALL);
  n = (struct numbers){0};
  for (uint32_t i = 0; i < l->aboves; i++) add_number(&n, l->above[i]);
  add_near(l, l->group, own_count(l), &n);
  add_near(l, l->other_group, l->others, &n);
  sort_numbers(&n);
  know(l, n);
  link_others(t, level, ALL);
}

/** Add the father of a group of the next finer level, if it is of another rank.
 * @param latest  key of the father that was looked at last */
static void add_father(const struct topology *t, int level, uint32_t son, uint64_t *latest,
                       struct numbers *n) {
  const uint64_t key = topology_key(t, level + 1, son) >> 3;
  if (key == *latest || is_in_range(t->level[level].own_range, key)) return;
  *latest = key;
  const uint32_t father = topology_with_key(t, level, key);
  if (father != NO_GROUP) add_number(n, father);
}

/** Find the groups of other ranks that are around own groups of finer levels. Those of the next finer level have been
 * found. @return whether they have changed */
static bool find_above(struct topology *t, int level) {
  struct gas_tree_level *l = &t->level[level];
  struct numbers n = {0};
  if (level < t->finest && own_count(l) < l->count) {
    const struct gas_tree_level *fine = &t->level[level + 1];
    uint64_t latest = KEY_END;
    for (uint32_t i = fine->own.first; i < fine->own.end; i++) add_father(t, level, i, &latest, &n);
    for (uint32_t i = 0; i < fine->aboves; i++) add_father(t, level, fine->above[i], &latest, &n);
    sort_numbers(&n);
  }
  const bool same = n.count == l->aboves &&
                    (n.count == 0 || memcmp(n.group, l->above, n.count * sizeof *n.group) == 0);
  free(l->above);
  l->above = n.group;
  l->aboves = n.count;
  return !same;
}

static void count_kept(const struct topology *t) {
  size_t bytes = 0;
  for (int k = 0; k <= t->finest; k++) {
    const struct gas_tree_level *l = &t->level[k];
    bytes += own_count(l) * sizeof *l->key + (own_count(l) + l->others) * sizeof *l->group +
             (l->others + l->aboves) * sizeof *l->other;
    if (l->begin) bytes += ((size_t)comm_size() + 1) * sizeof *l->begin;
    const struct key_pieces *told = &l->told[KEYS_OF_LINKS];
    for (uint32_t i = 0; i < told->count; i++)
      bytes += sizeof *told->piece +
               (told->piece[i].groups.end - told->piece[i].groups.first) * sizeof *told->key;
  }
  kept_set(KEPT_OCTREE, bytes);
}

void topology_link(struct topology *t, int level) {
  bool changed[GAS_LEVELS_MAX];
  struct key_wants wants = {0};
  for (int l = 0; l <= t->finest; l++)
    for (int use = 0; use < KEY_USES; use++) pieces_free(&t->level[l].told[use]);
  if (t->keys_alone) return;
  want_for_links(t, &wants);
  fetch_keys(t, &wants, KEYS_OF_LINKS);
  for (int l = t->finest; l >= 0; l--) changed[l] = find_above(t, l);
  for (int l = 0; l <= level; l++)
    if (l == level || changed[l]) {
      make_level(t, l);
    } else if (l == level - 1) {
      link_own(t, l, SONS);
      link_others(t, l, SONS);
    }
  if (level < t->finest) {
    link_own(t, level + 1, FATHERS);
    link_others(t, level + 1, FATHERS);
  }
  count_kept(t);
}

void topology_unlink(struct gas_tree_level *l) {
  free(l->group);
  free(l->other);
  free(l->other_group);
  free(l->above);
}
