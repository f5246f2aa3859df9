# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_cold_flows.sh: arrays, and the entropy of what runs have made of them."""

import sys

import h5py
import numpy as np
from photons.gas import Mesh

GAMMA = 5 / 3


def write(path, density, velocity_x, pressure):
    with h5py.File(path, "w") as file:
        fields = (density, velocity_x, 0.0, 0.0, pressure)
        names = ("density", "velocity_x", "velocity_y", "velocity_z", "pressure")
        for name, values in zip(names, fields):
            file[name] = np.broadcast_to(values, density.shape)


def middles(cells):
    return (np.arange(cells) + 0.5) / cells


def make():
    x = np.broadcast_to(middles(64), (16, 16, 64))
    for mach in (1000, 3000):  # with a sound speed of 1 where the density is 1
        write(f"wave_{mach}.hdf5", 1 + 0.3 * np.sin(2 * np.pi * x), mach, 1 / GAMMA)
    inside = abs(x - 0.5) < 0.25
    for speed in (0, 8):
        write(f"tube_{speed}.hdf5", np.where(inside, 1.0, 0.125), speed, np.where(inside, 1.0, 0.1))
    side = middles(32) - 0.5
    radius = np.sqrt(side**2 + side[:, None] ** 2 + side[:, None, None] ** 2)
    write("ball.hdf5", np.where(radius < 0.25, 1.0, 1e-3), 0.0, 1e-5)


def line(path):
    return Mesh(path).line(["density", "pressure", "velocity_x"], axis="x")


def pressure_error(path):
    """The largest change of the pressure of a wave of density alone, over the pressure."""
    mesh = Mesh(path)
    return abs(mesh.values("pressure") * GAMMA - 1).max()


def pressure_stays(path):
    """The scheme's own error in 64 cells is 0.2 %."""
    error = pressure_error(path)
    print(path, "change of the pressure", error)
    assert error < 4e-3


def entropy_change(path):
    """The largest change, over its value, of p/rho^gamma in the middle of a ball of density 1 and pressure 1e-5,
    which falls without shocks; and the least density there."""
    cells = line(path)
    middle = abs(cells["x"] - 0.5) < 2 / 32
    density, pressure = cells["density"][middle], cells["pressure"][middle]
    return abs(pressure / density**GAMMA / 1e-5 - 1).max(), density.min()


def entropy_stays(path):
    change, density = entropy_change(path)
    print(path, "least density", density, "change of the entropy", change)
    assert density > 3
    assert change < 1e-3


def tubes_are_equal(rest, moving):
    """The moving tube's waves have come as far as the resting one's, half a box away, with the same
    pressures but for the error of a scheme that smears faster shocks more. Without heat from its shock
    the gas would have the entropy that it had, 5 % less behind the shock."""
    first, second = line(rest), line(moving)
    cells = len(first["density"])
    error = abs(np.roll(second["pressure"], -cells // 2) - first["pressure"]).mean()
    entropy = [c["pressure"] / c["density"] ** 1.4 for c in (first, second)]
    heated = [e.max() / (0.1 / 0.125**1.4) for e in entropy]
    print("mean difference of the pressures", error, "largest entropy", heated)
    assert error < 0.03
    assert min(heated) > 1.04


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
