#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A folder holds the results of one run: a second run at the same time is refused, a later one needs
# --overwrite or --restart. The last lines of a run name only what is there.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

cat >config.ini <<END
[box]
size = 30
npart_side = 16
[ic]
z_init = 49
[time]
z_end = 40
step = fixed
steps = 2
[output]
dir = run
images = no
END

# refused CODE TEXT ARGUMENT...: one line of error.
refused() {
  code=$1 text=$2
  shift 2
  timeout "$(seconds 60)" "$PHOTONS" "$@" >out 2>err
  found=$?
  [ $found -eq "$code" ] || complain "$*: exit code $found, not $code"
  [ "$(wc -l <err)" -eq 1 ] && grep -q -e "$text" err || complain "$*: not one line with: $text"
}

# No output redshift is reached: no snapshot is named.
"$PHOTONS" --steps 0 --set output.dir=none config.ini >out 2>err || complain "--steps 0: $?"
[ -e none/snapshot_000.hdf5 ] && complain '--steps 0: a snapshot'
grep -q -e snapshot_ -e fof_subhalo_tab -e powerspec -e png out &&
  complain '--steps 0: names files that are not there'
# What has nothing of value needs no --overwrite: first forces only, or a run that was killed early.
touch none/snapshot_000.hdf5.tmp
"$PHOTONS" --steps 0 --set output.dir=none config.ini >out 2>err ||
  complain "--steps 0 again: exit code $?"
for file in timings statistics; do
  [ "$(wc -l <none/log/$file.csv)" -eq 2 ] || complain "--steps 0 again: $file.csv was continued"
done
[ -e none/snapshot_000.hdf5.tmp ] && complain '--steps 0 again: an unfinished file is still there'
"$PHOTONS" --steps 1 --set output.dir=none config.ini >out 2>err || complain "--steps 1: $?"
refused 2 'holds results of another run, such as none/checkpoint.hdf5' \
  --steps 1 --set output.dir=none config.ini
"$PHOTONS" config.ini >out 2>err || complain "the run: exit code $?"
grep -q '^results in run: .*snapshot_' out || complain 'the last lines name no snapshots'
grep -q 'png' out && complain 'the last lines name pictures, of which there are none'

# A later run.
cp -r run before
refused 2 'run .*--restart.*--overwrite' config.ini
diff -r -x .lock run before >/dev/null || complain 'a refused run has changed the folder'
refused 2 'not together' --restart --overwrite config.ini
touch run/mine.txt run/snapshot_000_copy.hdf5 run/log/notes.txt
touch run/powerspec_007.txt run/snapshot_000.hdf5.tmp
mkdir run/kept && touch run/kept/snapshot_000.hdf5
"$PHOTONS" --overwrite --set time.z_end=45 config.ini >out 2>err || complain "--overwrite: $?"
for file in mine.txt snapshot_000_copy.hdf5 log/notes.txt kept/snapshot_000.hdf5 snapshot_000.hdf5; do
  [ -e run/$file ] || complain "--overwrite: $file is gone"
done
for file in powerspec_007.txt snapshot_000.hdf5.tmp; do
  [ -e run/$file ] && complain "--overwrite: $file is left"
done
for file in timings statistics; do
  [ "$(wc -l <run/log/$file.csv)" -eq 4 ] || complain "--overwrite: log/$file.csv has other lines"
done
[ "$(grep -c 'the run begins' run/log/run.log)" -eq 1 ] ||
  complain '--overwrite: log/run.log was continued'
timeout "$(seconds 60)" "$PHOTONS" --dry-run config.ini >out 2>err || complain "--dry-run: exit code $?"
grep -q 'warning: .*--overwrite' err ||
  complain '--dry-run: does not say that a run would be refused'
# Initial conditions that cannot be read take nothing with them.
cp -r run/. before
echo nonsense >bad.gadget2
refused 3 bad.gadget2 --overwrite --set ic.source=gadget --set ic.file=bad.gadget2 config.ini
[ -e run/snapshot_000.hdf5 ] || complain '--overwrite with bad initial conditions: results are gone'
"$PHOTONS" -q --analyse run/snapshot_000.hdf5 --set output.dir=run \
  --set output.image_pixels=64 >out 2>err || complain '--analyse'
[ -e run/density_000.png ] || complain '--analyse into a used folder: no picture'

# At the same time.
"$PHOTONS" -q --set output.dir=busy --set time.steps=1000000 --set output.checkpoint_minutes=1e-6 \
  config.ini 2>first &
id=$!
until_true test -e busy/checkpoint.hdf5
for option in --overwrite --restart --quiet; do
  refused 1 "folder busy: process $id on $(uname -n)" --set output.dir=busy $option config.ini
done
refused 1 "folder busy: process $id" --analyse run/snapshot_000.hdf5 --set output.dir=busy
kill -s KILL $id
wait $id 2>/dev/null
timeout "$(seconds 60)" "$PHOTONS" -q --restart --set output.dir=busy --set time.steps=1000000 --steps 1 \
  config.ini >out 2>err || complain "after a killed run: exit code $?"

finish
