#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Passive scalars of gas, with both solvers and precisions, while waves cross the edges of two levels that come and go:
# what the gas carries is conserved, a constant fraction stays constant, fractions of a step stay
# between 0 and 1, and scalars that fill the box between them still do. In a shock tube the step follows the contact.
# Scalars do not change the gas.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

cat >config.ini <<END
[run]
system = gas
[ic]
source = acoustic
direction = diagonal
[gas]
scalars = 3
root = 32, 16, 16
levels = 2
flag_density = 1.25, 1.33
buffer = 1
regrid = 2
[time]
end = 0.4
[output]
images = no
checkpoint_minutes = 1e-6
END

wave='--set ic.amplitude=0.4'
for solver in rtvd muscl; do
  run $solver config.ini $wave --steps 8 --set gas.solver=$solver --set gas.precision=double
  helper wave $solver 1e-12 2>err || complain "$solver"
  run without_$solver config.ini $wave --steps 8 --set gas.solver=$solver --set gas.precision=double --set gas.scalars=0
  helper same without_$solver/checkpoint.hdf5 $solver/checkpoint.hdf5 2>err || complain "$solver: scalars change the gas"
  run single_$solver config.ini $wave --steps 8 --set gas.solver=$solver --set gas.steps=shared
  helper wave single_$solver 2e-6 2>err || complain "$solver in single precision"

  run tube_$solver config.ini --set ic.source=sod --set ic.direction=y --set gas.solver=$solver --set time.end=0.12 \
    --set gas.root=16,64,16 --set gas.length=0.25 --set gas.y_low=outflow --set gas.y_high=outflow \
    --set gas.flag_density= --set gas.flag_gradient_density=0.03 --set gas.scalars=1
  helper tube tube_$solver/gas_000.hdf5 2>err || complain "$solver: the shock tube"
done

# There is no gas, or there are too many of them.
for wrong in 9 -1; do
  "$PHOTONS" --quiet --dry-run --set gas.scalars=$wrong config.ini >out 2>err
  [ $? -eq 2 ] && grep -q 'scalars.*0.*8' err || complain "gas.scalars = $wrong"
done
"$PHOTONS" --quiet --dry-run --set ic.source=point_masses --set gas.solver=none --set gas.gravity=self \
  --set gas.flag_density= config.ini >out 2>err
[ $? -eq 2 ] && grep -q 'scalars.*no gas' err || complain "scalars without gas"
finish
