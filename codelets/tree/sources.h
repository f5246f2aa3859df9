/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources of sums over near lists, among the data of a task: of the neighbours whose particles are on this rank the
 * positions, then momenta where a stage needs them, then masses and types where these differ. */
#ifndef PHOTONS_CODELETS_TREE_SOURCES_H
#define PHOTONS_CODELETS_TREE_SOURCES_H

#include "photons/tree/short_range.h"

/** By neighbour; NULL of far groups of other ranks, which have no particles here. */
struct source_tables {
  const uint32_t **x;
  uint32_t *count;
  const float **mass;
  const uint8_t **type;
  const float **p; /**< momenta; NULL: a stage without */
};

static inline bool sources_have_masses(const struct short_range *s) {
  return particles_have(&s->domain->particles, COLUMN_relative_mass);
}

/** @param[out] column  [4] columns of a neighbour, in their order. @return their number */
static inline uint32_t source_columns(const struct short_range *s, bool momenta, int *column) {
  uint32_t n = 0;
  column[n++] = COLUMN_position;
  if (momenta) column[n++] = COLUMN_momentum;
  if (sources_have_masses(s)) column[n++] = COLUMN_relative_mass;
  if (s->law.by_type) column[n++] = COLUMN_type;
  return n;
}

/** Data of all sources. */
static inline uint32_t source_slots(const struct short_range *s, const struct neighbours *near,
                                    bool momenta) {
  int column[4];
  return source_columns(s, momenta, column) * near_with_particles(near);
}

/** @param[out] data  [source_slots()] */
static inline void sources_add(const struct short_range *s, const struct neighbours *near,
                               bool momenta, struct starpu_data_descr *data) {
  int column[4];
  const uint32_t columns = source_columns(s, momenta, column);
  for (uint32_t c = 0; c < columns; c++)
    for (uint32_t i = 0; i < near->count; i++)
      if (group_has_particles(near->group[i]))
        *data++ = (struct starpu_data_descr){near->group[i]->column[column[c]], STARPU_R};
}

/** @param buffers  of the sources. @param t  its arrays are filled, [near.count] */
static inline void sources_read(void *buffers[], const struct short_range *s,
                                const struct neighbours *near, const struct source_tables *t) {
  const uint32_t n = near_with_particles(near);
  const bool masses = sources_have_masses(s), types = s->law.by_type;
  void **momentum = buffers + n, **mass = t->p ? momentum + n : momentum,
       **type = masses ? mass + n : mass;
  for (uint32_t i = 0, k = 0; i < near->count; i++) {
    const bool here = group_has_particles(near->group[i]);
    t->count[i] = near->group[i]->count;
    t->x[i] = here ? VECTOR(const uint32_t, buffers[k]) : NULL;
    if (t->p) t->p[i] = here ? VECTOR(const float, momentum[k]) : NULL;
    t->mass[i] = here && masses ? VECTOR(const float, mass[k]) : NULL;
    t->type[i] = here && types ? VECTOR(const uint8_t, type[k]) : NULL;
    k += here;
  }
}

#endif
