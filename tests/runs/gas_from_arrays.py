# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_from_arrays.sh: files of arrays, good and bad, and what runs have made of them."""

import sys

import h5py
import numpy as np
from photons.gas import Mesh

SHAPE = (16, 16, 32)  # z, y, x of the root level
FIELDS = ("density", "velocity_x", "velocity_y", "velocity_z", "pressure", "scalar_0")


def write(path, fields):
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            file[name] = values


def blast(level):
    """The blast by its name, at the middles of the cells of a level."""
    shape = [cells * 2**level for cells in SHAPE]
    z, y, x = ((np.arange(cells) + 0.5) / shape[2] for cells in shape)
    square = (x - 0.5) ** 2 + (y[:, None] - 0.25) ** 2 + (z[:, None, None] - 0.25) ** 2
    fields = {name: np.zeros(shape) for name in FIELDS}
    fields["density"][:] = 1.0
    fields["pressure"] = np.where(square < 0.1**2, 10.0, 0.1)
    fields["scalar_0"][:] = square < 0.1**2
    return fields


def waves(level):
    """Smooth fields, each along axes of its own; the density is high near one place."""
    shape = [cells * 2**level for cells in SHAPE]
    z, y, x = np.meshgrid(*(2 * np.pi * (np.arange(n) + 0.5) / n for n in shape), indexing="ij")
    near = np.cos(x - np.pi / 4) + np.cos(y - np.pi / 2) + np.cos(z - np.pi / 2)
    return {
        "density": (1.2 + 0.8 * np.exp(4 * (near - 3))).astype("f4"),
        "velocity_x": np.cos(y),
        "velocity_y": 0.5 * np.cos(z),
        "velocity_z": np.rint(np.sin(x)).astype("i2"),
        "pressure": 2 + np.sin(z + 2 * x),
        "scalar_0": 0.5 + 0.5 * np.sin(y - z),
    }


def make():
    for level in (0, 1, 2):
        write(f"blast_{level}.hdf5", blast(level))
        write(f"waves_{level}.hdf5", waves(level))
    good = waves(0)
    for name, where, value in (
        ("density", (3, 2, 30), -0.5),
        ("pressure", (15, 15, 31), 0.0),
        ("velocity_y", (0, 1, 0), np.inf),
        ("pressure", (4, 0, 9), np.nan),
        ("scalar_0", (0, 1, 2), 1.5),
    ):
        values = good[name].copy()
        values[where] = value
        write(f"{name}_{value:g}.hdf5", {**good, name: values})
    for name, changes in (
        ("lost", {"velocity_x": 1.0, "pressure": 1e-9}),
        ("light", {"density": 1e-24}),
        ("heavy", {"density": 1e19}),
        ("denormal", {"pressure": 1e-39}),
        ("cgs", {"density": 1e-24, "velocity_x": 1e7, "pressure": 1e-10}),
        ("wide", {"density": 1e-160}),
    ):
        one = dict(zip(FIELDS, (1.0, 0.0, 0.0, 0.0, 1.0, 0.5)), **changes)
        write(f"{name}.hdf5", {field: np.full(SHAPE, value) for field, value in one.items()})
    write("transposed.hdf5", {name: values.T for name, values in good.items()})
    write("mixed.hdf5", {**good, "pressure": waves(1)["pressure"]})
    write("flat.hdf5", {name: values[0] for name, values in good.items()})
    write("text.hdf5", {**good, "velocity_z": np.full(SHAPE, b"fast")})
    write("missing.hdf5", {name: values for name, values in good.items() if name != "velocity_y"})


def same(one, other):
    with h5py.File(one) as a, h5py.File(other) as b:
        for name in ("Tree/Corner", *(f"GridData/{field}" for field in a["GridData"])):
            assert a[name][()].tobytes() == b[name][()].tobytes(), name


def conserved(fields):
    """Of arrays, in the order of files."""
    rho = fields["density"].astype(float)
    velocity = [fields[f"velocity_{axis}"].astype(float) for axis in "xyz"]
    kinetic = 0.5 * rho * sum(v**2 for v in velocity)
    energy = fields["pressure"] / (5 / 3 - 1) + kinetic
    return {
        "density": rho,
        **{f"momentum_{axis}": rho * v for axis, v in zip("xyz", velocity)},
        "energy": energy,
        "Passive_00": rho * fields["scalar_0"],
    }


def means(values, factor):
    z, y, x = (n // factor for n in values.shape)
    return values.reshape(z, factor, y, factor, x, factor).mean(axis=(1, 3, 5))


def check_waves(path, level):
    """Cells of the root level are means of those of the arrays."""
    mesh = Mesh(path)
    place = np.array([np.floor(c * SHAPE[2]).astype(int) for c in mesh.positions()])[::-1]
    weight = mesh.volumes()
    for name, values in conserved(waves(level)).items():
        found, total = np.zeros(SHAPE), np.zeros(SHAPE)
        cells = mesh.values("density") * mesh.values("scalar_0") if name == "Passive_00" else mesh.values(name)
        np.add.at(found, tuple(place), cells * weight)
        np.add.at(total, tuple(place), weight)
        error = abs(found / total - means(values, 2**level)).max()
        assert error < 1e-13, (path, name, error)
    return mesh


if sys.argv[1] == "make":
    make()
elif sys.argv[1] == "same":
    same(*sys.argv[2:])
else:
    for level in (0, 1, 2):
        mesh = check_waves(f"waves_{level}/gas_000.hdf5", level)
        assert mesh.volume_share(1) == 1 / 16, mesh.volume_share(1)
        rho = mesh.values("density")
        assert rho.min() > 1.19 and rho.max() < 2.01, (rho.min(), rho.max())
