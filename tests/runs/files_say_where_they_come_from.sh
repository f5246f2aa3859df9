#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every file says which program made it, when, where and with which configuration. Gadget-4's names
# are those of results as well: tools read them and --overwrite removes them.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
cat >config.ini <<END
[box]
size = 40
npart_side = 16
[ic]
seed = 321
[time]
z_end = 0
step = fixed
steps = 8
[output]
dir = run
redshifts = 9, 0
checkpoint_minutes = 600
[analysis]
min_members = 4
linking_length = 0.4
END
revision=$("$PHOTONS" --version | sed -n 's/^git  *//p')
printf '%s\n' "$revision" | grep -q -E '^([0-9a-f]{12}(-modified)?|unknown)$' ||
  complain "--version gives no git revision: $revision"

STARPU_NCPU=2 timeout 120 "$PHOTONS" --set output.names=gadget4 config.ini >out 2>err ||
  complain "the run: exit code $?"
tail -n 1 out | grep -q 'snapshots snapshot_\*.hdf5, halos fof_subhalo_tab_\*.hdf5' ||
  complain "the last line does not name the files: $(tail -n 1 out)"

cat >look.py <<'END'
import datetime, sys
import h5py, numpy as np, photons

revision = sys.argv[1]
for name in "snapshot_000", "fof_subhalo_tab_001", "checkpoint":
    with h5py.File(f"run/{name}.hdf5") as file:
        found = dict(file["Provenance"].attrs)
    config = photons.read_config(found["config.ini"].decode())
    date = datetime.datetime.strptime(found["date"].decode(), "%Y-%m-%dT%H:%M:%S%z")
    age = datetime.datetime.now(datetime.timezone.utc) - date
    assert -1 < age.total_seconds() < 3600, (name, date)
    assert found["git_revision"].decode() == revision, name
    assert found["program"].decode().startswith("photons-starpu "), name
    assert found["particles"] == b"generated with seed 321", name
    assert b"Eisenstein" in found["spectrum"] and b"sigma8 0.812" in found["spectrum"], name
    assert found["host"] and found["StarPU"].decode()[0].isdigit(), name
    assert (found["ranks"], found["workers"], found["gpus"]) == (1, 2, 0), name
    assert 0 < found["wall_seconds"] < 120, name
    assert config["ic"]["seed"] == "321" and config["output"]["names"] == "gadget4", name
for name in "powerspec_001.txt", "massfunc_001.txt":
    lines = open(f"run/{name}").read().splitlines()
    assert f"# provenance git_revision: {revision}" in lines, name

# tools/photons.py reads these names, and snapshots are in the order of the halos.
run = photons.Run("run")
assert run.numbers == [0, 1] and abs(run.redshift(1)) < 1e-9 and len(run.power(1)["k"]) > 3
halos, snapshot = run.halos(1), run.snapshot(1)
assert len(halos["GroupLen"]) > 0
first, count = halos["GroupOffsetType"][0, 1], halos["GroupLen"][0]
assert np.array_equal(snapshot["ParticleIDs"][first : first + count], halos.members(0))
END
"$PYTHON" look.py "$revision" 2>err || complain 'the provenance in the files'

# Who looks for damage leaves the provenance out: a run does not need it.
"$PYTHON" -c '
import h5py
with h5py.File("run/checkpoint.hdf5", "r+") as file:
    file["Provenance"].attrs.modify("ranks", 77.0)'
timeout 120 "$PHOTONS" --restart --set output.names=gadget4 config.ini >out 2>err ||
  complain "a restart with a changed provenance: exit code $?"
grep -q 'nothing is left to do' out || complain 'a restart with a changed provenance'
[ ! -e run/checkpoint-damaged.hdf5 ] || complain 'a changed provenance counts as damage'

# --analyse takes and writes either names; --overwrite removes either.
timeout 120 "$PHOTONS" -q --analyse run/snapshot_001.hdf5 --set output.dir=again \
  --set output.names=gadget4 --set analysis.min_members=4 2>err || complain "--analyse: exit code $?"
[ -s again/fof_subhalo_tab_001.hdf5 ] || complain '--analyse wrote no fof_subhalo_tab_001.hdf5'
"$PYTHON" "$PHOTONS_SOURCE/tools/swift_view.py" run/snapshot_001.hdf5 >out 2>err ||
  complain 'no view for swiftsimio'
[ "$(cat out)" = run/snapshot_001.swift.hdf5 ] || complain "the view is $(cat out)"
timeout 120 "$PHOTONS" -q --overwrite --steps 0 --set output.redshifts=49 config.ini 2>err ||
  complain "--overwrite: exit code $?"
[ -z "$(ls run | grep -e snapshot_ -e fof_subhalo)" ] || complain "--overwrite left $(ls run)"
[ -s run/snap_000.hdf5 ] || complain 'no snap_000.hdf5'

finish
