#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checksums of the bits of all particles' accelerations, positions and momenta, by rising id. A
# change of the program that must not change results leaves all lines as they were:
#   PHOTONS=/old/photons-starpu tests/bench/force_checksums.sh >before
#   PHOTONS=/new/photons-starpu tests/bench/force_checksums.sh | diff before -
# The lines of one case differ in workers and ranks only, and must agree as well. All take two
# minutes on two cores. $PHOTONS is the program, $PYTHON a Python with h5py and numpy,
# $PHOTONS_FORCE_SETS the folder of the force sets that `make check` makes (the same folder for both
# programs), and $PHOTONS_TEST_DATA/forces has more sets, where there is such a folder.
set -euo pipefail
program=$(realpath "${PHOTONS:-./photons-starpu}")
python=${PYTHON:-python3}
source=$(realpath "$(dirname "$0")/../..")
"$python" -c 'import h5py, numpy' || {
  echo "set PYTHON to a Python with h5py and numpy" >&2
  exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STARPU_HOME=${STARPU_HOME:-$work} STARPU_SILENT=1 STARPU_WORKERS_NOBIND=1 STARPU_MPI_NOBIND=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cat >"$work/checksums.py" <<'END'
import hashlib
import sys
import h5py
import numpy as np
with h5py.File(sys.argv[1]) as file:
    part = {name: data[...] for name, data in file['PartType1'].items()}
order = np.argsort(part['ParticleIDs'], kind='stable')
print(*(f'{name} {hashlib.sha256(part[data][order].tobytes()).hexdigest()[:16]}' for name, data in (
    ('accelerations', 'Acceleration'), ('positions', 'Coordinates'), ('momenta', 'Velocities'))))
END

# checksums CASE CONFIG [OPTION...]: one line for each number of workers and ranks, of a run's
# snapshot
checksums() {
  local case=$1 config=$2 workers ranks
  shift 2
  for workers in 1 2; do
    for ranks in 1 3; do
      rm -rf "$work/out"
      local launch=()
      [ "$ranks" -eq 1 ] || launch=(mpirun --oversubscribe --bind-to none -n "$ranks")
      STARPU_NCPU=$workers "${launch[@]}" "$program" --quiet --set output.dir="$work/out" \
        --set output.accelerations=yes --set output.power_spectrum=no --set output.images=no \
        --set analysis.fof=no "$@" "$config"
      printf '%-20s workers %d ranks %d  %s\n' "$case" "$workers" "$ranks" \
        "$("$python" "$work/checksums.py" "$work/out/snapshot_000.hdf5")"
    done
  done
}

# First forces, of nearly a grid and of clustered particles.
for set in "${PHOTONS_FORCE_SETS:-$source/tests/force-sets}"/*.hdf5 \
  "${PHOTONS_TEST_DATA:-$source/../shared/data}"/forces/*.hdf5; do
  [ -r "$set" ] || continue
  printf '[ic]\nsource = gadget\nfile = %s\n[gravity]\nsoftening = 100\n' "$set" >"$work/set.ini"
  z=$("$python" -c 'import sys, h5py
print(repr(float(h5py.File(sys.argv[1])["Header"].attrs["Redshift"])))' "$set")
  checksums "$(basename "$set" .hdf5)" "$work/set.ini" --steps 0 --set output.redshifts="$z"
done
# 50 steps of params/quickstart.ini's universe, with sorts and rebuilds, from a grid to halos.
checksums quickstart-50-steps "$source/params/quickstart.ini" --set time.step=fixed \
  --set time.steps=50 --set output.redshifts=0
