#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that is stopped by signals and goes on from its checkpoints gives the same bits as an
# unbroken one, and its log has every step once.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py

# Adaptive steps, an upper limit of the softening tuned sorts and rebuilds: all that a run decides
# as it goes.
cat >config.ini <<END
[box]
size = 30
npart_side = 32
[ic]
z_init = 24
[gravity]
pm_grid = 20
pm_grid_most = 40
softening_max_physical = 15
[time]
z_end = 0
step = adaptive
max_dlna = 0.06
eta = 0.3
[output]
redshifts = 9, 4, 1, 0
accelerations = yes
images = no
END

timeout "$(seconds 120)" "$PHOTONS" --quiet --set output.dir=whole config.ini 2>err ||
  complain "the unbroken run: exit code $?"
steps=$(($(wc -l <whole/log/timings.csv) - 2))
[ $steps -ge 120 ] || complain "only $steps steps: too few for this test"

# stop SIGNAL ROWS CODE OPTION...: start, wait for so many lines in the log and a step of this
# start's own, send the signal. The run's folder is $parts.
parts=parts
stop() {
  signal=$1 rows=$2 code=$3
  shift 3
  before=$(cat $parts/log/timings.csv 2>/dev/null | wc -l)
  [ "$rows" -gt "$before" ] || rows=$((before + 1))
  "$PHOTONS" --quiet --set output.dir=$parts "$@" config.ini 2>err &
  id=$!
  waited=0
  until [ -e $parts/log/timings.csv ] && [ "$(wc -l <$parts/log/timings.csv)" -ge "$rows" ] ||
    [ $waited -ge 600 ]; do
    sleep 0.05
    waited=$((waited + 1))
  done
  kill -s "$signal" $id
  wait $id
  found=$?
  [ $found -eq "$code" ] || complain "SIG$signal after $rows lines: exit code $found, not $code"
  [ -s $parts/checkpoint.hdf5 ] || complain "SIG$signal: no checkpoint"
  grep -q 'go on with --restart' err || complain "SIG$signal: nothing said of --restart"
  [ "$(find $parts -name '*.tmp')" ] && complain "SIG$signal: left unfinished files"
}

stop INT 5 130
stop TERM 12 143 --restart
stop INT 60 130 --restart
# By now the mesh has become finer, and a run takes that mesh, whatever it may change to by itself.
"$PHOTONS" --dry-run --restart --set output.dir=parts --set gravity.pm_grid_most=20 config.ini >out 2>err &&
  grep -q '^  mesh  *20^3.*; later at most 40^3' out ||
  complain "the memory of a checkpoint's mesh is left out"

# What changes the result may not change; what does not, may.
refused() {
  message=$1
  shift
  cp parts/checkpoint.hdf5 before.hdf5
  timeout "$(seconds 60)" "$PHOTONS" --quiet --restart --set output.dir=parts "$@" config.ini >out 2>err
  found=$?
  [ $found -eq 3 ] || complain "restart with $*: exit code $found, not 3"
  [ "$(wc -l <err)" -eq 1 ] && grep -qF "$message" err ||
    complain "restart with $*: no line with: $message"
  cmp -s parts/checkpoint.hdf5 before.hdf5 ||
    complain "restart with $*: the checkpoint has changed"
}
refused gravity.theta --set gravity.theta=0.55
refused gravity.order --set gravity.accuracy=paper
refused time.eta --set time.eta=0.01
refused time.step --set time.step=block
refused cosmology.Omega_m --set cosmology.Omega_m=0.35
refused runtime.leaf_size --set runtime.leaf_size=7
refused ic.seed --set ic.seed=4

# The newest checkpoint is damaged: a warning says that the one before is taken; the end is the same.
cp -r parts damaged
printf 'damage' | dd of=damaged/checkpoint.hdf5 bs=1 seek=700000 conv=notrunc 2>err
timeout "$(seconds 120)" "$PHOTONS" --quiet --restart --set output.dir=damaged config.ini >out 2>err ||
  complain "a damaged checkpoint: exit code $?"
grep 'warning: damaged/checkpoint.hdf5: dataset ' err | grep -q damaged/checkpoint-previous.hdf5 ||
  complain 'a damaged checkpoint: not said'

