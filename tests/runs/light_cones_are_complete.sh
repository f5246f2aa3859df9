#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Light cones: every particle crosses in every copy of the box once, on the light cone; parts of the
# sky have what the whole sky has there; maps have the particles of their shells, or their masses where these differ. The
# files have the same bits on any ranks and after a restart.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py healpy matplotlib numpy
need_mpi
STARPU_NCPU=1
export STARPU_NCPU

# About 200 copies of the box, and three base steps with shorter ones in them. All runs of this box begin where
# a run without a light cone has ended in long steps.
cat >before.ini <<END
[box]
size = 50
npart_side = 12
[ic]
z_init = 5
[time]
max_dlna = 0.02
eta = 0.02
[output]
images = no
power_spectrum = no
energy_steps = 0
[analysis]
fof = no
[runtime]
group_size = 256
END
run before --set time.z_end=0.3 --set time.max_dlna=0.1 --set time.eta=0.5 before.ini
cat before.ini - >config.ini <<END
[lightcone]
geometry = sky
z_max = 0.05
observer = 3, 11, 49.5
shell_width = 40
END
sed 's|^z_init = 5|source = gadget\nfile = before/snapshot_000.hdf5|' config.ini >evolved.ini
maps=
"$PHOTONS" --dry-run --set lightcone.nside=8 config.ini >out 2>err && maps='--set lightcone.nside=8'
grep -q '^  light cone  100 % of the sky to z = 0.05 (148.* Mpc/h), 202 copies of the box, about 1.881e+05 particles' out ||
  complain "--dry-run does not foretell the light cone: $(grep -A 1 'light cone' out)"
[ -n "$maps" ] || skip 'built without libchealpix (Debian package libchealpix-dev)'

# Ranks share the pixels of maps: three need little more memory for them than one does.
cone_memory() {
  mpirun --oversubscribe --bind-to none -n "$1" "$PHOTONS" --dry-run --set lightcone.nside=1024 config.ini 2>err |
    sed -n 's/.*at most \([0-9.]*\) MB of the memory above/\1/p'
}
one=$(cone_memory 1)
three=$(cone_memory 3)
awk -v one="$one" -v three="$three" 'BEGIN { exit !(one > 200 && three < 1.1 * one) }' ||
  complain "the light cone's memory: $one MB on one rank, $three MB on three"

for ranks in 1 3; do run_on $ranks sky-$ranks $maps evolved.ini; done
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "sub_steps") column = i }
  $column > 1 { found = 1 } END { exit !found }' sky-1/log/timings.csv ||
  complain 'the test itself: no steps within base steps'

# Files are written beside the next step, those of the last step after it, and the log says how many and how long. In
# little memory all are waited for.
log_of() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    NR > 1 { s += $column["cone_files_s"]; waited += $column["cone_waited_s"]; files += $column["cone_files"]
      beside += $column["cone_beside"]; late = early; early += $column["cone_files"] - $column["cone_beside"] }
    END { print files, (beside > 0), (late > 0), (early > late), (s > 0 && waited > 0) }' "$1/log/timings.csv"
}
# check_files FOLDER EXPECTED: what log_of() prints after the number of files: whether files were written beside steps,
# whether any of a step before the last were not, and of the last; seconds.
check_files() {
  [ "$(log_of "$1")" = "$(find "$1/lightcone" -type f | wc -l) $2" ] ||
    complain "$1: $(find "$1/lightcone" -type f | wc -l) files of the light cone, in the log: $(log_of "$1")"
}
for run in sky-1 sky-3; do check_files $run '1 0 1 1'; done

# Steps of all particles together.
run adaptive $maps --set time.step=adaptive --set time.eta=0.1 --set runtime.memory=small evolved.ini
check_files adaptive '0 1 1 1'
helper complete sky-1 adaptive || failures=$((failures + 1))

# A stop between two steps of the light cone, and a run that goes on to a later end.
last=$(tail -n 1 sky-1/log/timings.csv | cut -d , -f 1)
timeout "$(seconds 120)" "$PHOTONS" --quiet --steps $((last - 1)) --set output.dir=parts $maps evolved.ini 2>err ||
  complain "the first part of a run: exit code $?"
