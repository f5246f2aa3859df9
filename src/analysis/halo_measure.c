/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of halos. They do not depend on the order of the particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halo_body.h"
#include "halo_home.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"
#include "photons/runtime/loop.h"
#include "subhalo.h"

#define SHRINK 0.9       /* radius of a sphere over that of the sphere before */
#define PEAK_LEAST 10    /* the last sphere has at least this number of members, */
#define PEAK_SHARE 0.005 /* and at least this fraction of all members */
enum {
  PARTS = 1024, /* of a loop over all halos */
  /* All workers share the work on a halo of so many members, if these are more than this part of all. Other halos are
   * the work of one worker each, which is faster: little of the work on one halo must be done in order. */
  LARGE = 1 << 15,
  LARGE_SHARE = 100
};

struct ranked {
  uint64_t id;
  uint32_t particle;
};

static int compare_ranked(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static uint64_t id_of(const struct halo_home *home, uint32_t member) {
  const struct particles *s = home->fof->particles;
  return member < s->count ? s->id[member] : home->guest[member - s->count].id;
}

/** Sort a halo's members by id. */
static void sort_members(const struct halo_home *home, size_t n, uint32_t *member) {
  struct ranked *rank = allocate(n, sizeof *rank, "halo members");
  for (size_t i = 0; i < n; i++) rank[i] = (struct ranked){id_of(home, member[i]), member[i]};
  qsort(rank, n, sizeof *rank, compare_ranked);
  for (size_t i = 0; i < n; i++) member[i] = rank[i].particle;
  free(rank);
}

/** Position and momentum of a member. */
struct member {
  uint32_t x[3];
  float p[3];
};

/** @param block  the member's ORB group is stored here; on entry any ORB group of this rank, or an
 *         empty one */
static struct member member_of(const struct halo_home *home, uint32_t member,
                               struct particle_block *block) {
  const struct particles *s = home->fof->particles;
  struct member b;
  if (member >= s->count) {
    const struct guest *g = &home->guest[member - s->count];
    for (int c = 0; c < 3; c++) b.x[c] = g->x[c], b.p[c] = g->p[c];
    return b;
  }
  halo_find_block(s, member, block);
  const size_t at = member - block->first;
  for (int c = 0; c < 3; c++) b.x[c] = block->x[c][at], b.p[c] = block->p[c][at];
  return b;
}

/** A point relative to a reference particle, position units. Halos may reach around the box. */
struct offset {
  int32_t x[3];
};

/** Mean of n offsets, rounded. */
static struct offset mean_offset(size_t n, const struct offset *o) {
  int64_t sum[3] = {0};
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) sum[c] += o[i].x[c];
  struct offset mean;
  for (int c = 0; c < 3; c++) mean.x[c] = (int32_t)llrint((double)sum[c] / (double)n);
  return mean;
}

static inline uint64_t offset_distance2(const struct offset *a, const struct offset *b) {
  uint64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    const int64_t d = position_difference((uint32_t)a->x[c], (uint32_t)b->x[c]);
    sum += (uint64_t)(d * d);
  }
  return sum;
}

/** The density peak of n offsets: the centre of mass of ever smaller spheres, each about the last
 * centre (Power et al. 2003, MNRAS 338, 14). A sphere of radius 0 is the last, whatever number of
 * members is at its centre. Changes the order of the offsets. */
static struct offset find_peak(size_t n, struct offset *o) {
  const double share = PEAK_SHARE * (double)n;
  const size_t least = share > PEAK_LEAST ? (size_t)share : PEAK_LEAST;
  struct offset centre = mean_offset(n, o);
  uint64_t radius2 = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t d2 = offset_distance2(&o[i], &centre);
    radius2 = d2 > radius2 ? d2 : radius2;
  }
  while (n > least && radius2 > 0) {
    radius2 = (uint64_t)((double)radius2 * (SHRINK * SHRINK));
    size_t inside = 0;
    for (size_t i = 0; i < n; i++)
      if (offset_distance2(&o[i], &centre) <= radius2) {
        const struct offset swap = o[inside];
        o[inside++] = o[i];
        o[i] = swap;
      }
    if (inside < least) break;
    n = inside;
    centre = mean_offset(n, o);
  }
  return centre;
}

