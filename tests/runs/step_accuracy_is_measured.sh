#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The bench of time.accuracy runs a box with each choice and prints a table. In a box so small that few modes
# are left, P(k) of each choice is that of short adaptive steps to 1e-3 at z = 1.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python
"$PYTHON" "$PHOTONS_SOURCE/tests/bench/bench_step_accuracy.py" "$PHOTONS" --out runs --boxes 8-50 --seeds 1 \
  --jobs 1 --workers 2 >table 2>err || complain "exit code $?: $(cat err)"
cat table
for steps in fast default high; do
  awk -F' *[|] *' -v steps=$steps '$2 == 1 && $3 == steps { good = $7 > -1e-3 && $7 < 1e-3 && $7 != 0 }
    END { exit !good }' table || complain "no P(k) of $steps near that of short steps"
done
# The same runs over another setting: short adaptive steps have a row then.
"$PYTHON" "$PHOTONS_SOURCE/tests/bench/bench_step_accuracy.py" "$PHOTONS" --out runs --boxes 8-50 --seeds 1 \
  --over default >over 2>err || complain "over another setting: exit code $?: $(cat err)"
[ "$(grep -c 'short adaptive' over)" = 2 ] || complain "two rows of short adaptive steps: $(cat over)"
grep -q '^| [01] | default' over && complain "a row of the setting that P(k) is divided by"
# Of all settings two alone.
"$PYTHON" "$PHOTONS_SOURCE/tests/bench/bench_step_accuracy.py" "$PHOTONS" --out runs --boxes 8-50 --seeds 1 \
  --over high --only high,fast >only 2>err || complain "two settings alone: exit code $?: $(cat err)"
[ "$(grep -c '^| [01] | ' only)" = 2 ] && [ "$(grep -c '^| [01] | fast ' only)" = 2 ] || complain "not one setting alone: $(cat only)"
"$PYTHON" "$PHOTONS_SOURCE/tests/bench/bench_step_accuracy.py" "$PHOTONS" --out runs --only fast >only 2>&1 &&
  complain "the setting that P(k) is divided by may be left out"
# Runs of several seeds have the GPUs in turn. A program that fails stands for one that needs them.
cat >needs-gpu <<'END'
#!/bin/sh
echo "$CUDA_VISIBLE_DEVICES" >>"$GPUS_SEEN"
sleep 0.2
exit 1
END
chmod +x needs-gpu
GPUS_SEEN=$PWD/seen "$PYTHON" "$PHOTONS_SOURCE/tests/bench/bench_step_accuracy.py" ./needs-gpu --out none --boxes 8-50:2 \
  --gpus 2 >of-gpus 2>&1 || complain "runs with GPUs that fail: exit code $?: $(cat of-gpus)"
[ "$(sort -u seen | tr '\n' ' ')" = "0 1 " ] || complain "runs have not had GPUs 0 and 1: $(cat seen)"
[ "$(grep -c 'exit code 1' of-gpus)" = 8 ] || complain "eight runs that fail: $(cat of-gpus)"
grep -q 'nan' table && complain "the table has numbers that are not finite"
"$PYTHON" "$PHOTONS_SOURCE/tests/bench/bench_step_accuracy.py" no-program 2>err && complain "a program that is not there"
finish
