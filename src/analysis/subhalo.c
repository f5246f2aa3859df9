/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Subhalos of a halo: what is bound in the candidates, the innermost candidates first. */
#include "subhalo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halo_tree.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"

#define NONE UINT32_MAX
/* Densities over that of R_Crit200 whose orbital times compare lengths with speeds: subhalos are as dense as PEAK where
 * their density tells them from the host, and end at SIZE at most. */
#define PEAK 20.0
#define SIZE 1.0
#define SOFTENING (1.0 / 30.0) /* mean distances of particles: the automatic softening of runs */

/* Distance in phase space, over the largest circular velocity of a subhalo, within which it may be the middle of its host. Pieces of
 * one middle are 1.5 to 2.3 from each other, and subhalos that cross the middle 3 or more. */
#define NEAR 2.5

/* Members of the halos that are searched at a time, a part of all particles, or FEW where that is more: the 16 largest halos
 * of a box of 100 Mpc/h at z = 0 have 0.055 of the particles. */
#define SEARCHED_SHARE 0.064
enum { FEW = 1 << 19 };
/* Of a member while particles are removed: itself, its numbers and its potential in lists, its energy, and two copies of it
 * while a tree is made (struct halo_body, struct candidates, struct known_potential, struct bound, struct halo_tree). While
 * densities are smoothed it has 10 neighbours instead, and while subhalos grow one more tree: both are smaller. */
#define MEMBER_BYTES 260.0

size_t subhalos_at_a_time(size_t particles) {
  const size_t share = (size_t)(SEARCHED_SHARE * (double)particles);
  return share > FEW ? share : FEW;
}

double subhalos_memory(const struct parameters *p, size_t particles) {
  if (!p->output.subhalos || !p->analysis.fof) return 0.0;
  const size_t most = subhalos_at_a_time(particles);
  return MEMBER_BYTES * (double)(most < particles ? most : particles);
}

/** The search in one halo. */
struct search {
  struct unbinding unbinding;
  double size_time; /* see time_at() */
  struct candidates candidates;
  uint32_t *inner,
      *next; /* [candidate] the first one of those right inside it, and the next one around the same; 0: none */
  bool *taken; /* [body] is in a subhalo */
  uint32_t level;
};

/** List the subhalos right inside a candidate. @return their number */
static uint32_t list_inside(const struct search *s, const struct candidate *c,
                            struct candidate ***list, uint32_t count) {
  for (uint32_t i = s->inner[c - s->candidates.list]; i > 0; i = s->next[i]) {
    struct candidate *inside = &s->candidates.list[i];
    if (inside->bound == 0) {
      count = list_inside(s, inside, list, count);
      continue;
    }
    if (count % 64 == 0) *list = reallocate(*list, count + 64, sizeof **list, "subhalos");
    (*list)[count++] = inside;
  }
  return count;
}

static void set_taken(const struct search *s, uint32_t count, struct candidate *const *list,
                      bool taken) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < list[i]->bound; k++) s->taken[list[i]->member[k]] = taken;
}

/** List the particles of a candidate that are in no subhalo inside it. @return their number */
static uint32_t list_rest(const struct search *s, const struct candidate *c, uint32_t *rest) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < c->count; k++) {
    const uint32_t body = s->candidates.order[c->first + k];
    if (!s->taken[body]) rest[count++] = body;
  }
  return count;
}

static void grow_inside(const struct search *s, uint32_t rest_count, const uint32_t *rest,
                        uint32_t count, struct candidate *const *inside) {
  set_taken(s, count, inside, false);
  subhalos_grow(&s->unbinding, s->size_time, rest_count, rest, count, inside);
  set_taken(s, count, inside, true);
}

/** The particle that is bound most to all of a candidate; NONE: nothing is bound. */
static uint32_t most_bound(const struct search *s, const struct candidate *c,
                           const struct known_potential *known) {
  uint32_t *all = allocate(c->count, sizeof *all, "subhalos");
  const size_t bound = subhalo_unbind_known(&s->unbinding, c->count, known, NULL, all);
  const uint32_t found = bound > 0 ? all[0] : NONE;
  free(all);
  return found;
}

static bool has(const struct candidate *c, uint32_t body) {
  for (uint32_t k = 0; k < c->bound; k++)
    if (c->member[k] == body) return true;
  return false;
}

/** The subhalo right inside a candidate that may be the candidate's middle: it has the particle that is bound most to all
 * of it, as compact subhalos far from the middle also may. A saddle point in the middle, or two peaks that are alike, leave
 * the rest without its middle. NULL: the rest has that particle. */
static struct candidate *find_middle(const struct search *s, const struct candidate *c,
                                     const struct known_potential *known, uint32_t count,
                                     struct candidate *const *inside) {
  const uint32_t body = most_bound(s, c, known);
  for (uint32_t i = 0; i < count; i++)
    if (has(inside[i], body)) return inside[i];
  return NULL;
}

/** Unbind the rest of a candidate. */
static uint32_t unbind_rest(const struct search *s, const struct candidate *c,
                            const struct known_potential *known, uint32_t *member) {
  return (uint32_t)subhalo_unbind_known(&s->unbinding, c->count, known, s->taken, member);
}

/** Unbind the rest of a candidate with its middle: both are one subhalo, or as they are if nothing is bound to both. */
static void unbind_with(const struct search *s, struct candidate *c, struct candidate *middle,
                        const struct known_potential *known) {
  uint32_t *both = allocate(c->count, sizeof *both, "subhalos");
  set_taken(s, 1, &middle, false);
  const uint32_t bound = unbind_rest(s, c, known, both);
  if (bound > 0) {
    middle->bound = 0;
    c->bound = bound;
    memcpy(c->member, both, bound * sizeof *both);
  } else {
    set_taken(s, 1, &middle, true);
  }
  free(both);
}

