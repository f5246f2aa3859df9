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

# A ball in empty space. Batches of one group give each process a share of each level.
cat >ball.ini <<END
[run]
system = gas
[ic]
source = collapse
[gas]
root = 32, 16, 16
x_low = outflow
x_high = outflow
y_low = outflow
y_high = outflow
z_low = outflow
z_high = outflow
levels = 2
flag_density = 0.5, 0.98
buffer = 1
regrid = 1
batch = 1
gravity = self
[time]
end = 0.3
[output]
checkpoint_minutes = 1e-6
END

# A periodic wave, which is refined where it is dense.
cat >wave.ini <<END
[run]
system = gas
[ic]
source = jeans
amplitude = 0.3
direction = y
[gas]
precision = double
root = 16, 32, 48
levels = 1
flag_density = 1.2
regrid = 2
batch = 1
gravity = self
[time]
end = 0.2
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

run 1 one --steps 3 ball.ini
run 3 three --steps 3 ball.ini
run 4 parts --steps 1 --set runtime.shared_memory=no ball.ini
run 2 parts --restart --steps 3 ball.ini
same one three parts
cut -d, -f6 one/log/timings.csv | sed 1d | sort -u >patches
[ "$(wc -l <patches)" -ge 2 ] && grep -q '16;[0-9]*;[1-9]' patches ||
  complain "the refinement stays as it is: $(cat patches)"

# The control: another potential is seen.
run 1 other --steps 3 --set gas.sibling_relaxations=1 ball.ini
compare one other >/dev/null 2>&1 && complain "other potentials give the same gas"

run 1 wave-one --set time.end=0.02 wave.ini
run 5 wave-five --set time.end=0.02 wave.ini
same wave-one wave-five
"$PYTHON" - <<'END' || complain "another potential in files"
import h5py
import numpy as np

with h5py.File("wave-one/gas_000.hdf5") as one, h5py.File("wave-five/gas_000.hdf5") as five:
    potential = one["GridData/Pote"][()]
    assert np.ptp(potential) > 0 and potential.tobytes() == five["GridData/Pote"][()].tobytes()
END
finish
