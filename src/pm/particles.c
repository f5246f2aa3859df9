/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which particles there are, and to which levels and groups they belong. */
#include "photons/pm/particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "particle_settle.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"

#define NUMBERS_SCALAR 1
#define NUMBERS_VECTOR 3
#define ROW(of_name, of_type, shape, in_unit, in_files, files)  \
  {.column = {.name = #of_name,                                 \
              .unit = in_unit,                                  \
              .type = COLUMN_TYPE(of_type),                     \
              .size = sizeof(of_type),                          \
              .components = NUMBERS_##shape,                    \
              .member = offsetof(struct gas_particle, of_name), \
              .presence = PRESENT_ALWAYS,                       \
              .saved = COLUMN_##files},                         \
   .file = in_files},
const struct gas_particle_column gas_particle_columns[GAS_PARTICLE_COLUMN_COUNT] = {
    GAS_PARTICLE_COLUMNS(ROW)};

bool gas_particles_wanted(const struct parameters *p) {
  return p->ic.source == IC_POINT_MASSES || *p->ic.particles || p->box.npart_side > 0;
}

struct gas_particles *gas_particles_make(const struct parameters *p) {
  if (!gas_particles_wanted(p)) return NULL;
  return allocate(1, sizeof(struct gas_particles), "particles");
}

/** Free a level's particles, when their tasks have ended. */
static void free_level(struct gas_particles *s, int level) {
  leaving_drop(s->leaving[level]);
  s->leaving[level] = NULL;
  particle_level_free(&s->level[level]);
  arrivals_forget_particles(s, level);
  arrivals_forget_tables(s, level);
}

void gas_particles_free(struct gas_particles *s) {
  for (int level = 0; s && level < GAS_LEVELS_MAX; level++) free_level(s, level);
  free(s);
}

double gas_particles_bytes_per_group(const struct parameters *p) {
  return gas_particles_wanted(p) ? sizeof(struct gas_matter) + sizeof(size_t) : 0.0;
}

double gas_particles_bytes(size_t count) {
  const size_t one = sizeof(struct gas_particle), row = 2 * sizeof(size_t);
  /* Those that arrive: at first all. */
  const size_t listed = 2 * sizeof(void *) + sizeof(struct home) + 5 * sizeof(uint32_t);
  const size_t in_new_groups = 3 * one + listed;
  /* Those before the last settling stay until the next one. */
  const size_t in_files = 2 * one + row + (comm_size() > 1 ? 2 * (one + sizeof(size_t)) : 0);
  return (double)count * (double)(in_new_groups > in_files ? in_new_groups : in_files);
}

void gas_particles_add(struct gas *g, const struct gas_particle *particle, size_t count) {
  struct gas_particles *s = g->particles;
  struct particle_level *l = &s->level[0], new = {.count = l->count + count};
  double minus_lightest = -g->refinement.lightest, mass = 0.0;
  uint64_t all = count;
  new.all = new.particle = gas_shared_array(new.count, sizeof *particle, "particles");
  gas_particles_acquire(g, 0);
  if (l->count > 0) memcpy(new.all, l->particle, l->count * sizeof *particle);
  if (count > 0) memcpy(new.all + l->count, particle, count * sizeof *particle);
  gas_particles_release(g, 0);
  free_level(s, 0);
  *l = new;
  for (size_t i = 0; i < count; i++) {
    minus_lightest = fmax(minus_lightest, -particle[i].mass);
    mass += particle[i].mass;
  }
  comm_max_double(&minus_lightest, 1);
  comm_sum_double(&mass, 1);
  comm_sum_u64(&all, 1);
  g->refinement.lightest = -minus_lightest;
  s->mass += mass;
  s->count += all;
}

static void hold(struct gas *g, int first, bool acquire) {
  for (int level = first; level <= g->topology.finest; level++) {
    const struct particle_level *l = &g->particles->level[level];
    for (uint32_t i = 0; i < l->batches; i++) {
      if (particle_batch_count(l, l->begin + i) == 0) continue;
      if (acquire)
        handle_acquire(l->handle[i], STARPU_RW);
      else
        starpu_data_release(l->handle[i]);
    }
  }
}

void gas_particles_acquire(struct gas *g, int first) { hold(g, first, true); }
void gas_particles_release(struct gas *g, int first) { hold(g, first, false); }
