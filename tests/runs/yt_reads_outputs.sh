#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# yt opens snapshots and halo catalogues of small runs and finds the box, cosmology, masses,
# positions and velocities that were meant, whatever their unit of length.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy yt
. "$PHOTONS_SOURCE/tests/support/readers_run.sh"

small_run kpc kpc/h short
reads yt kpc/h 19 kpc/snap_000.hdf5
reads yt kpc/h 0 kpc/snap_001.hdf5 kpc/fof_tab_001.hdf5
small_run Mpc Mpc/h gadget4
reads yt Mpc/h 19 Mpc/snapshot_000.hdf5
reads yt Mpc/h 0 Mpc/snapshot_001.hdf5 Mpc/fof_subhalo_tab_001.hdf5
try_readers
finish