timeout "$(seconds 120)" "$PHOTONS" --quiet --restart --set output.dir=parts --set runtime.workers=1 \
  --set output.images=yes --set output.image_pixels=64 config.ini 2>err ||
  complain "the last part: exit code $?"

for k in 000 001 002 003; do
  support same_snapshots.py whole/snapshot_$k.hdf5 parts/snapshot_$k.hdf5 || failures=$((failures + 1))
  same_text whole/powerspec_$k.txt parts/powerspec_$k.txt || complain "power spectrum $k"
done
support same_snapshots.py whole/snapshot_003.hdf5 damaged/snapshot_003.hdf5 || failures=$((failures + 1))
cat >same_steps.py <<'END'
import csv
import sys

wrong = []
rows = [list(csv.DictReader(open(f'{run}/log/timings.csv'))) for run in sys.argv[1:]]
physics = ['step', 'a', 'dlna', 'p2p_pairs', 'm2l_interactions', 'rebuilt', 'sorted']
if [[r[c] for c in physics] for r in rows[0]] != [[r[c] for c in physics] for r in rows[1]]:
    wrong.append('the steps in log/timings.csv')
for renewal in 'rebuilt', 'sorted':
    if not 1 < sum(int(r[renewal]) for r in rows[0]) < len(rows[0]):
        wrong.append(f'the test itself: no mixture of steps {renewal} and not')
sys.exit('differ: ' + ', '.join(wrong) if wrong else 0)
END
"$PYTHON" same_steps.py whole parts || failures=$((failures + 1))
cmp whole/log/statistics.csv parts/log/statistics.csv || complain 'statistics of the steps'

# Block time steps. Outputs change the length of base steps, so that rungs shift.
block='--set time.step=block --set time.accuracy=fast --set time.max_dlna=0.1 --set time.z_end=1.5
  --set output.redshifts=9,4,1.5 --set runtime.rebuild_interval=7
  --set gravity.softening_max_physical=5'
timeout "$(seconds 120)" "$PHOTONS" --quiet --set output.dir=block $block config.ini 2>err ||
  complain "the unbroken run with block steps: exit code $?"
parts=block-parts
stop INT 5 130 $block
stop TERM 20 143 --restart $block
support occupied_rungs.py block-parts/checkpoint.hdf5 3 || failures=$((failures + 1))
timeout "$(seconds 120)" "$PHOTONS" --quiet --restart --set output.dir=block-parts --set runtime.workers=1 \
  $block config.ini 2>err ||
  complain "the last part with block steps: exit code $?"
cmp block/log/statistics.csv block-parts/log/statistics.csv ||
  complain 'statistics of block time steps'
for k in 000 001 002; do
  support same_snapshots.py block/snapshot_$k.hdf5 block-parts/snapshot_$k.hdf5 ||
    failures=$((failures + 1))
done
for run in whole parts block block-parts; do # the last part begins with another mesh than the first
  grep -q 'the mesh has 40^3' $run/log/run.log || complain "the test itself: one mesh in $run"
done
"$PYTHON" same_steps.py block block-parts || failures=$((failures + 1))

# Nothing to go on from.
timeout "$(seconds 60)" "$PHOTONS" --quiet --restart --set output.dir=elsewhere config.ini >out 2>err
found=$?
[ $found -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'elsewhere/checkpoint.hdf5' err ||
  complain "restart without a checkpoint: exit code $found"
# Half a checkpoint.
mkdir broken
head -c 500000 before.hdf5 >broken/checkpoint.hdf5
timeout "$(seconds 60)" "$PHOTONS" --quiet --restart --set output.dir=broken config.ini >out 2>err
found=$?
[ $found -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'broken/checkpoint.hdf5' err ||
  complain "restart from half a checkpoint: exit code $found"
cp broken/checkpoint.hdf5 broken/checkpoint-previous.hdf5
timeout "$(seconds 60)" "$PHOTONS" --quiet --restart --set output.dir=broken config.ini >out 2>err
found=$?
[ $found -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] &&
  grep -q 'broken/checkpoint.hdf5.*broken/checkpoint-previous.hdf5' err ||
  complain "restart from two halves: exit code $found"

finish
