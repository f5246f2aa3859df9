#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Boundaries of gas, on two levels, at both ends of each axis. Half of a box that is its own mirror
# image goes on between reflecting sides as in the whole box, and keeps its mass and energy. A wind
# leaves through outflow sides as it came.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

helper make || exit 99
cat >config.ini <<END
[run]
system = gas
[ic]
source = array
[gas]
precision = double
levels = 1
flag_density = 1.8
buffer = 1
[time]
end = 0.06
[output]
images = no
END

# go_on NAME ROOT [OPTION...]: a run from NAME.hdf5
go_on() {
  name=$1 root=$2
  shift 2
  run "$name" config.ini --set ic.file="$name.hdf5" --set gas.root="$root" "$@"
}
for axis in x y z; do
  case $axis in x) root=32,16,16 ;; y) root=16,32,16 ;; z) root=16,16,32 ;; esac
  length=1
  [ $axis = x ] && length=2
  go_on whole_$axis $root --set gas.length=$length
  go_on half_$axis 16,16,16 --set gas.${axis}_low=reflecting --set gas.${axis}_high=reflecting
  go_on wind_$axis 16,16,16 --set gas.${axis}_low=outflow --set gas.${axis}_high=outflow \
    --set gas.flag_density=0.5
  awk -F, 'NR == 2 { mass = $3; energy = $7 } { last = $3 / mass + $7 / energy - 2 }
    END { exit !(NR > 4 && last < 1e-12 && last > -1e-12) }' half_$axis/log/statistics.csv ||
    complain "mass or energy leaves through reflecting sides of $axis"
done
helper 2>err || complain "other gas beside boundaries"
finish
