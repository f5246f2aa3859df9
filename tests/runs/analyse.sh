#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --analyse on a snapshot as other codes write it and on our own; the catalogue is read back with h5py, tools/photons.py and, where it is
# there, yt; bad snapshots end with one clear line.
: "${PHOTONS:?the program}" "${PHOTONS_SOURCE:?its source folder}"
[ -x "$PHOTONS" ] || { echo "skipped: $PHOTONS is not built"; exit 77; }
python3 -c 'import h5py, numpy' 2>/dev/null || { echo "skipped: python3 has no h5py and numpy"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failures=0
failed() { echo "FAILED: $*"; failures=$((failures + 1)); }

# A snapshot as other codes write it: PhotoNs-2's where it is, else the clustered particles with no
# more than Gadget's header, float positions and short ids.
foreign=${PHOTONS_TEST_DATA:-}/forces/late32.hdf5
if [ ! -r "$foreign" ]; then
  foreign=$work/foreign.hdf5
  python3 - "${PHOTONS_FORCE_SETS:?the folder of the force sets}/late.hdf5" "$foreign" <<'END' || exit 1
import sys
import h5py
names = ('BoxSize', 'Redshift', 'Time', 'Omega0', 'OmegaLambda', 'HubbleParam', 'MassTable', 'NumPart_ThisFile',
         'NumPart_Total', 'NumFilesPerSnapshot')
with h5py.File(sys.argv[1]) as own, h5py.File(sys.argv[2], 'w') as other:
    for name in names:
        other.require_group('Header').attrs[name] = own['Header'].attrs[name]
    part = other.create_group('PartType1')
    for name, kind in (('Coordinates', 'f4'), ('Velocities', 'f4'), ('ParticleIDs', 'u4')):
        part[name] = own['PartType1'][name][...].astype(kind)
END
fi
"$PHOTONS" -q --analyse "$foreign" --set output.dir="$work/foreign" --set cosmology.sigma8=0.9 || exit 1
for product in fof_tab_000.hdf5 massfunc_000.txt powerspec_000.txt density_000.png slice_000.png; do
  [ -s "$work/foreign/$product" ] || failed "no $product"
done
ln -s fof_tab_000.hdf5 "$work/foreign/fof_tab_000.0.hdf5" # the name that yt looks for
python3 "$PHOTONS_SOURCE/tests/support/catalogue_check.py" "$foreign" "$work/foreign" || failed "the foreign snapshot's catalogue"

# A run whose first output is that snapshot, with the particles in halo order.
cat >"$work/config.ini" <<END
[cosmology]
sigma8 = 0.77
n_s = 0.95
[ic]
source = gadget
file = $foreign
[output]
dir = $work/run
halo_order = yes
END
"$PHOTONS" -q --steps 0 "$work/config.ini" || exit 1
python3 "$PHOTONS_SOURCE/tests/support/catalogue_check.py" --ordered "$work/run/snap_000.hdf5" "$work/run" || failed "the run's catalogue"

# Analysed again, our own snapshot gives the same catalogue, and remembers its cosmology.
"$PHOTONS" --analyse "$work/run/snap_000.hdf5" --set output.dir="$work/again" >"$work/output" || exit 1
grep -q 'n_s 0.95, sigma8 0.77 from the run' "$work/output" || failed "the run's cosmology is not taken over"
for product in massfunc_000.txt powerspec_000.txt; do
  cmp "$work/run/$product" "$work/again/$product" || failed "$product of the snapshot differs from the run's"
done
STARPU_NCPU=1 "$PHOTONS" -q --analyse "$work/run/snap_000.hdf5" --set output.dir="$work/one" --set runtime.group_size=512 || exit 1
STARPU_NCPU=1 "$PHOTONS" -q --analyse "$work/run/snap_000.hdf5" --set output.dir="$work/alone" || exit 1
for product in massfunc_000.txt powerspec_000.txt density_000.png slice_000.png; do
  cmp "$work/alone/$product" "$work/again/$product" || failed "$product depends on the workers"
done
python3 - "$work" <<END || failed "the catalogue depends on groups or workers"
import sys, h5py, numpy as np
files = [h5py.File(f"{sys.argv[1]}/{name}/fof_tab_000.hdf5") for name in ("run", "again", "one")]
for name in ["Group/" + name for name in files[0]["Group"]] + ["IDs/ID"]:
    for other in files[1:]:
        assert np.array_equal(files[0][name], other[name]), name
END

# tools: figures and one page, where matplotlib is there.
if python3 -c 'import matplotlib' 2>/dev/null; then
  python3 "$PHOTONS_SOURCE/tools/report.py" "$work/run" >"$work/output" || failed "tools/report.py"
  [ "$(grep -c 'data:image/png;base64' "$work/run/report.html")" -ge 4 ] || failed "the page lacks pictures"
fi

# refuse CODE TEXT ARGUMENTS: the program must end with CODE and one line on stderr that has TEXT, and write nothing.
refuse() {
  code=$1 text=$2
  shift 2
  "$PHOTONS" -q "$@" --set output.dir="$work/none" >/dev/null 2>"$work/error"
  found=$?
  [ $found = "$code" ] || failed "$*: exit code $found, expected $code"
  grep -q -- "$text" "$work/error" || failed "$*: '$(cat "$work/error")' does not say '$text'"
  rm -rf "$work/none"
}
head -c 20000 "$foreign" >"$work/truncated.hdf5"
echo "not a snapshot" >"$work/text.hdf5"
python3 -c '
import sys, h5py
with h5py.File(sys.argv[1], "w") as f: f.create_group("Header").attrs["BoxSize"] = 1.0' "$work/empty.hdf5"
refuse 2 "cannot read it" --analyse "$work/nowhere.hdf5"
refuse 3 "truncated" --analyse "$work/truncated.hdf5"
refuse 3 "text.hdf5" --analyse "$work/text.hdf5"
refuse 3 "NumPart_ThisFile" --analyse "$work/empty.hdf5"
refuse 2 "no config.ini" --analyse "$foreign" "$work/config.ini"
refuse 2 "linking_length" --analyse "$foreign" --set analysis.linking_length=7

[ $failures = 0 ]
