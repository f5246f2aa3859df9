# SPDX-License-Identifier: GPL-3.0-or-later
"""Reader of the merger trees of a run, trees.hdf5.

>>> trees = photons.read_trees("output/trees.hdf5")
>>> branch = trees.main_branch(22, 0)          # of the largest halo of output 22
>>> branch["Redshift"], branch["SubhaloMass"]  # its mass accretion history"""

from .files import Table
from .modules import Deferred
from .reading import reading

h5py, np = Deferred("h5py"), Deferred("numpy")


class Trees:
    """Merger trees. A tree is a table with a row for each of its halos or subhalos, its nodes: the columns
    are those of TreeHalos, with Redshift and Time of the node's output. The first row is a root; a tree of
    subhalos can have more of them. Columns that point to other nodes count rows of the table, and are -1
    where there is no such node."""

    def __init__(self, path):
        self.path = path
        with reading(path), h5py.File(path, "r") as file:
            self.header = dict(file["Header"].attrs)
            self.parameters = dict(file["Parameters"].attrs)
            self.redshifts = file["TreeTimes/Redshift"][:]
            self.times = file["TreeTimes/Time"][:]
            self._first, self._length = (
                file["TreeTable"][name][:] for name in ("StartOffset", "Length")
            )
            nodes = file["TreeHalos"]
            self._tree, self._output, self._number, self._index, self._first_in_halo = (
                nodes[name][:]
                for name in (
                    "TreeID",
                    "SnapNum",
                    "SubhaloNr",
                    "TreeIndex",
                    "TreeFirstHaloInFOFgroup",
                )
            )

    def __len__(self):
        return len(self._length)

    def tree(self, i):
        """Tree i. Trees with roots in the last output come first, in the order of its catalogue."""
        first, length = self._first[i], self._length[i]
        with reading(self.path), h5py.File(self.path, "r") as file:
            nodes = file["TreeHalos"]
            table = Table({name: nodes[name][first : first + length] for name in nodes})
            table["Redshift"] = self.redshifts[table["SnapNum"]]
            table["Time"] = self.times[table["SnapNum"]]
        return table

    def find(self, output, number):
        """The tree that halo or subhalo `number` of an output is in, and its row there.

        Raises ValueError if there is none."""
        found = np.flatnonzero((self._output == output) & (self._number == number))
        if not len(found):
            raise ValueError(f"{self.path} has no halo {number} in output {output}")
        i = int(self._tree[found[0]])
        return self.tree(i), int(found[0] - self._first[i])

    def largest(self, output, most):
        """The numbers of the largest halos of an output, of subhalos those that are the largest of their
        halos, `most` of them at most."""
        first = (self._output == output) & (self._first_in_halo == self._index)
        return np.sort(self._number[first])[:most]

    def main_branch(self, output, number):
        """The halo and its main progenitors, back in time: its mass accretion history."""
        return main_branch(*self.find(output, number))

    def progenitors(self, output, number):
        """The halo and all halos that have become a part of it."""
        return progenitors(*self.find(output, number))


def rows_of(tree, rows):
    """A table of some rows of a tree."""
    return Table({name: column[rows] for name, column in tree.items()})


def branch_rows(tree, row=0):
    """The rows of a halo and of its main progenitors, back in time."""
    rows = []
    while row >= 0:
        rows.append(int(row))
        row = tree["TreeFirstProgenitor"][row]
    return np.array(rows)


def main_branch(tree, row=0):
    """A table of the halo in a row of a tree and of its main progenitors, back in time."""
    return rows_of(tree, branch_rows(tree, row))


def progenitor_rows(tree, row=0):
    """The rows of a halo and of all halos that have become a part of it."""
    inside = np.zeros(len(tree["SnapNum"]), dtype=bool)
    inside[row] = True
    descendant = tree["TreeDescendant"]
    for i in range(row + 1, len(inside)):  # descendants stand before their progenitors
        inside[i] = descendant[i] >= 0 and inside[descendant[i]]
    return np.flatnonzero(inside)


def progenitors(tree, row=0):
    """A table of the halo in a row of a tree and of all halos that have become a part of it."""
    return rows_of(tree, progenitor_rows(tree, row))


def read_trees(path):
    """The merger trees of a run, trees.hdf5."""
    return Trees(path)
