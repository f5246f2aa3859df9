/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descendants, main progenitors, and objects that skip an output. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halo_home.h"
#include "photons/analysis/tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"
#include "tree_lookup.h"

static const char what[] = "links of merger trees";
enum { PARTS = 256 }; /* of a loop over all objects */

/** An object becomes one that has at least so much of the weight of its listed particles, where there is one. */
#define LEAST_SHARE 0.2

/** The weight of a particle by its rank, 0 for the most bound one. */
static void fill_weights(double weight[TREE_LISTED]) {
  for (int rank = 0; rank < TREE_LISTED; rank++)
    weight[rank] = 1.0 / cbrt((rank + 1.0) * (rank + 1.0));
}

static double weight_of(size_t listed, const double *weight) {
  double sum = 0.0;
  for (size_t rank = 0; rank < listed; rank++) sum += weight[rank];
  return sum;
}

/** An object of the later output that has particles of an object. */
struct heir {
  uint64_t object;
  double share; /* sum of the particles' weights */
};

/** List the heirs of an object.
 * @param found  [listed] the objects that its particles are in now
 * @return how many there are */
static size_t list_heirs(const uint64_t *found, size_t listed, const double *weight,
                         struct heir *heir) {
  size_t heirs = 0;
  for (size_t rank = 0; rank < listed; rank++) {
    if (found[rank] == TREE_NONE) continue;
    size_t k = 0;
    while (k < heirs && heir[k].object != found[rank]) k++;
    if (k == heirs) heir[heirs++] = (struct heir){found[rank], 0.0};
    heir[k].share += weight[rank];
  }
  return heirs;
}

/** The share that an heir needs: a stray particle in a small object does not go before a large host.
 * @param weight  of all listed particles of the object */
static double least_share(double weight, size_t heirs, const struct heir *heir) {
  for (size_t k = 0; k < heirs; k++)
    if (heir[k].share >= LEAST_SHARE * weight) return LEAST_SHARE * weight;
  return 0.0;
}

/** The heir that an object has become; of several with the same score the first of the catalogue.
 * @param count    particles of the object
 * @param weight   of all its listed particles
 * @param members  [heirs] and of the heirs */
static uint64_t best_of(double count, double weight, size_t heirs, const struct heir *heir,
                        const uint64_t *members) {
  const double least = least_share(weight, heirs, heir);
  double most = 0.0;
  uint64_t best = TREE_NONE;
  for (size_t k = 0; k < heirs; k++) {
    if (heir[k].share < least) continue;
    const double n = (double)members[k],
                 score = heir[k].share * sqrt(fmin(count, n) / fmax(count, n));
    if (score < most || (score == most && heir[k].object >= best)) continue;
    most = score;
    best = heir[k].object;
  }
  return best;
}

/** Objects of an earlier output that are looked for now. */
struct sought {
  const struct tree_objects *objects;
  /** What the objects have become in an output between: one that is the main progenitor of its descendant there skips
   * nothing, and is not looked for. NULL: there is no output between. */
  const struct tree_fates *between;
};

/** How many particles of an object are looked for. */
static size_t listed_of(const struct sought *s, size_t i) {
  const bool settled = s->between && s->between->descendant[i] != TREE_NONE && s->between->main[i];
  return settled ? 0 : (size_t)s->objects->object[i].listed;
}

static size_t count_listed(const struct sought *s) {
  size_t listed = 0;
  for (size_t i = 0; i < s->objects->count; i++) listed += listed_of(s, i);
  return listed;
}

/** List the particles that are looked for. @return the end of the list */
static uint64_t *list_ids(const struct sought *s, uint64_t *list) {
  const uint64_t *id = s->objects->id;
  for (size_t i = 0; i < s->objects->count; id += s->objects->object[i++].listed) {
    const size_t listed = listed_of(s, i);
    if (listed > 0) memcpy(list, id, listed * sizeof *list);
    list += listed;
  }
  return list;
}

/** The particles of objects. @param index  [count] objects of an output */
static uint64_t *fetch_members(const struct tree_objects *o, size_t count, const uint64_t *index) {
  uint64_t *mine = allocate(o->count, sizeof *mine, what);
  for (size_t i = 0; i < o->count; i++) mine[i] = (uint64_t)o->object[i].count;
  uint64_t *members = tree_fetch(o->all, mine, count, index);
  free(mine);
  return members;
}

