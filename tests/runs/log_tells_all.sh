#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a run says: log/run.log has all of it; a progress bar is where a person looks, else there are
# lines of at most 100 columns; -q prints nothing, -v every step. log/statistics.csv agrees with the
# snapshots.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_mpi
need_python h5py numpy
unset SLURM_STEP_ID # this test may run in a job

cat >config.ini <<END
[box]
size = 30
npart_side = 16
[cosmology]
Omega_lambda = 0.5 # a run of so curved a universe warns of that
[ic]
z_init = 49
[time]
z_end = 9
accuracy = fast
max_dlna = 0.1
[output]
dir = run
redshifts = 49, 20, 9
power_spectrum = no
images = no
END
steps() { grep -c '^step ' "$1"; }
narrow() { ! grep -q '.\{101\}' "$1"; }
# terminal COMMAND...: run the command on a terminal of 90 columns, what it prints goes to ./out.
terminal() { TERM=xterm helper terminal 90 "$@" >out 2>err || complain "$*: exit code $?"; }

# Output into a file.
"$PHOTONS" --set runtime.trace_steps=9999 --set output.log_seconds=1e6 config.ini >out 2>err ||
  complain "the run: exit code $?"
[ "$(grep -c -e 'warning: .*Omega_k' -e 'warning: .*recorded nothing' err)" -eq 2 ] ||
  complain 'the warnings of this test are not printed'
grep -q "$(printf '[\r\033]')" out run/log/run.log && complain 'control characters in a file'
narrow out || complain 'lines of more than 100 columns'
all=$(($(wc -l <run/log/timings.csv) - 1))
last=$((all - 1))
[ "$(steps run/log/run.log)" -eq $all ] || complain 'log/run.log: not a line each step'
[ "$(steps out)" -eq 2 ] || complain 'lines more often than output.log_seconds'
grep -q '^step 0 ' out && grep -q "^step $last " out || complain 'the first or the last step lacks'
# All that is printed is in the log, but for the program's name before messages.
grep -v '^$' out | grep -v -x -F -f run/log/run.log && complain 'lines are not in log/run.log'
date='20[0-9-]*T[0-9:]*Z'
sed 's/^photons-starpu: //' err | while read -r line; do
  grep -q -F "Z $line" run/log/run.log || echo "$line"
done >lacking
[ -s lacking ] && complain "log/run.log lacks: $(cat lacking)"
grep -v "^$date" run/log/run.log >plain # a warning is one line, however long
narrow plain || complain 'log/run.log: lines of more than 100 columns'
grep -q "^$date the run begins" run/log/run.log || complain 'no date at the beginning'
tail -n 1 run/log/run.log | grep -q "^$date the run ends" || complain 'no date at the end'
helper statistics run || failures=$((failures + 1))
"$PHOTONS" --overwrite --set output.log_seconds=0 config.ini >out 2>err || complain "each step: $?"
[ "$(steps out)" -eq $all ] || complain 'output.log_seconds = 0: not a line each step'

# Quiet and verbose.
flat='--set cosmology.Omega_lambda=0.6856'
"$PHOTONS" -q --overwrite $flat config.ini >out 2>&1 || complain "-q: $?"
[ -s out ] && complain '-q: something is printed'
[ "$(steps run/log/run.log)" -eq $all ] || complain '-q: log/run.log: not a line each step'
"$PHOTONS" -v --overwrite config.ini >out 2>err || complain "-v: $?"
[ "$(steps out)" -eq $all ] || complain '-v: not each step'
[ "$(grep -c '^    cores .*p2p .*idle .*imbalance' out)" -eq $all ] ||
  complain '-v: not the parts of each step'
narrow out || complain '-v: lines of more than 100 columns'

# A terminal, with and without a launcher, and a dumb one.
bars() { tr '\r' '\n' <out | grep -c '\] step .*ETA'; }
terminal "$PHOTONS" --overwrite config.ini
[ "$(bars)" -eq $all ] || complain 'a terminal: no progress bar'
tr '\r' '\n' <out | grep '\] step ' | grep -q '.\{94\}' && complain 'a bar wider than the terminal'
[ "$(steps out)" -eq 0 ] || complain 'a terminal: lines of steps, too'
[ "$(steps run/log/run.log)" -eq $all ] || complain 'a terminal: log/run.log lacks steps'
terminal mpirun --oversubscribe --bind-to none -n 1 "$PHOTONS" --overwrite config.ini
[ "$(bars)" -eq 0 ] && [ "$(steps out)" -ge 2 ] || complain 'mpirun: a progress bar, or no lines'
terminal env SLURM_STEP_ID=0 "$PHOTONS" --overwrite config.ini
[ "$(bars)" -eq 0 ] && [ "$(steps out)" -ge 2 ] || complain 'srun: a progress bar, or no lines'
terminal env TERM=dumb "$PHOTONS" --overwrite config.ini
[ "$(bars)" -eq 0 ] && [ "$(steps out)" -ge 2 ] || complain 'TERM=dumb: a bar, or no lines'

# A run that is stopped and goes on: one log, and one row a step.
"$PHOTONS" -q --overwrite --steps 8 --set output.checkpoint_minutes=1e6 config.ini 2>err ||
  complain "--steps 8: $?"
"$PHOTONS" -q --restart config.ini 2>err || complain "--restart: $?"
grep -q "^$date the run goes on after step 8 " run/log/run.log ||
  complain 'log/run.log does not say that the run went on'
[ "$(steps run/log/run.log)" -eq $all ] || complain 'log/run.log: not a line each step of two parts'
[ "$(wc -l <run/log/statistics.csv)" -eq $((all + 1)) ] ||
  complain 'log/statistics.csv: not a row each step of two parts'

# A run that fails.
adaptive='--set time.step=adaptive --set time.min_dlna=0.09 --set time.z_end=0
  --set output.redshifts=0'
"$PHOTONS" -q --overwrite $adaptive config.ini >out 2>err && complain 'min_dlna: does not fail'
message=$(sed -n 's/^photons-starpu: \(error: .*\)/\1/p' err)
[ "$message" ] && tail -n 1 run/log/run.log | grep -q -F "$message" ||
  complain 'log/run.log does not end with the error'

finish
