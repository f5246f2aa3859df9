#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whole runs on several processes, with shared memory or without, with small memory or fast, leave what
# one process leaves, bit by bit: snapshots in one file and in many, spectra, halos, pictures; also from a Gadget file,
# from a checkpoint of another number of processes, and with more processes than groups and planes
# of the mesh.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
STARPU_NCPU=1 # of each process; all else is set for every test
export STARPU_NCPU
need_mpi

compare() {
  helper "$@" >compared || failures=$((failures + 1))
  cat compared
  first=$1
  shift
  for other; do
    cmp "$first/log/statistics.csv" "$other/log/statistics.csv" || complain "statistics of $other"
  done
}

# Strong clustering, groups that are smaller than their neighbourhood, planes that no number of
# processes divides evenly, three rebuilds, and steps enough for groups to be handed over.
cat >config.ini <<END
[box]
size = 12
npart_side = 24
[cosmology]
sigma8 = 2
[ic]
z_init = 24
[gravity]
pm_grid = 28
[time]
z_end = 0
step = fixed
steps = 8
[output]
redshifts = 2, 0
accelerations = yes
image_pixels = 64
[analysis]
linking_length = 0.3
[runtime]
group_size = 432
sort_interval = 2
rebuild_interval = 3
END
run_on 1 one config.ini
run_on 2 two config.ini
run_on 3 three --set runtime.memory=small --set output.files=0 config.ini
run_on 4 four --set runtime.shared_memory=no --set output.files=3 config.ini
compare one two three four
# 32 groups dealt out evenly would make these files.
grep -E '(three|four),' compared |
  grep -qvE ': (4320 \+ 4752 \+ 4752|3456 \+ 3456 \+ 6912) ' ||
  complain 'no group changed its owner'
grep -q 'at most [1-9]' compared || complain 'the test itself: no halos'
[ -e three/snapshot_001.2.hdf5 ] && [ -e four/snapshot_001.2.hdf5 ] && [ ! -e four/snapshot_001.3.hdf5 ] ||
  complain 'numbers of files'

# A checkpoint after each step, in a file of each process; that of the fifth is from between two rebuilds.
run_on 3 parts --steps 5 --set output.checkpoint_minutes=1e-6 --set output.files=0 config.ini
[ "$(ls parts/checkpoint-?.*.hdf5 | wc -l)" -eq 6 ] || complain 'not two checkpoints of three parts'
run_on 2 parts --restart config.ini
compare one parts
[ "$(ls parts/checkpoint-?.*.hdf5 | wc -l)" -eq 3 ] || complain 'parts of a checkpoint that is gone'

# Block time steps: few of a group's particles are targets, and some groups have none. Groups are
# wider than half the box here: the nearest images of their targets may lie on either side.
block='--set time.step=block --set time.accuracy=fast --set time.max_dlna=0.25 --set time.eta=1 --set time.z_end=4
  --set output.redshifts=7,4 --set gravity.pm_grid=16 --set gravity.pm_grid_most=32 --set time.mesh_crossing=10'
run_on 1 block-one $block config.ini
run_on 8 block-eight $block config.ini
run_on 3 block-three $block --steps 5 --set output.checkpoint_minutes=1e-6 config.ini
support occupied_rungs.py block-three/checkpoint.hdf5 4 || failures=$((failures + 1))
run_on 3 block-three $block --restart config.ini
compare block-one block-eight block-three
grep -q 'the mesh has 32^3 cells' block-eight/log/run.log ||
  complain 'the test itself: the mesh stayed'

# The accuracy of the paper: other kernels, differences that reach over the planes of two
# processes. From a Gadget file in three parts.
cat >paper.ini <<END
[ic]
source = gadget
file = three/snapshot_000
[gravity]
accuracy = paper
[time]
z_end = 1
step = fixed
steps = 4
[output]
accelerations = yes
images = no
[analysis]
fof = no
[runtime]
group_size = 432
END
run_on 1 paper-one paper.ini
run_on 3 paper-three paper.ini
compare paper-one paper-three

# Two groups and eight planes for nine processes, to which the mesh is given in pencils; for twelve, as
# one file; in slabs, of which a process has none; and in pencils on fewer processes than planes.
cat >few.ini <<END
[box]
size = 8
npart_side = 8
[gravity]
pm_grid = 8
r_cut = 2.9
[time]
z_end = 9
step = fixed
steps = 2
[output]
accelerations = yes
[runtime]
group_size = 256
rebuild_interval = 1
END
run_on 1 few-one few.ini
run_on 9 few-nine --set runtime.memory=small few.ini
run_on 12 few-twelve --set output.files=1 few.ini
run_on 9 few-slabs --set gravity.mesh_layout=slabs few.ini
run_on 6 few-six --set gravity.mesh_layout=pencils --set gravity.gradient=fd4 few.ini
run_on 1 few-fd4 --set gravity.gradient=fd4 few.ini
compare few-one few-nine few-twelve few-slabs
compare few-fd4 few-six

finish
