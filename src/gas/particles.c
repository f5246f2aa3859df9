/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which particles there are, and to which levels and groups they belong. */
#include "photons/gas/particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(gas_settle, 0x776655, .family = "gas");

enum { PIECE = 4096 }; /* particles in turn */

bool gas_particles_wanted(const struct parameters *p) {
  return p->ic.source == IC_POINT_MASSES || *p->ic.particles || p->box.npart_side > 0;
}

struct gas_particles *gas_particles_make(const struct parameters *p) {
  if (!gas_particles_wanted(p)) return NULL;
  if (comm_size() > 1) fail(EXIT_BAD_USAGE, "particles on the adaptive mesh run on one rank alone");
  struct gas_particles *s = allocate(1, sizeof *s, "particles");
  s->lightest = INFINITY;
  return s;
}

static void free_level(struct particle_level *l) {
  free(l->particle);
  free(l->first);
  free(l->acceleration);
  *l = (struct particle_level){0};
}

void gas_particles_free(struct gas_particles *s) {
  for (int level = 0; s && level < GAS_LEVELS_MAX; level++) free_level(&s->level[level]);
  free(s);
}

void gas_particles_make_batch(struct gas_batch *b) {
  starpu_void_data_register(&b->particles);
  b->matter = handle_make(b->count, sizeof(struct gas_matter));
}

void gas_particles_drop_batch(struct gas_batch *b) {
  handle_drop(&b->particles);
  handle_drop(&b->matter);
}

double gas_particles_bytes_per_group(const struct parameters *p) {
  return gas_particles_wanted(p) ? sizeof(struct gas_matter) + sizeof(size_t) : 0.0;
}

double gas_particles_bytes(const struct gas_particles *s) {
  return s ? (double)gas_particles_count(s) * sizeof(struct gas_particle) : 0.0;
}

size_t gas_particles_count(const struct gas_particles *s) {
  size_t count = 0;
  for (int level = 0; level < GAS_LEVELS_MAX; level++) count += s->level[level].count;
  return count;
}

void gas_particles_add(struct gas *g, const struct gas_particle *particle, size_t count) {
  struct particle_level *l = &g->particles->level[0];
  l->particle = reallocate(l->particle, l->count + count, sizeof *l->particle, "particles");
  memcpy(l->particle + l->count, particle, count * sizeof *particle);
  l->count += count;
  for (size_t i = 0; i < count; i++)
    g->particles->lightest = fmin(g->particles->lightest, particle[i].mass);
  free(l->first);
  l->first = NULL;
}

static void hold(struct gas *g, int first, bool acquire) {
  for (int level = first; level <= g->topology.finest; level++)
    for (uint32_t i = 0; i < g->level[level].batch_count; i++) {
      const starpu_data_handle_t particles = g->level[level].batch[i].particles;
      if (acquire)
        handle_acquire(particles, STARPU_RW);
      else
        starpu_data_release(particles);
    }
}

void gas_particles_acquire(struct gas *g, int first) { hold(g, first, true); }
void gas_particles_release(struct gas *g, int first) { hold(g, first, false); }

/** Where a particle belongs. */
struct home {
  int level;
  uint32_t group; /* NO_GROUP: outside the levels */
};

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

/** Particles on their way to new places. */
struct settling {
  const struct gas *gas;
  int first, last;
  size_t count;
  const struct gas_particle **particle; /* [count] */
  struct home *home;                    /* [count]; at first, where the particle was */
};

static void find_homes(void *context, uint32_t piece) {
  const struct settling *s = context;
  const size_t begin = (size_t)piece * PIECE;
  for (size_t i = begin; i < begin + PIECE && i < s->count; i++) {
    const struct home new = find_home(s->gas, s->first, s->last, s->particle[i]->position);
    if (new.group != NO_GROUP || s->home[i].level != s->first) s->home[i] = new;
  }
}

/** Particles of finer levels stay above the first one while steps are limited by velocities, unless
 * a fault of the gas has come to them by the potential. */
