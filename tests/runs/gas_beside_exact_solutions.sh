#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Problems with known solutions that are hard on a solver of gas: Toro's five Riemann problems (the second is
# Einfeldt's), Noh's two shocks, Shu & Osher's waves behind a shock, Woodward & Colella's blasts, Gresho's
# vortex that moves, and a plane shock in gas with noise, which stays plane. It prints the errors.
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

# solve PROBLEM SOLVER LEVELS
solve() {
  # shellcheck disable=SC2046
  run "$1-$2-$3" config.ini --set ic.file="$1-$3.hdf5" --set gas.solver="$2" --set gas.levels="$3" \
    $(helper settings "$1" "$3")
}
for problem in toro1 toro2 toro3 toro4 toro5 noh waves blasts plane; do solve $problem muscl 0; done
for problem in toro1 toro3 toro5 noh plane; do solve $problem rtvd 0; done
solve toro1 muscl 2
solve vortex0 muscl 0
helper check 2>err || complain "other errors"
finish
