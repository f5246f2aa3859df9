/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codelets/gas/clouds.h"

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

struct cloud_tables clouds_near(const struct batch_argument *a, const char *const *near) {
  const struct gas *g = a->gas;
  const struct batch_list *list = &batch_of(a)->near;
  const struct particle_level *l = &g->particles->level[a->level];
  struct cloud_tables t = {.clouds = {.box = particle_box_of(g, a->level),
                                      .mass = g->particles->mass,
                                      .near = list->count,
                                      .group = g->batch,
                                      .batches = list->count,
                                      .batch = near}};
  size_t n = 0;
  t.first = allocate(list->count * (g->batch + 1) + 1, sizeof *t.first, "particles of groups");
  for (uint32_t k = 0; k < list->count; k++) {
    const struct gas_batch *b = &g->level[a->level].batch[list->batch[k]];
    for (uint32_t i = 0; i <= g->batch; i++) {
      const size_t *first = &l->first[b->first];
      t.first[n++] = t.clouds.ranges;
      if (i < b->count)
        add_range(&t, (struct gpu_particle_range){k, (uint32_t)(first[i] - first[0]),
                                                  (uint32_t)(first[i + 1] - first[i])});
    }
  }
  t.first[n] = t.clouds.ranges;
  t.clouds.first = t.first;
  t.clouds.range = t.range;
  return t;
}

void cloud_tables_free(struct cloud_tables *t) {
  free(t->first);
  free(t->range);
}