struct measuring {
  struct halo_home *home;
  const struct halo_background *background;
  struct threshold_counts threshold_counts;
  struct open_sphere *open; /* [halo] */
  size_t subhalo_members;   /* least; 0: there are no subhalos */
  struct subhalo **subhalo; /* [halo] */
};

static struct open_sphere measure_halo(const struct measuring *w, struct gathering *g,
                                       struct halo *h) {
  const struct particles *s = w->home->fof->particles;
  uint32_t *member = w->home->member + h->first;
  sort_members(w->home, h->count, member);
  struct offset *o = allocate(h->count, sizeof *o, "halo members");
  uint32_t reference[3] = {0};
  double sum[3] = {0}, momentum[3] = {0};
  struct particle_block block = {.count = 0};
  for (size_t i = 0; i < h->count; i++) {
    const struct member b = member_of(w->home, member[i], &block);
    for (size_t c = 0; c < 3; c++) {
      if (i == 0) reference[c] = b.x[c];
      o[i].x[c] = position_difference(b.x[c], reference[c]);
      sum[c] += o[i].x[c];
      momentum[c] += (double)b.p[c];
    }
  }
  const struct offset peak = find_peak(h->count, o);
  free(o);
  for (size_t c = 0; c < 3; c++) {
    const double n = (double)h->count, turns = (reference[c] + sum[c] / n) * 0x1p-32;
    h->position[c] = (turns - floor(turns)) * s->box;
    h->momentum[c] = momentum[c] / n;
    g->point[c] = reference[c] + (uint32_t)peak.x[c];
    h->centre[c] = position_from_integer(g->point[c], s->box);
  }
  return halo_measure_spheres(g, &w->threshold_counts, h);
}

