#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Traces: the timeline's numbers on a trace made by hand; runtime.trace_steps records just those steps, or says why it cannot.
set -u
: "${PHOTONS:?the program}" "${PHOTONS_SOURCE:?the source tree}"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
[ -x "$PHOTONS" ] || { echo "skipped: $PHOTONS is not built"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failures=0
expect() { # expect FILE PATTERN
  grep -q -e "$2" "$1" && return
  echo "FAILED: not in $(basename "$1"): $2"
  sed 's/^/    /' "$1"
  failures=$((failures + 1))
}

# Step 7 lasts from 10 to 20 ms. CPU0 runs p2p all the time; CPU1 runs p2p for 4 ms, is in StarPU for 1 ms, runs m2l (after the
# short p2p) for 2 ms, and is idle from 17 to 20: busy 6 of 10. So the two idle 20 % of the time, and the longest chain is the long p2p, 10 ms.
mkdir "$work/hand"
tab=$(printf '\t')
sed "s/|/$tab/g" >"$work/hand/paje.trace" <<'END'
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
  printf 'Name: photons_%s\nJobId: %s\nDependsOn: %s\nWorkerId: %s\nSubmitTime: 10.0\nStartTime: %s\nEndTime: %s\nIteration: 7\n\n' "$@"
}
{ task p2p 1 '' 0 10.0 20.0; task p2p 2 '' 1 10.0 14.0; task m2l 3 2 1 15.0 17.0; } >"$work/hand/tasks.rec"
python3 "$PHOTONS_SOURCE/tools/timeline.py" "$work/hand" >"$work/numbers" 2>&1
expect "$work/numbers" '^step 7: 10.000 ms, 3 tasks$'
expect "$work/numbers" '^  CPU1  *2   60.0 %   10.0 %  30.0 %   p2p 67 %, m2l 33 %$'
expect "$work/numbers" '^  idle share of 2 CPU workers: 20.0 % '
expect "$work/numbers" '^  longest chain of dependent tasks: 10.000 ms, 100 % of the step: p2p 100 %$'
expect "$work/numbers" '^  critical codelets .*: p2p 100 %$'
sed -i 's/EndTime: 20.0/EndTime: 12.0/' "$work/hand/tasks.rec" # now p2p and m2l after it are longer: 4 + 2 ms
python3 "$PHOTONS_SOURCE/tools/timeline.py" "$work/hand" >"$work/numbers" 2>&1
expect "$work/numbers" '^  longest chain of dependent tasks: 6.000 ms, .*: p2p 67 %, m2l 33 %$'

# The same from the program's own table, with a GPU of two streams: they overlap from 12 to 14, and 16 to 20 has neither: idle 40 %.
mkdir "$work/own"
cat >"$work/own/tasks_0.csv" <<'END'
step,worker,device,stage,group,submit_us,start_us,end_us,predicted_us
7,0,CPU0,walk,0,10000,10000,20000,nan
7,1,GPU0,p2p,0,10000,10000,14000,4000
7,2,GPU0,m2l,0,10000,12000,16000,nan
END
python3 "$PHOTONS_SOURCE/tools/timeline.py" "$work/own" >"$work/numbers" 2>&1
expect "$work/numbers" '^step 7: 10.000 ms, 3 tasks$'
expect "$work/numbers" '^  GPU0_1  *1   40.0 % '
expect "$work/numbers" '^  GPU 0 idle: 40.0 % (no task on any of its 2 streams)$'

cd "$work" || exit 99
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
  "$PHOTONS" --dry-run config.ini --set "runtime.trace_steps=$steps" >out.txt 2>err.txt && { echo "FAILED: took trace_steps = $steps"; failures=$((failures + 1)); }
  expect err.txt 'allowed: A:B with 0 <= A <= B'
done
"$PHOTONS" config.ini --set runtime.trace_steps=2:2 >out.txt 2>err.txt || { echo "FAILED: the run"; cat err.txt; exit 1; }
# Who ran what, with or without FxT: every group's p2p once, in step 2 alone.
groups=$(sed -n 's/^  groups  *\([0-9]*\) of .*/\1/p' out.txt)
[ "$(grep -c '^2,[0-9]*,CPU[0-9]*,p2p,' out/trace/tasks_0.csv)" = "$groups" ] || { echo "FAILED: not $groups p2p tasks in tasks_0.csv"; failures=$((failures + 1)); }
grep -v -q -e '^2,' -e '^step,' out/trace/tasks_0.csv && { echo "FAILED: other steps are in tasks_0.csv"; failures=$((failures + 1)); }
if [ -f out/trace/fxt_0 ] && [ ! -x "${STARPU_FXT_TOOL:-}" ]; then echo "no starpu_fxt_tool: traces are not read back"; exit $((failures > 0)); fi
python3 -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null || { echo "no matplotlib: no picture"; exit $((failures > 0)); }
"$PHOTONS_SOURCE/tools/trace.sh" out >numbers 2>&1
expect numbers '^step 2: '
grep -q -e '^step [013]: ' numbers && { echo "FAILED: other steps were recorded"; failures=$((failures + 1)); }
[ "$(head -c 4 out/trace/timeline.png | od -An -c | tr -d ' ')" = '211PNG' ] || { echo "FAILED: no picture"; failures=$((failures + 1)); }
if [ -f out/trace/fxt_0 ]; then
  expect numbers '^  longest chain'
else
  expect err.txt "no FxT: trace/tasks_\*.csv"
fi
"$PHOTONS" config.ini --set runtime.trace_steps=9 >out.txt 2>err.txt
expect err.txt 'warning: runtime.trace_steps = 9:9 recorded nothing: the run ended at step 3'
exit $((failures > 0))
