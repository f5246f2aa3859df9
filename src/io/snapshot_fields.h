/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The datasets of a snapshot: what they are made of and how they are stored. */
#ifndef PHOTONS_SNAPSHOT_FIELDS_H
#define PHOTONS_SNAPSHOT_FIELDS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/io/kernels.h"
#include "snapshot_rounding.h"

/** Factors from internal to file units, and file units in cgs. */
struct file_units {
  double position, momentum, acceleration;
  double corner; /**< coordinate of position 0 */
  double side;   /**< of a periodic box, whose coordinates are below it; else infinite */
  double mass;   /**< of a particle, or the unit of relative masses, in the file's unit */
  double length_cgs;
  struct rounding rounding;
  const struct io_kernels *kernels;
};

/** A dataset. Physical value in cgs = stored value * to_cgs * a^a_scaling * h^h_scaling (Gadget-4's
 * attributes). */
struct snapshot_field {
  const char *name;
  enum { FIELD_DOUBLE, FIELD_FLOAT, FIELD_ID } number;
  size_t columns;
  bool mass; /**< often one value for all, which takes no space in the file */
  /** Numbers of column @p c of @p count particles of a block, from its particle @p i on. */
  void (*convert)(const struct file_units *units, const struct particle_block *b, size_t c,
                  size_t i, size_t count, void *numbers);
  double a_scaling, h_scaling, length_scaling, mass_scaling, velocity_scaling;
  bool (*wanted)(const struct parameters *p, const struct rounding *r); /**< NULL: always */
  double (*step)(const struct rounding *r); /**< of rounded values; NULL: they are exact */
};

extern const struct snapshot_field snapshot_fields[];
extern const size_t snapshot_field_count;

/** Whether a snapshot has a field. */
bool snapshot_field_wanted(const struct snapshot_field *f, const struct parameters *p,
                           const struct rounding *r);
/** Bytes of a number. */
size_t snapshot_field_size(const struct snapshot_field *f);
/** The type of its numbers in memory and file. */
hid_t snapshot_field_type(const struct snapshot_field *f);

#endif
