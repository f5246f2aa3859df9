# SPDX-License-Identifier: GPL-3.0-or-later
"""subhalos_on_emulated_gpus.py FILE FILE: whether two catalogues have the same numbers, bit by bit, and subhalos inside others."""
import sys

import h5py
import numpy


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


one, other = (datasets(path) for path in sys.argv[1:])
different = [name for name in one if not numpy.array_equal(one[name], other.get(name))]
if different or one.keys() != other.keys():
    sys.exit(f"these differ: {different or one.keys() ^ other.keys()}")
ranks = one["Subhalo/SubhaloRankInGr"]
if not (ranks > 0).any():
    sys.exit("no halo has two subhalos")
print(len(one["Group/GroupLen"]), "halos,", len(ranks), "subhalos,", one["Group/GroupLen"].sum(), "members")