/** The objects of an earlier output and their heirs. */
struct heirs {
  const struct sought *then;
  const uint64_t *found; /* the objects that have their listed particles now */
  double weight[TREE_LISTED];
  size_t *listed; /* [objects] of the first listed particle, and of the first heir, the place */
  size_t *of;     /* [objects] how many heirs each one has */
  struct heir *heir;
};

/** List the heirs of a part of the objects. */
static void find_part(void *context, uint32_t part) {
  const struct heirs *h = context;
  const size_t count = h->then->objects->count, end = block_first(count, PARTS, part + 1);
  for (size_t i = block_first(count, PARTS, part); i < end; i++)
    h->of[i] = list_heirs(h->found + h->listed[i], listed_of(h->then, i), h->weight,
                          h->heir + h->listed[i]);
}

static struct heirs find_heirs(const struct sought *then, const uint64_t *found) {
  struct heirs h = {.then = then, .found = found};
  const size_t count = then->objects->count;
  size_t listed = 0;
  h.listed = allocate(2 * count, sizeof *h.listed, what);
  h.of = h.listed + count;
  for (size_t i = 0; i < count; listed += listed_of(then, i++)) h.listed[i] = listed;
  h.heir = allocate(listed, sizeof *h.heir, what);
  fill_weights(h.weight);
  loop_run(&halos_stage, PARTS, find_part, &h);
  return h;
}

/** The particles of all heirs, object by object. */
static uint64_t *members_of(const struct heirs *h, const struct tree_objects *now) {
  const size_t count = h->then->objects->count;
  size_t all = 0, k = 0;
  for (size_t i = 0; i < count; i++) all += h->of[i];
  uint64_t *index = allocate(all, sizeof *index, what);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < h->of[i]; j++) index[k++] = h->heir[h->listed[i] + j].object;
  uint64_t *members = fetch_members(now, all, index);
  free(index);
  return members;
}

/** Where the objects of an earlier output are now.
 * @param found  the objects that have their listed particles now */
static struct tree_fates judge_descendants(const struct tree_objects *now,
                                           const struct sought *sought, const uint64_t *found) {
  const struct tree_objects *then = sought->objects;
  struct tree_fates f = {then->all, then->first, then->count,
                         allocate(then->count, sizeof *f.descendant, what), NULL};
  const struct heirs h = find_heirs(sought, found);
  uint64_t *members = members_of(&h, now);
  for (size_t i = 0, first = 0; i < then->count; first += h.of[i++]) {
    const struct tree_object *o = &then->object[i];
    f.descendant[i] = best_of((double)o->count, weight_of((size_t)o->listed, h.weight), h.of[i],
                              h.heir + h.listed[i], members + first);
  }
  free(members);
  free(h.heir);
  free(h.listed);
  return f;
}

/** The particles of both earlier outputs are looked for at once: one way through all members. */
static void find_descendants(struct tree_links *l, const struct tree_objects *now,
                             const struct tree_links *before, const struct tree_objects *earlier) {
  const struct sought first = {&before->objects, NULL}, second = {earlier, &before->before};
  const size_t listed = count_listed(&first), all = listed + count_listed(&second);
  uint64_t *id = allocate(all, sizeof *id, what);
  (void)list_ids(&second, list_ids(&first, id));
  uint64_t *found = tree_lookup(now, all, id);
  l->before = judge_descendants(now, &first, found);
  l->skipped = judge_descendants(now, &second, found + listed);
  free(found);
}

/** Of the descendants that objects two outputs before have now, leave those of objects that skip the
 * output between.
 * @param between  the descendants of these objects in the output between */
static void leave_skipped(struct tree_fates *skipped, const struct tree_fates *between,
                          const struct tree_fates *before) {
  uint64_t *follow = tree_fetch(before->all, before->descendant, skipped->count,
                                between->descendant);
  for (size_t i = 0; i < skipped->count; i++)
    if (between->descendant[i] != TREE_NONE && follow[i] == skipped->descendant[i])
      skipped->descendant[i] = TREE_NONE;
  free(follow);
}

