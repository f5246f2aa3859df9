/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ghost_needs.h"

#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/base/parts.h"

enum {
  CUBES = 4, /* of a group, along an axis */
  LATEST =
      16 /* needs among which another of the same group may be: there are eight groups around a patch */
};

/** The groups of a home. */
static struct span span_of(const struct gas *g, int level, uint32_t home) {
  if (level < 0 || level > g->topology.finest) return (struct span){0, 0};
  return (struct span){gas_home_group(g, level, home), gas_home_group(g, level, home + 1)};
}

static struct span own(const struct needs *s, int level) { return s->own[level - s->level + 1]; }

/** Groups of the next coarser level all of whose sons, if any, are of the home. */
static struct span fathers_alone(const struct needs *s, int level) {
  const struct span sons = own(s, level);
  const struct topology *t = &s->gas->topology;
  if (sons.first == sons.end) return (struct span){0, 0};
  return (struct span){topology_group(t, level, sons.first)->father + 1,
                       topology_group(t, level, sons.end - 1)->father};
}

/** Whether a group is one of these. NO_GROUP is of none. */
static inline bool is_in(struct span span, uint32_t group) {
  return group >= span.first && group < span.end;
}

/** Those of the groups of a home that are looked at. */
static struct span part_of(const struct needs *s, int level) {
  const struct span all = own(s, level);
  const size_t count = all.end - all.first;
  return (struct span){all.first + (uint32_t)block_first(count, s->parts, s->part),
                       all.first + (uint32_t)block_first(count, s->parts, s->part + 1)};
}

/** The home that has a group; mostly that of the group before. */
static uint32_t home_of(struct needs *s, int level, uint32_t group) {
  struct home_span *at = &s->latest[level - s->level + 1];
  if (group >= at->groups.first && group < at->groups.end) return at->home;
  at->home = gas_home(s->gas, level, group);
  at->groups = span_of(s->gas, level, at->home);
  return at->home;
}

/** Whether another home has a group of a level; none has NO_GROUP. */
static inline bool is_of_others(const struct needs *s, int level, uint32_t group) {
  return group != NO_GROUP && !is_in(own(s, level), group);
}

/** Note that the home that has group `where` of a level gets or gives parts of a group. */
static inline void add_need(struct needs *s, int level, uint32_t where, uint32_t group,
                            uint64_t parts) {
  if (!is_of_others(s, level, where)) return;
  const uint32_t other = home_of(s, level, where);
  for (size_t i = s->count; i > 0 && s->count - i < LATEST; i--) {
    struct need *latest = &s->need[i - 1];
    if (latest->item.group != group || latest->other != other) continue;
    latest->item.parts |= parts;
    return;
  }
  if (s->count == s->room)
    s->need = reallocate(s->need, s->room = 2 * s->room + 64, sizeof *s->need, "ghosts of gas");
  s->need[s->count++] = (struct need){s->mine, other, {.group = group, .parts = parts}};
}

/** Bits of an axis, `stride` bits apart. */
static inline uint64_t spread(uint64_t bits, int stride) {
  return (bits & 1) | (bits >> 1 & 1) << stride | (bits >> 2 & 1) << 2 * stride |
         (bits >> 3 & 1) << 3 * stride;
}

/** The cubes of a group, or of a patch of it, that its neighbour in the direction opposite to n has
 * as ghost cells: for that neighbour the group is neighbour n. */
static uint64_t cubes(int patch, int n) {
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  uint64_t at[3]; /* a bit for each cube along an axis */
  for (int c = 0; c < 3; c++) {
    const int first = patch < 0 ? 0 : CUBES / 2 * (patch >> c & 1);
    const int last = first + (patch < 0 ? CUBES : CUBES / 2) - 1;
    const int low = direction[c] < 0 ? last : first, high = direction[c] > 0 ? first : last;
    at[c] = ((uint64_t)2 << high) - ((uint64_t)1 << low);
  }
  return at[0] * spread(0xf, CUBES) * spread(0xf, CUBES * CUBES) &
         spread(at[1], CUBES) * 0xf * spread(0xf, CUBES * CUBES) &
         spread(at[2], CUBES * CUBES) * 0xffff;
}

static int opposite(int n) { return NEIGHBOURS - 1 - n; }

/** Whether the home has all neighbours of a group of a level, so that it needs nothing of others there: of most
 * groups it has. */
static bool is_inside(const struct needs *s, int level, uint32_t group) {
  const uint32_t *near = topology_group(&s->gas->topology, level, group)->near;
  const struct span mine = own(s, level);
  uint32_t others = 0;
  for (int n = 0; n < NEIGHBOURS; n++)
    others += near[n] - mine.first >= mine.end - mine.first && near[n] != NO_GROUP;
  return others == 0;
}

