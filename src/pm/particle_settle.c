/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles get new levels, groups and ranks after they have moved, and when groups have changed.
 *
 * Tasks list the particles that have left their groups, or may have (gas_leave). The host finds the new groups
 * of these, and sends those that other ranks are to have. Tasks then make the arrays of all groups
 * (gas_arrive, src/pm/particle_arrive.c): particles that stay in their groups never pass the host. */
#include "particle_settle.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "photons/amr/codelets.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/** Where a listed particle was. */
struct origin {
  int level;
  uint32_t group; /* of particle_level; NO_GROUP: it had none */
  uint32_t index; /* gas_leaver.index, if it had one */
};

static uint32_t own_groups(const struct particle_level *l) { return l->own_end - l->own_first; }

/** Ask for the groups that particles have, of levels that have got new groups since. Collective. */
static void fetch_groups(struct gas *g, int first, int last) {
  struct key_wants wants = {0};
  bool changed = false;
  for (int level = first; level <= last; level++) {
    const struct particle_level *l = &g->particles->level[level];
    if (l->settled == g->topology.level[level].changes) continue;
    changed = true;
    topology_want_keys(&wants, &g->topology, level, l->key, own_groups(l));
  }
  if (changed) topology_fetch(&g->topology, &wants);
}

/** Add a listed particle, for which there is room. */
static void add_particle(struct particle_migration *m, struct origin *origin, struct origin from,
                         uint32_t now, const struct gas_particle *particle) {
  origin[m->count] = from;
  m->particle[m->count] = particle;
  m->home[m->count++] = (struct home){from.level, now};
}

static void add_level(const struct settling *s, struct particle_migration *m,
                      struct origin *origin) {
  const struct particle_level *l = s->leaving->from;
  const int level = s->leaving->level;
  for (size_t i = 0; !l->first && i < l->count; i++) /* they have no groups yet */
    add_particle(m, origin, (struct origin){level, NO_GROUP, 0}, NO_GROUP, &l->particle[i]);
  for (uint32_t group = l->own_first; group < l->own_end; group++) {
    const struct gas_leaver *leaver = leaving_of(s->leaving, group);
    for (uint32_t k = 0; k < s->leaving->leavers[group - l->own_first]; k++)
      add_particle(m, origin, (struct origin){level, group, 0},
                   s->leaving->now[group - l->own_first], &leaver[k].particle);
  }
}

/** All listed particles. @param[out] origin  where they were; free() it */
static struct particle_migration find_listed(const struct gas *g, const struct settling *level,
                                             int first, int last, struct origin **origin) {
  struct particle_migration m = {.gas = g, .first = first, .last = last};
  size_t count = 0;
  for (int l = first; l <= last; l++) count += leaving_count(level[l].leaving);
  m.particle = allocate(count, sizeof *m.particle, "particles");
  m.home = allocate(count, sizeof *m.home, "particles");
  m.touched = allocate(count, sizeof *m.touched, "particles");
  *origin = allocate(count, sizeof **origin, "particles");
  for (int l = first; l <= last; l++) add_level(&level[l], &m, *origin);
  return m;
}

/* Parts of the search for places. */
enum { PLACE_PARTS = 64 };

/** The search for the places of listed particles. Each part has some of the particles. */
struct places {
  const struct particle_migration *migration;
  const struct origin *origin;
  struct key_wants wants[PLACE_PARTS];
};

/** Want the groups near a listed particle, and near the group where it was. */
static void want_place(const struct places *p, size_t i, struct key_wants *wants) {
  const struct gas *g = p->migration->gas;
  const struct origin *from = &p->origin[i];
  const struct particle_level *l = &g->particles->level[from->level];
  double at[3];
  for (int c = 0; c < 3; c++)
    at[c] = p->migration->particle[i]->position[c] / (GAS_GROUP_SIDE * g->cell);
  topology_want_at(wants, &g->topology, p->migration->last, at);
  if (from->group != NO_GROUP && from->level > 0 &&
      (i == 0 || from->level != from[-1].level || from->group != from[-1].group))
    topology_want_around(wants, &g->topology, from->level, l->key[from->group - l->own_first] >> 3);
}

static void want_places(void *context, uint32_t part) {
  struct places *p = context;
  const size_t count = p->migration->count;
  for (size_t i = block_first(count, PLACE_PARTS, part);
       i < block_first(count, PLACE_PARTS, part + 1); i++)
    want_place(p, i, &p->wants[part]);
}

/** Ask for the groups near listed particles, where they may have their new groups, and near those where they were. Mostly
 * all of these are known. Collective. */
static void fetch_places(struct gas *g, const struct particle_migration *m,
                         const struct origin *origin) {
  struct places places = {.migration = m, .origin = origin};
  struct key_wants wants = {0};
  if (comm_size() == 1) return;
  settle_groups(m->count, PLACE_PARTS, want_places, &places);
  for (int k = 0; k < PLACE_PARTS; k++) topology_want_all(&wants, &places.wants[k]);
  uint32_t any = wants.count > 0;
  comm_max_u32(&any, 1);
  if (any) topology_fetch(&g->topology, &wants);
}

