#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How the program grows on one node: particles in a box, an isolated galaxy, and gas on a uniform mesh, on
# levels, and with self-gravity, by numbers of GPUs, of processes, and of CPU workers. Of particles the
# figures are seconds, of gas cell updates a second; `end` is how long the process goes on after its last
# step. The column `default` has what the program takes by itself.
#
#   bench_node.sh [small] [gpus] [processes] [workers] [cores]
#
# gpus: one process and 1, 2, 4 ... GPUs. processes: one for each GPU. workers: one GPU and some numbers
# of CPU workers. cores: no GPU and some numbers of CPU workers. Sizes are for GPUs of 80 GB, and for 16
# cores or more; with `small`, or fewer cores, the section cores takes some minutes on two.
set -euo pipefail
program=$(realpath "${PHOTONS:-./photons-starpu}")
cd "$(dirname "$0")/../.." # to params/
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME=${STARPU_HOME:-$work} STARPU_SILENT=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
cores=$(nproc)
small=no
[ "$cores" -ge 16 ] || small=yes
[ "${1:-}" != small ] || { small=yes && shift; }
if [ $# -eq 0 ]; then
  [ "${gpus:-0}" -eq 0 ] || set -- gpus processes workers
  set -- "$@" cores
fi

cat >"$work/box.ini" <<END
[output]
snapshots = no
power_spectrum = no
images = no
[analysis]
fof = no
END

# sizes BOX STEPS PARTICLES MYR ROOT LEVEL_ROOT LEVELS: the file and the parameters of each problem
declare -A problem
sizes() {
  problem[box]="$work/box.ini --set box.size=100 --set box.npart_side=$1 --set ic.z_init=20
    --set time.step=fixed --set time.steps=$2 --set output.redshifts=0"
  problem[m31]="params/galaxy/m31.ini --set galaxy.particles=$3 --set time.end=$4 --set output.interval=$4
    --set output.energy_steps=0"
  problem[uniform]="params/gas/blast.ini --steps 20 --set gas.root=$5,$5,$5 --set gas.levels=0"
  problem[jeans]="params/gas/jeans.ini --steps 12 --set gas.root=$5,$5,$5 --set gas.levels=0
    --set gas.precision=single"
  problem[blast]="params/gas/blast.ini --steps 20 --set gas.root=$6,$6,$6 --set gas.levels=$7"
}
large_sizes() { sizes 512 60 8388608 2.5 512 128 3; }
medium_sizes() { sizes 128 24 1048576 2.5 256 64 3; }
small_sizes() { sizes 32 24 16384 1 32 32 2; }

# measure PROBLEM COMMAND...: the mean of the first six and of the last four steps of a box, all steps of a
# galaxy, the median rate of gas; and the time from the last step to the end of the process.
measure() {
  local name=$1 ended
  shift
  rm -rf "$work/out"
  # shellcheck disable=SC2086
  "$@" "$program" --quiet ${problem[$name]} --set output.dir="$work/out" --set output.images=no >"$work/log" 2>&1 ||
    { echo "failed: $(tail -n 1 "$work/log")" && return; }
  ended=$(date +%s.%N)
  tail -n +3 "$work/out/log/timings.csv" >"$work/steps"
  awk -F, -v name="$name" -v median="$(cut -d, -f5 "$work/steps" | sort -g | awk '{rate[NR] = $1} END {print rate[int((NR + 1) / 2)]}')" \
    -v late="$(awk -v now="$ended" -v then="$(stat -c %.Y "$work/out/log/timings.csv")" 'BEGIN {print now - then}')" '
    NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i}
    NR > 2 {wall[++n] = $(column["wall_s"]); all += wall[n]}
    END {
      if (name == "box") {
        for (i = 1; i <= 6; i++) first += wall[i] / 6
        for (i = n - 3; i <= n; i++) last += wall[i] / 4
        printf "%.3f / %.3f / %.1f s", first, last, all
      } else if (name == "m31") printf "%.2f s", all
      else printf "%.2e /s", median
      printf ", end %.1f", late
    }' "$work/out/log/timings.csv"
}

# table TITLE COLUMN...: a row for each problem. A column is NAME:COMMAND.
table() {
  local title=$1 column name
  shift
  printf '\n| %s |' "$title"
  for column; do printf ' %s |' "${column%%:*}"; done
  printf '\n|'
  for column in "" "$@"; do printf ' --- |'; done
  for name in box m31 uniform blast jeans; do
    printf '\n| %s |' "$name"
    for column; do
      # shellcheck disable=SC2086
      printf ' %s |' "$(measure $name ${column#*:})"
    done
  done
  echo
}

# counts FROM TO: FROM, 2 FROM, 4 FROM ... up to TO
counts() { for ((n = $1; n <= $2; n *= 2)); do echo $n; done; }

grep -m1 'model name' /proc/cpuinfo || true
echo "$cores cores, ${gpus:-0} GPUs"
[ "${gpus:-0}" -eq 0 ] || nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c
for section; do
  columns=()
  if [ $small = yes ]; then small_sizes; elif [ "$section" = cores ]; then medium_sizes; else large_sizes; fi
  case $section in
    gpus) for n in $(counts 1 "$gpus"); do columns+=("$n GPUs:env STARPU_NCUDA=$n"); done ;;
    processes) for n in $(counts 2 "$gpus"); do columns+=("$n x 1 GPU:mpirun --bind-to none -n $n"); done ;;
    workers)
      columns=("default:env STARPU_NCUDA=1")
      for n in $(counts 4 "$((cores - 6))"); do columns+=("$n workers:env STARPU_NCUDA=1 STARPU_NCPU=$n"); done
      ;;
    cores)
      columns=("default:env STARPU_NCUDA=0")
      for n in $(counts "$([ "$cores" -lt 16 ] && echo 1 || echo 4)" "$cores"); do columns+=("$n workers:env STARPU_NCUDA=0 STARPU_NCPU=$n"); done
      ;;
    *) echo "unknown section '$section'" >&2 && exit 2 ;;
  esac
  [ ${#columns[@]} -eq 0 ] || table "$section" "${columns[@]}"
done
