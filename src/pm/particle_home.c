/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The levels and groups of particles, and particles that have none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "particle_migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/** A position from the low corner of a group, in cells of its level. */
static void position_in(const struct gas *g, int level, uint32_t group, const double position[3],
                        double at[3]) {
  const double cell = gas_cell(g, level);
  uint32_t place[3];
  topology_place(&g->topology, level, group, place);
  for (int c = 0; c < 3; c++) at[c] = position[c] / cell - GAS_GROUP_SIDE * (double)place[c];
}

/** Those neighbours of a group that are there: of a group that is not known of the ones that a cloud may touch. */
static uint32_t there_around(const struct gas *g, int level, uint32_t group, const double at[3]) {
  const struct gas_group *known = topology_known(&g->topology, level, group);
  uint32_t there = 0;
  if (known) return known->there;
  for (uint32_t left = cloud_groups(at); left; left &= left - 1) {
    const int n = __builtin_ctz(left);
    there |= (uint32_t)(topology_near(&g->topology, level, group, n) != NO_GROUP) << n;
  }
  return there;
}

/** Whether the eight cells of the cloud at a position inside a group exist. */
static bool has_cloud(const struct gas *g, int level, uint32_t group, const double position[3]) {
  double at[3];
  position_in(g, level, group, position, at);
  return have_cloud(there_around(g, level, group, at), at);
}

/** The group of the root level at a position. */
static uint32_t root_group(const struct gas *g, const double position[3]) {
  int64_t place[3];
  for (int c = 0; c < 3; c++) {
    place[c] = (int64_t)floor(position[c] / (GAS_GROUP_SIDE * g->cell));
    if (place[c] == (int64_t)g->topology.root[c]) place[c]--; /* rounding */
  }
  return topology_find(&g->topology, 0, place);
}

/** The patch of a group that contains a position. */
static int patch_at(const struct gas *g, int level, uint32_t group, const double position[3]) {
  double at[3];
  int patch = 0;
  position_in(g, level, group, position, at);
  for (int c = 0; c < 3; c++)
    if (at[c] >= GAS_PATCH_SIDE) patch |= 1 << c;
  return patch;
}

struct home particle_home(const struct gas *g, int first, int last, const double position[3]) {
  struct home home = {first, NO_GROUP};
  uint32_t group = root_group(g, position);
  for (int level = 0; level <= last && group != NO_GROUP; level++) {
    const bool whole = level >= first && has_cloud(g, level, group, position);
    if (whole || level == first) home = (struct home){level, group};
    if (level >= first && !whole) break;
    group = topology_son(&g->topology, level, group, patch_at(g, level, group, position));
  }
  return home;
}

/** Whether a cloud reaches over a side of an isolated box. */
static bool is_outside(const struct gas *g, const double position[3]) {
  const uint32_t group = root_group(g, position);
  return group == NO_GROUP || !has_cloud(g, 0, group, position);
}

/** A particle that has no place. */
struct lost {
  enum { NOT_LOST, NO_HOME, OUTSIDE } why;
  uint64_t number;
  double position[3];
};

/** Of two that have met the same, the one with the lower number. */
static bool is_worse(const struct lost *a, const struct lost *b) {
  return a->why != b->why ? a->why > b->why : a->number < b->number;
}

static struct lost lost_at(const struct particle_migration *m, size_t i) {
  const bool isolated = m->first == 0 && m->gas->topology.boundary[0][0] != GAS_PERIODIC;
  const struct gas_particle *p = m->particle[i];
  struct lost lost = {.number = p->number};
  memcpy(lost.position, p->position, sizeof lost.position);
  if (m->home[i].group == NO_GROUP) lost.why = NO_HOME;
  if (isolated && is_outside(m->gas, p->position)) lost.why = OUTSIDE;
  return lost;
}

bool particle_is_lost(const struct particle_migration *m, size_t i) {
  return lost_at(m, i).why != NOT_LOST;
}

/** The worst of this rank's particles. */
static struct lost find_lost(const struct particle_migration *m) {
  struct lost worst = {.why = NOT_LOST};
  for (size_t i = 0; i < m->count; i++) {
    const struct lost lost = lost_at(m, i);
    if (is_worse(&lost, &worst)) worst = lost;
  }
  return worst;
}

/** Particles of finer levels stay above the first one while steps are limited by velocities, unless
 * a fault of the gas has come to them by the potential. */
_Noreturn static void fail_at(const struct gas *g, const struct lost *lost) {
  const unsigned long long number = lost->number;
  if (lost->why == OUTSIDE)
    fail(EXIT_RUN_FAILED,
         "at %s particle %llu leaves the box at (%g, %g, %g): make gas.length larger",
         gas_moment(g).text, number, lost->position[0], lost->position[1], lost->position[2]);
  gas_require_sound(g);
  fail(EXIT_RUN_FAILED,
       "at %s particle %llu has moved by more than a patch in a step: take a smaller gas.cfl",
       gas_moment(g).text, number);
}

void particles_require_places(const struct particle_migration *m, bool some) {
  uint32_t any = some;
  comm_max_u32(&any, 1);
  if (any == 0) return;
  const struct lost own = find_lost(m);
  struct lost *all = allocate((size_t)comm_size(), sizeof *all, "particles that are lost"),
              *worst = all;
  comm_gather_all(&own, sizeof own, all);
  for (int r = 1; r < comm_size(); r++)
    if (is_worse(&all[r], worst)) worst = &all[r];
  fail_at(m->gas, worst);
}
