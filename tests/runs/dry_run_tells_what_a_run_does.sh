#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --dry-run refuses what a run refuses, with the same exit code and message, and the memory that it
# foretells is the peak of the run within 15 %.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

cat >config.ini <<END
[box]
size = 50
npart_side = 8
[time]
z_end = 10
step = fixed
steps = 2
END
printf '1 2\n2 none\n' >table.txt

# What time.accuracy chooses stands where a run prints its parameters, and what is given stays.
"$PHOTONS" --dry-run --set time.accuracy=high --set time.eta=0.5 config.ini >out 2>err ||
  complain "time.accuracy: exit code $?"
for value in 'accuracy = high' 'max_dlna = 0.00625' 'stretch = 4' 'eta = 0.5' 'eta_tide = 0' \
  'kicks = growth'; do
  grep -qx "$value" out || complain "time.accuracy = high: no line with: $value"
done

# Displacements shrink as 1/(1 + z), nearly, and with the spacing's waves.
waves() { "$PHOTONS" --dry-run config.ini "$@" | sed -n 's/^  waves  *//p'; }
late=$(waves --set ic.z_init=49) early=$(waves --set ic.z_init=99 --set ic.order=3 --set ic.fixed=yes --set ic.sphere_mode=no)
case $late in '2LPT from z = 49, from a grid: displacements of '*' of the spacing (rms)') ;; *) complain "waves: $late" ;; esac
case $early in '3LPT from z = 99, fixed amplitudes, with corner modes, from a grid: '*) ;; *) complain "waves: $early" ;; esac
echo "$late $early" | sed 's/[^0-9. ]//g' | awk '{ n = 0; for (i = 1; i <= NF; i++) if ($i ~ /^0\./) x[n++] = $i
  ratio = x[0]/x[1] } END { exit !(n == 2 && ratio > 1.98 && ratio < 2.02) }' || complain "displacements: $late, $early"

# ic.z_init = auto is the least redshift at which a criterion is met; which one, it says. Before z = 10 structures of a
# universe of matter have grown by 10 with 2LPT, and by 100^(1/3) with 3LPT, as a does: rounding decides
# between 109 and 110.
start() { "$PHOTONS" --dry-run config.ini --set ic.z_init=auto "$@" | sed -n 's/^  start  *//p'; }
start_is() {
  expected=$1
  shift
  found=$(start "$@")
  case $found in $expected) ;; *) complain "start with $*: $found, not $expected" ;; esac
}
universe='--set cosmology.Omega_m=1 --set cosmology.Omega_lambda=0'
# shellcheck disable=SC2086
start_is 'z = 1[01][09] chosen by growth to the first output, z = 10, by 10*, at least 10' $universe
# shellcheck disable=SC2086
start_is 'z = 51 chosen by growth to the first output, z = 10, by 4.7'* --set ic.order=3 $universe
start_is 'z = 199 chosen by growth to '*', at least 100, the earliest choice' --set ic.order=1
fine='--set box.npart_side=64 --set box.size=16 --set time.z_end=0'
# shellcheck disable=SC2086
start_is 'z = * chosen by the rms displacement, 0.48* of the spacing, at most 0.5' $fine
# shellcheck disable=SC2086
z=$(start $fine | sed 's/z = \([0-9]*\).*/\1/')
# shellcheck disable=SC2086
waves $fine --set ic.z_init=$((z - 1)) | grep -q 'displacements of 0\.50[0-9]* of' || complain "z = $z is not the least redshift"
# shellcheck disable=SC2086
start_is 'z = * chosen by the rms density contrast of the lattice'"'"'s waves, 0.36*, at most 0.368' --set ic.order=3 $fine
# comoving gas begins with waves of first order
gas='--set run.system=gas --set gas.comoving=yes --set gas.gravity=self --set gas.root=16,16,16 --set time.step=block --set time.steps=0'
# shellcheck disable=SC2086
start_is 'z = * chosen by growth to '*', at least 100' $gas --set time.z_end=0
"$PHOTONS" --dry-run config.ini --set ic.z_init=auto --set ic.source=gadget --set ic.file=config.ini >out 2>err &&
  complain 'a file begins elsewhere'
grep -q 'z_init = auto: of ic.source = generate alone' err || complain "ic.z_init = auto of a file: $(cat err)"
"$PHOTONS" --dry-run config.ini | grep -q '^  start' && complain 'a start that is given is chosen'

