/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles get new levels, groups and ranks after they have moved, and when groups have changed.
 *
 * Tasks list the particles that may have left their groups (gas_leave). The host finds the new groups
 * of these, and sends those that other ranks are to have. Tasks then make the arrays of all groups
 * (gas_arrive): particles that stay in their groups never pass the host. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "particle_migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/pm/codelets.h"
#include "photons/pm/settling.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/owner_computes.h"

/** Whether the eight cells of the cloud at a position inside a group exist. */
static bool has_cloud(const struct gas *g, int level, const struct gas_group *group,
                      const double position[3]) {
  const double cell = gas_cell(g, level);
  int direction[3];
  for (int c = 0; c < 3; c++) {
    const double at = position[c] / cell - GAS_GROUP_SIDE * (double)group->place[c];
    direction[c] = at < 0.5 ? -1 : at >= GAS_GROUP_SIDE - 0.5 ? 1 : 0;
  }
  for (int k = 0; k < 8; k++) {
    const int n = MYSELF + (k & 1) * direction[0] + 3 * (k >> 1 & 1) * direction[1] +
                  9 * (k >> 2) * direction[2];
    if (group->near[n] == NO_GROUP) return false;
  }
  return true;
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
static int patch_at(const struct gas *g, int level, const struct gas_group *group,
                    const double position[3]) {
  const double cell = gas_cell(g, level);
  int patch = 0;
  for (int c = 0; c < 3; c++)
    if (position[c] / cell - GAS_GROUP_SIDE * (double)group->place[c] >= GAS_PATCH_SIDE)
      patch |= 1 << c;
  return patch;
}

/** The finest level from `first` to `last` that has the cloud at a position. If none has, the group
 * of `first` that contains the position, if there is one. */
static struct home find_home(const struct gas *g, int first, int last, const double position[3]) {
  struct home home = {first, NO_GROUP};
  uint32_t group = root_group(g, position);
  for (int level = 0; level <= last && group != NO_GROUP; level++) {
    const struct gas_group *me = &g->topology.level[level].group[group];
    const bool whole = level >= first && has_cloud(g, level, me, position);
    if (whole || level == first) home = (struct home){level, group};
    if (level >= first && !whole) break;
    group = me->son[patch_at(g, level, me, position)];
  }
  return home;
}

/** Whether a cloud reaches over a side of an isolated box. */
static bool is_outside(const struct gas *g, const double position[3]) {
  const uint32_t group = root_group(g, position);
  return group == NO_GROUP || !has_cloud(g, 0, &g->topology.level[0].group[group], position);
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

/** Whether a particle whose home has been found has a place. */
static struct lost lost_at(const struct particle_migration *m, size_t i) {
  const bool isolated = m->first == 0 && m->gas->topology.boundary[0][0] != GAS_PERIODIC;
  const struct gas_particle *p = m->particle[i];
  struct lost lost = {.number = p->number};
  memcpy(lost.position, p->position, sizeof lost.position);
  if (m->home[i].group == NO_GROUP) lost.why = NO_HOME;
  if (isolated && is_outside(m->gas, p->position)) lost.why = OUTSIDE;
  return lost;
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

/** End the run, on all ranks alike, if a particle has no place. @param some  whether one of this rank has none */
static void require_places(const struct particle_migration *m, bool some) {
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

/** Where a listed particle was. */
struct origin {
  int level;
  uint32_t group; /* of particle_level; NO_GROUP: it had none */
};

/** A level whose particles get new groups. */
struct settling {
  struct gas_leaving leaving;
  size_t gone_count;
  size_t *gone_first; /* [groups before + 1] */
  uint32_t *gone;     /* indices of the particles that leave each group, rising */
  struct particle_level new;
  uint32_t *before;                    /* [new.groups] the group's number before, or NO_GROUP */
  size_t *arrival_first;               /* [new.groups + 1] */
  const struct gas_particle **arrival; /* those that arrive in each group, by their numbers */
  struct gas_arriving arriving;
  struct gas_arrivals *arrivals; /* [new.batches] */
};

/** The present numbers of the groups that a level's particles have; NO_GROUP: it is no more. */
static uint32_t *number_groups(const struct gas_tree_level *tree, const struct particle_level *l) {
  uint32_t *now = allocate(l->groups, sizeof *now, "particles of groups");
  for (uint32_t i = 0, k = 0; i < l->groups; i++) {
    while (k < tree->count && tree->key[k] < l->key[i]) k++;
    now[i] = k < tree->count && tree->key[k] == l->key[i] ? k : NO_GROUP;
  }
  return now;
}

static void list_leavers(struct settling *s, const struct gas *g, int level, int last) {
  const struct particle_level *l = &g->particles->level[level];
  s->leaving = (struct gas_leaving){.gas = g, .level = level, .last = last, .from = l};
  s->leaving.now = number_groups(&g->topology.level[level], l);
  leaving_begin(&s->leaving);
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
  const struct particle_level *l = s->leaving.from;
  const int level = s->leaving.level;
  for (size_t i = 0; !l->first && i < l->count; i++) /* they have no groups yet */
    add_particle(m, origin, (struct origin){level, NO_GROUP}, NO_GROUP, &l->particle[i]);
  for (uint32_t group = l->own_first; group < l->own_end; group++) {
    const struct gas_leaver *leaver = leaving_of(&s->leaving, group);
    for (uint32_t k = 0; k < s->leaving.leavers[group]; k++)
      add_particle(m, origin, (struct origin){level, group}, s->leaving.now[group],
                   &leaver[k].particle);
  }
}

/** All listed particles. @param[out] origin  where they were; free() it */
static struct particle_migration find_listed(const struct gas *g, const struct settling *level,
                                             int first, int last, struct origin **origin) {
  struct particle_migration m = {.gas = g, .first = first, .last = last};
  size_t count = 0;
  for (int l = first; l <= last; l++) count += leaving_count(&level[l].leaving);
  m.particle = allocate(count, sizeof *m.particle, "particles");
  m.home = allocate(count, sizeof *m.home, "particles");
  m.touched = allocate(count, sizeof *m.touched, "particles");
  *origin = allocate(count, sizeof **origin, "particles");
  for (int l = first; l <= last; l++) add_level(&level[l], &m, *origin);
  return m;
}

/** Whether a particle stays in its group, and no other rank is to have it. */
static bool stays(const struct particle_migration *m, size_t i, const struct settling *level,
                  const struct origin *from) {
  const struct home *home = &m->home[i];
  if (from->group == NO_GROUP || home->level != from->level ||
      home->group != level[from->level].leaving.now[from->group])
    return false;
  if (comm_size() == 1) return true;
  const uint32_t *near = m->gas->topology.level[home->level].group[home->group].near;
  for (uint32_t left = m->touched[i]; left; left &= left - 1)
    if (gas_owner(m->gas, home->level, near[__builtin_ctz(left)]) != comm_rank()) return false;
  return true;
}

/** What migration_plan() finds for each particle. */
struct settling_plan {
  const struct settling *level;
  const struct origin *origin;
  bool *stays;
  atomic_bool lost; /* a particle has no place */
};

/** A particle outside the levels stays in its group till the end of a step of the coarser one. */
static void plan_settling(const struct particle_migration *m, size_t i) {
  struct settling_plan *plan = m->context;
  const double *position = m->particle[i]->position;
  const struct home new = find_home(m->gas, m->first, m->last, position);
  struct home *home = &m->home[i];
  if (new.group != NO_GROUP || home->level != m->first) *home = new;
  if (home->group != NO_GROUP && comm_size() > 1)
    m->touched[i] = gas_particles_touched(m->gas, home->level, home->group, position);
  if (lost_at(m, i).why != NOT_LOST)
    atomic_store(&plan->lost, true);
  else
    plan->stays[i] = stays(m, i, plan->level, &plan->origin[i]);
}

static int compare_indices(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** The entry of a listed particle that had a group. */
static const struct gas_leaver *leaver_with(const struct gas_particle *particle) {
  return (const struct gas_leaver *)(const void *)particle;
}

/** Take the particles that stay out of the list, and note which ones leave their groups. They are in
 * the order of levels and groups. */
static void drop_staying(struct particle_migration *m, struct settling *level,
                         const struct settling_plan *plan) {
  const size_t listed = m->count;
  m->count = 0;
  for (int l = m->first; l <= m->last; l++) {
    struct settling *s = &level[l];
    s->gone_first = allocate(s->leaving.from->groups + 1, sizeof *s->gone_first, "particles");
    s->gone = allocate(listed, sizeof *s->gone, "particles");
  }
  for (size_t i = 0; i < listed; i++) {
    const struct origin from = plan->origin[i];
    struct settling *s = &level[from.level];
    if (plan->stays[i]) continue;
    if (from.group != NO_GROUP) {
      s->gone[s->gone_count++] = (uint32_t)leaver_with(m->particle[i])->index;
      s->gone_first[from.group + 1]++;
    }
    m->particle[m->count] = m->particle[i];
    m->home[m->count] = m->home[i];
    m->touched[m->count++] = m->touched[i];
  }
  for (int l = m->first; l <= m->last; l++)
    for (uint32_t i = 0; i < level[l].leaving.from->groups; i++) {
      size_t *first = level[l].gone_first + i;
      first[1] += first[0];
      if (first[1] > first[0] + 1)
        qsort(level[l].gone + first[0], first[1] - first[0], sizeof *level[l].gone,
              compare_indices);
    }
}

static int compare_arrivals(const void *a, const void *b) {
  const struct gas_particle *x = *(const struct gas_particle *const *)a,
                            *y = *(const struct gas_particle *const *)b;
  return (x->number > y->number) - (x->number < y->number);
}

static void sort_arrivals(void *context, uint32_t group) {
  const struct settling *s = context;
  const size_t first = s->arrival_first[group], end = s->arrival_first[group + 1];
  if (end > first + 1) qsort(s->arrival + first, end - first, sizeof *s->arrival, compare_arrivals);
}

/** The listed particles that arrive in each group of a level. */
static void find_arrivals(struct settling *s, const struct particle_migration *m) {
  const int level = s->leaving.level;
  const uint32_t groups = s->new.groups;
  size_t *next = allocate(groups + 1, sizeof *next, "particles of groups");
  s->arrival_first = allocate(groups + 1, sizeof *s->arrival_first, "particles of groups");
  for (size_t i = 0; i < m->count; i++)
    if (m->home[i].level == level) s->arrival_first[m->home[i].group + 1]++;
  for (uint32_t i = 0; i < groups; i++) s->arrival_first[i + 1] += s->arrival_first[i];
  memcpy(next, s->arrival_first, (groups + 1) * sizeof *next);
  s->arrival = allocate(s->arrival_first[groups], sizeof *s->arrival, "particles");
  for (size_t i = 0; i < m->count; i++)
    if (m->home[i].level == level) s->arrival[next[m->home[i].group]++] = m->particle[i];
  free(next);
  if (s->arrival_first[groups] > 0) loop_run(&gas_settle_stage, groups, sort_arrivals, s);
}

static size_t arrivals_at(const struct settling *s, uint32_t group) {
  return s->arrival_first[group + 1] - s->arrival_first[group];
}
static uint32_t leavers_at(const struct settling *s, uint32_t before) {
  return (uint32_t)(s->gone_first[before + 1] - s->gone_first[before]);
}

/** The number of particles of each group, and where they were. */
static void count_particles(struct settling *s) {
  struct particle_level *new = &s->new;
  const struct particle_level *old = s->leaving.from;
  s->before = allocate(new->groups, sizeof *s->before, "particles of groups");
  new->first = allocate(new->groups + 1, sizeof *new->first, "particles of groups");
  for (uint32_t i = 0; i < new->groups; i++) s->before[i] = NO_GROUP;
  for (uint32_t i = old->own_first; i < old->own_end; i++) {
    const uint32_t now = s->leaving.now[i];
    if (now >= new->own_first && now < new->own_end) s->before[now] = i; /* NO_GROUP is larger */
  }
  for (uint32_t i = 0; i < new->groups; i++) {
    const uint32_t k = s->before[i];
    new->first[i + 1] = new->first[i] + arrivals_at(s, i);
    if (k != NO_GROUP) new->first[i + 1] += old->first[k + 1] - old->first[k] - leavers_at(s, k);
  }
}

/** Copy what arrives in a group. */
static void copy_arrivals(const struct settling *s, uint32_t group, struct gas_particle *to) {
  for (size_t i = s->arrival_first[group]; i < s->arrival_first[group + 1]; i++)
    *to++ = *s->arrival[i];
}

/** Memory for the tables of a batch. */
static struct gas_arrivals make_tables(const struct settling *s, uint32_t first, uint32_t end) {
  struct gas_arrivals t = {
      .particles = (uint32_t)(s->arrival_first[end] - s->arrival_first[first])};
  for (uint32_t i = first; i < end; i++)
    if (s->before[i] != NO_GROUP) t.leavers += leavers_at(s, s->before[i]);
  const size_t groups = (end - first) * sizeof *t.group,
               particles = t.particles * sizeof *t.particle;
  t.bytes = particles + groups + t.leavers * sizeof *t.leaver;
  t.memory = gas_shared_room(t.bytes, "particles of groups");
  t.particle = (void *)t.memory;
  t.group = (void *)(t.memory + particles);
  t.leaver = (void *)(t.memory + particles + groups);
  t.batch = allocate(end - first, sizeof *t.batch, "batches of particles");
  return t;
}

/** The tables of a new batch. */
static struct gas_arrivals fill_tables(const struct settling *s, uint32_t first, uint32_t end) {
  const struct particle_level *old = s->leaving.from;
  const uint32_t batch = old->batch_groups;
  struct gas_arrivals t = make_tables(s, first, end);
  uint32_t arrival = 0, leaver = 0;
  for (uint32_t i = first; i < end; i++) {
    struct gas_arrival *group = &t.group[i - first];
    const uint32_t k = s->before[i];
    *group = (struct gas_arrival){.leaver = leaver,
                                  .arrival = arrival,
                                  .arrivals = (uint32_t)arrivals_at(s, i),
                                  .first = (uint32_t)(s->new.first[i] - s->new.first[first])};
    copy_arrivals(s, i, t.particle + arrival);
    arrival += group->arrivals;
    if (k == NO_GROUP || old->first[k] == old->first[k + 1]) continue;
    if (t.batches == 0 || t.batch[t.batches - 1] != k / batch) t.batch[t.batches++] = k / batch;
    group->from = t.batches - 1; /* both numbers rise */
    group->old = (uint32_t)(old->first[k] - old->first[k / batch * batch]);
    group->olds = (uint32_t)(old->first[k + 1] - old->first[k]);
    group->leavers = leavers_at(s, k);
    memcpy(t.leaver + leaver, s->gone + s->gone_first[k], group->leavers * sizeof *t.leaver);
    leaver += group->leavers;
  }
  return t;
}

/** A level without particles, which are to come. */
static struct particle_level make_level(const struct gas *g, int level) {
  const struct gas_tree_level *tree = &g->topology.level[level];
  struct particle_level l = {.groups = tree->count,
                             .batches = g->level[level].batch_count,
                             .batch_groups = g->level[level].batch_groups,
                             .settled = tree->changes};
  l.own_first = gas_first_group(g, level, comm_rank());
  l.own_end = gas_first_group(g, level, comm_rank() + 1);
  l.key = allocate(l.groups, sizeof *l.key, "particles of groups");
  if (l.groups > 0) memcpy(l.key, tree->key, l.groups * sizeof *l.key);
  l.handle = allocate(l.batches, sizeof(starpu_data_handle_t), "batches of particles");
  l.sums = gas_shared_array(l.groups, sizeof *l.sums, "sums of groups");
  return l;
}

/** Give a batch its handle: on cores one without data, which orders tasks. */
static void make_handle(const struct gas *g, int level, struct particle_level *l, uint32_t i) {
  const struct gas_batch *b = &g->level[level].batch[i];
  const size_t first = l->first[b->first], end = l->first[b->first + b->count];
  if (engine_gpu() && first < end)
    l->handle[i] = handle_register_room(l->all + first, end - first, sizeof *l->all);
  else if (gas_is_own(g, level, i))
    starpu_void_data_register(&l->handle[i]);
  if (gas_is_own(g, level, i))
    owner_set(l->handle[i], gas_home_of_batch(g, level, i) - gas_home_begin(g), g->tasks.homes);
}

/** Submit the tasks that make a level's particles. Copies of other ranks' particles are made here. */
static void submit_arrivals(struct settling *s, const struct particle_migration *m) {
  const struct gas *g = m->gas;
  const int level = s->leaving.level;
  struct particle_level *new = &s->new;
  *new = make_level(g, level);
  find_arrivals(s, m);
  count_particles(s);
  new->all = gas_shared_room(new->first[new->groups] * sizeof *new->all, "particles");
  new->particle = new->all + new->first[new->own_first];
  new->count = new->first[new->own_end] - new->first[new->own_first];
  for (uint32_t i = 0; i < new->groups; i++)
    if (i < new->own_first || i >= new->own_end) copy_arrivals(s, i, new->all + new->first[i]);
  s->arrivals = allocate(new->batches, sizeof *s->arrivals, "batches of particles");
  s->arriving = (struct gas_arriving){g, level, s->leaving.from, new, s->arrivals};
  for (uint32_t i = 0; i < new->batches; i++) {
    make_handle(g, level, new, i);
    if (particle_batch_count(new, i) == 0) continue;
    const struct gas_batch *b = &g->level[level].batch[i];
    s->arrivals[i] = fill_tables(s, b->first, b->first + b->count);
    gas_arrive_submit(&s->arriving, i);
  }
}

/** Wait for a level's particles. */
static void end_settling(struct gas *g, struct settling *s) {
  const int level = s->leaving.level;
  struct particle_level *l = &g->particles->level[level];
  for (uint32_t i = 0; i < s->new.batches; i++) {
    handle_wait(s->new.handle[i]);
    gas_free_shared(s->arrivals[i].memory, s->arrivals[i].bytes);
    free(s->arrivals[i].batch);
  }
  free(s->arrivals);
  free(s->arrival);
  free(s->arrival_first);
  free(s->before);
  free(s->gone);
  free(s->gone_first);
  leaving_end(&s->leaving);
  particle_level_free(l); /* waits for tasks, which look at what follows */
  *l = s->new;
  for (uint32_t i = 0; i < l->batches; i++) g->level[level].batch[i].particles = l->handle[i];
}

void gas_particles_settle(struct gas *g, int first, int last) {
  struct settling level[GAS_LEVELS_MAX] = {0};
  struct origin *origin;
  for (int l = first; l <= last; l++) list_leavers(&level[l], g, l, last);
  struct particle_migration m = find_listed(g, level, first, last, &origin);
  g->particles->seen = m.count;
  struct settling_plan plan = {.level = level, .origin = origin};
  plan.stays = allocate(m.count, sizeof *plan.stays, "particles");
  m.context = &plan;
  migration_plan(&m, plan_settling);
  require_places(&m, plan.lost);
  drop_staying(&m, level, &plan);
  free(plan.stays);
  free(origin);
  migration_run(&m);
  for (int l = first; l <= last; l++) submit_arrivals(&level[l], &m);
  migration_end(&m);
  for (int l = first; l <= last; l++) end_settling(g, &level[l]);
}
