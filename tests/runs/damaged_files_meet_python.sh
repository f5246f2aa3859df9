#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The Python readers and tools meet damaged files of a universe, a galaxy and gas: they take a file or
# end with one line, never with a traceback.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy matplotlib
STARPU_NCPU=1
export STARPU_NCPU

cat >universe.ini <<END
[box]
size = 25
npart_side = 16
[time]
z_end = 0
step = fixed
steps = 24
[analysis]
min_members = 10
[output]
redshifts = 1, 0
image_pixels = 64
[runtime]
trace_steps = 2:3
END
cat >galaxy.ini <<END
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
model = plummer
particles = 300
[gravity]
softening = 0.5
[time]
end = 2
[output]
interval = 1
images = no
END
cat >gas.ini <<END
[run]
system = gas
[gas]
root = 16,16,16
x_low = outflow
x_high = outflow
[ic]
source = sod
[time]
end = 0.02
[output]
interval = 0.02
images = no
END
# StarPU may lack FxT, which the program says.
timeout "$(seconds 120)" "$PHOTONS" --quiet --set output.dir=universe universe.ini 2>err || complain "the run"
run galaxy galaxy.ini
run gas gas.ini
[ $failures -eq 0 ] || finish
helper "${DAMAGED_FILES:-600}" "${DAMAGED_TOOLS:-6}" universe galaxy gas >err 2>&1 ||
  complain "$(tail -n 20 err)"
finish
