/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Subhalos of a halo: what is bound in the candidates, the innermost candidates first. */
#include "subhalo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halo_tree.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"

#define SOFTENING (1.0 / 30.0) /* mean distances of particles: the automatic softening of runs */
enum { LARGE = 1 << 15 };      /* candidates of so many particles are unbound by all workers */

/* Members of the halos that are searched at a time, a part of all particles: 16 workers have a halo of a hundredth of all
 * members each, which are 0.4 of the particles of a box of 25 Mpc/h at z = 0. The largest halo there has 0.033 alone. */
#define SEARCHED_SHARE 0.064
/* Of a member while particles are removed: itself, its place in two orders, its energy, and a copy of it
 * in a tree (struct halo_body, struct candidates, struct bound, struct halo_tree). While densities are
 * smoothed it has 20 neighbours instead, which are as large. */
#define MEMBER_BYTES 230.0

double subhalos_memory(const struct parameters *p, size_t particles) {
  if (!p->output.subhalos || !p->analysis.fof) return 0.0;
  return MEMBER_BYTES * SEARCHED_SHARE * (double)particles;
}

/** The search in one halo. */
struct search {
  struct unbinding unbinding;
  struct candidates candidates;
  bool *taken; /* [body] is in a subhalo */
  uint32_t level;
};

/** Unbind those particles of a candidate that are in no subhalo inside it. */
static void unbind_candidate(const struct search *s, struct candidate *c, bool shared) {
  uint32_t count = 0;
  c->member = allocate(c->count, sizeof *c->member, "subhalos");
  for (uint32_t k = 0; k < c->count; k++) {
    const uint32_t body = s->candidates.order[c->first + k];
    if (!s->taken[body]) c->member[count++] = body;
  }
  c->bound = (uint32_t)subhalo_unbind(&s->unbinding, count, c->member, shared);
  for (uint32_t k = 0; k < c->bound; k++) s->taken[c->member[k]] = true;
  c->member = reallocate(c->member, c->bound + 1, sizeof *c->member, "subhalos");
}

/** Small candidates of a level have no particle in common. */
static void unbind_small(void *context, uint32_t i) {
  const struct search *s = context;
  struct candidate *c = &s->candidates.list[i];
  if (c->level == s->level && c->count < LARGE) unbind_candidate(s, c, false);
}

static void unbind_all(struct search *s, bool shared) {
  const struct candidates *c = &s->candidates;
  const uint32_t top = c->list[c->count - 1].level; /* of the whole halo */
  for (s->level = 0; s->level <= top; s->level++) {
    halo_loop(shared, (uint32_t)c->count, unbind_small, s);
    for (size_t i = 0; i < c->count; i++)
      if (c->list[i].level == s->level && c->list[i].count >= LARGE)
        unbind_candidate(s, &c->list[i], shared);
  }
}

/** By first place, then the larger one first: a candidate comes before those inside it. */
static int compare_places(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->count < y->count) - (x->count > y->count);
}

static int compare_bound(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? 1 : -1;
  return (x->nested > y->nested) - (x->nested < y->nested);
}

/** Move candidates that are subhalos to the front and sort them, the largest first. @return their
 * number */
static size_t sort_subhalos(struct candidates *c) {
  size_t count = 0;
  for (size_t i = 0; i < c->count; i++) {
    struct candidate swap = c->list[i];
    if (swap.bound == 0) continue;
    c->list[i] = c->list[count];
    c->list[count++] = swap;
  }
  qsort(c->list, count, sizeof *c->list, compare_places);
  for (uint32_t i = 0; i < count; i++) {
    struct candidate *now = &c->list[i];
    now->nested = now->around = i;
    uint32_t k = i; /* from the subhalo before outwards, until one ends behind this one */
    while (k > 0) {
      k = k == i ? i - 1 : c->list[k].around;
      if (c->list[k].first + c->list[k].count > now->first) {
        now->around = k;
        break;
      }
      if (c->list[k].around == k) break;
    }
  }
  qsort(c->list, count, sizeof *c->list, compare_bound);
  return count;
}

