# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_pictures_are_right.sh: makes arrays; compares pictures with the gas in a file."""

import sys

import h5py
import matplotlib.pyplot as plt
import numpy as np
from photons.gas import Mesh

CAPTION = slice(0, 44), slice(0, 100)  # rows and columns with text,
SCALE = slice(-36, None), slice(0, 70)  # and with the scale bar of a high picture
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


def compare(name, values, low=None, high=None, folder="run"):
    """A picture with the values of the finest cells [y, x]. Colours end at the values that a thousandth
    of the cells is below or above, unless limits are given."""
    found = np.rint(255 * plt.imread(f"{folder}/{name}_000.png")[..., :3])
    rising = np.sort(values, axis=None)
    low = rising[int(0.001 * values.size)] if low is None else low
    high = rising[values.size - 1 - int(0.001 * values.size)] if high is None else high
    scale = found.shape[0] // values.shape[0]
    values = values.repeat(scale, axis=0).repeat(scale, axis=1)[::-1]
    assert found.shape == (*values.shape, 3), (name, found.shape, values.shape)
    place = 10 * np.clip((values - low) / (high - low), 0, 1)
    expected = np.stack([np.interp(place, np.arange(11), c) for c in COLOURS.T], axis=-1)
    off = abs(found - expected)
    off[CAPTION] = 0
    if len(off) > 90:  # there is a scale bar
        off[SCALE] = 0
    print(f"{folder}/{name}: colours differ by {off.max():.2g} of 255 at most")
    assert off.max() < 1.5, name
    assert found[CAPTION].max() == 255  # the text


if sys.argv[1:] == ["make"]:
    make()
    sys.exit()
mesh = Mesh("run/gas_000.hdf5")
assert 0 < mesh.volume_share(1) < 1
compare("slice_density", np.log10(mesh.slice("density")))
compare("slice_pressure", np.log10(mesh.slice("pressure")))
compare("slice_speed", mesh.slice("speed"), low=0)
compare("slice_level", mesh.slice("level"), 0, 1)
weighted = mesh.projection("pressure") / mesh.projection("density")
compare("projection_temperature", np.log10(weighted))
column = mesh.projection("density") / mesh.box[2]
compare("projection_density", np.log10(column))
place = (mesh.particles["x"] * 32).astype(int), (mesh.particles["y"] * 32).astype(int)
column = np.bincount(place[1] * 32 + place[0], mesh.particles["mass"]).reshape(16, 32)
column *= 32**2 / mesh.box[2]
compare("projection_particles", np.log10(column).repeat(2, axis=0).repeat(2, axis=1))

# Another plane, and colours that were asked for.
mesh = Mesh("other/gas_000.hdf5")
plane = mesh.slice("density", "x", at=0.3 * mesh.box[0])
compare("slice_density", np.log10(plane), -0.2, 0.4, folder="other")
compare("projection_density", np.log10(mesh.projection("density", "x") / mesh.box[0]), -0.2, 0.4,
        folder="other")  # fmt: skip
compare("slice_speed", mesh.slice("speed", "x", at=0.3 * mesh.box[0]), 0, 2, folder="other")
