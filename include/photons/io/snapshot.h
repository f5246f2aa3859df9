/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gadget HDF5 snapshots and checkpoints. Both are written under a temporary name, synced and
 * renamed, so that no incomplete file has the final name. All functions are collective; each rank
 * writes or reads its own particles. */
#ifndef PHOTONS_SNAPSHOT_H
#define PHOTONS_SNAPSHOT_H

#include <stdbool.h>

#include "photons/config/parameters.h"
#include "photons/domain/galaxy_ids.h"
#include "photons/domain/particles.h"
#include "photons/step/layzer_irvine.h"
#include "photons/step/nbody.h"
#include "photons/step/policy.h"

/**
 * Write a snapshot in the layout of Gadget-4 that yt reads, too: Header, /Parameters, /Config, and
 * for each type of particles PartType1 ... with Coordinates double, Velocities float v_pec/sqrt(a),
 * ParticleIDs uint64, Masses float, optionally Acceleration and Potential (s->potential). The
 * snapshot consists of snapshot_files() files. With output.lean numbers are rounded and all is compressed. With
 * output.format = gadget2 the files are Gadget-2's binary ones, without ending in their names. Consecutive ranks write to one file, one after the
 * other. Memory: one chunk of particles, whatever N.
 * @param path  final name, e.g. out/snap_003.hdf5; with several files they are out/snap_003.0.hdf5
 *         ...
 * @param p     number of files, units, compression, cosmology; the resolved config.ini is stored in
 *         the file
 * @param s     particles of this rank, stored in the order of the ranks; their numbers may differ
 * @param a     scale factor of positions and momenta
 */
void snapshot_write(const char *path, const struct parameters *p, const struct particles *s,
                    double a);

/** Number of files of a snapshot, and of parts of a checkpoint or output of gas, on so many ranks:
 * output.files, at most one for each rank. Automatic: one of up to 8 ranks, else one for each 8, so that
 * a rank waits for 7 others, however many there are. */
size_t snapshot_files(const struct parameters *p, size_t ranks);

/**
 * The same for a part of the particles, output.subsample of all: those whose ids have the lowest hashes,
 * XXH3_64 of the 8 bytes of an id. Masses are multiplied by N over the number of these, so that they
 * stand for all matter. The file has no potentials. Without any particle there is no file but a warning.
 */
void snapshot_write_sample(const char *path, const struct parameters *p, const struct particles *s,
                           double a);
/** End the program (EXIT_BAD_USAGE) where a snapshot of so many particles cannot be written in the format
 * that the parameters ask for. */
void snapshot_require_possible(const struct parameters *p, size_t particles);

/** What a run needs to continue, besides the particles. */
struct checkpoint_state {
  double a;             /**< scale factor of positions and momenta; of isolated systems the time */
  double start_a;       /**< scale factor of the initial conditions */
  int64_t step;         /**< steps done */
  int64_t outputs_done; /**< outputs written: the number of the next */
  double last_output;   /**< a of the last one; before all moments: none */
  struct sort_policy policy; /**< of the N-body solver */
  struct renewal_policy renewals;
  struct step_state steps; /**< of the N-body solver */
  int64_t mesh_cells;      /**< a side, of the N-body solver; 0: there is no mesh, */
  int64_t next_mesh_cells; /**< and from the next step on */
  struct layzer_irvine energy;
  struct galaxy_ids galaxies; /**< of isolated systems; count 0: none */
  int64_t map_shell;          /**< the shell of the light cone whose map is not complete; else -1 */
  uint64_t *map;     /**< the map so far, this rank's part (comm_first()); NULL: there is none */
  size_t map_pixels; /**< of all ranks */
  uint64_t map_squares[2]; /**< of its masses, of all ranks: light_cone_squares() */
  double wall_seconds;     /**< wall-clock time of the run so far */
};

/**
 * Write the exact state (integer positions, momenta, accelerations, ids, division into groups) to
 * one file for all ranks, or a set of snapshot_files() parts (hdf5_set.h), so that a restarted run gives
 * the same bits on any number of ranks. The previous checkpoint is
 * kept as NAME-previous.hdf5.
 * @param path  NAME.hdf5
 */
void checkpoint_write(const char *path, const struct parameters *p, const struct particles *s,
                      const struct checkpoint_state *state);
/**
 * Whether a checkpoint exists, is complete and undamaged: all its checksums are right. Does not end
 * the program. Collective.
 * @param reason  why the checkpoint cannot be used, of @p size bytes
 */
bool checkpoint_check(const char *path, char *reason, size_t size);
/**
 * Read a checkpoint, each rank its part of the groups. If NAME.hdf5 is missing or damaged, the
 * program prints a warning and reads NAME-previous.hdf5, and the damaged file becomes
 * NAME-damaged.hdf5. The program ends with EXIT_BAD_INPUT if neither can be used, giving both
 * reasons; if parameters that change the result do not agree with @p p, giving their names; and if
 * a value makes no sense, such as NaN or a speed above that of light, giving the particle's id.
 * @param[out] state  its map is the caller's to free
 * @param[in,out] p  values that came from the initial conditions' file instead of config.ini (see
 * ic_read_gadget()) are stored here
 */
struct particles checkpoint_read(const char *path, struct parameters *p,
                                 struct checkpoint_state *state);
/** The same as checkpoint_read() for a dry run: a damaged file keeps its name. */
struct particles checkpoint_look(const char *path, struct parameters *p,
                                 struct checkpoint_state *state);

#endif
