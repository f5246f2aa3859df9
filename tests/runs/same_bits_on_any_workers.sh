#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The same run gives the same bits with any number of workers and any scheduler; other kernels
# agree to rounding.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

# Clustered at the end, several groups and leaves, with sorts and rebuilds.
cat >config.ini <<END
[box]
size = 24
npart_side = 24
[ic]
z_init = 19
[gravity]
pm_grid = 24
[time]
z_end = 0.5
step = fixed
steps = 12
[output]
accelerations = yes
power_spectrum = no
images = no
[runtime]
group_size = 432
leaf_size = 16
sort_interval = 2
rebuild_interval = 5
END

# snapshot NAME [OPTION...]: the final snapshot as NAME.hdf5
snapshot() {
  run "$@" config.ini
  mv "$1/snapshot_000.hdf5" "$1.hdf5"
}

STARPU_NCPU=1 STARPU_SCHED=eager snapshot reference
for scheduler in eager lws prio dmdas random ws owner-computes; do
  for workers in 1 2; do
    STARPU_NCPU=$workers STARPU_SCHED=$scheduler snapshot "$scheduler-$workers"
    support same_snapshots.py reference.hdf5 "$scheduler-$workers.hdf5" ||
      failures=$((failures + 1))
  done
done
# The parameters say the same as the environment.
(
  unset STARPU_NCPU STARPU_SCHED
  snapshot parameters --set runtime.workers=2 --set runtime.scheduler=prio
) &&
  support same_snapshots.py reference.hdf5 parameters.hdf5 || failures=$((failures + 1))

# Block time steps.
block='--set box.size=32 --set box.npart_side=32 --set gravity.pm_grid=32 --set runtime.group_size=1024
  --set time.step=block --set time.accuracy=fast --set time.max_dlna=0.25 --set time.eta=0.1 --set time.z_end=3
  --set output.checkpoint_minutes=1e-6'
STARPU_NCPU=1 STARPU_SCHED=eager snapshot block $block
support occupied_rungs.py block/checkpoint.hdf5 5 || failures=$((failures + 1))
for scheduler in lws random; do
  STARPU_NCPU=2 STARPU_SCHED=$scheduler snapshot "block-$scheduler" $block
  support same_snapshots.py block.hdf5 "block-$scheduler.hdf5" || failures=$((failures + 1))
done
# Forces between particles of different rungs act at different times, so that momentum is conserved
# only as far as steps are short. With eta = 0.5 it is 2.5e-4, with global steps 2e-9.
"$PYTHON" - <<'END' || failures=$((failures + 1))
import sys
import h5py
import numpy as np
with h5py.File('block.hdf5') as file:
    v = file['PartType1/Velocities'][...].astype(float)
net = np.linalg.norm(v.sum(axis=0)) / np.linalg.norm(v, axis=1).sum()
print(f'block steps: net momentum {net:.1e} of the sum of magnitudes')
sys.exit(0 if net <= 1e-4 else 'FAILED: momentum is not conserved')
END

# Forces of the same particles with other instruction sets: sums in another order and estimates of
# 1/sqrt with other roundings, each of a few 1e-7; 1e-5 of the rms force is far below the force
# error that is accepted anyway.
cat >near.py <<'END'
import sys
import h5py
import numpy as np
with h5py.File(sys.argv[1]) as a, h5py.File(sys.argv[2]) as b:
    assert (a['PartType1/ParticleIDs'][...] == b['PartType1/ParticleIDs'][...]).all()
    assert (a['PartType1/Coordinates'][...] == b['PartType1/Coordinates'][...]).all()
    f, g = (x['PartType1/Acceleration'][...].astype(float) for x in (a, b))
error = np.sqrt(((f - g)**2).sum() / (f**2).sum())
print(f'{sys.argv[2]}: rms difference of forces {error:.1e}')
sys.exit(not error <= 1e-5)
END
for isa in baseline avx2 avx512; do
  # kernels that this processor does not run
  PHOTONS_ISA=$isa "$PHOTONS" --quiet --steps 0 --set output.dir=try config.ini 2>&1 |
    grep -q 'lacks these instructions' && continue
  PHOTONS_ISA=$isa snapshot "$isa" --steps 0 --set output.redshifts=19 --set time.z_end=0.5
  "$PYTHON" near.py baseline.hdf5 "$isa.hdf5" || failures=$((failures + 1))
done

finish
