#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Tracers in the potentials of section [external] move as an independent integration says: circular orbits with
# their speed and period, epicycles, orbits in a turning bar. Energy is conserved, or Jacobi's integral. The same bits on
# two ranks and after a restart; with self-gravity; wrong potentials are refused.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

export STARPU_NCPU=1 # nine particles
helper make || exit 99
cat >config.ini <<END_OF_CONFIG
[box]
boundary = isolated
[ic]
source = gadget
file = tracers.hdf5
[external]
self_gravity = no
[gravity]
softening = 0.01
[time]
end = 50
max_step = 0.25
eta = 10
[output]
times = 0, 25, 50
potential = yes
energy_steps = 20
END_OF_CONFIG

"$PYTHON" "$PHOTONS_SOURCE/tests/runs/orbits_in_potentials.py" list >list || complain 'the list of potentials'
while IFS='|' read -r name one two; do
  run "$name" config.ini --set "external.potential_1=$one" ${two:+--set "external.potential_2=$two"} \
    $([ "$name" != point ] || echo --set time.max_step=0.05) \
    $([ "$name" != table ] || echo --set external.table=mass.txt) \
    $([ "$name" != pull ] || echo --set external.table=pull.txt --set external.table_column=acceleration)
done <list
bar='external.potential_1=bar mass=1e10 a=3 b=0.5 c=0.5 pattern_speed=40 angle=30'
run_on 2 bar-on-two config.ini --set "$bar" --steps 100
run bar-parts config.ini --set "$bar" --steps 63 --set output.checkpoint_minutes=1e-6
run bar-parts config.ini --set "$bar" --restart --steps 100
run global config.ini --set "$bar" --set time.step=adaptive
# A galaxy in a potential, with its own gravity. Nothing but z of the angular momentum is conserved, and energy.
run heavy config.ini --set ic.source=galaxy --set ic.file= --set galaxy.model=plummer --set galaxy.particles=300 \
  --set external.self_gravity=yes --set 'external.potential_1=miyamoto_nagai mass=1e11 a=3 b=0.3' \
  --set gravity.softening=0.5 --set time.max_step=2 --set time.eta=0.05 --set output.energy_steps=5
# A bar of tracers in the core of a logarithmic potential, where all turn with the same speed, 20 km/s/kpc.
run turning config.ini --set ic.file=turning.txt --set 'external.potential_1=logarithmic speed=2000 core=100' \
  --set time.max_step=2 --set time.end=40 --set output.times=40 --set output.energy_steps=4
helper check || failures=$((failures + 1))

"$PHOTONS" --dry-run --set "$bar" config.ini >out 2>err || complain "--dry-run: exit code $?"
grep -q "^  conserved   Jacobi's integral E - 40 L_z" out || complain "--dry-run: $(grep conserved out)"
"$PHOTONS" --dry-run --set 'external.potential_1=nfw mass=1e12 scale=20' config.ini >out 2>err
grep -q '^  conserved   energy, angular momentum; not momentum' out || complain "--dry-run: $(cat out)"

# refused CODE TEXT SETTING...: this exit code, and a line that has the text.
refused() {
  code=$1 text=$2
  shift 2
  for setting; do
    set -- "$@" --set "$setting"
    shift
  done
  "$PHOTONS" --quiet --set output.dir=refused "$@" config.ini >out 2>err
  found=$?
  [ $found -eq "$code" ] && grep -q -e "$text" err || complain "$*: exit code $found, $(cat err)"
}
refused 2 "potential_1 = nwf mass=1: 'nwf' is no potential; known: point" 'external.potential_1=nwf mass=1'
refused 2 "expected nfw mass=MSUN scale=KPC" 'external.potential_1=nfw mass=1e12'
refused 2 "'scale=-1': expected nfw" 'external.potential_1=nfw mass=1e12 scale=-1'
refused 2 "'core=1': expected nfw" 'external.potential_1=nfw mass=1e12 scale=1 core=1'
refused 2 'there is no potential' external.self_gravity=no
refused 2 'give external.table' external.potential_1=table
refused 2 "no potential of .external. is 'table'" 'external.potential_1=point mass=1' external.table=mass.txt
printf '1 1e9\n2 5e8\n' >falls.txt
refused 3 'falls.txt:2: the mass within 2 kpc is below' external.potential_1=table external.table=falls.txt
printf '1 1e9\n2 none\n' >none.txt
refused 3 'none.txt:2: expected a radius in kpc' external.potential_1=table external.table=none.txt
finish
