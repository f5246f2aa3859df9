/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gadget files: declarations common to the readers of the two formats and ic_read_gadget(). Gadget
 * calls the array of one quantity a block. All failures are EXIT_BAD_INPUT. */
#ifndef PHOTONS_GADGET_H
#define PHOTONS_GADGET_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/particles.h"

enum {
  GADGET_TYPES = 8,       /**< the binary formats have 6 types, some HDF5 writers more */
  GADGET_CHUNK = 1 << 16, /**< particles read at a time */
  GADGET_BLOCKS = 4,      /**< positions, velocities, ids, masses */
};

/** Value of a number that the header does not have. No valid header has this value. */
#define GADGET_ABSENT (-DBL_MAX)

/** Header of one file. Lengths in the file's unit. */
struct gadget_header {
  uint64_t in_file[GADGET_TYPES], total[GADGET_TYPES];
  bool total_is_32_bit;      /**< no high words: totals are known modulo 2^32 */
  double mass[GADGET_TYPES]; /**< 0: the particles have individual masses */
  double time, redshift, box, omega_m, omega_lambda, h; /**< or GADGET_ABSENT */
  double unit_length, unit_mass, unit_velocity;         /**< in cgs, or GADGET_ABSENT */
  uint64_t files;
  bool sides_differ; /**< BoxSize has three numbers, and they are not one; `box` is the first */
  bool analysed;     /**< set by who asked for the header: gas is matter, and velocities may lack */
  /** The file is a snapshot of SWIFT: its units have no h, and velocities are a^velocity_power times
   * the unit. w0, wa and omega_r are in such files only. */
  bool swift;
  double velocity_power, w0, wa, omega_r;
  bool checksums;   /**< the file has the checksums of hdf5_checksum.h */
  bool without_ids; /**< set by who asked for the header: there are none to read */
};

/** Masses of particles, gathered. */
struct gadget_masses {
  double sum, least, largest;
  double first; /**< of the first particle of these; 0: none */
  uint64_t count;
};

/** Destination of some particles of one type in one file. */
struct gadget_sink {
  struct particles *particles; /**< particles of this rank, in one piece */
  size_t place;                /**< index in `particles` of the first particle read */
  unsigned type;
  size_t row, rows; /**< particles of the type in the file to read: [row, row + rows) */
  const char *path;
  struct gadget_masses *masses; /**< only masses are read, and added here; NULL: all the others, and
                                 *   masses if the particles have a column for them */
  double mass_factor;           /**< to 1e10 Msun (/h) */
  /** Isolated systems, [place]: positions in kpc and velocities in km/s go here. NULL: they go into
   * `particles`. */
  double (*x)[3], (*v)[3];
  double length_factor; /**< isolated: to kpc */
  /** [block] checksums; NULL: not wanted. The sum of the rows that are read is added, and the
   * stored sum is subtracted by the reader of the first row. The data are right if the sum over all
   * ranks that read the file is 0. */
  uint64_t *checksum;
  double box;             /**< in the file's unit */
  double momentum_factor; /**< a^(3/2): u = v_pec / sqrt(a), p = a v_pec */
  double velocity_factor; /**< a^(1/2); isolated: to km/s */
};

/** Check, convert and store @p count values, beginning with particle @p first >= row of the file.
 * Ids must be stored before the other quantities, because error messages name a particle by its
 * id. */
void gadget_put_positions(const struct gadget_sink *sink, const char *block, size_t first,
                          size_t count, const double *x);
void gadget_put_velocities(const struct gadget_sink *sink, const char *block, size_t first,
                           size_t count, const double *u);
void gadget_put_ids(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                    const uint64_t *ids);
/** Masses must be positive. They are gathered in sink->masses, or stored relative to
 * particles->mass. */
void gadget_put_masses(const struct gadget_sink *sink, const char *block, size_t first,
                       size_t count, const double *m);
/** End the program if two particles have the same id, on whatever ranks. Collective. */
void gadget_check_ids(const struct particles *s, const char *path);

/** A file format. */
struct gadget_format {
  void (*header)(const char *path, struct gadget_header *header);
  /** Check that all blocks exist, have the right size, and are complete. */
  void (*check)(const char *path, const struct gadget_header *header);
  /** Read the particles that the sink asks for. */
  void (*read)(const char *path, const struct gadget_header *header,
               const struct gadget_sink *sink);
};
/** Warn that a file has no velocities of particles of this type. */
void gadget_say_still(const char *path, unsigned type);
/** Add to a header what a file of SWIFT has elsewhere. @return false: the file is not of SWIFT
 * @param file  an open HDF5 file */
bool gadget_read_swift(int64_t file, const char *path, struct gadget_header *header);
/** Whether particles of some type in an HDF5 file have ids. */
bool gadget_hdf5_has_ids(const char *path, const struct gadget_header *header);
/** The names of the blocks in HDF5 files. */
extern const char *const gadget_block_name[GADGET_BLOCKS];
extern const struct gadget_format gadget_binary, gadget_hdf5;

/** Whether a header gives Omega0, OmegaLambda or HubbleParam: Gadget writes 0 for an unknown
 * value. */
static inline bool gadget_gives(double value) { return value != GADGET_ABSENT && value != 0.0; }

/** Particles of the types below `type` in this file. */
static inline uint64_t gadget_before(const struct gadget_header *header, unsigned type) {
  uint64_t sum = 0;
  for (unsigned t = 0; t < type; t++) sum += header->in_file[t];
  return sum;
}
/** Of these, the particles with individual masses. */
static inline uint64_t gadget_masses_before(const struct gadget_header *header, unsigned type) {
  uint64_t sum = 0;
  for (unsigned t = 0; t < type; t++) sum += header->mass[t] == 0.0 ? header->in_file[t] : 0;
  return sum;
}
/** Whether a block is to be read. `block`: index in gadget_block_name */
bool gadget_wants(const struct gadget_sink *sink, const struct gadget_header *header,
                  unsigned block);

#endif
