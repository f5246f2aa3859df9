#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# yt opens snapshots and a halo catalogue of a small run and finds the box, cosmology, masses,
# positions and velocities that were meant.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy yt

# Clustered at the end, so that there are halos.
cat >config.ini <<END
[cosmology]
Omega_m = 0.31
Omega_lambda = 0.69
Omega_b = 0.049
h = 0.68
sigma8 = 1.2
[box]
size = 40
npart_side = 16
[ic]
z_init = 24
[time]
z_end = 0
step = fixed
steps = 32
[output]
dir = out
redshifts = 19, 0
accelerations = yes
power_spectrum = no
images = no
END
timeout 120 "$PHOTONS" --quiet config.ini 2>err || complain "the run: exit code $?"
ln -s fof_tab_001.hdf5 out/fof_tab_001.0.hdf5 # the name that yt looks for
helper out/snap_000.hdf5 40 0.31 0.68 19 4096 || failures=$((failures + 1))
helper out/snap_001.hdf5 40 0.31 0.68 0 4096 out/fof_tab_001.hdf5 || failures=$((failures + 1))

finish
