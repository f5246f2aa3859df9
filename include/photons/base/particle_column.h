/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A column: one quantity that each particle has. A table of columns has a row for each, and all code that
 * moves particles, or writes or reads them, follows the table. There are two: of particles in groups, with an
 * array for each column (domain/particles.h), and of particles on the mesh of gas, with a member of a record
 * for each (pm/particle.h). */
#ifndef PHOTONS_PARTICLE_COLUMN_H
#define PHOTONS_PARTICLE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_type { COLUMN_UINT8, COLUMN_UINT32, COLUMN_UINT64, COLUMN_FLOAT, COLUMN_DOUBLE };

/** Which particles have a column. */
enum column_presence {
  PRESENT_ALWAYS,      /**< all */
  PRESENT_BLOCK_STEPS, /**< those of a run with block time steps */
  PRESENT_WHERE_ADDED  /**< those to which particles_add_column() gave it */
};

/** Whether files from which a run goes on have a column. */
enum column_saved {
  COLUMN_DERIVED, /**< no: it follows from other columns */
  COLUMN_SAVED
};

struct particle_column {
  const char *name;
  const char *unit; /**< in words */
  enum column_type type;
  size_t size;         /**< bytes of one component */
  unsigned components; /**< components per particle */
  size_t member;       /**< offset of the array's pointer, or of a record's member */
  enum column_presence presence;
  enum column_saved saved;
};

/** The enum column_type of a type. */
#define COLUMN_TYPE(type)            \
  _Generic((type){0}, uint8_t        \
           : COLUMN_UINT8, uint32_t  \
           : COLUMN_UINT32, uint64_t \
           : COLUMN_UINT64, float    \
           : COLUMN_FLOAT, double    \
           : COLUMN_DOUBLE)

/** Types of particles: Gadget's gas, halo, disk, bulge, stars and boundary particles. */
enum { PARTICLE_TYPES = 6, PARTICLE_HALO = 1, PARTICLE_DISK = 2 };

/** Bytes per particle of a column. */
static inline size_t particle_column_bytes(const struct particle_column *c) {
  return c->components * c->size;
}

#endif
