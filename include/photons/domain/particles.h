/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particles of this rank: a structure of arrays.
 *
 * The N particles of the run are cut into G consecutive ranges of nearly equal count (identifiers
 * call a range a block): range g holds particles [N g / G, N (g+1) / G). After domain_rebuild()
 * each range is one group. A rank has consecutive ranges, and ranges follow each other by rank.
 * Inside a range the three components follow each other, so that a range is one contiguous piece of
 * each array: component c of particle i of the range stands at 3 first + c count + i. Initial
 * conditions are made and read with one range per rank, which is plain [3][count]. */
#ifndef PHOTONS_PARTICLES_H
#define PHOTONS_PARTICLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/particle_column.h"
#include "photons/base/parts.h"
#include "photons/domain/geometry.h"

/**
 * The columns: the data of each particle. One row here adds a column: memory, StarPU's handles,
 * rebuilds, sorts, migration between ranks and checkpoints follow this table. Rows may be in any
 * order. A snapshot has the columns in its own units: see `fields` in src/io/snapshot.c.
 *   name, type (uint8_t, uint32_t, float or uint64_t), components, unit,
 *   which particles have the column: enum column_presence,
 *   whether checkpoints have it: SAVED, or DERIVED from other columns after a restart
 *
 * position:          x = u L / 2^32 (geometry.h)
 * momentum:          p = a^2 dx/dt
 * acceleration:      -grad(phi), comoving, of the last force computation
 * id:                unique in the run
 * rung:              the particle's step is the base step / 2^rung (block_step.h)
 * mesh_acceleration: the part of the acceleration that comes from the mesh
 * relative_mass:     mass in units of struct particles.mass; without it all are 1
 * type:              as in Gadget, 0 .. PARTICLE_TYPES - 1; without it all are PARTICLE_HALO
 */
#define PARTICLE_COLUMNS(COLUMN)                                               \
  COLUMN(position, uint32_t, 3, "box/2^32", ALWAYS, SAVED)                     \
  COLUMN(momentum, float, 3, "km/s", ALWAYS, SAVED)                            \
  COLUMN(acceleration, float, 3, "(km/s)^2/length", ALWAYS, SAVED)             \
  COLUMN(id, uint64_t, 1, "1", ALWAYS, SAVED)                                  \
  COLUMN(rung, uint8_t, 1, "1", BLOCK_STEPS, SAVED)                            \
  COLUMN(mesh_acceleration, float, 3, "(km/s)^2/length", BLOCK_STEPS, DERIVED) \
  COLUMN(relative_mass, float, 1, "mean mass", WHERE_ADDED, SAVED)             \
  COLUMN(type, uint8_t, 1, "1", WHERE_ADDED, SAVED)

#define PARTICLE_COLUMN_INDEX(name, type, components, unit, presence, checkpoints) COLUMN_##name,
enum particle_column_index { PARTICLE_COLUMNS(PARTICLE_COLUMN_INDEX) PARTICLE_COLUMN_COUNT };

/** A set of columns: bit k is enum particle_column_index k. */
typedef uint32_t column_set;

/** [enum particle_column_index] */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const struct particle_column particle_columns[PARTICLE_COLUMN_COUNT];

#define PARTICLE_COLUMN_MEMBER(name, type, components, unit, presence, checkpoints) type *name;
struct particles {
  size_t all, all_blocks;     /**< N and G of the run */
  size_t first_block, blocks; /**< ranges of this rank */
  size_t count;               /**< particles in these ranges */
  bool sorted;                /**< ranges are groups in the order of their trees, as
                               *   domain_rebuild() leaves them */
  column_set columns;         /**< that these particles have */
  double box;                 /**< L in Mpc/h */
  double mass;                /**< of one particle, or the mean of all, 1e10 Msun/h */
  PARTICLE_COLUMNS(PARTICLE_COLUMN_MEMBER)
  const float *potential; /**< [count] of each particle, (km/s)^2, while a snapshot of it is written;
                           *   else NULL. Not a column: it does not follow the particles */
};

/** Get the array of a column, and replace it (the old array is not freed). */
void *particles_column(const struct particles *s, enum particle_column_index column);
void particles_set_column(struct particles *s, enum particle_column_index column, void *array);
/** Whether a set has a column. */
static inline bool column_in(column_set columns, int column) { return columns >> column & 1; }
/** Whether these particles have a column. */
static inline bool particles_have(const struct particles *s, int column) {
  return column_in(s->columns, column);
}
/** For each column that the particles have. */
#define FOR_PARTICLE_COLUMNS(s, k)                \
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) \
    if (particles_have((s), k))
