#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A run of gas while it goes on: --watch shows it, the file output-now asks for an output, the file
# stop for a checkpoint and the end. The run goes on from there to the step that --steps says.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

cat >config.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 32, 32, 32
levels = 1
flag_gradient_pressure = 0.5
[time]
end = 100 # some ten thousand steps
[output]
dir = run
interval = 50
log_seconds = 0
END

watch() { "$PHOTONS" --watch run >out 2>err || complain "--watch: exit code $?"; }
# says TEXT: a line of the view; its beginning.
says() { grep -q -e "^$1" out || complain "the view lacks: $1; it is: $(cat out)"; }

"$PHOTONS" config.ini >said 2>err &
until_true has_lines 9 run/log/timings.csv
touch run/output-now
until_true test -s run/gas_001.hdf5
watch
says 'state *running'
says 'progress .* step [0-9]*, t = [0-9.e-]* of 100$'
says 'speed *[0-9.e+]* cell updates/s'
says 'cores *advance [0-9]*%'
says 'patches *64 [0-9]* by level'
says 'statistics *mass changed by .*e-.*, energy changed by'
says 'outputs *2 written, the last one is number 001; 2 to come, the next at t = 50'
grep '^ETA *[0-9]' out >/dev/null || complain "no ETA"
touch run/stop
wait $! || complain "a run that was stopped: exit code $?"
grep -q '^step 5 .*cells/s  ETA ' said || complain "no line of step 5: $(cat said)"
grep -q 'stopped by the file run/stop after step' err || complain "it does not say why it stopped"
watch
says 'state *stopped'

last=$(tail -n 1 run/log/timings.csv | cut -d, -f1)
"$PHOTONS" --restart --verbose --steps $((last + 2)) config.ini >said 2>err ||
  complain "the restart: exit code $?"
[ "$(tail -n 1 run/log/timings.csv | cut -d, -f1)" -eq $((last + 2)) ] || complain "other steps"
grep -q '^    cores .*advance [0-9]*%' said ||
  complain "--verbose does not tell the stages"
grep -q '^    patches by level 64 ' said || complain "--verbose does not tell the patches"
finish
