/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages between homes: of which groups they have what, and their data. */
#include "photons/amr/ghosts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ghost_needs.h"
#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/pinned.h"

/* A message has the groups of so many batches at least, if there are so many: workers pack messages side by
 * side, but each message costs tasks. */
enum { MESSAGE_BATCHES = 8 };
/* Workers look at parts of the groups of a home, of so many at least: fewer take less time than a worker needs to
 * begin. */
enum { PART_GROUPS = 256, PARTS_MOST = 8 };

size_t ghost_part_bytes(const struct gas *g, enum ghost_kind kind) {
  if (kind == GHOST_POTENTIALS || kind == GHOST_MATTER)
    return GAS_FACE_CELLS * sizeof(double); /* a cube of 4^3 cells */
  if (kind == GHOST_MATTER_MEANS) return GAS_PATCH_CELLS * sizeof(double);
  if (kind == GHOST_SHARES) return sizeof(struct poisson_share);
  const size_t cells = kind == GHOST_MEANS ? GAS_PATCH_CELLS : GAS_FACE_CELLS;
  return g->scheme.variables * cells *
         g->scheme.kernels->real_size; /* a cube has as many cells as a face */
}

/** The end of the message that begins with item i. */
static size_t message_end(const struct needs *s, size_t i) {
  const uint32_t batch = s->gas->level[s->level].batch_groups;
  const size_t first = i;
  for (i++; i < s->count && s->need[i].mine == s->need[first].mine &&
            s->need[i].other == s->need[first].other;
       i++)
    if (i >= first + (size_t)MESSAGE_BATCHES * batch &&
        s->need[i].item.group / batch != s->need[i - 1].item.group / batch)
      break;
  return i;
}

static void add_batch(struct batch_list *list, uint32_t batch) {
  if (list->count == 0 || list->batch[list->count - 1] != batch) list->batch[list->count++] = batch;
}

/** Fill in a message whose items are there. @param[out] place  of these, where this rank uses a GPU, else NULL */
static void make_message(const struct needs *s, enum ghost_kind kind, struct ghost_message *m,
                         struct ghost_item *item, struct gpu_ghost *place) {
  const struct gas *g = s->gas;
  const bool to_fathers = ghost_for_fathers(kind) && !s->sent;
  m->item = item;
  m->batches.groups = g->level[to_fathers ? s->level - 1 : s->level].batch_groups;
  m->batches.batch = allocate(m->count, sizeof *m->batches.batch, "ghosts of gas");
  for (uint32_t i = 0; i < m->count; i++) {
    item[i].first = m->parts;
    m->parts += (uint32_t)__builtin_popcountll(item[i].parts);
    const uint32_t in = to_fathers
                            ? topology_ancestor(&g->topology, s->level, item[i].group, s->level - 1)
                            : item[i].group;
    add_batch(&m->batches, in / m->batches.groups);
    if (!place) continue;
    place[i] = (struct gpu_ghost){
        .batch = m->batches.count - 1,
        .group = in % m->batches.groups,
        .first = item[i].first,
        .patch = (uint32_t)topology_patch(&g->topology, s->level, item[i].group),
        .parts = item[i].parts};
  }
  if (kind == GHOST_MEANS) m->parts = (m->parts + GAS_PATCHES - 1) / GAS_PATCHES * GAS_PATCHES;
}

static struct ghost_messages messages_of(const struct needs *s, enum ghost_kind kind) {
  struct ghost_messages all = {.items = (uint32_t)s->count,
                               .item = allocate(s->count, sizeof *all.item, "ghosts of gas")};
  if (engine_gpu() && s->count > 0)
    all.place = pinned_take(engine_pool(), s->count * sizeof *all.place);
  for (size_t i = 0; i < s->count; i = message_end(s, i)) all.count++;
  all.message = allocate(all.count, sizeof *all.message, "ghosts of gas");
  struct ghost_message *m = all.message;
  for (size_t i = 0, end; i < s->count; i = end, m++) {
    end = message_end(s, i);
    const uint32_t mine = s->need[i].mine, other = s->need[i].other;
    *m = (struct ghost_message){.from = s->sent ? mine : other,
                                .to = s->sent ? other : mine,
                                .within = mine / s->gas->tasks.homes == other / s->gas->tasks.homes,
                                .count = (uint32_t)(end - i)};
    if (m > all.message && m[-1].from == m->from && m[-1].to == m->to) m->number = m[-1].number + 1;
    for (size_t k = i; k < end; k++) all.item[k] = s->need[k].item;
    m->first_place = (uint32_t)i;
    make_message(s, kind, m, all.item + i, all.place ? all.place + i : NULL);
  }
  return all;
}

