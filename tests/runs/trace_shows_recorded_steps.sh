#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Traces: the timeline's numbers on a trace made by hand; runtime.trace_steps records just those
# steps, or says why it cannot.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python matplotlib
export PYTHON # for tools/trace.sh
timeline() { "$PYTHON" "$PHOTONS_SOURCE/tools/timeline.py" "$1" >numbers 2>&1; }
expect() { # expect FILE PATTERN
  grep -q -e "$2" "$1" && return
  complain "not in $1: $2"
  sed 's/^/    /' "$1"
}

# Step 7 lasts from 10 to 20 ms. CPU0 runs p2p all the time; CPU1 runs p2p for 4 ms, is in StarPU
# for 1 ms, runs m2l (after the short p2p) for 2 ms, and is idle from 17 to 20: busy 6 of 10. So
# the two idle 20 % of the time, and the longest chain is the long p2p, 10 ms.
mkdir hand
tab=$(printf '\t')
sed "s/|/$tab/g" >hand/paje.trace <<'END'
6|photons_p2p|WS|photons_p2p|"204.0 102.0 119.0"
7|0.0|w0|W|t0|CPU0
7|0.0|w1|W|t1|CPU1
10|0.0|w0|WS|"I"
10|0.0|w1|WS|"I"
10|10.0|w0|WS|"photons_p2p"
10|10.0|w1|WS|"photons_p2p"
10|14.0|w1|WS|"Sc"
10|15.0|w1|WS|"photons_m2l"
10|17.0|w1|WS|"Sl"
10|20.0|w0|WS|"I"
END
task() { # task NAME JOB AFTER WORKER START END
  printf 'Name: photons_%s\nJobId: %s\nDependsOn: %s\nWorkerId: %s\nSubmitTime: 10.0\n' \
    "$1" "$2" "$3" "$4"
  printf 'StartTime: %s\nEndTime: %s\nIteration: 7\n\n' "$5" "$6"
}
{ task p2p 1 '' 0 10.0 20.0; task p2p 2 '' 1 10.0 14.0; task m2l 3 2 1 15.0 17.0; } >hand/tasks.rec
timeline hand
expect numbers '^step 7: 10.000 ms, 3 tasks$'
expect numbers '^  CPU1  *2   60.0 %   10.0 %  30.0 %   p2p 67 %, m2l 33 %$'
expect numbers '^  idle share of 2 CPU workers: 20.0 % '
expect numbers '^  longest chain of dependent tasks: 10.000 ms, 100 % of the step: p2p 100 %$'
expect numbers '^  critical codelets .*: p2p 100 %$'
# Now p2p and m2l after it are longer: 4 + 2 ms.
sed -i 's/EndTime: 20.0/EndTime: 12.0/' hand/tasks.rec
timeline hand
expect numbers '^  longest chain of dependent tasks: 6.000 ms, .*: p2p 67 %, m2l 33 %$'

# The same from the program's own table, with a GPU of two streams: they overlap from 12 to 14, and
# 16 to 20 has neither: idle 40 %.
mkdir own
printf 'stage,family,colour\np2p,p2p,#cc6677\n' >own/stages.csv
cat >own/tasks_0.csv <<'END'
step,worker,device,stage,group,submit_us,start_us,end_us,predicted_us
7,0,CPU0,walk,0,10000,10000,20000,
7,1,GPU0,p2p,0,10000,10000,14000,4000
7,2,GPU0,m2l,0,10000,12000,16000,
END
timeline own
expect numbers '^step 7: 10.000 ms, 3 tasks$'
expect numbers '^  GPU0_1  *1   40.0 % '
expect numbers '^  GPU 0 idle: 40.0 % (no task on any of its 2 streams)$'

cat >config.ini <<'END'
[box]
size = 30
npart_side = 16
[ic]
z_init = 24
[time]
z_end = 19
step = fixed
steps = 3
[output]
dir = out
snapshots = no
power_spectrum = no
images = no
END
for steps in 2:1 -1:2 1:2:3 x 1- 99999999999999999999; do
  "$PHOTONS" --dry-run config.ini --set "runtime.trace_steps=$steps" >out.txt 2>err &&
    complain "took trace_steps = $steps"
  expect err 'allowed: A:B with 0 <= A <= B'
done
"$PHOTONS" config.ini --set runtime.trace_steps=2:2 >out.txt 2>err || complain 'the run'
# Who ran what, with or without FxT: every group's p2p, in one part or more, in step 2 alone.
groups=$(sed -n 's/^  groups  *\([0-9]*\) of .*/\1/p' out.txt)
[ "$(grep '^2,[0-9]*,CPU[0-9]*,p2p,' out/trace/tasks_0.csv | cut -d, -f5 | sort -u | wc -l)" = "$groups" ] ||
  complain "not $groups groups with p2p in tasks_0.csv"
grep -v -q -e '^2,' -e '^step,' out/trace/tasks_0.csv && complain 'other steps are in tasks_0.csv'
"$PHOTONS_SOURCE/tools/trace.sh" out >numbers 2>&1
expect numbers '^step 2: '
grep -q -e '^step [013]: ' numbers && complain 'other steps were recorded'
[ "$(head -c 4 out/trace/timeline.png | od -An -c | tr -d ' ')" = '211PNG' ] ||
  complain 'no picture'
if [ ! -f out/trace/fxt_0 ]; then
  expect err "no FxT: trace/tasks_\*.csv"
elif [ -x "${STARPU_FXT_TOOL:-}" ]; then # else trace.sh reads the program's own tables
  expect numbers '^  longest chain'
fi
"$PHOTONS" --overwrite config.ini --set runtime.trace_steps=9 >out.txt 2>err
expect err 'warning: runtime.trace_steps = 9:9 recorded nothing: the run ended at step 3'

finish
