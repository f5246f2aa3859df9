/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Light cones in a step: which groups and which copies of the box the stage cone looks at. */
#include <math.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/step/codelets.h"
#include "photons/step/light_cone.h"

/** More than floats round off of boxes of groups and of the fastest particle. */
#define ROUNDING 1.0001
enum { MARGIN = 4 /* position units: more than a coordinate is rounded */ };

/** The light cone in a drift, but for the factor of the drift. */
static void set_drift(struct light_cone *cone, double from, double to) {
  const struct cosmology *c = cone->cosmology;
  if (cone->from == from && cone->to == to) return;
  const double a[2] = {from, to}, whole = cosmology_drift(c, from, to);
  cone->from = from;
  cone->to = to;
  for (int i = 0; i < 2; i++) { /* by the drift factor s: dchi/ds = -c a, da/ds = a^3 H */
    cone->drift.chi[i] = light_cone_distance(c, a[i]) / cone->unit;
    cone->drift.chi_slope[i] = -SPEED_OF_LIGHT * a[i] * whole / cone->unit;
    cone->drift.a[i] = a[i];
    cone->drift.a_slope[i] = a[i] * a[i] * a[i] * cosmology_hubble(c, a[i]) * whole;
  }
}

/** Add a copy of the box, in whole sides, if particles of it may cross in the step. A group is at most as
 * large as the box, and its particles move by less than half a side. */
static void add_copy(struct light_cone *cone, const double copy[3]) {
  struct cone_bounds b;
  for (int c = 0; c < 3; c++) {
    b.centre[c] = (copy[c] + 0.5) * POSITION_TURN - cone->observer[c];
    b.half[c] = 1.5 * POSITION_TURN;
  }
  if (!cone_meets(&cone->view, &cone->drift, &b)) return;
  if (cone->copies % 64 == 0)
    cone->copy = reallocate(cone->copy, cone->copies + 64, sizeof *cone->copy,
                            "copies of the box in the light cone");
  memcpy(cone->copy[cone->copies++], copy, sizeof *cone->copy);
}

static void find_copies(struct light_cone *cone) {
  const double most = ceil(fmin(cone->drift.chi[0], cone->view.reach) / POSITION_TURN) + 2.0;
  for (double x = -most; x <= most; x++)
    for (double y = -most; y <= most; y++)
      for (double z = -most; z <= most; z++) add_copy(cone, (const double[3]){x, y, z});
}

void light_cone_begin(struct nbody *n, double a0, double a1) {
  struct light_cone *cone = n->cone;
  if (!cone) return;
  light_cone_forget_step(cone);
  cone->a0 = a0;
  cone->a1 = a1;
  set_drift(cone, a0, a1);
  if (cone->drift.chi[1] > cone->view.reach) return; /* the light cone begins later */
  find_copies(cone);
  light_cone_open_maps(cone);
  cone->parts = group_first(&n->domain, comm_rank() + 1) - group_first(&n->domain, comm_rank());
  cone->part = allocate(cone->parts, sizeof *cone->part, "crossings of the light cone");
  memset(cone->part, 0, cone->parts * sizeof *cone->part);
}

/** How far particles of a group go in a drift at most. */
static double way_of(const struct nbody *n, const struct group *g) {
  return ROUNDING * (double)g->moved / (double)n->domain.geometry.scale + MARGIN;
}

/** Where the particles of a group are during a drift, about the box's corner. */
static struct cone_bounds bounds_of(const struct nbody *n, const struct group *g, double way) {
  struct cone_bounds b;
  for (int c = 0; c < 3; c++) {
    b.centre[c] = g->root.centre[c];
    b.half[c] = ROUNDING * (double)g->root.half[c] / (double)n->domain.geometry.scale + way;
  }
  return b;
}

void light_cone_submit(struct nbody *n, struct group *g, double from, double to, float drift) {
  struct light_cone *cone = n->cone;
  if (!cone || cone->copies == 0) return;
  set_drift(cone, from, to);
  cone->drift.factor = drift * (float)(POSITION_TURN / n->domain.geometry.box);
  const double way = way_of(n, g);
  const struct cone_bounds b = bounds_of(n, g, way);
  for (size_t k = 0; k < cone->copies; k++) {
    const struct cone_bounds there = light_cone_in_copy(cone, &b, cone->copy[k]);
    if (!cone_meets(&cone->view, &cone->drift, &there)) continue;
    cone_submit(n, g, &cone->drift, &b, way,
                &cone->part[g->index - group_first(&n->domain, comm_rank())]);
    return;
  }
}
