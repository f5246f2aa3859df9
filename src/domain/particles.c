/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the particles: all columns of the table in particles.h. */
#include "photons/domain/particles.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

#define TYPE_OF(type)                \
  _Generic((type){0}, uint8_t        \
           : COLUMN_UINT8, uint32_t  \
           : COLUMN_UINT32, uint64_t \
           : COLUMN_UINT64, float    \
           : COLUMN_FLOAT)
#define ROW(name, type, components) \
  {#name, TYPE_OF(type), sizeof(type), components, offsetof(struct particles, name)},
const struct particle_column particle_columns[PARTICLE_COLUMN_COUNT] = {PARTICLE_COLUMNS(ROW)};

void *particles_column(const struct particles *s, enum particle_column_index column) {
  void *array;
  memcpy(&array, (const char *)s + particle_columns[column].member, sizeof array);
  return array;
}

void particles_set_column(struct particles *s, enum particle_column_index column, void *array) {
  memcpy((char *)s + particle_columns[column].member, &array, sizeof array);
}

static void allocate_columns(struct particles *s, int first, int end) {
  for (int k = first; k < end; k++)
    particles_set_column(s, k,
                         allocate_large(s->count, particle_column_bytes(&particle_columns[k]),
                                        particle_columns[k].name));
}

static struct particles allocate_particles(struct particles s) {
  s.count = block_first(s.all, s.all_blocks, s.first_block + s.blocks) - particles_first(&s);
  allocate_columns(&s, 0, PARTICLE_COLUMNS_ALWAYS);
  return s;
}

void particles_add_block_columns(struct particles *s) {
  allocate_columns(s, PARTICLE_COLUMNS_ALWAYS, COLUMN_relative_mass);
  s->block_steps = true;
}

void particles_add_column(struct particles *s, enum particle_column_index column) {
  allocate_columns(s, (int)column, (int)column + 1);
  if (column == COLUMN_relative_mass)
    s->has_masses = true;
  else
    s->has_types = true;
}

struct particles particles_create(size_t n, double box, double mass) {
  return allocate_particles(
      (struct particles){.all = n, .all_blocks = 1, .blocks = 1, .box = box, .mass = mass});
}

struct particles particles_create_blocks(size_t n, size_t blocks, double box, double mass) {
  const size_t first = comm_first(blocks, comm_rank()), end = comm_first(blocks, comm_rank() + 1);
  return allocate_particles((struct particles){.all = n,
                                               .all_blocks = blocks,
                                               .first_block = first,
                                               .blocks = end - first,
                                               .box = box,
                                               .mass = mass});
}

struct particles particles_create_share(size_t n, double box, double mass) {
  return particles_create_blocks(n, (size_t)comm_size(), box, mass);
}

void particles_free(struct particles *s) {
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) free(particles_column(s, k));
  *s = (struct particles){0};
}
