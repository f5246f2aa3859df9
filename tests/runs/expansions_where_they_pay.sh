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
# found: whether expansions were used in steps 15 to 18 of the last run, a letter each
found() {
  awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "m2l_interactions") column = i}
    NR > 16 {printf "%s", ($column > 0 ? "y" : "n")}' out/log/timings.csv
}
# expect LETTERS WHAT COMMAND...
expect() {
  letters=$1 what=$2
  shift 2
  timeout "$(seconds 120)" "$@" >err 2>&1 || complain "$what: exit code $?"
  [ "$(found)" = "$letters" ] || complain "$what: expansions in steps 15 to 18: $(found), not $letters"
}
gpus=$(dirname "$PHOTONS")/tests/support/photons_on_cores
options='--quiet --set output.dir=out config.ini'
few='--set gravity.mac_tolerance=0.002' many='--set gravity.mac_tolerance=0.01'
# shellcheck disable=SC2086 # several words each
{
  expect nynn "where they do not pay" "$gpus" $options $few
  expect yyyy "on cores" "$PHOTONS" $options $few --overwrite --set runtime.gpu=no
  expect yy "where they pay, to step 16" "$gpus" $options $many --overwrite --steps 16
  expect yyyy "where they pay, after a restart" "$gpus" $options $many --restart
}
finish
