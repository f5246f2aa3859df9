# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare log/ranks.csv of runs of nearly uniform particles with the formulas of docs/dev/scaling-model.md.

usage: ... RUN:RANKS:NPART:PARTS...  (groups of 512 particles, as many mesh cells as particles, r_cut of 3.45 cells;
PARTS: into which the mesh's pencils divide each slab, 1: none)
or RUN:RANKS:NPART:balance:GROUPS, RUN:RANKS:NPART:isolated:GROUPS, RUN:RANKS:NPART:apart:GROUPS (two isolated
systems of half the groups each), RUN:RANKS:CELLS:gas:GROUPS-OF-A-BATCH,
RUN:RANKS:NPART:branches:LEVELS (of trees of a uniform box), RUN:RANKS:NPART:large:PARTICLES-OF-A-GROUP (the same where these
have leaves of 64 particles and more than 64 branches)
"""

import bisect
import csv
import itertools
import math
import sys

import h5py
import numpy as np

GROUP, R_CUT = 512, 3.45
LINK = 2.0  # of friends of friends, 0.2 cells, and waves: groups with a corner in common are near each other
SETS, FIELDS, SPECTRA = 2, 3, 2  # interlaced, with the default gradient: a field for each axis
WINDOW = 4  # cells a side of a particle's cloud (PCS)
HISTOGRAM = 2048 * 8  # counts of one digit of a cut
GAS_KEY, GAS_LINKS, GAS_NUMBER = 8, 164, 4  # bytes of the key of a patch group of gas, of a known group, and of one in a list
GAS_PIECE = 32  # bytes of a range of keys that other ranks have told
GAS_VALUES, GAS_BATCH = 200, 256  # bytes of an own patch group, and of a batch
CUTS_OF_ALL = 16  # above, each cut has a home
APART = 8  # ranks whose sets have transpose blocks and row blocks of their own
TARGETS, TOLD, LETTER = 752, 32, 44  # bytes that say where the targets of a rank of an isolated system are, and which groups
NODE = 296  # bytes of a node above groups
EVERYWHERE = list(itertools.product((-1, 0, 1), repeat=3))
ACROSS_FACES = [d for d in EVERYWHERE if sum(map(abs, d)) == 1]
TOP, BRANCH = 6, 256  # level of the branches of ghosts, or of large groups a lower one: particles of a branch at most
LEAF = 64  # particles at most
LOOKS = 64  # levels that all ranks split together, and chunks of a rank


def read(folder):
    with open(f"{folder}/log/ranks.csv", encoding="ascii") as file:
        return {(row["group"], row["name"]): row for row in csv.DictReader(file)}


class Lattice:
    """Groups of a uniform lattice, a mesh cell a particle: [low, high) in cells along x, y and z."""

    def __init__(self, side, ranks, group=GROUP):
        self.side, self.ranks = side, ranks
        levels = math.ceil(math.log2(side**3 / group))
        self.count = 2**levels
        self.particles = side**3 / self.count  # of a group
        self.top = max(TOP, math.ceil(math.log2(self.particles / BRANCH)))
        boxes = [((0.0,) * 3, (float(side),) * 3)]
        for level in range(levels):
            boxes = [part for box in boxes for part in self.cut(level, *box)]
        self.boxes = boxes

    def cut(self, level, low, high):
        weights = [(h - l) * (17 - c) for c, (l, h) in enumerate(zip(low, high))]
        axis = 0 if 2 ** (3 * level) < self.count else weights.index(max(weights))
        middle = 0.5 * (low[axis] + high[axis])
        return ((low, high[:axis] + (middle,) + high[axis + 1 :]),
                (low[:axis] + (middle,) + low[axis + 1 :], high))

    def owner(self, group):
        return dealt_to(self.count, self.ranks, group)

    def gap_squared(self, a, b):
        sum_ = 0.0
        for c in range(3):
            d = abs(0.5 * (a[0][c] + a[1][c] - b[0][c] - b[1][c]))
            d = min(d, self.side - d)
            # Particles stand on the lattice: a box ends one cell before the next begins.
            sum_ += max(d - 0.5 * (a[1][c] - a[0][c] + b[1][c] - b[0][c]) + 1.0, 0.0) ** 2
        return sum_

    def node(self, groups):
        """The box around some groups."""
        boxes = [self.boxes[group] for group in groups]
        return (tuple(min(low[c] for low, _ in boxes) for c in range(3)),
                tuple(max(high[c] for _, high in boxes) for c in range(3)))

    def domain(self, rank):
        """The boxes of a rank's groups on either side of the highest cut between them."""
        own = [group for group in range(self.count) if self.owner(group) == rank]
        if len(own) == 1:
            return [self.node(own)]
        bit = (own[0] ^ own[-1]).bit_length() - 1
        right = own[-1] >> bit << bit
        return [self.node(g for g in own if g < right), self.node(g for g in own if g >= right)]

    def reached(self, reach=R_CUT):
        """For each rank the groups of others within reach of its domain."""
        return [[group for group, box in enumerate(self.boxes) if self.owner(group) != rank and
                 any(self.gap_squared(box, part) < reach**2 for part in self.domain(rank))]
                for rank in range(self.ranks)]

    def linked(self):
        """Most bytes of any rank of the trees of own groups, of those of others that touch its domain, and of all domains,
        with what it tells others. Of two ranks one tells the other, which sends particles."""
        met = [[group for group in groups if sends_to(rank, self.owner(group))]
               for rank, groups in enumerate(self.reached(LINK))]
        own = [sum(self.owner(group) == rank for group in range(self.count)) for rank in range(self.ranks)]
        told = [sum(self.owner(group) == rank for groups in met for group in groups) for rank in range(self.ranks)]
        readers = [len({other for other, groups in enumerate(met) for group in groups if self.owner(group) == rank})
                   for rank in range(self.ranks)]
        return max(92 * (own[rank] + len(met[rank])) + 28 * told[rank] + 12 * readers[rank] + (2 * 92 + 8) * self.ranks
                   for rank in range(self.ranks))

    def tables(self):
        """Most bytes of any rank of the table of the groups that it knows, and of their boxes while neighbours are
        searched: domains of all ranks, own groups in a tree, what it tells and is told; then a tree of all."""
        reached = self.reached()
        groups = boxes = 0
        for rank, met in enumerate(reached):
            own = sum(self.owner(group) == rank for group in range(self.count))
            told = sum(self.owner(group) == rank for others in reached for group in others)
            groups = max(groups, 8 * own + 192 * (own + len(met)))
            readers = len({other for other, groups in enumerate(reached) for group in groups if self.owner(group) == rank})
            boxes = max(boxes, 72 * self.ranks + 12 * readers + 96 * own + 44 * (told + len(met)), 104 * (own + len(met)))
        return groups, boxes

    def pairs(self):
        """Pairs of a group and another rank that needs it."""
        pairs = set()
        for (i, a), (j, b) in itertools.combinations(enumerate(self.boxes), 2):
            if self.owner(i) != self.owner(j) and self.gap_squared(a, b) < R_CUT**2:
                pairs |= {(i, self.owner(j)), (j, self.owner(i))}
        return pairs

    def opened(self, node, level, targets):
        """Numbers of the nodes within reach of targets, from a node on, above and at the level of branches."""
        if all(self.gap_squared(node, box) >= R_CUT**2 for box in targets):
            return 0, 0
        if level == 0:
            return 0, 1
        low, high = node
        axis = max(range(3), key=lambda c: (high[c] - low[c], -c))
        middle = 0.5 * (low[axis] + high[axis])
        parts = [(low, high[:axis] + (middle,) + high[axis + 1 :]), (low[:axis] + (middle,) + low[axis + 1 :], high)]
        above, branches = (sum(n) for n in zip(*(self.opened(part, level - 1, targets) for part in parts)))
        return above + 1, branches

    def parts(self, depth):
        """Nodes and particles of all ghosts of all ranks: the root, the children of nodes within reach and all that is below
        branches within reach. Index 0 of the array goes along."""
        top = min(depth, self.top)
        nodes = particles = 0
        for group, other in self.pairs():
            targets = [box for k, box in enumerate(self.boxes) if self.owner(k) == other and
                       self.gap_squared(box, self.boxes[group]) < R_CUT**2]
            above, branches = self.opened(self.boxes[group], top, targets)
            nodes += 2 + 2 * above + branches * (2 * 2 ** (depth - top) - 2)
            particles += branches * self.particles / 2**top
        return nodes, particles

    def ghosts(self):
        """Messages of each kind that all ranks send: those of a pair of ranks fit into one message."""
        return len({(self.owner(group), other) for group, other in self.pairs()})

    def ghosts_kept(self):
        """The most bytes that a rank keeps of its ghosts and of messages with them, sent and received."""
        most = 0
        for rank in range(self.ranks):
            pairs = [(self.owner(group), other) for group, other in self.pairs()]
            own = [pair for pair in pairs if rank in pair]
            most = max(most, (32 + 2 * 2**self.top // 8) * len(own) + 32 * len(set(own)))
        return most


def sends_to(rank, other):
    return ((rank + other) % 2 == 0) == (rank > other)


def dealt_to(things, ranks, thing):
    return ((thing + 1) * ranks + things - 1) // things - 1


class Mesh:
    def __init__(self, cells, ranks, parts):
        self.cells, self.ranks, self.parts = cells, ranks, parts
        self.rows = ranks // parts  # of the grid of ranks
        slabs = max(1, min(cells // 8, 32))
        each = (slabs + self.rows - 1) // self.rows
        self.slabs = min(min(each, 8) * self.rows, cells)
        self.columns = min(min(each, 4) * self.rows, cells)
        self.apart = SETS if ranks <= APART else 1  # sets that have blocks of their own

    def row(self, plane):
        slab = max(s for s in range(self.slabs) if s * self.cells // self.slabs <= plane)
        return dealt_to(self.slabs, self.rows, slab)

    def part(self, y):
        return max(j for j in range(self.parts) if j * self.cells // self.parts <= y)

    def blocks_sent(self):
        """Transpose blocks whose slab and column have different owners, there and back."""
        pairs = sum(dealt_to(self.slabs, self.rows, s) != dealt_to(self.columns, self.rows, c)
                    for s in range(self.slabs) for c in range(self.columns))
        return self.apart * (1 + SPECTRA) * pairs * self.parts

    def row_blocks_sent(self):
        """Row blocks of the densities, and back of all fields."""
        return self.apart * (1 + FIELDS) * self.slabs * self.parts * (self.parts - 1)

    def squares(self, rank):
        """Squares of mode numbers from the least to the largest one of a rank's columns."""
        row, part = divmod(rank, self.parts)
        ky = [min(y, self.cells - y) ** 2 for c in range(self.columns) if dealt_to(self.columns, self.rows, c) == row
              for y in range(c * self.cells // self.columns, (c + 1) * self.cells // self.columns)]
        low, high = ((self.cells // 2 + 1) * j // self.parts for j in (part, part + 1))
        return (self.cells // 2) ** 2 + max(ky) - min(ky) + (high - 1) ** 2 - low**2 + 1

    def runs(self, box, axis, owner):
        """The owners of the cells along an axis to which a group deposits, and from which it reads, by runs."""
        low, high = box[0][axis], box[1][axis]
        cells = min(math.ceil(high - low) + WINDOW + 1, self.cells)
        first = math.floor(low) - WINDOW // 2
        return [run for run, _ in itertools.groupby(owner((first + i) % self.cells) for i in range(cells))]

    def cells_read(self, box):
        """The cells along each axis that a group reads."""
        return [np.arange(math.floor(low) - WINDOW // 2, math.floor(low) + math.ceil(high - low) + WINDOW // 2 + 1)
                % self.cells for low, high in zip(*box)]

    def pieces_sent(self, lattice):
        """Bytes of fields that all ranks send: of each cell that groups of a rank read in the planes of others, once."""
        rows = np.array([self.row(x) for x in range(self.cells)])
        parts = np.array([self.part(y) for y in range(self.cells)])
        owner = (rows[:, None] * self.parts + parts)[:, :, None]
        cells = 0
        for rank in range(self.ranks):
            read = np.zeros((self.cells,) * 3, bool)
            for group, box in enumerate(lattice.boxes):
                if lattice.owner(group) == rank:
                    read[np.ix_(*self.cells_read(box))] = True
            cells += np.count_nonzero(read & (owner != rank))
        return 4 * SETS * FIELDS * cells

    def owners_met(self, box):
        return [row * self.parts + part for row in self.runs(box, 0, self.row)
                for part in self.runs(box, 1, self.part)]

    def pairs(self, lattice):
        """Pairs of a rank and another one whose planes its groups meet."""
        return {(lattice.owner(group), owner) for group, box in enumerate(lattice.boxes)
                for owner in self.owners_met(box) if owner != lattice.owner(group)}

    def pieces_most(self, lattice):
        """The most pieces of a rank: those that other ranks have of its own groups, and those that it has of groups of others."""
        pieces = [0] * self.ranks
        for group, box in enumerate(lattice.boxes):
            owner = lattice.owner(group)
            for rank in self.owners_met(box):
                pieces[owner] += rank != owner
                pieces[rank] += rank != owner
        return max(pieces)

    def groups_met(self, lattice):
        """The most groups that a rank has or whose planes it has."""
        met = [0] * self.ranks
        for group, box in enumerate(lattice.boxes):
            for rank in {lattice.owner(group), *self.owners_met(box)}:
                met[rank] += 1
        return max(met)


def morton(place):
    """The key of a place: bits of x, y and z in turn."""
    return sum((p >> bit & 1) << 3 * bit + axis for axis, p in enumerate(place) for bit in range(21))


class Octree:
    """The patch groups of a periodic box: by level the places of all, in their order. Each rank has consecutive batches of each
    level."""

    def __init__(self, file, ranks, batch):
        with h5py.File(file) as snapshot:
            info = snapshot["Info/KeyInfo"][()]
            patches, scale, root = info["NPatch"], info["CellScale"], info["NX0"]
            rows = np.split(snapshot["Tree/Corner"][()], np.cumsum(patches)[:-1])
        self.level = [[tuple(map(int, corner)) for corner in corners[::8] // (16 * size)]
                      for corners, size in zip(rows, scale)]
        self.sides = [[int(side) // 16 << level for side in root] for level in range(len(self.level))]
        self.number = [{place: i for i, place in enumerate(places)} for places in self.level]
        self.ranks, self.batch = ranks, batch

    def own(self, level, rank):
        """The groups of a rank."""
        batches = math.ceil(len(self.level[level]) / self.batch)
        first, end = (self.batch * (batches * r // self.ranks) for r in (rank, rank + 1))
        return set(self.level[level][first:end])

    def around(self, level, place, directions):
        """Places beside a place, of a level that need not have groups."""
        return {tuple((p + d) % side for p, d, side in zip(place, direction, self.sides[level]))
                for direction in directions}

    def near(self, level, places):
        """Groups, and those beside them."""
        return {near for place in places for near in self.around(level, place, EVERYWHERE) if near in self.number[level]}

    def above(self, level, rank):
        """Groups around own ones of finer levels."""
        return {tuple(p >> finer - level for p in place) for finer in range(level + 1, len(self.level))
                for place in self.own(finer, rank)}

    def links(self, rank):
        """Bytes of what a rank knows of groups."""
        sum_ = 0
        for level, places in enumerate(self.level):
            own, above = self.own(level, rank), self.above(level, rank)
            known = self.near(level, own | above)
            if places:
                sum_ += GAS_KEY * (self.ranks + 1)
            sum_ += GAS_KEY * len(own) + self.told(level, rank) + GAS_LINKS * len(known) + GAS_NUMBER * (len(known - own) + len(above - own))
        return sum_

    def asked(self, level, rank):
        """Places of the next coarser level whose sons a rank must know: around what is coarser around own groups, and around
        these on the level before."""
        def ring(level, places):
            return {near for place in places for near in self.around(level, place, EVERYWHERE)}

        def core(level):
            return self.own(level, rank) | self.above(level, rank)

        def fathers(level):
            return {tuple(p >> 1 for p in place) for place in core(level)}

        asked = ring(level - 1, fathers(level))
        if level == 1:
            return asked | ring(0, core(0))
        coarser = ring(level - 2, fathers(level - 1))
        return asked | {tuple(2 * p + d for p, d in zip(place, half)) for place in coarser
                        for half in itertools.product((0, 1), repeat=3)}

    def begins(self, level):
        """Where the ranges of keys of all ranks begin."""
        begins = [math.inf]
        for rank in reversed(range(self.ranks)):
            begins.insert(0, min(map(morton, self.own(level, rank)), default=begins[0]))
        begins[0] = 0
        return begins

    def told(self, level, rank):
        """Bytes of the keys that other ranks tell a rank, and of the ranges that these are of."""
        if level == 0 or not self.level[level]:
            return 0
        low, high = self.begins(level)[rank:rank + 2]
        ranges = []
        for first in sorted(8 * morton(place) for place in self.asked(level, rank)):
            for begin, end in ((first, min(first + 8, low)), (max(first, high), first + 8)):
                if begin >= end:
                    continue
                if ranges and ranges[-1][1] == begin:
                    begin = ranges.pop()[0]
                ranges.append((begin, end))
        keys = [morton(place) for place in self.level[level]]
        told = sum(bisect.bisect_left(keys, end) - bisect.bisect_left(keys, begin) for begin, end in ranges)
        return GAS_KEY * told + GAS_PIECE * len(ranges)

    def needed(self, level, rank):
        """Groups of which a rank gets cells, or fluxes through their sides."""
        needed = self.near(level, self.own(level, rank))
        if level + 1 < len(self.level):  # around patches that own groups refine
            patches = {near for place in self.own(level + 1, rank) for near in self.around(level + 1, place, EVERYWHERE)}
            needed |= {father for patch in patches if (father := tuple(p >> 1 for p in patch)) in self.number[level]}
        if level > 0:  # beside patches of own groups that are not refined
            patches = {tuple(2 * p + d for p, d in zip(place, half)) for place in self.own(level - 1, rank)
                       for half in itertools.product((0, 1), repeat=3)}
            needed |= {near for patch in patches - self.number[level].keys()
                       for near in self.around(level, patch, ACROSS_FACES) if near in self.number[level]}
        return needed

    def values(self, rank):
        """Bytes of values of own groups, of own batches and of those of which messages bring something."""
        sum_ = 0
        for level, number in enumerate(self.number):
            own = self.own(level, rank)
            batches = {number[place] // self.batch for place in self.needed(level, rank)}
            sum_ += GAS_VALUES * len(own) + GAS_BATCH * len(batches)
        return sum_


class Check:
    def __init__(self, folder, ranks, side, parts=1):
        self.rows, self.folder, self.failed = read(folder), folder, 0
        self.ranks, self.side = int(ranks), int(side)
        self.lattice, self.mesh = Lattice(self.side, self.ranks), Mesh(self.side, self.ranks, int(parts))

    def say(self, what, found, formula, good):
        self.failed += not good
        print(f"{'' if good else 'FAILED: '}{self.folder}: {what}: {found:.0f}, by the formula {formula:.0f}")

    def messages(self, name, formula, error):
        found = float(self.rows["sent", name]["messages_mean"]) * self.ranks
        self.say(f"messages of all ranks, {name}", found, formula, abs(found - formula) <= error * formula)

    def sent(self, name, formula, least, most):
        found = float(self.rows["sent", name]["bytes_mean"]) * self.ranks
        self.say(f"bytes of all ranks, {name}", found, formula, least * formula <= found <= most * formula)

    def kept(self, name, formula):
        found = float(self.rows["kept", name]["bytes_most"])
        self.say(f"bytes kept, {name}", found, formula, 0 < found <= formula)

    def uniform(self):
        groups, mesh, ghosts = self.lattice.count, self.mesh, self.lattice.ghosts()
        for name in ("ghosts", "multipoles"):
            self.messages(name, ghosts, 0.15)
        for name in ("patches", "pieces"):
            self.messages(name, SETS * len(mesh.pairs(self.lattice)), 0.15)
        # A message has room for an eighth more. At these times the clouds of a group reach over it by 4 to 5 cells.
        self.sent("pieces", mesh.pieces_sent(self.lattice), 0.8, 1.15)
        self.messages("blocks", mesh.blocks_sent(), 0.0)
        if mesh.parts > 1:
            self.messages("row blocks", mesh.row_blocks_sent(), 0.0)
        parts = min(groups, max(self.ranks, LOOKS))
        cuts = parts / 2
        table, boxes = self.lattice.tables()
        self.kept("groups", table)
        self.kept("boxes", boxes)
        self.kept("ghosts", 1.2 * self.lattice.ghosts_kept())
        self.kept("fof", self.lattice.linked())
        self.kept("cells", 112 * mesh.groups_met(self.lattice))
        # A piece of a patch is in the list of its message. Of what a group reads the message is kept.
        # Messages of fields consist of boxes without common cells, a sixth as many as pieces and two a message, with nodes of 8 B a box.
        self.kept("pieces", (32 + 8 + 4 + (32 + 8) / 6) * mesh.pieces_most(self.lattice) + 2 * (72 + 184) * self.ranks)
        self.kept("cuts", 40 * parts)
        counts = cuts * (2 + max(1, self.side**3 / self.ranks / 2**14))
        if cuts > CUTS_OF_ALL: # what comes to a home twice; a node has particles of at most four ranks
            counts += 2 * 4 * cuts / self.ranks
        self.kept("counts", 1.01 * counts * HISTOGRAM)
        self.kept("ties", 8 * cuts)
        own_slabs = math.ceil(mesh.slabs / mesh.rows)
        blocks = own_slabs * mesh.columns
        blocks += math.ceil(mesh.columns / mesh.rows) * mesh.slabs
        rows = SETS * mesh.slabs * FIELDS + mesh.apart * SPECTRA * blocks
        row_blocks = mesh.apart * 2 * mesh.parts * own_slabs if mesh.parts > 1 else 0
        self.kept("blocks", 8 * (rows + row_blocks))
        self.kept("green", 4 * max(map(mesh.squares, range(self.ranks))))


    def branches(self, depth):
        """Of trees of so many levels and of their multipoles, of order 4, branches within reach are sent, and what is above these. A
        message has room for an eighth more."""
        nodes, particles = self.lattice.parts(depth)
        for name, formula in (("ghosts", 12 * particles + 32 * nodes), ("multipoles", 80 * nodes)):
            self.sent(name, formula, 0.95, 1.15)

    def large(self, group):
        self.lattice = Lattice(self.side, self.ranks, group)
        self.branches(math.ceil(math.log2(self.lattice.particles / LEAF)))
        self.kept("ghosts", 1.2 * self.lattice.ghosts_kept())

    def balance(self, groups):
        """Groups may have changed owners."""
        self.kept("costs", 16 * min(groups, 64 * self.ranks))

    def isolated(self, groups, systems=1):
        """A rung has 4 bytes of a group. Groups of the same system are received whole, with trees of 64 nodes and multipoles of
        order 6. Of other systems, far away, each rank is a node above its groups, which has no tree (but index 0)."""
        own, ranks = groups // self.ranks, self.ranks
        near = max(groups // systems - own, 0)
        far = ranks - ranks // systems
        met, told = near + far, own * (ranks // systems - 1) + far
        self.kept("groups", 8 * own + 192 * (own + met))
        self.kept("boxes", TARGETS * ranks + 12 * (ranks - 1) + LETTER * (told + met))
        self.kept("rungs", 92 * own)
        bits = 16 * (own * (ranks // systems - 1) + near)  # nodes above groups have none
        self.kept("ghosts", 32 * (told + met) + bits + TOLD * told + 32 * 2 * (ranks - 1))
        self.kept("sources", near * (12 * GROUP + 64 * (32 + 4 * 56)) + far * 2 * (32 + 4 * 56))
        sources = own + near + systems - 1  # of each own group: the other system is one node
        self.kept("walks", NODE * (own - 1 + met) + 8 * own + 8 * own * sources)
        # Those of all groups of a rank are in one message, which has room for an eighth more. Ranks that have no targets in a sub-step
        # receive none, so that the mean is not that of all pairs of ranks.
        for name, particles, node in (("ghosts", 12 * GROUP, 32), ("multipoles", 0, 4 * 56)):
            row = self.rows["sent", name]
            found = float(row["bytes_mean"]) / float(row["messages_mean"])
            mean = (near * (particles + 64 * node) + far * 2 * node) / (ranks - 1)
            least = mean if systems == 1 or near == 0 else 0.9 * mean
            self.say(f"bytes of a message, {name}", found, mean, least <= found <= 1.125 * mean)

    def apart(self, groups):
        self.isolated(groups, systems=2)

    def gas(self, batch):
        """Keys of own patch groups and of those around them; links of own ones, of those above and of the neighbours of both;
        batches that are own or seen."""
        tree = Octree(f"{self.folder}/gas_000.hdf5", self.ranks, batch)
        links, values = (max(map(of, range(self.ranks))) for of in (tree.links, tree.values))
        everything = (GAS_KEY + GAS_LINKS + GAS_VALUES + GAS_BATCH / batch) * sum(map(len, tree.level))
        self.kept("octree", links)
        self.kept("levels", values)
        self.say("bytes of gas of what all groups take up", links + values, everything, links + values < everything / 2)


def run(argument):
    folder, ranks, side, parts, *number = argument.split(":")
    check = Check(folder, ranks, side, 1 if number else parts)
    if number:
        getattr(check, parts)(int(number[0]))
    else:
        check.uniform()
    return check.failed


sys.exit(sum(map(run, sys.argv[1:])) > 0)
