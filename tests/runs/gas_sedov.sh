#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Sedov's explosion in gas so cold that its pressure is below 1e-6 of that behind the shock, with a
# buffer that the shock leaves between two regriddings: pressures stay positive on both sides of
# every change of level. The shock is where the self-similar solution has it, and each half of the
# gas is the mirror image of the other, and the energy stays: a cold flow's entropy must not take the shock's heat.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

cat >config.ini <<END
[run]
system = gas
[ic]
source = sedov
[gas]
root = 32, 32, 32
levels = 2
flag_gradient_pressure = 1
buffer = 1
regrid = 4
[time]
end = 0.003
[output]
images = no
END
for solver in muscl ppm rtvd; do
  run $solver config.ini --set gas.solver=$solver
done
"$PYTHON" - <<'END' || complain "another explosion"
from csv import DictReader

from photons.gas import Mesh
from photons.gas_problems import problem_of

for solver in "muscl", "ppm", "rtvd":
    mesh = Mesh(f"{solver}/gas_000.hdf5")
    errors = problem_of(mesh).errors()
    off = (errors["shock"] - errors["shock_exact"]) / mesh.side.min()
    peak = errors["peak_density"]
    with open(f"{solver}/log/statistics.csv", encoding="ascii") as file:
        energy = [float(row["energy"]) for row in DictReader(file)]
    lost = 1 - energy[-1] / energy[0]
    print(f"{solver}: shock {off:.2f} cells off, largest density {peak:.2f}, {lost:.1e} of the energy lost")
    assert abs(off) < 2 and peak > 1.5 and abs(lost) < 1e-4
    middle = [mesh.slice("density", axis, at=0.51) for axis in "xyz"]
    for plane in middle:
        for mirrored in plane[::-1], plane[:, ::-1]:
            assert abs(plane / mirrored - 1).max() < 1e-3
END
finish
