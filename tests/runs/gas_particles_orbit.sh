#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Particles on the adaptive mesh without gas: a light one that crosses the edge of a level, and a pair of
# heavy ones whose refined regions move with them, keep to their circles.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
support gas_particles.py make || complain "making particles"

cat >empty.ini <<END
[run]
system = gas
[ic]
source = particles
particles = circle.hdf5
[gas]
solver = none
root = 32, 32, 32
cfl = 0.8
x_low = outflow
x_high = outflow
y_low = outflow
y_high = outflow
z_low = outflow
z_high = outflow
levels = 1
flag_density = 1000
buffer = 3
gravity = self
[output]
images = no
END

# run NAME OPTION...
run() {
  timeout 120 "$PHOTONS" --quiet --set output.dir="$@" empty.ini 2>err ||
    complain "$1: exit code $?"
}
# A circle of radius 0.15 takes 0.365; the box is refined between 0.5 and 0.75.
run circle --set time.end=0.0912 --set output.interval=0.0057
# The pair lies between patch groups, whose potentials must agree well.
run pair --set ic.source=point_masses --set ic.particles= --set time.end=0.13885 \
  --set output.interval=0.013885 --set gas.sibling_relaxations=64
support gas_particles.py circles circle pair || complain "other circles"
finish