/** The same of the father of own groups: those of a father follow each other. */
static bool father_is_inside(struct needs *s, int level, uint32_t father) {
  if (father != s->father) {
    s->father = father;
    s->father_inside = is_inside(s, level, father);
  }
  return s->father_inside;
}

static bool has_sons(const struct gas_group *group) {
  for (int p = 0; p < GAS_PATCHES; p++)
    if (group->son[p] != NO_GROUP) return true;
  return false;
}

/** Whether others may have what refines a group or its neighbours: mostly nobody has.
 * @param alone  fathers_alone() of the next finer level */
static bool is_at_others(const struct needs *s, int level, uint32_t group, struct span alone) {
  const struct topology *t = &s->gas->topology;
  const struct gas_group *me = topology_group(t, level, group);
  for (int n = 0; n < NEIGHBOURS; n++) {
    const uint32_t near = me->near[n];
    if (near != NO_GROUP && !is_in(alone, near) && has_sons(topology_group(t, level, near)))
      return true;
  }
  return false;
}

/** Cells around an own group, of its level. */
static void need_near(struct needs *s, uint32_t group) {
  const uint32_t *near = topology_group(&s->gas->topology, s->level, group)->near;
  for (int n = 0; n < NEIGHBOURS; n++) {
    if (!is_of_others(s, s->level, near[n])) continue;
    if (s->sent)
      add_need(s, s->level, near[n], group, cubes(-1, opposite(n)));
    else
      add_need(s, s->level, near[n], near[n], cubes(-1, n));
  }
}

/** Cells of an own group that groups of the next finer level need. */
static void need_by_finer(struct needs *s, uint32_t group) {
  for (int p = 0; p < GAS_PATCHES; p++)
    for (int n = 0; n < NEIGHBOURS; n++) {
      const uint32_t son = topology_finer_neighbour(&s->gas->topology, s->level, group, p, n);
      if (is_of_others(s, s->level + 1, son))
        add_need(s, s->level + 1, son, group, cubes(p, opposite(n)));
    }
}

/** Cells that an own group of the next finer level needs. */
static void need_coarser(struct needs *s, uint32_t son) {
  const struct topology *t = &s->gas->topology;
  for (int n = 0; n < NEIGHBOURS; n++) {
    const struct patch_number at = topology_patch_neighbour(
        t, s->level, topology_group(t, s->level + 1, son)->father,
        topology_patch(t, s->level + 1, son), n);
    if (is_of_others(s, s->level, at.group))
      add_need(s, s->level, at.group, at.group, cubes(at.patch, n));
  }
}

static void find_cells(struct needs *s) {
  const struct gas *g = s->gas;
  const bool finer = topology_has_groups(&g->topology, s->level + 1), sent = s->sent && finer;
  const struct span mine = part_of(s, s->level), fine = part_of(s, s->level + 1);
  const struct span alone = sent ? fathers_alone(s, s->level + 1) : (struct span){0, 0};
  for (uint32_t i = mine.first; i < mine.end; i++) {
    if (!is_inside(s, s->level, i)) need_near(s, i);
    if (sent && is_at_others(s, s->level, i, alone)) need_by_finer(s, i);
  }
  for (uint32_t i = fine.first; i < fine.end && !s->sent; i++)
    if (!father_is_inside(s, s->level, topology_group(&g->topology, s->level + 1, i)->father))
      need_coarser(s, i);
}

/** The sides of an own group beside patches of the next coarser level that are not refined. */
static void send_sides(struct needs *s, uint32_t group) {
  const struct gas *g = s->gas;
  for (int face = 0; face < GAS_FACES; face++) {
    const struct patch_number at = topology_patch_neighbour(
        &g->topology, s->level - 1, topology_group(&g->topology, s->level, group)->father,
        topology_patch(&g->topology, s->level, group), topology_across(face));
    if (at.group != NO_GROUP &&
        topology_group(&g->topology, s->level - 1, at.group)->son[at.patch] == NO_GROUP)
      add_need(s, s->level - 1, at.group, group, (uint64_t)1 << face);
  }
}

/** The sides of finer groups beside a patch that is not refined, of an own group. */
static void receive_sides(struct needs *s, uint32_t father, int patch) {
  const struct gas *g = s->gas;
  if (topology_group(&g->topology, s->level - 1, father)->son[patch] != NO_GROUP) return;
  for (int face = 0; face < GAS_FACES; face++) {
    const uint32_t son = topology_finer_neighbour(&g->topology, s->level - 1, father, patch,
                                                  topology_across(face));
    if (son != NO_GROUP) add_need(s, s->level, son, son, (uint64_t)1 << (face ^ 1));
  }
}

/** Patches of own groups that other homes refine; or patches that own groups of the next finer level
 * refine. */
