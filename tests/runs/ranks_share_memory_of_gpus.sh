#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Two processes with a GPU each, here emulated on cores, exchange data through the memory of the GPUs and
# leave what they leave with the memory of the host, with pencils of the mesh, and what one process leaves. Where a process does not
# find in the memory of a GPU what the other has written, both take the memory of the host. Without shared memory messages
# go through MPI, which workers may send.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1 CORES_GPUS=2
export STARPU_NCPU STARPU_NWORKER_PER_CUDA CORES_GPUS

cat >config.ini <<END
[box]
size = 12
npart_side = 16
[cosmology]
sigma8 = 2
[ic]
z_init = 24
[time]
z_end = 20
step = fixed
steps = 3
[output]
power_spectrum = no
images = no
accelerations = yes
[analysis]
fof = no
[runtime]
gpu = require
group_size = 512
rebuild_interval = 2
END
run_on 1 one config.ini
run_on 2 gpus config.ini
run_on 2 pencils --set gravity.mesh_layout=pencils config.ini
run_on 2 host --set runtime.shared_memory=host config.ini
STARPU_MPI_THREAD_MULTIPLE_SEND=1 run_on 2 sends --set runtime.shared_memory=no config.ini
CORES_IPC=spoiled
export CORES_IPC
run_on 2 spoiled config.ini

# by FOLDER MEMORY: what the run says of its messages
by() {
  grep -q "processes   2, on one host by $2\$" "$1/log/run.log" || complain "$1: not by $2"
}
by gpus 'memory of GPUs'
by pencils 'memory of GPUs'
by host 'shared memory'
by spoiled 'shared memory'
for other in one pencils host sends spoiled; do
  cmp gpus/log/statistics.csv $other/log/statistics.csv || complain "statistics of $other"
  support same_snapshots.py gpus/snapshot_000.hdf5 $other/snapshot_000.hdf5 || complain "snapshot of $other"
done
finish
