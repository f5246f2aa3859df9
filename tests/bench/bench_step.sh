#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whole steps: speed, idle share and memory at early and late times, one core and two, each
# instruction set, three sizes. Runs about 10 minutes on two cores; `bench_step.sh quick` leaves out
# 256^3.
set -euo pipefail
program=${PHOTONS:-./photons-starpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME=${STARPU_HOME:-$work} STARPU_SILENT=1
cores=$(nproc)

# config NAME: common settings; further ones follow with --set
cat >"$work/generate.ini" <<INI
[box]
size = 100
npart_side = 128
[ic]
z_init = 49
power_spectrum = eh98
[time]
step = fixed
steps = 256
[output]
snapshots = no
power_spectrum = no
images = no
redshifts = 0
INI

# bench TITLE CORES STEPS CONFIG [--set ...]: the median step of a run, the first force computation
# left out
bench() {
  local title=$1 ncpu=$2 steps=$3 config=$4
  shift 4
  rm -rf "$work/out"
  STARPU_NCPU=$ncpu "$program" --quiet --steps "$steps" "$config" --set output.dir="$work/out" "$@"
  local mesh particles
  mesh=$("$program" --dry-run "$config" "$@" | awk '/memory/ {for (i = 1; i < NF; i++) if ($i == "mesh") {print 1e6 * $(i + 1); exit}}')
  sort -t, -k5,5g <(awk -F, 'NR > 2' "$work/out/log/timings.csv") | awk -F, -v title="$title" -v ncpu="$ncpu" -v mesh="$mesh" \
    -v p2p="$(head -1 "$work/out/log/timings.csv" | tr , '\n' | grep -n '^p2p_s$' | cut -d: -f1)" '
    {wall[NR] = $5; rate[NR] = $6; pairs[NR] = $7; idle[NR] = $11; rss[NR] = $13; kernel[NR] = $p2p}
    END {
      m = int((NR + 1) / 2); n = rate[m] * wall[m]
      printf "%-42s %d  %8.3f %9.0f %8.0f %7.2f %6.1f %7.0f %7.0f\n", title, ncpu, wall[m], rate[m] / ncpu / 1e3, pairs[m] / n,
        pairs[m] / kernel[m] / 1e9, 100 * idle[m], rss[NR] / n, (rss[NR] - mesh) / n
    }'
}

grep -m1 'model name' /proc/cpuinfo || true
printf '%-42s %s  %8s %9s %8s %7s %6s %7s %7s\n' run cores 's/step' 'k/s/core' 'pairs/p' 'Gpair/s' 'idle%' 'B/p' '-mesh'
generate=$work/generate.ini
bench "128^3 z=49" 1 5 "$generate"
bench "128^3 z=49" "$cores" 5 "$generate"
bench "128^3 z=49, mesh 160" 1 5 "$generate" --set gravity.pm_grid=160
bench "128^3 z=49, accuracy = high" 1 3 "$generate" --set gravity.accuracy=high
STARPU_NCPU=$cores "$program" --quiet "$generate" --set output.dir="$work/evolve" --set output.snapshots=yes --set output.redshifts=1,0.1
for output in 000:1 001:0.1; do
  z=${output#*:}
  cat >"$work/late.ini" <<INI
[ic]
source = gadget
file = $work/evolve/snapshot_${output%:*}.hdf5
[gravity]
softening = 26.0417
[time]
step = fixed
steps = 48
[output]
snapshots = no
power_spectrum = no
images = no
redshifts = 0
INI
  bench "128^3 z=$z" 1 5 "$work/late.ini"
  bench "128^3 z=$z" "$cores" 5 "$work/late.ini"
  bench "128^3 z=$z, mesh 160" 1 5 "$work/late.ini" --set gravity.pm_grid=160
done
for isa in avx512 avx2 baseline; do
  PHOTONS_ISA=$isa bench "128^3 z=0.1, $isa" 1 3 "$work/late.ini" || true
done
bench "64^3 z=49 in 50 Mpc/h" 1 9 "$generate" --set box.npart_side=64 --set box.size=50
[ "${1:-}" = quick ] || bench "256^3 z=49 in 200 Mpc/h" 1 3 "$generate" --set box.npart_side=256 --set box.size=200
