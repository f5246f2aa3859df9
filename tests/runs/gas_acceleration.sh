#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Uniform gravity of gas. A uniform box falls as a whole, exact to rounding with both solvers. A wave of density in
# a box that falls by its own side comes back to where it was: as exact as a scheme of second order, which one of first
# order in time is not. With levels mass stays, and momentum is mass times acceleration times time. What
# cannot be is refused.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
helper make 2>err || complain "making arrays"

cat >config.ini <<END
[run]
system = gas
[ic]
source = array
file = uniform.hdf5
[gas]
precision = double
root = 16, 16, 16
gamma = 1.4
acceleration = 0.3, -0.2, 0.1
[time]
end = 1
[output]
images = no
END
for solver in rtvd muscl; do
  run $solver config.ini --set gas.solver=$solver
  helper falls $solver/gas_000.hdf5 2>err || complain "$solver: the box does not fall as a whole"
  for n in 32 64; do
    run wave_${solver}_$n config.ini --set gas.solver=$solver --set ic.file=wave_$n.hdf5 --set gas.root=$n,16,16 \
      --set gas.acceleration=2,0,0
  done
  helper returns wave_${solver}_32 wave_${solver}_64 2>err || complain "$solver: the wave does not come back"
done
for steps in shared individual; do
  run $steps config.ini --set gas.steps=$steps --set gas.acceleration=0.5,0.25,-0.5 --set ic.file=wave_32.hdf5 --set gas.root=32,16,16 --set gas.levels=1 \
  --set gas.flag_density=1.2 --set gas.buffer=2 --set time.end=0.5
done
helper momentum shared 1e-13 2>err || complain "mass or momentum with levels"
# What crosses an edge between a coarser and a finer step is kicked at other times: an error of second order in the step.
helper momentum individual 2e-7 2>err || complain "mass or momentum with steps of levels"

# refused MESSAGE OPTION...
refused() {
  message=$1
  shift
  "$PHOTONS" --quiet --dry-run --set output.dir=refused "$@" >out 2>err
  [ $? -eq 2 ] && grep -qF -- "$message" err || complain "$*: $(cat err)"
}
refused '2 numbers; allowed: three' --set gas.acceleration=1,2 config.ini
refused 'particles would not fall' --set gas.gravity=self --set ic.particles=uniform.hdf5 config.ini
refused 'has no gas that could fall' --set gas.acceleration=0,0,1 "$PHOTONS_SOURCE/params/gas/point_masses.ini"
refused 'has no meaning with gas.comoving = yes' --set gas.acceleration=0,0,1 "$PHOTONS_SOURCE/params/gas/pancake.ini"
finish
