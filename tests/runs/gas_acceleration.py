# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_acceleration.sh: what uniform gravity does to gas.

    gas_acceleration.py make                 arrays: a uniform box, and waves of density
    gas_acceleration.py falls FILE           the uniform box falls as a whole
    gas_acceleration.py returns COARSE FINE  waves are back, with errors of second order
    gas_acceleration.py momentum FOLDER MOST sums over a box with levels, and how far momentum may be off
"""

import sys

import h5py
import numpy as np


def wave(n):
    """Means over the cells of 1 + 0.3 sin(2 pi x)."""
    edge = np.cos(2 * np.pi * np.arange(n + 1) / n)
    return 1 + 0.3 * (edge[:-1] - edge[1:]) * n / (2 * np.pi)


def write(path, density):
    shape = (16, 16, len(density))
    with h5py.File(path, "w") as file:
        file["density"] = np.broadcast_to(density, shape)
        file["pressure"] = np.ones(shape)
        for axis in "xyz":
            file[f"velocity_{axis}"] = np.zeros(shape)


def make():
    write("uniform.hdf5", np.ones(16))
    for n in (32, 64):
        write(f"wave_{n}.hdf5", wave(n))


def falls(path):
    velocity = np.array([0.3, -0.2, 0.1])
    energy = 1 / 0.4 + 0.5 * np.sum(velocity**2)
    expected = {"Dens": 1, "MomX": velocity[0], "MomY": velocity[1], "MomZ": velocity[2], "Engy": energy}
    with h5py.File(path) as file:
        for name, value in expected.items():
            error = np.abs(file[f"GridData/{name}"][()] - value).max()
            assert error < 2e-13, (name, error)


def density(folder):
    """Density along x, of a box that is refined nowhere."""
    with h5py.File(f"{folder}/gas_000.hdf5") as file:
        corner, values = file["Tree/Corner"][()][:, 0], file["GridData/Dens"][()]
    line = np.zeros(8 * len(np.unique(corner)))
    step = np.diff(np.unique(corner))[0]
    for at, patch in zip(corner, values):
        line[at // step * 8 :][:8] = patch[0, 0]
    return line


def returns(coarse, fine):
    error = [np.abs(line - wave(len(line))).mean() for line in map(density, (coarse, fine))]
    print("mean errors", error, file=sys.stderr)
    assert error[0] < 0.03 and error[0] / error[1] > 3, error


def momentum(folder, most):
    table = np.genfromtxt(f"{folder}/log/statistics.csv", delimiter=",", names=True)
    mass = table["mass"]
    assert np.abs(mass / mass[0] - 1).max() < 1e-13, mass
    for axis, acceleration in zip("xyz", (0.5, 0.25, -0.5)):
        error = np.abs(table[f"momentum_{axis}"][-1] - mass[0] * acceleration * 0.5)  # at time.end
        assert error < float(most), (axis, error)
    with h5py.File(f"{folder}/gas_000.hdf5") as file:
        assert len(file["Tree/Corner"]) > 16, "nothing is refined"


if __name__ == "__main__":
    {"make": make, "falls": falls, "returns": returns, "momentum": momentum}[sys.argv[1]](*sys.argv[2:])
