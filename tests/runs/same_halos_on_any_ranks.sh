#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Friends of friends, halos and merger trees on several processes: their tests pass, and the halos are
# those of one process bit by bit.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_mpi
OMPI_MCA_hwloc_base_binding_policy=none # all else is set for every test
export OMPI_MCA_hwloc_base_binding_policy

# run NAME NUMBER COMMAND...: what is printed goes to NUMBER.
run() {
  name=$1 number=$2
  shift 2
  timeout "$(seconds 300)" "$@" >"$number" 2>&1 || {
    cat "$number"
    echo "FAILED: $name on $number processes"
    exit 1
  }
}

# halos NUMBER: their checksums
halos() { grep '^checksum halos' "$1" | sort -u; }

run test_halos 1 env STARPU_NCPU=1 "$unit_tests/analysis/test_halos"
[ -n "$(halos 1)" ] || { echo "no checksums"; exit 1; }
STARPU_NCPU=1 # of each process
export STARPU_NCPU
for processes in 2 3 7; do
  run test_fof $processes mpirun -n $processes "$unit_tests/analysis/test_fof"
  run test_trees $processes mpirun -n $processes "$unit_tests/analysis/test_trees"
  run test_halos $processes mpirun -n $processes "$unit_tests/analysis/test_halos"
  [ "$(halos $processes)" = "$(halos 1)" ] ||
    complain "$processes processes find other halos than one"
  echo "$processes processes: $(halos $processes | wc -l) catalogues"
done

finish
