#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The spherical top-hat: its radius is that of the cycloid until after the turnaround, and it collapses when it
# should.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

# The softening is half of the particles' distance. The sphere is still eight times as large when it is a tenth of
# its first radius.
cat >config.ini <<END
[ic]
source = gadget
file = sphere.hdf5
[gravity]
softening = 200
[output]
dir = sphere
scale_factors = 0.1, 0.2, 0.315, 0.4, 0.45, 0.47, 0.49, 0.5, 0.51
power_spectrum = no
images = no
[analysis]
fof = no
END
helper make sphere.hdf5
timeout "$(seconds 300)" "$PHOTONS" --quiet config.ini || exit 1
helper error sphere || complain 'the sphere does not follow the cycloid'
finish
