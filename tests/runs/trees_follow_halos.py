# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: trees_follow_halos.py same FOLDER OTHER | subhalos FOLDER | lost DENSE SPARSE | read FOLDER LAST"""

import glob
import os
import sys

import h5py
import numpy as np
import photons
from photons import halo_plots, tree_plots

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


def subhalos(folder):
    """The objects of an output, and their most bound particles, are the subhalos of the catalogue."""
    pairs = {
        "GroupNr": "SubhaloGroupNr",
        "SubhaloLen": "SubhaloLen",
        "SubhaloMass": "SubhaloMass",
        "SubhaloVmax": "SubhaloVmax",
        "SubhaloVel": "SubhaloVel",
        "SubhaloIDMostbound": "SubhaloIDMostbound",
    }
    with h5py.File(f"{folder}/tree_014.hdf5") as links, h5py.File(f"{folder}/fof_subhalo_tab_014.hdf5") as halos:
        objects, subhalos = links["Objects"], halos["Subhalo"]
        for ours, theirs in pairs.items():
            assert np.array_equal(objects[ours][:], subhalos[theirs][:]), ours
        assert np.allclose(1000 * objects["SubhaloPos"][:], subhalos["SubhaloPos"][:])
        count, first = subhalos["SubhaloLen"][:], subhalos["SubhaloOffsetType"][:, 1]
        assert len(count) > len(halos["Group/GroupLen"]) * 0.8 and np.any(subhalos["SubhaloRankInGr"][:] > 0)
        ids, listed = halos["IDs/ID"][:], objects["ListedIDs"][:]
        assert np.array_equal(listed, np.minimum(count, 100))
        most_bound = np.concatenate([ids[f : f + n] for f, n in zip(first, listed)])
        assert np.array_equal(links["MostBound/ID"][:], most_bound)
        host, rank = subhalos["SubhaloGroupNr"][:], subhalos["SubhaloRankInGr"][:]
        mass = np.where(rank == 0, halos["Group/Group_M_Crit200"][:][host], 0)
        assert np.array_equal(objects["Group_M_Crit200"][:], mass)


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
    assert len(other) <= max(1, ALLOWED * len(tracks)), other  # of less than 100 tracks one is more than a hundredth


def read(folder, last):
    last = int(last)
    run = photons.Run(folder)
    trees, halos, subhalos = run.trees(), run.halos(last), run.subhalos(last)
    of_subhalos = "SubhaloMass" in subhalos
    mass = subhalos["SubhaloMass"][:] if of_subhalos else halos["GroupMass"][:]
    host = subhalos["SubhaloGroupNr"][:] if of_subhalos else np.arange(len(mass))
    halos.close()
    subhalos.close()
    count = len(mass)
    assert trees.header["LastSnapShotNr"] == last
    assert np.isclose(trees.redshifts[0], 3) and trees.redshifts[-1] == 0
    tree = trees.tree(0)  # trees with objects in the last output come first
    assert (tree["SnapNum"][0], tree["SubhaloNr"][0], tree["TreeDescendant"][0]) == (last, 0, -1)
    satellites = 0
    for i in range(count):
        tree, row = trees.find(last, i)
        assert tree["SubhaloMass"][row] == mass[i] and tree["TreeDescendant"][row] == -1
        first = tree["TreeFirstHaloInFOFgroup"][row]
        following = tree["TreeNextHaloInFOFgroup"][row]
        satellites += first != row
        assert tree["SubhaloNr"][first] == np.flatnonzero(host == host[i])[0]
        assert (following >= 0) == (i + 1 < count and host[i + 1] == host[i])
        assert following < 0 or tree["SubhaloNr"][following] == i + 1
    assert (satellites > 0) == of_subhalos and len(trees) >= len(set(host)) - satellites
    largest = trees.largest(last, 5)
    assert np.array_equal(largest, np.unique(host, return_index=True)[1][:5])
    branch = trees.main_branch(last, 0)
    assert len(branch["SnapNum"]) > 0.7 * last and np.all(np.diff(branch["SnapNum"]) < 0)
    assert np.isclose(branch["MassHistory"][0], branch["SubhaloMass"].sum(), rtol=1e-6)
    assert np.all(branch["Time"] == 1 / (1 + branch["Redshift"]))
    earlier = (int(branch["SnapNum"][3]), int(branch["SubhaloNr"][3]))
    again = trees.main_branch(*earlier)
    assert np.array_equal(again["SubhaloMass"], branch["SubhaloMass"][3:])
    tree, inside = trees.tree(0), trees.progenitors(last, 0)
    roots = np.count_nonzero(tree["TreeDescendant"] < 0)
    assert (roots > 1) == (len(inside["SubhaloNr"]) < len(tree["SubhaloNr"]))
    assert of_subhalos or roots == 1
    assert len(trees.progenitors(*earlier)["SnapNum"]) < len(tree["SnapNum"])
    for row, first in enumerate(tree["TreeFirstProgenitor"]):  # by falling mass history
        while first >= 0:
            following = tree["TreeNextProgenitor"][first]
            assert tree["TreeDescendant"][first] == row
            assert following < 0 or tree["MassHistory"][first] >= tree["MassHistory"][following]
            first = following
    try:
        trees.find(last, count)
    except ValueError as error:
        assert f"no halo {count} in output {last}" in str(error)
    else:
        raise AssertionError("a halo that there is not")
    columns = tree_plots.columns_of(tree_plots.branches_of(tree))
    assert columns and len({branch.rows[0] for branch in columns}) == len(columns)
    halos, snapshot = run.halos(last), run.snapshot(last)
    if snapshot is not None:  # the catalogue's mass is that within its radius, to a particle at the border
        radius, centre = halos["Group_R_Crit200"][0], halos["GroupPeakPos"][0]
        inside = len(halo_plots.distances(snapshot, centre, radius)) * snapshot.header["MassTable"][1]
        assert abs(inside - halos["Group_M_Crit200"][0]) < 1.01 * snapshot.header["MassTable"][1]
        assert halo_plots.plot_halo_profile(run)
    x = np.linspace(0, 1, 100001)[1:]
    assert np.isclose(np.mean(3 * x**2 * halo_plots.nfw(x, 7.0)), 1, rtol=1e-4)  # the mean within R200c
    figure = tree_plots.plot_mass_history(run)
    figure.canvas.draw()
    (axis,) = figure.axes
    assert not axis.get_legend().get_window_extent().overlaps(axis.get_window_extent())
    assert tree_plots.plot_tree(run)
    assert type(photons.load(f"{folder}/trees.hdf5")) is photons.Trees


{"same": same, "subhalos": subhalos, "lost": lost, "read": read}[sys.argv[1]](*sys.argv[2:])
