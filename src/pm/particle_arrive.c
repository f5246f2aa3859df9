/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks make the particles of a level's new groups from those that stay and those that arrive. Nothing waits for
 * these tasks: what they read stays till the level's next settling. */
#include <stdlib.h>
#include <string.h>

#include "particle_settle.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/pm/codelets.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/owner_computes.h"

/** What tasks of the last settling of a level read. */
struct particle_past {
  struct particle_level level; /* before */
  struct gas_arriving arriving;
  uint32_t batches;
  struct gas_arrivals *arrivals; /* [batches] of own new groups */
};

/** A level whose new particles are being made. */
struct making {
  const struct settling *settling;
  struct particle_level *new;
  uint32_t *before;                    /* [own new group] the group's number before, or NO_GROUP */
  size_t *arrival_first;               /* [particle_listed(new) + 1] */
  const struct gas_particle **arrival; /* those that arrive in each group, by their numbers */
  struct gas_arrivals *arrivals;       /* [own batch] */
};

static int compare_arrivals(const void *a, const void *b) {
  const struct gas_particle *x = *(const struct gas_particle *const *)a,
                            *y = *(const struct gas_particle *const *)b;
  return (x->number > y->number) - (x->number < y->number);
}

static void sort_arrivals(void *context, uint32_t place) {
  const struct making *s = context;
  const size_t first = s->arrival_first[place], end = s->arrival_first[place + 1];
  if (end > first + 1) qsort(s->arrival + first, end - first, sizeof *s->arrival, compare_arrivals);
}

/** The listed particles that arrive in each group of a level. */
static void find_arrivals(struct making *s, const struct particle_migration *m) {
  const int level = s->settling->leaving->level;
  particle_level_list(s->new, m, level);
  const uint32_t listed = particle_listed(s->new);
  size_t *next = allocate(listed + 1, sizeof *next, "particles of groups");
  s->arrival_first = particle_level_count(s->new, m, level);
  memcpy(next, s->arrival_first, (listed + 1) * sizeof *next);
  s->arrival = allocate(s->arrival_first[listed], sizeof *s->arrival, "particles");
  for (size_t i = 0; i < m->count; i++)
    if (m->home[i].level == level)
      s->arrival[next[particle_place(s->new, m->home[i].group)]++] = m->particle[i];
  free(next);
  settle_groups(s->arrival_first[listed], listed, sort_arrivals, s);
}

/** @param place  of a group among the listed ones */
static size_t arrivals_at(const struct making *s, uint32_t place) {
  return s->arrival_first[place + 1] - s->arrival_first[place];
}
static const size_t *gone_from(const struct making *s, uint32_t before) {
  return s->settling->gone_first + before - s->settling->leaving->from->own_first;
}
static uint32_t leavers_at(const struct making *s, uint32_t before) {
  const size_t *first = gone_from(s, before);
  return (uint32_t)(first[1] - first[0]);
}
static uint32_t before_of(const struct making *s, uint32_t group) {
  return s->before[group - s->new->own_first];
}

static size_t particles_of(const struct particle_level *l, uint32_t group) {
  return particle_first(l, group + 1) - particle_first(l, group);
}

/** The number of particles of each group, and where they were. */
static void count_particles(struct making *s) {
  struct particle_level *new = s->new;
  const struct particle_level *old = s->settling->leaving->from;
  const uint32_t own = new->own_end - new->own_first;
  s->before = allocate(own, sizeof *s->before, "particles of groups");
  new->first = allocate(particle_listed(new) + 1, sizeof *new->first, "particles of groups");
  for (uint32_t i = 0; i < own; i++) s->before[i] = NO_GROUP;
  for (uint32_t i = old->own_first; i < old->own_end; i++) {
    const uint32_t now = s->settling->leaving->now[i - old->own_first];
    if (now >= new->own_first && now < new->own_end) /* NO_GROUP is larger */
      s->before[now - new->own_first] = i;
  }
  for (uint32_t i = 0; i < particle_listed(new); i++) {
    const uint32_t k = i - new->below < own ? s->before[i - new->below] : NO_GROUP;
    new->first[i + 1] = new->first[i] + arrivals_at(s, i);
    if (k != NO_GROUP) new->first[i + 1] += particles_of(old, k) - leavers_at(s, k);
  }
}

