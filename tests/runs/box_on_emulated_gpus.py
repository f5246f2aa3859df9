# SPDX-License-Identifier: GPL-3.0-or-later
"""box_on_emulated_gpus.py FILE FILE: whether two snapshots have the same particles, bit by bit."""
import sys

import h5py
import numpy


def particles(path):
    with h5py.File(path) as file:
        order = numpy.argsort(file["PartType1/ParticleIDs"][:])
        return {name: data[:][order] for name, data in file["PartType1"].items()}


one, other = (particles(path) for path in sys.argv[1:])
sys.exit(any(not numpy.array_equal(one[name], other[name]) for name in one) or not one)
