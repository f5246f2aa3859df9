#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Stages and whole steps of gas on emulated GPUs are those on cores. A run takes the GPUs that make it faster.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
"$gpu_tests/cuda_check_on_cores" gas >out 2>err || complain "cuda_check_on_cores gas: $(tail -n 20 out)"

# On two GPUs, with a home each, a run has the bits of one GPU, and homes send each other something.
need_python h5py numpy
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
export STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1
cat >blast.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 32, 32, 32
levels = 1
flag_gradient_pressure = 0.3
buffer = 4
regrid = 1
batch = 2
[time]
end = 1
[output]
images = no
checkpoint_minutes = 1e-6
END
CORES_GPUS=1 STARPU_NCUDA=1 run one blast.ini --steps 2
CORES_GPUS=2 STARPU_NCUDA=2 run two blast.ini --steps 2
same checkpoint.hdf5 16 one two
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "home_bytes") column = i }
  END { exit !($column > 0) }' two/log/timings.csv || complain "homes send nothing"

# Of four GPUs a run takes so many that each has 1024 groups of the root level, with levels and self-gravity 8192, unless the
# root level needs more memory, or the user says how many.
export CORES_GPUS=4
cat >config.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 32, 32, 32
flag_density = 100
[time]
end = 1
[output]
images = no
END
# gpus NUMBER LEVELS ROOT [VARIABLE=VALUE...]: a dry run takes so many GPUs; 4: it says nothing of them
gpus() {
  number=$1 levels=$2 root=$3
  shift 3
  env "$@" "$PHOTONS" --dry-run --set gas.levels="$levels" --set gas.root="$root" config.ini >out 2>err ||
    complain "$levels levels, $root, $*"
  found=$(sed -n 's/^ *\([0-9]\) of 4 GPUs: .*/\1/p' out)
  [ "${found:-4}" = "$number" ] || complain "${found:-4} GPUs, not $number, with $levels levels, $root, $*"
}
gpus 1 1 32,32,32
gpus 1 0 128,128,128
gpus 2 0 128,256,256
gpus 2 1 128,256,256
gpus 4 0 256,256,256
sed -i 's/^flag_density/gravity = self\nflag_density/' config.ini
gpus 2 0 128,256,256
gpus 1 1 128,256,256
sed -i '/^gravity/d' config.ini
gpus 3 1 32,32,32 STARPU_LIMIT_CUDA_MEM=3
gpus 4 1 32,32,32 STARPU_NCUDA=3

finish
