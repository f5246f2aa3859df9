#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Sod's shock tube along x, y, z and the diagonal, with refinement that follows the waves: pressure,
# velocity and both densities between the waves are those of the exact solution, the shock is where
# it should be, and the tubes along the axes are the same.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

# tube DIRECTION ROOT LENGTH END TIMES
tube() {
  cat >config.ini <<END
[run]
system = gas
[ic]
source = sod
direction = $1
[gas]
root = $2
length = $3
levels = 1
flag_gradient_density = 0.06
flag_gradient_pressure = 0.06
buffer = 2
x_low = outflow
x_high = outflow
y_low = outflow
y_high = outflow
z_low = outflow
z_high = reflecting
[time]
end = $4
[output]
images = no
dir = $1
times = $5
END
  timeout "$(seconds 120)" "$PHOTONS" --quiet config.ini 2>err || complain "$1: exit code $?"
}
tube x "64, 16, 16" 1 0.12 "0.03, 0.12"
tube y "16, 64, 16" 0.25 0.03 0.03
tube z "16, 16, 64" 0.25 0.03 0.03
tube diagonal "32, 32, 32" 1 0.08 0.08
helper >err 2>&1 || complain "another solution"
cat err
finish
