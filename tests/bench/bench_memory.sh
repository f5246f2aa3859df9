#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Peak memory in bytes a particle with one mesh, all of the program included: forces, potential energies,
# rebuilds, an output with all products, block time steps; both choices of runtime.memory; and what
# --dry-run foretells. bench_memory.sh [SIDE...]: numbers of particles (default 128 256).
set -euo pipefail
program=${PHOTONS:-./photons-starpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME=${STARPU_HOME:-$work} STARPU_SILENT=1
cat >"$work/config.ini" <<INI
[gravity]
pm_grid_most = 8
[ic]
z_init = 49
[time]
step = fixed
steps = 2
z_end = 47
[output]
snapshots = no
power_spectrum = no
images = no
energy_steps = 0
redshifts = 47
[analysis]
fof = no
INI
# peak SIDE ARGUMENT...: bytes a particle, and in brackets what --dry-run foretells
peak() {
  local side=$1 foretold used
  shift
  rm -rf "$work/out"
  set -- "$work/config.ini" --set box.npart_side="$side" --set box.size="$side" --set output.dir="$work/out" "$@"
  foretold=$("$program" --dry-run "$@" | awk '/^  memory / {print $3}')
  "$program" --quiet "$@"
  used=$(awk '/^peak memory / {print $3}' "$work/out/log/run.log")
  awk -v n="$side" -v used="$used" -v foretold="$foretold" \
    'BEGIN {printf " %7.1f (%.1f)", 1e6 * used / n ^ 3, 1e6 * foretold / n ^ 3}'
}
echo 'bytes a particle (foretold): forces, energies, rebuilds, an output, block time steps'
[ $# -gt 0 ] || set -- 128 256
for n; do
  for memory in fast small; do
    printf '%4d^3 %-5s' "$n" $memory
    peak "$n" --set runtime.memory=$memory
    peak "$n" --set runtime.memory=$memory --set output.energy_steps=1
    peak "$n" --set runtime.memory=$memory --set runtime.rebuild_interval=1
    peak "$n" --set runtime.memory=$memory --set output.power_spectrum=yes --set output.images=yes --set analysis.fof=yes
    peak "$n" --set runtime.memory=$memory --set time.step=block
    echo
  done
done
