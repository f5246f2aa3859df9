#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Problems with known solutions that are hard on a solver of gas: Toro's five Riemann problems (the second is
# Einfeldt's), Noh's two shocks, Shu & Osher's waves behind a shock, Woodward & Colella's blasts, Gresho's
# vortex that moves, a plane shock in gas with noise, which stays plane, Noh's ball in three dimensions, an explosion
# whose axes are alike, and a sphere that rests in its own gravity. It prints the errors. tests/bench/gas_problems.sh
# runs more of them.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

helper make || exit 99
cat >config.ini <<END
[run]
system = gas
[ic]
source = array
[gas]
gamma = 1.4
flag_gradient_density = 0.05
flag_gradient_pressure = 0.05
[output]
images = no
END

# solve PROBLEM SOLVER LEVELS PRECISION
solve() {
  [ "$4" = single ] && name=$1-$2-$3 || name=$1-$2-$4-$3
  # shellcheck disable=SC2046
  run "$name" config.ini --set ic.file="$1-$3.hdf5" --set gas.solver="$2" --set gas.levels="$3" \
    --set gas.precision="$4" $(helper settings "$1" "$3")
}
helper runs >list || exit 99
while read -r problem solver levels precision; do
  solve "$problem" "$solver" "$levels" "$precision" </dev/null
done <list
helper check 2>err || complain "other errors"
finish
