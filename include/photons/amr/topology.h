/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The octree of the adaptive mesh: which patch groups exist, and which are beside, above and below
 * each other (Schive, Tsai & Chiueh 2010, ApJS 186, 457, section 2.1).
 *
 * A patch has 8^3 cells. A patch group is 2^3 patches, 16^3 cells. Level 0 is the root; cells of
 * level l have half the side of those of level l - 1. A group of level l > 0 is a patch of level
 * l - 1 that is refined: patch (px, py, pz) = p of group g,
 * numbered px + 2 py + 4 pz, has the son group at place 2 place(g) + p. The octree's leaves alone do
 * not suffice: steps of their own by level, restriction and the solvers of finer levels need the groups
 * of all levels.
 *
 * Groups are numbered through all ranks in the order of the Morton keys of their places, and a rank owns
 * consecutive ones of each level. It knows the keys of its own groups, and of each level where the keys of each
 * rank begin. What is beside, above and below a group (struct gas_group) it has of those groups alone that it
 * works with: its own ones, those that are coarser around these, and the neighbours of both. Keys of other
 * ranks it asks of their owners (topology_fetch()), and keeps them till groups change. Groups of the root
 * level are all there, so that their keys and numbers are computed.
 *
 * Proper nesting: all 26 neighbours of a refined patch exist, or are outside the box. The ghost
 * cells of a group are therefore in groups of its level or of the next coarser one. */
#ifndef PHOTONS_AMR_TOPOLOGY_H
#define PHOTONS_AMR_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/config/choices.h"

enum {
  NEIGHBOURS = 27, /**< (1 + dx) + 3 (1 + dy) + 9 (1 + dz), with the group or patch itself: */
  MYSELF = 13,
};
#define NO_GROUP UINT32_MAX
#define KEY_END UINT64_MAX /**< larger than all keys */

/** The neighbour across a face or side: these are -x +x -y +y -z +z. */
static inline int topology_across(int face) {
  const int stride = face / 2 == 0 ? 1 : face / 2 == 1 ? 3 : 9;
  return MYSELF + (face % 2 ? stride : -stride);
}

struct gas_group {
  uint32_t place[3];         /**< x, y, z in units of 16 cells of its level */
  uint32_t father;           /**< group of the next coarser level; NO_GROUP on the root level */
  uint32_t son[8];           /**< by patch: group of the next finer level, or NO_GROUP */
  uint32_t near[NEIGHBOURS]; /**< groups of its level, or NO_GROUP */
  uint32_t there;            /**< a bit for each of NEIGHBOURS: near has it */
  uint32_t outside;          /**< a bit for each of NEIGHBOURS: its place is outside the box */
};

/** Whether the group with a key is at an odd place: x + y + z is odd. Groups of finer levels that
 * touch across faces are odd and even in turn, as the fields of a chessboard, also where a periodic
 * box ends. */
static inline bool topology_is_odd(uint64_t key) { return __builtin_parity((unsigned)(key & 7)); }

/** Consecutive groups of a level. */
struct group_span {
  uint32_t first, end;
};
static inline bool is_in_span(struct group_span s, uint32_t group) {
  return group - s.first < s.end - s.first;
}

/** Keys begin <= key < end. */
struct key_range {
  uint64_t begin, end;
};
static inline bool is_in_range(struct key_range r, uint64_t key) {
  return key - r.begin < r.end - r.begin;
}

/** The keys in a range, all groups of which are those of other ranks. */
struct key_piece {
  struct key_range range;
  struct group_span groups; /**< first: the group with the first key in the range or after it */
  const uint64_t *key;      /**< [groups.end - groups.first], rising */
};

/** Some of them, rising, without keys in common. */
struct key_pieces {
  uint32_t count;
  struct key_piece *piece; /**< [count] */
  uint64_t *key;           /**< of all of them */
};

/** What keys of other ranks are for: what tasks may read, which is there until groups change, and what the host reads
 * beside it. */
enum key_use { KEYS_OF_LINKS, KEYS_OF_HOST, KEY_USES };

/** The groups of a level, in the order of the Morton keys of their places. */
struct gas_tree_level {
  uint32_t count;             /**< groups of all ranks */
  struct group_span own;      /**< groups of this rank */
  uint64_t *key;              /**< [own.end - own.first], rising */
  struct key_range own_range; /**< no group of another rank has a key in it */
  uint64_t *begin; /**< [ranks + 1] where the range of each rank begins; NULL: all is own */
  struct key_pieces told[KEY_USES]; /**< by other ranks; none is in both */
  struct gas_group *group;          /**< [own.end - own.first] */
  uint32_t others;                  /**< known groups of other ranks */
  uint32_t *other;                  /**< [others] their numbers, rising */
  struct gas_group *other_group;    /**< [others] */
  uint32_t aboves;  /**< those of them that are coarser around own groups of finer levels */
  uint32_t *above;  /**< [aboves] their numbers, rising */
  uint64_t changes; /**< how often the level got new groups */
};

