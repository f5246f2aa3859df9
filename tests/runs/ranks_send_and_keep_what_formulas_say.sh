#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What ranks send to each other, and keep of each other, is what docs/dev/scaling-model.md says: counted on 2 and 8 ranks with a
# mesh of slabs, and on 9 ranks, whose two sets share messages, with pencils. A table that grows with all groups or all ranks, where the formula does not, fails.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
STARPU_NCPU=1 # of each rank
export STARPU_NCPU
need_python csv
need_mpi

cat >config.ini <<END
[box]
size = 24.96 # for 32^3 particles
[ic]
z_init = 49
[time]
z_end = 20
step = fixed
steps = 2
[output]
images = no
power_spectrum = no
[runtime]
group_size = 512
rebuild_interval = 1
END
run_on 2 two --set box.size=15.6 --set box.npart_side=20 config.ini
run_on 8 eight --set box.npart_side=32 --set runtime.shared_memory=no config.ini
run_on 9 pencils --set box.npart_side=20 --set box.size=15.6 --set gravity.mesh_layout=pencils config.ini
run_on 2 balance --set box.npart_side=24 --set box.size=18.72 --set runtime.group_size=64 --set runtime.leaf_size=16 \
  --set time.steps=4 config.ini
cat >isolated.ini <<END
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
component_1 = plummer 1e10 1
particles = 8192
[gravity]
softening = 0.1
[time]
end = 4
max_step = 4
[output]
images = no
[runtime]
group_size = 512
END
run_on 4 isolated isolated.ini
cat >gas.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 32, 32, 32
length = 1
batch = 2
[time]
end = 1
[output]
images = no
END
run_on 2 gas --steps 2 gas.ini
helper two:2:20:1 eight:8:32:1 pencils:9:20:3 balance:2:24:balance:256 isolated:4:20:isolated:16 gas:2:32:gas:2 ||
  failures=$((failures + 1))

finish
