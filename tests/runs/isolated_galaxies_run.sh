#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A galaxy without a box: energy, snapshots and logs of a run; the same bits on any number of
# workers and ranks, and after a restart; the configuration that a run leaves behind repeats the
# run; bad input is refused.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi

cat >config.ini <<END_OF_CONFIG
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
component_1 = hernquist 3e10 1
component_2 = hernquist 1e10 2
particles = 6000
[gravity]
softening = 0.1
[time]
end = 16
max_step = 4
[output]
times = 8, 16
accelerations = yes
potential = yes
energy_steps = 2
[runtime]
group_size = 512
END_OF_CONFIG

STARPU_NCPU=1 run one config.ini
STARPU_NCPU=2 run two config.ini
STARPU_NCPU=1 run_on 3 ranks config.ini
STARPU_NCPU=1 run_on 4 parts --steps 2 --set output.checkpoint_minutes=1e-6 config.ini
run parts --restart config.ini
run again one/config-used.ini
helper one two ranks parts again || failures=$((failures + 1))

# Steps of all pairs have the same bits on ranks and after a restart.
pairs='--set galaxy.particles=1000 --set time.criterion=pairs --set time.eta_pair=0.2
  --set time.end=2 --set time.max_step=1 --set output.times=2'
run pairs $pairs config.ini
STARPU_NCPU=1 run_on 2 pairs-parts $pairs --steps 1 --set output.checkpoint_minutes=1e-6 config.ini
support occupied_rungs.py pairs-parts/checkpoint.hdf5 3 || failures=$((failures + 1))
run pairs-parts $pairs --restart config.ini
support same_snapshots.py pairs/snapshot_000.hdf5 pairs-parts/snapshot_000.hdf5 || failures=$((failures + 1))
cmp pairs/log/energy.csv pairs-parts/log/energy.csv || complain 'energies with steps of pairs'

# --verbose names what a step did, and a time that belongs to such a system.
"$PHOTONS" --verbose --set output.dir=verbose --steps 1 config.ini >out 2>&1 || complain "--verbose: exit code $?"
grep -q '^    cores .*p2p [1-9]' out || complain '--verbose: does not name p2p'
grep -E '^    (cores .* pm |a [0-9])' out && complain '--verbose: a mesh, or a scale factor'

cat >sphere.ini <<END_OF_CONFIG
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
model = plummer
[gravity]
softening = 0.1
[time]
end = 1
criterion = gothic
[output]
dir = refused
END_OF_CONFIG
# refused TEXT SETTING: exit code 2, and a line that has the text.
refused() {
  "$PHOTONS" --set "$2" sphere.ini >out 2>&1
  code=$?
  [ $code -eq 2 ] && grep -q -e "$1" out || complain "$2: exit code $code, $(cat out)"
}
refused 'needed with box.boundary = isolated' time.end=
refused 'needed with box.boundary = isolated' gravity.softening=
refused 'allowed: m31' galaxy.model=m32
refused 'give one of both' 'galaxy.component_1=plummer 1e10 1'
refused 'no meaning with box.boundary = isolated' box.size=10
refused 'no meaning with box.boundary = periodic' box.boundary=periodic
refused 'allowed with box.boundary = isolated: galaxy' ic.source=generate
refused 'after time.end' output.times=2
refused 'needs time.step = block' time.step=adaptive
refused 'movie_width: not given, but needed' output.movie=3
refused 'no meaning with box.boundary = isolated' output.image_pixels=64
refused 'no meaning with box.boundary = isolated' ic.order=1
# Who asks for what every box has is warned; who does not want it is not.
"$PHOTONS" -q --dry-run --set output.images=yes --set analysis.fof=yes sphere.ini 2>err >out ||
  complain "images = yes: exit code $?"
grep -q 'warning: output.images, analysis.fof = yes: there are no such outputs' err ||
  complain 'images = yes: no warning'
"$PHOTONS" -q --dry-run --set output.images=no --set analysis.fof=no sphere.ini >out 2>err &&
  [ ! -s err ] || complain 'images = no'
# The files, and what is printed, name nothing of boxes and gas.
"$PHOTONS" --verbose --steps 1 --set output.dir=plain --set galaxy.particles=500 sphere.ini >out 2>err ||
  complain "--verbose: exit code $?"
grep -qE 'pm |gas |    a 1\.' out && complain "--verbose names other systems: $(cat out)"
grep -qE '^(sphere_mode|power_spectrum|images|fof|glass)' plain/config-used.ini &&
  complain "config-used.ini: $(cat plain/config-used.ini)"
