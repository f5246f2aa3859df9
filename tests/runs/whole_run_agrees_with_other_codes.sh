#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A run from a Gadget file at z = 49 to 0 agrees with a plain particle mesh, all that a run leaves
# behind is there and right, and config-used.ini repeats the run. Where the initial conditions of
# PhotoNs-2's demonstration are, the run from them agrees with PhotoNs-2.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
ics=${PHOTONS_FORCE_SETS:?the folder of the force sets}/early.hdf5
data=${PHOTONS_TEST_DATA:-}
other_ics=$data/ics/photons2_demo_32_z49.gadget2 other_end=$data/forces/late32.hdf5
mkdir here && cd here || exit 99 # what programs print is kept outside

cat >config.ini <<END
[ic]
source = gadget
file = $ics
[time]
accuracy = fast
max_dlna = 0.05
eta = 0.2
[output]
dir = run
redshifts = 49, 40, 0
image_pixels = 256
accelerations = yes
END

# A dry run says what would be and touches nothing.
timeout "$(seconds 60)" "$PHOTONS" --dry-run config.ini >../out 2>../err || complain "dry run: exit code $?"
grep -q 32768 ../out && grep -q memory ../out ||
  complain 'dry run: no number of particles or memory'
[ -s ../err ] && complain 'dry run: something on standard error'
[ "$(ls -A)" = config.ini ] || complain "dry run: left $(ls -A)"

timeout "$(seconds 300)" "$PHOTONS" config.ini >../out 2>../err || complain "the run: exit code $?"
[ -s ../err ] && complain 'the run: something on standard error'
[ "$(grep -c '^step ' run/log/run.log)" -eq $(($(wc -l <run/log/timings.csv) - 1)) ] ||
  complain 'not one line a step'
helper run || failures=$((failures + 1))
if [ -r "$other_ics" ] && [ -r "$other_end" ]; then
  timeout "$(seconds 300)" "$PHOTONS" --quiet --set ic.file="$other_ics" --set output.dir=other config.ini ||
    complain "the run from PhotoNs-2's initial conditions: exit code $?"
  helper other "$other_end" || failures=$((failures + 1))
fi

# The same bits from config-used.ini: first forces and the first steps.
timeout "$(seconds 60)" "$PHOTONS" --quiet --steps 12 --set output.dir=again run/config-used.ini 2>../err ||
  complain "again: exit code $?"
for k in 000 001; do
  support same_snapshots.py run/snapshot_$k.hdf5 again/snapshot_$k.hdf5 || failures=$((failures + 1))
done

finish
