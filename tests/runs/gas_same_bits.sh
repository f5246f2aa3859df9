#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas has the same bits with any number of workers, any scheduler, any size of batches, any number of homes
# and any division into tasks, and when the run is stopped by a signal and goes on from its checkpoint.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy

cat >config.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
scalars = 2
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
times = 0.022, 0.04
images = no
END

STARPU_NCPU=1 STARPU_SCHED=eager run reference config.ini
STARPU_NCPU=2 STARPU_SCHED=lws run workers config.ini
STARPU_NCPU=2 STARPU_SCHED=random run batches config.ini --set gas.batch=3 --set gas.fused=no --set gas.homes=2
# In parts. Later ones begin after the first output, which is at step 4.
part=
for steps in 1 4 5 100; do
  run parts config.ini $part --steps $steps --set output.checkpoint_minutes=1e-6
  part=--restart
done
# A signal.
"$PHOTONS" --quiet --set output.dir=signal config.ini 2>err &
pid=$!
until_true test -s signal/log/statistics.csv
kill -TERM $pid
wait $pid
code=$?
if [ $code -ne 0 ]; then # otherwise it came too late
  [ $code -eq 143 ] || complain "SIGTERM: exit code $code"
  run signal config.ini --restart
fi
same gas_001.hdf5 64 reference workers batches parts signal
finish
