/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A snapshot while it is written: what the writers of the formats have in common. */
#ifndef PHOTONS_SNAPSHOT_SET_H
#define PHOTONS_SNAPSHOT_SET_H

#include <stdint.h>

#include "photons/base/output_file.h"
#include "photons/io/provenance.h"
#include "snapshot_fields.h"

/** Particles converted and written at a time: with many workers each has some chunks of each column. */
enum { SNAPSHOT_PIECE = 1 << 21 };

/** A snapshot, one file or several, as all processes write it. */
struct snapshot {
  const struct parameters *parameters;
  struct provenance provenance;
  const struct particles *particles; /**< of this process */
  double a, box;                     /**< in the file's unit; isolated systems: 1, 0 */
  double time;                       /**< a, or in isolated systems kpc/(km/s) */
  double time_gyr;                   /**< of isolated systems */
  struct file_units units;
  size_t files;
  double fraction; /**< of the particles of the run that these are */
  uint64_t largest_id;
  uint64_t (*count)[PARTICLE_TYPES]; /**< [rank] particles */
  double mass[PARTICLE_TYPES]; /**< of all particles of a type; 0: there are none, or masses differ */
};

/** Particles of a type of the ranks [first, end). */
size_t snapshot_count(const struct snapshot *s, unsigned type, int first, int end);

/** Where the next particle of a type is looked for; begins as {0}. */
struct snapshot_place {
  size_t next_block, i;
  struct particle_block block;
};
/** Go on behind the next @p count particles of a type. */
void snapshot_skip(const struct snapshot *s, unsigned type, struct snapshot_place *at,
                   size_t count);
/** Convert the next @p count particles of a type of this rank, on this thread. @param[out] columns  [column][count] */
void snapshot_columns(const struct snapshot *s, const struct snapshot_field *f, unsigned type,
                      struct snapshot_place *at, size_t count, void *columns);
/** The same on all workers. @param[out] rows  [count][column] */
void snapshot_convert(const struct snapshot *s, const struct snapshot_field *f, unsigned type,
                      struct snapshot_place *at, size_t count, void *rows, size_t row_size);

/** The part of this rank in a file of a format: for output_together(). @param snapshot  struct snapshot */
void snapshot_write_hdf5(void *snapshot, const struct output_turn *turn);
void snapshot_write_gadget2(void *snapshot, const struct output_turn *turn);
/** The same as snapshot_write() for particles that are a fraction of those of the run. */
void snapshot_write_part(const char *path, const struct parameters *p, const struct particles *s,
                         double a, double fraction);

#endif
