#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Lean snapshots hold the particles of exact ones within the errors that they state, in few bytes, and have
# the spectrum and the halos of these. They are the same on several ranks.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi

cat >config.ini <<'END_OF_CONFIG'
[cosmology]
Omega_m = 0.3
[box]
size = 32
npart_side = 32
[ic]
z_init = 19
seed = 3
[time]
step = fixed
steps = 20
[gravity]
pm_grid = 32
[output]
redshifts = 0
images = no
halo_order = yes
END_OF_CONFIG
STARPU_NCPU=1 run exact config.ini
STARPU_NCPU=2 run lean config.ini --set output.lean=yes
STARPU_NCPU=1 run_on 2 ranks config.ini --set output.lean=yes
for kind in exact lean; do
  "$PHOTONS" --quiet --analyse $kind/snapshot_000.hdf5 --set output.dir=of_$kind --set output.images=no >err 2>&1 ||
    complain "--analyse of the $kind snapshot"
done
helper exact lean ranks of_exact of_lean || failures=$((failures + 1))

"$PHOTONS" --dry-run config.ini --set output.lean=yes --set output.snapshots=no >err 2>&1
[ $? = 2 ] && grep -q 'lean = yes: needs output.snapshots = yes' err || complain "lean without snapshots"
"$PHOTONS" --dry-run config.ini --set output.position_error=1 >err 2>&1
[ $? = 2 ] && grep -q 'position_error = 1: has no meaning without output.lean' err ||
  complain "errors without lean"
"$PHOTONS" --dry-run config.ini --set output.lean=yes --set output.format=gadget2 >err 2>&1
[ $? = 2 ] && grep -q 'lean = yes: needs output.format = hdf5' err || complain "lean and binary"

# A subsample and a binary snapshot beside the halos of the run.
STARPU_NCPU=1 run old config.ini --set output.format=gadget2 --set output.subsample=0.1 --steps 0 \
  --set output.redshifts=19 --set time.z_end=0
for name in old/snapshot_000 old/subsample_000; do [ -s $name ] || complain "no file $name"; done
finish
