/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A candidate ends at a saddle point of the density, where particles of its host are as dense: outer parts of a subhalo
 * are beyond it. They are given back here. Each particle of the host goes to the object that it is closest to in phase
 * space, in units of the object's own size and speeds, as Rockstar assigns particles (Behroozi et al. 2013, ApJ 762, 109,
 * section 3.3); and of these, those stay that are bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halo_tree.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "rising.h"
#include "subhalo.h"

/** Place, velocity and largest circular velocity of an object. */
struct object {
  double x[3], v[3], v_max;
};

/** A particle that a subhalo may take from its host. */
struct claim {
  uint32_t place;    /**< in the tree */
  double closeness2; /**< squared distance over v_max^2 */
};

/** A subhalo that grows. */
struct growing {
  struct candidate *candidate;
  struct potentials core; /**< members before */
  uint32_t core_centre;
  struct potentials tried; /**< core and claims of the last round */
  struct object object;
  struct claim *claim;
  uint32_t claims, room;
};

struct growth {
  const struct unbinding *unbinding;
  const uint32_t *rest;         /**< [number in the tree] body: the host's own particles, rising */
  const struct potentials *all; /**< the host with its subhalos */
  struct halo_tree tree;        /**< of their positions */
  double time;                  /**< a distance in phase space is sqrt(v^2 + (x/time)^2) */
  double *host2;                /**< [place] closeness2 of the host */
  double *best2;                /**< [place] of the closest object */
  uint32_t *owner;              /**< [place] its number, or NONE */
  struct growing *list;
  uint32_t count;
};
#define NONE UINT32_MAX
/* A subhalo begins with the core that its candidate has, whose v_max is too small: it gets what is up to so many times
 * further from it than from the host. */
#define FAVOUR 1.5
enum {
  ROUNDS = 3, /* v_max grows with each */
  PART = 4096 /* particles of a part of a loop */
};

/** The velocity is the mean inside the radius of the largest circular velocity. */
static struct object object_of(const struct unbinding *u, size_t count, const uint32_t *number,
                               uint32_t centre) {
  struct halo_body *body = allocate(count, sizeof *body, "subhalos");
  for (size_t i = 0; i < count; i++) body[i] = u->body[number[i]];
  struct object o = {.v_max = 0.0};
  memcpy(o.x, u->body[centre].x, sizeof o.x);
  double r_max, *distance = body_distances(count, body, o.x);
  o.v_max = body_v_max(count, distance, u->mass, u->background->a, &r_max);
  size_t inside = 0;
  for (size_t i = 0; i < count; i++) {
    if (body_distance(body[i].x, o.x) > r_max) continue;
    inside++;
    for (int c = 0; c < 3; c++) o.v[c] += body[i].v[c];
  }
  for (int c = 0; c < 3; c++) o.v[c] /= (double)inside; /* the centre is one of them */
  free(distance);
  free(body);
  return o;
}

static double closeness2(const struct object *o, const struct halo_body *b, double time) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++) {
    const double x = (b->x[c] - o->x[c]) / time, v = b->v[c] - o->v[c];
    sum += x * x + v * v;
  }
  return o->v_max > 0.0 ? sum / (o->v_max * o->v_max) : HUGE_VAL;
}

static struct object object_at(const struct unbinding *u, const struct candidate *c) {
  return object_of(u, c->member.count, c->member.number, c->centre);
}

double subhalo_distance2(const struct unbinding *u, double time, const struct candidate *c,
                         const struct candidate *other) {
  const struct object o = object_at(u, c), far = object_at(u, other);
  struct halo_body centre;
  memcpy(centre.x, far.x, sizeof centre.x);
  memcpy(centre.v, far.v, sizeof centre.v);
  return closeness2(&o, &centre, time);
}

static const struct halo_body *body_at(const struct growth *g, uint32_t place) {
  return &g->unbinding->body[g->rest[g->tree.body[place]]];
}

static void claim(const struct growth *g, struct growing *s, uint32_t place) {
  const double mine = closeness2(&s->object, body_at(g, place), g->time);
  if (mine >= FAVOUR * FAVOUR * g->host2[place]) return;
  if (s->claims == s->room) {
    s->room = 2 * s->room + 64;
    s->claim = reallocate(s->claim, s->room, sizeof *s->claim, "subhalos");
  }
  s->claim[s->claims++] = (struct claim){place, mine};
}

/** Squared distance of a point from the box of a node. */
static double node_distance2(const struct halo_node *node, const double x[3]) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++) {
    const double d = fmax(fmax(node->low[c] - x[c], x[c] - node->high[c]), 0.0);
    sum += d * d;
  }
  return sum;
}

static void claim_node(const struct growth *g, struct growing *s, uint32_t node, double reach2) {
  if (node_distance2(&g->tree.node[node], s->object.x) > reach2) return;
  if (node < 1U << g->tree.depth) {
    claim_node(g, s, 2 * node, reach2);
    claim_node(g, s, 2 * node + 1, reach2);
    return;
  }
  for (uint32_t i = node_first(g->tree.count, node); i < node_end(g->tree.count, node); i++)
    claim(g, s, i);
}

static void claim_all(void *context, uint32_t i) {
  const struct growth *g = context;
  struct growing *s = &g->list[i];
  s->object = object_at(g->unbinding, s->candidate);
  s->claims = 0;
  const double reach = s->object.v_max * g->time;
  claim_node(g, s, 1, reach * reach);
}

