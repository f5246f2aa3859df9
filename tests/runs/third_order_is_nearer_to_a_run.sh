#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Particles that 3LPT displaces at once are nearer to those of a run that began early than those of 2LPT, and
# ranks change no bit.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi

# Waves of up to three fundamental modes, which the particles sample well.
"$PYTHON" -c '
for i in range(41):
    k = 2 * 3.141592653589793 / 100 * (0.9 + i / 40 * 2.6)
    print(f"{k:.15g} 3000")' >waves.txt
cat >config.ini <<'END'
[cosmology]
Omega_m = 0.3
[box]
size = 100
npart_side = 24
[ic]
z_init = 1
power_spectrum = file
power_spectrum_file = waves.txt
normalise = no
[time]
step = pm
steps = 1
z_end = 0.99
[output]
redshifts = 1
images = no
power_spectrum = no
[analysis]
fof = no
END
run() { # run FOLDER OPTION...
  dir=$1
  shift
  timeout "$(seconds 300)" "$PHOTONS" --quiet config.ini --set output.dir="$dir" "$@" || complain "$dir: $*"
}
run early --set ic.z_init=40 --set ic.order=3 --set time.steps=20 --set time.z_end=1
run second --set ic.order=2
run third --set ic.order=3
STARPU_NCPU=1 mpirun --oversubscribe --bind-to none -n 2 "$PHOTONS" --quiet config.ini \
  --set output.dir=ranks --set ic.order=3 || complain 'two ranks'
helper early second third ranks || complain 'the results'
finish
