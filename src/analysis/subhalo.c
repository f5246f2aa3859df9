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
#include "rising.h"

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
/* Of a member while subhalos grow: itself twice, its numbers, its potential in the field of all, the tree of the host's own
 * particles, what claims it, its potentials in the rounds before and now, and in the lists that these are compared by (struct
 * halo_body, struct candidates, struct potentials, struct growth, struct change). While densities are smoothed it has 10
 * neighbours and one tree instead, which is smaller, also where a large halo has a page-locked copy of both for GPUs: 272 bytes. */
#define MEMBER_BYTES 320.0

size_t subhalos_at_a_time(size_t particles) {
  const size_t share = (size_t)(SEARCHED_SHARE * (double)particles);
  return share > FEW ? share : FEW;
}

double subhalos_memory(const struct parameters *p, size_t particles) {
  if (!p->output.subhalos || !p->analysis.fof) return 0.0;
  const size_t most = subhalos_at_a_time(particles);
  return MEMBER_BYTES * (double)(most < particles ? most : particles);
}

/** The unbinding in one halo. */
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
    if (inside->member.count == 0) {
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
    for (uint32_t k = 0; k < list[i]->member.count; k++)
      s->taken[list[i]->member.number[k]] = taken;
}

/** Numbers of particles. */
struct numbers {
  uint32_t count, *number; /* rising */
};

/** The particles of a candidate, or those of them that are in no subhalo inside it.
 * @param[out] first  the first one in the candidate's order */
static struct numbers list_particles(const struct search *s, const struct candidate *c, bool all,
                                     uint32_t *first) {
  struct numbers list = {0, reallocate(NULL, c->count, sizeof *list.number, "subhalos")};
  const uint32_t *const order = s->candidates.order + c->first;
  for (uint32_t k = 0; k < c->count; k++) {
    list.number[list.count] = order[k];
    list.count += all || !s->taken[order[k]];
  }
  if (first && list.count > 0) *first = list.number[0];
  sort_numbers(list.count, list.number);
  return list;
}

static void grow_inside(const struct search *s, const struct candidate *c,
                        const struct potentials *all, uint32_t count,
                        struct candidate *const *inside) {
  uint32_t densest = NONE;
  const struct numbers rest = list_particles(s, c, false, &densest);
  set_taken(s, count, inside, false);
  subhalos_grow(&s->unbinding, s->size_time, rest.count, rest.number, densest, all, count, inside);
  set_taken(s, count, inside, true);
  free(rest.number);
}

/** The particle that is bound most to all of a candidate; NONE: nothing is bound. */
static uint32_t most_bound(const struct search *s, const struct potentials *known) {
  struct potentials all = potentials_copy(known);
  const uint32_t found = subhalo_unbind(&s->unbinding, &all);
  potentials_free(&all);
  return found;
}

static bool has(const struct candidate *c, uint32_t body) {
  uint32_t first = 0, end = c->member.count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (c->member.number[middle] == body) return true;
    if (c->member.number[middle] < body)
      first = middle + 1;
    else
      end = middle;
  }
  return false;
}

/** The subhalo right inside a candidate that may be the candidate's middle: it has the particle that is bound most to all
 * of it, as compact subhalos far from the middle also may. A saddle point in the middle, or two peaks that are alike, leave
 * the rest without its middle. NULL: the rest has that particle. */
static struct candidate *find_middle(const struct search *s, const struct potentials *known,
                                     uint32_t count, struct candidate *const *inside) {
  const uint32_t body = most_bound(s, known);
  for (uint32_t i = 0; i < count; i++)
    if (has(inside[i], body)) return inside[i];
  return NULL;
}

/** What is bound of the rest of a candidate, and the most bound particle of it. */
static struct potentials unbind_rest(const struct search *s, const struct candidate *c,
                                     const struct potentials *known, uint32_t *centre) {
  const struct numbers rest = list_particles(s, c, false, NULL);
  struct potentials bound = potentials_from(&s->unbinding, 1, &known, rest.count, rest.number);
  *centre = subhalo_unbind(&s->unbinding, &bound);
  free(rest.number);
  return bound;
}

