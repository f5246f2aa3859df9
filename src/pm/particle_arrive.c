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
  struct gas_arrivals *arrivals; /* [batches] of the new groups */
};

/** A level whose new particles are being made. */
struct making {
  const struct settling *settling;
  struct particle_level *new;
  uint32_t *before;                    /* [new->groups] the group's number before, or NO_GROUP */
  size_t *arrival_first;               /* [new->groups + 1] */
  const struct gas_particle **arrival; /* those that arrive in each group, by their numbers */
  struct gas_arrivals *arrivals;       /* [batch] */
};

static int compare_arrivals(const void *a, const void *b) {
  const struct gas_particle *x = *(const struct gas_particle *const *)a,
                            *y = *(const struct gas_particle *const *)b;
  return (x->number > y->number) - (x->number < y->number);
}

static void sort_arrivals(void *context, uint32_t group) {
  const struct making *s = context;
  const size_t first = s->arrival_first[group], end = s->arrival_first[group + 1];
  if (end > first + 1) qsort(s->arrival + first, end - first, sizeof *s->arrival, compare_arrivals);
}

/** The listed particles that arrive in each group of a level. */
static void find_arrivals(struct making *s, const struct particle_migration *m) {
  const int level = s->settling->leaving.level;
  const uint32_t groups = s->new->groups;
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
  settle_groups(s->arrival_first[groups], groups, sort_arrivals, s);
}

static size_t arrivals_at(const struct making *s, uint32_t group) {
  return s->arrival_first[group + 1] - s->arrival_first[group];
}
static uint32_t leavers_at(const struct making *s, uint32_t before) {
  const size_t *first = s->settling->gone_first + before;
  return (uint32_t)(first[1] - first[0]);
}

/** The number of particles of each group, and where they were. */
static void count_particles(struct making *s) {
  struct particle_level *new = s->new;
  const struct particle_level *old = s->settling->leaving.from;
  s->before = allocate(new->groups, sizeof *s->before, "particles of groups");
  new->first = allocate(new->groups + 1, sizeof *new->first, "particles of groups");
  for (uint32_t i = 0; i < new->groups; i++) s->before[i] = NO_GROUP;
  for (uint32_t i = old->own_first; i < old->own_end; i++) {
    const uint32_t now = s->settling->leaving.now[i];
    if (now >= new->own_first && now < new->own_end) s->before[now] = i; /* NO_GROUP is larger */
  }
  for (uint32_t i = 0; i < new->groups; i++) {
    const uint32_t k = s->before[i];
    new->first[i + 1] = new->first[i] + arrivals_at(s, i);
    if (k != NO_GROUP) new->first[i + 1] += old->first[k + 1] - old->first[k] - leavers_at(s, k);
  }
}

/** Copy what arrives in a group. */
static void copy_arrivals(const struct making *s, uint32_t group, struct gas_particle *to) {
  for (size_t i = s->arrival_first[group]; i < s->arrival_first[group + 1]; i++)
    *to++ = *s->arrival[i];
}

