#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs of gas that cannot be: one clear line, the right exit code, no folder. Bad arrays are in
# gas_from_arrays.sh.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

cat >config.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 32, 16, 16
levels = 2
flag_gradient_pressure = 1
[time]
end = 0.1
END
cat >particles.ini <<END
[box]
size = 50
npart_side = 8
END

# refused CODE MESSAGE FILE [OPTION...]: the dry run says so, and the run does.
refused() {
  code=$1 message=$2 file=$3
  shift 3
  for dry in --dry-run ''; do
    timeout "$(seconds 60)" "$PHOTONS" $dry --quiet --set output.dir=none "$@" "$file" >out 2>err
    found=$?
    [ $found -eq "$code" ] || complain "$dry $*: exit code $found, not $code"
    grep -qF -- "$message" err || complain "$dry $*: no line with: $message"
    [ "$(wc -l <err)" -eq $((code == 2 ? 2 : 1)) ] || complain "$dry $*: not one problem"
    [ -e none ] && complain "$dry $*: made the output folder"
  done
}
# The configuration, each time one problem.
refused 2 '3 numbers; allowed: one, or one for each of gas.levels = 2' \
  config.ini --set gas.flag_density=1,2,3
sed 's/^levels = .*/levels = 0/' config.ini >flat.ini
"$PHOTONS" --dry-run flat.ini >out 2>err
grep -q 'warning: gas.levels = 0: nothing is refined' err || complain "thresholds without levels: $(cat err)"
"$PHOTONS" --dry-run config.ini --set gas.regrid=20 >out 2>err
grep -q 'warning: gas.regrid = 20: a wave crosses up to 10 cells' err || complain "a late regridding: $(cat err)"
refused 2 'has no meaning without gas.gravity = self' config.ini --set gas.newton_constant=2
refused 2 'nothing would be refined' config.ini --set gas.flag_gradient_pressure=
refused 2 '2048 cells of the root level would be 6.71089e+07 of the finest; allowed: 3.35544e+07' \
  config.ini --set gas.levels=15 --set gas.root=2048,16,16
refused 2 '[gas] root = 32, 16: 2 numbers; allowed: three' config.ini --set gas.root=32,16
refused 2 '24 is not a multiple of 16' config.ini --set gas.root=32,24,16
refused 2 'periodic at one end alone' config.ini --set gas.y_high=outflow
refused 2 '[gas] cfl = 2: out of range; allowed: 0.001 .. 1' config.ini --set gas.cfl=2
refused 2 '[gas] slover: unknown key; did you mean [gas] solver?' config.ini --set gas.slover=rtvd
refused 2 '[output] times = 0.05, 0.2: after time.end = 0.1' config.ini --set output.times=0.05,0.2
refused 2 '[ic] file: not given, but needed with ic.source = array' config.ini \
  --set ic.source=array
refused 2 'cannot read it: No such file' config.ini --set ic.source=array --set ic.file=none.hdf5
# All of gas has CUDA versions: only a GPU is missing, or CUDA.
"$PHOTONS" --dry-run --quiet --set gas.gravity=self --set runtime.gpu=require config.ini >out 2>err ||
  complain "self-gravity on a GPU is refused: $(cat err)"
"$PHOTONS" --dry-run --quiet --set runtime.gpu=require --set output.dir=expands \
  "$PHOTONS_SOURCE/params/gas/pancake.ini" >out 2>err ||
  complain "an expanding universe on a GPU is refused: $(cat err)"
"$PHOTONS" --dry-run --quiet --set runtime.gpu=require --set output.dir=masses \
  "$PHOTONS_SOURCE/params/gas/point_masses.ini" >out 2>err ||
  complain "particles on a GPU are refused: $(cat err)"
# What belongs to particles, and what belongs to gas.
refused 2 '[ic] source = generate: is of particles' config.ini --set ic.source=generate
for key in gravity.theta=0.7 time.eta=0.01; do
  refused 2 'has no meaning with run.system = gas' config.ini --set $key
done
for key in box.size=50 cosmology.h=0.7 output.redshifts=1; do
  refused 2 'has no meaning with gas.comoving = no' config.ini --set $key
done
refused 2 '[ic] source = sod: is of gas; needs run.system = gas' particles.ini --set ic.source=sod
for key in gas.levels=2 ic.energy=2 ic.direction=y; do
  refused 2 'has no meaning with run.system = particles' particles.ini --set $key
done

# What another source of initial conditions uses is no error where the source is given, and is in no list.
"$PHOTONS" --dry-run --set ic.source=acoustic --set ic.energy=2 config.ini >out 2>err ||
  complain "ic.energy=2 with ic.source = acoustic: exit code $?"
grep -q 'warning: ic.energy: no effect with ic.source = acoustic' err || complain "no warning of ic.energy"
grep -q '^energy' out && complain 'ic.energy in the list of a wave'
grep -q '^amplitude' out || complain 'no ic.amplitude in the list of a wave'

# Memory: of the root level, and of levels that come to be later.
refused 1 'the root level of 16384 x 16384 x 16384 cells needs' config.ini \
  --set gas.root=16384,16384,16384
# The address sanitizer reserves terabytes of addresses.
if (ulimit -v 1500000) 2>/dev/null && ! ldd "$PHOTONS" | grep -q asan; then
  (
    ulimit -v 1500000
    timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=levels --set gas.levels=5 \
      --set gas.flag_density=0.1 config.ini >out 2>err
  )
  found=$?
  [ $found -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'not enough memory for .* of gas' err ||
    complain "levels beyond the memory: exit code $found"
fi
# The examples can be run. The dry run tells the memory.
for file in "$PHOTONS_SOURCE"/params/gas/*.ini; do
  "$PHOTONS" --dry-run "$file" >out 2>err || complain "the dry run of $file: exit code $?"
done
"$PHOTONS" --dry-run config.ini >out 2>err || complain "the dry run: exit code $?"
grep -q 'memory *about [0-9.]* MB for the root level, [0-9.]* MB for each refined patch' out ||
  complain "the dry run does not say the memory"

# A step that turns out to have been too long ends the run: here a strong shock begins in it.
timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=fast --set ic.source=sedov --set ic.energy=1e4 \
  --set gas.cfl=1 --set gas.levels=0 config.ini >out 2>err
found=$?
[ $found -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'gas.cfl' err ||
  complain "a step that is too long: exit code $found, or not one line that names gas.cfl"
cat err
finish
