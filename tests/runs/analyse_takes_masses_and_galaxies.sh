#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --analyse on a zoom, whose heavy particles each stand for eight of a box of one mass, and on an
# isolated Plummer sphere: spectra, halos, radii and energies are those of the same particles by other
# means.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

plain=${PHOTONS_FORCE_SETS:?the folder of the force sets}/late.hdf5

# analyse SNAPSHOT FOLDER COMMAND...: it must succeed, started by the command; messages go to FOLDER.out.
# Pictures of boxes are small.
analyse() {
  snapshot=$1 folder=$2
  shift 2
  case $folder in
    plain | zoom*) pictures='--set output.image_pixels=128' ;;
    *) pictures= ;;
  esac
  STARPU_NCPU=1 timeout "$(seconds 120)" "$@" "$PHOTONS" --analyse "$snapshot" --set output.dir="$folder" \
    $pictures >"$folder.out" 2>&1 ||
    complain "$snapshot: exit code $?, $(cat "$folder.out")"
}

analyse "$plain" plain env
helper zoom "$plain" plain zoom.hdf5 || exit 99
analyse zoom.hdf5 zoom env
helper compare "$plain" plain zoom.hdf5 zoom || complain "the zoom"
[ "$(grep -c 'masses: halos and their spheres are made of' zoom.out)" -eq 1 ] ||
  complain "a zoom: $(cat zoom.out)"
[ -e zoom/massfunc_000.txt ] && complain "a zoom has a mass function"
[ -s zoom/density_000.png ] || complain "a zoom has no picture"

helper plummer plummer.hdf5 || exit 99
analyse plummer.hdf5 plummer env
helper sphere plummer.hdf5 plummer || complain "the Plummer sphere"
grep -q 'that of point masses' plummer.out || complain "softening: $(cat plummer.out)"

# The same from a snapshot of a run, whose first row of log/energy.csv has the same energies.
cat >config.ini <<END
[box]
boundary = isolated
[ic]
source = gadget
file = plummer.hdf5
[gravity]
softening = 0.05
softening_type_2 = 0.1
[time]
end = 1
[output]
interval = 1
END
run run --steps 0 config.ini
analyse run/snapshot_000.hdf5 again env
helper same run again || complain "a snapshot of a run"

# On two ranks all is the same.
if command -v mpirun >/dev/null && mpirun --oversubscribe -n 2 true 2>/dev/null; then
  analyse zoom.hdf5 zoom2 mpirun --oversubscribe --bind-to none -n 2
  analyse plummer.hdf5 plummer2 mpirun --oversubscribe --bind-to none -n 2
  helper ranks zoom zoom2 plummer plummer2 || complain "two ranks"
  cmp zoom/density_000.png zoom2/density_000.png || complain "two ranks draw another picture"
fi

"$PHOTONS" --analyse plummer.hdf5 --dry-run --set output.dir=dry >out 2>&1 ||
  complain "--dry-run: $(cat out)"
grep -q 'would write to dry: energies' out && [ ! -e dry ] || complain "--dry-run: $(cat out)"

finish
