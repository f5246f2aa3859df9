#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Sod's tube with two finer levels that follow the waves seldom: the shock comes to the end of both,
# and stays on the finest one, without gravity and with so little of it that the waves are the same.
# Where levels follow one after the other, the finest last, the shock runs out of it, and leaves a
# wave of density of 1.5 % behind.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

cat >config.ini <<'END'
[run]
system = gas
[ic]
source = sod
[gas]
solver = rtvd
root = 64, 16, 16
length = 256 # the cells of the finest level are 1 wide
levels = 2
flag_gradient_density = 0.03
buffer = 8
regrid = 16
x_low = outflow
x_high = outflow
y_low = outflow # gravity wants all sides to be of a kind
y_high = outflow
z_low = outflow
z_high = outflow
[time]
end = 50
[output]
images = no
END
# follow NAME SETTING...: the tube, and what is behind its shock.
follow() {
  name=$1
  shift
  timeout "$(seconds 300)" "$PHOTONS" --quiet --set output.dir="$name" "$@" config.ini 2>err ||
    complain "$name: exit code $?"
  helper "$name" >err 2>&1 || complain "$name: the shock was not resolved"
  cat err
}
follow tube
follow attracting --set gas.gravity=self --set gas.newton_constant=1e-12 \
  --set gas.sheet_corrections=0 --set gas.sibling_relaxations=0 --set time.end=40
finish
