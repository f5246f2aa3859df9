# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the shock tubes of gas_sod.sh with the exact solution."""

import sys

import numpy as np
from photons.gas import Mesh
from photons.gas_exact import Riemann

exact = Riemann((1.0, 0.0, 1.0), (0.125, 0.0, 0.1), 5 / 3)
failed = False


def check(what, value, limit):
    global failed
    bad = not value <= limit
    failed = failed or bad
    print(f"{'FAILED: ' if bad else ''}{what}: {value:.2g}, allowed {limit:g}")


def plateaus(name, mesh, x, velocity, margin, limit):
    """Means of the cells between the waves, `margin` away from these; and where the shock is.

    x -- distance of each cell from the diaphragm"""
    tail, contact, shock = (v * mesh.time for v in (exact.speeds(0)[1], exact.u, exact.speeds(1)[0]))
    between = (x > tail + margin) & (x < shock - margin)
    left = (x > tail + margin) & (x < contact - margin)
    right = (x > contact + margin) & (x < shock - margin)
    rho, p = mesh.values("density"), mesh.values("pressure")
    check(f"{name}, pressure", abs(p[between] / exact.p - 1).mean(), limit)
    check(f"{name}, velocity", abs(velocity[between] / exact.u - 1).mean(), limit)
    for side, here, value in (("left", left, exact.rho_left), ("right", right, exact.rho_right)):
        assert np.any(here), (name, side)
        check(f"{name}, density {side}", abs(rho[here] / value - 1).mean(), limit)
    side = mesh.side.min()
    behind = x[(rho > 0.5 * (exact.rho_right + 0.125)) & (x > contact + margin)].max()
    check(f"{name}, place of the shock in cells", abs(behind - shock) / side, 2)


tube = Mesh("x/gas_001.hdf5")
x, y, z = tube.positions()
plateaus("x", tube, x - 0.5, tube.values("velocity_x"), 0.03, 0.01)
check("x, flow across the tube", abs(tube.values("velocity_y")).max(), 0)
share = tube.volume_share(1)
check("x, refined share of the box", abs(share - 0.5), 0.3)

# The axes are equal: the same numbers at the same places.
first = Mesh("x/gas_000.hdf5").line(["density", "pressure", "velocity_x"], "x")
for axis in "yz":
    other = Mesh(f"{axis}/gas_000.hdf5").line(["density", "pressure", f"velocity_{axis}"], axis)
    for mine, its in (("x", axis), ("density", "density"), ("velocity_x", f"velocity_{axis}")):
        assert len(first[mine]) == len(other[its]), axis
        check(f"{axis} as x, {its}", abs(np.array(first[mine]) - np.array(other[its])).max(), 1e-6)

cube = Mesh("diagonal/gas_000.hdf5")
x, y, z = (c - 0.5 for c in cube.positions())
along = (x + y + z) / np.sqrt(3)
# Near the axis of the cube, where the boundaries of the box have not been felt.
near = x**2 + y**2 + z**2 - along**2 < 0.2**2
velocity = sum(cube.values(f"velocity_{axis}") for axis in "xyz") / np.sqrt(3)
plateaus("diagonal", cube, np.where(near, along, np.nan), velocity, 0.02, 0.03)
sys.exit(failed)
