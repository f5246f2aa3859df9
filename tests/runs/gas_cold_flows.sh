#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas whose thermal energy is lost beside its kinetic energy keeps its entropy: a cold ball that falls,
# and waves of density at Mach 1000 and 3000 in single precision, also in ppm and on two levels. A shock in gas that
# moves heats it.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

helper make || exit 99
cat >config.ini <<END
[run]
system = gas
[ic]
source = array
[gas]
root = 64, 16, 16
[output]
images = no
END

# wave MACH NAME ARGUMENT...
wave() {
  mach=$1 name=$2
  shift 2
  run "$name" config.ini --set ic.file="wave_$mach.hdf5" "$@"
  helper pressure_stays "$name/gas_000.hdf5" 2>err || complain "$name, Mach $mach: another pressure"
}
wave 1000 wave --set time.end=0.0003
wave 3000 fast --set time.end=0.0001
wave 1000 ppm --set gas.solver=ppm --set time.end=0.0001
wave 1000 levels --set gas.levels=2 --set gas.flag_density=1.2,1.28 --set gas.buffer=2 \
  --set time.end=0.00005

set -- --set ic.file=ball.hdf5 --set gas.root=32,32,32 --set gas.gravity=self --set time.end=0.4
for side in x_low x_high y_low y_high z_low z_high; do set -- "$@" --set gas.$side=outflow; done
for solver in muscl ppm; do
  run fall_$solver config.ini "$@" --set gas.solver=$solver
  helper entropy_stays fall_$solver/gas_000.hdf5 2>err ||
    complain "$solver: a cold fall has another entropy"
done
# Gas at rest in the middle is a small part of the coarse cells from which the levels begin.
run fall_levels config.ini "$@" --set gas.levels=2 --set gas.flag_density=2
helper entropy_stays fall_levels/gas_000.hdf5 2>err ||
  complain "a cold fall on two levels has another entropy"

for speed in 0 8; do
  run tube_$speed config.ini --set ic.file=tube_$speed.hdf5 --set gas.gamma=1.4 \
    --set time.end=0.0625
done
helper tubes_are_equal tube_0/gas_000.hdf5 tube_8/gas_000.hdf5 2>err ||
  complain "a tube that moves is not heated"
finish
