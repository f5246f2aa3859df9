# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of other readers: runs of a small box, clustered at the end so that there are
# halos, with both units of length and both kinds of names.
BOX=40 OMEGA_M=0.31 H=0.68
cat >config.ini <<END_OF_CONFIG
[cosmology]
Omega_m = $OMEGA_M
Omega_lambda = 0.69
Omega_b = 0.049
h = $H
sigma8 = 1.2
[box]
size = $BOX
npart_side = 16
[ic]
z_init = 24
[time]
z_end = 0
step = fixed
steps = 32
[output]
redshifts = 19, 0
accelerations = yes
power_spectrum = no
images = no
subhalos = yes
END_OF_CONFIG

# small_run FOLDER UNIT NAMES: a run with outputs at z = 19 and 0
small_run() {
  timeout "$(seconds 120)" "$PHOTONS" --quiet --set output.dir="$1" --set output.unit_length="$2" \
    --set output.names="$3" config.ini 2>err || complain "the run $1: exit code $?"
}

# reads READER UNIT Z SNAPSHOT [CATALOGUE]: to be tried by try_readers
reads() { echo "$1 $4 $2 $BOX $OMEGA_M $H $3 ${5:-}" >>cases; }
try_readers() { support other_readers.py <cases || failures=$((failures + 1)); }
