# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of one of many equal ranks, by the formulas of docs/dev/scaling-model.md, as jobs of a recorded task graph.

The graph is that of a box on one rank. Each of the many has such a box, and what a neighbour sends arrives as if
this rank sent it to itself: all do the same at the same time."""

import collections
import math

from .task_graph import Need

SETS, FIELDS, SPECTRA = 2, 3, 2  # interlaced, with a field for each axis
WIDTH = 5  # cells by which a group's clouds reach over it, and its drift
LEAF = 64  # most particles of a leaf
BRANCH, BRANCH_LEVEL = 256, 6  # most particles of a branch of a ghost, and the least level of branches
UPPER = 3  # nodes above that are sent of a ghost at a face, for each of its branches
RANK_SLABS, RANK_COLUMNS, SLABS_MOST = 8, 4, 32
PENCIL_RANKS, PENCIL_CELLS = 128, 14000  # see src/mesh/long_range.c
APART = 8  # ranks whose sets have transpose blocks and row blocks of their own
BUNDLE = 1 << 20  # bytes of ghosts in a message

Kind = collections.namedtuple("Kind", "bytes messages")


def cut_ranks(ranks, groups):
    """Into how many parts ranks divide the box along x, y and z: the first third of the cuts of groups goes along x."""
    along_x = min(ranks, 2 ** math.ceil(math.log2(max(groups, 2)) / 3))
    rest = ranks / along_x
    along_y = 2 ** math.ceil(math.log2(rest) / 2) if rest > 1 else 1
    return along_x, along_y, max(rest / along_y, 1)


def layer_of(group):
    """The share of a group that a layer of its branches is, mean of x, y and z, and the branches of the layer."""
    level = max(BRANCH_LEVEL, math.ceil(math.log2(group / BRANCH)))
    share = sum(2.0 ** -((level + axis) // 3) for axis in range(3)) / 3
    return share, share * 2**level


def messages(particles, group, ranks, layout="auto"):
    """What a rank with so many particles, a mesh cell each, receives in a step: bytes and messages by kind.
    layout: gravity.mesh_layout."""
    side = (particles * ranks) ** (1 / 3)
    few = ranks >= PENCIL_RANKS and particles < PENCIL_CELLS * ranks
    pencils = layout == "pencils" or (layout == "auto" and (ranks > side or few))
    groups = particles * ranks / group
    parts = cut_ranks(ranks, groups)
    domain, width = [side / p for p in parts], group ** (1 / 3)
    shell = math.prod(a / width + (2 if p > 1 else 0) for a, p in zip(domain, parts)) - math.prod(a / width for a in domain)
    share, branches = layer_of(group)
    nodes = 2 * 2 ** max(math.ceil(math.log2(group / LEAF)), 0) * share + UPPER * branches
    each = 12 * group * share + 32 * nodes  # bytes of a ghost; its multipoles, 80 a node, are another message
    pairs = math.prod(min(p, 3) for p in parts) - 1  # with other ranks
    ghosts = Kind(shell * (each + 80 * nodes), 2 * max(pairs, shell / max(BUNDLE // each, 1)))
    planes = side / ranks  # of the mesh
    if domain[0] <= planes * 1.01:  # slabs of the box lie over those of the mesh
        faces = 2 * (domain[1] / width) * (domain[2] / width) * (WIDTH / 2)
        others, of_others = 2, WIDTH
    else:
        faces = particles / group * (width + WIDTH) * (1 - planes / domain[0])
        others, of_others = (domain[0] + WIDTH) / max(planes, 1), domain[0] + WIDTH - planes
    others = min(others, ranks - 1)
    patches = Kind(4 * SETS * faces * (width + WIDTH) ** 2, SETS * others)
    plane = math.prod(min(a + WIDTH, side) for a in domain[1:])  # cells that any group reads, once
    pieces = Kind(4 * SETS * FIELDS * of_others * plane, SETS * others)
    return {"ghosts": ghosts, "patches": patches, "pieces": pieces, "transposes": transposes(side, ranks, pencils)}


def transposes(side, ranks, pencils):
    """Transpose blocks of slabs, or row blocks and transpose blocks of pencils."""
    spectra, rows, columns = SETS * (1 + SPECTRA), ranks, 1
    if pencils:
        columns = max(round(math.sqrt(ranks)), 1)
        rows = ranks / columns
    each = max(math.ceil(min(side / 8, SLABS_MOST) / rows), 1)
    slabs, blocks = min(each, RANK_SLABS), min(each, RANK_COLUMNS) * rows
    size = 8 * side**2 * (side / 2 + 1) / ranks
    shared = SETS if ranks > APART else 1  # sets in a message
    return Kind(size * (spectra * (1 - 1 / rows) + SETS * (1 + FIELDS) * (1 - 1 / columns)),
                slabs / shared * (spectra * blocks * (1 - 1 / rows) + SETS * (1 + FIELDS) * (columns - 1)))


# Of each kind: stages that make what is sent, and stages that need what comes; the share of the kind that goes there.
WAYS = (("ghosts", ("move", "p2m"), ("walk",), 1.0), ("patches", ("pm_assign",), ("patch_add", "fft_yz"), 1.0),
        ("transposes", ("fft_yz",), ("fft_x",), 1 / (1 + SPECTRA)),
        ("transposes", ("fft_x",), ("ifft_yz",), SPECTRA / (1 + SPECTRA)), ("pieces", ("ifft_yz",), ("pm_read",), 1.0))


def with_messages(jobs, kinds, machine, ranks, groups):
    """The program of a rank with its messages: each job that makes what is sent has its share of them, and each that needs what
    comes waits for the last of these before it. All groups are looked at in a loop, and ranks gather their boxes."""
    makers = {i: sum(j.stage in way[1] for j in jobs) for i, way in enumerate(WAYS)}
    program, latest, number = [], collections.defaultdict(list), 1 << 40
    spent = 3 * 10e-9 * groups + 4 * math.log2(max(ranks, 2)) * 5e-6
    for job in jobs:
        waits = [Need(n, None, 0, True) for i, way in enumerate(WAYS) if job.stage in way[2] for n in latest[i]]
        program.append(job._replace(before=job.before + waits, gap=job.gap + spent))
        spent = 0.0
        for i, (kind, stages, _, share) in enumerate(WAYS):
            if job.stage not in stages or not kinds[kind].messages:
                continue
            number += 1
            count, size = (share * v / makers[i] for v in (kinds[kind].messages, kinds[kind].bytes))
            program.append(job._replace(number=number, stage=kind, group=-1, priority=0, device="WIRE", parts=1, gap=0.0, late=0.0,
                                        work=count * machine.message + size / machine.bandwidth + machine.latency,
                                        cost=count * machine.submission, before=[Need(job.number, None, 0, True)],
                                        writes=0, data=[], home=None, lasting=False))
            latest[i].append(number)
    return program
