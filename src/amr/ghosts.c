/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages between homes: of which groups they have what, and their data. */
#include "photons/amr/ghosts.h"

#include <stdlib.h>
#include <string.h>

#include "ghost_needs.h"
#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/owner_computes.h"

LOOP_STAGE(gas_ghosts, 0x886699, .family = "gas");

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

/** Fill in a message whose items are there. */
static void make_message(const struct needs *s, enum ghost_kind kind, struct ghost_message *m,
                         struct ghost_item *item) {
  const struct gas *g = s->gas;
  const bool to_fathers = ghost_for_fathers(kind) && !s->sent;
  m->item = item;
  m->batches.groups = g->level[to_fathers ? s->level - 1 : s->level].batch_groups;
  m->batches.batch = allocate(m->count, sizeof *m->batches.batch, "ghosts of gas");
  for (uint32_t i = 0; i < m->count; i++) {
    item[i].first = m->parts;
    m->parts += (uint32_t)__builtin_popcountll(item[i].parts);
    add_batch(&m->batches, (to_fathers ? g->topology.level[s->level].group[item[i].group].father
                                       : item[i].group) /
                               m->batches.groups);
  }
  if (kind == GHOST_MEANS) m->parts = (m->parts + GAS_PATCHES - 1) / GAS_PATCHES * GAS_PATCHES;
}

static struct ghost_messages messages_of(const struct needs *s, enum ghost_kind kind) {
  struct ghost_messages all = {.item = allocate(s->count, sizeof *all.item, "ghosts of gas")};
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
    make_message(s, kind, m, all.item + i);
  }
  return all;
}

/** What the homes of this rank send or receive of a level. */
struct search {
  const struct gas *gas;
  int level;
  uint32_t of_home, parts;         /* of a home, and of all homes */
  struct needs *needs;             /* [kind][sent][part] */
  struct ghost_messages *messages; /* [kind][sent] */
};

static void find(void *context, uint32_t i) {
  const struct search *search = context;
  const uint32_t direction = i / search->parts, part = i % search->parts;
  struct needs *s = &search->needs[i];
  *s = (struct needs){.gas = search->gas,
                      .level = search->level,
                      .sent = direction % 2,
                      .part = part % search->of_home,
                      .parts = search->of_home};
  needs_find(s, (enum ghost_kind)(direction / 2),
             gas_home_begin(search->gas) + part / search->of_home);
  needs_sort(s);
}

/** Join what was found of a kind in one direction, and free it. */
static void join(void *context, uint32_t direction) {
  const struct search *search = context;
  struct needs *found = search->needs + direction * search->parts, all = found[0];
  for (uint32_t i = 1; i < search->parts; i++) all.count += found[i].count;
  all.need = allocate(all.count, sizeof *all.need, "ghosts of gas");
  size_t n = 0;
  for (uint32_t i = 0; i < search->parts; n += found[i++].count) {
    if (found[i].count > 0) memcpy(all.need + n, found[i].need, found[i].count * sizeof *all.need);
    free(found[i].need);
  }
  needs_sort(&all);
  search->messages[direction] = messages_of(&all, (enum ghost_kind)(direction / 2));
  free(all.need);
}

static int compare_messages(const void *a, const void *b) {
  const struct ghost_message *x = a, *y = b;
  if (x->from != y->from) return (x->from > y->from) - (x->from < y->from);
  if (x->to != y->to) return (x->to > y->to) - (x->to < y->to);
  return (x->number > y->number) - (x->number < y->number);
}

/** Levels below the root get new groups time and again: with room, sizes recur, and StarPU finds memory of GPUs
 * that it has already. */
static starpu_data_handle_t make_data(const struct gas *g, int level, enum ghost_kind kind,
                                      uint32_t parts) {
  return handle_make((level > 0 ? handle_room(parts) : parts) * ghost_part_bytes(g, kind), 1);
}

/** Make the data of messages. A home that packs a message owns it. */
static void make_packed(const struct gas *g, int level, enum ghost_kind kind,
                        struct gas_ghosts *ghosts) {
  struct ghost_messages *sent = &ghosts->sent[kind], *received = &ghosts->received[kind];
  for (uint32_t i = 0; i < sent->count; i++) {
    struct ghost_message *m = &sent->message[i];
    m->packed = make_data(g, level, kind, m->parts);
    owner_set(m->packed, m->from - gas_home_begin(g), g->tasks.homes);
  }
  for (uint32_t i = 0; i < received->count; i++) {
    struct ghost_message *m = &received->message[i];
    if (m->within)
      m->packed = ((const struct ghost_message *)bsearch(m, sent->message, sent->count, sizeof *m,
                                                         compare_messages))
                      ->packed;
    else
      m->packed = make_data(g, level, kind, m->parts);
  }
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

struct gas_ghosts ghosts_find(const struct gas *g, int level) {
  struct gas_ghosts ghosts = {0};
  struct ghost_messages messages[2 * GHOST_KINDS];
  const uint32_t kinds = g->particles ? GHOST_KINDS
                         : g->gravity ? GHOST_MATTER
                                      : GHOST_POTENTIALS,
                 of_home = parts_of(g, level), parts = of_home * g->tasks.homes;
  if ((uint32_t)comm_size() * g->tasks.homes == 1) return ghosts;
  struct needs *needs = allocate(2 * kinds * parts, sizeof *needs, "ghosts of gas");
  struct search search = {g, level, of_home, parts, needs, messages};
  if (of_home == 1) {
    for (uint32_t i = 0; i < 2 * kinds * parts; i++) find(&search, i);
    for (uint32_t i = 0; i < 2 * kinds; i++) join(&search, i);
  } else {
    loop_run(&gas_ghosts_stage, 2 * kinds * parts, find, &search);
    loop_run(&gas_ghosts_stage, 2 * kinds, join, &search);
  }
  for (uint32_t kind = 0; kind < kinds; kind++) {
    ghosts.received[kind] = messages[2 * kind];
    ghosts.sent[kind] = messages[2 * kind + 1];
    make_packed(g, level, (enum ghost_kind)kind, &ghosts);
  }
  free(needs);
  return ghosts;
}

static void free_messages(struct ghost_messages *all, bool sent) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (sent || !all->message[i].within) handle_drop(&all->message[i].packed);
    free(all->message[i].batches.batch);
  }
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