static void find_refined(struct needs *s) {
  const struct gas *g = s->gas;
  if (s->level == g->topology.finest) return;
  const int level = s->sent ? s->level : s->level + 1;
  const struct span mine = part_of(s, level);
  for (uint32_t i = mine.first; i < mine.end; i++) {
    const struct gas_group *me = topology_group(&g->topology, level, i);
    if (!s->sent && is_of_others(s, s->level, me->father))
      add_need(s, s->level, me->father, me->father,
               cubes(topology_patch(&g->topology, level, i), MYSELF));
    for (int p = 0; p < GAS_PATCHES && s->sent; p++) {
      const uint32_t son = me->son[p];
      if (is_of_others(s, level + 1, son)) add_need(s, level + 1, son, i, cubes(p, MYSELF));
    }
  }
}

static void send_means(struct needs *s, uint32_t group) {
  const uint32_t father = topology_group(&s->gas->topology, s->level, group)->father;
  add_need(s, s->level - 1, father, group, 1);
}

static void receive_means(struct needs *s, uint32_t father, int patch) {
  const uint32_t son = topology_group(&s->gas->topology, s->level - 1, father)->son[patch];
  if (son != NO_GROUP) add_need(s, s->level, son, son, 1);
}

/** The shares of an own group go where the patch that it refines is, and the patches beside. */
static void send_shares(struct needs *s, uint32_t group) {
  const struct gas *g = s->gas;
  const uint32_t father = topology_group(&g->topology, s->level, group)->father;
  add_need(s, s->level - 1, father, group, 1);
  for (int face = 0; face < GAS_FACES; face++) {
    const uint32_t beside = topology_patch_neighbour(&g->topology, s->level - 1, father,
                                                     topology_patch(&g->topology, s->level, group),
                                                     topology_across(face))
                                .group;
    if (beside != NO_GROUP) add_need(s, s->level - 1, beside, group, 1);
  }
}

static void receive_shares(struct needs *s, uint32_t father, int patch) {
  const struct gas *g = s->gas;
  receive_means(s, father, patch);
  for (int face = 0; face < GAS_FACES; face++) {
    const uint32_t son = topology_finer_neighbour(&g->topology, s->level - 1, father, patch,
                                                  topology_across(face));
    if (son != NO_GROUP) add_need(s, s->level, son, son, 1);
  }
}

/** What the next coarser level needs. */
static void find_for_coarser(struct needs *s, void (*send)(struct needs *, uint32_t),
                             void (*receive)(struct needs *, uint32_t, int)) {
  if (s->level == 0) return;
  const int coarser = s->level - 1;
  const struct topology *t = &s->gas->topology;
  const struct span mine = part_of(s, s->sent ? s->level : coarser),
                    alone = fathers_alone(s, s->level);
  for (uint32_t i = mine.first; i < mine.end && s->sent; i++)
    if (!father_is_inside(s, coarser, topology_group(t, s->level, i)->father)) send(s, i);
  for (uint32_t i = mine.first; i < mine.end && !s->sent; i++)
    if (is_at_others(s, coarser, i, alone))
      for (int p = 0; p < GAS_PATCHES; p++) receive(s, i, p);
}

void needs_find(struct needs *s, enum ghost_kind kind, uint32_t home) {
  if (s->gas->tasks.together && (kind == GHOST_POTENTIALS || kind == GHOST_SHARES)) return;
  s->mine = home;
  s->father = NO_GROUP;
  for (int i = 0; i < 3; i++) s->own[i] = span_of(s->gas, s->level - 1 + i, home);
  if (kind == GHOST_CELLS || kind == GHOST_POTENTIALS)
    find_cells(s);
  else if (kind == GHOST_SIDES)
    find_for_coarser(s, send_sides, receive_sides);
  else if (kind == GHOST_MATTER)
    find_refined(s);
  else if (ghost_for_fathers(kind))
    find_for_coarser(s, send_means, receive_means);
  else
    find_for_coarser(s, send_shares, receive_shares);
}

static int compare_needs(const void *a, const void *b) {
  const struct need *x = a, *y = b;
  if (x->mine != y->mine) return (x->mine > y->mine) - (x->mine < y->mine);
  if (x->other != y->other) return (x->other > y->other) - (x->other < y->other);
  return (x->item.group > y->item.group) - (x->item.group < y->item.group);
}

void needs_sort(struct needs *s) {
  size_t n = 0;
  if (s->count > 0) qsort(s->need, s->count, sizeof *s->need, compare_needs);
  for (size_t i = 0; i < s->count; i++)
    if (n > 0 && compare_needs(&s->need[n - 1], &s->need[i]) == 0)
      s->need[n - 1].item.parts |= s->need[i].item.parts;
    else
      s->need[n++] = s->need[i];
  s->count = n;
}
