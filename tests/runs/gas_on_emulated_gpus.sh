#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Stages and whole steps of gas on emulated GPUs are those on cores. A run takes the GPUs that make it faster.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
"$unit_tests/cuda_check_on_cores" gas >out 2>err || complain "cuda_check_on_cores gas: $(tail -n 20 out)"

# Of four GPUs a run takes two, on levels one, unless the root level needs more memory, or the user says
# how many.
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
export STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1 CORES_GPUS=4 STARPU_BUS_CALIBRATE=0
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
# gpus NUMBER LEVELS [VARIABLE=VALUE...]: so many GPUs in the banner
gpus() {
  number=$1 levels=$2
  shift 2
  env "$@" "$PHOTONS" --steps 0 --overwrite --set gas.levels="$levels" --set output.dir=run config.ini >out 2>err ||
    complain "$levels levels, $*"
  grep -q "GPUs: $number " out || complain "$number GPUs expected with $levels levels, $*: $(grep GPUs out)"
}
gpus 1 1
grep -q '1 of 4 GPUs: ' out || complain "nothing is said of GPUs: $(cat out)"
gpus 2 0
gpus 4 1 STARPU_LIMIT_CUDA_MEM=3
gpus 3 1 STARPU_NCUDA=3

finish
