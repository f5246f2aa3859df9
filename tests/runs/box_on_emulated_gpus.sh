#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A box has the same bits on one and on two emulated GPUs, on which groups and slabs of the mesh are divided and
# direct sums are lent. With GPUs outputs are written beside the steps by default.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
export STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=3
cat >box.ini <<END
[box]
size = 16
npart_side = 16
[ic]
z_init = 9
[time]
step = fixed
steps = 2
[runtime]
group_size = 512
sort_interval = 1
[output]
redshifts = 8, 7
images = no
power_spectrum = no
[analysis]
fof = no
END
for gpus in 1 2; do
  CORES_GPUS=$gpus STARPU_NCUDA=$gpus run gpus$gpus box.ini
done
grep -q 'GPUs: 2 .* owner-computes' gpus2/log/run.log || complain 'the second run has no two GPUs that own data'
helper gpus1/snapshot_001.hdf5 gpus2/snapshot_001.hdf5 || complain "other particles on two GPUs"
grep -q 'output 0 at z = 8 written in .* beside the steps' gpus1/log/run.log ||
  complain 'outputs do not go on beside the steps by default'
finish
