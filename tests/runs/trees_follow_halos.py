# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: trees_follow_halos.py same FOLDER OTHER | lost DENSE SPARSE | read FOLDER"""

import glob
import os
import sys

import h5py
import numpy as np
import photons
from photons import tree_plots

MEMBERS = 100  # of the halos that must not be lost
ALLOWED = 0.01  # of their tracks


def contents(path):
    """Bytes of all datasets and attributes but the provenance and config.ini, which names the folder."""
    found = {}
    with h5py.File(path) as file:

        def take(name, item):
            if name.startswith("Provenance"):
                return
            if isinstance(item, h5py.Dataset):
                found[name] = item[()].tobytes()
            for key, value in item.attrs.items():
                if name != "Parameters":
                    found[name, key] = np.asarray(value).tobytes()

        file.visititems(take)
    return found


def same(folder, other):
    names = [os.path.basename(path) for path in glob.glob(f"{folder}/tree*.hdf5")]
    assert len(names) > 10 and "trees.hdf5" in names, names
    for name in names:
        ours, theirs = contents(f"{folder}/{name}"), contents(f"{other}/{name}")
        assert len(ours) > 10 and ours.keys() == theirs.keys(), name
        wrong = [key for key in ours if ours[key] != theirs[key]]
        assert not wrong, f"{name}: {wrong}"


def descendants(path):
    """{(output, number): (output, number) of the descendant, or None} and {(output, number): members}."""
    with h5py.File(path) as file:
        nodes = {name: column[:] for name, column in file["TreeHalos"].items()}
        first = file["TreeTable/StartOffset"][:]
    names = list(zip(nodes["SnapNum"].tolist(), nodes["SubhaloNr"].tolist()))
    place = first[nodes["TreeID"]] + nodes["TreeDescendant"]
    ends = nodes["TreeDescendant"] < 0
    links = {n: None if end else names[p] for n, end, p in zip(names, ends, place)}
    return links, dict(zip(names, nodes["SubhaloLen"].tolist()))


def agree(dense, sparse, start):
    """Whether both trees follow a halo of the sparse outputs to the same halo."""
    one, two = (2 * start[0], start[1]), sparse[start]
    one = dense[one]
    while one and two and one[0] != 2 * two[0]:  # the track that is behind goes on
        if one[0] < 2 * two[0]:
            one = dense[one]
        else:
            two = sparse[two]
    return bool(one and two) and one[1] == two[1]


def lost(dense, sparse):
    (dense, dense_members), (sparse, members) = (
        descendants(f"{folder}/trees.hdf5") for folder in (dense, sparse)
    )
    last = max(output for output, _ in sparse)
    assert last == 7 and max(output for output, _ in dense) == 14
    assert all(dense_members[2 * output, number] == n for (output, number), n in members.items())
    for what, links, count, end in (("dense", dense, dense_members, 14), ("sparse", sparse, members, 7)):
        large = [halo for halo in links if count[halo] > MEMBERS and halo[0] < end]
        none = [halo for halo in large if links[halo] is None]
        print(f"{what}: {len(none)} of {len(large)} halos without descendant")
        assert len(large) > 80 and len(none) <= ALLOWED * len(large), none
    tracks = [halo for halo in sparse if members[halo] > MEMBERS and halo[0] < last]
    other = [halo for halo in tracks if not agree(dense, sparse, halo)]
    print(f"{len(other)} of {len(tracks)} tracks are others in outputs twice as dense")
    assert len(other) <= ALLOWED * len(tracks), other


def read(folder):
    run = photons.Run(folder)
    trees, halos = run.trees(), run.halos(14)
    mass, count = halos["GroupMass"][:], len(halos["GroupMass"])
    halos.close()
    assert len(trees) >= count and trees.header["LastSnapShotNr"] == 14
    assert np.isclose(trees.redshifts[0], 3) and trees.redshifts[-1] == 0
    for i in (0, count - 1):  # the trees of the halos of the last output come first
        tree = trees.tree(i)
        assert (tree["SnapNum"][0], tree["SubhaloNr"][0]) == (14, i)
        assert tree["SubhaloMass"][0] == mass[i] and tree["TreeDescendant"][0] == -1
    branch = trees.main_branch(14, 0)
    assert len(branch["SnapNum"]) > 10 and np.all(np.diff(branch["SnapNum"]) < 0)
    assert np.isclose(branch["MassHistory"][0], branch["SubhaloMass"].sum(), rtol=1e-6)
    assert np.all(branch["Time"] == 1 / (1 + branch["Redshift"]))
    earlier = (int(branch["SnapNum"][5]), int(branch["SubhaloNr"][5]))
    again = trees.main_branch(*earlier)
    assert np.array_equal(again["SubhaloMass"], branch["SubhaloMass"][5:])
    tree, inside = trees.tree(0), trees.progenitors(14, 0)
    assert np.array_equal(inside["SubhaloNr"], tree["SubhaloNr"])
    assert len(trees.progenitors(*earlier)["SnapNum"]) < len(tree["SnapNum"])
    for row, first in enumerate(tree["TreeFirstProgenitor"]):  # by falling mass history
        while first >= 0:
            following = tree["TreeNextProgenitor"][first]
            assert tree["TreeDescendant"][first] == row
            assert following < 0 or tree["MassHistory"][first] >= tree["MassHistory"][following]
            first = following
    try:
        trees.find(14, count)
    except ValueError as error:
        assert f"no halo {count} in output 14" in str(error)
    else:
        raise AssertionError("a halo that there is not")
    columns = tree_plots.columns_of(tree_plots.branches_of(tree))
    assert columns and len({branch.rows[0] for branch in columns}) == len(columns)
    assert tree_plots.plot_tree(run) and tree_plots.plot_mass_history(run)
    assert type(photons.load(f"{folder}/trees.hdf5")) is photons.Trees


{"same": same, "lost": lost, "read": read}[sys.argv[1]](*sys.argv[2:])
