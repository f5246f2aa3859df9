# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of log/galaxy.csv: the galaxies of a run at the steps at which they were measured."""

import os

from .drawing import label_ends
from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")

BARRED = 0.1  # least A2 of a bar: what is less turns at random
COLOURS = ("#332288", "#cc6677", "#117733", "#aa4499", "#88ccee", "#ddcc77", "#882255", "#44aa99")
DASHES = {"r10": ":", "r50": "-", "r90": "--"}  # Lagrangian radii
PANELS = (  # of the figure bar: label of the axis, column
    ("A2 within 2 scale lengths", "bar_strength"),
    ("pattern speed [km/s/kpc]\n(faint: A2 < 0.1)", "pattern_speed"),
    ("scale length [kpc]", "scale_length"),
    ("height, root\nmean square [kpc]", "height"),
)


def by_galaxy(table):
    """{number of the galaxy: its rows, a dictionary of columns}. table -- from Run.galaxies()"""
    return {
        int(number): {name: column[table["galaxy"] == number] for name, column in table.items()}
        for number in np.unique(table["galaxy"])
    }


def separations(galaxies):
    """Distances of the centres of all pairs of galaxies [kpc]: {(number, number): (times, distances)}."""
    found = {}
    for i, one in galaxies.items():
        for k, two in galaxies.items():
            if i < k:
                _, here, there = np.intersect1d(one["step"], two["step"], return_indices=True)
                apart = [one[f"centre_{axis}"][here] - two[f"centre_{axis}"][there] for axis in "xyz"]
                found[i, k] = one["time_myr"][here], np.sqrt(np.sum(np.square(apart), axis=0))
    return found


def components_text(folder):
    """What log/run.log of a run says of galaxies, their components and potentials when it began; empty if it
    says nothing."""
    path = os.path.join(folder, "log", "run.log")
    if not os.path.exists(path):
        return ""
    told = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(("  galaxy ", "  potential ", "  tracers ", "  conserved ", "  softening ")):
                told.append(line)
            elif told and line.startswith("    ") and not told[-1].startswith("  softening "):
                told.append(line)
            elif told:
                break
    return "".join(told)


def _label(number, galaxies):
    return f"galaxy {number}" if len(galaxies) > 1 else None


def plot_galaxies(evolution):
    """Lagrangian radii of each galaxy over time, and how far galaxies are apart."""
    if evolution.galaxies is None or len(np.unique(evolution.galaxies["step"])) < 2:
        return None
    galaxies = by_galaxy(evolution.galaxies)
    pairs = separations(galaxies)
    figure, axes = plt.subplots(1 + bool(pairs), sharex=True, squeeze=False, layout="constrained",
                                figsize=(7, 4 + 3 * bool(pairs)))  # fmt: skip
    axis, ends = axes[0, 0], []
    for number, colour in zip(galaxies, COLOURS):
        rows = galaxies[number]
        for name, dashes in DASHES.items():
            axis.plot(rows["time_myr"], rows[name], color=colour, ls=dashes, lw=1.2,
                      label=_label(number, galaxies) if name == "r50" else None)  # fmt: skip
            ends.append((rows["time_myr"][-1], rows[name][-1], f"{name[1:]} %", colour))
    label_ends(axis, ends)
    axis.set(ylabel="radius that holds\n10, 50, 90 % of the mass [kpc]")
    for (i, k), (time, apart) in pairs.items():
        axes[1, 0].plot(time, apart, lw=1.2, label=f"galaxies {i} and {k}")
        axes[1, 0].set_ylabel("distance of the centres [kpc]")
    if pairs:
        axes[1, 0].set_ylim(0, 1.1 * max(np.max(apart) for _, apart in pairs.values()))
    for axis in axes[:, 0]:
        if axis.get_legend_handles_labels()[0]:
            axis.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.08, 1))
    axes[-1, 0].set_xlabel("t [Myr]")
    return figure


def barred(axis, time, speed, strength, colour):
    """Draw pattern speeds faintly, and return those where there is a bar, NaN elsewhere."""
    axis.plot(time, speed, color=colour, marker=".", ms=2, lw=0.5, alpha=0.4)
    return np.where(strength >= BARRED, speed, np.nan)


def plot_bar(evolution):
    """Strength and pattern speed of the bar of each disk over time, its scale length and height."""
    table = evolution.galaxies
    if table is None or len(np.unique(table["step"])) < 2 or np.all(np.isnan(table["scale_length"])):
        return None
    galaxies = by_galaxy(table)
    figure, axes = plt.subplots(len(PANELS), sharex=True, layout="constrained", figsize=(7, 9))
    for axis, (label, column) in zip(axes, PANELS):
        for number, colour in zip(galaxies, COLOURS):
            rows = galaxies[number]
            values = rows[column]
            if column == "pattern_speed":
                values = barred(axis, rows["time_myr"], values, rows["bar_strength"], colour)
            axis.plot(rows["time_myr"], values, color=colour, marker=".", ms=3, lw=1.2,
                      label=_label(number, galaxies))  # fmt: skip
        axis.set_ylabel(label)
        if column != "pattern_speed":
            axis.set_ylim(0, 1.1 * np.nanmax(table[column]) or None)
    if len(galaxies) > 1:
        axes[0].legend(frameon=False, fontsize="small", ncols=4, loc="lower right",
                       bbox_to_anchor=(1, 1), borderaxespad=0)  # fmt: skip
    axes[-1].set_xlabel("t [Myr]")
    return figure
