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
run other --steps 0 --set output.slice_axis=x --set output.slice_position=0.3 \
  --set output.density_colours=-0.2,0.4 --set output.speed_colours=0,2 config.ini
helper 2>err || complain "other pictures"
[ -e run/projection_level_000.png ] || complain "no picture of the levels along the line of sight"
# Frames of a movie, at equal steps of time.
run movie --steps 3 --set output.movie=3 --set output.movie_pixels=64 --set output.images=no \
  --set time.end=0.01 config.ini
[ "$(cd movie/movie && echo *)" = 'frame_0000.png frame_0001.png frame_0002.png' ] ||
  complain "frames: $(ls movie/movie)"
# Colours are two rising numbers.
for colours in 1 1,1 2,1 0,1,2; do
  "$PHOTONS" --dry-run --set output.density_colours=$colours config.ini >out 2>err &&
    complain "density_colours = $colours is accepted"
  grep -q 'brightest colour' err || complain "density_colours = $colours: $(cat err)"
done
# A box that is shortest along x is seen along x; pictures have no more pixels than was asked for.
run tall --steps 0 --set ic.source=sod --set ic.file= --set ic.particles= --set ic.direction=z \
  --set gas.root=16,32,96 --set output.image_pixels=64 config.ini
"$PYTHON" - <<'END' 2>err || complain "a tall picture"
import matplotlib.pyplot as plt
shape = plt.imread("tall/slice_density_000.png").shape
assert shape[:2] == (64, 21), shape
END
finish
