#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whole steps of gas on one core: a uniform mesh, a blast with refinement, and sizes of batches. Of
# each run the fastest step, in millions of cell updates a second, and the shares of the stages.
# `bench_gas_steps.sh quick` leaves out the sizes of batches.
set -eu
program=${PHOTONS:-./photons-starpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME="${STARPU_HOME:-$work}" STARPU_SILENT=1 STARPU_NCPU=1

cat >"$work/blast.ini" <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 64, 64, 64
flag_gradient_pressure = 0.3
buffer = 4
[time]
end = 1
[output]
images = no
END

# bench TITLE STEPS [--set ...]
bench() {
  title=$1 steps=$2
  shift 2
  rm -rf "$work/out"
  "$program" --quiet --steps "$steps" "$work/blast.ini" --set output.dir="$work/out" "$@"
  awk -F, -v title="$title" '
    NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i }
    NR > 2 {
      if ($5 > best) best = $5
      for (i = 1; i <= NF; i++) if (name[i] ~ /^gas_.*_s$/) { sum[i] += $i; all += $i }
    }
    END {
      printf "%-34s %6.2f ", title, 1e-6 * best
      for (i = 1; i <= NF; i++) if (sum[i] >= 0.005 * all) {
        stage = name[i]
        gsub(/^gas_|_s$/, "", stage)
        printf " %s %.1f%%", stage, 100 * sum[i] / all
      }
      print ""
    }' "$work/out/log/timings.csv"
}

grep -m1 'model name' /proc/cpuinfo || true
echo "run                                10^6/s  shares"
for solver in rtvd muscl; do
  bench "$solver, uniform 64^3" 6 --set gas.solver=$solver --set gas.levels=0
  for levels in 2 3 4; do
    bench "$solver, 64^3 + $levels levels" $((10 - 2 * levels)) --set gas.solver=$solver \
      --set gas.levels=$levels
  done
done
[ "${1:-}" = quick ] && exit
for batch in 1 2 4 8 16 64; do
  bench "rtvd, 64^3 + 2 levels, batch $batch" 6 --set gas.solver=rtvd --set gas.levels=2 \
    --set gas.batch=$batch
done
for batch in 1 4 16; do
  bench "rtvd, the same, not fused, batch $batch" 6 --set gas.solver=rtvd --set gas.levels=2 \
    --set gas.batch=$batch --set gas.fused=no
done
