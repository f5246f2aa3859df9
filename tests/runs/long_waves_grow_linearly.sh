#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# 64^3 particles in 500 Mpc/h from z = 49 to 0: the longest waves grow as linear theory says,
# momentum is conserved.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

# Two runs of fixed amplitudes and opposite phases. Steps of 0.065 in ln a cost 5e-4 of the growth.
cat >config.ini <<END
[cosmology]
Omega_m = 0.3
Omega_lambda = 0.7
[box]
size = 500
npart_side = 64
[ic]
z_init = 49
fixed = yes
[time]
z_end = 0
step = fixed
steps = 60
[output]
redshifts = 49, 0
power_spectrum = no
images = no
[analysis]
fof = no
END
for paired in no yes; do
  timeout "$(seconds 300)" "$PHOTONS" --quiet --set output.dir=$paired --set ic.paired=$paired \
    config.ini || exit 1
done
helper no/snapshot_000.hdf5 no/snapshot_001.hdf5 yes/snapshot_000.hdf5 yes/snapshot_001.hdf5
