/* Gadget HDF5 snapshots and checkpoints. Both are written under a temporary name, synced and renamed; all processes take part, each
 * with its own particles. */
#ifndef PHOTONS_SNAPSHOT_H
#define PHOTONS_SNAPSHOT_H

#include <stdbool.h>

#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/step/policy.h"

/**
 * Write a snapshot as formats of Gadget-4 and yt have it (header, /Parameters, /Config, PartType1 with
 * Coordinates double, Velocities float v_pec/sqrt(a), ParticleIDs uint64, Masses float, optionally Acceleration), in
 * output.files files: consecutive processes write to one file, one after the other. Memory: one piece at a time, whatever N.
 * @param path  final name, e.g. out/snap_003.hdf5; of several files out/snap_003.0.hdf5 and on
 * @param p     number of files, units, compression, cosmology; the resolved config.ini goes into the file
 * @param s     of this process; counts may be uneven, the order is that of the processes
 * @param a     scale factor of positions and momenta
 */
void snapshot_write(const char *path, const struct parameters *p, const struct particles *s, double a);

/** What a run needs to go on, besides the particles. */
struct checkpoint_state {
  double a;                                /**< scale factor of positions and momenta */
  double start_a;                          /**< of the initial conditions */
  int64_t step;                            /**< steps done */
  int64_t outputs_done;                    /**< outputs written: the number of the next */
  double last_output;                      /**< scale factor of the last one; 0: none */
  struct sort_policy policy;               /**< of the N-body solver */
  double wall_seconds;                     /**< spent so far */
};

/**
 * Exact state (integer positions, momenta, accelerations, ids, block layout) in one file, whatever
 * the number of processes, so that a restarted run gives the same bits. The checkpoint before is kept
 * as NAME-previous.hdf5.
 * @param path  NAME.hdf5
 */
void checkpoint_write(const char *path, const struct parameters *p, const struct particles *s,
                      const struct checkpoint_state *state);
/**
 * Whether a checkpoint is there, complete and undamaged: all its checksums are right. Does not end
 * the program. On every process.
 * @param reason  why it is not, of @p size bytes
 */
bool checkpoint_check(const char *path, char *reason, size_t size);
/**
 * Read it back, each process its share of the blocks. Where NAME.hdf5 is missing or damaged, a
 * warning says so, NAME-previous.hdf5 is read, and the damaged file becomes NAME-damaged.hdf5. Ends
 * with EXIT_BAD_INPUT: both reasons, if neither can be used; the names of parameters that change the
 * result and do not agree with @p p; a value that makes no sense, such as NaN or a speed above that
 * of light, with the particle's id.
 * @param[in,out] p  what the initial conditions' file and not config.ini had said (see
 *                   ic_read_gadget()) is stored here
 */
struct particles checkpoint_read(const char *path, struct parameters *p, struct checkpoint_state *state);

#endif
