#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A run from a Gadget file at z = 49 to 0: everything that it leaves behind is there and right, and
# config-used.ini repeats it. The same run from the initial conditions of PhotoNs-2's demonstration,
# where they are.
set -u
: "${PHOTONS:?the program}"
[ -x "$PHOTONS" ] || { echo "skipped: $PHOTONS is not built"; exit 77; }
python3 -c 'import h5py' 2>/dev/null || { echo "skipped: python3 has no h5py"; exit 77; }
ics=${PHOTONS_FORCE_SETS:?the folder of the force sets}/early.hdf5
data=${PHOTONS_TEST_DATA:-}
other_ics=$data/ics/photons2_demo_32_z49.gadget2 other_end=$data/forces/late32.hdf5
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" && cd "$work/here" || exit 99
failures=0
complain() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

cat >config.ini <<END
[ic]
source = gadget
file = $ics
[time]
max_dlna = 0.05
eta = 0.2
[output]
dir = run
redshifts = 49, 40, 0
accelerations = yes
END

# A dry run says what would be and touches nothing.
timeout 60 "$PHOTONS" --dry-run config.ini >"$work/out" 2>"$work/err" || complain "dry run: exit code $?"
grep -q 32768 "$work/out" && grep -q memory "$work/out" || complain 'dry run: no number of particles or memory'
[ -s "$work/err" ] && complain "dry run: $(cat "$work/err")"
[ "$(ls -A)" = config.ini ] || complain "dry run: left $(ls -A)"

timeout 300 "$PHOTONS" config.ini >"$work/out" 2>"$work/err" || complain "the run: exit code $?"
[ -s "$work/err" ] && complain "the run: $(cat "$work/err")"
[ "$(grep -c '^step ' "$work/out")" -eq $(($(wc -l <run/log/timings.csv) - 1)) ] || complain 'not one line a step'
python3 "$PHOTONS_SOURCE/tests/runs/whole_run.py" run || failures=$((failures + 1))
if [ -r "$other_ics" ] && [ -r "$other_end" ]; then
  timeout 300 "$PHOTONS" --quiet --set ic.file="$other_ics" --set output.dir=other config.ini ||
    complain "the run from PhotoNs-2's initial conditions: exit code $?"
  python3 "$PHOTONS_SOURCE/tests/runs/whole_run.py" other "$other_end" || failures=$((failures + 1))
fi
if python3 -c 'import yt' 2>/dev/null; then
  python3 "$PHOTONS_SOURCE/tests/runs/snapshot_yt.py" run/snap_002.hdf5 100 0.25 0.7 0 32768 || complain 'yt'
fi

# The same bits from config-used.ini: first forces and the first steps.
timeout 60 "$PHOTONS" --quiet --steps 12 --set output.dir=again run/config-used.ini || complain "again: exit code $?"
for k in 0 1; do
  python3 - run/snap_00$k.hdf5 again/snap_00$k.hdf5 <<'END' || failures=$((failures + 1))
import sys
import h5py
with h5py.File(sys.argv[1]) as a, h5py.File(sys.argv[2]) as b:
    wrong = [n for n in a['PartType1'] if a['PartType1'][n][...].tobytes() != b['PartType1'][n][...].tobytes()]
sys.exit(f'FAILED: {", ".join(wrong)} of {sys.argv[2]} differ' if wrong else 0)
END
done

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