/** The groups of a rank, of a level of so many groups. */
typedef struct group_span topology_share(const void *context, int level, uint32_t count, int rank);

/** A neighbour of a patch: which neighbour of the patch's group has it, and which patch of that. */
struct patch_step {
  uint8_t group, patch;
};

struct topology {
  uint32_t root[3];                            /**< groups of the root level along x, y, z */
  enum gas_boundary boundary[3][2];            /**< at the low and the high side of x, y, z */
  int finest;                                  /**< the finest level that may have groups */
  struct gas_tree_level level[GAS_LEVELS_MAX]; /**< [0 .. finest] */
  topology_share
      *share; /**< NULL: all groups are those of this rank, and functions are not collective */
  const void *sharing;                   /**< context of `share` */
  bool keys_alone;                       /**< topology_init_keys() */
  struct patch_step step[8][NEIGHBOURS]; /**< [patch][neighbour of it] */
  uint32_t around[8]; /**< [patch] a bit for each group that has neighbours of the patch */
};

/** Morton key of a place: x has the lowest of each three bits. */
uint64_t morton_key(const uint32_t place[3]);
void morton_place(uint64_t key, uint32_t place[3]);

/** An octree of the root level alone, all of whose groups are those of this rank. */
void topology_init(struct topology *t, const uint32_t root[3],
                   const enum gas_boundary boundary[3][2], int finest);
/** The same, with groups divided among ranks, also those that levels get. Collective.
 * @param context  of `share`; it stays in use until topology_free() */
void topology_init_divided(struct topology *t, const uint32_t root[3],
                           const enum gas_boundary boundary[3][2], int finest,
                           topology_share *share, const void *context);
/** The same, divided evenly, with keys alone: nothing is linked, and no group is known. Collective. */
void topology_init_keys(struct topology *t, const uint32_t root[3],
                        const enum gas_boundary boundary[3][2], int finest);
void topology_free(struct topology *t);

/** A known group of another rank; NULL: it is not known. */
const struct gas_group *topology_other(const struct topology *t, int level, uint32_t group);
/** A group that may be known; NULL: it is not. */
static inline const struct gas_group *topology_known(const struct topology *t, int level,
                                                     uint32_t group) {
  const struct gas_tree_level *l = &t->level[level];
  return is_in_span(l->own, group) ? &l->group[group - l->own.first]
                                   : topology_other(t, level, group);
}
/** The run ends: this rank does not know a group that it needs. */
void topology_lacks(const struct topology *t, int level, uint32_t group) __attribute__((noreturn));
/** A group that this rank knows. */
static inline const struct gas_group *topology_group(const struct topology *t, int level,
                                                     uint32_t group) {
  const struct gas_group *known = topology_known(t, level, group);
  if (!known) topology_lacks(t, level, group);
  return known;
}
/** The key of a group of another rank. The run ends where the rank has not fetched it. */
uint64_t topology_key_of_other(const struct topology *t, int level, uint32_t group);
/** The key of a group, which is an own one, of the root level, or has been fetched: beside known groups also their sons
 * and the neighbours of their neighbours. The run ends where it has not. */
static inline uint64_t topology_key(const struct topology *t, int level, uint32_t group) {
  const struct gas_tree_level *l = &t->level[level];
  return is_in_span(l->own, group) ? l->key[group - l->own.first]
                                   : topology_key_of_other(t, level, group);
}
void topology_place(const struct topology *t, int level, uint32_t group, uint32_t place[3]);
/** gas_group.son and gas_group.near. */
uint32_t topology_son(const struct topology *t, int level, uint32_t group, int patch);
uint32_t topology_near(const struct topology *t, int level, uint32_t group, int n);
/** gas_group.there of a son of an own group. */
uint32_t topology_there(const struct topology *t, int level, uint32_t group);
/** Which patch of its father a group refines. */
static inline int topology_patch(const struct topology *t, int level, uint32_t group) {
  return (int)(topology_key(t, level, group) & 7);
}
/** The group of a coarser level, or of the same, around a group. */
uint32_t topology_ancestor(const struct topology *t, int level, uint32_t group, int coarser);
/** The group of a level with a key. @return NO_GROUP: there is none */
uint32_t topology_with_key(const struct topology *t, int level, uint64_t key);
/** The same for keys that rise. @param latest  in and out: place among own groups of the key before; at first 0 */
uint32_t topology_with_next_key(const struct topology *t, int level, uint64_t key,
                                uint32_t *latest);
/** The rank that owns a group. */
int topology_owner(const struct topology *t, int level, uint32_t group);

/** The group of a level at a place, which may be outside the box: then its periodic image, if the
 * boundaries there are periodic. @return NO_GROUP: there is none */
uint32_t topology_find(const struct topology *t, int level, const int64_t place[3]);

