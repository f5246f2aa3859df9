# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after common.sh by tests of gas that have configurations or comparisons in common.

# Lines of [gas] for a box with open sides.
open_sides='x_low = outflow
x_high = outflow
y_low = outflow
y_high = outflow
z_low = outflow
z_high = outflow'

# make_particles: the files of gas_particles.py, and in empty.ini a light particle on a circle about
# a heavy one, in a box without gas. The box is refined between 0.5 and 0.75.
make_particles() {
  support gas_particles.py make || complain "making particles"
  cat >empty.ini <<END
[run]
system = gas
[ic]
source = particles
particles = circle.hdf5
[gas]
solver = none
root = 32, 32, 32
cfl = 0.8
$open_sides
levels = 1
flag_density = 1000
buffer = 3
gravity = self
[output]
images = no
END
}

# plane_wave FILE: write the configuration of gas in an expanding box, in which a plane wave grows
# as Zel'dovich's solution says.
plane_wave() {
  cat >"$1" <<END
[run]
system = gas
[cosmology]
Omega_m = 1
Omega_lambda = 0
h = 0.5
[box]
size = 64
[ic]
source = pancake
z_init = 99
z_caustic = 0
[gas]
comoving = yes
root = 32, 16, 16
gravity = self
[time]
z_end = 9
[output]
images = no
END
}

# same FILE PATCHES REFERENCE FOLDER...: the gas in this file of the runs, of more patches than this
# number, and the statistics of all steps are those of the reference bit by bit.
same() {
  support same_gas.py "$@" || failures=$((failures + 1))
  reference=$3
  shift 3
  for other; do
    cmp "$reference/log/statistics.csv" "$other/log/statistics.csv" ||
      complain "$other: other statistics"
  done
}

# blast_on_ranks RANKS OPTION...: a blast in a periodic box, whose dense shell is refined as it
# forms, has the same bits on one rank (the folder one), on one with three homes and on three ranks, and
# when it begins on this number of ranks without shared memory, with a file of each rank, and goes on on
# two with two homes each.
# Batches of one group give each rank and each home a share of each level.
blast_on_ranks() {
  cat >shell.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
solver = rtvd
precision = double
scalars = 2
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
  ranks=$1
  shift
  run_on 1 one --steps 4 "$@" shell.ini
  run_on 3 three --steps 4 --set output.files=0 "$@" shell.ini
  run_on "$ranks" parts --steps 2 --set output.files=0 --set runtime.shared_memory=no "$@" shell.ini
  run_on 2 parts --restart --steps 4 --set gas.homes=2 "$@" shell.ini
  run_on 1 homes --steps 4 --set gas.homes=3 "$@" shell.ini
  same checkpoint.hdf5 16 one three parts homes
  cut -d, -f6 one/log/timings.csv | sed 1d | sort -u >patches
  [ "$(wc -l <patches)" -ge 3 ] && grep -q '16;64;192' patches ||
    complain "the refinement stays as it is: $(cat patches)"
}
