#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Isolated systems from files of Gadget and others: units, types and masses; a system that is turned and moved;
# two galaxies that approach as Kepler's orbit says, and three and five on orbits about each other, with the same bits
# on several ranks and after a restart. Bad files are refused.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi

export STARPU_NCPU=1 # few particles
helper make || exit 99
cat >one.ini <<END_OF_CONFIG
[box]
boundary = isolated
[ic]
source = gadget
file = sphere.hdf5
[galaxy]
position = 3 -4 5
velocity = 10 20 -30
inclination = 90 30
[gravity]
softening = 0.2
softening_type_3 = 0.3
[time]
end = 1
max_step = 0.5
[output]
times = 0, 1
accelerations = yes
potential = yes
energy_steps = 1
[runtime]
group_size = 128
END_OF_CONFIG
sed 's/^position.*/position = -2.3076923 0 0/; s/^velocity.*/velocity = 13.8461538 -9.2307692 0/
  s/^end.*/end = 24\neta = 0.05/; s/^max_step.*/max_step = 4/; s/^times.*/times = 0, 12, 24/
  /^inclination/d' one.ini >two.ini
cat >>two.ini <<END_OF_CONFIG
[second]
file = small.hdf5
position = 7.6923077 0 0
velocity = -46.1538462 30.7692308 0
END_OF_CONFIG

run hdf5 one.ini
run binary one.ini --steps 1 --set ic.file=sphere.gadget2 --set ic.unit_length_kpc=1000 \
  --set ic.unit_mass_msun=1e12 --set ic.unit_velocity_kms=100
for file in text tipsy big-endian amuse nbody; do
  run "$file" one.ini --steps 1 --set ic.file="sphere.$file" --set ic.unit_length_kpc=1000 --set ic.unit_mass_msun=1e12 \
    --set ic.unit_velocity_kms=100
done
run two two.ini
# Two galaxies on a parabola about (1, 2, 3) kpc, 20 kpc apart.
run orbit one.ini --steps 1 --set ic.source=galaxy --set ic.file= --set galaxy.model=plummer --set galaxy.particles=400 \
  --set second.model=plummer --set second.particles=200 --set 'galaxy.position=1 2 3' --set 'galaxy.velocity=0 0 10' \
  --set galaxy.inclination= --set 'second.position=orbit pericentre=5 eccentricity=0.5 separation=14'
# Three galaxies: a pair, and its orbit about the first one, as that of both. Five: two pairs, and one about the first pair.
orbit='orbit eccentricity=0.5 pericentre'
run three one.ini --steps 1 --set galaxy.inclination= --set second.file=small.hdf5 --set "second.position=$orbit=20 separation=50" \
  --set third.file=small.hdf5 --set "third.position=$orbit=3 separation=8 about=second"
run_on 2 five one.ini --steps 1 --set galaxy.inclination= --set second.file=small.hdf5 --set "second.position=$orbit=4 separation=10" \
  --set third.model=plummer --set third.particles=200 --set 'third.position=500 0 0' --set 'third.velocity=0 1 2' \
  --set fourth.file=small.hdf5 --set "fourth.position=$orbit=5 separation=14 about=third" \
  --set fifth.model=plummer --set fifth.particles=100 --set "fifth.position=$orbit=60 separation=150"
run_on 2 parts two.ini --steps 4 --set output.checkpoint_minutes=1e-6
STARPU_NCPU=2 run parts two.ini --restart
# All particles of a type escape.
gone="--set ic.file=gone.hdf5 --set box.escape_radius=50"
run gone one.ini $gone
run gone-parts one.ini $gone --steps 1 --set output.checkpoint_minutes=1e-6
run gone-parts one.ini $gone --restart
# Many particles at one place are softened; all of them cannot be (below).
run pile one.ini --set ic.file=pile.hdf5
# The recipes of docs/user/isolated.md whose modules are here make files that are read.
mkdir recipes && cd recipes || exit 99
sed -n '/^```python/,/^```$/p' "$PHOTONS_SOURCE/docs/user/isolated.md" | awk '/^```python/ { n++; next } !/^```/ { print > n ".py" }'
[ -e 3.py ] || complain 'docs/user/isolated.md has no recipes'
for recipe in *.py; do
  modules=$(sed -n 's/^import \([a-z0-9]*\).*/\1/p; s/^from \([a-z0-9]*\).*/\1/p' $recipe | sort -u | paste -s -d ,)
  "$PYTHON" -c "import $modules" 2>err || continue
  "$PYTHON" $recipe >out 2>err || complain "recipe $recipe of $modules: $(tail -n 1 err)"
done
for file in *.hdf5 *.txt; do
  [ ! -e "$file" ] || "$PHOTONS" --dry-run --set ic.file="$file" --set gravity.softening=0.5 ../one.ini >out 2>err ||
    complain "$file of a recipe: $(cat err)"
done
cd .. || exit 99
helper check || failures=$((failures + 1))

