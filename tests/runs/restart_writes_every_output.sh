#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Outputs belong to redshifts: a restart writes those that lie ahead of the checkpoint, whatever the
# list was before, and numbers them on.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py

cat >config.ini <<END
[box]
size = 30
npart_side = 16
[ic]
z_init = 49
[time]
z_end = 20
accuracy = fast
max_dlna = 0.05
[output]
power_spectrum = no
images = no
checkpoint_minutes = 1e-6
[analysis]
fof = no
END

run() {
  folder=$1
  shift
  timeout "$(seconds 60)" "$PHOTONS" --set output.dir="$folder" "$@" config.ini >out 2>err ||
    complain "$folder, $*: exit code $?"
}

# redshifts FOLDER Z...: the snapshots of a folder, by number, and no others.
redshifts() {
  "$PYTHON" - "$@" 2>err <<'END' || complain "$1: $(tail -n 1 err)"
import glob
import sys
import h5py

found = []
for path in sorted(glob.glob(sys.argv[1] + '/snapshot_*.hdf5')):
    with h5py.File(path) as file:
        found.append(round(float(file['Header'].attrs['Redshift']), 6))
names = [f'{sys.argv[1]}/snapshot_{k:03}.hdf5' for k in range(len(found))]
assert sorted(glob.glob(sys.argv[1] + '/snapshot_*.hdf5')) == names, 'numbers are not 000 and on'
wanted = [float(z) for z in sys.argv[2:]]
assert found == wanted, f'snapshots at z = {found}, not {wanted}'
END
}

# A run that has ended goes on to a lower redshift; at its new end nothing is left.
run longer --set time.z_end=40
redshifts longer 40
cp longer/checkpoint.hdf5 kept.hdf5
run longer --restart --set time.z_end=30
redshifts longer 40 30
run longer --restart --set time.z_end=30
grep -q 'nothing is left to do' out || complain 'a finished run does not say so'
redshifts longer 40 30
# From an older checkpoint, as after a crash: steps are taken again, and logged once.
cp kept.hdf5 longer/checkpoint.hdf5
run longer --restart --set time.z_end=30
redshifts longer 40 30
[ "$(cut -d, -f1 longer/log/timings.csv | sort | uniq -d)" ] && complain 'steps are logged twice'
[ "$(cut -d, -f1 longer/log/outputs.csv | tr '\n' ' ')" = 'output 0 1 ' ] ||
  complain 'log/outputs.csv: not a row each output'
bytes=$(wc -c <longer/snapshot_001.hdf5)
awk -F, -v bytes="$bytes" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
  $1 == 1 { gb = $column["snapshot_gb"]; speed = $column["snapshot_gb_per_s"] * $column["snapshot_s"] }
  END { exit !(1e9 * gb > 0.999 * bytes && 1e9 * gb < 1.001 * bytes && speed > 0.99 * gb && speed < 1.01 * gb) }' \
  longer/log/outputs.csv || complain "log/outputs.csv: the snapshot has not $bytes bytes, or another speed"

# A run stopped at z = 26.4, with three outputs of which two are written, goes on with other lists.
run stopped --steps 12 --set output.redshifts=40,30,20
redshifts stopped 40 30
again() {
  list=$1
  shift
  rm -rf again
  cp -r stopped again
  run again --restart --set output.redshifts="$list"
  redshifts again 40 30 "$@"
}
again 40,30,20 20
again 20 20
again 30,20 20
again 45,40,30,20 20
again 40,30,25,22,20 25 22 20

# Redshifts before the initial conditions cannot be had: no state is written in their place.
cat >gadget.ini <<END
[ic]
source = gadget
file = stopped/snapshot_001.hdf5
[time]
z_end = 28
[output]
redshifts = 40, 28
END
timeout "$(seconds 60)" "$PHOTONS" -q --set output.dir=early gadget.ini >out 2>err || complain "early: $?"
grep -q 'warning: .*redshifts' err || complain 'a redshift before the start: no warning'
redshifts early 28

finish
