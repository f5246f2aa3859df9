#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A sphere that hardly attracts itself flies apart: its frame doubles several times, and particles
# beyond box.escape_radius are taken out and counted. The same bits on several ranks, and after a
# restart on another number of them.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi

# The velocities are those of equilibrium without softening.
cat >config.ini <<END_OF_CONFIG
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
component_1 = plummer 1e10 0.02 0.1 0.01
particles = 500
[gravity]
softening = 1
[time]
end = 8
max_step = 1
[output]
times = 4, 8
accelerations = yes
energy_steps = 1
checkpoint_minutes = 1e-6
[runtime]
group_size = 64
END_OF_CONFIG

for system in all some; do
  [ $system = all ] || sed -i 's/^boundary.*/&\nescape_radius = 2/' config.ini
  STARPU_NCPU=1 run $system config.ini
  STARPU_NCPU=1 run_on 3 $system-parts --steps 5 config.ini
  STARPU_NCPU=2 run $system-parts --restart config.ini
done
helper || failures=$((failures + 1))
finish
