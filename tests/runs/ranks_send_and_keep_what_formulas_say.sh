#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What ranks send to each other, and keep of each other, is what docs/dev/scaling-model.md says: counted on 2 and 8 ranks with a
# mesh of slabs, and on 9 ranks, whose two sets share messages, with pencils. A table that grows with all groups or all ranks, where the formula does not, fails.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
STARPU_NCPU=1 # of each rank
export STARPU_NCPU
need_python csv h5py numpy
need_mpi

# The forecast of memory on several ranks.
mpirun --oversubscribe --bind-to none -n 3 "$unit_tests/app/test_memory" >memory.log 2>&1 ||
  complain "the memory of 3 ranks: $(grep -m 1 LINE memory.log)"

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
for ranks in 1 8; do # trees with levels below branches
  run_on "$ranks" "branches-$ranks" --set box.npart_side=32 --set runtime.leaf_size=2 --set runtime.shared_memory=no config.ini
done
cmp branches-1/log/statistics.csv branches-8/log/statistics.csv || complain 'branches of trees on 8 ranks: other bits'
# Groups of 110 592 particles have 512 branches. Particles begin in the middle of cells: groups of particles on the faces of the
# box would be wider than half of it, and send all.
"$PYTHON" - <<'END' || complain 'making particles in the middle of cells'
import itertools

import h5py

with h5py.File("middle.hdf5", "w") as file:
    header, particles = file.create_group("Header"), file.create_group("PartType1")
    header.attrs.update({"BoxSize": 1.0, "NumPart_ThisFile": [0, 8, 0, 0, 0, 0], "NumPart_Total": [0, 8, 0, 0, 0, 0],
                         "NumPart_Total_HighWord": [0] * 6, "MassTable": [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
                         "NumFilesPerSnapshot": 1, "Time": 1.0, "Redshift": 0.0})
    particles["Coordinates"] = list(itertools.product((0.25, 0.75), repeat=3))
    particles["Velocities"] = [[0.0] * 3] * 8
    particles["ParticleIDs"] = range(1, 9)
END
for ranks in 1 2 4 8; do
  run_on "$ranks" "large-$ranks" --set ic.glass=middle.hdf5 --set ic.z_init=999 --set time.z_end=900 --set box.npart_side=96 \
    --set box.size=74.88 --set runtime.group_size=131072 --set time.steps=1 --set runtime.shared_memory=no config.ini
  cmp large-1/log/statistics.csv "large-$ranks/log/statistics.csv" || complain "large groups on $ranks ranks: other bits"
done
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
# Two spheres far from each other. Ranks with one of them receive a node above the groups of each rank with the other one.
awk 'function next_one() { seed = (16807 * seed) % 2147483647; return 2 * seed / 2147483647 - 1 }
  BEGIN {
    seed = 1
    for (side = -20; side <= 20; side += 40)
      for (n = 0; n < 4096;) {
        x = next_one(); y = next_one(); z = next_one()
        if (x * x + y * y + z * z > 1) continue
        n++
        print x + side, y, z, 0, 0, 0, 1e-4
      }
  }' >spheres.text
apart='--set ic.source=gadget --set ic.file=spheres.text --set galaxy.component_1= isolated.ini'
for ranks in 1 2 4 8; do
  run_on "$ranks" "apart-$ranks" --set time.end=1 $apart
  cmp apart-1/log/statistics.csv "apart-$ranks/log/statistics.csv" || complain "two spheres on $ranks ranks: other bits"
done
# Groups of two leaves: walks begin with nodes above the groups of the own sphere, too, of one rank and of several.
# Masses differ.
awk '{ $7 = 1e-4 * (1 + NR % 7); print }' spheres.text >masses.text
for ranks in 1 3; do
  run_on "$ranks" "small-$ranks" $apart --set ic.file=masses.text --set runtime.group_size=64 --set runtime.leaf_size=32
done
cmp small-1/log/statistics.csv small-3/log/statistics.csv || complain 'small groups on 3 ranks: other bits'
# A long box of gas: of most groups a rank has the keys alone.
cat >gas.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 256, 32, 32
length = 1
levels = 2
flag_gradient_pressure = 1
buffer = 1
batch = 2
[time]
end = 1
[output]
times = 0
images = no
END
for ranks in 1 8; do run_on "$ranks" "gas-$ranks" --steps 1 gas.ini; done
cmp gas-1/log/statistics.csv gas-8/log/statistics.csv || complain 'gas in a long box on 8 ranks: other bits'
helper two:2:20:1 eight:8:32:1 branches-8:8:32:branches:8 large-2:2:96:large:131072 large-4:4:96:large:131072 large-8:8:96:large:131072 \
  pencils:9:20:3 balance:2:24:balance:256 isolated:4:20:isolated:16 apart-2:2:20:apart:16 apart-4:4:20:apart:16 apart-8:8:20:apart:16 gas-8:8:32:gas:2 ||
  failures=$((failures + 1))

# A file whose particles are in no order: each rank has particles of each node, and there is room for the counts of 16
# cuts. The medians, and what follows, have the bits of one rank.
"$PYTHON" - eight/snapshot_000.hdf5 shuffled.hdf5 <<'END' || complain 'making a file in no order'
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1]) as old, h5py.File(sys.argv[2], "w") as new:
    for name in "Header", "PartType1":
        group = new.create_group(name)
        for key, value in old[name].attrs.items():
            if key != "xxh3_attributes":
                group.attrs[key] = value
    order = np.random.default_rng(1).permutation(len(old["PartType1/ParticleIDs"]))
    for key in "Coordinates", "Velocities", "ParticleIDs", "Masses":
        new["PartType1"][key] = old["PartType1"][key][:][order]
END
cat >shuffled.ini <<END
[ic]
source = gadget
file = shuffled.hdf5
[time]
z_end = 15
step = fixed
steps = 1
[output]
images = no
power_spectrum = no
snapshots = no
[analysis]
fof = no
[runtime]
group_size = 512
END
run_on 1 shuffled-one shuffled.ini
run_on 8 shuffled-eight shuffled.ini
cmp shuffled-one/log/statistics.csv shuffled-eight/log/statistics.csv || complain 'a file in no order: other statistics'
awk -F, '$2 == "counts" { found = 1; most = 3 * 16 * 16384 + 4096; if ($6 > most || $6 < most / 2) { print; exit 1 } }
  END { exit !found }' shuffled-eight/log/ranks.csv || complain 'a file in no order: counts of cuts'

finish
