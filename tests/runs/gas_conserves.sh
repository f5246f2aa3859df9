#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Mass, momentum and energy of gas in a periodic box stay as they are while waves cross the edges of
# two levels of refinement that come and go. Without the fix-up of fluxes they do not.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

# A sound wave of such an amplitude steepens to shocks. The density alone decides what is refined,
# so that waves enter and leave refined patches.
cat >config.ini <<END
[run]
system = gas
[ic]
source = acoustic
direction = diagonal
amplitude = 0.4
[gas]
root = 32, 16, 16
levels = 2
flag_density = 1.25, 1.33
buffer = 1
regrid = 2
[time]
end = 0.4
[output]
images = no
END

# change_of NAME [OPTION...]: a run, of which this prints the largest change of mass, momentum and
# energy between two steps, over the mass, the mass times the speed of sound, and the energy.
change_of() {
  run "$@" config.ini --steps 8 >&2
  awk -F, 'function size(x) { return x < 0 ? -x : x }
    NR == 2 { for (i = 3; i <= 7; i++) first[i] = $i }
    NR > 2 { for (i = 3; i <= 7; i++) {
        change = size($i - first[i]) / first[i == 7 ? 7 : 3]
        if (!(change <= worst)) worst = change
    } }
    END { print (NR > 8 ? worst : "of unknown size") }' "$1/log/statistics.csv"
}
# within NUMBER LIMIT
within() { awk -v x="$1" -v y="$2" 'BEGIN { exit !(x + 0 == x && x <= y) }'; }

# check LIMIT NAME [OPTION...]
check() {
  limit=$1
  shift
  change=$(change_of "$@")
  echo "$1: a change by $change"
  within "$change" "$limit" || complain "$1: a change by $change"
}
check 1e-12 rtvd --set gas.solver=rtvd --set gas.precision=double
check 1e-12 muscl --set gas.solver=muscl --set gas.precision=double --set gas.steps=shared
check 1e-6 single --set gas.solver=rtvd # roundings of 8 steps

# That the test sees what it is about: levels came and went, and without the fix-up it fails.
cut -d, -f6 rtvd/log/timings.csv | sed 1d | sort -u >patches
[ "$(wc -l <patches)" -ge 3 ] || complain "the refinement stays as it is: $(cat patches)"
change=$(change_of control --set gas.precision=double --set gas.flux_fixup=no)
echo "without the fix-up: $change"
within "$change" 1e-9 && complain "conserved without the fix-up of fluxes: $change"
finish