/** Memory for the tables of a batch. */
static struct gas_arrivals make_tables(const struct making *s, uint32_t first, uint32_t end) {
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

/** Fill in the tables of a new batch. */
static void fill_tables(const struct making *s, uint32_t first, uint32_t end,
                        struct gas_arrivals *tables) {
  const struct particle_level *old = s->settling->leaving.from;
  const uint32_t batch = old->batch_groups;
  struct gas_arrivals t = *tables;
  uint32_t arrival = 0, leaver = 0;
  for (uint32_t i = first; i < end; i++) {
    struct gas_arrival *group = &t.group[i - first];
    const uint32_t k = s->before[i];
    *group = (struct gas_arrival){.leaver = leaver,
                                  .arrival = arrival,
                                  .arrivals = (uint32_t)arrivals_at(s, i),
                                  .first = (uint32_t)(s->new->first[i] - s->new->first[first])};
    copy_arrivals(s, i, t.particle + arrival);
    arrival += group->arrivals;
    if (k == NO_GROUP || old->first[k] == old->first[k + 1]) continue;
    if (t.batches == 0 || t.batch[t.batches - 1] != k / batch) t.batch[t.batches++] = k / batch;
    group->from = t.batches - 1; /* both numbers rise */
    group->old = (uint32_t)(old->first[k] - old->first[k / batch * batch]);
    group->olds = (uint32_t)(old->first[k + 1] - old->first[k]);
    group->leavers = leavers_at(s, k);
    memcpy(t.leaver + leaver, s->settling->gone + s->settling->gone_first[k],
           group->leavers * sizeof *t.leaver);
    leaver += group->leavers;
  }
  *tables = t;
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
static void make_handle(struct gas *g, int level, struct particle_level *l, uint32_t i) {
  const struct group_span groups = gas_batch_span(&g->level[level], i);
  const size_t first = l->first[groups.first], end = l->first[groups.end];
  if (engine_gpu() && first < end)
    l->handle[i] = handle_register_room(l->all + first, end - first, sizeof *l->all);
  else if (gas_is_own(g, level, i))
    starpu_void_data_register(&l->handle[i]);
  if (!gas_is_own(g, level, i)) return;
  owner_set(l->handle[i], gas_home_of_batch(g, level, i) - gas_home_begin(g), g->tasks.homes);
  gas_batch(g, level, i)->particles = l->handle[i];
}

/** Take over a level's particles as those of before. @return what tasks of the new particles read */
static struct particle_past *begin_past(struct gas *g, int level) {
  struct particle_level *l = &g->particles->level[level];
  struct particle_past *past = allocate(1, sizeof *past, "batches of particles");
  past->level = *l;
  past->batches = g->level[level].batch_count;
  past->arrivals = allocate(past->batches, sizeof *past->arrivals, "batches of particles");
  past->arriving = (struct gas_arriving){g, level, &past->level, l, past->arrivals};
  g->particles->past[level] = past;
  return past;
}

/** Room for a level's particles, of which those of other ranks are copied here. */
static void make_room(const struct making *s) {
  struct particle_level *new = s->new;
  new->all = gas_shared_room(new->first[new->groups] * sizeof *new->all, "particles");
  new->particle = new->all + new->first[new->own_first];
  new->count = new->first[new->own_end] - new->first[new->own_first];
  for (uint32_t i = 0; i < new->groups; i++)
    if (i < new->own_first || i >= new->own_end) copy_arrivals(s, i, new->all + new->first[i]);
}

/** Fill in the tables of a batch, if it has any. @param context  struct making */
static void fill_batch(void *context, uint32_t i) {
  const struct making *s = context;
  const uint32_t first = i * s->new->batch_groups, left = s->new->groups - first;
  if (particle_batch_count(s->new, i) == 0) return;
  fill_tables(s, first, first + (left < s->new->batch_groups ? left : s->new->batch_groups),
              &s->arrivals[i]);
}

void arrivals_submit(struct gas *g, struct settling *settling, const struct particle_migration *m) {
  const int level = settling->leaving.level;
  struct particle_past *past = begin_past(g, level);
  struct particle_level *new = &g->particles->level[level];
  struct making s = {.settling = settling, .new = new, .arrivals = past->arrivals};
  settling->leaving.from = &past->level;
  *new = make_level(g, level);
  find_arrivals(&s, m);
  count_particles(&s);
  make_room(&s);
  for (uint32_t i = 0; i < new->batches; i++) {
    make_handle(g, level, new, i);
    if (particle_batch_count(new, i) == 0) continue;
    const struct gas_batch *b = gas_batch(g, level, i);
    past->arrivals[i] = make_tables(&s, b->first, b->first + b->count);
  }
  settle_groups(s.arrival_first[new->groups] + settling->gone_count, new->batches, fill_batch, &s);
  for (uint32_t i = 0; i < new->batches; i++)
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
