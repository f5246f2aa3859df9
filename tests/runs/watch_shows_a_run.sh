#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --watch: what is shown of a run that has ended, of one that is paused, of one that has just begun,
# and of folders that hold none. The numbers are those of the files in the folder. The view on a
# terminal is renewed until the run ends. Nothing is written, and the lock stays the run's.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_mpi
need_python
unset SLURM_STEP_ID # this test may run in a job
LC_ALL=C.UTF-8
export LC_ALL

cat >config.ini <<END
[box]
size = 30
npart_side = 16
[cosmology]
Omega_lambda = 0.5 # a run of so curved a universe warns of that
[ic]
z_init = 49
[time]
z_end = 3
accuracy = fast
max_dlna = 0.1
[output]
dir = run
redshifts = 20, 9, 3
energy_steps = 4
images = no
END

watch() { "$PHOTONS" --watch "$1" >out 2>err || complain "--watch $1: exit code $?"; }
# says TEXT: a line of the view; its beginning.
says() { grep -q -e "^$1" out || complain "the view lacks: $1; it is: $(cat out)"; }
plain() {
  grep -q "$(printf '\033')" out && complain 'an escape sequence in a file'
  grep -q '.\{101\}' out && complain 'a line of more than 100 columns'
}
# locked FOLDER: its view while a process works in it.
locked() {
  "$PYTHON" -c "import fcntl, subprocess, sys
with open(sys.argv[-1] + '/.lock', 'r+') as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    sys.exit(subprocess.call(sys.argv[1:]))" "$PHOTONS" --watch "$1" >out 2>err ||
    complain "$1, which is locked: exit code $?"
}
# A run that has ended.
"$PHOTONS" -q config.ini 2>/dev/null || complain "the run: exit code $?"
ls -lAR --time-style=full-iso run >before
watch run
ls -lAR --time-style=full-iso run | cmp -s - before || complain 'the folder has changed'
plain
says 'state *ended; last step'
says 'progress .*100.0% in ln a, step .* of 3$'
says 'rungs 0-.*most on rung'
says 'statistics *Layzer-Irvine error'
says 'outputs *3 written, the last one is number 002$'
says 'P(k) *[▁▂▃▄▅▆▇█]\{60\}$'
says '20[0-9-]*T[0-9:]*Z warning: .*Omega_k'
grep -q '^ETA' out && complain 'a run that has ended has an ETA'
helper numbers run out || complain 'numbers are wrong'
LC_ALL=C "$PHOTONS" --watch run >out 2>err || complain "LC_ALL=C: exit code $?"
LC_ALL=C grep -q '[^ -~]' out && complain 'LC_ALL=C: characters that are not ASCII'
helper numbers run out || complain 'LC_ALL=C: numbers are wrong'
mpirun --oversubscribe --bind-to none -n 2 "$PHOTONS" --watch run >out 2>err ||
  complain "on two ranks: exit code $?"
[ "$(grep -c '^state' out)" -eq 1 ] || complain 'two ranks print more than one view'

# Files that are incomplete, lacking or from elsewhere.
cp -r run torn
head -n 1 torn/log/timings.csv >header
tail -n 1 run/log/timings.csv | cut -c 1-60 >half
head -n -3 run/log/timings.csv | cat - half | head -c -1 >torn/log/timings.csv
printf '%s' "$(head -c -10 run/log/statistics.csv)" >torn/log/statistics.csv
head -c 1500 run/powerspec_002.txt >torn/powerspec_002.txt
watch torn
helper numbers torn out || complain 'half a line: numbers are wrong'
for lost in log/statistics.csv log/run.log config-used.ini log/timings.csv log; do
  rm -r "torn/$lost"
  watch torn
  plain
  says 'outputs *3 written'
done
says 'progress *no step has ended yet'
says 'state *no process works in this folder'

# A long run: the end of a large file is read.
mkdir -p long/log
cp run/config-used.ini long
"$PYTHON" -c "
lines = open('run/log/timings.csv').readlines()
with open('long/log/timings.csv', 'w') as out:
    out.writelines(lines[:2])
    for i in range(20000):
        out.write(lines[2 + i % (len(lines) - 2)])
    out.writelines(lines[2:])"
watch long
helper numbers long out || complain 'a long run: numbers are wrong'

# An analysis.
"$PHOTONS" -q --analyse run/snapshot_001.hdf5 --set output.dir=analysis --set output.images=no 2>err ||
  complain "--analyse: exit code $?"
watch analysis
says 'outputs *1 written, the last one is number 001$'
says 'P(k)'