# refused CODE MESSAGE ARGUMENT...: the dry run says so, and the run does.
refused() {
  code=$1 message=$2
  shift 2
  for dry in --dry-run ''; do
    timeout "$(seconds 60)" "$PHOTONS" $dry --quiet --set output.dir=none "$@" config.ini >out 2>err
    found=$?
    [ $found -eq "$code" ] || complain "$dry $*: exit code $found, not $code"
    [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$message" err ||
      complain "$dry $*: not one line with: $message"
    [ -n "$dry" ] && [ -e none ] && complain "$dry $*: made the output folder"
    rm -rf none
  done
}
refused 1 'GB of memory' --set box.npart_side=4096
refused 2 'groups' --set box.npart_side=65536
refused 2 'a mesh of 20000^3 cells' --set box.npart_side=20000 --set runtime.group_size=1000000000
refused 3 'table.txt:2' --set ic.power_spectrum=file --set ic.power_spectrum_file=table.txt
refused 2 'ic.z_init = auto: expected outputs' --set ic.z_init=auto --set output.redshifts=300,10
refused 1 'cannot make the folder' --set output.dir=/proc/none
STARPU_SCHED=nonsense
export STARPU_SCHED
refused 2 'STARPU_SCHED=nonsense: not a scheduler of this StarPU; allowed: '
unset STARPU_SCHED

# An isolated system: its components come first, with what docs/user/isolated.md says of M31; then parameters, which
# make a config.ini of the same run. The snapshots have the size that was foretold.
"$PHOTONS" --dry-run --set galaxy.particles=4000 --set galaxy.component_particles='0 0 500 2000' --set time.end=4 \
  --set output.interval=2 --set output.dir=m31 "$PHOTONS_SOURCE/params/galaxy/m31.ini" >out 2>err ||
  complain "m31.ini: exit code $?"
head -n 1 out | grep -q 'what a run would use' || complain "m31.ini: begins with $(head -n 1 out)"
for line in 'galaxy  *4 components, 8.88e+11 Msun; circular speed at most 278.. km/s at 0.78.; lengths in kpc' \
  'halo  *1  *1485  *5.46e+08  *8.11e+11  *7.63  *58.13  *0.01562$' 'bulge  *3  *500  *6.48e+07  *3.24e+10  *0.61  *1.093  *0.01562$' \
  'disk  *2  *2000  *1.83e+07  *3.66e+10  *5.4  .* 1.844 at 12.4$' 'time  *about .* on .* core.*steps of particles' \
  'disk space  *about 0.528 MB: 3 snapshots of 0.176 MB'; do
  grep -q "^ *$line" out || complain "m31.ini: no line with: $line"
done
sed '1,/^# its parameters/d; /^STARPU/d' out >again.ini
"$PHOTONS" --quiet --set output.dir=m31 again.ini >out 2>err || complain "what --dry-run prints: exit code $?"
set -- $(wc -c <m31/snapshot_000.hdf5)
[ "$1" -gt 176000 ] && [ "$1" -lt 230000 ] || complain "m31: a snapshot of $1 bytes"
awk 'length > 100' m31/log/run.log | grep . && complain 'm31: the banner has a line that is too long'
sed -n '/component  *type/,/^  [a-z]/p' m31/log/run.log | grep -q '^        ' && complain "m31: a row of the banner's table is broken"
# Of a file the same is measured: M31's own particles have its masses, radii and circular speed within their noise.
"$PHOTONS" --dry-run --set ic.source=gadget --set galaxy.model= --set galaxy.particles= --set galaxy.component_particles= \
  --set ic.file=m31/snapshot_000.hdf5 --set time.end=4 --set output.interval=2 --set output.dir=again \
  "$PHOTONS_SOURCE/params/galaxy/m31.ini" >out 2>err || complain "m31 from a file: $(cat err)"
awk '$1 == "galaxy" { split("galaxy 4 components, 8.88e+11 Msun; circular speed at most", w); for (i = 1; i <= 9; i++) if ($i != w[i]) bad = 1
       if ($10 < 240 || $10 > 340 || $13 > 3) bad = 1; seen++ }
     /of the file/ { r[1] = 58; r[2] = 9.07; r[3] = 1.09; r[4] = 12.1; m[1] = 8.11e11; m[2] = 3.66e10; m[3] = 3.24e10; m[4] = 8e9
       if ($7 / m[$4] < 0.97 || $7 / m[$4] > 1.03 || $9 / r[$4] < 0.7 || $9 / r[$4] > 1.4 || $8 != "-") bad = 1; seen++ }
     /^  time  *about/ { seen++ } END { exit bad || seen != 6 }' out || complain "m31 from a file: $(head -n 9 out)"

# A black hole of 5e8 Msun: 0.05 sqrt(e^3/(G M)) is 2.98e-3 Myr for e = 0.02 kpc. Types without particles have no softening length to tell.
cat >hole.ini <<END
[box]
boundary = isolated
[ic]
source = gadget
file = hole.txt
[gravity]
softening = 0.1
softening_type_5 = 0.02
[time]
end = 10
pair_type = 5
END
printf '# x y z vx vy vz m type\n1 0 0 0 40 0 1e-3 4\n-1 0 0 0 -40 0 1e-3 4\n0 0 0 0 0 0 5e-2 5\n' >hole.txt
"$PHOTONS" --dry-run --set output.dir=hole hole.ini >out 2>err || complain "a black hole: $(cat err)"
grep -q '^  least step  about 0.00298 Myr, beside a particle of 5e+08 Msun of type 5' out && grep -q '^  softening   0.1 kpc of type 4, 0.02 kpc of type 5 (' out ||
  complain "a black hole: $(cat out)"

