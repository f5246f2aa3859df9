# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_pictures_are_right.sh: makes arrays; compares pictures with the gas in a file."""

import sys

import h5py
import matplotlib.pyplot as plt
import numpy as np
from photons.gas import Mesh

SCALE = 2  # pixels of a cell
CAPTION = 22  # rows with text
COLOURS = np.array(
    [[0, 0, 4], [20, 14, 54], [59, 15, 112], [100, 26, 128], [140, 41, 129], [183, 55, 121],
     [222, 73, 104], [247, 112, 92], [254, 159, 109], [254, 207, 146], [252, 253, 191]]
)  # fmt: skip


def make():
    z, y, x = np.meshgrid(*(np.arange(n) / n for n in (16, 16, 32)), indexing="ij")
    with h5py.File("ic.hdf5", "w") as file:
        near = np.exp(-100 * ((x - 0.375) ** 2 + 0.25 * (y - 0.25) ** 2 + 0.25 * (z - 0.25) ** 2))
        file["density"] = 1 + x + y / 2 + z / 4 + 4 * near
        for axis, speed in zip("xyz", (x, -y, z)):
            file[f"velocity_{axis}"] = speed
        file["pressure"] = 1 + 3 * y * x
    # A particle in the middle of each cell of the root level: on any level its cloud fills this cell.
    middles = np.stack([axis.ravel() + 1 / 64 for axis in (x, y / 2, z / 2)], axis=1)
    with h5py.File("particles.hdf5", "w") as file:
        file["position"] = middles
        file["velocity"] = np.zeros(middles.shape)
        file["mass"] = 1e-6 * (1 + middles[:, 0] + 2 * middles[:, 1] ** 2)


def compare(name, values, low=None, high=None):
    """A picture with the values of the finest cells [y, x]."""
    found = np.rint(255 * plt.imread(f"run/{name}_000.png")[..., :3])
    values = values.repeat(SCALE, axis=0).repeat(SCALE, axis=1)[::-1]
    assert found.shape == (*values.shape, 3), (name, found.shape, values.shape)
    low = values.min() if low is None else low
    high = values.max() if high is None else high
    place = 10 * (values - low) / (high - low)
    expected = np.stack([np.interp(place, np.arange(11), c) for c in COLOURS.T], axis=-1)
    off = abs(found - expected)[CAPTION:].max()
    print(f"{name}: colours differ by {off:.2g} of 255 at most")
    assert off < 1.5, name


if sys.argv[1:] == ["make"]:
    make()
    sys.exit()
mesh = Mesh("run/gas_000.hdf5")
assert 0 < mesh.volume_share(1) < 1
compare("slice_density", np.log10(mesh.slice("density")))
compare("slice_pressure", np.log10(mesh.slice("pressure")))
compare("slice_speed", mesh.slice("speed"), low=0)
compare("slice_level", mesh.slice("level"), 0, 1)
column = mesh.projection("density") / mesh.box[2]
compare("projection_density", np.log10(column))
place = (mesh.particles["x"] * 32).astype(int), (mesh.particles["y"] * 32).astype(int)
column = np.bincount(place[1] * 32 + place[0], mesh.particles["mass"]).reshape(16, 32)
column *= 32**2 / mesh.box[2]
compare("projection_particles", np.log10(column).repeat(2, axis=0).repeat(2, axis=1))
