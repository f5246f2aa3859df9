/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/step.h"

/** Largest coordinate from the middle, in units of the side, of a frame that need not grow. Boxes
 * are rounded up, and positions are rounded when a frame grows: a tenth of a quarter is room for
 * that. */
#define FRAME_LIMIT (0.9 * 0.25)

/** Largest coordinate from the middle of any particle of a group until the next call, over the
 * side. */
static double reach_of(const struct domain *d, const struct group *g) {
  double reach = 0.0;
  for (int c = 0; c < 3; c++) {
    const struct node *root = &g->top[1];
    const double centre = fabs((double)position_difference(root->centre[c], FRAME_MIDDLE)) *
                          (double)d->geometry.scale;
    reach = fmax(reach, centre + (double)root->half[c]);
  }
  return reach + (double)g->moved; /* r_cut = L */
}

static double largest_reach(const struct domain *d) {
  double reach = 0.0;
  FOR_GROUPS(d, g) reach = fmax(reach, reach_of(d, g));
  comm_max_double(&reach, 1);
  return reach;
}

struct outer {
  double distance; /* along the farthest axis, over the side */
  uint64_t id;
};

static int compare_outer(const void *a, const void *b) {
  const struct outer *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? 1 : -1;
  return (x->id > y->id) - (x->id < y->id);
}

static void list_block(const struct particle_block *b, struct outer *list) {
  for (size_t i = 0; i < b->count; i++) {
    list[i] = (struct outer){.id = b->id[i]};
    for (int c = 0; c < 3; c++)
      list[i].distance = fmax(list[i].distance,
                              fabs((double)position_difference(b->x[c][i], FRAME_MIDDLE)) /
                                  POSITION_TURN);
  }
}

/** The ids of this rank's farthest particles: those near the limit, at least one, not too many. */
static void name_farthest(const struct domain *d, char *text, size_t size) {
  enum { MOST = 8 };
  const size_t count = d->particles.count;
  struct outer *list = allocate(count, sizeof *list, "particles far from the middle");
  for (size_t g = 0; g < d->particles.blocks; g++) {
    const struct particle_block b = particles_block(&d->particles, g);
    list_block(&b, list + b.first);
  }
  qsort(list, count, sizeof *list, compare_outer);
  size_t length = 0;
  for (size_t i = 0; i < count && i < MOST; i++) {
    if (i > 0 && list[i].distance < 0.9 * list[0].distance) break;
    length += (size_t)snprintf(text + length, size - length, "%s%" PRIu64, i > 0 ? ", " : "",
                               list[i].id);
  }
  free(list);
}

/** @param reach  largest_reach()
 * @param side   of the frame that is needed, Mpc */
static void require_resolution(const struct nbody *n, double reach, double side) {
  const double softening = softening_shortest(n->parameters);
  if (softening >= 1e3 * SOFTENING_LEAST * side) return;
  double own = 0.0;
  char farthest[256] = "";
  FOR_GROUPS(&n->domain, g) own = fmax(own, reach_of(&n->domain, g));
  if (own < reach) comm_barrier(); /* another rank has the particle, and its message ends the run */
  name_farthest(&n->domain, farthest, sizeof farthest);
  fail(
      EXIT_RUN_FAILED,
      "step %lld, t = %.6g Myr: particles leave the frame, the farthest of them with the ids %s: a "
      "frame of %g kpc does not resolve a softening of %g kpc; box.escape_radius takes out "
      "particles that are far away; what was written before is good",
      (long long)n->step, cosmology_myr(n->a), farthest, 1e3 * side, softening);
}

static void double_frame(struct nbody *n) {
  domain_double_frame(&n->domain);
  FOR_GROUPS(&n->domain, g) g->moved *= 0.5f;
}

void frame_follow(struct nbody *n) {
  if (nbody_has_mesh(n)) return;
  const double reach = largest_reach(&n->domain);
  if (reach < FRAME_LIMIT) return;
  double side = n->domain.geometry.box;
  for (double left = reach; left >= FRAME_LIMIT; left *= 0.5) side *= 2.0;
  domain_acquire(&n->domain);
  require_resolution(n, reach, side);
  while (n->domain.geometry.box < side) double_frame(n);
  domain_release(&n->domain);
  short_range_rescale(&n->short_range, n->parameters);
  step_refit(n);
  say("the frame grows to %g kpc at %s\n", 1e3 * side, cosmology_moment(true, n->a).text);
}
