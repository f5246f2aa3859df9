#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Traces: the timeline's numbers on a trace made by hand, and what a replay of hand-made task graphs predicts;
# runtime.trace_steps records just those steps, or says why it cannot.
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

# Replays. A chain of four tasks takes 4 ms on any cores; on two ranks a message of 10 us and 2 us comes on top. A walk
# of 1 ms, eight p2p that need it, and a kick after all take 2 + 8/n ms on n cores. A GPU's two tasks at a time, of which
# one ends after 1 ms, take 2 ms together, on two GPUs 1 ms, and 1 ms of the host follows.
replay() { "$PYTHON" "$PHOTONS_SOURCE/tools/replay.py" "$@" >numbers 2>&1; }
mkdir chain fork pair
for folder in chain fork pair; do
  echo step,worker,device,stage,group,submit_us,start_us,end_us,predicted_us,job >$folder/tasks_0.csv
  echo job,kind,stage,group,priority,begin_us,end_us,data >$folder/graph_0.csv
done
for i in 0 1 2 3; do
  echo "7,0,CPU0,p2p,$i,0,${i}000,$((i + 1))000,,$((i + 1))" >>chain/tasks_0.csv
  echo "$((i + 1)),task,p2p,$i,0,0,0,0xa:rw:0 0xb:r:8" >>chain/graph_0.csv
done
sed -i 's/0xa:rw:0/0xa:rw:250000/' chain/graph_0.csv
echo '5,wait,,-1,0,0,4000,' >>chain/graph_0.csv
echo 7,0,CPU0,walk,0,0,0,1000,,1 >>fork/tasks_0.csv
echo 1,task,walk,0,0,0,0,0xa:w:8 >>fork/graph_0.csv
all=
for i in 1 2 3 4 5 6 7 8; do
  echo "7,0,CPU0,p2p,$i,0,${i}000,$((i + 1))000,,$((i + 1))" >>fork/tasks_0.csv
  echo "$((i + 1)),task,p2p,$i,0,0,0,0xa:r:8 0xb$i:w:8" >>fork/graph_0.csv
  all="$all 0xb$i:r:8"
done
echo 7,0,CPU0,kick,0,0,9000,10000,,10 >>fork/tasks_0.csv
echo "10,task,kick,0,0,0,0,${all# }" >>fork/graph_0.csv
echo '11,wait,,-1,0,0,10000,' >>fork/graph_0.csv
for i in 0 1; do
  echo "7,$i,GPU0,p2p,$i,0,0,$((i + 1))000,,$((i + 1))" >>pair/tasks_0.csv
  echo "$((i + 1)),task,p2p,$i,0,0,0,0xa$i:rw:8" >>pair/graph_0.csv
done
{ echo '3,wait,,-1,0,0,2000,'; echo '4,acquire,,-1,0,3000,3000,0xa0:r:8'; } >>pair/graph_0.csv
replay chain --cores 1,4 --ranks 1,2 --bandwidth 25 --message 0
expect numbers '^recorded: 4.000 ms, 1 rank, 4 tasks, 4.000 ms of work'
expect numbers '^1 ranks of 4 cores: 4.000 ms, 25.0 % busy, 0 messages'
expect numbers '^2 ranks of 1 cores: 4.012 ms, .*, 1 messages, 250000 bytes'
replay fork --cores 1,2,3,8
for line in '1 ranks of 1 cores: 10.000 ms' '1 ranks of 2 cores: 6.000' '1 ranks of 3 cores: 5.000' '1 ranks of 8 cores: 3.000'; do
  expect numbers "^$line"
done
replay pair --gpus 1,2 --streams 2 --start 0
expect numbers '^1 ranks of 1 cores and 1 GPUs: 3.000 ms'
expect numbers '^1 ranks of 1 cores and 2 GPUs: 2.000 ms'

# Tasks of GPUs run where their data have their home. Of eight of 1 ms each GPU takes its four; if GPU 0 owns the data of all, it
# does all, but of long ones two streams hold four, one waits, and GPU 1 takes the other three. A task that reads 3 MB of another GPU's
# waits 20 us and 10 us for them.
mkdir homes owned lent copied
for folder in homes owned lent copied; do
  echo step,worker,device,stage,group,submit_us,start_us,end_us,predicted_us,job >$folder/tasks_0.csv
  echo job,kind,stage,group,priority,lasts,begin_us,end_us,data >$folder/graph_0.csv
