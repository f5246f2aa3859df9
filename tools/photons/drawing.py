# SPDX-License-Identifier: GPL-3.0-or-later
"""What figures of several outputs share: styles, and which colour is of which output. Outputs differ
in colour, in brightness and in the style of their lines, so that they can be told apart in grey,
too."""

import math

from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
cm, colors = Deferred("matplotlib.cm"), Deferred("matplotlib.colors")

DASHES = ["-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (6, 1, 1, 1, 1, 1))]
MARKERS = "osD^v<>p"
NAMED_MOST = 6  # outputs that a legend names; of more a colour bar tells the redshifts
TICKS_MOST = 21  # of the colour bar


def plain(text):
    """Text of a user or a file for a figure: its dollars are no signs of formulas."""
    return text.replace("$", r"\$")


def redshift_text(z):
    return f"{max(z, 0):.2f}".rstrip("0").rstrip(".")


def label_of(z):
    return f"z = {redshift_text(z)}"


def style_of(i, count):
    """Colour, dashes and marker of output i of count: dark for the first, light for the last. Dashes
    of many outputs would not be told apart."""
    share = 0.82 * i / max(count - 1, 1)
    dashes = DASHES[i % len(DASHES)] if count <= NAMED_MOST else "-"
    return plt.cm.viridis(share), dashes, MARKERS[i % len(MARKERS)]


def name_of(z, count):
    """The entry of one output in the legend; none where a colour bar tells the redshifts."""
    return label_of(z) if count <= NAMED_MOST else None


def add_redshifts(figure, axes, redshifts):
    """A colour bar with the redshifts of the outputs, in their order, where they are many."""
    count = len(redshifts)
    if count <= NAMED_MOST:
        return
    shades = colors.ListedColormap([style_of(i, count)[0] for i in range(count)])
    norm = colors.BoundaryNorm(np.arange(count + 1) - 0.5, count)
    ticks = np.arange(count)[:: math.ceil(count / TICKS_MOST)]
    bar = figure.colorbar(cm.ScalarMappable(norm, shades), ax=np.ravel(axes), ticks=ticks, label="z")
    bar.ax.set_yticklabels([redshift_text(redshifts[i]) for i in ticks])
    bar.ax.minorticks_off()


def some_of(count):
    """The outputs, counted from 0, that thin lines of theory are drawn for: the last, and so many
    before it that their lines can be told apart."""
    return set(range(count - 1, -1, -max(math.ceil(count / NAMED_MOST), 1)))


def tables_of(read, run):
    """The tables that all outputs have, from the first output on, without empty ones."""
    tables = (read(number) for number in run.numbers)
    return [table for table in tables if table is not None and len(next(iter(table.values())))]


LABEL_POINTS = 7  # size of the font at the ends of curves
LABEL_MARGIN = 0.1  # beside curves, of their width: room for the labels at their ends


def spread(values, least):
    """The values, moved so that two of them are at least so far apart, or nearly."""
    order = np.argsort(values, kind="stable")
    moved = np.array(values, float)[order]
    for _ in range(100):
        push = np.maximum(least - np.diff(moved), 0) / 2
        moved[:-1] -= push
        moved[1:] += push
    return moved[np.argsort(order, kind="stable")]


def label_ends(axis, ends):
    """Texts at the ends of curves on an axis whose y is logarithmic, none over another.

    ends -- rows (x, y, text, colour); where y is not above 0 there is no text"""
    ends = [end for end in ends if end[1] > 0]
    axis.margins(x=LABEL_MARGIN)
    axis.set_yscale("log")
    low, high = np.log10(axis.get_ylim())
    height = 72 * axis.figure.get_figheight() * axis.get_position().height  # points
    least = 1.2 * LABEL_POINTS / height * (high - low)
    for (x, _, text, colour), y in zip(ends, spread([np.log10(end[1]) for end in ends], least)):
        axis.annotate(text, (x, 10**y), (4, 0), textcoords="offset points", va="center",
                      fontsize=LABEL_POINTS, color=colour)  # fmt: skip


def mark(axis, x, text):
    """A vertical line with a text at its upper end."""
    axis.axvline(x, color="grey", lw=0.7, ls=(0, (1, 1)))
    axis.text(
        x,
        0.98,
        text,
        rotation=90,
        ha="right",
        va="top",
        fontsize=7,
        color="0.35",
        transform=axis.get_xaxis_transform(),
    )
