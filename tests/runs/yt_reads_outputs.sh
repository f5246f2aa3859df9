#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# yt opens a snapshot of a small run and finds the box, cosmology, masses, positions and velocities that were meant.
: "${PHOTONS:?the program}"
[ -x "$PHOTONS" ] || { echo "skipped: $PHOTONS is not built"; exit 77; }
python3 -c 'import yt, h5py' 2>/dev/null || { echo "skipped: python3 has no yt and h5py"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

cat >"$work/config.ini" <<END
[cosmology]
Omega_m = 0.31
Omega_lambda = 0.69
Omega_b = 0.049
h = 0.68
[box]
size = 40
npart_side = 16
[ic]
z_init = 24
[time]
z_end = 19
step = fixed
steps = 2
[output]
dir = $work/out
accelerations = yes
power_spectrum = no
images = no
END
"$PHOTONS" --quiet "$work/config.ini" || exit 1
python3 "$PHOTONS_SOURCE/tests/runs/snapshot_yt.py" "$work"/out/snap_000.hdf5 40 0.31 0.68 19 4096
