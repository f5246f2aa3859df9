#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Friends of friends and halos on several processes: the test of theirs passes, and halos are those of one process bit by bit.
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 77; }
OMPI_MCA_hwloc_base_binding_policy=none # all else is set for every test
export OMPI_MCA_hwloc_base_binding_policy
tests=$(cd "$(dirname "${PHOTONS:-./photons-starpu}")" && pwd)/tests
folder=$(mktemp -d "${TMPDIR:-/tmp}/photons-test-XXXXXX") || exit 99
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 99

# run NAME NUMBER COMMAND...: what is printed goes to NUMBER.
run() {
  name=$1 number=$2
  shift 2
  timeout 300 "$@" >"$number" 2>&1 || { cat "$number"; echo "$name failed on $number processes"; exit 1; }
}

# halos NUMBER: their checksums
halos() { grep '^checksum halos' "$1" | sort -u; }

run test_halos 1 env STARPU_NCPU=1 "$tests/unit/test_halos"
[ -n "$(halos 1)" ] || { echo "no checksums"; exit 1; }
for processes in 2 3 4 7; do
  run test_fof $processes mpirun -n $processes "$tests/unit/test_fof"
  run test_halos $processes mpirun -n $processes "$tests/unit/test_halos"
  [ "$(halos $processes)" = "$(halos 1)" ] || { echo "$processes processes find other halos than one"; exit 1; }
  echo "$processes processes find the halos of one: $(halos 1 | wc -l) catalogues"
done
