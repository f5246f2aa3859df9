#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How fine the mesh of a run on GPUs, here emulated ones, may become follows from their memory, and that of a run
# without them from the host's. A dry run says the same of GPUs as the run, and nothing of GPUs that the run does not use.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1 CORES_GPUS=1
export STARPU_NCPU STARPU_NWORKER_PER_CUDA CORES_GPUS
cat >config.ini <<END
[box]
size = 12
npart_side = 32
[ic]
z_init = 24
[time]
z_end = 20
step = fixed
steps = 1
[output]
snapshots = no
power_spectrum = no
images = no
[analysis]
fof = no
END
# finest CELLS MEGABYTES OPTION...: a dry run says that the mesh may have up to CELLS a side (0: one mesh) with
# GPUs of so much memory (0: as they are)
finest() {
  cells=$1 megabytes=$2
  shift 2
  STARPU_LIMIT_CUDA_MEM=$megabytes "$PHOTONS" --dry-run config.ini "$@" >out 2>err || complain "a dry run: $*"
  found=$(sed -n 's/^  mesh .*; later at most \([0-9]*\)^3.*/\1/p' out)
  [ "${found:-0}" = "$cells" ] || complain "at most ${found:-0}^3 cells, not $cells^3, with $megabytes MB: $*"
}
finest 64 0
finest 64 30
finest 48 16
finest 0 8
finest 0 0 --set gravity.pm_grid=32
finest 0 0 --set gravity.pm_grid_most=32
finest 48 0 --set gravity.pm_grid_most=48
finest 64 8 --set runtime.gpu=no
grep -q 'on GPUs' out && complain "memory of GPUs that are not used"
"$PHOTONS" --quiet config.ini --set output.dir=run >err 2>&1 || complain "a run"
grep -q 'later at most 64^3' run/log/run.log || complain "the run does not say what the dry run says"
finish
