#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --analyse on another code's snapshot and on our own: h5py and the package photons read right halos
# and subhalos from the catalogue. Bad snapshots end with one clear line.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy

# A snapshot as other codes write it: the clustered particles with no more than Gadget's header,
# float positions and short ids.
foreign=foreign.hdf5
"$PYTHON" - "${PHOTONS_FORCE_SETS:?the folder of the force sets}/late.hdf5" $foreign <<'END' || exit 1
import sys
import h5py
names = ('BoxSize', 'Redshift', 'Time', 'Omega0', 'OmegaLambda', 'HubbleParam', 'MassTable',
         'NumPart_ThisFile', 'NumPart_Total', 'NumFilesPerSnapshot')
with h5py.File(sys.argv[1]) as own, h5py.File(sys.argv[2], 'w') as other:
    for name in names:
        other.require_group('Header').attrs[name] = own['Header'].attrs[name]
    part = other.create_group('PartType1')
    for name, kind in (('Coordinates', 'f4'), ('Velocities', 'f4'), ('ParticleIDs', 'u4')):
        part[name] = own['PartType1'][name][...].astype(kind)
END
"$PHOTONS" -q --analyse "$foreign" --set output.dir=foreign --set cosmology.sigma8=0.9 || exit 1
for product in fof_subhalo_tab_000.hdf5 massfunc_000.txt powerspec_000.txt density_000.png slice_000.png; do
  [ -s "foreign/$product" ] || complain "no $product"
done
helper "$foreign" foreign || complain "the foreign snapshot's catalogue"

# A run whose first output is that snapshot, with the particles in halo order.
cat >config.ini <<END
[cosmology]
sigma8 = 0.77
n_s = 0.95
[ic]
source = gadget
file = $foreign
[output]
dir = run
halo_order = yes
subhalos = yes
image_pixels = 128
END
"$PHOTONS" -q --steps 0 config.ini || exit 1
helper --ordered run/snapshot_000.hdf5 run || complain "the run's catalogue"

# Analysed again, our own snapshot gives the same catalogue, and remembers its cosmology.
"$PHOTONS" --analyse run/snapshot_000.hdf5 --set output.dir=again --set output.subhalos=yes \
  --set output.image_pixels=128 >output || exit 1
grep -q 'n_s 0.95, sigma8 0.77 from the run' output ||
  complain "the run's cosmology is not taken over"
for product in massfunc_000.txt powerspec_000.txt; do
  same_text "run/$product" "again/$product" || complain "$product of the snapshot differs from the run's"
done
STARPU_NCPU=1 "$PHOTONS" -q --analyse run/snapshot_000.hdf5 --set output.dir=one \
  --set output.image_pixels=128 --set output.subhalos=yes \
  --set runtime.group_size=512 || exit 1
STARPU_NCPU=1 "$PHOTONS" -q --analyse run/snapshot_000.hdf5 --set output.dir=alone \
  --set output.image_pixels=128 --set output.halo_ids=no || exit 1
for product in massfunc_000.txt powerspec_000.txt; do
  same_text "alone/$product" "again/$product" || complain "$product depends on the workers"
done
for product in density_000.png slice_000.png; do
  cmp "alone/$product" "again/$product" || complain "$product depends on the workers"
done
"$PYTHON" - <<'END' || complain "the catalogue depends on groups or workers"
import h5py, numpy as np
files = [h5py.File(f"{name}/fof_subhalo_tab_000.hdf5") for name in ("run", "again", "one")]
tables = [f"{group}/{name}" for group in ("Group", "Subhalo") for name in files[0][group]]
for name in tables + ["IDs/ID"]:
    for other in files[1:]:
        assert np.array_equal(files[0][name], other[name]), name
lean = h5py.File("alone/fof_subhalo_tab_000.hdf5")
assert "IDs" not in lean, "ids in spite of output.halo_ids = no"
for name in lean["Group"]:
    if name not in ("GroupNsubs", "GroupFirstSub"):
        assert np.array_equal(files[0]["Group"][name], lean["Group"][name]), name
END
"$PYTHON" -c 'import photons; photons.read_halos("alone/fof_subhalo_tab_000.hdf5").members(0)' 2>err &&
  complain 'members of a catalogue without ids'
grep -q 'output.halo_ids' err || complain "members without ids: $(tail -n 1 err)"

# Figures and one page.
"$PYTHON" "$PHOTONS_SOURCE/tools/report.py" run >output || complain "tools/report.py"
[ "$(grep -c 'data:image/[a-z]*;base64' run/report.html)" -ge 4 ] || complain "the page lacks pictures"

# refuse CODE TEXT ARGUMENT...: the program ends with CODE, says TEXT in one line of stderr and
# writes nothing.
refuse() {
  code=$1 text=$2
  shift 2
  "$PHOTONS" -q "$@" --set output.dir=none >/dev/null 2>err
  found=$?
  [ $found = "$code" ] || complain "$*: exit code $found, expected $code"
  grep -q -- "$text" err || complain "$*: does not say '$text'"
  rm -rf none
}
# A dry run reads and says what it would write, and refuses what the analysis refuses.
"$PHOTONS" --analyse "$foreign" --dry-run --set output.dir=dry >output || complain "--dry-run"
grep -q 'would write to dry: halos, mass function, power spectrum, pictures' output &&
  grep -q 'Omega_k' output || complain "--dry-run says: $(cat output)"
[ -e dry ] && complain "--dry-run wrote something"

head -c 20000 "$foreign" >truncated.hdf5
echo "not a snapshot" >text.hdf5
"$PYTHON" -c '
import h5py
with h5py.File("empty.hdf5", "w") as f: f.create_group("Header").attrs["BoxSize"] = 1.0'
refuse 2 "cannot read it" --analyse nowhere.hdf5
refuse 3 "truncated" --analyse truncated.hdf5
refuse 3 "truncated" --analyse truncated.hdf5 --dry-run
refuse 3 "text.hdf5" --analyse text.hdf5
refuse 3 "NumPart_ThisFile" --analyse empty.hdf5
refuse 2 "no config.ini" --analyse "$foreign" config.ini
refuse 2 "linking_length" --analyse "$foreign" --set analysis.linking_length=7

finish
