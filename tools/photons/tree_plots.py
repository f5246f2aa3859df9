# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of merger trees: the tree of the largest halo, and how the largest halos got their mass."""

from .drawing import redshift_text, style_of
from .modules import Deferred
from .trees import branch_rows, progenitor_rows

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")

BRANCHES_MOST = 60  # that are drawn: more could not be told apart
HALOS_MOST = 5  # whose mass accretion histories are drawn
LARGEST_AREA = 220  # of the sign of the most massive halo, square points


class Branch:
    """A halo and its main progenitors, up to where it becomes a part of another branch.

    rows -- of the tree, back in time; joins -- row of the other branch, -1: none; children -- branches
    that become parts of this one"""

    def __init__(self, tree, row):
        self.rows = branch_rows(tree, row)
        self.joins = tree["TreeDescendant"][row]
        self.peak = tree["SubhaloMass"][self.rows].max()
        self.children = []


def branches_of(tree):
    """The main branch of the first root of a tree, and the most massive branches that have become parts of
    it."""
    trunk = Branch(tree, 0)
    owner = {row: trunk for row in trunk.rows}
    starts = progenitor_rows(tree)[1:]
    first = tree["TreeFirstProgenitor"][tree["TreeDescendant"][starts]]
    others = [Branch(tree, row) for row in starts[first != starts]]
    others = sorted(others, key=lambda branch: -branch.peak)[: BRANCHES_MOST - 1]
    for branch in others:
        owner.update(dict.fromkeys(branch.rows, branch))
    for branch in others:
        parent = owner.get(branch.joins)
        if parent:  # else it has become a part of a branch that is not drawn
            parent.children.append(branch)
    return trunk


def columns_of(branch):
    """The branches in their order from left to right. What joins a branch last stands farthest from it,
    so that no line crosses another branch."""
    latest_first = sorted(branch.children, key=lambda child: (child.joins, child.rows[0]))
    left = [column for child in latest_first[::2] for column in columns_of(child)]
    right = [column for child in reversed(latest_first[1::2]) for column in columns_of(child)]
    return [*left, branch, *right]


def add_outputs(axis, tree):
    """The redshifts of outputs beside an axis of scale factors, as many as there is room for."""
    times, which = np.unique(tree["Time"], return_index=True)
    shown, last = [], np.inf
    for i in range(len(times) - 1, -1, -1):
        if last - times[i] > 0.02 * (times[-1] - times[0]):
            shown.append(i)
            last = times[i]
    axis.set_yticks(times[shown], [redshift_text(tree["Redshift"][which[i]]) for i in shown])
    axis.minorticks_off()


def draw_branch(axis, tree, branch, place, owner, colour):
    """A branch as a line of signs at its place, and the line to the branch that it joins. Where an output
    is skipped the line is dashed."""
    time, rows, joins = tree["Time"], branch.rows, branch.joins
    skips = tree["SnapNum"][rows[:-1]] - tree["SnapNum"][rows[1:]] > 1
    for later, earlier, skip in zip(rows[:-1], rows[1:], skips):
        ends = time[later], time[earlier]
        axis.plot((place, place), ends, color=colour, lw=1, ls=":" if skip else "-", zorder=1)
    if joins >= 0:
        ends = (place, owner[joins]), (time[rows[0]], time[joins])
        skip = tree["SnapNum"][joins] - tree["SnapNum"][rows[0]] > 1
        axis.plot(*ends, color=colour, lw=0.6, ls=":" if skip else "-", zorder=1)
    share = tree["SubhaloMass"][rows] / tree["SubhaloMass"].max()
    axis.scatter(np.full(len(rows), place), time[rows], LARGEST_AREA * share ** (2 / 3), color=colour, zorder=2)


def plot_tree(run):
    """The tree of the largest halo of the last output: its most massive branches."""
    trees = run.trees()
    if trees is None or len(trees) == 0:
        return None
    tree = trees.tree(0)
    columns = columns_of(branches_of(tree))
    trunk = next(branch for branch in columns if branch.rows[0] == 0)
    owner = {row: i for i, branch in enumerate(columns) for row in branch.rows}
    peaks = np.log([branch.peak for branch in columns])
    shades = (peaks - peaks.min()) / max(np.ptp(peaks), 1e-300)
    figure, axis = plt.subplots(figsize=(10, 7), layout="constrained")
    for place, (branch, shade) in enumerate(zip(columns, shades)):
        colour = "#cc3311" if branch is trunk else plt.cm.viridis(0.82 * (1 - shade))
        draw_branch(axis, tree, branch, place, owner, colour)
    axis.set(ylabel="z", xticks=[], xlim=(-1.5, len(columns) + 0.5))
    axis.margins(y=0.04)
    add_outputs(axis, tree)
    mass = 1e10 * tree["SubhaloMass"][0]
    shown = "its" if len(columns) < BRANCHES_MOST else "the most massive of its"
    title = f"the largest halo, {mass:.3g} Msun/h: {shown} {len(columns)} branches"
    axis.set_title(title.replace("its 1 branches", "its branch"), fontsize="medium")
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    return figure


def plot_mass_history(run):
    """Masses of the largest halos of the last output and of their main progenitors."""
    trees = run.trees()
    if trees is None or len(trees) == 0:
        return None
    last = trees.header["LastSnapShotNr"]
    branches = [trees.main_branch(last, number) for number in trees.largest(last, HALOS_MOST)]
    if not branches:
        return None
    figure, axis = plt.subplots(figsize=(7, 5), layout="constrained")
    for i, branch in enumerate(branches):
        colour, _, marker = style_of(i, len(branches))
        x, mass = 1 + branch["Redshift"], 1e10 * branch["SubhaloMass"]
        name = f"{mass[0]:.3g} Msun/h"
        axis.plot(x, mass, color=colour, marker=marker, ms=3, lw=1.4 if i == 0 else 0.9, label=name)
        inner = 1e10 * branch["Group_M_Crit200"]
        axis.plot(x, np.where(inner > 0, inner, np.nan), color=colour, lw=0.9, ls=":")
    axis.plot([], [], "k-", lw=0.9, label="all particles")
    axis.plot([], [], "k:", lw=0.9, label="M$_{200c}$")
    axis.set(xscale="log", yscale="log", xlabel="1 + z", ylabel="mass of the main progenitor [Msun/h]")
    end = max(branch["Redshift"].max() for branch in branches)
    ticks = [z for z in (0, 0.5, 1, 2, 3, 4, 6, 8, 10, 15, 20, 30) if z <= 1.1 * end]
    axis.set_xticks([1 + z for z in ticks], [f"{1 + z:g}" for z in ticks])
    axis.minorticks_off()
    axis.legend(frameon=False, fontsize="small", ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
    return figure