/** Unbind the rest of a candidate with its middle: both are one subhalo, or as they are if nothing is bound to both. */
static void unbind_with(const struct search *s, struct candidate *c, struct candidate *middle,
                        const struct potentials *known) {
  uint32_t centre;
  set_taken(s, 1, &middle, false);
  const struct potentials both = unbind_rest(s, c, known, &centre);
  if (both.count == 0) {
    set_taken(s, 1, &middle, true);
    return;
  }
  potentials_free(&middle->member);
  potentials_free(&c->member);
  c->member = both;
  c->centre = centre;
}

/** Whether a subhalo that may be the middle of its candidate is as near to what is bound of the rest as parts of one middle
 * are, or has more particles than the rest. */
static bool is_middle(const struct search *s, const struct candidate *c,
                      const struct candidate *inside, uint32_t rest_count) {
  return c->member.count == 0 || inside->member.count >= rest_count ||
         subhalo_distance2(&s->unbinding, s->size_time, inside, c) < NEAR * NEAR;
}

/** Unbind the rest of a candidate around subhalos, which may be all of its particles. */
static void unbind_around(const struct search *s, struct candidate *c,
                          const struct potentials *known, uint32_t count,
                          struct candidate *const *inside) {
  uint32_t rest = 0;
  for (uint32_t k = 0; k < c->count; k++) rest += !s->taken[s->candidates.order[c->first + k]];
  struct candidate *middle = find_middle(s, known, count, inside);
  c->member = unbind_rest(s, c, known, &c->centre);
  if (middle && is_middle(s, c, middle, rest)) unbind_with(s, c, middle, known);
}

/** Potentials of the particles of a candidate in the field of all of them. */
static struct potentials take_all(const struct search *s, struct candidate *c) {
  struct potentials all = c->all;
  c->all = (struct potentials){0, NULL, NULL};
  if (all.count > 0) return all;
  const struct numbers list = list_particles(s, c, true, NULL);
  all = potentials_of(&s->unbinding, list.count, list.number);
  free(list.number);
  return all;
}

/** Subhalos inside the candidate grow, and what is bound of the rest is a subhalo. */
static void unbind_candidate(const struct search *s, struct candidate *c) {
  struct candidate **inside = NULL;
  const uint32_t count = list_inside(s, c, &inside, 0);
  struct potentials known = take_all(s, c);
  if (count > 0) {
    grow_inside(s, c, &known, count, inside);
    unbind_around(s, c, &known, count, inside);
    potentials_free(&known);
  } else {
    c->centre = subhalo_unbind(&s->unbinding, &known);
    c->member = known;
  }
  free(inside);
  set_taken(s, 1, &c, true);
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
  if (x->member.count != y->member.count) return x->member.count < y->member.count ? 1 : -1;
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
    c->list[i].member = (struct potentials){0, NULL, NULL}; /* its new place has it, or none */
    if (now.member.count == 0) continue;
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
  uint32_t *order; /* the members of all subhalos */
};

static double into_box(double x, double box) {
  x -= box * floor(x / box);
  return x < box ? x : 0.0;
}

