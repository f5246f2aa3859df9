#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A rank that stops answering is named after runtime.timeout and ends the run; what was written
# stays. A rank that only takes long, and a run that is stopped as a whole, go on.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
STARPU_NCPU=1 # of each rank
export STARPU_NCPU
need_mpi

cat >start <<'END2'
#!/bin/sh
echo $$ >pid.$OMPI_COMM_WORLD_RANK
exec "$PHOTONS" --set output.dir=run "$@" config.ini
END2
chmod +x start
cat >config.ini <<END2
[box]
size = 12
npart_side = 16
[time]
z_end = 20
step = fixed
steps = 100000
[output]
power_spectrum = no
images = no
checkpoint_minutes = 1e-6
[analysis]
fof = no
[runtime]
group_size = 432
END2

# launch RANKS ARGUMENT...: a run as job $id.
launch() {
  ranks=$1
  shift
  rm -rf run pid.*
  timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none -n "$ranks" ./start "$@" >out 2>err </dev/null &
  id=$!
}
# begin RANKS ARGUMENT...: the same, until it has taken steps.
begin() {
  launch "$@"
  until_true has_lines 5 run/log/timings.csv
}
# still_runs WHAT
still_runs() {
  kill -s 0 $id 2>/dev/null || complain "$1: the run has ended"
  grep 'has not answered' err && complain "$1: a rank is named"
}
# goes_on WHAT: the run takes more steps, and ends well when it is asked to.
goes_on() {
  until_true has_lines $(($(wc -l <run/log/timings.csv) + 1)) run/log/timings.csv
  still_runs "$1"
  kill -s TERM "$(cat pid.0)"
  wait $id
  found=$?
  [ $found -eq 143 ] || complain "$1: exit code $found, not 143"
}

# A rank is stopped: the next one in the ring names it.
stopped() {
  ranks=$1 rank=$2
  begin "$ranks" --quiet --set runtime.timeout=3
  kill -s STOP "$(cat pid."$rank")"
  start=$(date +%s)
  wait $id
  found=$?
  seconds=$(($(date +%s) - start))
  [ $found -eq 1 ] || complain "rank $rank of $ranks: exit code $found, not 1"
  [ $seconds -ge 2 ] && [ $seconds -le 15 ] || complain "rank $rank of $ranks: after $seconds s"
  grep 'photons-starpu: ' err >lines
  text="error: rank $rank (process $(cat pid."$rank") on $(uname -n)) has not answered for 3 s"
  [ "$(wc -l <lines)" -eq 1 ] && grep -qF "$text" lines && grep -q 'go on with --restart' lines ||
    complain "rank $rank of $ranks: not one line with: $text"
  until_true is_gone "$(cat pid."$rank")"
  is_gone "$(cat pid."$rank")" || complain "rank $rank of $ranks: is still there"
}
stopped 2 0
timeout "$(seconds 30)" mpirun --oversubscribe --bind-to none -n 1 ./start --quiet --restart --steps 1 2>err ||
  complain 'cannot go on from the checkpoint'
stopped 8 6
limit=$("$PHOTONS" --defaults | sed -n 's/^timeout = \([0-9]*\).*/\1/p')
[ "$limit" -ge 10 ] && [ "$limit" -le 25 ] || complain "a rank is not named in 30 s: timeout = $limit"

# A rank that runs full is named at once.
cat >full <<'END2'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 6 ] && ulimit -f 300 # blocks of 512 bytes
exec "$PHOTONS" --quiet --set output.dir=full-disk --set runtime.shared_memory=no "$@"
END2
chmod +x full
timeout "$(seconds 30)" mpirun --oversubscribe --bind-to none --mca btl tcp,self -n 8 ./full --steps 1 config.ini \
  >out 2>err </dev/null
found=$?
grep 'photons-starpu: ' err >lines
[ $found -eq 1 ] && [ "$(wc -l <lines)" -eq 1 ] &&
  grep -q 'error: full-disk/checkpoint.hdf5: .*File too large (rank 6)' lines ||
  complain "a full disk of one of eight ranks: exit code $found, or not one line"

# Longer than a stop that is over in time, no end; with 0 never.
begin 2 --quiet --set runtime.timeout=0
kill -s STOP "$(cat pid.1)"
sleep 3
still_runs 'timeout = 0'
kill -s CONT "$(cat pid.1)"
goes_on 'timeout = 0'
# A batch system stops all ranks for a while.
begin 2 --quiet --set runtime.timeout=2
kill -s STOP "$(cat pid.0)" "$(cat pid.1)"
sleep 3
kill -s CONT "$(cat pid.0)"
sleep 0.2
kill -s CONT "$(cat pid.1)"
goes_on 'all ranks stopped for a while'
# A computation that lasts: one step of it is longer than the timeout.
launch 2 --quiet --steps 1 --set box.npart_side=96 --set runtime.group_size=4096 \
  --set gravity.accuracy=high --set runtime.timeout=1
wait $id || complain "long steps: exit code $?"
longest=$(cut -d, -f5 run/log/timings.csv | sort -g | tail -n 1)
echo "longest step: $longest s with runtime.timeout = 1 s"

# A rank stops or dies before it has started MPI.
cat >late <<'END2'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && kill -s "$1" $$
shift
exec "$PHOTONS" "$@"
END2
chmod +x late
# late SIGNAL: prints the exit code
late() {
  PHOTONS_START_TIMEOUT=3 timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none -n 3 ./late "$1" --quiet \
    --set output.dir=folder config.ini >out 2>err </dev/null
  echo $?
}
found=$(late STOP)
grep 'photons-starpu: ' err >lines
[ "$found" -eq 1 ] && [ "$(wc -l <lines)" -eq 1 ] && grep -q 'not all ranks have started' lines ||
  complain "stopped before MPI: exit code $found, $(cat lines)"
found=$(late KILL)
[ "$found" -ne 0 ] && [ "$found" -ne 124 ] ||
  complain "killed before MPI: exit code $found"
[ -e folder ] && complain 'a run that did not start has an output folder'
PHOTONS_START_TIMEOUT=soon mpirun --oversubscribe -n 2 "$PHOTONS" config.ini >out 2>err
grep -q 'PHOTONS_START_TIMEOUT=soon: not a number' err || complain 'PHOTONS_START_TIMEOUT=soon'

finish