done
for i in 0 1 2 3 4 5 6 7; do
  for folder in homes owned lent; do echo "7,0,GPU0,p2p,-1,0,${i}000,$((i + 1))000,,$((i + 1))" >>$folder/tasks_0.csv; done
  echo "$((i + 1)),task,p2p,-1,1,0,0,0,0xa$i:rw:8:$i/8" >>homes/graph_0.csv
  echo "$((i + 1)),task,p2p,-1,1,0,0,0,0xa$i:rw:8:3/8" >>owned/graph_0.csv
  echo "$((i + 1)),task,p2p,-1,1,1,0,0,0xa$i:rw:8:3/8" >>lent/graph_0.csv
done
for i in 0 1; do echo "7,0,GPU0,p2p,$i,0,${i}000,$((i + 1))000,,$((i + 1))" >>copied/tasks_0.csv; done
{ echo 1,task,p2p,0,1,0,0,0,0xa:w:3000000:0/2; echo 2,task,p2p,1,1,0,0,0,0xa:r:3000000:0/2 0xb:w:8:1/2; } >>copied/graph_0.csv
on_gpus() { # on_gpus FOLDER MS-ON-1 MS-ON-2
  replay "$1" --gpus 1,2 --streams 2 --start 0 --copy 20 --link 300
  expect numbers "^1 ranks of 1 cores and 1 GPUs: $2 ms"
  expect numbers "^1 ranks of 1 cores and 2 GPUs: $3 ms"
}
on_gpus homes 8.000 4.000
on_gpus owned 8.000 8.000
on_gpus lent 8.000 5.000
on_gpus copied 2.000 2.030

# An old recording under heteroprio, where 1 was the most urgent: of a stream's four tasks of 1 ms fft_x runs before the third
# kick, which another 1 ms on the host follows, so that the step takes 4 ms and not 5.
mkdir turned
echo step,worker,device,stage,group,submit_us,start_us,end_us,predicted_us,job >turned/tasks_0.csv
echo job,kind,stage,group,priority,begin_us,end_us,data >turned/graph_0.csv
for i in 0 1 2; do
  echo "7,0,GPU0,kick,$i,0,${i}000,$((i + 1))000,,$((i + 1))" >>turned/tasks_0.csv
  echo "$((i + 1)),task,kick,$i,4,0,0,0xa$i:rw:8" >>turned/graph_0.csv
done
{ echo 7,0,GPU0,fft_x,-1,0,3000,4000,,4; echo 7,1,CPU0,moments,-1,0,4000,5000,,5; } >>turned/tasks_0.csv
{ echo 4,task,fft_x,-1,2,0,0,0xb:w:8; echo 5,task,moments,-1,0,0,0,0xb:r:8; } >>turned/graph_0.csv
replay turned --gpus 1 --streams 1 --start 0 --copy 0
expect numbers '^1 ranks of 1 cores and 1 GPUs: 4.000 ms'

# What a GPU worked on: a transform of 1 ms that ends with a long task beside it at 4 ms had the GPU for 1 ms; without one
# it waited on two GPUs, and on one GPU nothing else did.
"$PYTHON" - "$PHOTONS_SOURCE/tools" <<'END' || complain 'the work of GPUs'
import sys
sys.path.insert(0, sys.argv[1])
from photons.gpu_seconds import Row, seconds_of_gpus
usual = [Row(i, i, i + 1.0, "fft", False) for i in range(8)]
late = Row(8, 8.0, 12.0, "fft", False)
def seconds(*gpus):
    work = seconds_of_gpus(gpus)
    return work[8], work.get(9)
assert seconds(usual + [late, Row(9, 8.0, 14.0, None, True)]) == (1.0, 5.0)
assert seconds(usual + [late], []) == (1.0, None)
assert seconds(usual + [late]) == (4.0, None)
END

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
# The graph has the homes of data, and that p2p is long.
grep -q '^[0-9]*,task,p2p,0,1,1,.* 0x[0-9a-f]*:r:[0-9]*:0/2 ' out/trace/graph_0.csv || complain 'no homes in graph_0.csv'
# One thread submits: a group is drifted and refitted in one task.
moves=$(grep -c '^[0-9]*,task,move,' out/trace/graph_0.csv)
[ "$moves" = "$groups" ] || complain "$moves tasks move $groups groups"
grep -q -e '^[0-9]*,task,drift,' -e '^[0-9]*,task,m2m,' out/trace/graph_0.csv && complain 'drifts or m2m of groups are tasks'
# Its replay: no less than the work on one core, and no more than that on any number.
replay out/trace --step 2 --cores 1,64
"$PYTHON" - <<'END' || { complain 'the replay of the run'; cat numbers; }
import re
lines = open("numbers").read().splitlines()
work = float(re.search(r"tasks, ([\d.]+) ms of work", lines[0])[1])
one, many = (float(re.search(r": ([\d.]+) ms", line)[1]) for line in lines[1:])
assert 0.0 < work <= one and many <= one
END
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
