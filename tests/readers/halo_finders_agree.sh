#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# mpi-rockstar reads exact and lean snapshots, and finds the halos that the catalogue has. make check-readers
# runs this test; ROCKSTAR is the path of its program mpi-rockstar_hdf5, which a user has built.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
[ -n "${ROCKSTAR:-}" ] ||
  { echo 'mpi-rockstar was not given: make check-readers ROCKSTAR=/path/to/mpi-rockstar_hdf5'; exit 0; }
[ -x "$ROCKSTAR" ] || { echo "FAILED: ROCKSTAR=$ROCKSTAR cannot be run"; exit 1; }
PYTHON=${READERS_PYTHON:?the Python that has the readers: make check-readers}
need_python h5py numpy
need_mpi
. "$PHOTONS_SOURCE/tests/support/readers_run.sh"

# find FOLDER: halos of FOLDER/snapshot_001.hdf5 go to FOLDER/rockstar.
find_halos() {
  mkdir "$1/rockstar"
  echo 001 >names
  cat >rockstar.cfg <<END_OF_CONFIG
FILE_FORMAT = "GADGET4"
GADGET4_LENGTH_CONVERSION = 1e-3
GADGET4_MASS_CONVERSION = 1e10
FORCE_RES = 0.04
MASS_DEFINITION = "200c"
INBASE = "$work/$1"
FILENAME = "snapshot_<snap>.hdf5"
SNAPSHOT_NAMES = "names"
NUM_SNAPS = 1
NUM_BLOCKS = 1
NUM_WRITERS = 8
OUTBASE = "$work/$1/rockstar"
END_OF_CONFIG
  # Fewer processes take no box for periodic. mpirun refuses root unless told.
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout "$(seconds 120)" mpirun --oversubscribe -n 8 \
    "$ROCKSTAR" -c rockstar.cfg >err 2>&1 || complain "$1: mpi-rockstar"
}

sed 's/^npart_side.*/npart_side = 32/' config.ini >finer.ini
for kind in exact lean; do
  lean=no
  [ $kind = exact ] || lean=yes
  run $kind finer.ini --set output.names=gadget4 --set output.accelerations=no --set output.lean=$lean
  find_halos $kind
done
"$PYTHON" - <<'END' || complain 'mpi-rockstar finds other halos'
import h5py
import numpy

BOX = 40.0


def rockstar(kind):
    path = f"{kind}/rockstar/out_0.list"
    names = open(path).readline()[1:].split()
    table = numpy.loadtxt(path, ndmin=2)
    return {name: table[:, names.index(name)] for name in ("M200c", "X", "Y", "Z")}


with h5py.File("exact/fof_subhalo_tab_001.hdf5") as file:
    mass = file["Group/Group_M_Crit200"][:3] * 1e10
    centre = file["Group/GroupPeakPos"][:3] / 1e3
wrong = 0
for kind in "exact", "lean":
    found = rockstar(kind)
    places = numpy.array([found[name] for name in "XYZ"]).T
    for m, x in zip(mass, centre):
        away = abs(places - x)
        away = numpy.linalg.norm(numpy.minimum(away, BOX - away), axis=1)
        ratio = found["M200c"][away < 0.5].max(initial=0.0) / m
        print(f"{kind}: M200c {m:.3g} Msun/h, {ratio:.3f} of it by mpi-rockstar")
        # It counts bound particles alone, about another centre: of halos that merge half may be missing. A wrong
        # unit of length, mass or velocity would leave nothing.
        wrong += not 0.5 < ratio < 1.2
raise SystemExit(wrong > 0)
END
finish
