# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_meets_its_boundaries.sh: makes arrays; compares runs."""

import sys

import h5py
import numpy as np
from photons.gas import Mesh

FIELDS = ("density", "velocity_x", "velocity_y", "velocity_z", "pressure")


def write(path, values):
    with h5py.File(path, "w") as file:
        for name, value in zip(FIELDS, values):
            file[name] = value


def make(axis):
    """A box that is its own mirror image about its middle along an axis, the half of it beyond the
    middle, and a wind along the axis."""
    shape = [16, 16, 16]
    along = 2 - "xyz".index(axis)  # among the dimensions z, y, x
    shape[along] = 32
    place = list(np.meshgrid(*((np.arange(n) + 0.5) / 16 for n in shape), indexing="ij"))
    place[along] -= 1
    square = sum((c - 0.5) ** 2 for i, c in enumerate(place) if i != along)
    square = square + (abs(place[along]) - 0.25) ** 2
    speed = [0.1 * np.cos(6 * place[along]) * place[(along + 1) % 3] for _ in "xyz"]
    speed["xyz".index(axis)] = -np.sin(2 * np.pi * place[along])
    whole = [1 + np.exp(-30 * square), *speed, 1 + 5 * np.exp(-40 * square)]
    half = [np.split(value, 2, axis=along)[1] for value in whole]
    write(f"whole_{axis}.hdf5", whole)
    write(f"half_{axis}.hdf5", half)
    wind = [np.full((16, 16, 16), float(axis == a) * 3) for a in "xyz"]
    write(f"wind_{axis}.hdf5", [np.ones((16, 16, 16)), *wind, np.ones((16, 16, 16))])


def compare(axis):
    whole, half = (Mesh(f"{name}_{axis}/gas_000.hdf5") for name in ("whole", "half"))
    assert 0 < half.volume_share(1) < 1, half.volume_share(1)
    across = "z" if axis != "z" else "y"
    for name in ("density", "pressure", *(f"velocity_{a}" for a in "xyz")):
        for place in (0.03, 0.4):  # of planes
            planes = [mesh.slice(name, across, at=place, level=1) for mesh in (whole, half)]
            part = np.split(planes[0], 2, axis=1 if axis == "x" else 0)[1]
            error = abs(part - planes[1]).max()
            assert error < 1e-11, (axis, name, error)
    wind = Mesh(f"wind_{axis}/gas_000.hdf5")
    for name, value in (("density", 1), (f"velocity_{axis}", 3), ("pressure", 1)):
        error = abs(wind.values(name) - value).max()
        assert error < 1e-13, (axis, name, error)


for axis in "xyz":
    make(axis) if sys.argv[1:] == ["make"] else compare(axis)