"$PYTHON" - <<'END' || complain 'the provenance of a galaxy'
import h5py
found = dict(h5py.File("plain/snapshot_000.hdf5")["Provenance"].attrs)
assert found["particles"] == b"drawn from plummer" and found["seed"] == 12345, found
assert "spectrum" not in found and b"sphere_mode" not in found["config.ini"], found
END
refused "a millionth of the frame's side" gravity.softening=0.001
refused 'expected 1 whole numbers' 'galaxy.component_particles=1 2'
# Particles by component: numbers, types and masses, the same on two ranks.
numbers() {
  number=$1 folder=$2
  shift 2
  run_on "$number" "$folder" sphere.ini --steps 1 --set 'galaxy.model=' --set 'galaxy.component_1=hernquist 3e10 1 particles=500' "$@"
}
of_parameters() {
  numbers "$1" "$2" --set 'galaxy.component_2=hernquist 1e10 1 particle_mass=2e6 type=2' --set gravity.softening_type_2=0.05
}
# Softening lengths by component are those of the types, and a restart takes them.
of_components() {
  numbers "$1" "$2" --set 'galaxy.component_1=hernquist 3e10 1 particles=500 softening=0.1' \
    --set 'galaxy.component_2=hernquist 1e10 1 particle_mass=2e6 type=2 softening=0.05' --set output.checkpoint_minutes=1e-6
}
of_parameters 1 numbers
of_parameters 2 numbers-on-two
of_components 1 softened
"$PYTHON" - <<'END' || complain 'particles by component'
import h5py, numpy
one, two, softened = (h5py.File(f"{name}/snapshot_000.hdf5") for name in ("numbers", "numbers-on-two", "softened"))
for part, count, mass in (("PartType3", 500, 6e-3), ("PartType2", 5000, 2e-4)):
    m = one[part]["Masses"][:]
    assert all(numpy.array_equal(one[part][name], softened[part][name]) for name in one[part]), part
    assert len(m) == count and numpy.allclose(m, mass, rtol=1e-5), (part, len(m), m)
    assert all(numpy.array_equal(one[part][name], two[part][name]) for name in one[part]), part
END
grep -qx 'softening_type_2 = 0.05' softened/config-used.ini || complain 'softening by component: not in config-used.ini'
"$PHOTONS" -q --restart softened/config-used.ini --set output.dir=softened 2>err || complain "softening by component: --restart: $(cat err)"
soft='--set galaxy.model= --set time.criterion=acceleration'
soften() {
  # shellcheck disable=SC2086
  "$PHOTONS" --dry-run $soft --set 'galaxy.component_1=hernquist 3e10 1 softening=0.1' "$@" sphere.ini >out 2>err
}
soften --set 'galaxy.component_2=hernquist 1e10 1 softening=0.2' && complain 'two softening lengths of one type'
grep -q 'component_2: hernquist and hernquist have particles of type 3, which has one softening length' err ||
  complain "two softening lengths of one type: $(cat err)"
soften --set gravity.softening_type_3=0.2 && complain 'a component contradicts gravity.softening_type_3'
grep -q 'softening=0.1, but gravity.softening_type_3 = 0.2: give one of both' err || complain "contradiction: $(cat err)"
# All components name their lengths: the parameter is not needed. One that does not is missed.
sed -i '/^softening = /d' sphere.ini
soften --set 'galaxy.component_2=hernquist 1e10 1 type=2 softening=0.05' || complain "softening by component alone: $(cat err)"
grep -q '^  softening   0.05 kpc of type 2, 0.1 kpc of type 3 ' out && grep -q '^    hernquist *2 .* 0.05$' out ||
  complain "softening by component alone: $(head -n 9 out)"
soften --set 'galaxy.component_2=hernquist 1e10 1 type=2' && complain 'a type without a softening length'
grep -q 'particles of type 2 have no softening length' err || complain "a type without a softening length: $(cat err)"
sed -i 's/^\[gravity\]$/&\nsoftening = 0.1/' sphere.ini
# The last lines of a run name the logs of isolated systems.
"$PHOTONS" --set output.dir=told --steps 3 --set galaxy.particles=200 --set time.criterion=acceleration \
  --set time.max_step=0.1 sphere.ini >out 2>err
grep -q '^results in told: .*log/energy.csv' out ||
  complain "the results do not name log/energy.csv: $(grep '^results' out)"

# A galaxy of its own, without the model.
sed -i 's/^model = .*/component_1 = hernquist 1e20 0.1/' sphere.ini
refused 'not below that of light' gravity.softening=1
refused 'must be above 1e-20 Msun' 'galaxy.component_1=hernquist 1e-300 0.1'
sed -i 's/^component_1 = .*/component_1 = hernquist 1e10/' sphere.ini
refused "^photons-starpu: error: sphere.ini:6: .galaxy. component_1 = hernquist 1e10: galaxy: expected" ic.seed=2
# Without a cutoff, and with a softening of a fiftieth of the scale length.
"$PHOTONS" --dry-run --set 'galaxy.component_1=hernquist 1e11 5' --set galaxy.particles=2e4 sphere.ini >out 2>&1 ||
  complain "a sphere without cutoff: $(cat out)"

finish
