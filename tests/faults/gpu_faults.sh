#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Faults of GPUs: a lost device, memory that ends midway, and ranks with and without a GPU in one
# run. Each run ends well with the power spectrum of an undisturbed one, to rounding, or ends with
# one line of error and exit code 1. Needs a GPU; CI has none. A minute or two.
#
#   gpu_faults.sh PROGRAM INJECT     INJECT is the library of inject.c
set -u
program=$(realpath "$1") inject=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME=${STARPU_HOME:-$work} STARPU_SILENT=1
cd "$work" || exit 1
cat >config.ini <<END_OF_CONFIG
[box]
size = 50
npart_side = 64
[ic]
z_init = 49
seed = 5
[time]
z_end = 9
[output]
redshifts = 9
snapshots = no
images = no
[analysis]
fof = no
END_OF_CONFIG

# Largest difference of two power spectra over their values.
difference() {
  awk '/^#/ {next} FNR == NR {p[$1] = $2; next}
    $1 in p && p[$1] > 0 {d = $2 / p[$1] - 1; if (d < 0) d = -d; if (d > most) most = d; n++}
    END {print (n > 0 ? most + 0 : 1)}' "$1/powerspec_000.txt" "$2/powerspec_000.txt"
}

findings=0
# judge NAME CODE: what came of a run whose folder and output have this name
judge() {
  name=$1 code=$2
  lines=$(grep -c '^photons-starpu: error: ' "$name.err")
  verdict=FINDING
  if [ "$code" -eq 0 ]; then
    d=$(difference whole "$name")
    awk "BEGIN {exit !($d <= 1e-4)}" && verdict="right (P(k) differs by $d)"
  elif [ "$code" -eq 1 ] && [ "$lines" -eq 1 ] && [ ! -e "$name/powerspec_000.txt" ]; then
    verdict="ended: $(grep '^photons-starpu: error: ' "$name.err")"
  fi
  case $verdict in FINDING) findings=$((findings + 1)) verdict="FINDING (exit code $code)" ;; esac
  echo "$name: $verdict"
  case $verdict in FINDING*) tail -n 12 "$name.err" ;; esac
}
run() { # NAME, then the command
  name=$1
  shift
  timeout -k 5 "${LIMIT:-100}" "$@" "$program" config.ini --quiet --set output.dir="$name" \
    >"$name.out" 2>"$name.err" </dev/null
  judge "$name" $?
}

"$program" config.ini --quiet --set output.dir=whole --set runtime.gpu=require 2>whole.err ||
  { cat whole.err; exit 1; }
run again env
for call in 2000 20000 60000; do
  run "lost-$call" env LD_PRELOAD="$inject" INJECT="cuda_device:$call:always"
  run "call-fails-$call" env LD_PRELOAD="$inject" INJECT="cuda_device:$call"
done
for call in 40 150 400; do
  run "no-memory-$call" env LD_PRELOAD="$inject" INJECT="cuda_memory:$call:always"
  run "no-memory-once-$call" env LD_PRELOAD="$inject" INJECT="cuda_memory:$call"
done
# A GPU with little memory: StarPU moves data to host memory and back.
run little-memory env STARPU_LIMIT_CUDA_MEM=100

# The second of two ranks sees no GPU.
cat >second_without.sh <<'END_OF_SCRIPT'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-0}" = 1 ]; then
  export CUDA_VISIBLE_DEVICES=
fi
exec "$@"
END_OF_SCRIPT
chmod +x second_without.sh
if command -v mpirun >mpirun.path; then
  cores=$(($(nproc) / 2))
  run ranks-bound mpirun -n 2 --map-by slot:pe=$cores --bind-to core ./second_without.sh
  run ranks-unbound mpirun -n 2 --bind-to none ./second_without.sh
  run ranks-one-gpu mpirun -n 2 --bind-to none
fi
echo "findings: $findings"
[ "$findings" -eq 0 ]
