/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gadget files: what the readers of the two formats and ic_read_gadget() share. All failures are EXIT_BAD_INPUT. */
#ifndef PHOTONS_GADGET_H
#define PHOTONS_GADGET_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/particles.h"

enum {
  GADGET_TYPES = 8,       /**< the binary formats have 6, some HDF5 writers more */
  GADGET_CHUNK = 1 << 16, /**< particles read at a time */
  GADGET_BLOCKS = 4,      /**< positions, velocities, ids, masses */
};

/** Stands for a number that the header does not have. No valid header has this value. */
#define GADGET_ABSENT (-DBL_MAX)

/** Header of one file. Lengths in the file's unit. */
struct gadget_header {
  uint64_t in_file[GADGET_TYPES], total[GADGET_TYPES];
  bool total_is_32_bit;      /**< no high words: totals are known modulo 2^32 */
  double mass[GADGET_TYPES]; /**< 0: the particles have masses of their own */
  double time, redshift, box, omega_m, omega_lambda, h; /**< or GADGET_ABSENT */
  uint64_t files;
  bool checksums; /**< the file has those of hdf5_checksum.h */
};

/** Where some particles of one file go. */
struct gadget_sink {
  struct particles *particles; /**< this process's share of the set, one block */
  size_t place;                /**< among them, of the first particle that is read */
  size_t row, rows;            /**< particles of the file to read: [row, row + rows) */
  const char *path;
  /** For each block; NULL: not wanted. Gets the sum of the rows that are read, less the stored sum
   * where the first row is among them. The checksum is right where the sum over all processes that
   * read the file is 0. */
  uint64_t *checksum;
  double box;             /**< in the file's unit */
  double momentum_factor; /**< a^(3/2): u = v_pec / sqrt(a), p = a v_pec */
  double velocity_factor; /**< a^(1/2) */
};

/** Check, convert and store @p count values, from particle @p first >= row of the file on. Ids must
 * be stored before the other blocks, whose error messages name a particle by its id. */
void gadget_put_positions(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                          const double *x);
void gadget_put_velocities(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                           const double *u);
void gadget_put_ids(const struct gadget_sink *sink, const char *block, size_t first, size_t count, const uint64_t *ids);
/** All masses must be one: particles->mass if it is not 0, else that of the first particle given. */
void gadget_put_masses(const struct gadget_sink *sink, const char *block, size_t first, size_t count, const double *m);
/** Two particles with one id, on whatever processes: fatal. On every process. */
void gadget_check_ids(const struct particles *s, const char *path);

/** A file format. Only one type of particle is read: the one the file holds. */
struct gadget_format {
  void (*header)(const char *path, struct gadget_header *header);
  /** Blocks are there, of the right size, whole. */
  void (*check)(const char *path, const struct gadget_header *header);
  /** Read the particles that the sink wants. */
  void (*read)(const char *path, const struct gadget_header *header, const struct gadget_sink *sink);
};
/** The blocks' names in HDF5 files. */
extern const char *const gadget_block_name[GADGET_BLOCKS];
extern const struct gadget_format gadget_binary, gadget_hdf5;

/** Whether a header gives Omega0, OmegaLambda or HubbleParam: Gadget writes 0 for an unknown one. */
static inline bool gadget_gives(double value) { return value != GADGET_ABSENT && value != 0.0; }

/** The type of the particles in this file; GADGET_TYPES where it is empty. */
static inline unsigned gadget_type(const struct gadget_header *header) {
  unsigned type = 0;
  while (type < GADGET_TYPES && header->in_file[type] == 0) type++;
  return type;
}

#endif
