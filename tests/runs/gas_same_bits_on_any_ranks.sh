#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas has the same bits on any number of processes, with shared memory or without, while levels come
# and go and with them the processes' shares of these; also with more processes than patch groups,
# and from a checkpoint of another number of processes. Mass, momentum and energy are conserved.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
STARPU_NCPU=1 # of each process
export STARPU_NCPU
need_mpi

# A blast whose dense shell is refined as it forms. Batches of one group give each process a share of
# each level.
cat >shell.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
solver = rtvd
precision = double
root = 32, 16, 16
length = 1
levels = 2
flag_density = 1.01, 1.2
buffer = 1
regrid = 2
batch = 1
[time]
end = 0.3
[output]
checkpoint_minutes = 1e-6
END

# A blast that meets the boundaries of a root level of one group.
cat >boundary.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 16, 16, 16
length = 1
levels = 2
flag_gradient_pressure = 1, 1.5
buffer = 1
regrid = 1
x_low = reflecting
x_high = outflow
[time]
end = 0.04
[output]
checkpoint_minutes = 1e-6
END

# run PROCESSES FOLDER ARGUMENT...
run() {
  processes=$1 folder=$2
  shift 2
  set -- "$PHOTONS" --quiet --set output.dir="$folder" "$@"
  [ "$processes" -eq 1 ] || set -- mpirun --oversubscribe --bind-to none -n "$processes" "$@"
  timeout 60 "$@" >out 2>&1
  code=$?
  [ $code -eq 0 ] && [ ! -s out ] ||
    complain "$folder on $processes processes: exit code $code, $(cat out)"
}

# same REFERENCE OTHER...: the last gas and the statistics of runs
same() {
  helper "$@" || failures=$((failures + 1))
  reference=$1
  shift
  for other; do
    cmp "$reference/log/statistics.csv" "$other/log/statistics.csv" ||
      complain "statistics of $other"
  done
}

run 1 one --steps 4 shell.ini
run 3 three --steps 4 shell.ini
run 4 parts --steps 2 --set runtime.shared_memory=no shell.ini
run 2 parts --restart --steps 4 shell.ini
same one three parts

cut -d, -f6 one/log/timings.csv | sed 1d | sort -u >patches
[ "$(wc -l <patches)" -ge 3 ] && grep -q '16;64;192' patches ||
  complain "the refinement stays as it is: $(cat patches)"
awk -F, 'NR == 2 { mass = $3; energy = $7 }
  function apart(x, y) { return x - y > 1e-12 * y || y - x > 1e-12 * y }
  NR > 2 && (apart($3, mass) || apart($7, energy)) { print; lost = 1 }
  END { exit lost || NR < 5 }' one/log/statistics.csv || complain "mass or energy is not conserved"

run 1 boundary-one --steps 2 boundary.ini
run 4 boundary-four --steps 2 boundary.ini
same boundary-one boundary-four
finish
