#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fourier transforms, waves and spectra of gas, initial conditions and groups on several processes:
# their tests pass, and the results are those of one process bit by bit.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_mpi
OMPI_MCA_hwloc_base_binding_policy=none # all else is set for every test
export OMPI_MCA_hwloc_base_binding_policy

# run NAME NUMBER COMMAND...: its checksums go to NUMBER.
run() {
  name=$1 number=$2
  shift 2
  timeout "$(seconds 120)" "$@" >err 2>&1 || complain "$name on $number processes"
  grep '^checksum' err >"$number" || complain "$name on $number processes: no checksums"
}

for name in fft/test_fft gas/test_gas_waves ic/test_ic io/test_gadget domain/test_groups; do
  case $name in
  fft/*) numbers='2 3 4 9 12' ;; # of 6^3 and 2^3 cells, too
  gas/*) numbers='2 3 4' ;;
  *) numbers='2 3' ;;
  esac
  run $name 1 env STARPU_NCPU=2 "$unit_tests/$name"
  for processes in $numbers; do
    run $name $processes env STARPU_NCPU=1 mpirun -n $processes "$unit_tests/$name"
    # one process does some more tests after those
    head -n "$(wc -l <"$processes")" 1 | cmp - "$processes" ||
      complain "$name: $processes processes give other numbers than one"
    echo "$name on $processes processes: $(wc -l <"$processes") checksums"
  done
done

finish