# --restart: the checkpoint is looked at, and stays as it is. Gadget files: their redshift counts.
"$PHOTONS" -q --steps 1 --set output.dir=part --set output.checkpoint_minutes=1e-6 config.ini \
  2>err || complain "a run of one step: exit code $?"
part() {
  code=$1 message=$2
  shift 2
  cksum part/*.hdf5 >before
  for dry in --dry-run ''; do
    timeout "$(seconds 60)" "$PHOTONS" $dry --restart --set output.dir=part "$@" config.ini >out 2>err
    found=$?
    [ $found -eq "$code" ] || complain "$dry --restart $*: exit code $found, not $code"
    cat out err | grep -qF -- "$message" || complain "$dry --restart $*: nothing said of: $message"
    [ -z "$dry" ] || cksum part/*.hdf5 | cmp -s - before || complain '--dry-run: files have changed'
  done
}
refused 3 'none/checkpoint.hdf5' --restart
part 3 'made with other parameters: box.size' --set box.size=51
"$PHOTONS" --dry-run --restart --set output.dir=part config.ini >out 2>err ||
  complain "--dry-run --restart: exit code $?"
grep -q 'goes on from z = 22.*after step 1' out ||
  complain '--dry-run --restart: does not say where it goes on'
# A chosen start is that of the checkpoint, although another output would have it elsewhere.
"$PHOTONS" -q --steps 1 --set output.dir=chosen --set ic.z_init=auto --set time.z_end=5 config.ini 2>err || complain 'a run that chooses its start'
grep -q '^z_init = [1-9]' chosen/config-used.ini && grep -q '^  start ' chosen/log/run.log || complain 'the log does not say where the run began'
if [ -z "$("$PYTHON" "$PHOTONS_SOURCE/tools/needed_modules.py" h5py matplotlib numpy 2>&1)" ]; then
  "$PYTHON" "$PHOTONS_SOURCE/tools/report.py" chosen >out 2>err && grep -q 'start.*chosen by' chosen/report.html ||
    complain "the report does not say where the run began: $(cat err)"
fi
"$PHOTONS" -q --restart --set output.dir=chosen --set ic.z_init=auto --set time.z_end=5 --set output.redshifts=8,5 config.ini 2>err ||
  complain "a restart that would choose another start: $(cat err)"
# Steps are counted from the start of the run, or from the checkpoint.
part 0 'nothing is left to do: the checkpoint is of step 1, ' --steps 1
[ "$(tail -n 1 part/log/statistics.csv | cut -d , -f 1)" = 1 ] || complain '--restart --steps 1'
grep -q 'particle-steps\|0 cores' out && complain "--restart --steps 1: $(cat out)"
"$PHOTONS" -q --restart --steps +1 --set output.dir=part config.ini 2>err ||
  complain "--restart --steps +1: exit code $?"
[ "$(tail -n 1 part/log/statistics.csv | cut -d , -f 1)" = 2 ] ||
  complain "--restart --steps +1: $(tail -n 1 part/log/statistics.csv)"
part 0 'the run has ended at z = 10: nothing is left to do'
[ -e part/checkpoint-previous.hdf5 ] || complain 'no checkpoint before'
printf 'damaged' | dd of=part/checkpoint.hdf5 bs=1 seek=6000 conv=notrunc 2>err
part 0 'going on from the one before'
[ -e part/checkpoint-damaged.hdf5 ] || complain 'the run has not set the damaged checkpoint aside'
gadget='--set ic.source=gadget --set ic.file=part/snapshot_000.hdf5'
refused 2 'time.z_end = 10 is not after the initial conditions at z = 10' $gadget

for side in 16 32 64; do
  "$PHOTONS" --dry-run --set box.npart_side=$side config.ini >out 2>err || complain "$side^3: dry run"
  "$PHOTONS" --set box.npart_side=$side --set output.dir=$side config.ini >>out 2>err ||
    complain "$side^3: run"
  awk -v side=$side '
    /^  memory  / && !foretold { foretold = $3 }
    /^peak memory / { peak = $3 }
    END {
      printf "%d^3: foretold %.1f MB, used %.1f MB\n", side, foretold, peak
      exit !(foretold > 0 && peak > 0 && foretold < 1.15 * peak && foretold > 0.85 * peak)
    }' out || complain "$side^3: memory"
done
finish