# An isolated system: its time is in Myr. Its last steps are taken away, so that there is a way
# ahead; without config-used.ini the columns tell the time.
cat >plummer.ini <<END
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
model = plummer
particles = 2000
[gravity]
softening = 0.1
[time]
end = 20
max_step = 2
[output]
dir = plummer
times = 10, 20
energy_steps = 4
END
"$PHOTONS" -q plummer.ini 2>err || complain "an isolated system: exit code $?: $(cat err)"
watch plummer
plain
says 'progress *\[*[█#]*\]* 100.0%, step [0-9]*, t = 20 Myr of 20$'
says 'statistics *energy error |E - E0|/|E0| [0-9.e+-]* at t = 20 Myr$'
# The figure's: log/energy.csv begins with E0 and ends with E; nothing has escaped.
error=$(sed -n 's/.*|E0| \([0-9.e+-]*\) at.*/\1/p' out)
awk -F , -v shown="$error" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "total") c = i; next }
  NR == 2 { first = $c } { e = $c / first - 1; if (e < 0) e = -e }
  END { d = e - shown; if (d < 0) d = -d; exit !(e > 0 && d <= 0.006 * e) }' plummer/log/energy.csv ||
  complain "the error of the energy is shown as $error: $(cat plummer/log/energy.csv)"
says 'outputs *2 written, the last one is number 001$'
grep -q -e 'z =' -e 'ln a' -e nan out && complain "redshifts of an isolated system: $(cat out)"
awk -F , 'NR == 1 || $2 <= 8' plummer/log/timings.csv >early
cp early plummer/log/timings.csv
watch plummer
says 'progress .* 40.0%, step [0-9]*, t = 8 Myr of 20$'
says 'outputs .*; 2 to come, the next at t = 10 Myr$'
locked plummer
says 'ETA *[0-9][0-9:]*'
rm plummer/config-used.ini
watch plummer
says 'progress *step [0-9]*, t = 8 Myr$'

# Dark energy counts in what is still to come: a table of w as w0.
early_view() { # LINES...: of the ETA with these lines of [cosmology] in the place of w0
  sed "s/^w0 = .*/$1/" run/config-used.ini >dark/config-used.ini
  locked dark
  sed -n 's/^ETA *//p' out
}
cp -r run dark
printf '# a w\n0.5 -0.1\n1 -0.1\n' >w.txt
awk -F , -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "wall_s") c = i }
  NR > 2 { $c = 3000 } NR < 9' run/log/timings.csv >dark/log/timings.csv
lambda=$(early_view 'w0 = -1') table=$(early_view 'w_table = w.txt') same=$(early_view 'w0 = -0.1')
[ "$table" = "$same" ] && [ -n "$same" ] && [ "$table" != "$lambda" ] ||
  complain "the ETA with a table of w is $table, with w0 $same, with a cosmological constant $lambda"

# Bad usage.
refused() {
  text=$1
  shift
  "$PHOTONS" "$@" >out 2>err
  found=$?
  [ $found -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -e "$text" err ||
    complain "$*: exit code $found, or not one line with: $text"
}
mkdir empty
refused 'nowhere: there is no such folder' --watch nowhere
refused 'empty: no run has begun in this folder' --watch empty
refused 'config.ini: it is not a folder' --watch config.ini
refused 'no config.ini and no other options' --watch run config.ini
refused 'no config.ini and no other options' --watch run --restart
refused 'needs a value' --watch

# A run that goes on, but is paused after some steps.
"$PHOTONS" -q --set output.dir=busy --set time.step=fixed --set time.steps=1000000 config.ini \
  2>/dev/null &
id=$!
trap 'kill -s KILL "$id" 2>/dev/null; rm -rf "$work"' EXIT
until_true has_lines 20 busy/log/timings.csv
kill -s STOP $id
watch busy
plain
says "state *running, process $id on $(uname -n); last step"
says 'outputs *0 written; 3 to come, the next at z = 20$'
says 'ETA *[0-9][0-9:]*'
helper numbers busy out || complain 'a run that goes on: numbers are wrong'
"$PHOTONS" --overwrite --set output.dir=busy config.ini >out 2>err && complain 'the lock is gone'

# The view on a terminal ends with the run. It is renewed before.
TERM=xterm helper terminal 75 "$PHOTONS" --watch busy >screen 2>err &
viewer=$!
views() { grep -o -a "$(printf '\033\\[H')" screen | wc -l; }
two_views() { [ "$(views)" -ge 2 ]; }
until_true two_views
two_views || complain 'the view is not renewed'
kill -s 0 $viewer || complain 'the view ends before the run'
touch busy/stop
kill -s CONT $id
wait $id || complain "the run that was watched: exit code $?"
wait $viewer || complain "--watch on a terminal: exit code $?"
helper last_view screen 75 >out || complain 'lines are wider than the terminal'
says 'state *stopped; last step'
helper numbers busy out || complain 'the last view: numbers are wrong'
TERM=dumb helper terminal 75 "$PHOTONS" --watch busy >screen 2>err || complain 'TERM=dumb'
tr -d '\r' <screen >out
plain

# A run that was killed, and one that failed.
sed '$d' run/log/run.log >torn.log
mkdir killed killed/log && cp torn.log killed/log/run.log && touch killed/.lock
watch killed
says 'state *broken off'
echo '2026-01-01T00:00:00Z error: the disk is full' >>killed/log/run.log
watch killed
says 'state *failed'
says '2026-01-01T00:00:00Z error: the disk is full'

finish