/** Numbers of the members, the most bound one first, and what follows from these members. */
static void measure(void *context, uint32_t i) {
  const struct measuring *m = context;
  const struct unbinding *u = m->unbinding;
  const uint32_t count = m->list[i].member.count;
  struct subhalo *s = &m->subhalo[i];
  uint32_t *const order = m->order + s->first;
  subhalo_by_energy(u, &m->list[i].member, order);
  struct halo_body *body = reallocate(NULL, count, sizeof *body, "subhalos");
  for (uint32_t k = 0; k < count; k++) body[k] = u->body[order[k]];
  const struct body_means means = body_means(count, body, u->background);
  double *distance = body_distances(count, body, body[0].x);
  s->v_max = body_v_max(count, distance, u->mass, u->background->a, &s->r_max);
  s->half_radius = distance[(count - 1) / 2];
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

/** Set what follows from the numbers of subhalos and of their particles, which follow each other. */
static void number_subhalos(const struct candidate *list, size_t count, struct subhalo *subhalo) {
  uint32_t *rank = allocate(count, sizeof *rank, "subhalos"); /* [nested] */
  for (uint32_t i = 0; i < count; i++) rank[list[i].nested] = i;
  uint64_t first = 0;
  for (size_t i = 0; i < count; i++) {
    subhalo[i].first = first;
    subhalo[i].count = list[i].member.count;
    subhalo[i].rank = i;
    subhalo[i].parent = rank[list[i].around];
    first += list[i].member.count;
  }
  free(rank);
}

/** Number the particles as members of the halo. Those in no subhalo come last.
 * @param number  [body] of the member */
static void number_members(size_t n, const uint32_t *number, const bool *taken, uint32_t *order) {
  size_t bound = 0;
  for (size_t i = 0; i < n; i++) bound += taken[i];
  for (size_t k = 0; k < bound; k++) order[k] = number[order[k]];
  size_t next = bound;
  for (size_t i = 0; i < n; i++)
    if (!taken[i]) order[next++] = number[i];
  sort_numbers(n - bound, order + bound);
}

static double softening_of(double mass, const struct halo_background *g) {
  return SOFTENING * cbrt(200.0 * mass / g->density[MEAN_200]);
}

/** The time in which a circular orbit turns by one radian where the mean density inside it is that of R_Crit200 times
 * a factor; comoving Mpc/h / (km/s). */
static double time_at(const struct halo_background *g, double factor) {
  return sqrt(3.0 * g->a / (4.0 * M_PI * GRAVITY * factor * g->density[CRIT_200]));
}

/** Bodies so that those near each other follow each other. @param[out] number  [n] of each before */
static struct halo_body *order_bodies(size_t n, const struct halo_body *b, uint32_t *number) {
  struct halo_tree tree = halo_tree_create(n, b, 0.0);
  struct halo_body *ordered = reallocate(NULL, n, sizeof *ordered, "subhalos");
  memcpy(number, tree.body, n * sizeof *number);
  for (size_t i = 0; i < n; i++) ordered[i] = b[number[i]];
  halo_tree_free(&tree);
  return ordered;
}

struct subhalo_search subhalo_search_begin(size_t n, const struct halo_body *b, double mass,
                                           size_t least, const struct halo_background *g) {
  struct subhalo_search s = {.count = n,
                             .number = reallocate(NULL, n, sizeof *s.number, "subhalos")};
  s.body = order_bodies(n, b, s.number);
  s.tree = halo_tree_create(n, s.body, time_at(g, PEAK));
  s.unbinding = (struct unbinding){s.body, g, mass, softening_of(mass, g), least};
  return s;
}

void subhalo_search_candidates(struct subhalo_search *s) {
  halo_tree_free(&s->tree);
  s->candidates = subhalo_candidates(s->count, &s->densities, s->unbinding.least);
}

static struct search search_of(const struct subhalo_search *begun) {
  struct search s = {.unbinding = begun->unbinding,
                     .size_time = time_at(begun->unbinding.background, SIZE),
                     .candidates = begun->candidates,
                     .taken = allocate(begun->count, sizeof *s.taken, "subhalos")};
  s.inner = allocate(2 * s.candidates.count, sizeof *s.inner, "subhalos");
  s.next = s.inner + s.candidates.count;
  return s;
}

void subhalo_search_list(struct subhalo_search *s) {
  const struct search search = {.candidates = s->candidates};
  for (size_t i = 0; i < s->candidates.count; i++) {
    struct candidate *c = &s->candidates.list[i];
    const struct numbers list = list_particles(&search, c, true, NULL);
    c->all = potentials_list(list.count, list.number);
    free(list.number);
  }
}

static void search_free(struct search *s) {
  subhalo_candidates_free(&s->candidates);
  free(s->inner);
  free(s->taken);
}

struct subhalo *subhalos_of(struct halo *h, struct subhalo_search *begun, double box,
                            uint32_t *order) {
  struct search s = search_of(begun);
  unbind_all(&s);
  h->subhalos = sort_subhalos(&s.candidates);
  struct subhalo *subhalo = allocate(h->subhalos, sizeof *subhalo, "subhalos");
  number_subhalos(s.candidates.list, h->subhalos, subhalo);
  struct measuring m = {&s.unbinding, s.candidates.list, h->centre, box, subhalo, order};
  halo_loop((uint32_t)h->subhalos, measure, &m);
  number_members(h->count, begun->number, s.taken, order);
  search_free(&s);
  free(begun->number);
  free(begun->body);
  return subhalo;
}
