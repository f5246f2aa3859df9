/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which particles there are, and to which levels and groups they belong. */
#include "photons/gas/particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "particle_migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"

bool gas_particles_wanted(const struct parameters *p) {
  return p->ic.source == IC_POINT_MASSES || *p->ic.particles || p->box.npart_side > 0;
}

struct gas_particles *gas_particles_make(const struct parameters *p) {
  if (!gas_particles_wanted(p)) return NULL;
  struct gas_particles *s = allocate(1, sizeof *s, "particles");
  s->lightest = INFINITY;
  return s;
}

void gas_particles_free(struct gas_particles *s) {
  for (int level = 0; s && level < GAS_LEVELS_MAX; level++) particle_level_free(&s->level[level]);
  free(s);
}

void gas_particles_make_batch(struct gas_batch *b) {
  starpu_void_data_register(&b->particles);
  b->matter = handle_make(b->count, sizeof(struct gas_matter));
}

void gas_particles_drop_batch(struct gas_batch *b) {
  handle_unregister(&b->particles);
  handle_drop(&b->matter);
}

double gas_particles_bytes_per_group(const struct parameters *p) {
  return gas_particles_wanted(p) ? sizeof(struct gas_matter) + sizeof(size_t) : 0.0;
}

double gas_particles_bytes(size_t count) {
  const size_t one = sizeof(struct gas_particle), row = 2 * sizeof(size_t);
  const size_t in_new_groups = 2 * one + sizeof(void *) + sizeof(struct home) + sizeof(uint32_t);
  const size_t in_files = one + row + (comm_size() > 1 ? 2 * (one + sizeof(size_t)) : 0);
  return (double)count * (double)(in_new_groups > in_files ? in_new_groups : in_files);
}

void gas_particles_make_ghosts(const struct gas *g, int level) {
  const struct ghost_messages *matter = &g->level[level].ghosts.received[GHOST_MATTER];
  for (uint32_t i = 0; i < matter->count; i++)
    for (uint32_t k = 0; k < matter->message[i].batches.count; k++) {
      struct gas_batch *b = &g->level[level].batch[matter->message[i].batches.batch[k]];
      b->matter = handle_make(b->count, sizeof(struct gas_matter));
    }
}

/** Tell StarPU which part of a level's array the particles of each batch are, or that they are to move,
 * for which they come back from GPUs. No task uses them. */
static void place_level(struct gas *g, int level, bool placed) {
  const struct particle_level *l = &g->particles->level[level];
  for (uint32_t i = 0; engine_gpu() && i < g->level[level].batch_count; i++) {
    struct gas_batch *b = &g->level[level].batch[i];
    const size_t first = placed ? l->first[b->first] : 0,
                 end = placed ? l->first[b->first + b->count] : 0;
    handle_unregister(&b->particles);
    if (first < end)
      b->particles = handle_register_room(l->all + first, end - first, sizeof *l->all);
    else if (gas_is_own(g, level, i))
      starpu_void_data_register(&b->particles);
  }
}

void gas_particles_add(struct gas *g, const struct gas_particle *particle, size_t count) {
  struct gas_particles *s = g->particles;
  struct particle_level *l = &s->level[0], new = {.count = l->count + count};
  double minus_lightest = -s->lightest, mass = 0.0;
  uint64_t all = count;
  new.all = new.particle = gas_shared_array(new.count, sizeof *particle, "particles");
  place_level(g, 0, false);
  if (l->count > 0) memcpy(new.all, l->particle, l->count * sizeof *particle);
  if (count > 0) memcpy(new.all + l->count, particle, count * sizeof *particle);
  particle_level_free(l);
  *l = new;
  for (size_t i = 0; i < count; i++) {
    minus_lightest = fmax(minus_lightest, -particle[i].mass);
    mass += particle[i].mass;
  }
  comm_max_double(&minus_lightest, 1);
  comm_sum_double(&mass, 1);
  comm_sum_u64(&all, 1);
  s->lightest = -minus_lightest;
  s->mass += mass;
  s->count += all;
}

static void hold(struct gas *g, int first, bool acquire) {
  for (int level = first; level <= g->topology.finest; level++) {
    const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++) {
      const starpu_data_handle_t particles = g->level[level].batch[i].particles;
      if (acquire)
        handle_acquire(particles, STARPU_RW);
      else
        starpu_data_release(particles);
    }
  }
}

void gas_particles_acquire(struct gas *g, int first) { hold(g, first, true); }
void gas_particles_release(struct gas *g, int first) { hold(g, first, false); }

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

/** A particle outside the levels stays in its group till the end of a step of the coarser one. */
static void plan_settling(const struct particle_migration *m, size_t i) {
  const double *position = m->particle[i]->position;
  const struct home new = find_home(m->gas, m->first, m->last, position);
  struct home *home = &m->home[i];
  if (new.group != NO_GROUP || home->level != m->first) *home = new;
  if (home->group != NO_GROUP && comm_size() > 1)
    m->touched[i] = gas_particles_touched(m->gas, home->level, home->group, position);
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

/** The worst of this rank's particles. */
static struct lost find_lost(const struct particle_migration *m) {
  const bool isolated = m->first == 0 && m->gas->topology.boundary[0][0] != GAS_PERIODIC;
  struct lost worst = {.why = NOT_LOST};
  for (size_t i = 0; i < m->count; i++) {
    const struct gas_particle *p = m->particle[i];
    struct lost lost = {.number = p->number};
    memcpy(lost.position, p->position, sizeof lost.position);
    if (m->home[i].group == NO_GROUP) lost.why = NO_HOME;
    if (isolated && is_outside(m->gas, p->position)) lost.why = OUTSIDE;
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

/** End the run, on all ranks alike, if a particle has no place. */
static void require_places(const struct particle_migration *m) {
  const struct lost own = find_lost(m);
  uint32_t why = own.why;
  comm_max_u32(&why, 1);
  if (why == NOT_LOST) return;
  struct lost *all = allocate((size_t)comm_size(), sizeof *all, "particles that are lost"),
              *worst = all;
  comm_gather_all(&own, sizeof own, all);
  for (int r = 1; r < comm_size(); r++)
    if (is_worse(&all[r], worst)) worst = &all[r];
  fail_at(m->gas, worst);
}

void gas_particles_settle(struct gas *g, int first, int last) {
  struct particle_level new[GAS_LEVELS_MAX];
  hold(g, first, true);
  struct particle_migration m = migration_begin(g, first, last);
  migration_plan(&m, plan_settling);
  require_places(&m);
  migration_run(&m);
  for (int level = first; level <= last; level++) {
    new[level] = migration_arrive(&m, level);
    new[level].sums = gas_shared_array(new[level].groups, sizeof *new[level].sums,
                                       "sums of groups");
  }
  migration_end(&m);
  hold(g, first, false);
  for (int level = first; level <= last; level++) {
    place_level(g, level, false);
    particle_level_free(&g->particles->level[level]);
    g->particles->level[level] = new[level];
    place_level(g, level, true);
  }
}