/** What is found of a kind of messages of a level in one direction: of the groups of homes of this rank, in `parts` parts
 * which workers look at. The last one to end joins what all have found. */
struct search {
  const struct gas *gas;
  int level;
  enum ghost_kind kind;
  bool sent;
  uint32_t of_home, parts; /* of a home, and of all homes */
  struct needs *needs;     /* [parts] */
  _Atomic uint32_t left;   /* parts that have not ended */
  struct ghost_messages messages;
};

/** All of them, of some levels. */
struct ghost_search {
  struct gas *gas;
  int first, end;        /* levels */
  uint32_t count, parts; /* of `search`, and of all of these */
  struct search *search; /* [count] */
};

/** Join what was found, and free it. */
static void join(struct search *s) {
  struct needs *found = s->needs, all = found[0];
  for (uint32_t i = 1; i < s->parts; i++) all.count += found[i].count;
  all.need = reallocate(NULL, all.count + 1, sizeof *all.need, "ghosts of gas");
  size_t n = 0;
  for (uint32_t i = 0; i < s->parts; n += found[i++].count) {
    if (found[i].count > 0) memcpy(all.need + n, found[i].need, found[i].count * sizeof *all.need);
    free(found[i].need);
  }
  needs_sort(&all);
  s->messages = messages_of(&all, s->kind);
  free(all.need);
}

static void find(struct search *search, uint32_t part) {
  struct needs *s = &search->needs[part];
  *s = (struct needs){.gas = search->gas,
                      .level = search->level,
                      .sent = search->sent,
                      .part = part % search->of_home,
                      .parts = search->of_home};
  needs_find(s, search->kind, gas_home_begin(search->gas) + part / search->of_home);
  needs_sort(s);
  if (atomic_fetch_sub(&search->left, 1) == 1) join(search);
}

void ghosts_find_part(const struct ghost_search *all, uint32_t i) {
  struct search *search = all->search;
  for (; i >= search->parts; search++) i -= search->parts;
  find(search, i);
}