/** Mass, 1e10 Msun/h, and type of particle i of this rank. */
static inline double particle_mass(const struct particles *s, size_t i) {
  return particles_have(s, COLUMN_relative_mass) ? s->mass * (double)s->relative_mass[i] : s->mass;
}
static inline unsigned particle_type(const struct particles *s, size_t i) {
  return particles_have(s, COLUMN_type) ? s->type[i] : (unsigned)PARTICLE_HALO;
}

/** One range of particles; component arrays have `count` elements. */
struct particle_block {
  size_t first, count; /**< first: index among the particles of this rank */
  uint32_t *x[3];
  float *p[3], *acc[3];
  uint64_t *id;
  const float *potential; /**< or NULL */
  float *relative_mass;   /**< or NULL */
  uint8_t *type;          /**< or NULL */
};

/** Index of this rank's first particle among all particles of the run. */
static inline size_t particles_first(const struct particles *s) {
  return block_first(s->all, s->all_blocks, s->first_block);
}

/** Range g of this rank, g < s->blocks. */
static inline struct particle_block particles_block(const struct particles *s, size_t g) {
  size_t first = block_first(s->all, s->all_blocks, s->first_block + g) - particles_first(s);
  size_t count = block_first(s->all, s->all_blocks, s->first_block + g + 1) - particles_first(s) -
                 first;
  struct particle_block b;
  b.first = first;
  b.count = count;
  b.id = s->id + first;
  b.potential = s->potential ? s->potential + first : NULL;
  b.relative_mass = particles_have(s, COLUMN_relative_mass) ? s->relative_mass + first : NULL;
  b.type = particles_have(s, COLUMN_type) ? s->type + first : NULL;
  for (size_t c = 0; c < 3; c++) {
    b.x[c] = s->position + 3 * first + c * count;
    b.p[c] = s->momentum + 3 * first + c * count;
    b.acc[c] = s->acceleration ? s->acceleration + 3 * first + c * count : NULL;
  }
  return b;
}

/** The range that holds particle i of this rank. */
static inline struct particle_block particles_block_of(const struct particles *s, size_t i) {
  return particles_block(s, block_containing(s->all, s->all_blocks, particles_first(s) + i) -
                                s->first_block);
}

/**
 * Allocate n particles in one range, all on this rank; columns are zero. A lack of memory ends the
 * program.
 * @param box   L, Mpc/h
 * @param mass  of one particle, 1e10 Msun/h
 */
struct particles particles_create(size_t n, double box, double mass);
/** The same for this rank's part of n particles on all ranks: one range per rank. */
struct particles particles_create_share(size_t n, double box, double mass);
/** The same with a set of columns alone, which are not cleared: all of them are to be written. */
struct particles particles_create_uncleared(size_t n, double box, double mass, column_set columns);
/** The same for this rank's part of n particles in `blocks` ranges, which are dealt out evenly. */
struct particles particles_create_blocks(size_t n, size_t blocks, double box, double mass);
/** The columns of one presence. */
column_set columns_present(enum column_presence presence);
/** Bytes per particle of a set of columns, and of the widest of the set. */
size_t columns_bytes(column_set columns);
size_t columns_widest(column_set columns);
/** Allocate those of a set of columns that the particles do not have, filled with zeros. */
void particles_add_columns(struct particles *s, column_set columns);
/** The same of one column. */
static inline void particles_add_column(struct particles *s, enum particle_column_index column) {
  particles_add_columns(s, (column_set)1 << column);
}
/** Take a column from the particles that have it, and free it. */
void particles_drop_column(struct particles *s, enum particle_column_index column);
/**
 * Copy some of the particles of all ranks, with all their columns and in their order, into one
 * range per rank. Collective.
 * @param keep  [s->count] whether to copy the particle in this place of this rank's ranges:
 *              particle i of range g is in place particles_block(s, g).first + i
 */
struct particles particles_select(const struct particles *s, const bool *keep);
/** A copy of this rank's particles with some of their columns. Tasks on all workers make it. */
struct particles particles_copy(const struct particles *s, column_set columns);
/** Free all columns. */
void particles_free(struct particles *s);

/**
 * Sums over the groups of all ranks, which depend neither on the number of ranks nor on which ranks own which
 * groups: they are added up along the ORB tree. A rank keeps 2 log2(all_blocks) sums at most. Collective.
 * @param of_group  [own group][n] terms
 * @param sum       [n] on return
 */
void group_sums(const struct particles *p, const double *of_group, size_t n, double *sum);

#endif
