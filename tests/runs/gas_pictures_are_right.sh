#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The pictures that a run of gas draws show the cells and particles of the file beside them, on all
# levels.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy

helper make || exit 99
cat >config.ini <<END
[run]
system = gas
[ic]
source = array
file = ic.hdf5
particles = particles.hdf5
[gas]
precision = double
root = 32, 16, 16
levels = 1
flag_density = 4
buffer = 1
gravity = self
[time]
end = 1
[output]
times = 0
image_pixels = 128
END
run run --steps 0 config.ini
helper 2>err || complain "other pictures"
# A box that is shortest along x is seen along x; pictures have no more pixels than was asked for.
run tall --steps 0 --set ic.source=sod --set ic.file= --set ic.particles= --set ic.direction=z \
  --set gas.root=16,32,96 --set output.image_pixels=64 config.ini
"$PYTHON" - <<'END' 2>err || complain "a tall picture"
import matplotlib.pyplot as plt
shape = plt.imread("tall/slice_density_000.png").shape
assert shape[:2] == (64, 21), shape
END
finish
