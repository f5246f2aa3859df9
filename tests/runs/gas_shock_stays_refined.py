# SPDX-License-Identifier: GPL-3.0-or-later
"""The density behind the shock of gas_shock_stays_refined.sh, and the level on which the shock is."""

import sys

import numpy as np
from photons.gas import Mesh
from photons.gas_exact import Riemann

exact = Riemann((1.0, 0.0, 1.0), (0.125, 0.0, 0.1), 5 / 3)
tube = Mesh("tube/gas_000.hdf5")
x = tube.positions()[0] - 128.0
contact, shock = exact.u * tube.time, exact.speeds(1)[0] * tube.time
behind = (x > contact + 12) & (x < shock - 6)
assert np.count_nonzero(behind) > 1000
worst = np.abs(tube.values("density")[behind] / exact.rho_right - 1).max()
side = np.cbrt(tube.volumes())[np.abs(x - shock) < 8].max()
print(f"density behind the shock: off by {worst:.2g}, allowed 0.006; cells at the shock: {side:g}")
sys.exit(not (worst <= 0.006 and side < 1.1))
