/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of halos. They do not depend on the order of the members; those of subhalos are of members in the order of the
 * catalogue. */
#include <math.h>
#include <stdlib.h>

#include "halo_body.h"
#include "halo_home.h"
#include "halo_members.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"
#include "photons/runtime/loop.h"
#include "subhalo.h"

enum { PARTS = 1024 }; /* of a loop over all halos */

struct measuring {
  struct halo_home *home;
  const struct halo_background *background;
  struct threshold_counts threshold_counts;
  struct open_sphere *open; /* [halo] */
  struct halo **left;       /* halos of open spheres */
  bool rows;                /* members are brought into the order of the catalogue */
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
                        .rows = rows || subhalo_members > 0};
  if (home->count > 0) loop_run(&halos_stage, PARTS, measure_part, &w);
  close_halos(&w);
  free(w.open);
  if (home->count > 0 && subhalo_members > 0)
    halo_search_subhalos(home, subhalo_members, background);
}
