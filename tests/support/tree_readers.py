# SPDX-License-Identifier: GPL-3.0-or-later
"""Does ytree find in trees.hdf5 what h5py finds?

usage: tree_readers.py TREES"""

import sys
import warnings

import h5py
import numpy as np

warnings.simplefilter("ignore")  # the reader's own
import ytree  # noqa: E402
from photons.trees import progenitors  # noqa: E402

arbor = ytree.load(sys.argv[1])
with h5py.File(sys.argv[1]) as file:
    nodes = {name: column[:] for name, column in file["TreeHalos"].items()}
    first, length = file["TreeTable/StartOffset"][:], file["TreeTable/Length"][:]
    redshift, known = file["TreeTimes/Redshift"][:], dict(file["Parameters"].attrs)

assert type(arbor).__name__ == "Gadget4Arbor", type(arbor)
assert arbor.size == len(first) > 5
assert np.isclose(arbor.hubble_constant, known["HubbleParam"])
assert np.isclose(arbor.box_size.to("Mpc/h").d, known["BoxSize"])
for i in (0, 1, arbor.size - 1):
    rows = slice(first[i], first[i] + length[i])
    ours, tree = {name: column[rows] for name, column in nodes.items()}, arbor[i]
    assert tree.tree_size == length[i]
    assert np.array_equal(tree["forest", "SubhaloLen"], ours["SubhaloLen"])
    assert np.allclose(tree["forest", "redshift"], redshift[ours["SnapNum"]])
    # 4e-4: 1.989e43 g, Gadget's unit, are not quite 1e10 Msun
    mass = tree["forest", "mass"].to("Msun").d * known["HubbleParam"]
    assert np.allclose(mass, 1e10 * ours["SubhaloMass"], rtol=4e-4)
    assert np.allclose(tree["forest", "position_x"].to("Mpc/h").d, ours["SubhaloPos"][:, 0])
    assert np.allclose(tree["forest", "velocity_y"].to("km/s").d, ours["SubhaloVel"][:, 1])
    assert np.allclose(tree["forest", "SubhaloVmax"].to("km/s").d, ours["SubhaloVmax"])
    # the halos that ytree reaches from the first root are those that point there
    assert sorted(node["SubhaloIDMostbound"] for node in tree["tree"]) == sorted(
        progenitors(ours)["SubhaloIDMostbound"]
    )
    for node in tree["tree"]:
        if node.descendent is not None:
            later = ours["TreeDescendant"][node.uid - tree.uid]
            assert node.descendent["SubhaloIDMostbound"] == ours["SubhaloIDMostbound"][later]
print(f"ytree {ytree.__version__}: {arbor.size} trees of {len(nodes['SnapNum'])} halos")
