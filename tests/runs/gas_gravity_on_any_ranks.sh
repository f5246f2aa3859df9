#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas that attracts itself has the same bits on any number of processes, with shared memory or without,
# in periodic and in empty space, while levels come and go; also from a checkpoint of another number of
# processes, and with more processes than patch groups. The potential in files is the same, too.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
STARPU_NCPU=1 # of each process
export STARPU_NCPU
need_mpi

# A blast in a periodic box, whose dense shell is refined as it forms. Batches of one group give each
# process a share of each level.
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
gravity = self
[time]
end = 0.3
[output]
checkpoint_minutes = 1e-6
END

# A ball in empty space, with a root level of one group.
cat >ball.ini <<END
[run]
system = gas
[ic]
source = collapse
[gas]
root = 16, 16, 16
x_low = outflow
x_high = outflow
y_low = outflow
y_high = outflow
z_low = outflow
z_high = outflow
levels = 1
flag_density = 0.5
buffer = 1
batch = 1
gravity = self
[time]
end = 0.01
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

compare() { "$PYTHON" "$PHOTONS_SOURCE/tests/runs/gas_same_bits_on_any_ranks.py" "$@"; }

# same REFERENCE OTHER...: the last gas and the statistics of runs
same() {
  compare "$@" || failures=$((failures + 1))
  reference=$1
  shift
  for other; do
    cmp "$reference/log/statistics.csv" "$other/log/statistics.csv" ||
      complain "statistics of $other"
  done
}

run 1 one --steps 4 shell.ini
run 3 three --steps 4 shell.ini
run 3 parts --steps 2 --set runtime.shared_memory=no shell.ini
run 2 parts --restart --steps 4 shell.ini
same one three parts
cut -d, -f6 one/log/timings.csv | sed 1d | sort -u >patches
[ "$(wc -l <patches)" -ge 3 ] && grep -q '16;64;192' patches ||
  complain "the refinement stays as it is: $(cat patches)"

run 1 ball-one ball.ini
run 4 ball-four ball.ini
same ball-one ball-four
"$PYTHON" - <<'END' || complain "another potential in files"
import h5py
import numpy as np

with h5py.File("ball-one/gas_000.hdf5") as one, h5py.File("ball-four/gas_000.hdf5") as four:
    potential = one["GridData/Pote"][()]
    assert np.ptp(potential) > 0 and potential.tobytes() == four["GridData/Pote"][()].tobytes()
END

# The control: another potential gives other gas.
run 1 other --set gas.sibling_relaxations=2 ball.ini
compare ball-one other >/dev/null 2>&1 && complain "other potentials give the same gas"
finish
