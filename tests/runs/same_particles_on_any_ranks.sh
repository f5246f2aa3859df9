#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Mesh transforms and initial conditions on several processes: the tests of theirs pass, and particles are those of one process bit by bit.
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 77; }
OMPI_MCA_hwloc_base_binding_policy=none # all else is set for every test
export OMPI_MCA_hwloc_base_binding_policy
tests=$(dirname "${PHOTONS:-./photons-starpu}")/tests
folder=$(mktemp -d "${TMPDIR:-/tmp}/photons-test-XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

# run NAME NUMBER COMMAND...: its checksums go to NUMBER.
run() {
  name=$1 number=$2
  shift 2
  timeout 120 "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; echo "$name failed on $number processes"; exit 1; }
  grep '^checksum' "$folder/log" >"$folder/$number" || { echo "$name printed no checksums on $number processes"; exit 1; }
}

for name in test_slab_fft test_ic test_gadget; do
  run $name 1 env STARPU_NCPU=2 "$tests/unit/$name"
  for processes in 2 3; do
    run $name $processes env STARPU_NCPU=1 mpirun -n $processes "$tests/unit/$name"
    # one process does some more tests after those
    head -n "$(wc -l <"$folder/$processes")" "$folder/1" | cmp - "$folder/$processes" ||
      { echo "$name: $processes processes give other numbers than one"; exit 1; }
    echo "$name: $(wc -l <"$folder/$processes") checksums of $processes processes are those of one"
  done
done