/** Each particle goes to the closest object. */
static void settle_claims(const struct growth *g) {
  for (uint32_t k = 0; k < g->tree.count; k++) {
    g->owner[k] = NONE;
    g->best2[k] = HUGE_VAL;
  }
  for (uint32_t i = 0; i < g->count; i++)
    for (uint32_t k = 0; k < g->list[i].claims; k++) {
      const struct claim c = g->list[i].claim[k];
      if (c.closeness2 >= g->best2[c.place]) continue;
      g->best2[c.place] = c.closeness2;
      g->owner[c.place] = i;
    }
}

/** List a subhalo's core and the particles that it has got, by rising number. @return their number */
static uint32_t list_taken(const struct growth *g, uint32_t i, uint32_t *taken) {
  const struct growing *s = &g->list[i];
  uint32_t count = s->core.count;
  memcpy(taken, s->core.number, count * sizeof *taken);
  for (uint32_t k = 0; k < s->claims; k++)
    if (g->owner[s->claim[k].place] == i) taken[count++] = g->rest[g->tree.body[s->claim[k].place]];
  sort_numbers(count, taken);
  return count;
}

/** Whether a list is what the round before tried. */
static bool tried_before(const struct growing *s, uint32_t count, const uint32_t *taken) {
  return s->tried.count == count && memcmp(s->tried.number, taken, count * sizeof *taken) == 0;
}

/** Find the potentials of a list from those of the round before or of all, and keep them for the next round. */
static void try(const struct growth *g, struct growing *s, uint32_t count, const uint32_t *taken) {
  const struct potentials *const known[] = {s->tried.count > 0 ? &s->tried : &s->core, g->all};
  const struct potentials tried = potentials_from(g->unbinding, 2, known, count, taken);
  potentials_free(&s->tried);
  s->tried = tried;
}

static void set_members(struct candidate *c, const struct potentials *members, uint32_t centre) {
  potentials_free(&c->member);
  c->member = potentials_copy(members);
  c->centre = centre;
}

/** What is bound of a subhalo's core and the particles that it has got. The core alone where that is too little. */
static void take_claims(void *context, uint32_t i) {
  const struct growth *g = context;
  struct growing *s = &g->list[i];
  struct candidate *c = s->candidate;
  uint32_t *taken = reallocate(NULL, s->core.count + s->claims, sizeof *taken, "subhalos");
  const uint32_t count = list_taken(g, i, taken);
  if (!tried_before(s, count, taken)) {
    try(g, s, count, taken);
    set_members(c, &s->tried, s->core_centre);
    /* The core is known to be bound. */
    if (count > s->core.count) c->centre = subhalo_unbind(g->unbinding, &c->member);
    if (c->member.count == 0 || count == s->core.count) set_members(c, &s->core, s->core_centre);
  }
  free(taken);
}

static void host_part(void *context, uint32_t part) {
  struct growth *g = context;
  const struct object *host = &g->list[g->count].object;
  const uint32_t end = (part + 1) * PART < g->tree.count ? (part + 1) * PART : g->tree.count;
  for (uint32_t k = part * PART; k < end; k++)
    g->host2[k] = closeness2(host, body_at(g, k), g->time);
}

static void grow_once(struct growth *g) {
  halo_loop(g->count, claim_all, g);
  settle_claims(g);
  halo_loop(g->count, take_claims, g);
}

static void keep_cores(struct growth *g, struct candidate *const *inside) {
  for (uint32_t i = 0; i < g->count; i++) {
    struct growing *s = &g->list[i];
    s->candidate = inside[i];
    s->core = potentials_copy(&inside[i]->member);
    s->core_centre = inside[i]->centre;
  }
}

static void free_growth(struct growth *g) {
  for (uint32_t i = 0; i < g->count; i++) {
    potentials_free(&g->list[i].core);
    potentials_free(&g->list[i].tried);
    free(g->list[i].claim);
  }
  free(g->list);
  free(g->host2);
  free(g->best2);
  free(g->owner);
  halo_tree_free(&g->tree);
}

void subhalos_grow(const struct unbinding *u, double time, uint32_t rest_count,
                   const uint32_t *rest, uint32_t centre, const struct potentials *all,
                   uint32_t count, struct candidate *const *inside) {
  if (rest_count == 0 || count == 0) return;
  struct halo_body *body = allocate(rest_count, sizeof *body, "subhalos");
  for (uint32_t k = 0; k < rest_count; k++) body[k] = u->body[rest[k]];
  struct growth g = {.unbinding = u,
                     .rest = rest,
                     .all = all,
                     .tree = halo_tree_create(rest_count, body, 0.0),
                     .time = time,
                     .host2 = allocate(rest_count, sizeof *g.host2, "subhalos"),
                     .best2 = allocate(rest_count, sizeof *g.best2, "subhalos"),
                     .owner = allocate(rest_count, sizeof *g.owner, "subhalos"),
                     .list = allocate(count + 1, sizeof *g.list, "subhalos"),
                     .count = count};
  free(body);
  keep_cores(&g, inside);
  g.list[count].object = object_of(u, rest_count, rest, centre);
  halo_loop((rest_count + PART - 1) / PART, host_part, &g);
  for (int round = 0; round < ROUNDS; round++) grow_once(&g);
  free_growth(&g);
}
