/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the particles: all columns of the table in particles.h. */
#include "photons/domain/particles.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

#define ROW(column, of_type, numbers, in_unit, present, checkpoints) \
  {.name = #column,                                                  \
   .unit = in_unit,                                                  \
   .type = COLUMN_TYPE(of_type),                                     \
   .size = sizeof(of_type),                                          \
   .components = numbers,                                            \
   .member = offsetof(struct particles, column),                     \
   .presence = PRESENT_##present,                                    \
   .saved = COLUMN_##checkpoints},
const struct particle_column particle_columns[PARTICLE_COLUMN_COUNT] = {PARTICLE_COLUMNS(ROW)};
_Static_assert(PARTICLE_COLUMN_COUNT <= 8 * sizeof(column_set), "a bit for each column");

#define FOR_COLUMNS(set, k)                       \
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) \
    if (column_in((set), k))

column_set columns_present(enum column_presence presence) {
  column_set columns = 0;
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    if (particle_columns[k].presence == presence) columns |= (column_set)1 << k;
  return columns;
}

size_t columns_bytes(column_set columns) {
  size_t sum = 0;
  FOR_COLUMNS(columns, k) sum += particle_column_bytes(&particle_columns[k]);
  return sum;
}

size_t columns_widest(column_set columns) {
  size_t widest = 0;
  FOR_COLUMNS(columns, k) {
    const size_t bytes = particle_column_bytes(&particle_columns[k]);
    widest = bytes > widest ? bytes : widest;
  }
  return widest;
}

void *particles_column(const struct particles *s, enum particle_column_index column) {
  void *array;
  memcpy(&array, (const char *)s + particle_columns[column].member, sizeof array);
  return array;
}

void particles_set_column(struct particles *s, enum particle_column_index column, void *array) {
  memcpy((char *)s + particle_columns[column].member, &array, sizeof array);
}

void particles_add_columns(struct particles *s, column_set columns) {
  FOR_COLUMNS(columns & ~s->columns, k)
  particles_set_column(s, k,
                       allocate_large(s->count, particle_column_bytes(&particle_columns[k]),
                                      particle_columns[k].name));
  s->columns |= columns;
}

void particles_drop_column(struct particles *s, enum particle_column_index column) {
  free(particles_column(s, column));
  particles_set_column(s, column, NULL);
  s->columns &= ~((column_set)1 << column);
}

/** Particles without columns. */
static struct particles count_particles(struct particles s) {
  s.count = block_first(s.all, s.all_blocks, s.first_block + s.blocks) - particles_first(&s);
  return s;
}

static struct particles count_share(size_t n, size_t blocks, double box, double mass) {
  const size_t first = comm_first(blocks, comm_rank()), end = comm_first(blocks, comm_rank() + 1);
  return count_particles((struct particles){.all = n,
                                            .all_blocks = blocks,
                                            .first_block = first,
                                            .blocks = end - first,
                                            .box = box,
                                            .mass = mass});
}

static struct particles with_columns(struct particles s) {
  particles_add_columns(&s, columns_present(PRESENT_ALWAYS));
  return s;
}

struct particles particles_create(size_t n, double box, double mass) {
  return with_columns(count_particles(
      (struct particles){.all = n, .all_blocks = 1, .blocks = 1, .box = box, .mass = mass}));
}

struct particles particles_create_blocks(size_t n, size_t blocks, double box, double mass) {
  return with_columns(count_share(n, blocks, box, mass));
}

struct particles particles_create_share(size_t n, double box, double mass) {
  return particles_create_blocks(n, (size_t)comm_size(), box, mass);
}

struct particles particles_create_uncleared(size_t n, double box, double mass, column_set columns) {
  struct particles s = count_share(n, (size_t)comm_size(), box, mass);
  FOR_COLUMNS(columns, k)
  particles_set_column(&s, k,
                       allocate_uncleared(s.count, particle_column_bytes(&particle_columns[k]),
                                          particle_columns[k].name));
  s.columns = columns;
  return s;
}

void particles_free(struct particles *s) {
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) free(particles_column(s, k));
  *s = (struct particles){0};
}
