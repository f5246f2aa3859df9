#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Problems with known solutions that are hard on a solver of gas: Toro's five Riemann problems (the second is
# Einfeldt's), Noh's two shocks, Shu & Osher's waves behind a shock, Woodward & Colella's blasts, Gresho's
# vortex that moves, a plane shock in gas with noise, which stays plane, Noh's ball in three dimensions, and a sphere
# that rests in its own gravity. It prints the errors.
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

# solve PROBLEM SOLVER LEVELS [PRECISION]
solve() {
  # shellcheck disable=SC2046
  run "$1-$2${4:+-$4}-$3" config.ini --set ic.file="$1-$3.hdf5" --set gas.solver="$2" --set gas.levels="$3" \
    --set gas.precision="${4:-single}" $(helper settings "$1" "$3")
}
for solver in muscl ppm; do
  for problem in toro1 toro2 toro3 toro4 toro5 noh waves blasts vortex0 noh3 sphere; do
    solve $problem $solver 0
  done
  solve toro1 $solver 2
done
solve plane muscl 0
solve plane ppm 0
for problem in toro1 toro3 toro5 noh plane; do solve $problem rtvd 0; done
solve toro5 ppm 0 double
solve vortex3 ppm 0
helper check 2>err || complain "other errors"
finish
