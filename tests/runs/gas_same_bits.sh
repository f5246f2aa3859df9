#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas has the same bits with any number of workers, any scheduler, any size of batches and any
# division into tasks, and when the run is stopped by a signal and goes on from its checkpoint.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

cat >config.ini <<END
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
regrid = 2
x_low = reflecting
x_high = outflow
[time]
end = 0.04
[output]
images = no
END

# same FOLDER [OTHER]: the last gas of two runs, and their statistics
same() {
  "$PYTHON" - "${2:-reference}/gas_000.hdf5" "$1/gas_000.hdf5" <<'END' || complain "$1: other gas"
import sys
import h5py
with h5py.File(sys.argv[1]) as one, h5py.File(sys.argv[2]) as other:
    assert len(one["Tree/Corner"]) > 64, "nothing is refined"
    for name in ("Tree/Corner", *(f"GridData/{field}" for field in one["GridData"])):
        assert one[name][()].tobytes() == other[name][()].tobytes(), name
END
  cmp "${2:-reference}/log/statistics.csv" "$1/log/statistics.csv" || complain "$1: other statistics"
}

# run NAME [OPTION...]
run() {
  timeout 120 "$PHOTONS" --quiet --set output.dir="$@" config.ini 2>err
}

STARPU_NCPU=1 STARPU_SCHED=eager run reference || complain "reference: exit code $?"
STARPU_NCPU=2 STARPU_SCHED=lws run workers || complain "two workers: exit code $?"
same workers
STARPU_NCPU=2 STARPU_SCHED=random run batches --set gas.batch=3 --set gas.fused=no || complain "batches: exit code $?"
same batches

# A step at a time; the end of the run comes with the third.
run parts --steps 1 --set output.checkpoint_minutes=1e-6 || complain "first part: exit code $?"
run parts --restart --steps 4 --set output.checkpoint_minutes=1e-6 || complain "second: exit code $?"
run parts --restart --set output.checkpoint_minutes=1e-6 || complain "third part: exit code $?"
same parts

# A signal.
"$PHOTONS" --quiet --set output.dir=signal config.ini 2>err &
pid=$!
while [ ! -s signal/log/statistics.csv ]; do sleep 0.05; done
kill -TERM $pid
wait $pid
code=$?
if [ $code -ne 0 ]; then # otherwise it came too late
  [ $code -eq 143 ] || complain "SIGTERM: exit code $code"
  run signal --restart || complain "after the signal: exit code $?"
fi
same signal
finish
