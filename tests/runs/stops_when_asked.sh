#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A run ends when it is asked to, by a signal, by a file, by its time or by --steps, and leaves a checkpoint, or
# says that there is none; a file asks for an output; steps that get nowhere end the run.
# A shell cannot take back that SIGHUP is ignored, as it is under nohup: env can.
[ -n "${hangup:-}" ] || hangup=heard exec env --default-signal=HUP sh "$0" "$@"
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

cat >config.ini <<END
[box]
size = 30
npart_side = 16
[ic]
z_init = 49
[time]
z_end = 1
step = fixed
steps = 100000
[output]
dir = run
power_spectrum = no
images = no
[analysis]
fof = no
END

# Set found to the exit code of the job $id, which has a minute to end.
await() {
  until_true is_gone $id
  is_gone $id || kill -s KILL $id
  wait $id
  found=$?
}
# begin ARGUMENT...: a new run as job $id, until it has taken steps.
begin() {
  rm -rf run
  "$PHOTONS" "$@" config.ini >out 2>err &
  id=$!
  until_true has_lines 5 run/log/timings.csv
}
# ended CODE TEXT WHAT: the job has ended so, has said TEXT, and its checkpoint is good.
ended() {
  await
  [ $found -eq "$1" ] || complain "$3: exit code $found, not $1"
  grep -q -e "$2" err || complain "$3: nothing said of: $2"
  [ -s run/checkpoint.hdf5 ] || complain "$3: no checkpoint"
  grep -q 'snapshot_' out && complain "$3: snapshots are named, but there are none"
  "$PHOTONS" -q --restart --steps 1 config.ini >/dev/null 2>err || complain "$3: does not go on: $?"
}

# A second signal some seconds after the first is not the same wish: the run ends although its step
# does not, here for a reader who does not read. The second signal is sent below.
mkfifo full
sleep 600 <full &
reader=$!
head -c 48000 /dev/zero >full # of the 65536 bytes that it holds
"$PHOTONS" --set output.dir=stuck --set output.log_seconds=0 config.ini >full 2>stuck-err &
stuck=$!
trap 'kill -s KILL $reader $stuck 2>/dev/null; rm -rf "$work"' EXIT
lines=0
until [ "$lines" -ge 5 ] && [ "$lines" -eq "$(wc -l <stuck/log/timings.csv)" ]; do
  until_true test -e stuck/log/timings.csv
  lines=$(wc -l <stuck/log/timings.csv)
  sleep 0.5
done
kill -s TERM $stuck
first_signal=$(date +%s)

