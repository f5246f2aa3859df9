#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# PhotoNs-2's demonstration run from z = 49 to 0: it agrees with PhotoNs-2, all that a run leaves
# behind is there and right, and config-used.ini repeats the run.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_data ics/photons2_demo_32_z49.gadget2 forces/late32.hdf5
mkdir here && cd here || exit 99 # what programs print is kept outside

cat >config.ini <<END
[ic]
source = gadget
file = $PHOTONS_TEST_DATA/ics/photons2_demo_32_z49.gadget2
[time]
max_dlna = 0.05
eta = 0.2
[output]
dir = run
redshifts = 49, 40, 0
accelerations = yes
END

# A dry run says what would be and touches nothing.
timeout 60 "$PHOTONS" --dry-run config.ini >../out 2>../err || complain "dry run: exit code $?"
grep -q 32768 ../out && grep -q memory ../out ||
  complain 'dry run: no number of particles or memory'
[ -s ../err ] && complain 'dry run: something on standard error'
[ "$(ls -A)" = config.ini ] || complain "dry run: left $(ls -A)"

timeout 300 "$PHOTONS" config.ini >../out 2>../err || complain "the run: exit code $?"
[ -s ../err ] && complain 'the run: something on standard error'
[ "$(grep -c '^step ' ../out)" -eq $(($(wc -l <run/log/timings.csv) - 1)) ] ||
  complain 'not one line a step'
helper run "$PHOTONS_TEST_DATA/forces/late32.hdf5" || failures=$((failures + 1))

# The same bits from config-used.ini: first forces and the first steps.
timeout 60 "$PHOTONS" --quiet --steps 12 --set output.dir=again run/config-used.ini 2>../err ||
  complain "again: exit code $?"
for k in 000 001; do
  support same_snapshots.py run/snap_$k.hdf5 again/snap_$k.hdf5 || failures=$((failures + 1))
done

finish