/** Copy what arrives in a listed group. */
static void copy_arrivals(const struct making *s, uint32_t place, struct gas_particle *to) {
  for (size_t i = s->arrival_first[place]; i < s->arrival_first[place + 1]; i++)
    *to++ = *s->arrival[i];
}

/** Memory for the tables of a batch. */
static struct gas_arrivals make_tables(const struct making *s, uint32_t first, uint32_t end) {
  const size_t *arrival = s->arrival_first + particle_place(s->new, first);
  struct gas_arrivals t = {.particles = (uint32_t)(arrival[end - first] - arrival[0])};
  for (uint32_t i = first; i < end; i++)
    if (before_of(s, i) != NO_GROUP) t.leavers += leavers_at(s, before_of(s, i));
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

/** Fill in the tables of a new batch. */
static void fill_tables(const struct making *s, uint32_t first, uint32_t end,
                        struct gas_arrivals *tables) {
  const struct particle_level *old = s->settling->leaving->from;
  const uint32_t batch = old->batch_groups;
  struct gas_arrivals t = *tables;
  uint32_t arrival = 0, leaver = 0;
  for (uint32_t i = first; i < end; i++) {
    struct gas_arrival *group = &t.group[i - first];
    const uint32_t k = before_of(s, i), place = particle_place(s->new, i);
    *group = (struct gas_arrival){
        .leaver = leaver,
        .arrival = arrival,
        .arrivals = (uint32_t)arrivals_at(s, place),
        .first = (uint32_t)(s->new->first[place] - particle_first(s->new, first))};
    copy_arrivals(s, place, t.particle + arrival);
    arrival += group->arrivals;
    if (k == NO_GROUP || particles_of(old, k) == 0) continue;
    if (t.batches == 0 || t.batch[t.batches - 1] != k / batch) t.batch[t.batches++] = k / batch;
    group->from = t.batches - 1; /* both numbers rise */
    group->old = (uint32_t)(particle_first(old, k) - particle_first(old, k / batch * batch));
    group->olds = (uint32_t)particles_of(old, k);
    group->leavers = leavers_at(s, k);
    memcpy(t.leaver + leaver, s->settling->gone + *gone_from(s, k),
           group->leavers * sizeof *t.leaver);
    leaver += group->leavers;
  }
  *tables = t;
}

/** A level without particles, which are to come. */
static struct particle_level make_level(const struct gas *g, int level) {
  const struct gas_tree_level *tree = &g->topology.level[level];
  struct particle_level l = {.begin = g->level[level].begin,
                             .batches = g->level[level].own,
                             .batch_groups = g->level[level].batch_groups,
                             .settled = tree->changes};
  l.own_first = gas_first_group(g, level, comm_rank());
  l.own_end = gas_first_group(g, level, comm_rank() + 1);
  const uint32_t own = l.own_end - l.own_first;
  l.key = allocate(own, sizeof *l.key, "particles of groups");
  if (own > 0) memcpy(l.key, tree->key, own * sizeof *l.key);
  l.handle = allocate(l.batches, sizeof(starpu_data_handle_t), "batches of particles");
  l.sums = gas_shared_array(own, sizeof *l.sums, "sums of groups");
  return l;
}

/** The same handle serves from settling to settling. */
static void take_readers(struct particle_level *new, struct particle_level *old) {
  new->readers = old->readers ? old->readers : handle_make_empty();
  old->readers = NULL;
}

/** The particles of a batch of which some are here, for GPUs. NULL: none are. */
static starpu_data_handle_t register_batch(const struct gas_level *level,
                                           const struct particle_level *l, uint32_t batch) {
  const struct group_span groups = gas_batch_span(level, batch);
  const size_t first = particle_first(l, groups.first), end = particle_first(l, groups.end);
  if (!engine_gpu() || first == end) return NULL;
  return handle_register_room(l->all + first, end - first, sizeof *l->all);
}

/** Give an own batch its handle: on cores one without data, which orders tasks. */
static void make_handle(struct gas *g, int level, struct particle_level *l, uint32_t batch) {
  starpu_data_handle_t *handle = &l->handle[batch - l->begin];
  *handle = register_batch(&g->level[level], l, batch);
  if (!*handle) starpu_void_data_register(handle);
  owner_set(*handle, gas_home_of_batch(g, level, batch) - gas_home_begin(g), g->tasks.homes);
  gas_batch(g, level, batch)->particles = *handle;
  gas_batch(g, level, batch)->pushed = particle_batch_count(l, batch) > 0;
}

/** Give copies of other ranks' particles handles where GPUs read them. */
static void make_copies(const struct gas *g, int level, struct particle_level *l) {
  uint32_t latest = NO_GROUP;
  if (!engine_gpu()) return;
  l->copy = allocate(l->others, sizeof *l->copy, "batches of particles");
  for (uint32_t i = 0; i < l->others; i++) {
    const uint32_t batch = l->other[i] / l->batch_groups;
    if (batch == latest) continue;
    latest = batch;
    l->copy[l->copies++] = (struct particle_copies){batch,
                                                    register_batch(&g->level[level], l, batch)};
  }
}

/** Take over a level's particles as those of before. @return what tasks of the new particles read */
static struct particle_past *begin_past(struct gas *g, int level) {
  struct particle_level *l = &g->particles->level[level];
  struct particle_past *past = allocate(1, sizeof *past, "batches of particles");
  past->level = *l;
  past->batches = g->level[level].own;
  past->arrivals = allocate(past->batches, sizeof *past->arrivals, "batches of particles");
  past->arriving = (struct gas_arriving){g, level, &past->level, l, past->arrivals};
  g->particles->past[level] = past;
  return past;
}

/** Room for a level's particles, of which those of other ranks are copied here. */
static void make_room(const struct making *s) {
  struct particle_level *new = s->new;
  const size_t first = particle_first(new, new->own_first);
  new->all = gas_shared_room(new->first[particle_listed(new)] * sizeof *new->all, "particles");
  new->particle = new->all + first;
  new->count = particle_first(new, new->own_end) - first;
  for (uint32_t i = 0; i < particle_listed(new); i++)
    if (i - new->below >= new->own_end - new->own_first)
      copy_arrivals(s, i, new->all + new->first[i]);
}

/** Fill in the tables of an own batch, if it has any. @param context  struct making */
static void fill_batch(void *context, uint32_t i) {
  const struct making *s = context;
  const struct particle_level *new = s->new;
  const uint32_t batch = new->begin + i, first = batch *new->batch_groups,
                 left = new->own_end - first;
  if (particle_batch_count(new, batch) == 0) return;
  fill_tables(s, first, first + (left < new->batch_groups ? left : new->batch_groups),
              &s->arrivals[i]);
}

void arrivals_submit(struct gas *g, struct settling *settling, const struct particle_migration *m) {
  const int level = settling->leaving->level;
  struct particle_past *past = begin_past(g, level);
  struct particle_level *new = &g->particles->level[level];
  struct making s = {.settling = settling, .new = new, .arrivals = past->arrivals};
  settling->leaving->from = &past->level;
  *new = make_level(g, level);
  take_readers(new, &past->level);
  find_arrivals(&s, m);
  count_particles(&s);
  make_room(&s);
  make_copies(g, level, new);
  for (uint32_t i = new->begin; i < new->begin + new->batches; i++) {
    make_handle(g, level, new, i);
    if (particle_batch_count(new, i) == 0) continue;
    const struct gas_batch *b = gas_batch(g, level, i);
    past->arrivals[i - new->begin] = make_tables(&s, b->first, b->first + b->count);
  }
  settle_groups(s.arrival_first[particle_listed(new)] + settling->gone_count, new->batches,
                fill_batch, &s);
  for (uint32_t i = new->begin; i < new->begin + new->batches; i++)
    if (particle_batch_count(new, i) > 0) gas_arrive_submit(&past->arriving, i);
  free(s.arrival);
  free(s.arrival_first);
  free(s.before);
}

void arrivals_forget_particles(struct gas_particles *s, int level) {
  if (s->past[level]) particle_level_free(&s->past[level]->level);
}

void arrivals_forget_tables(struct gas_particles *s, int level) {
  struct particle_past *past = s->past[level];
  if (!past) return;
  for (uint32_t i = 0; i < past->batches; i++) {
    gas_free_shared(past->arrivals[i].memory, past->arrivals[i].bytes);
    free(past->arrivals[i].batch);
  }
  free(past->arrivals);
  free(past);
  s->past[level] = NULL;
}