/** A progenitor, as it is told to the rank of its descendant. */
struct claim {
  uint64_t descendant, number; /* number: of the progenitor in its own output */
  double history;
  uint64_t skips; /* outputs between */
};

/** Whether a claim goes before another: the larger history; all else only makes the order total. */
static bool goes_before(const struct claim *a, const struct claim *b) {
  if (a->history != b->history) return a->history > b->history;
  if (a->skips != b->skips) return a->skips < b->skips;
  return a->number < b->number;
}

/** The progenitors on this rank. */
struct claims {
  size_t count;
  struct claim *claim;
};

static void add_claims(struct claims *c, const struct tree_fates *f, const double *history,
                       uint64_t skips) {
  for (size_t i = 0; i < f->count; i++)
    if (f->descendant[i] != TREE_NONE)
      c->claim[c->count++] = (struct claim){f->descendant[i], f->first + i, history[i], skips};
}

/** The mass histories of the objects now, and which claims are those of main progenitors.
 * @param received  claims for this rank's objects */
static bool *judge_claims(struct tree_links *now, const struct claim *received, size_t count) {
  const struct tree_objects *o = &now->objects;
  const struct claim **best = allocate(o->count, sizeof(const struct claim *), what);
  for (size_t i = 0; i < count; i++) {
    const struct claim **of = &best[received[i].descendant - o->first];
    if (!*of || goes_before(&received[i], *of)) *of = &received[i];
  }
  for (size_t i = 0; i < o->count; i++)
    now->history[i] = (double)o->object[i].mass + (best[i] ? best[i]->history : 0.0);
  bool *is_main = allocate(count, sizeof *is_main, what);
  for (size_t i = 0; i < count; i++)
    is_main[i] = best[received[i].descendant - o->first] == &received[i];
  free(best);
  return is_main;
}

/** The main progenitor of an object has the largest mass history (De Lucia & Blaizot 2007, MNRAS 375,
 * 2): halos that are one for a while do not change it. */
static void choose_main(struct tree_links *now, const struct tree_links *before,
                        const struct tree_links *earlier) {
  struct claims c = {0, allocate(now->before.count + now->skipped.count, sizeof *c.claim, what)};
  add_claims(&c, &now->before, before->history, 0);
  add_claims(&c, &now->skipped, earlier->history, 1);
  size_t *send = exchange_counts(), *receive = exchange_counts(),
         *place = allocate(c.count, sizeof *place, what);
  uint32_t *rank = allocate(c.count, sizeof *rank, what);
  for (size_t i = 0; i < c.count; i++)
    rank[i] = (uint32_t)block_containing(now->objects.all, (size_t)comm_size(),
                                         c.claim[i].descendant);
  struct claim *received = exchange_scattered(c.claim, sizeof *c.claim, c.count, rank, place, send,
                                              receive);
  bool *judged = judge_claims(now, received, exchange_total(receive)),
       *is_main = exchange_answers(judged, sizeof *judged, receive, send);
  now->before.main = allocate(now->before.count, sizeof *now->before.main, what);
  for (size_t i = 0, k = 0; i < now->before.count; i++)
    now->before.main[i] = now->before.descendant[i] != TREE_NONE && is_main[place[k++]];
  free(is_main);
  free(judged);
  free(received);
  free(rank);
  free(place);
  free(send);
  free(receive);
  free(c.claim);
}

struct tree_links tree_links_make(struct tree_objects *now, const struct tree_links *before,
                                  const struct tree_links *earlier) {
  struct tree_links l = {0};
  find_descendants(&l, now, before, &earlier->objects);
  leave_skipped(&l.skipped, &before->before, &l.before);
  free(now->member);
  now->member = NULL;
  now->members = 0;
  l.objects = *now;
  *now = (struct tree_objects){0};
  l.history = allocate(l.objects.count, sizeof *l.history, what);
  choose_main(&l, before, earlier);
  return l;
}

static void fates_free(struct tree_fates *f) {
  free(f->descendant);
  free(f->main);
}

void tree_links_free(struct tree_links *l) {
  tree_objects_free(&l->objects);
  free(l->history);
  fates_free(&l->before);
  fates_free(&l->skipped);
  *l = (struct tree_links){0};
}