/** What the measurement of subhalos needs. */
struct measuring {
  const struct unbinding *unbinding;
  const struct candidate *list;
  const double *centre; /* of the halo */
  double box;
  struct subhalo *subhalo;
};

static double into_box(double x, double box) {
  x -= box * floor(x / box);
  return x < box ? x : 0.0;
}

static void measure(void *context, uint32_t i) {
  const struct measuring *m = context;
  const struct unbinding *u = m->unbinding;
  const struct candidate *c = &m->list[i];
  struct subhalo *s = &m->subhalo[i];
  struct halo_body *body = allocate(c->bound, sizeof *body, "subhalos");
  for (uint32_t k = 0; k < c->bound; k++) body[k] = u->body[c->member[k]];
  const struct body_means means = body_means(c->bound, body, u->background);
  double *distance = body_distances(c->bound, body, body[0].x);
  s->v_max = body_v_max(c->bound, distance, u->mass, u->background->a, &s->r_max);
  s->half_radius = distance[(c->bound - 1) / 2];
  s->dispersion = means.dispersion;
  for (size_t k = 0; k < 3; k++) {
    s->position[k] = into_box(m->centre[k] + body[0].x[k], m->box);
    s->mean_position[k] = into_box(m->centre[k] + means.x[k], m->box);
    s->velocity[k] = means.v[k];
    s->spin[k] = means.spin[k];
  }
  free(distance);
  free(body);
}

/** Number the particles of the subhalos one after the other, and set what follows from the numbers. */
static void number_subhalos(const struct candidate *list, size_t count, struct subhalo *subhalo,
                            uint32_t *order) {
  uint32_t *rank = allocate(count, sizeof *rank, "subhalos"); /* [nested] */
  for (uint32_t i = 0; i < count; i++) rank[list[i].nested] = i;
  uint64_t first = 0;
  for (size_t i = 0; i < count; i++) {
    subhalo[i].first = first;
    subhalo[i].count = list[i].bound;
    subhalo[i].rank = i;
    subhalo[i].parent = rank[list[i].around];
    memcpy(order + first, list[i].member, list[i].bound * sizeof *order);
    first += list[i].bound;
  }
  free(rank);
}

/** Particles in no subhalo come last. */
static void number_rest(size_t n, const bool *taken, uint32_t *order) {
  size_t next = 0;
  for (size_t i = 0; i < n; i++) next += taken[i];
  for (uint32_t i = 0; i < n; i++)
    if (!taken[i]) order[next++] = i;
}

static double softening_of(double mass, const struct halo_background *g) {
  return SOFTENING * cbrt(200.0 * mass / g->density[MEAN_200]);
}

struct subhalo *subhalos_of(struct halo *h, const struct halo_body *b, double box, double mass,
                            size_t least, const struct halo_background *g, bool shared,
                            uint32_t *order) {
  struct search s = {.unbinding = {b, g, mass, softening_of(mass, g), least},
                     .candidates = subhalo_candidates(h->count, b, least, shared),
                     .taken = allocate(h->count, sizeof *s.taken, "subhalos")};
  unbind_all(&s, shared);
  const size_t all = s.candidates.count;
  h->subhalos = sort_subhalos(&s.candidates);
  struct subhalo *subhalo = allocate(h->subhalos, sizeof *subhalo, "subhalos");
  number_subhalos(s.candidates.list, h->subhalos, subhalo, order);
  number_rest(h->count, s.taken, order);
  struct measuring m = {&s.unbinding, s.candidates.list, h->centre, box, subhalo};
  halo_loop(shared, (uint32_t)h->subhalos, measure, &m);
  for (size_t i = 0; i < all; i++) free(s.candidates.list[i].member);
  subhalo_candidates_free(&s.candidates);
  free(s.taken);
  return subhalo;
}