static int compare(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

/** The order of messages that are sent, and of those that are received. */
static int compare_sent(const void *a, const void *b) {
  const struct ghost_message *x = a, *y = b;
  if (x->from != y->from) return compare(x->from, y->from);
  return x->to != y->to ? compare(x->to, y->to) : compare(x->number, y->number);
}
static int compare_received(const void *a, const void *b) {
  const struct ghost_message *x = a, *y = b;
  return x->to != y->to ? compare(x->to, y->to) : compare_sent(a, b);
}

/** The message of a list that a message is in the place of; NULL: there is none. */
static struct ghost_message *same_message(const struct ghost_messages *all,
                                          const struct ghost_message *m, bool sent) {
  if (all->count == 0) return NULL;
  return bsearch(m, all->message, all->count, sizeof *m, sent ? compare_sent : compare_received);
}

/** Make the data of a message. Levels below the root get new groups time and again: with room sizes recur, and the data
 * of the message that this one is in the place of are taken over. */
static void make_data(const struct gas *g, int level, enum ghost_kind kind, struct ghost_message *m,
                      const struct ghost_messages *old, bool sent) {
  struct ghost_message *same = same_message(old, m, sent);
  m->room = level > 0 ? handle_room(m->parts) : m->parts;
  if (same && same->packed && same->room == m->room) {
    m->packed = same->packed;
    same->packed = NULL;
    return;
  }
  m->packed = handle_make(m->room * ghost_part_bytes(g, kind), 1);
}

/** Make the data of messages. A home that packs a message owns it. */
static void make_packed(const struct gas *g, int level, enum ghost_kind kind,
                        struct gas_ghosts *ghosts, const struct gas_ghosts *old) {
  struct ghost_messages *sent = &ghosts->sent[kind], *received = &ghosts->received[kind];
  for (uint32_t i = 0; i < sent->count; i++) {
    struct ghost_message *m = &sent->message[i];
    make_data(g, level, kind, m, &old->sent[kind], true);
    owner_set(m->packed, m->from - gas_home_begin(g), g->tasks.homes);
  }
  for (uint32_t i = 0; i < received->count; i++) {
    struct ghost_message *m = &received->message[i];
    if (m->within)
      m->packed = same_message(sent, m, true)->packed;
    else
      make_data(g, level, kind, m, &old->received[kind], false);
  }
}

/** Make the data of the places of messages. Those that were there are taken over where they are equal: they are on GPUs. */
static void make_places(struct ghost_messages *all, struct ghost_messages *old) {
  const size_t bytes = all->items * sizeof *all->place;
  if (!all->place) return;
  if (old->place && old->items == all->items && memcmp(old->place, all->place, bytes) == 0) {
    pinned_give_back(engine_pool(), all->place, bytes);
    all->place = old->place;
    all->places = old->places;
    old->place = NULL;
    old->places = NULL;
  } else {
    all->places = handle_register(all->place, all->items, sizeof *all->place);
  }
  for (uint32_t i = 0; i < all->count; i++) all->message[i].places = all->places;
}

/** Parts of the groups of a home: of the level, or of the next finer one, which are mostly more. */
static uint32_t parts_of(const struct gas *g, int level) {
  const struct gas_tree_level *l = &g->topology.level[level];
  const uint32_t finer = level < g->topology.finest ? l[1].count : 0,
                 groups = (l->count > finer ? l->count : finer) /
                          ((uint32_t)comm_size() * g->tasks.homes),
                 parts = groups / PART_GROUPS;
  return parts < 1 ? 1 : parts > PARTS_MOST ? PARTS_MOST : parts;
}

static uint32_t kinds_of(const struct gas *g) {
  return g->particles ? GHOST_KINDS : g->gravity ? GHOST_MATTER : GHOST_POTENTIALS;
}

static void add_searches(struct ghost_search *all, int level) {
  const struct gas *g = all->gas;
  const uint32_t of_home = parts_of(g, level), parts = of_home * g->tasks.homes;
  for (uint32_t kind = 0; kind < kinds_of(g); kind++)
    for (int sent = 0; sent < 2; sent++, all->parts += parts) {
      struct search *s = &all->search[all->count++];
      *s = (struct search){g, level, (enum ghost_kind)kind, sent, of_home, parts, NULL, 0, {0}};
      s->needs = allocate(parts, sizeof *s->needs, "ghosts of gas");
      atomic_init(&s->left, parts);
    }
}

struct ghost_search *ghosts_find_begin(struct gas *g, int first, int end, uint32_t *parts) {
  struct ghost_search *all = allocate(1, sizeof *all, "ghosts of gas");
  *all = (struct ghost_search){.gas = g, .first = first, .end = end};
  if ((uint32_t)comm_size() * g->tasks.homes > 1) {
    all->search = allocate((size_t)(end - first) * 2 * kinds_of(g), sizeof *all->search,
                           "ghosts of gas");
    for (int level = first; level < end; level++) add_searches(all, level);
  }
  *parts = all->parts;
  return all;
}

void ghosts_find_end(struct ghost_search *all) {
  struct gas *g = all->gas;
  const struct search *s = all->search;
  for (int level = all->first; level < all->end && s; level++) {
    struct gas_ghosts old = g->level[level].ghosts, *ghosts = &g->level[level].ghosts;
    *ghosts = (struct gas_ghosts){0};
    for (uint32_t kind = 0; kind < kinds_of(g); kind++) {
      ghosts->received[kind] = s++->messages;
      ghosts->sent[kind] = s++->messages;
      make_packed(g, level, (enum ghost_kind)kind, ghosts, &old);
      make_places(&ghosts->sent[kind], &old.sent[kind]);
      make_places(&ghosts->received[kind], &old.received[kind]);
    }
    ghosts_free(&old);
  }
  for (uint32_t i = 0; i < all->count; i++) free(all->search[i].needs);
  free(all->search);
  free(all);
}

static void free_messages(struct ghost_messages *all, bool sent) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (sent || !all->message[i].within) handle_drop(&all->message[i].packed);
    free(all->message[i].batches.batch);
  }
  handle_drop(&all->places);
  if (all->place) pinned_give_back(engine_pool(), all->place, all->items * sizeof *all->place);
  free(all->message);
  free(all->item);
  *all = (struct ghost_messages){0};
}

void ghosts_free(struct gas_ghosts *ghosts) {
  for (int kind = 0; kind < GHOST_KINDS; kind++) {
    free_messages(&ghosts->received[kind], false);
    free_messages(&ghosts->sent[kind], true);
  }
}
