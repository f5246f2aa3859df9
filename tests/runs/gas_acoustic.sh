#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A small standing sound wave along the diagonal of a periodic box, in double precision: the error
# of the density falls as the number of cells along a side to the power of -1.85 or steeper (Schive,
# Tsai & Chiueh 2010, section 4.1), of both solvers. With refinement the error is not that of the
# coarser level.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

cat >config.ini <<END
[run]
system = gas
[ic]
source = acoustic
direction = diagonal
[gas]
precision = double
root = 16, 16, 16
[time]
end = 0.25
[output]
images = no
END

for solver in rtvd muscl; do
  run $solver-16 config.ini --set gas.solver=$solver
  run $solver-32 config.ini --set gas.solver=$solver --set gas.root=32,32,32
done
run refined config.ini --set gas.levels=1 --set gas.flag_density=0.5

"$PYTHON" - <<'END' || complain "another wave"
import numpy as np
from photons.gas import Mesh
from photons.gas_exact import standing_wave

def error(name):
    mesh = Mesh(f"{name}/gas_000.hdf5")
    phase = 2 * np.pi * (sum(mesh.positions()) - 1.5)
    amplitude, c = 1e-6, 1.0
    rho, _, _ = standing_wave(phase, 2 * np.pi * np.sqrt(3) * c * mesh.time, amplitude, 1.0, 0.6, 5 / 3)
    return abs(mesh.values("density") - rho).mean() / amplitude

for solver in "rtvd", "muscl":
    errors = [error(f"{solver}-{cells}") for cells in (16, 32)]
    order = np.log2(errors[0] / errors[1])
    print(f"{solver}: errors {errors[0]:.3g}, {errors[1]:.3g} of the amplitude, order {order:.2f}")
    assert order >= 1.85, solver
whole, refined = error("muscl-32"), error("refined")
print(f"one level refined everywhere: {refined:.3g}, the same cells as root level {whole:.3g}")
assert refined < 1.05 * whole
END
finish