/** Whether a particle stays in its group, and no other rank is to have it. */
static bool stays(const struct particle_migration *m, size_t i, const struct settling *level,
                  const struct origin *from) {
  const struct home *home = &m->home[i];
  const struct gas_leaving *leaving = level[from->level].leaving;
  if (from->group == NO_GROUP || home->level != from->level ||
      home->group != leaving->now[from->group - leaving->from->own_first])
    return false;
  if (comm_size() == 1) return true;
  for (uint32_t left = m->touched[i]; left; left &= left - 1) {
    const uint32_t near = topology_near(&m->gas->topology, home->level, home->group,
                                        __builtin_ctz(left));
    if (gas_owner(m->gas, home->level, near) != comm_rank()) return false;
  }
  return true;
}

/** What migration_plan() finds for each particle. */
struct settling_plan {
  const struct settling *level;
  struct origin *origin;
  bool *stays;
  atomic_bool lost; /* a particle has no place */
};

/** The entry of a listed particle that had a group. */
static const struct gas_leaver *leaver_with(const struct gas_particle *particle) {
  return (const struct gas_leaver *)(const void *)particle;
}

/** A particle outside the levels stays in its group till the end of a step of the coarser one. Workers read what GPUs
 * have listed, which comes from far: the main thread finds it in the plan. */
static void plan_settling(const struct particle_migration *m, size_t i) {
  struct settling_plan *plan = m->context;
  const double *position = m->particle[i]->position;
  const struct home new = particle_home(m->gas, m->first, m->last, position);
  struct origin *from = &plan->origin[i];
  struct home *home = &m->home[i];
  if (new.group != NO_GROUP || home->level != m->first) *home = new;
  if (home->group != NO_GROUP && comm_size() > 1)
    m->touched[i] = gas_particles_touched(m->gas, home->level, home->group, position);
  if (particle_is_lost(m, i))
    atomic_store(&plan->lost, true);
  else
    plan->stays[i] = stays(m, i, plan->level, from);
  if (from->group != NO_GROUP) from->index = (uint32_t)leaver_with(m->particle[i])->index;
}

static int compare_indices(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** Sort the indices of the particles that leave an own group. @param context  struct settling */
static void sort_gone(void *context, uint32_t i) {
  const struct settling *s = context;
  const size_t first = s->gone_first[i], count = s->gone_first[i + 1] - first;
  if (count > 1) qsort(s->gone + first, count, sizeof *s->gone, compare_indices);
}

/** Those of all groups of a level, of which each knows the number. */
static void sort_all_gone(struct settling *s) {
  const uint32_t own = own_groups(s->leaving->from);
  for (uint32_t i = 0; i < own; i++) s->gone_first[i + 1] += s->gone_first[i];
  settle_groups(s->gone_count, own, sort_gone, s);
}

/** Take the particles that stay out of the list, and note which ones leave their groups. They are in
 * the order of levels and groups. */
static void drop_staying(struct particle_migration *m, struct settling *level,
                         const struct settling_plan *plan) {
  const size_t listed = m->count;
  m->count = 0;
  for (int l = m->first; l <= m->last; l++) {
    struct settling *s = &level[l];
    s->gone_first = allocate(own_groups(s->leaving->from) + 1, sizeof *s->gone_first, "particles");
    s->gone = allocate(listed, sizeof *s->gone, "particles");
  }
  for (size_t i = 0; i < listed; i++) {
    const struct origin from = plan->origin[i];
    struct settling *s = &level[from.level];
    if (plan->stays[i]) continue;
    if (from.group != NO_GROUP) {
      s->gone[s->gone_count++] = from.index;
      s->gone_first[from.group - s->leaving->from->own_first + 1]++;
    }
    m->particle[m->count] = m->particle[i];
    m->home[m->count] = m->home[i];
    m->touched[m->count++] = m->touched[i];
  }
  for (int l = m->first; l <= m->last; l++) sort_all_gone(&level[l]);
}

/** What was needed to submit a level's tasks. */
static void end_settling(struct settling *s) {
  free(s->gone);
  free(s->gone_first);
  leaving_drop(s->leaving);
}

void gas_particles_settle(struct gas *g, int first, int last) {
  struct settling level[GAS_LEVELS_MAX] = {0};
  struct origin *origin;
  g->measured = false;
  fetch_groups(g, first, last);
  for (int l = first; l <= last; l++) level[l].leaving = leaving_take(g, l, last);
  for (int l = first; l <= last; l++) arrivals_forget_particles(g->particles, l);
  struct particle_migration m = find_listed(g, level, first, last, &origin);
  for (int l = first; l <= last; l++) arrivals_forget_tables(g->particles, l);
  fetch_places(g, &m, origin);
  g->particles->seen = m.count;
  struct settling_plan plan = {.level = level, .origin = origin};
  plan.stays = allocate(m.count, sizeof *plan.stays, "particles");
  m.context = &plan;
  migration_plan(&m, plan_settling);
  particles_require_places(&m, plan.lost);
  drop_staying(&m, level, &plan);
  free(plan.stays);
  free(origin);
  migration_run(&m);
  const bool begun = gas_chain_begin_levels(g);
  for (int l = first; l <= last; l++) arrivals_submit(g, &level[l], &m);
  gas_chain_end(g, begun);
  migration_end(&m);
  for (int l = first; l <= last; l++) end_settling(&level[l]);
}
