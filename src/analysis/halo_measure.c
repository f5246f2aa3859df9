/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of halos. They do not depend on the order of the members; those of subhalos are of members in the order of the
 * catalogue. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "halo_body.h"
#include "halo_home.h"
#include "halo_members.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"
#include "photons/runtime/loop.h"
#include "subhalo.h"

enum {
  PARTS = 1024, /* of a loop over all halos */
  NAP = 50000   /* ns */
};

struct measuring {
  struct halo_home *home;
  const struct halo_background *background;
  struct threshold_counts threshold_counts;
  struct open_sphere *open; /* [halo] */
  struct halo **left;       /* halos of open spheres */
  bool rows;                /* members are brought into the order of the catalogue */
  size_t subhalo_members;   /* least; 0: there are no subhalos */
  struct subhalo **subhalo; /* [halo] */
  _Atomic size_t searched;  /* members of the halos in which subhalos are searched for now */
};

/** What one task measures halos with, one after the other. */
struct tools {
  struct gathering gathering;
  struct halo_columns members;
};

static struct tools tools_create(const struct fof *f) {
  const struct halo_columns members = halo_columns_create();
  return (struct tools){{.fof = f, .kernels = members.kernels}, members};
}

static void tools_free(struct tools *t) {
  halo_columns_free(&t->members);
  free(t->gathering.distance);
}

static void describe(const struct measuring *w, struct tools *t, struct halo *h) {
  const struct particles *s = w->home->fof->particles;
  t->gathering.count = 0;
  gathering_make_room(&t->gathering, h->count);
  halo_describe(h, &t->members, s->box, s->mass, w->background, t->gathering.distance);
}

/** Measure all of a halo but what needs spheres that other ranks have particles in. */
static struct open_sphere measure_halo(const struct measuring *w, struct tools *t, struct halo *h) {
  struct halo_columns *m = &t->members;
  if (w->rows) halo_members_sort(w->home, h);
  halo_columns_read(m, w->home, h);
  halo_locate(h, m, w->home->fof->particles->box);
  for (int c = 0; c < 3; c++) t->gathering.point[c] = m->peak[c] + m->reference[c];
  const struct open_sphere open = halo_measure_spheres(&t->gathering, &w->threshold_counts, h);
  if (!open.halo) describe(w, t, h);
  return open;
}

static void measure_part(void *context, uint32_t part) {
  const struct measuring *w = context;
  struct tools t = tools_create(w->home->fof);
  const size_t end = halo_first_of_part(w->home, part + 1, PARTS);
  for (size_t h = halo_first_of_part(w->home, part, PARTS); h < end; h++) {
    if (h + 1 < end) halo_columns_prefetch(w->home, &w->home->halo[h + 1]);
    w->open[h] = measure_halo(w, &t, &w->home->halo[h]);
  }
  tools_free(&t);
}

static void describe_open(void *context, uint32_t i) {
  const struct measuring *w = context;
  struct tools t = tools_create(w->home->fof);
  halo_columns_read(&t.members, w->home, w->left[i]);
  for (int c = 0; c < 3; c++)
    t.members.peak[c] = position_to_integer(w->left[i]->centre[c], w->home->fof->particles->box) -
                        t.members.reference[c];
  describe(w, &t, w->left[i]);
  tools_free(&t);
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

/** Wait until the members of one more halo may be searched beside others, and help those who search them. */
static void wait_for_room(struct measuring *w, size_t count) {
  const struct timespec nap = {.tv_nsec = NAP};
  const size_t most = subhalos_at_a_time(w->home->fof->particles->count);
  for (;;) {
    size_t now = atomic_load(&w->searched);
    while (now == 0 || now + count <= most)
      if (atomic_compare_exchange_weak(&w->searched, &now, now + count)) return;
    if (!loop_help()) nanosleep(&nap, NULL);
  }
}

static void find_subhalos(const struct measuring *w, size_t i) {
  const struct particles *s = w->home->fof->particles;
  struct halo *h = &w->home->halo[i];
  struct halo_body *body = halo_bodies(w->home, h, w->background->a);
  uint32_t *order = allocate(h->count, sizeof *order, "subhalos");
  w->subhalo[i] = subhalos_of(h, body, s->box, s->mass, w->subhalo_members, w->background, order);
  order_members(w->home, h, order);
  for (size_t k = 0; k < h->subhalos; k++) {
    struct subhalo *subhalo = &w->subhalo[i][k];
    subhalo->id = halo_member_id(w->home, w->home->member[h->first + subhalo->first]);
  }
  free(order);
  free(body);
}

static void search_part(void *context, uint32_t part) {
  struct measuring *w = context;
  const size_t end = halo_first_of_part(w->home, part + 1, PARTS);
  for (size_t h = halo_first_of_part(w->home, part, PARTS); h < end; h++) {
    const size_t count = w->home->halo[h].count;
    wait_for_room(w, count);
    find_subhalos(w, h);
    atomic_fetch_sub(&w->searched, count);
  }
}

/** Each worker has halos of its own, the largest first. Those who find none left help with the halos that others have. */
static void search_halos(struct measuring *w) {
  const double start = wall_clock();
  loop_run(&halos_stage, PARTS, search_part, w);
  w->home->subhalo_seconds = wall_clock() - start;
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

/** Finish the halos of open spheres. */
static void close_halos(struct measuring *w) {
  const struct halo_home *home = w->home;
  size_t open = 0;
  for (size_t h = 0; h < home->count; h++)
    if (w->open[h].halo) w->open[open++] = w->open[h];
  w->left = allocate(open, sizeof *w->left, "spherical overdensity");
  for (size_t i = 0; i < open; i++) w->left[i] = w->open[i].halo;
  halo_close_spheres(home->fof, &w->threshold_counts, w->open, open);
  loop_run(&halos_stage, (uint32_t)open, describe_open, w);
  free(w->left);
}

void halo_measure(struct halo_home *home, bool rows, size_t subhalo_members,
                  const struct halo_background *background) {
  struct measuring w = {.home = home,
                        .background = background,
                        .threshold_counts = count_thresholds(home->fof->particles, background),
                        .open = allocate(home->count, sizeof *w.open, "spherical overdensity"),
                        .rows = rows || subhalo_members > 0,
                        .subhalo_members = subhalo_members,
                        .subhalo = allocate(home->count, sizeof *w.subhalo, "subhalos")};
  if (home->count > 0) loop_run(&halos_stage, PARTS, measure_part, &w);
  close_halos(&w);
  free(w.open);
  if (home->count > 0 && subhalo_members > 0) {
    search_halos(&w);
    list_subhalos(home, w.subhalo);
  }
  free(w.subhalo);
}
