# SPDX-License-Identifier: GPL-3.0-or-later
"""The density behind the shock of gas_shock_stays_refined.sh."""

import sys

import numpy as np
from photons.gas import Mesh
from photons.gas_exact import Riemann

exact = Riemann((1.0, 0.0, 1.0), (0.125, 0.0, 0.1), 5 / 3)
tube = Mesh(f"{sys.argv[1]}/gas_000.hdf5")
x = tube.positions()[0] - 128.0
contact, shock = exact.u * tube.time, exact.speeds(1)[0] * tube.time
behind = (x > contact + 12) & (x < shock - 6)
assert np.count_nonzero(behind) > 1000
worst = np.abs(tube.values("density")[behind] / exact.rho_right - 1).max()
# At most 0.0018 where the shock stays on the finest level, 0.011 and more where it runs out of it.
print(f"{sys.argv[1]}: density behind the shock: off by {worst:.2g}, allowed 0.006")
sys.exit(not worst <= 0.006)
