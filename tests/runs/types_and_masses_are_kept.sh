#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A periodic box from a Gadget file with light particles in the middle of heavy ones, of several
# types and softening lengths: forces are Ewald sums, snapshots hold all types with their masses,
# momentum is conserved, and the bits are the same on several ranks and after a restart.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi

helper make ic.hdf5 || exit 99
cat >config.ini <<END_OF_CONFIG
[ic]
source = gadget
file = ic.hdf5
[gravity]
softening_type_1 = 50
softening_type_2 = 300
softening_type_5 = 500
pm_grid = 16
mac_tolerance = 1e-4
[time]
z_end = 5
accuracy = fast
[output]
redshifts = 9, 5
accelerations = yes
images = no
power_spectrum = no
[analysis]
fof = no
[runtime]
group_size = 128
END_OF_CONFIG

STARPU_NCPU=1 run one config.ini
STARPU_NCPU=1 run_on 2 ranks config.ini
STARPU_NCPU=2 run parts config.ini --steps 2 --set output.checkpoint_minutes=1e-6
STARPU_NCPU=1 run parts config.ini --restart
helper check ic.hdf5 one ranks parts || failures=$((failures + 1))

# Direct sums end at 3.45 of 16 cells, 2156 kpc/h: no type is softened beyond that.
"$PHOTONS" --dry-run config.ini --set gravity.softening_type_5=780 >out 2>&1
[ $? -eq 2 ] && grep -q 'gravity.softening_type_5 = 780 kpc/h is too long for the mesh' out ||
  complain "a type with a long softening: $(cat out)"
"$PHOTONS" --dry-run config.ini --set gravity.softening_type_5=760 --set gravity.softening_type_3=780 >out 2>&1 ||
  complain "a long softening of a type without particles: $(cat out)"

# A snapshot is a file to start from.
sed 's/^redshifts.*/redshifts = 4/; s/^z_end.*/z_end = 4/; s/ic.hdf5/one\/snapshot_001.hdf5/' config.ini \
  >later.ini
run later --steps 1 later.ini

# Halos are made of the light particles, spectra and pictures of all, in a run as by --analyse, on any ranks.
# Without softening lengths these follow the masses.
sed '/^softening_type/d; s/^fof.*/fof = yes\nmin_members = 4\nsubhalo_members = 20/
  s/^images.*/images = yes\nimage_pixels = 64\nmovie = 2\nmovie_pixels = 64/; s/^power.*/power_spectrum = yes\nsubhalos = yes\nsubsample = 0.5/' config.ini >plain.ini
helper make clumped.hdf5 halos || exit 99
sed -i 's/^file.*/file = clumped.hdf5/' plain.ini
timeout "$(seconds 60)" "$PHOTONS" --steps 1 --set output.dir=halos plain.ini >out 2>&1 ||
  complain "halos: exit code $?, $(cat out)"
[ "$(grep -c 'different masses: halos and their spheres are made of those' out)" -eq 1 ] ||
  complain "no warning: $(cat out)"
grep -A4 '^ *masses *type 1: 341 particles, 0.08325 of all matter' out | grep -q 'together 0.99995$' ||
  complain "masses by type: $(cat out)"
STARPU_NCPU=1 timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none -n 2 "$PHOTONS" --steps 1 --set output.dir=halos2 \
  --set output.beside=yes plain.ini >err 2>&1 || complain "halos on two ranks"
"$PHOTONS" --analyse halos/snapshot_000.hdf5 --set output.dir=analysis --set analysis.min_members=4 --set output.subhalos=yes \
  --set output.image_pixels=64 --set gravity.pm_grid=16 >out2 2>&1
[ $? -eq 0 ] && grep -q 'halos and their spheres are made of' out2 ||
  complain "--analyse: $(cat out2)"
helper halos halos halos2 analysis || complain "halos of several masses"
# The order of halos takes nothing from a particle, its acceleration included.
"$PHOTONS" --steps 1 --set output.dir=unordered --set output.names=short plain.ini >err 2>&1 ||
  complain "names = short: $(cat err)"
helper order halos/snapshot_000.hdf5 unordered/snap_000.hdf5 || complain "particles in the order of halos"
"$PHOTONS" --dry-run plain.ini --set output.halo_power=yes >err 2>&1
[ $? -eq 2 ] && grep -q 'halos have no power spectrum' err || complain "P(k) of halos of light particles: $(cat err)"
[ -s halos/movie/frame_0000.png ] || complain "no frame of a movie"
# A thirtieth of the spacing of particles of the mass: (10 Mpc/h)/8/30, and half of it.
grep -q 'softening   20.83[0-9]* kpc/h comoving of type 1, 41.66' out ||
  complain "softening: $(cat out)"
"$PYTHON" "$PHOTONS_SOURCE/tools/swift_view.py" one/snapshot_000.hdf5 >out 2>&1
[ $? -eq 1 ] && grep -q 'has particles of type 2' out || complain "swift_view.py: $(cat out)"

finish
