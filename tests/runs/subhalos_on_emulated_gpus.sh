#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Emulated GPUs find the densities and potentials in halos that cores find, and so the same subhalos, bit by bit: of a snapshot, on one
# GPU, on two, and on two ranks; and of a run, whether its outputs are written beside the steps or not.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi
export STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1 CORES_GPUS=1 STARPU_NCUDA=1
cat >box.ini <<END
[box]
size = 4
npart_side = 16
[ic]
z_init = 30
seed = 3
[time]
accuracy = fast
[output]
redshifts = 0.5
images = no
power_spectrum = no
[analysis]
fof = no
END
run box box.ini
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
# catalogue RANKS GPUS FOLDER OPTION...: of the snapshot
catalogue() {
  ranks=$1 gpus=$2 folder=$3
  shift 3
  CORES_GPUS=$gpus STARPU_NCUDA=$gpus run_on "$ranks" "$folder" --analyse box/snapshot_000.hdf5 \
    --set output.subhalos=yes --set output.images=no --set output.power_spectrum=no "$@"
}
# same NUMBER FOLDER FOLDER: catalogues of an output
same() { helper "$2/fof_subhalo_tab_$1.hdf5" "$3/fof_subhalo_tab_$1.hdf5" || complain "$3 has other subhalos than $2"; }
catalogue 1 1 cores --set runtime.gpu=no
catalogue 1 1 gpu --set runtime.gpu=require
catalogue 1 2 gpus --set runtime.gpu=require
catalogue 2 1 ranks --set runtime.gpu=require
same 000 cores gpu
same 000 cores gpus
same 000 cores ranks
# outputs FOLDER BESIDE: of a run on a GPU that goes on from the snapshot, with the mesh alone
outputs() {
  run "$1" box.ini --set ic.source=gadget --set ic.file=box/snapshot_000.hdf5 --set ic.z_init=0.5 --set time.step=pm \
    --set time.accuracy=default --set time.steps=2 --set time.z_end=0.45 --set output.redshifts=0.47,0.45 \
    --set analysis.fof=yes --set output.subhalos=yes --set output.beside="$2"
}
outputs waited no
outputs beside yes
for number in 000 001; do same "$number" waited beside; done
grep -q 'beside the steps' beside/log/run.log || complain 'no output was written beside the steps'
# count SUBHALOS: set `tasks` to the tasks of the GPU
count() {
  STARPU_WORKER_STATS=1 "$PHOTONS" -q --analyse box/snapshot_000.hdf5 --set output.dir=counted --set output.subhalos="$1" \
    --set output.images=no --set output.power_spectrum=no --set runtime.gpu=require >counts 2>&1 || complain 'the count ended early'
  tasks=$(awk '/^CUDA/ {gpu = 1} /task/ && gpu {n += $1; gpu = 0} END {print n + 0}' counts)
}
count no
without=$tasks
count yes
[ "$tasks" -gt "$without" ] || { cat counts; complain "the GPU has had $tasks tasks, and $without without subhalos"; }
finish
