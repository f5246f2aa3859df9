#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever goes wrong on one process of several, or on all, ends the whole run within seconds, with
# one line that says what; nothing is left half-written.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
STARPU_NCPU=1 # of each process; all else is set for every test
export STARPU_NCPU
need_mpi

# On process $BAD only, the shell command $FAULT before the program starts. What lies in memory
# that processes share would count as files, too: tcp, and shared_memory = no below.
cat >start <<'END'
#!/bin/sh
echo $$ >pid.$OMPI_COMM_WORLD_RANK
[ "$OMPI_COMM_WORLD_RANK" != "${BAD:-}" ] || eval "$FAULT"
exec "$PHOTONS" --quiet --set output.dir=run "$@"
END
chmod +x start

# expect CODE MESSAGE ARGUMENT...: exit code 124 of timeout is a hang.
expect() {
  code=$1 message=$2
  shift 2
  export BAD FAULT
  rm -rf run
  timeout "$(seconds 30)" mpirun --oversubscribe --bind-to none --mca btl tcp,self -n 3 \
    ./start "$@" >out 2>err </dev/null
  found=$?
  [ $found -eq "$code" ] || complain "$*: exit code $found, not $code"
  grep 'photons-starpu: ' err >lines
  [ "$(wc -l <lines)" -eq 1 ] &&
    grep '^photons-starpu: error: ' lines | grep -qF -- "$message" ||
    complain "$*: not one line with: $message"
  [ "$(find run -name '*.tmp' 2>/dev/null)" ] && complain "$*: left unfinished files"
}

cat >config.ini <<END
[box]
size = 12
npart_side = 24
[time]
z_end = 20
step = fixed
steps = 2
[output]
images = no
[analysis]
fof = no
[runtime]
group_size = 432
END

# On all processes: the first one speaks.
BAD= FAULT=
expect 2 'config.ini: 1 problem' --set box.size=none config.ini
[ "$(grep -c 'not a number' err)" -eq 1 ] || complain 'a bad value is not told once'
expect 2 'missing.ini' missing.ini
expect 2 'unknown option' --unknown config.ini
expect 3 'run/checkpoint.hdf5' --restart config.ini
expect 1 '/proc/none' --set output.dir=/proc/none config.ini

# Initial conditions: a set of which one process meets the bad file, and a file in which one meets
# the bad particle.
cat >gadget.ini <<END
[ic]
source = gadget
[time]
z_end = 8
END
mkdir ics
support faulty_gadget_files.py ics || exit 99
for name in truncated.gadget2 total.hdf5 infinite_position.hdf5 nan_velocity.hdf5; do
  expect 3 "$name" --set ic.file=ics/$name gadget.ini
done
grep -q 'rank 0' err || complain 'nan_velocity.hdf5: another process has the bad particle'
FAULT= BAD= timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none -n 3 \
  ./start --set output.files=0 config.ini 2>err ||
  complain 'the good run'
mv run good
[ -s good/snapshot_000.2.hdf5 ] || complain 'the good run has no three files'
truncate -s -9000 good/snapshot_000.2.hdf5
expect 3 'snapshot_000.2.hdf5' --set ic.file=good/snapshot_000 --set time.z_end=10 gadget.ini
grep -q 'rank 2' err || complain 'snapshot_000.2.hdf5: told by another process than its reader'

# The disk of one process is full while it writes its part of one snapshot, or one of its own.
for BAD in 0 2; do
  rm -rf run
  FAULT='ulimit -f 400' # blocks of 512 bytes
  expect 1 'File too large' --set runtime.shared_memory=no config.ini
  [ "$(find run -name 'snap*')" ] && complain "a full disk: left $(find run -name 'snap*')"
  FAULT='ulimit -f 300'
  expect 1 "snapshot_000.$BAD.hdf5" --set runtime.shared_memory=no --set output.files=0 config.ini
  [ "$(find run -name 'snap*')" ] && complain "a full disk: left $(find run -name 'snap*')"
done

# A process that may not make a large segment of memory: MPI takes its place, for all, and this is
# said once.
rm -rf run
BAD=1 FAULT='ulimit -f 4000'
timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none --mca btl tcp,self -n 3 \
  ./start config.ini >out 2>err </dev/null ||
  complain 'no shared memory: the run fails'
[ "$(grep -c "photons-starpu: warning: ranks of one host cannot share memory" err)" -eq 1 ] ||
  complain 'no shared memory: not said once'

# One process has no workers.
BAD=1 FAULT='STARPU_NCPU=0'
expect 1 'StarPU' config.ini

