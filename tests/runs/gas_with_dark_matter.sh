#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas and dark matter in an expanding box begin from the same waves and grow as linear theory says,
# and do not where the particles are of another universe. Particles without gas move as those of the
# N-body solver. Mass and momentum stay. What cannot be is refused.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy
export STARPU_NCPU=1

cat >universe.ini <<END
[run]
system = gas
[cosmology]
Omega_m = 0.3
Omega_lambda = 0.7
Omega_b = 0.045
h = 0.7
[box]
size = 400
npart_side = 32
[ic]
source = generate
z_init = 49
fixed = yes
[gas]
comoving = yes
root = 32, 32, 32
gravity = self
[time]
z_end = 9
max_dlna = 0.05
[output]
images = no
redshifts = 49, 9
END

plane_wave wave.ini
fine="--set gas.root=64,16,16 --set box.npart_side=64 --set time.max_dlna=0.05"
run wave wave.ini $fine --set cosmology.Omega_b=0.2
run wave_of_particles wave.ini $fine --set gas.solver=none
run universe universe.ini
run other universe.ini --set ic.seed=54321 --steps 0
helper to_file other/gas_000.hdf5 other.hdf5
run mixed universe.ini --set box.npart_side= --set ic.particles=other.hdf5
# As many particles as cells of the refined level would be too few there: fewer than cells.
small="--set box.size=100 --set box.npart_side=16 --set time.z_end=4 --set output.redshifts=4"
run alone universe.ini $small --set gas.solver=none --set gas.levels=1 --set gas.flag_density=4 \
  --set gas.buffer=2
grep -v 'root\|comoving\|^\[gas\]\|system\|^\[run\]\|gravity\|images' universe.ini >nbody.ini
run nbody nbody.ini $small --set ic.order=1 --set analysis.fof=no --set output.images=no \
  --set output.power_spectrum=no
fluids="--set ic.z_init=99 --set output.redshifts=99,9"
transfers="--set ic.transfer_file=$PHOTONS_SOURCE/tests/data/two_fluids_z99.txt"
run fluids universe.ini $fluids $transfers
run same universe.ini $fluids --steps 0
helper fluids "$PHOTONS_SOURCE/tests/data" || complain "other fluids"
helper compare || complain "another growth"

# What cannot be: refuse PATTERN CODE OPTION...
refuse() {
  pattern=$1 code=$2
  shift 2
  "$PHOTONS" --quiet --dry-run --set output.dir=refused "$@" >out 2>err
  found=$?
  [ $found -eq "$code" ] || complain "$*: exit code $found, not $code"
  grep -q "$pattern" err || complain "$*: another message"
}
refuse 'less than Omega_m' 2 --set cosmology.Omega_b=0 universe.ini
refuse 'particles need gas.gravity' 2 --set gas.gravity=none universe.ini
refuse 'npart_side.*not given, but needed with gas.solver = none' 2 --set gas.solver=none \
  --set box.npart_side= universe.ini
refuse 'do not fit' 2 $fine --set box.npart_side=62 wave.ini
refuse 'not with box.npart_side' 2 --set ic.particles=other.hdf5 universe.ini
refuse 'Omega = 0.255, and must be 0.2' 3 --set box.npart_side= --set ic.particles=other.hdf5 \
  --set cosmology.Omega_b=0.1 universe.ini
refuse 'there are no particles' 2 --set gas.flag_particles=8 --set box.npart_side= universe.ini
refuse 'it is of z = 99, expected 49' 3 $transfers universe.ini
refuse 'universe with Omega_b = 0.045, and the run has 0.05' 3 $fluids $transfers --set cosmology.Omega_b=0.05 universe.ini
refuse 'begins at k = 0.00515' 3 $fluids $transfers --set box.size=4000 universe.ini
refuse 'needs gas and particles' 2 $fluids $transfers --set box.npart_side= universe.ini
sed '/^[0-9]/s/ [^ ]*/ 2/' "$PHOTONS_SOURCE/tests/data/two_fluids_z99.txt" >wrong.txt
refuse 'the mean of both fluids by mass is 1.1.* expected 1' 3 $fluids --set ic.transfer_file=wrong.txt universe.ini
sed 's/gauge = N-body/gauge = synchronous/' "$PHOTONS_SOURCE/tests/data/two_fluids_z99.txt" >wrong.txt
refuse 'gauge = synchronous, expected N-body' 3 $fluids --set ic.transfer_file=wrong.txt universe.ini
"$PHOTONS" --dry-run $fluids $transfers universe.ini >out 2>err || complain "dry run"
grep -q "^  waves       of gas and of particles, from .*two_fluids_z99.txt" out || complain "the dry run says nothing of the waves"
"$PHOTONS" --dry-run universe.ini >out 2>err || complain "dry run"
grep -q '^  particles   32768' out || complain "the dry run says nothing of the particles"
grep -q 'Omega_m 0.3, of it 0.045 gas' out || complain "the dry run says nothing of the gas"
finish
