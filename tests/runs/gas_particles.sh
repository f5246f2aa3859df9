#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Particles with gas on the adaptive mesh have the same bits on any workers, in any batches and
# after a restart; files of particles that cannot be are refused.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy
make_particles

cat >both.ini <<END
[run]
system = gas
[ic]
source = collapse
particles = ball.hdf5
[gas]
root = 16, 16, 16
$open_sides
levels = 1
flag_density = 2.5
buffer = 2
regrid = 2
gravity = self
[time]
end = 0.2
[output]
images = no
END
STARPU_NCPU=1 STARPU_SCHED=eager
export STARPU_NCPU STARPU_SCHED
run reference both.ini
STARPU_NCPU=2 STARPU_SCHED=lws
run batches both.ini --set gas.batch=3
run parts both.ini --steps 2 --set output.checkpoint_minutes=1e-6
run parts both.ini --restart --set output.checkpoint_minutes=1e-6
for name in batches parts; do
  cmp reference/log/statistics.csv $name/log/statistics.csv || complain "$name: other statistics"
  support gas_particles.py same reference $name || complain "$name: other gas or particles"
done

# A dry run counts the particles of a file, and those of a checkpoint: up to 280 bytes each.
for how in '' --restart; do
  "$PHOTONS" --dry-run $how --set output.dir=parts both.ini >out 2>err || complain "dry run $how"
  grep -q '^  particles   300, 0.1 MB' out || complain "dry run $how: other particles"
done

# What cannot be: refuse PATTERN CODE OPTION...
refuse() {
  pattern=$1 code=$2
  shift 2
  "$PHOTONS" --quiet --dry-run --set output.dir=refused --set time.end=1 "$@" >out 2>err
  found=$?
  [ $found -eq "$code" ] || complain "$*: exit code $found, not $code"
  grep -q "$pattern" err || complain "$*: another message"
}
refuse 'y of particle 1 is 1.5; allowed: 0 to less than 1' 3 --set ic.particles=outside.hdf5 empty.ini
refuse 'x of particle 0 is 1; allowed: 0 to less than 1' 3 --set ic.particles=wrapped.hdf5 empty.ini
refuse 'mass of particle 0 is 0' 3 --set ic.particles=massless.hdf5 empty.ini
refuse 'type of particle 1 is 6; allowed: 0 to 5' 3 --set ic.particles=untyped.hdf5 empty.ini
refuse 'no dataset mass' 3 --set ic.particles=short.hdf5 empty.ini
refuse 'particles need gas.gravity' 2 --set gas.gravity=none both.ini
refuse 'this ic.source has gas' 2 --set gas.solver=none both.ini
# The far side of a periodic box is its near side.
sed '/_low\|_high/d; s/^particles.*/particles = wrapped.hdf5/; s/^end.*/end = 1e-3/' both.ini >periodic.ini
run wrapped periodic.ini --set output.times=0
support gas_particles.py wrapped wrapped 2>err || complain "wrapped positions"
"$PHOTONS" --quiet --set output.dir=edge --set ic.particles=edge.hdf5 --set time.end=1 empty.ini 2>err
[ $? -eq 1 ] || complain "a particle that leaves the box: another exit code"
grep -q 'particle 1 leaves the box' err || complain "a particle that leaves the box"
finish
