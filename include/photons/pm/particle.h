/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A particle on the adaptive mesh, as cores and GPUs have it; particles.h. */
#ifndef PHOTONS_PM_PARTICLE_H
#define PHOTONS_PM_PARTICLE_H

#include "photons/base/particle_column.h"

/**
 * The columns: the data of each particle, a record. One row here adds a column: records move as a
 * whole between groups, levels, ranks and GPUs, and the code of files and checkpoints, which are files
 * alike, follows the table. Rows may be in any order; columns of doubles first waste no memory.
 *   name, type (uint8_t, uint32_t, uint64_t, float or double), SCALAR or VECTOR (3 numbers), unit,
 *   name in files, that of a VECTOR without X, Y or Z,
 *   whether files have it: SAVED, or DERIVED: it is 0 between steps
 *
 * position: 0 .. side of the box
 * owed:     time for which the kick that ends its step is still to come
 * number:   unique in the run; particles of a group are in the order of their numbers
 * type:     as in Gadget, 0 .. PARTICLE_TYPES - 1
 */
#define GAS_PARTICLE_COLUMNS(COLUMN)                               \
  COLUMN(position, double, VECTOR, "length", "ParPos", SAVED)      \
  COLUMN(velocity, double, VECTOR, "length/time", "ParVel", SAVED) \
  COLUMN(mass, double, SCALAR, "mass", "ParMass", SAVED)           \
  COLUMN(owed, double, SCALAR, "time", "", DERIVED)                \
  COLUMN(number, uint64_t, SCALAR, "1", "ParPUid", SAVED)          \
  COLUMN(type, uint8_t, SCALAR, "1", "ParType", SAVED)

#define GAS_PARTICLE_SCALAR(name, type) type name;
#define GAS_PARTICLE_VECTOR(name, type) type name[3];
#define GAS_PARTICLE_MEMBER(name, type, shape, unit, file, saved) GAS_PARTICLE_##shape(name, type)
struct gas_particle {
  GAS_PARTICLE_COLUMNS(GAS_PARTICLE_MEMBER)
};

#define GAS_PARTICLE_INDEX(name, type, shape, unit, file, saved) GAS_PARTICLE_COLUMN_##name,
enum { GAS_PARTICLE_COLUMNS(GAS_PARTICLE_INDEX) GAS_PARTICLE_COLUMN_COUNT };

/** A row of the table. */
struct gas_particle_column {
  struct particle_column column; /**< member: of struct gas_particle */
  const char *file;              /**< its name in files */
};
extern const struct gas_particle_column gas_particle_columns[GAS_PARTICLE_COLUMN_COUNT];

/** Sums over the particles of a group, and the largest of them along an axis. */
struct particle_sums {
  double mass, momentum[3], kinetic_energy;
  double speed, acceleration;
};

#endif
