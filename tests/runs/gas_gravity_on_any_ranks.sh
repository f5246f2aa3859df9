#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas that attracts itself has the same bits on any number of processes, with shared memory or
# without, in periodic and in empty space, while levels come and go; also from a checkpoint of
# another number of processes, and with more processes than patch groups. The potential in files is
# the same, too.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy
STARPU_NCPU=1 # of each process
export STARPU_NCPU
need_mpi

blast_on_ranks 3 --set gas.gravity=self

# A ball in empty space, with a root level of one group.
cat >ball.ini <<END
[run]
system = gas
[ic]
source = collapse
[gas]
root = 16, 16, 16
$open_sides
levels = 1
flag_density = 0.5
buffer = 1
batch = 1
gravity = self
[time]
end = 0.01
[output]
checkpoint_minutes = 1e-6
END
run_on 1 ball-one ball.ini
run_on 4 ball-four --set gas.homes=2 ball.ini
same checkpoint.hdf5 8 ball-one ball-four
same gas_000.hdf5 8 ball-one ball-four
"$PYTHON" - <<'END' || complain "no potential in files"
import h5py
import numpy as np

with h5py.File("ball-one/gas_000.hdf5") as file:
    assert np.ptp(file["GridData/Pote"][()]) > 0
END

# The control: another potential gives other gas.
run_on 1 other --set gas.sibling_relaxations=2 ball.ini
support same_gas.py checkpoint.hdf5 8 ball-one other 2>&1 | grep -q 'other: another GridData' ||
  complain "other potentials give the same gas"
finish
