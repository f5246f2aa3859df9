#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Self-gravity keeps the momentum of particles and gas across levels of refinement: a particle at rest
# does not feel itself, one that takes its levels along keeps its velocity, and a Plummer sphere and
# two blobs of gas that fall together stay where they are. These keep their energy, too, where groups of a level go.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy
helper make || complain 'making inputs'

cat >particles.ini <<END
[run]
system = gas
[ic]
source = particles
[gas]
solver = none
root = 32, 32, 32
levels = 2
flag_density = 1
gravity = self
[output]
images = no
END
for place in 0 1 2; do
  run rest$place particles.ini --set ic.particles=rest$place.hdf5 --set time.end=1e-6
done
helper rest rest0 rest1 rest2 || complain 'particles at rest'
run crossing particles.ini --set ic.particles=crossing.hdf5 --set time.end=0.01
helper crossing crossing || complain 'a particle that moves'

sed 's/^flag_density.*/flag_density = 20, 160/; s/^levels.*/&\nbuffer = 2/' particles.ini >plummer.ini
printf '[gas]\n%s\n' "$open_sides" >>plummer.ini
run plummer plummer.ini --set ic.particles=plummer.hdf5 --set time.end=0.03
helper plummer plummer || complain 'a Plummer sphere'

cat >blobs.ini <<END
[run]
system = gas
[ic]
source = array
file = blobs.hdf5
[gas]
precision = double
root = 32, 32, 32
levels = 1
flag_density = 1
buffer = 2
gravity = self
newton_constant = 50
[time]
end = 0.08
[output]
images = no
END
run blobs blobs.ini
helper blobs blobs 1e-4 || complain 'two blobs'
run two_levels blobs.ini --set gas.levels=2 --set time.end=0.037
helper blobs two_levels 5e-5 || complain 'two blobs with two levels'
helper energy two_levels || complain 'the energy of two blobs, groups of which go'
# Levels that take the same steps feel what they do to each other.
run shared blobs.ini --set gas.levels=2 --set gas.steps=shared --set time.end=0.01
helper blobs shared 1e-6 || complain 'two blobs with two levels and the same steps'
finish
