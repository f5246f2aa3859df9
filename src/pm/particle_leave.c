/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of the particles that may leave their groups. */
#include <stdlib.h>
#include <string.h>

#include "particle_migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/pm/codelets.h"
#include "photons/runtime/handle.h"

static size_t leavers_bytes(const struct particle_level *l) {
  return l->count * sizeof(struct gas_leaver);
}

static uint32_t own_groups(const struct particle_level *l) { return l->own_end - l->own_first; }

static void make_room(struct gas_leaving *s) {
  const struct particle_level *l = s->from;
  if (!l->first) return;
  s->leaver = gas_shared_room(leavers_bytes(l), "particles");
  s->leavers = gas_shared_array(own_groups(l), sizeof *s->leavers, "particles");
}

void leaving_begin(struct gas_leaving *s) {
  const struct particle_level *l = s->from;
  make_room(s);
  for (uint32_t b = l->begin; b < l->begin + l->batches; b++)
    if (l->first && particle_batch_count(l, b) > 0) gas_leave_submit(s, b);
}

size_t leaving_count(const struct gas_leaving *s) {
  const struct particle_level *l = s->from;
  size_t count = 0;
  if (!l->first) return l->count;
  handle_wait(l->readers);
  for (uint32_t i = 0; i < own_groups(l); i++) count += s->leavers[i];
  return count;
}

const struct gas_leaver *leaving_of(const struct gas_leaving *s, uint32_t group) {
  return s->leaver + particle_first(s->from, group) - particle_first(s->from, s->from->own_first);
}

void leaving_end(struct gas_leaving *s) {
  gas_free_shared(s->leavers, own_groups(s->from) * sizeof *s->leavers);
  gas_free_shared(s->leaver, leavers_bytes(s->from));
  free(s->now);
  *s = (struct gas_leaving){0};
}

uint64_t leaving_changes(const struct gas *g, int level) {
  const uint64_t finer = level < g->topology.finest ? g->topology.level[level + 1].changes : 0;
  return g->topology.level[level].changes + finer; /* neither falls */
}

/** The present numbers of this rank's groups that a level's particles have; NO_GROUP: it is no more. */
static uint32_t *number_groups(const struct topology *t, int level,
                               const struct particle_level *l) {
  const uint32_t own = own_groups(l);
  uint32_t *now = allocate(own, sizeof *now, "particles of groups");
  for (uint32_t i = 0, latest = 0; i < own; i++) /* mostly they still follow each other */
    now[i] = topology_with_next_key(t, level, l->key[i], &latest);
  return now;
}

/** Lists without tasks that make them. */
static struct gas_leaving *prepare(const struct gas *g, int level, int last) {
  const struct particle_level *l = &g->particles->level[level];
  struct gas_leaving *s = allocate(1, sizeof *s, "particles");
  *s = (struct gas_leaving){.gas = g, .level = level, .last = last, .from = l};
  s->changes = leaving_changes(g, level);
  s->now = number_groups(&g->topology, level, l);
  return s;
}

static struct gas_leaving *list(const struct gas *g, int level, int last) {
  struct gas_leaving *s = prepare(g, level, last);
  leaving_begin(s);
  return s;
}

const struct gas_leaving *leaving_with_drift(struct gas *g, int level) {
  struct gas_leaving **s = &g->particles->leaving[level];
  if (comm_size() > 1) return NULL;
  leaving_drop(*s);
  *s = prepare(g, level, g->topology.finest);
  make_room(*s);
  return *s;
}

void gas_particles_list(struct gas *g, int level, int last) {
  struct gas_leaving **s = &g->particles->leaving[level];
  if (comm_size() > 1) return;
  leaving_drop(*s);
  *s = list(g, level, last);
}

struct gas_leaving *leaving_take(struct gas *g, int level, int last) {
  struct gas_leaving *s = g->particles->leaving[level];
  g->particles->leaving[level] = NULL;
  if (s && s->last == last && s->changes == leaving_changes(g, level)) return s;
  leaving_drop(s);
  return list(g, level, last);
}

void leaving_drop(struct gas_leaving *s) {
  if (!s) return;
  handle_wait(s->from->readers);
  leaving_end(s);
  free(s);
}