# refused CODE TEXT SETTING...: this exit code, and one line that has the text.
refused() {
  code=$1 text=$2
  shift 2
  for setting; do
    set -- "$@" --set "$setting"
    shift
  done
  rm -rf refused
  timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=refused "$@" one.ini >out 2>err
  found=$?
  [ $found -eq "$code" ] && [ "$(grep -c error err)" -eq 1 ] && grep -q -e "$text" err ||
    complain "$*: exit code $found, not $code with: $text"
}
refused 3 'ic.unit_length_kpc is 2 in config.ini and 1000 in the file' ic.unit_length_kpc=2
refused 3 'ic.unit_mass_msun is 1e+10 in config.ini and 1e+12 in the file' ic.unit_mass_msun=1e10
refused 3 'unit.hdf5: a unit in its header is -1' ic.file=unit.hdf5
refused 3 'massless.hdf5: block Masses: particle 3 of type 3 has mass 0' ic.file=massless.hdf5
refused 3 'nan.hdf5: block Coordinates: y of particle 3' ic.file=nan.hdf5
refused 3 'one particle alone' ic.file=lone.hdf5
refused 3 'all particles are at one point' ic.file=point.hdf5
refused 3 'all particles are at one point' ic.file=point.hdf5 'galaxy.position=1e4 0 0'
refused 2 "below a millionth of the frame's side" ic.file=far.hdf5
refused 3 'expected less than the speed of light' ic.file=fast.hdf5
refused 2 'particles of type 3 have no softening length' gravity.softening= \
  gravity.softening_type_1=0.1 gravity.softening_type_3=0
refused 2 'galaxy.position = 1 2: expected 3 numbers' 'galaxy.position=1 2'
refused 2 'galaxy.inclination = 1 2 3: expected 2 numbers' 'galaxy.inclination=1 2 3'
refused 2 'the separation is above the apocentre' second.file=small.hdf5 \
  'second.position=orbit pericentre=5 eccentricity=0.5 separation=16'
refused 2 'expected orbit pericentre=KPC eccentricity=E separation=KPC' second.file=small.hdf5 'second.position=orbit r=5'
refused 2 'second.position names an orbit, which gives the velocity' second.file=small.hdf5 \
  'second.position=orbit pericentre=5 eccentricity=0.5 separation=14' 'second.velocity=1 2 3'
printf '1 2 3 4 5 6 7\n1 2 3 4 5 6\n' >short.txt
refused 3 'short.txt:2: expected 7 numbers, x y z vx vy vz m' ic.file=short.txt
printf '# id m x y z vx vy vz\n5 -1 1 2 3 4 5 6\n' >light.txt
refused 3 'light.txt: particle 1 has mass -1' ic.file=light.txt
refused 3 'amuse-units: y has other units than x' ic.file=sphere.amuse-units
refused 3 'amuse-mass: mass has the units .*; expected a mass in SI' ic.file=sphere.amuse-mass
refused 3 'amuse-newer: cannot read mass: bad version number .*; a file of a newer HDF5 than 1' ic.file=sphere.amuse-newer
refused 3 'amuse-lacks: the particles have no vz' ic.file=sphere.amuse-lacks
refused 3 'sphere.amuse: ic.unit_length_kpc is 7 in config.ini and 1000' ic.file=sphere.amuse ic.unit_length_kpc=7
refused 3 'gas.tipsy: holds 1 gas particles' ic.file=gas.tipsy
refused 2 'second.model and second.file are given' second.model=plummer second.file=small.hdf5
refused 2 '--set second.model = m32: not a model; allowed: m31 | plummer | hernquist | nfw | same' second.model=m32
refused 2 'there is no second galaxy' 'second.position=1 2 3'
refused 2 'there is no second galaxy: give second.model or second.file' third.file=small.hdf5
refused 2 'fourth.model and fourth.file are given' second.file=small.hdf5 third.file=small.hdf5 fourth.file=small.hdf5 fourth.model=nfw
refused 2 'about=third is not the section of a galaxy before this one' second.file=small.hdf5 third.file=small.hdf5 \
  'second.position=orbit pericentre=5 eccentricity=0.5 separation=14 about=third'
refused 2 'expected orbit pericentre=KPC eccentricity=E separation=KPC \[about=SECTION\]' second.file=small.hdf5 \
  'second.position=orbit pericentre=5 eccentricity=0.5 separation=14 about=ninth'
refused 2 'second.position: the galaxies of sections .galaxy. and .second. are both at (0, 0, 0) kpc' second.model=plummer ic.source=galaxy \
  galaxy.model=plummer ic.file= gravity.softening=1 'galaxy.position=0 0 0'

# The examples make galaxies, of which each has so many particles.
for example in 'merger 4000' 'plummer 2000'; do
  set -- $example
  "$PHOTONS" --dry-run --set galaxy.particles=2000 "$PHOTONS_SOURCE/params/galaxy/$1.ini" \
    >out 2>err && grep -q "particles   $2 of" out || complain "$1.ini: exit code $?"
done

finish
