/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codelets/pm/clouds.h"

#include <stdlib.h>

#include "photons/base/error.h"

struct gpu_particle_box particle_box_of(const struct gas *g, int level) {
  struct gpu_particle_box box = {.cell = gas_cell(g, level)};
  for (int c = 0; c < 3; c++) {
    box.side[c] = g->cell * GAS_GROUP_SIDE * g->topology.root[c];
    box.groups[c] = g->topology.root[c] << level;
    box.periodic[c] = g->topology.boundary[c][0] == GAS_PERIODIC;
  }
  return box;
}

static void add_range(struct cloud_tables *t, struct gpu_particle_range range) {
  if (range.count == 0) return;
  if (t->clouds.ranges == t->room)
    t->range = reallocate(t->range, t->room = 2 * t->room + 64, sizeof *t->range, "particles");
  t->range[t->clouds.ranges++] = range;
}

/** Tables without ranges. */
static struct cloud_tables make_tables(const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const uint32_t near = batch_of(a)->near.count, groups = g->level[a->level].batch_groups;
  return (struct cloud_tables){
      .clouds = {.box = particle_box_of(g, a->level),
                 .mass = g->particles->mass,
                 .near = near,
                 .group = groups},
      .first = allocate(near * (groups + 1) + 1, sizeof(uint32_t), "particles of groups")};
}

/** Add the ranges of all groups near the batch. */
static void add_groups(struct cloud_tables *t, const struct batch_argument *a,
                       void (*add)(struct cloud_tables *t, const struct batch_argument *a,
                                   uint32_t k, struct group_span near, uint32_t i)) {
  const struct gas *g = a->gas;
  const struct batch_list *list = &batch_of(a)->near;
  size_t n = 0;
  for (uint32_t k = 0; k < list->count; k++) {
    const struct group_span near = gas_batch_span(&g->level[a->level], list->batch[k]);
    for (uint32_t i = 0; i <= list->groups; i++) {
      t->first[n++] = t->clouds.ranges;
      if (i < near.end - near.first) add(t, a, k, near, i);
    }
  }
  t->first[n] = t->clouds.ranges;
  t->clouds.first = t->first;
  t->clouds.range = t->range;
}

/** Of group i of near batch k: its own particles. */
static void add_own(struct cloud_tables *t, const struct batch_argument *a, uint32_t k,
                    struct group_span near, uint32_t i) {
  const struct particle_level *l = &a->gas->particles->level[a->level];
  const size_t first = particle_first(l, near.first + i),
               end = particle_first(l, near.first + i + 1);
  add_range(t, (struct gpu_particle_range){k, (uint32_t)(first - particle_first(l, near.first)),
                                           (uint32_t)(end - first)});
}

struct cloud_tables clouds_near(const struct batch_argument *a, const char *const *near) {
  struct cloud_tables t = make_tables(a);
  t.clouds.batches = t.clouds.near;
  t.clouds.batch = near;
  add_groups(&t, a, add_own);
  return t;
}

/** The number of a batch among those of the tables; their number: it is none of them. */
static uint32_t number_of(const struct cloud_tables *t, int level, uint32_t batch) {
  uint32_t n = t->clouds.batches; /* the last ones are the likely ones */
  while (n > 0 && (t->batch[n - 1].level != level || t->batch[n - 1].batch != batch)) n--;
  return n > 0 ? n - 1 : t->clouds.batches;
}

static void add_batch(struct cloud_tables *t, int level, uint32_t batch) {
  const uint32_t n = t->clouds.batches;
  if (number_of(t, level, batch) < n) return;
  t->batch = reallocate(t->batch, n + 1, sizeof *t->batch, "batches of particles");
  t->batch[t->clouds.batches++] = (struct cloud_batch){level, batch};
}

