#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Merger trees of subhalos have the same bits after a restart and on any number of ranks, and their
# objects are the subhalos of the catalogue. The trees of every other output, made by --analyse from
# snapshots, lose no subhalo of more than 100 particles. Python reads trees of subhalos, and those of
# halos.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy
need_mpi

cat >config.ini <<END
[cosmology]
sigma8 = 1.2
[box]
size = 20
npart_side = 32
[ic]
z_init = 24
[time]
step = fixed
steps = 32
[output]
redshifts = 3, 2.6, 2.3, 2, 1.7, 1.5, 1.2, 1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0
power_spectrum = no
images = no
trees = yes
subhalos = yes
END
STARPU_NCPU=1
export STARPU_NCPU

run dense config.ini
run_on 2 again --steps 25 config.ini
run_on 2 again --restart config.ini
[ "$(ls dense/tree_0*.hdf5 | wc -l)" = 15 ] && [ "$(ls again/tree_0*.hdf5 | wc -l)" = 15 ] ||
  complain 'not every output has its file of links'
helper same dense again >err 2>&1 || complain 'trees after a restart on two ranks'
helper subhalos dense >err 2>&1 || complain 'objects of trees are not the subhalos'

# trees_of FOLDER ARGUMENT...: trees of every other output
mkdir every-other
for k in 0 1 2 3 4 5 6 7; do
  ln -s "../dense/snapshot_$(printf %03d $((2 * k))).hdf5" every-other/snapshot_00$k.hdf5
done
trees_of() {
  folder=$1
  shift
  for snapshot in every-other/snapshot_*; do
    timeout "$(seconds 60)" "$PHOTONS" -q --analyse "$snapshot" --set output.dir="$folder" "$@" \
      --set output.power_spectrum=no --set output.images=no --set output.trees=yes >err 2>&1 ||
      complain "--analyse $snapshot in $folder: exit code $?"
  done
}
trees_of sparse --set output.subhalos=yes
helper lost dense sparse >out 2>err || complain 'tracks of subhalos are lost'
cat out
helper read dense 14 >err 2>&1 || complain 'what Python reads'
trees_of halos --set output.subhalos=no
helper read halos 7 >err 2>&1 || complain 'what Python reads of trees of halos'

# One snapshot makes no tree, unless it is asked for.
timeout "$(seconds 60)" "$PHOTONS" -q --analyse dense/snapshot_014.hdf5 --set output.dir=one \
  --set output.power_spectrum=no --set output.images=no >err 2>&1 || complain "--analyse: $?"
[ ! -e one/trees.hdf5 ] || complain '--analyse makes a tree of one snapshot'

# Files that do not belong together are refused.
mkdir mixed
cp dense/tree_014.hdf5 mixed/tree_002.hdf5
timeout "$(seconds 60)" "$PHOTONS" -q --analyse every-other/snapshot_003.hdf5 --set output.dir=mixed \
  --set output.trees=yes --set output.subhalos=yes >out 2>err
[ $? = 3 ] && grep -q 'tree_002.hdf5' err || complain 'a file of links of another output is taken'
timeout "$(seconds 60)" "$PHOTONS" -q --analyse every-other/snapshot_003.hdf5 --set output.dir=sparse \
  --set output.trees=yes --set output.subhalos=no >out 2>err
[ $? = 3 ] && grep -q 'tree_002.hdf5: of subhalos, expected halos' err ||
  complain 'halos follow subhalos'
finish