/** The first halo whose members begin in this part of all members or a later one. */
static size_t first_of_part(const struct halo_home *home, uint32_t part) {
  size_t low = 0, high = home->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (home->halo[middle].first * PARTS / home->members < part)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/** Call a function for the halos whose members begin in this part of all members. */
static void visit_part(const struct measuring *w, uint32_t part,
                       void (*visit)(const struct measuring *w, struct gathering *g, size_t h)) {
  struct gathering g = {.fof = w->home->fof};
  const size_t end = first_of_part(w->home, part + 1);
  for (size_t h = first_of_part(w->home, part); h < end; h++) visit(w, &g, h);
  free(g.distance2);
}

static void visit_measure(const struct measuring *w, struct gathering *g, size_t h) {
  w->open[h] = measure_halo(w, g, &w->home->halo[h]);
}
static void measure_part(void *context, uint32_t part) { visit_part(context, part, visit_measure); }

/** The members of a halo about its density peak; free(). */
static struct halo_body *bodies_of(const struct measuring *w, const struct halo *h) {
  const double unit = w->home->fof->particles->box / POSITION_TURN;
  uint32_t peak[3];
  for (size_t c = 0; c < 3; c++)
    peak[c] = position_to_integer(h->centre[c], w->home->fof->particles->box);
  struct halo_body *body = allocate(h->count, sizeof *body, "halo members");
  struct particle_block block = {.count = 0};
  for (size_t i = 0; i < h->count; i++) {
    const struct member m = member_of(w->home, w->home->member[h->first + i], &block);
    for (size_t c = 0; c < 3; c++) {
      body[i].x[c] = unit * (double)position_difference(m.x[c], peak[c]);
      body[i].v[c] = (double)m.p[c] / w->background->a;
    }
  }
  return body;
}

/** Put the members of a halo into the order of its subhalos. */
static void order_members(const struct halo_home *home, const struct halo *h,
                          const uint32_t *order) {
  uint32_t *member = home->member + h->first;
  uint32_t *old = allocate(h->count, sizeof *old, "halo members");
  memcpy(old, member, h->count * sizeof *old);
  for (size_t i = 0; i < h->count; i++) member[i] = old[order[i]];
  free(old);
}

static void find_subhalos(const struct measuring *w, size_t i, bool shared) {
  const struct particles *s = w->home->fof->particles;
  struct halo *h = &w->home->halo[i];
  struct halo_body *body = bodies_of(w, h);
  uint32_t *order = allocate(h->count, sizeof *order, "subhalos");
  w->subhalo[i] = subhalos_of(h, body, s->box, s->mass, w->subhalo_members, w->background, shared,
                              order);
  order_members(w->home, h, order);
  for (size_t k = 0; k < h->subhalos; k++) {
    struct subhalo *subhalo = &w->subhalo[i][k];
    subhalo->id = id_of(w->home, w->home->member[h->first + subhalo->first]);
  }
  free(order);
  free(body);
}

static void visit_describe(const struct measuring *w, struct gathering *g, size_t i) {
  (void)g;
  struct halo *h = &w->home->halo[i];
  struct halo_body *body = bodies_of(w, h);
  halo_describe(h, h->count, body, w->home->fof->particles->mass, w->background);
  free(body);
}
static void describe_part(void *context, uint32_t part) {
  visit_part(context, part, visit_describe);
}

static bool is_large(const struct halo_home *home, size_t h) {
  return home->halo[h].count >= LARGE && home->halo[h].count > home->members / LARGE_SHARE;
}

static void visit_small(const struct measuring *w, struct gathering *g, size_t h) {
  (void)g;
  if (!is_large(w->home, h)) find_subhalos(w, h, false);
}
static void search_part(void *context, uint32_t part) { visit_part(context, part, visit_small); }

/** All workers share the work on a large halo. */
static void search_halos(struct measuring *w) {
  struct halo_home *home = w->home;
  const double start = wall_clock();
  for (size_t h = 0; h < home->count; h++)
    if (is_large(home, h)) find_subhalos(w, h, true);
  loop_run(&halos_stage, PARTS, search_part, w);
  home->subhalo_seconds = wall_clock() - start;
}

/** Bring the subhalos of all halos into one list. */
static void list_subhalos(struct halo_home *home, struct subhalo **of_halo) {
  for (size_t h = 0; h < home->count; h++) home->subhalos += home->halo[h].subhalos;
  home->subhalo = allocate(home->subhalos, sizeof *home->subhalo, "subhalos");
  struct subhalo *next = home->subhalo;
  for (size_t h = 0; h < home->count; next += home->halo[h++].subhalos) {
    if (of_halo[h]) memcpy(next, of_halo[h], home->halo[h].subhalos * sizeof *next);
    free(of_halo[h]);
  }
}

/** Particles in a sphere of unit radius at each threshold density. */
static struct threshold_counts count_thresholds(const struct particles *s,
                                                const struct halo_background *background) {
  const double unit = s->box / POSITION_TURN;
  struct threshold_counts t;
  for (int m = 0; m < HALO_MASSES; m++)
    t.of[m] = 4.0 / 3.0 * M_PI * unit * unit * unit * background->density[m] / s->mass;
  return t;
}

void halo_measure(struct halo_home *home, size_t subhalo_members,
                  const struct halo_background *background) {
  struct measuring w = {.home = home,
                        .background = background,
                        .threshold_counts = count_thresholds(home->fof->particles, background),
                        .open = allocate(home->count, sizeof *w.open, "spherical overdensity"),
                        .subhalo_members = subhalo_members,
                        .subhalo = allocate(home->count, sizeof *w.subhalo, "subhalos")};
  if (home->count > 0) loop_run(&halos_stage, PARTS, measure_part, &w);
  size_t open = 0;
  for (size_t h = 0; h < home->count; h++)
    if (w.open[h].halo) w.open[open++] = w.open[h];
  halo_close_spheres(home->fof, &w.threshold_counts, w.open, open);
  free(w.open);
  if (home->count > 0) loop_run(&halos_stage, PARTS, describe_part, &w);
  if (home->count > 0 && subhalo_members > 0) search_halos(&w);
  list_subhalos(home, w.subhalo);
  free(w.subhalo);
}
