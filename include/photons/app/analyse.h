/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Analysis of a snapshot without a run: --analyse. */
#ifndef PHOTONS_ANALYSE_H
#define PHOTONS_ANALYSE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Read a Gadget snapshot (HDF5 or binary, ours or another code's) and write everything that an
 * output of a run has, but the snapshot, to output.dir. Box, redshift and cosmology stand in the
 * file; what a header does not tell (n_s, sigma8, Omega_b, dark energy) is taken from the
 * config.ini that our snapshots hold, else it has its default.
 * @param overrides  arguments of --set, which win
 * @param dry_run    the snapshot is read and nothing is written
 * @return the exit code of the program; failures end it through fail()
 */
int analyse_snapshot(const char *snapshot, const char *const *overrides, size_t count,
                     bool dry_run);

#endif
