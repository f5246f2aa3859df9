/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gas_save.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"

static void *find_group(void *context, int level, uint32_t group) {
  const struct gas *g = context;
  return gas_cells(g, level, group);
}

static struct gas_file file_of(const struct gas *g, double dt, const struct gas_moment *moment) {
  struct gas_file f = {.topology = g->topology,
                       .cell = g->cell,
                       .gamma = g->physics.gamma,
                       .solver = g->physics.solver,
                       .variables = g->variables,
                       .real = g->kernels->real_size,
                       .moment = *moment};
  for (int l = 0; l < topology_levels(&g->topology); l++)
    f.level[l] = (struct gas_file_level){.time = g->time,
                                         .dt = g->individual ? dt / (double)(1 << l) : dt,
                                         .steps = g->level[l].steps};
  return f;
}

typedef void write_file(const char *path, const struct parameters *p, const struct gas_file *f,
                        gas_file_group *group, void *context);

static void save(write_file *write, const char *path, const struct parameters *p, struct gas *g,
                 double dt, const struct gas_moment *moment) {
  const struct gas_file f = file_of(g, dt, moment);
  gas_acquire(g);
  write(path, p, &f, find_group, g);
  gas_release(g);
}

void gas_save(const char *path, const struct parameters *p, struct gas *g, double dt,
              const struct gas_moment *moment) {
  save(gas_file_write, path, p, g, dt, moment);
}

void gas_save_checkpoint(const char *path, const struct parameters *p, struct gas *g, double dt,
                         const struct gas_moment *moment) {
  save(gas_checkpoint_write, path, p, g, dt, moment);
}

/** Give the gas the octree of a file. */
static void take_levels(struct gas *g, const struct gas_file *f) {
  for (int l = 1; l <= f->topology.finest; l++) {
    const struct gas_tree_level *level = &f->topology.level[l];
    uint64_t *keys = allocate(level->count, sizeof *keys, "patch groups");
    if (level->count) memcpy(keys, level->key, level->count * sizeof *keys);
    topology_replace(&g->topology, l, keys, level->count);
    gas_make_level(g, l);
  }
  for (int l = 0; l <= f->topology.finest; l++) g->level[l].steps = f->level[l].steps;
  gas_link(g);
}

struct gas *gas_restore(const char *path, struct parameters *p, bool look,
                        struct gas_moment *moment) {
  char *found;
  struct gas_file f = gas_checkpoint_open(path, p, look, &found);
  struct gas *g = gas_create(p);
  if (f.topology.finest != g->topology.finest || f.real != g->kernels->real_size ||
      f.variables != g->variables)
    fail(EXIT_BAD_INPUT, "%s: of another number of levels, another precision or solver", found);
  take_levels(g, &f);
  gas_acquire(g);
  gas_file_read(found, &f, find_group, g);
  gas_release(g);
  g->time = f.level[0].time;
  *moment = f.moment;
  topology_free(&f.topology);
  free(found);
  return g;
}
