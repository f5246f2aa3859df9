#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# HBT-HERONS reads the snapshots and catalogues of a run, follows subhalos through them, and finds the main subhalos
# that the last catalogue has. make check-readers runs this test; HBT is the path of its program, which a user has built.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
[ -n "${HBT:-}" ] || { echo 'HBT-HERONS was not given: make check-readers HBT=/path/to/HBT'; exit 0; }
[ -x "$HBT" ] || { echo "FAILED: HBT=$HBT cannot be run"; exit 1; }
PYTHON=${READERS_PYTHON:?the Python that has the readers: make check-readers}
need_python h5py numpy
need_mpi
. "$PHOTONS_SOURCE/tests/support/readers_run.sh"

sed 's/^npart_side.*/npart_side = 32/' config.ini >finer.ini
run exact finer.ini --set output.names=gadget4 --set output.redshifts='4, 2, 1, 0.6, 0.3, 0'
mkdir exact/hbt
cat >hbt.conf <<END_OF_CONFIG
SnapshotPath $work/exact
HaloPath $work/exact
SubhaloPath $work/exact/hbt
SnapshotFileBase snapshot
MinSnapshotIndex 0
MaxSnapshotIndex 5
SnapshotFormat gadget4
GroupFileFormat gadget4
MassInMsunh -1
LengthInMpch -1
VelInKmS -1
PeriodicBoundaryOn 1
BoxSize -1
SofteningHalo -1
MaxPhysicalSofteningHalo -1
END_OF_CONFIG
# mpirun refuses root unless told.
OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout "$(seconds 300)" mpirun --oversubscribe \
  -n 2 "$HBT" hbt.conf 0 5 >err 2>&1 || complain 'HBT-HERONS'
grep '^SofteningHalo' exact/hbt/Parameters.log
"$PYTHON" - <<'END' || complain 'HBT-HERONS finds other subhalos'
import glob
import h5py
import numpy

with h5py.File("exact/fof_subhalo_tab_005.hdf5") as file:
    length, first = file["Group/GroupLen"][:], file["Group/GroupFirstSub"][:]
    velocity = file["Subhalo/SubhaloVmax"][:]
hosts = numpy.flatnonzero(length >= 300)
found = []
for path in glob.glob("exact/hbt/005/SubSnap_005.*.hdf5"):
    with h5py.File(path) as file:
        found.append(file["Subhalos"][:])
found = numpy.concatenate(found)
main = found[(found["Rank"] == 0) & (found["HostHaloId"] >= 0) & (found["Nbound"] >= 20)]
ratios = numpy.concatenate([velocity[first[h]] / main["VmaxPhysical"][main["HostHaloId"] == h] for h in hosts])
print(f"{len(hosts)} halos of 300 members, {len(ratios)} with a main subhalo of HBT-HERONS: Vmax over that of "
      f"HBT-HERONS {numpy.median(ratios):.4f} ({ratios.min():.3f} to {ratios.max():.3f})")
# In halos that merge the two may take another subhalo for the main one.
raise SystemExit(not (len(hosts) > 3 and len(ratios) == len(hosts) and abs(numpy.median(ratios) - 1.0) < 0.01))
END
finish