# begin: a run of many steps with a checkpoint after each, in three parts, as job $id; waits for some steps.
begin() {
  rm -rf run pid.*
  BAD=
  timeout "$(seconds 30)" mpirun --oversubscribe --bind-to none -n 3 ./start --set time.steps=100000 --set output.files=0 \
    --set output.checkpoint_minutes=1e-6 "$@" config.ini >out 2>err &
  id=$!
  until_true has_lines 5 run/log/timings.csv
}
# The checkpoint is whole: two processes go on from it.
go_on() {
  [ -s run/checkpoint.hdf5 ] || complain "$1: no checkpoint"
  timeout "$(seconds 30)" mpirun --oversubscribe --bind-to none -n 2 ./start --restart \
    --set time.steps=100000 --steps 1 config.ini >out 2>err ||
    complain "$1: cannot go on from the checkpoint"
}

# Killed: mpirun says it and ends the others.
begin
kill -s KILL "$(cat pid.1)"
wait $id
found=$?
[ $found -ne 0 ] && [ $found -ne 124 ] || complain "a killed process: exit code $found"
grep -q 'rank 1 .*signal 9' err || complain 'a killed process: not said'
go_on 'a killed process'

# Asked to stop: one process by its launcher (Slurm), all by mpirun, which passes SIGUSR1 on at
# once.
begin
kill -s TERM "$(cat pid.2)"
wait $id
found=$?
[ $found -eq 143 ] || complain "SIGTERM: exit code $found, not 143"
[ "$(grep -c 'stopped by signal 15 .*go on with --restart' err)" -eq 1 ] ||
  complain 'SIGTERM: not said once'
go_on SIGTERM
begin
kill -s USR1 "$(ps -o pid= --ppid $id)"
wait $id
found=$?
[ $found -eq 138 ] || complain "SIGUSR1: exit code $found, not 138"
[ "$(grep -c 'stopped by signal 10 .*go on with --restart' err)" -eq 1 ] ||
  complain 'SIGUSR1: not said once'
go_on SIGUSR1

# Before the first step there is nothing to wait for.
rm -rf run pid.*
timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none -n 3 ./start --set box.npart_side=160 \
  --set runtime.group_size=50000 config.ini >out 2>err &
id=$!
until_true test -e run/.lock
kill -s TERM "$(cat pid.2)"
wait $id
found=$?
[ $found -eq 143 ] || complain "SIGTERM before the first step: exit code $found, not 143"
[ "$(grep -c 'stopped by signal 15 before the first step: there is no checkpoint' err)" -eq 1 ] ||
  complain 'SIGTERM before the first step: not said once'

# mpirun that gets a signal passes SIGTERM on after a second, and kills the processes after another one, or after
# odls_base_sigkill_timeout. Until then the first of them says its line: within a second on a machine without other work.
to_say=$(seconds 1)
# told_once TEXT: the run ends with one line, which says this
told_once() {
  wait $id
  found=$?
  grep 'photons-starpu: ' err >lines
  [ $found -ne 0 ] && [ $found -ne 124 ] && [ "$(wc -l <lines)" -eq 1 ] &&
    grep -q "stopped by signal 15 $1" lines ||
    complain "mpirun gets a signal: exit code $found, or not one line with: $1"
}
rm -rf run pid.*
timeout "$(seconds 60)" mpirun --mca odls_base_sigkill_timeout "$to_say" --oversubscribe --bind-to none -n 3 \
  ./start --set box.npart_side=160 --set runtime.group_size=50000 config.ini >out 2>err &
id=$!
until_true test -e run/.lock
kill -s INT "$(ps -o pid= --ppid $id)"
told_once 'before the first step: there is no checkpoint'
# The third process comes late.
catches_term() { [ $((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$(cat pid.0)/status") & 0x4000)) -ne 0 ]; }
rm -rf run pid.*
BAD=2 FAULT="sleep $(seconds 20)" timeout "$(seconds 60)" mpirun --mca odls_base_sigkill_timeout "$to_say" --oversubscribe \
  --bind-to none -n 3 ./start config.ini >out 2>err &
id=$!
until_true test -s pid.0
until_true catches_term
kill -s TERM "$(ps -o pid= --ppid $id)"
told_once 'at the start: nothing has been written'
[ -e run ] && complain 'mpirun gets a signal while MPI starts: there is a folder'

# A limit of file sizes on mpirun itself, with which Open MPI cannot start.
rm -rf run
(ulimit -f 4000 && exec timeout "$(seconds 30)" mpirun --oversubscribe --bind-to none -n 2 ./start config.ini) >out 2>err
found=$?
grep 'photons-starpu: ' err >lines
[ $found -eq 1 ] && [ "$(wc -l <lines)" -eq 1 ] && grep -q 'limit of file sizes of 2000 KiB' lines ||
  complain "mpirun with a limit of file sizes: exit code $found, or not one line"

# The results of another run stay.
mkdir used && touch used/snapshot_000.hdf5
expect 2 'folder used holds results of another run, such as used/snapshot_000.hdf5' \
  --set output.dir=used config.ini

finish
