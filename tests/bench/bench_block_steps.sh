#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Block time steps against adaptive global ones at the same time.eta, in turn on one machine: wall
# time, pairs, and how far their power spectra differ. What docs/results/block-steps.md reports.
# Minutes on two cores.
#
#   bench_block_steps.sh [OPTION...]     options for both runs, such as --set box.npart_side=128
set -euo pipefail
program=$(realpath "${PHOTONS:-./photons-starpu}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME=${STARPU_HOME:-$work} STARPU_SILENT=1
cd "$work"
cat >config.ini <<END
[box]
size = 50
npart_side = 64
[ic]
z_init = 49
seed = 5
[output]
redshifts = 3, 1, 0
snapshots = no
images = no
END

for kind in adaptive block; do
  "$program" config.ini --quiet --set time.step=$kind --set output.dir=$kind "$@"
  awk -F, -v kind=$kind 'NR > 1 {wall += $5; pairs += $7}
    END {printf "%-10s %5d steps  %7.1f s  %.3e pairs\n", kind, NR - 2, wall, pairs}' $kind/log/timings.csv
done
echo "power, block/adaptive - 1, mean of the bins below the given multiples of the particles' Nyquist wave number"
for output in 000 001 002; do
  awk -v nyquist="$(awk -F' *= *' '$1 == "size" {size = $2} $1 == "npart_side" {side = $2}
      END {print 3.14159265 * side / size}' block/config-used.ini)" '
    BEGIN {n = split("0.25 0.5 0.75 1 2 4", edge, " ")}
    /^#/ {if (match($0, /z = [0-9.e+-]+/)) z = substr($0, RSTART, RLENGTH); next}
    FNR == NR {power[$1] = $2; next}
    ($1 in power) && power[$1] > 0 {for (i = 1; i <= n; i++) if ($1 <= edge[i] * nyquist) {sum[i] += $2 / power[$1] - 1; bins[i]++; break}}
    END {printf "%-10s", z; for (i = 1; i <= n; i++) if (bins[i]) printf "  %s: %9.2e", edge[i], sum[i] / bins[i]; print ""}
  ' adaptive/powerspec_$output.txt block/powerspec_$output.txt
done