begin
kill -s TERM $id
kill -s TERM $id
sleep 0.01
kill -s INT $id 2>/dev/null
ended 143 'stopped by signal 15 .*go on with --restart' 'two signals at once'
for signal in HUP:1 XCPU:24 USR1:10; do
  begin
  kill -s ${signal%:*} $id
  ended $((128 + ${signal#*:})) 'go on with --restart' "SIG${signal%:*}"
done

# nohup's wish is respected, and a reader of the messages may go.
rm -rf run
(trap '' HUP; exec "$PHOTONS" config.ini >out 2>err) &
id=$!
until_true test -e run/log/timings.csv
kill -s HUP $id
kill -s PIPE $id
sleep 1
kill -s 0 $id 2>/dev/null || complain 'SIGHUP that was ignored, or SIGPIPE, ends the run'
kill -s TERM $id
ended 143 'signal 15' 'SIGPIPE'

# The run whose step does not end: 5 seconds are "some seconds".
six_seconds_on() { [ $(($(date +%s) - first_signal)) -gt 6 ]; }
until_true six_seconds_on
kill -s 0 $stuck 2>/dev/null || complain 'a signal in a step ends the run before its time'
id=$stuck
kill -s TERM $id
await
[ $found -eq 143 ] || complain "a second signal after 6 seconds: exit code $found, not 143"
grep -q 'stopped by signal 15 and again' stuck-err ||
  complain 'a second signal after 6 seconds: not said'
kill $reader

# Files in the folder.
begin
touch run/output-now
until_true test -e run/snapshot_000.hdf5
[ -e run/output-now ] && complain 'output-now is still there'
touch run/output-now
until_true test -e run/snapshot_001.hdf5
kill -s TERM $id
await
grep -q '^results in run: .*snapshot_' out ||
  complain 'output-now: the last lines do not name snapshots'
[ -e run/snapshot_001.hdf5 ] && [ ! -e run/snapshot_002.hdf5 ] || complain 'output-now: not two snapshots'
begin
touch run/stop
ended 0 'stopped by the file run/stop .*go on with --restart' 'the file stop'
[ -e run/stop ] && complain 'the file stop is still there'

# Time that is used up: 4 seconds, of which the start takes a part.
rm -rf run
"$PHOTONS" --set runtime.wall_time=0.0011 config.ini >out 2>err &
id=$!
ended 0 'stopped by runtime.wall_time .*go on with --restart' 'wall_time'

# Before the first step there is nothing to keep.
rm -rf run
"$PHOTONS" --set box.npart_side=160 --set runtime.group_size=4096 config.ini >out 2>err &
id=$!
until_true test -e run/.lock
kill -s TERM $id
await
[ $found -eq 143 ] || complain "before the first step: exit code $found, not 143"
grep -q 'stopped by signal 15 before the first step: there is no checkpoint' err ||
  complain 'before the first step: not said'
[ -e run/checkpoint.hdf5 ] && complain 'before the first step: a checkpoint'

# While StarPU starts, too. Without a model of the machine this takes some hundredths of a second.
for delay in 0.005 0.01 0.02; do
  rm -rf run home
  mkdir home
  STARPU_HOME=$work/home "$PHOTONS" config.ini >out 2>err &
  id=$!
  until [ -e run/.lock ]; do :; done
  sleep $delay
  kill -s TERM $id
  await
  [ $found -eq 143 ] && grep -q 'stopped by signal 15 ' err ||
    complain "while StarPU starts: exit code $found, or nothing said"
done

# A step that lasts longer than it may is given up; what stands is told.
slow='--set box.npart_side=112 --set runtime.workers=1 --set runtime.signal_grace=0'
given_up() {
  until_true grep -q -s '^step ' out
  sleep 0.1
  kill -s TERM $id
  await
  [ $found -eq 143 ] || complain "a step given up, $1: exit code $found, not 143"
  grep -q "stopped by signal 15 in the middle of a step: $2" err ||
    complain "a step given up, $1: not said: $2"
}
rm -rf run out
STARPU_NCPU=1 "$PHOTONS" $slow config.ini >out 2>err &
id=$!
given_up 'no checkpoint' 'there is no checkpoint'
rm -rf run
STARPU_NCPU=1 "$PHOTONS" $slow --steps 1 config.ini >out 2>err || complain "one step: exit code $?"
[ -s run/checkpoint.hdf5 ] || complain 'one step: no checkpoint'
rm out # else the steps of the run before could be taken for those of this one
STARPU_NCPU=1 "$PHOTONS" $slow --restart config.ini >out 2>err &
id=$!
given_up 'a checkpoint' 'the checkpoint run/checkpoint.hdf5 at z = 49 stands'

# Steps that get nowhere.
rm -rf run
timeout "$(seconds 60)" "$PHOTONS" -q --set time.step=adaptive --set time.eta=1e-6 --set time.min_dlna=1e-3 config.ini >out 2>err
found=$?
[ $found -eq 1 ] || complain "short steps: exit code $found, not 1"
[ "$(wc -l <err)" -eq 1 ] && grep -q 'error: .*z = .*ln a.*time.min_dlna.*acceleration.*softening' err ||
  complain 'short steps: not one line that says why'
# Where steps were taken before, they are kept, and may go on.
rm -rf run
adaptive='--set time.step=adaptive --set time.max_dlna=0.1'
timeout "$(seconds 60)" "$PHOTONS" -q $adaptive --set time.min_dlna=0.09 config.ini >out 2>err
found=$?
[ $found -eq 1 ] && grep -q 'the checkpoint run/checkpoint.hdf5 at z = .* stands' err ||
  complain "min_dlna after some steps: exit code $found, or no checkpoint is named"
timeout "$(seconds 60)" "$PHOTONS" -q $adaptive --restart --set time.min_dlna=0.001 config.ini >out 2>err ||
  complain "min_dlna lowered: exit code $?"

finish
