# SPDX-License-Identifier: GPL-3.0-or-later
"""How far particles and velocities of late starts are from those of an early one.

usage: third_order_is_nearer_to_a_run.py EARLY SECOND THIRD EQUAL"""

import sys

import h5py
import numpy as np


def particles(folder):
    with h5py.File(f"{folder}/snapshot_000.hdf5") as file:
        part = file["PartType1"]
        order = np.argsort(part["ParticleIDs"][...])
        box = file["Header"].attrs["BoxSize"]
        return part["Coordinates"][...][order], part["Velocities"][...][order], box


def rms(x):
    return np.sqrt(np.mean(x**2))


early, second, third, equal = (particles(folder) for folder in sys.argv[1:])
box = early[2]
off = []
for late in (second, third):
    shift = late[0] - early[0]
    off.append((rms(shift - box * np.round(shift / box)), rms(late[1] - early[1]) / rms(early[1])))
print("2LPT and 3LPT from an early start: positions", [round(o[0], 2) for o in off],
      "kpc/h, velocities", [round(o[1], 5) for o in off])  # fmt: skip
# The error is of the next order in slopes of displacements of about 0.3.
assert off[1][0] < 0.5 * off[0][0] and off[1][1] < 0.5 * off[0][1]
assert np.array_equal(third[0], equal[0]) and np.array_equal(third[1], equal[1])