/** Whether a subhalo that may be the middle of its candidate is as near to what is bound of the rest as parts of one middle
 * are, or has more particles than the rest. */
static bool is_middle(const struct search *s, const struct candidate *c,
                      const struct candidate *inside, uint32_t rest_count) {
  return c->bound == 0 || inside->bound >= rest_count ||
         subhalo_distance2(&s->unbinding, s->size_time, inside, c) < NEAR * NEAR;
}

/** Unbind the rest of a candidate around subhalos, which may be all of its particles. */
static void unbind_around(const struct search *s, struct candidate *c, uint32_t count,
                          struct candidate *const *inside) {
  uint32_t rest = 0;
  for (uint32_t k = 0; k < c->count; k++) rest += !s->taken[s->candidates.order[c->first + k]];
  struct known_potential *known = subhalo_potentials(&s->unbinding, c->count,
                                                     s->candidates.order + c->first);
  struct candidate *middle = find_middle(s, c, known, count, inside);
  c->bound = unbind_rest(s, c, known, c->member);
  if (middle && is_middle(s, c, middle, rest)) unbind_with(s, c, middle, known);
  free(known);
}

/** Subhalos inside the candidate grow, and what is bound of the rest is a subhalo. */
static void unbind_candidate(const struct search *s, struct candidate *c) {
  struct candidate **inside = NULL;
  const uint32_t count = list_inside(s, c, &inside, 0);
  c->member = allocate(c->count, sizeof *c->member, "subhalos");
  const uint32_t rest = list_rest(s, c, c->member);
  if (count > 0) {
    grow_inside(s, rest, c->member, count, inside);
    unbind_around(s, c, count, inside);
  } else {
    c->bound = (uint32_t)subhalo_unbind(&s->unbinding, rest, c->member);
  }
  free(inside);
  for (uint32_t k = 0; k < c->bound; k++) s->taken[c->member[k]] = true;
  c->member = reallocate(c->member, c->bound + 1, sizeof *c->member, "subhalos");
}

/** Candidates of a level have no particle in common. */
static void unbind_of_level(void *context, uint32_t i) {
  const struct search *s = context;
  if (s->candidates.list[i].level == s->level) unbind_candidate(s, &s->candidates.list[i]);
}

static void unbind_all(struct search *s) {
  const struct candidates *c = &s->candidates;
  for (uint32_t i = (uint32_t)c->count; --i > 0;) {
    s->next[i] = s->inner[c->list[i].around];
    s->inner[c->list[i].around] = i;
  }
  for (s->level = 0; s->level <= c->list[0].level; s->level++)
    halo_loop((uint32_t)c->count, unbind_of_level, s);
}

static int compare_bound(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? 1 : -1;
  return (x->nested > y->nested) - (x->nested < y->nested);
}

/** Move candidates that are subhalos to the front and sort them, the largest first. @return their
 * number */
static size_t sort_subhalos(struct candidates *c) {
  uint32_t count = 0, *nested = allocate(c->count, sizeof *nested,
                                         "subhalos"); /* of it or what is around it */
  for (uint32_t i = 0; i < c->count; i++) {
    struct candidate now = c->list[i];
    const bool outermost = i == 0 || nested[now.around] == NONE;
    nested[i] = outermost ? NONE : nested[now.around];
    c->list[i].member = NULL; /* its new place has it, or none */
    if (now.bound == 0) {
      free(now.member);
      continue;
    }
    now.around = outermost ? count : nested[i];
    now.nested = nested[i] = count;
    c->list[count++] = now;
  }
  free(nested);
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

/** The time in which a circular orbit turns by one radian where the mean density inside it is that of R_Crit200 times
 * a factor; comoving Mpc/h / (km/s). */
static double time_at(const struct halo_background *g, double factor) {
  return sqrt(3.0 * g->a / (4.0 * M_PI * GRAVITY * factor * g->density[CRIT_200]));
}

struct subhalo *subhalos_of(struct halo *h, const struct halo_body *b, double box, double mass,
                            size_t least, const struct halo_background *g, uint32_t *order) {
  struct search s = {.unbinding = {b, g, mass, softening_of(mass, g), least},
                     .size_time = time_at(g, SIZE),
                     .candidates = subhalo_candidates(h->count, b, time_at(g, PEAK), least),
                     .taken = allocate(h->count, sizeof *s.taken, "subhalos")};
  s.inner = allocate(2 * s.candidates.count, sizeof *s.inner, "subhalos");
  s.next = s.inner + s.candidates.count;
  unbind_all(&s);
  free(s.inner);
  const size_t all = s.candidates.count;
  h->subhalos = sort_subhalos(&s.candidates);
  struct subhalo *subhalo = allocate(h->subhalos, sizeof *subhalo, "subhalos");
  number_subhalos(s.candidates.list, h->subhalos, subhalo, order);
  number_rest(h->count, s.taken, order);
  struct measuring m = {&s.unbinding, s.candidates.list, h->centre, box, subhalo};
  halo_loop((uint32_t)h->subhalos, measure, &m);
  for (size_t i = 0; i < all; i++) free(s.candidates.list[i].member);
  subhalo_candidates_free(&s.candidates);
  free(s.taken);
  return subhalo;
}
