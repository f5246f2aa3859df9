#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs on GPUs, here emulated ones, use expansions in every 16th step to find out what they replace, and in the
# next ones only if that is worth their time. Runs on cores use them wherever the criterion allows.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1 CORES_GPUS=1
export STARPU_NCPU STARPU_NWORKER_PER_CUDA CORES_GPUS
cat >config.ini <<END
[box]
size = 16
npart_side = 16
[cosmology]
sigma8 = 1.6
[ic]
z_init = 9
[gravity]
pm_grid = 10
[time]
z_end = 0
step = fixed
steps = 18
[output]
snapshots = no
power_spectrum = no
images = no
[analysis]
fof = no
[runtime]
leaf_size = 8
END
# used PROGRAM TOLERANCE OPTION...: whether expansions were used in steps 15 to 18 of a run, a letter each
used() {
  program=$1
  shift
  "$program" --quiet config.ini --set output.dir=out --set gravity.mac_tolerance="$@" >err 2>&1 ||
    complain "a run: $*"
  awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "m2l_interactions") column = i}
    NR > 16 {printf "%s", ($column > 0 ? "y" : "n")}' out/log/timings.csv
}
expect() {
  [ "$1" = "$2" ] || complain "$3: expansions in steps 15 to 18: $1, not $2"
}
gpus=$(dirname "$PHOTONS")/tests/support/photons_on_cores
expect "$(used "$gpus" 0.002)" nynn "where they do not pay"
expect "$(used "$PHOTONS" 0.002 --overwrite --set runtime.gpu=no)" yyyy "on cores"
expect "$(used "$gpus" 0.01 --overwrite --steps 16)" yy "where they pay, to step 16"
expect "$(used "$gpus" 0.01 --restart)" yyyy "where they pay, after a restart"
finish