static void require_homes(const struct settling *s) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->home[i].group != NO_GROUP) continue;
    gas_require_sound(s->gas);
    fail(EXIT_RUN_FAILED,
         "at %s particle %llu has moved by more than a patch in a step: take a smaller gas.cfl",
         gas_moment(s->gas).text, (unsigned long long)s->particle[i]->number);
  }
}

static struct settling take_particles(struct gas *g, int first, int last) {
  struct settling s = {.gas = g, .first = first, .last = last};
  for (int level = first; level <= last; level++) s.count += g->particles->level[level].count;
  s.particle = allocate(s.count, sizeof *s.particle, "particles");
  s.home = allocate(s.count, sizeof *s.home, "particles");
  size_t i = 0;
  for (int level = first; level <= last; level++) {
    const struct particle_level *l = &g->particles->level[level];
    uint32_t group = 0;
    for (size_t k = 0; k < l->count; k++, i++) {
      while (l->first && k >= l->first[group + 1]) group++;
      s.particle[i] = &l->particle[k];
      s.home[i] = (struct home){level, l->first ? group : NO_GROUP};
    }
  }
  return s;
}

static int compare_numbers(const void *a, const void *b) {
  const struct gas_particle *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/** The particles of a level in their order. */
static struct particle_level fill_level(const struct settling *s, int level) {
  const uint32_t groups = s->gas->topology.level[level].count;
  struct particle_level l = {.groups = groups};
  size_t *next = allocate(groups + 1, sizeof *next, "particles of groups");
  l.first = allocate(groups + 1, sizeof *l.first, "particles of groups");
  l.acceleration = allocate(groups, sizeof *l.acceleration, "accelerations of groups");
  for (size_t i = 0; i < s->count; i++)
    if (s->home[i].level == level) l.first[s->home[i].group + 1]++;
  for (uint32_t i = 0; i < groups; i++) l.first[i + 1] += l.first[i];
  memcpy(next, l.first, (groups + 1) * sizeof *next);
  l.count = l.first[groups];
  l.particle = allocate(l.count, sizeof *l.particle, "particles");
  for (size_t i = 0; i < s->count; i++)
    if (s->home[i].level == level) l.particle[next[s->home[i].group]++] = *s->particle[i];
  free(next);
  return l;
}

/** Put the particles of a group into the order of their numbers. */
static void sort_groups(void *context, uint32_t group) {
  const struct particle_level *l = context;
  const size_t begin = l->first[group], end = l->first[group + 1];
  bool sorted = true;
  for (size_t i = begin; i + 1 < end; i++)
    sorted = sorted && l->particle[i].number <= l->particle[i + 1].number;
  if (!sorted) qsort(l->particle + begin, end - begin, sizeof *l->particle, compare_numbers);
}

/** A cloud must not reach over a side of an isolated box. */
static void require_inside(const struct gas *g, const struct settling *s) {
  const struct gas_group *root = g->topology.level[0].group;
  for (size_t i = 0; i < s->count && s->first == 0; i++) {
    const double *x = s->particle[i]->position;
    const uint32_t group = root_group(g, x);
    if (group == NO_GROUP || !has_cloud(g, 0, &root[group], x))
      fail(EXIT_RUN_FAILED,
           "at %s particle %llu leaves the box at (%g, %g, %g): make gas.length larger",
           gas_moment(g).text, (unsigned long long)s->particle[i]->number, x[0], x[1], x[2]);
  }
}

void gas_particles_settle(struct gas *g, int first, int last) {
  hold(g, first, true);
  struct settling s = take_particles(g, first, last);
  struct particle_level new[GAS_LEVELS_MAX];
  loop_run(&gas_settle_stage, (uint32_t)((s.count + PIECE - 1) / PIECE), find_homes, &s);
  require_inside(g, &s);
  require_homes(&s);
  for (int level = first; level <= last; level++) new[level] = fill_level(&s, level);
  for (int level = first; level <= last; level++) {
    free_level(&g->particles->level[level]);
    g->particles->level[level] = new[level];
    loop_run(&gas_settle_stage, new[level].groups, sort_groups, &new[level]);
  }
  free(s.particle);
  free(s.home);
  hold(g, first, false);
}