[ ! -e parts/lightcone/shell_0000.hdf5 ] || complain 'the test itself: the run had passed all shells'
run_on 2 parts --restart $maps evolved.ini
helper same sky-1 sky-3 parts || failures=$((failures + 1))
# Particles of several types and masses: stopped on three ranks, and gone on with on two.
helper make before/snapshot_000.hdf5 || exit 99
sed '/^npart_side/d; s|before/snapshot_000|several|; s/z_max = 0.05/z_max = 0.04/' evolved.ini >several.ini
run several $maps several.ini
steps=$(tail -n 1 several/log/timings.csv | cut -d , -f 1)
run_on 3 several-parts --steps $((steps - 1)) $maps several.ini
[ ! -e several-parts/lightcone/shell_0000.hdf5 ] || complain 'the test itself: the run of several masses had passed all shells'
run_on 2 several-parts --restart $maps several.ini
helper complete several || failures=$((failures + 1))
helper same several several-parts || failures=$((failures + 1))
"$PHOTONS" --dry-run --set ic.file=apart.hdf5 --set output.dir=none $maps several.ini >out 2>err
[ $? -eq 2 ] && grep -q 'lightcone.nside: the largest mass of a particle is .* times the least one' err ||
  complain "masses that are far apart: $(cat err)"
sed '/^shell_width/d' several.ini >tiny.ini
"$PHOTONS" --dry-run --set ic.file=tiny.hdf5 --set output.dir=none tiny.ini >out 2>err
[ $? -eq 3 ] && grep -q 'no room for the least mass of a particle' err || complain "a tiny mass: $(cat err)"

timeout "$(seconds 60)" "$PHOTONS" --quiet --restart --set output.dir=parts --set lightcone.nside=16 evolved.ini >out 2>err
code=$?
[ $code -eq 3 ] && grep -q "lightcone.nside was '8' and is '16'" err ||
  complain "a restart with other maps: exit code $code"

# A file that cannot be written beside a step ends the run by name.
name=$(printf 'particles_%06d.hdf5' $((last - 1)))
timeout "$(seconds 120)" "$PHOTONS" --quiet --steps $((last - 2)) --set output.dir=fails $maps evolved.ini 2>err ||
  complain "the first part of a run that fails: exit code $?"
mkdir -p "fails/lightcone/$name/full"
timeout "$(seconds 120)" "$PHOTONS" --quiet --restart --set output.dir=fails $maps evolved.ini >out 2>err &&
  complain 'a file of the light cone that cannot be written is no failure'
grep -q "error: .*$name" err || complain "a file of the light cone that cannot be written has no name: $(cat err)"

# Equal masses of single particles are one mass.
run octant --set ic.file=equal.hdf5 --set lightcone.geometry=octant --set lightcone.direction=1,-1,1 $maps evolved.ini
run pencil --set lightcone.geometry=pencil --set lightcone.direction=1,2,0.5 \
  --set lightcone.opening=20 $maps --set lightcone.particles=yes evolved.ini
helper parts sky-1 octant pencil || failures=$((failures + 1))
cmp sky-1/log/statistics.csv octant/log/statistics.csv || complain 'a light cone changes the run'

# Maps alone, and the convergence of particles at random places in them.
printf '# z w\n0 -0.8\n0.1 -0.95\n1 -0.7\n' >w.txt
run maps --set cosmology.w_table=w.txt --set box.size=500 --set time.eta=0.5 --set time.max_dlna=0.05 --set lightcone.z_max=0.35 \
  --set lightcone.particles=no --set lightcone.shell_width=45 --set lightcone.nside=128 config.ini
ls maps/lightcone | grep -q particles && complain 'particles although lightcone.particles = no'
"$PYTHON" -m photons.lightcone maps >out 2>err && [ -s maps/lightcone/convergence.png ] ||
  complain 'no figure of the convergence'
"$PYTHON" "$PHOTONS_SOURCE/tests/runs/light_cones_are_lensed.py" maps || failures=$((failures + 1))

# What cannot be is refused before a run.
refused() {
  message=$1
  shift
  timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=none "$@" config.ini >out 2>err
  code=$?
  [ $code -eq 2 ] && grep -qF -- "$message" err && [ ! -e none ] ||
    complain "$*: exit code $code, not 2, or no line with: $message"
}
refused 'above ic.z_init, where the run begins' --set lightcone.z_max=6
refused 'not above time.z_end, where the run ends' --set time.z_end=0.1
refused 'not a power of 2' --set lightcone.nside=12
refused 'three numbers' --set lightcone.observer=1,2
refused 'three numbers that are not all 0' --set lightcone.geometry=octant --set lightcone.direction=0,0,0
refused 'has no meaning with lightcone.geometry = sky' --set lightcone.direction=1,0,0
refused 'nothing would be written' --set lightcone.particles=no
refused 'geometry = sky: has no meaning with run.system = gas' --set run.system=gas
refused 'has no meaning with box.boundary = isolated' --set box.boundary=isolated --set time.end=1

finish
