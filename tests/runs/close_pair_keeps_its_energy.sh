#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Two bodies with a period of some thousand years: energy is conserved, no step is longer than
# time.max_step, and messages speak of the system's unit of time. A star keeps its ellipse about a black hole of its own type,
# and the least step is told. With steps of pairs it keeps a long ellipse, too, as two equal bodies do.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

helper make pair.hdf5 >config.ini || exit 99
for step in adaptive block; do
  run $step --set time.step=$step config.ini
  helper check $step || failures=$((failures + 1))
done

"$PHOTONS" -q --set output.dir=stuck --set time.min_dlna=0.9 --set time.eta=0.001 config.ini \
  >out 2>err
code=$?
[ $code -eq 1 ] && grep -q 'the next step would be .* Myr, below time.min_dlna = 0.9 of time.max_step' err ||
  complain "a step that is too short: exit code $code"
grep -q 'ln a\|/h' err && complain 'a message of a universe that expands'

helper hole hole.hdf5 >hole.ini || exit 99
run hole hole.ini
helper ellipse hole || failures=$((failures + 1))
helper long hole.hdf5 >long.ini || exit 99
run long long.ini
helper longer long || failures=$((failures + 1))
for wrong in 'pair_type=3' 'pair_type=5 --set time.step=adaptive'; do
  "$PHOTONS" -q --dry-run --set output.dir=wrong --set time.$wrong hole.ini >out 2>err
  [ $? -eq 2 ] && grep -q 'time.pair_type\|\[time\] pair_type' err || complain "time.$wrong is not refused"
done
helper equal equal.hdf5 >equal.ini || exit 99
run pairs equal.ini
helper pairs pairs || failures=$((failures + 1))
helper near near.hdf5 >near.ini || exit 99
run near near.ini
helper first near || failures=$((failures + 1))
for wrong in 'pair_type=5' 'step=adaptive'; do
  "$PHOTONS" -q --dry-run --set output.dir=wrong --set time.$wrong equal.ini >out 2>err
  [ $? -eq 2 ] && grep -q 'time.pair_type\|\[time\] pair_type\|criterion' err || complain "time.$wrong is not refused"
done
"$PHOTONS" -q --set output.dir=least --set time.min_dlna=0.01 equal.ini >out 2>err
code=$?
[ $code -eq 1 ] && grep -q 'a pair of particles needs steps near time.min_dlna' err ||
  complain "a pair that needs shorter steps: exit code $code"
helper make alone.hdf5 1 >alone.ini || exit 99
"$PHOTONS" -q --set output.dir=alone --set time.step=block --set time.pair_type=1 alone.ini >out 2>err
code=$?
[ $code -eq 3 ] && grep -q 'black holes need a type of their own' err ||
  complain "black holes without a type of their own: exit code $code"
helper hole hole.hdf5 >hole.ini || exit 99
"$PHOTONS" --dry-run hole.ini >out 2>err && helper least out || complain 'the least step beside a black hole'

finish
