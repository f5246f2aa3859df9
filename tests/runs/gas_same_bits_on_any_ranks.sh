#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas has the same bits on any number of processes, with shared memory or without, while levels come
# and go and with them the processes' shares of these; also with more processes than patch groups,
# and from a checkpoint of another number of processes. Mass, momentum and energy are conserved.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy
STARPU_NCPU=1 # of each process
export STARPU_NCPU
need_mpi

# The octree that a rank has is a part of that of one rank.
mpirun --oversubscribe --bind-to none -n 5 "$unit_tests/amr/test_gas_mesh" >mesh.log 2>&1 ||
  complain "the octree on 5 ranks: $(grep -m 1 LINE mesh.log)"
mpirun --oversubscribe --bind-to none -n 3 "$unit_tests/gas/test_gas_file" >file.log 2>&1 ||
  complain "files of 3 ranks: $(grep -m 1 -e FAILED -e error: file.log)"

blast_on_ranks 4
awk -F, 'NR == 2 { mass = $3; energy = $7 }
  function apart(x, y) { return x - y > 1e-12 * y || y - x > 1e-12 * y }
  NR > 2 && (apart($3, mass) || apart($7, energy)) { print; lost = 1 }
  END { exit lost || NR < 5 }' one/log/statistics.csv || complain "mass or energy is not conserved"

# A blast that meets the boundaries of a root level of one group.
cat >boundary.ini <<END
[run]
system = gas
[ic]
source = blast
[gas]
root = 16, 16, 16
length = 1
levels = 2
flag_gradient_pressure = 1, 1.5
buffer = 1
regrid = 1
x_low = reflecting
x_high = outflow
[time]
end = 0.04
[output]
checkpoint_minutes = 1e-6
END
run_on 1 boundary-one --steps 2 boundary.ini
run_on 4 boundary-four --steps 2 boundary.ini
same checkpoint.hdf5 64 boundary-one boundary-four

# Python reads a file in three parts as one, and misses a part that is gone.
"$PYTHON" - <<'END' || complain "Python and a file in parts"
import glob
import os

from photons import gas

one, three = (gas.Mesh(f"{run}/checkpoint.hdf5") for run in ("one", "three"))
assert (one._read("density") == three._read("density")).all() and (one._read("density") > 0).all()
parts = sorted(glob.glob("three/checkpoint-?.2.hdf5"))
assert len(parts) == 2, parts
for part in parts:
    os.remove(part)
try:
    gas.Mesh("three/checkpoint.hdf5")
except FileNotFoundError as error:
    assert ".2.hdf5, a part of it, is not there" in str(error), error
else:
    raise SystemExit("a part that is gone is not missed")
END
finish