struct patch_number {
  uint32_t group; /**< NO_GROUP: the patch does not exist */
  int patch;      /**< in its group */
  bool outside;   /**< the box */
};
/** Neighbour n (one of NEIGHBOURS) of a patch of a group. */
static inline struct patch_number patch_neighbour(const struct topology *t,
                                                  const struct gas_group *g, int patch, int n) {
  const struct patch_step step = t->step[patch][n];
  return (struct patch_number){g->near[step.group], step.patch,
                               (g->outside >> step.group & 1) != 0};
}
/** The same by number. */
static inline struct patch_number topology_patch_neighbour(const struct topology *t, int level,
                                                           uint32_t group, int patch, int n) {
  return patch_neighbour(t, topology_group(t, level, group), patch, n);
}

/** What refines neighbour n of a patch of a group. @return NO_GROUP: nothing does */
static inline uint32_t topology_finer_neighbour(const struct topology *t, int level, uint32_t group,
                                                int patch, int n) {
  const struct patch_number at = topology_patch_neighbour(t, level, group, patch, n);
  return at.group == NO_GROUP ? NO_GROUP : topology_group(t, level, at.group)->son[at.patch];
}

/** Keys of other ranks' groups that a rank asks for. */
struct key_wants {
  size_t count, room;
  uint64_t latest[GAS_LEVELS_MAX]; /**< of topology_want_at(): 1 + the key that was looked at last */
  struct key_want {
    int level;
    struct key_range range;
  } * want; /**< [count] */
};
/** Ask for the groups of a level in a range of keys, unless they are known already; local. */
void topology_want(struct key_wants *w, const struct topology *t, int level,
                   struct key_range range);
/** Ask for the groups beside and below a place: of a level the sons of the group with this key of the next coarser
 * level, and of all its neighbours, whether these groups exist or not. `key` of level 0 for level 1. */
void topology_want_around(struct key_wants *w, const struct topology *t, int level, uint64_t key);
/** Ask for the groups with these keys, which rise; local. */
void topology_want_keys(struct key_wants *w, const struct topology *t, int level,
                        const uint64_t *key, uint32_t count);
/** Ask for the groups of all levels from 1 to a finest one at a position, and for those beside them; local.
 * @param position  in units of the side of a group of the root level; one outside the box is passed over */
void topology_want_at(struct key_wants *w, const struct topology *t, int finest,
                      const double position[3]);
/** Add wants to others, and empty their list; local. */
void topology_want_all(struct key_wants *w, struct key_wants *more);
/** Get the keys that this rank and others want from their owners, in two sparse exchanges. Collective. Empties the list.
 * The keys stay till a level gets new groups. They are for the host, and loops that it waits for: tasks that it does not
 * wait for may run meanwhile, and read keys of groups that are linked alone. */
void topology_fetch(struct topology *t, struct key_wants *w);

/** The same octree, with fetched keys of its own: at first none. The octree must stay as it is. */
struct topology topology_view(const struct topology *t);
void topology_view_free(struct topology *view);

/** Groups that a level will have: of each rank consecutive ones, of lower ranks lower ones. */
struct new_groups {
  uint64_t *key;  /**< [count] rising; free() it, or topology_replace() takes it over */
  uint32_t count; /**< of this rank */
  uint32_t all;   /**< of all ranks */
  bool changed;   /**< they are not those that the level has */
};

/**
 * Which groups level + 1 will have, from the flags of the patches of `level`. A patch is refined
 * if it is flagged, if the buffer around a flagged cell of a neighbour reaches it, or if proper
 * nesting of level + 2 needs it; but only if all of its neighbours exist. Collective: ranks tell those that have
 * neighbours of their groups what these are to refine.
 * @param flags  [own group][patch] a bit for each of NEIGHBOURS: the patch's buffers reach there. Bit
 *               MYSELF: a cell of the patch is flagged
 * @return  those that refine patches of own groups
 */
struct new_groups topology_refined(const struct topology *t, int level, const uint32_t (*flags)[8]);

/** Give a level these groups: what each rank has of them goes to the ranks that are to own it, and all links are made
 * anew. Collective. The run ends where a group has no coarser one around it. No task may look at the octree.
 * @param key  [count] of this rank, taken over; as struct new_groups */
void topology_replace(struct topology *t, int level, uint64_t *key, uint32_t count);

/** The own groups of a finer level that are inside the group with a key of a level. */
struct group_span topology_own_below(const struct topology *t, int level, uint64_t key, int finer);

/** Whether a level has groups. */
static inline bool topology_has_groups(const struct topology *t, int level) {
  return level <= t->finest && t->level[level].count > 0;
}
/** A number that changes where a level, the next coarser or the next finer one gets new groups. */
static inline uint64_t topology_changes(const struct topology *t, int level) {
  return (level > 0 ? t->level[level - 1].changes : 0) + t->level[level].changes +
         (level < t->finest ? t->level[level + 1].changes : 0);
}
/** Number of levels with groups. */
int topology_levels(const struct topology *t);

#endif
