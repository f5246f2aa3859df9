#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Numbers that are not finite, speeds above that of light and displacements of half the box end a
# run with one line that names particle, step and stage: on one process and on three, whatever the
# kernels. Outputs that were written before stay.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
STARPU_NCPU=1 # of each process; all else is set for every test
export STARPU_NCPU
need_mpi

# check CODE MESSAGE: the last program, whose exit code was CODE, printed one line with MESSAGE.
check() {
  [ "$1" -eq 1 ] || complain "$name: exit code $1, not 1"
  grep 'photons-starpu: ' err >lines
  [ "$(wc -l <lines)" -eq 1 ] && grep '^photons-starpu: error: ' lines | grep -qE "$2" ||
    complain "$name: not one line with: $2"
}
ranks() { timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none -n 3 "$@" >out 2>err </dev/null; }

# The faults that tests/unit/step/test_motion_check makes.
while read -r name message; do
  ranks "$unit_tests/step/test_motion_check" "$name"
  check $? "step 3, z = 1, .*$message.*rank [0-2]"
done <<'END'
nan_acceleration forces: particle 881 has the acceleration
infinite_momentum kick: particle 881 has the momentum
faster_than_light kick: particle 881 has the momentum
drift_of_half_the_box drift: particle 881 with the momentum
END
name=nan_mass # met by all processes
ranks "$unit_tests/step/test_motion_check" nan_mass
check $? 'forces: particle [0-9]+ has the acceleration'
ranks "$unit_tests/step/test_motion_check" none || complain 'a run without a fault'

# Steps far too long for forces between near particles: the second one throws them across the box.
cat >config.ini <<END
[box]
size = 1
npart_side = 16
[gravity]
softening = 0.01
[time]
z_end = 0
step = fixed
steps = 4
[output]
redshifts = 48, 0
images = no
[analysis]
fof = no
END
for isa in baseline avx2 avx512; do
  name="long steps, $isa"
  rm -rf run
  PHOTONS_ISA=$isa timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=run config.ini >out 2>err
  code=$?
  grep -q 'lacks these instructions' err && continue # kernels that this processor does not run
  check $code 'step [1-4], z = .*(drift|kick): particle [0-9]+ '
  [ -s run/powerspec_000.txt ] && [ -s run/snapshot_000.hdf5 ] || complain "$name: no first output"
  [ ! -e run/powerspec_001.txt ] && [ ! -e run/snapshot_001.hdf5 ] || complain "$name: a bad output"
done
name='long steps, 3 processes'
rm -rf run
ranks "$PHOTONS" --quiet --set output.dir=run config.ini
check $? 'step [1-4], z = .*(drift|kick): particle [0-9]+ '
[ -s run/snapshot_000.hdf5 ] && [ ! -e run/snapshot_001.hdf5 ] || complain "$name: outputs"
finish
