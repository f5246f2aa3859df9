#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Outputs that are written beside the next steps are those of a run that waits for them, to the bit, also where a
# checkpoint or the end of the program comes soon after. A file that cannot be written ends the run by name.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py

cat >config.ini <<END
[box]
size = 8
npart_side = 16
[ic]
z_init = 24
[time]
z_end = 2
accuracy = fast
max_dlna = 0.05
[output]
beside = yes
redshifts = 6, 4, 3, 2
accelerations = yes
power_spectrum = no
images = no
subhalos = yes
trees = yes
lean = yes
subsample = 0.1
multipoles = yes
correlation = yes
halo_power = yes
[analysis]
min_members = 20
subhalo_members = 20
END

run() {
  folder=$1
  shift
  timeout "$(seconds 120)" "$PHOTONS" --set output.dir="$folder" "$@" config.ini >out 2>err ||
    complain "$folder, $*: exit code $?"
}

# same FOLDER: its files hold what those of the run that waits hold.
same() {
  "$PYTHON" - waits "$1" 2>err <<'END' || complain "$1: $(tail -n 1 err)"
import os
import sys

import h5py

ours, theirs = sys.argv[1:]
names = [name for name in sorted(os.listdir(ours)) if name.endswith((".hdf5", ".txt"))]
assert len(names) > 16, names
for name in names:
    if name.startswith("checkpoint"):
        continue
    if name.endswith(".txt"):
        texts = [[x for x in open(f"{d}/{name}") if "written by" not in x] for d in (ours, theirs)]
        lines = [[x for x in text if not x.startswith("#")] for text in texts]
        assert lines[0] == lines[1], name
        continue
    with h5py.File(f"{ours}/{name}") as a, h5py.File(f"{theirs}/{name}") as b:
        datasets = []
        a.visititems(lambda path, o: datasets.append(path) if isinstance(o, h5py.Dataset) else None)
        assert datasets, f"{name} is empty"
        for path in datasets:
            assert a[path][...].tobytes() == b[path][...].tobytes(), f"{name}: {path}"
END
}

# column FOLDER NAME: that column of log/outputs.csv, row by row.
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
    NR > 1 { print (column ? $column : "missing") }' "$1/log/outputs.csv"
}

run waits --set output.beside=no
run beside
same beside
# All outputs but the last one, after which there is no step, were copied.
column beside copy_s | awk '{ copied += $1 > 0 } END { exit !(NR == 4 && copied == 3 && $1 == 0) }' ||
  complain "copies: $(column beside copy_s)"
column waits copy_s | awk '{ copied += $1 != 0 } END { exit !(NR == 4 && copied == 0) }' ||
  complain 'a run that waits has copies'
grep -q 'output 1 at z = 4 written in .* beside the steps' beside/log/run.log ||
  complain 'the log does not say what ran beside steps'
# The mesh gives its memory back between forces: there is none for a copy.
run small --set runtime.memory=small
column small copy_s | awk '{ copied += $1 != 0 } END { exit !(NR == 4 && copied == 0) }' ||
  complain 'a run in little memory has copies'

# The program ends at the step of an output, and goes on.
step=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
  NR > 1 && $column["z"] < 4.0001 { print $1; exit }' waits/log/timings.csv)
run stopped --steps "$step"
[ -f stopped/snapshot_001.hdf5 ] || complain 'the end of the program does not wait for an output'
run stopped --restart
same stopped

# What cannot be written ends the run: no output is lost without a word.
run fails --steps "$((step - 1))"
mkdir -p fails/snapshot_001.hdf5/full
timeout "$(seconds 120)" "$PHOTONS" --set output.dir=fails --restart config.ini >out 2>err && complain 'a failed output is no failure'
grep -q 'error: .*snapshot_001.hdf5' err || complain "a failed output has no name: $(cat err)"
grep -q 'output 1 at z = 4 begun' out || complain 'the output did not fail beside steps'
[ -f fails/snapshot_000.hdf5 ] || complain 'the output before the failed one is lost'
[ "$(find fails -name '*.tmp')" ] && complain 'unfinished files are left'
finish
