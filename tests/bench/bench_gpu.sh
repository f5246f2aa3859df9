#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What docs/results/performance-gpu.md reports of GPUs: the rate of direct forces on real lists,
# steps from early to late times on one GPU and several, by one process and by one a GPU, and a
# whole run. With SECTION..., only these. About 15 minutes on one H200; nothing without a GPU.
#
#   bench_gpu.sh [kernels] [first] [steps] [processes] [whole]
set -euo pipefail
program=$(realpath "${PHOTONS:-./photons-starpu}")
here=$(dirname "$program")
cd "$(dirname "$0")/../.." # to params/
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
[ "${gpus:-0}" -gt 0 ] || { echo "skipped: no GPU"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME=${STARPU_HOME:-$work} STARPU_SILENT=1
[ $# -gt 0 ] || set -- kernels first steps processes whole

cat >"$work/generate.ini" <<END
[box]
size = 100
npart_side = ${PHOTONS_BENCH_SIDE:-512}
[ic]
z_init = 20
[time]
step = fixed
steps = 60
[output]
snapshots = no
power_spectrum = no
images = no
[analysis]
fof = no
[runtime]
gpu = require
END

# table FOLDER: steps at some redshifts from the run's timings; shares of the time that GPUs and
# workers idle
table() {
  awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; split("19 10 5 3 2 1 0.5 0.2 0.05 0", at, " "); k = 1; next}
    $(column["step"]) > 0 && k in at && $(column["z"]) <= at[k] + 1e-6 {
      printf "%-24s z %5.2f  %7.4f s  %.2e pairs/s  GPU idle %4.1f %%  imbalance %4.1f %%%s\n", name, $(column["z"]), $(column["wall_s"]),
        $(column["p2p_pairs"]) / $(column["wall_s"]), 100 * $(column["gpu_idle_share"]), 100 * $(column["imbalance"]),
        $(column["rebuilt"]) >= 1 ? "  rebuilt" : $(column["sorted"]) >= 1 ? "  sorted" : ""
      while (k in at && $(column["z"]) <= at[k] + 1e-6) k++
    }' "$work/$1/log/timings.csv"
}

# total FOLDER COMMAND...: with its wall time
total() {
  local folder=$1 start
  shift
  start=$(date +%s.%N)
  "$@" --set output.dir="$work/$folder" --quiet
  awk -v from="$start" -v to="$(date +%s.%N)" -v name="$folder" 'BEGIN {printf "%-24s %.1f s in all\n", name, to - from}'
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for section; do
  echo "-- $section"
  case $section in
    kernels) # pairs/s of the kernels, on 256^3 particles at z = 0
      total clustered "$program" "$work/generate.ini" --set box.npart_side=256 --set output.snapshots=yes
      table clustered
      "$here/tests/gpu/cuda_bench" "$work/clustered/snapshot_000.hdf5" kernels gravity.softening=13
      ;;
    first) # the first steps of the paper's run
      total first "$program" params/paper_512.ini --steps 10
      awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; next} $1 > 0 {printf "%.3f ", $(column["wall_s"]); sum += $(column["wall_s"]); n++}
        END {printf "mean %.3f s\n", sum / n}' "$work/first/log/timings.csv"
      ;;
    steps) # by one process
      for ((n = 1; n <= gpus; n *= 2)); do
        total "gpus-$n" env STARPU_NCUDA=$n "$program" "$work/generate.ini"
        table "gpus-$n"
      done
      ;;
    processes) # a GPU each
      for ((n = 2; n <= gpus; n *= 2)); do
        total "processes-$n" mpirun --allow-run-as-root --bind-to none -n $n "$program" "$work/generate.ini"
        table "processes-$n"
      done
      ;;
    whole) total whole "$program" params/paper_256.ini --set analysis.fof=no && table whole ;;
    *) echo "unknown section '$section'" >&2 && exit 2 ;;
  esac
done