static bool has_particles(const struct particle_level *l, uint32_t batch) {
  const uint32_t first = batch * l->batch_groups, left = l->own_end - first,
                 count = left < l->batch_groups ? left : l->batch_groups;
  return particle_first(l, first + count) > particle_first(l, first);
}

/** Add the batches of finer levels that have particles below some groups of a level. */
static void add_batches_below(struct cloud_tables *t, const struct batch_argument *a,
                              struct group_span groups) {
  const struct topology *tree = &a->gas->topology;
  while (groups.first < groups.end && !topology_known(tree, a->level, groups.first)) groups.first++;
  while (groups.first < groups.end && !topology_known(tree, a->level, groups.end - 1)) groups.end--;
  if (groups.first == groups.end) return;
  const uint64_t first = topology_key(tree, a->level, groups.first),
                 last = topology_key(tree, a->level, groups.end - 1);
  for (int level = a->level + 1; level < topology_levels(tree); level++) {
    const struct particle_level *l = &a->gas->particles->level[level];
    const uint32_t begin = topology_own_below(tree, a->level, first, level).first,
                   end = topology_own_below(tree, a->level, last, level).end;
    if (begin == end) continue;
    for (uint32_t batch = begin / l->batch_groups; batch * l->batch_groups < end; batch++)
      if (has_particles(l, batch)) add_batch(t, level, batch);
  }
}

struct cloud_tables clouds_below(const struct batch_argument *a,
                                 const struct particle_level *foreign) {
  const struct batch_list *near = &batch_of(a)->near;
  struct cloud_tables t = {.foreign = foreign};
  if (foreign) add_batch(&t, CLOUD_FOREIGN, 0);
  for (uint32_t k = 0; k < near->count; k++)
    add_batches_below(&t, a, gas_batch_span(&a->gas->level[a->level], near->batch[k]));
  return t;
}

/** Of group i of a near batch: the particles of finer levels, this rank's and foreign ones. */
static void add_finer(struct cloud_tables *t, const struct batch_argument *a, uint32_t k,
                      struct group_span near, uint32_t i) {
  const struct gas *g = a->gas;
  const struct particle_level *foreign = t->foreign;
  (void)k;
  if (foreign) {
    const size_t first = particle_first(foreign, near.first + i),
                 end_of = particle_first(foreign, near.first + i + 1);
    if (first < end_of)
      add_range(t, (struct gpu_particle_range){number_of(t, CLOUD_FOREIGN, 0), (uint32_t)first,
                                               (uint32_t)(end_of - first)});
  }
  if (!topology_known(&g->topology, a->level, near.first + i))
    return; /* it is not beside the batch */
  const uint64_t key = topology_key(&g->topology, a->level, near.first + i);
  for (int level = a->level + 1; level < topology_levels(&g->topology); level++) {
    const struct particle_level *l = &g->particles->level[level];
    const struct group_span below = topology_own_below(&g->topology, a->level, key, level);
    const uint32_t end = below.end;
    for (uint32_t group = below.first, next; group < end; group = next) {
      const uint32_t batch = group / l->batch_groups, first = batch * l->batch_groups;
      next = end < first + l->batch_groups ? end : first + l->batch_groups;
      const size_t begin = particle_first(l, group), count = particle_first(l, next) - begin;
      if (count == 0) continue;
      add_range(t, (struct gpu_particle_range){number_of(t, level, batch),
                                               (uint32_t)(begin - particle_first(l, first)),
                                               (uint32_t)count});
    }
  }
}

void clouds_find_below(struct cloud_tables *t, const struct batch_argument *a,
                       const char *const *batch) {
  const struct cloud_tables listed = *t;
  *t = make_tables(a);
  t->batch = listed.batch;
  t->foreign = listed.foreign;
  t->clouds.batches = listed.clouds.batches;
  t->clouds.batch = batch;
  add_groups(t, a, add_finer);
}

void cloud_tables_free(struct cloud_tables *t) {
  free(t->first);
  free(t->range);
  free(t->batch);
}
