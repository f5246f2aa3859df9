#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Friends of friends and halos on several processes: the test of theirs passes, and halos are those of one process bit by bit.
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 77; }
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_hwloc_base_binding_policy=none
STARPU_WORKERS_NOBIND=1 STARPU_MPI_NOBIND=1 STARPU_SILENT=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_hwloc_base_binding_policy STARPU_WORKERS_NOBIND STARPU_MPI_NOBIND STARPU_SILENT
test=$(cd "$(dirname "${PHOTONS:-./photons-starpu}")" && pwd)/tests/test_fof
folder=$(mktemp -d "${TMPDIR:-/tmp}/photons-test-XXXXXX") || exit 99
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 99

# run NUMBER COMMAND...: checksums of the halos go to NUMBER.
run() {
  number=$1
  shift
  timeout 300 "$@" >log 2>&1 || { cat log; echo "test_fof failed on $number processes"; exit 1; }
  grep '^checksum halos' log | sort -u >"$number"
  [ -s "$number" ] || { echo "no checksums on $number processes"; exit 1; }
}

run 1 env STARPU_NCPU=1 "$test"
for processes in 2 3 4 7; do
  run $processes mpirun -n $processes "$test"
  cmp 1 $processes || { echo "$processes processes find other halos than one"; exit 1; }
  echo "$processes processes find the halos of one: $(wc -l <$processes) catalogues"
done
