# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_scalars.sh: what runs have made of passive scalars.

    gas_scalars.py wave FOLDER TOLERANCE   a wave with three scalars
    gas_scalars.py tube FILE               a shock tube along y
    gas_scalars.py same FILE OTHER         the same gas, except for scalars
"""

import sys

import h5py
import numpy as np
from photons.gas import Mesh

VELOCITY = 0.8412  # of the contact of Sod's tube with gamma = 5/3


def wave(folder, tolerance):
    tolerance = float(tolerance)
    table = np.genfromtxt(f"{folder}/log/statistics.csv", delimiter=",", names=True)
    assert len(table) > 8
    for k in range(3):
        carried = table[f"scalar_{k}"]
        assert 0.2 < carried[0] / table["mass"][0] < 0.8, carried[0]
        change = abs(carried - carried[0]).max() / table["mass"][0]
        assert change < tolerance, (k, change)
    mesh = Mesh(f"{folder}/checkpoint.hdf5")
    assert mesh.finest == 2
    marked, rest, constant = (mesh.field(f"scalar_{k}")[mesh.leaf] for k in range(3))
    print(folder, "from", marked.min(), "to 1 +", marked.max() - 1, "sum", abs(marked + rest - 1).max())
    assert marked.min() > -tolerance and marked.max() < 1 + tolerance, (marked.min(), marked.max())
    assert 0.01 < np.mean((marked > 0.05) & (marked < 0.95)) < 0.5
    assert abs(constant - 0.5).max() < tolerance, abs(constant - 0.5).max()
    assert abs(marked + rest - 1).max() < 10 * tolerance, abs(marked + rest - 1).max()


def tube(path):
    mesh = Mesh(path)
    y, marked = mesh.positions()[1], mesh.values("scalar_0")
    assert marked.min() > -1e-5 and marked.max() < 1 + 1e-5, (marked.min(), marked.max())
    contact = 0.5 + VELOCITY * mesh.time
    place = np.average(y[(marked > 0.05) & (marked < 0.95)])
    print(path, "contact at", place, "exact", contact)
    assert abs(place - contact) < 0.01, place
    assert marked[y < contact - 0.04].min() > 0.999 and marked[y > contact + 0.04].max() < 1e-3


def same(one, other):
    with h5py.File(one) as a, h5py.File(other) as b:
        assert len(b["GridData"]) == len(a["GridData"]) + 3
        for name in ("Tree/Corner", *(f"GridData/{field}" for field in a["GridData"])):
            assert a[name][()].tobytes() == b[name][()].tobytes(), name
        assert b["GridData/Passive_00"].attrs["name"] == b"scalar_0"
        assert b["GridData/Passive_00"].attrs["unit"] == b"mass/length^3"


if __name__ == "__main__":
    {"wave": wave, "tube": tube, "same": same}[sys.argv[1]](*sys.argv[2:])
