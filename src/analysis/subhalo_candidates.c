/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Candidates for subhalos: particles are added by falling density in phase space to the peaks that their nearest
 * denser neighbours there belong to, as Maciejewski et al. 2009 (MNRAS 396, 1329) do it. A particle between two peaks is
 * at a saddle point: the peak that fills less of phase space is a candidate, and both go on as one. */
#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "rising.h"
#include "subhalo.h"

#define NONE UINT32_MAX
/* Of two peaks that are so alike in what they fill, either may be inside the other: both are candidates. What goes on
 * grows by this factor each time, so that few candidates are around a particle. */
#define ALIKE 30.0

/** Peaks as chains of particles. A chain is known by its first particle, its head. Which chain has a particle is found
 * along `parent`, where the shorter one of two chains goes below the longer one: a dense peak with most particles of a halo
 * joins a thousand thin ones, and keeps its particles as they are (Tarjan 1975, J. ACM 22, 215). */
struct chains {
  uint32_t *parent, *next; /* [body]; parent: NONE: not added yet; itself: the root of its chain */
  uint32_t *head;          /* [root] */
  uint32_t *tail, *length; /* [head] */
  uint32_t *level;         /* [head] of the candidates inside, plus 1 */
  double *volume;          /* [head] of phase space that they fill: sum of 1/density */
  size_t least;
  struct candidates *found; /* `first` holds the head until places are known */
};

static void add_candidate(const struct chains *c, uint32_t head) {
  struct candidates *f = c->found;
  if (f->count % 256 == 0)
    f->list = reallocate(f->list, f->count + 256, sizeof *f->list, "candidates for subhalos");
  f->list[f->count++] = (struct candidate){
      .first = head, .count = c->length[head], .level = c->level[head]++};
}

/** The root of a particle's chain. Ways to roots become shorter. */
static uint32_t root_of(const struct chains *c, uint32_t body) {
  while (c->parent[body] != body) {
    c->parent[body] = c->parent[c->parent[body]];
    body = c->parent[body];
  }
  return body;
}

/** The head of a particle's chain; NONE: it has not been added. */
static uint32_t head_of(const struct chains *c, uint32_t body) {
  return c->parent[body] == NONE ? NONE : c->head[root_of(c, body)];
}

/** Append the chain of a smaller peak to that of a larger one. */
static void join(const struct chains *c, uint32_t large, uint32_t small) {
  if (c->length[small] >= c->least) {
    if (c->length[large] >= c->least && c->volume[large] < ALIKE * c->volume[small])
      add_candidate(c, large);
    add_candidate(c, small);
  }
  if (c->level[small] > c->level[large]) c->level[large] = c->level[small];
  const uint32_t a = root_of(c, large), b = root_of(c, small);
  const bool below = c->length[small] <= c->length[large];
  c->parent[below ? b : a] = below ? a : b;
  c->head[below ? a : b] = large;
  c->next[c->tail[large]] = small;
  c->tail[large] = c->tail[small];
  c->length[large] += c->length[small];
  c->volume[large] += c->volume[small];
}

/** Join two peaks. The one that fills less of phase space is inside the other: a clump near the middle of its host is
 * complete where the host, much less dense, has few particles so far. @return the head of both */
static uint32_t join_at_saddle(const struct chains *c, uint32_t a, uint32_t b) {
  const bool a_is_large = c->volume[a] != c->volume[b] ? c->volume[a] > c->volume[b] : a < b;
  join(c, a_is_large ? a : b, a_is_large ? b : a);
  return a_is_large ? a : b;
}

/** Add a particle behind all denser ones. */
static void add_body(const struct chains *c, uint32_t body, double volume,
                     const uint32_t *neighbour, size_t neighbours) {
  uint32_t head = NONE;
  for (size_t k = 0, denser = 0; k < neighbours && denser < 2; k++) {
    const uint32_t other = head_of(c, neighbour[k]);
    if (other == NONE) continue;
    denser++;
    head = head == NONE || head == other ? other : join_at_saddle(c, head, other);
  }
  c->next[body] = NONE;
  if (head == NONE) {
    c->parent[body] = c->head[body] = c->tail[body] = body;
    c->length[body] = 1;
    c->volume[body] = volume;
    return;
  }
  c->parent[body] = root_of(c, head);
  c->next[c->tail[head]] = body;
  c->tail[head] = body;
  c->length[head]++;
  c->volume[head] += volume;
}

static void add_by_density(const struct chains *c, const struct densities *d, size_t n) {
  uint32_t *order = allocate(n, sizeof *order, "densities in a halo");
  order_falling(n, d->density, order);
  for (size_t i = 0; i < n; i++) {
    const uint32_t body = order[i];
    add_body(c, body, 1.0 / d->density[body], d->neighbour + body * d->linked, d->linked);
  }
  free(order);
}

/** Join chains that no saddle point joined. @return the head of all */
static uint32_t join_rest(const struct chains *c, size_t n) {
  uint32_t head = head_of(c, 0);
  for (uint32_t i = 0; i < n; i++)
    if (head_of(c, i) != head) head = join_at_saddle(c, head, head_of(c, i));
  return head;
}

/** Number the particles along the chain of all of them. */
static void set_places(const struct chains *c, uint32_t head, size_t n) {
  uint32_t place = 0, *place_of = c->tail; /* tails are not needed any more */
  c->found->order = allocate(n, sizeof *c->found->order, "candidates for subhalos");
  for (uint32_t i = head; i != NONE; i = c->next[i]) {
    c->found->order[place] = i;
    place_of[i] = place++;
  }
  for (size_t k = 0; k < c->found->count; k++)
    c->found->list[k].first = place_of[c->found->list[k].first];
}

/** By first place, then the larger one first: a candidate comes before those inside it. */
static int compare_places(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->count < y->count) - (x->count > y->count);
}

static void nest(const struct candidates *c) {
  qsort(c->list, c->count, sizeof *c->list, compare_places);
  for (uint32_t i = 1, around = 0; i < c->count; around = i++) {
    while (c->list[around].first + c->list[around].count <= c->list[i].first)
      around = c->list[around].around;
    c->list[i].around = around;
  }
}

struct candidates subhalo_candidates(size_t n, struct densities *d, size_t least) {
  struct candidates found = {NULL, 0, NULL};
  uint32_t *memory = allocate(6 * n, sizeof *memory, "peaks in a halo");
  double *volume = allocate(n, sizeof *volume, "peaks in a halo");
  const struct chains c = {.parent = memory,
                           .next = memory + n,
                           .head = memory + 2 * n,
                           .tail = memory + 3 * n,
                           .length = memory + 4 * n,
                           .level = memory + 5 * n,
                           .volume = volume,
                           .least = least,
                           .found = &found};
  for (size_t i = 0; i < n; i++) c.parent[i] = NONE;
  add_by_density(&c, d, n);
  densities_free(d);
  const uint32_t head = join_rest(&c, n);
  add_candidate(&c, head);
  set_places(&c, head, n);
  nest(&found);
  free(memory);
  free(volume);
  return found;
}

void subhalo_candidates_free(struct candidates *c) {
  for (size_t i = 0; i < c->count; i++) {
    potentials_free(&c->list[i].all);
    potentials_free(&c->list[i].member);
  }
  free(c->list);
  free(c->order);
}
