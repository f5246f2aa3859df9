# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the statistics beside P(k): multipoles in redshift space, correlation function, bispectrum,
and the bias of halos, each beside theory."""

from .drawing import add_redshifts, name_of, style_of, tables_of
from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")

HALOS_LEAST = 10  # of an output whose bias is drawn: that of fewer halos is noise


def draw_outputs(tables, figure, axes, draw):
    """Draw all outputs: draw(table, style, name) with a dictionary of the colour and dashes of lines."""
    for i, table in enumerate(tables):
        colour, dashes, _ = style_of(i, len(tables))
        draw(table, {"color": colour, "ls": dashes, "lw": 1.5}, name_of(table.header["z"], len(tables)))
    axes = np.ravel(axes)
    axes[0].plot([], [], "k:", lw=1, label="theory")
    axes[0].legend(frameon=False, fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    add_redshifts(figure, axes, [table.header["z"] for table in tables])


def thin(style):
    """The style of the line of theory beside one of an output."""
    return {**style, "ls": ":", "lw": 1}


def plot_multipoles(run):
    """k P0, k P2 and k P4 in redshift space, and linear theory (Kaiser)."""
    tables = tables_of(run.multipoles, run)
    if not tables:
        return None
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 8), layout="constrained")

    def draw(table, style, name):
        for order, axis in zip((0, 2, 4), axes):
            axis.plot(table["k"], table["k"] * table[f"P{order}"], label=name, **style)
            axis.plot(table["k"], table["k"] * table[f"P{order}_kaiser"], **thin(style))

    draw_outputs(tables, figure, axes, draw)
    for order, axis in zip((0, 2, 4), axes):
        axis.axhline(0, color="grey", lw=0.5)
        axis.set(ylabel=f"k P{order} [(Mpc/h)²]", xscale="log")
    axes[-1].set(xlabel="k [h/Mpc]")
    return figure


def plot_correlation(run):
    """r² ξ(r), and linear theory."""
    tables = tables_of(run.correlation, run)
    if not tables:
        return None
    figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")

    def draw(table, style, name):
        axis.plot(table["r"], table["r"] ** 2 * table["xi"], label=name, **style)
        axis.plot(table["r"], table["r"] ** 2 * table["xi_linear"], **thin(style))

    draw_outputs(tables, figure, axis, draw)
    axis.axhline(0, color="grey", lw=0.5)
    axis.set(xlabel="r [Mpc/h]", ylabel="r² ξ(r) [(Mpc/h)²]")
    return figure


def plot_bispectrum(run):
    """The reduced bispectrum Q of equilateral and of squeezed triangles, and second-order theory."""
    tables = tables_of(run.bispectrum, run)
    if not tables:
        return None
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 6), layout="constrained")

    def draw(table, style, name):
        equal = table["k1"] == table["k3"]
        for rows, axis in zip((equal, ~equal), axes):
            axis.plot(table["k3"][rows], table["Q"][rows], label=name, marker=".", **style)
            axis.plot(table["k3"][rows], table["Q_tree"][rows], marker="_", **thin(style))

    draw_outputs(tables, figure, axes, draw)
    axes[0].set(ylabel="Q, equilateral", xscale="log")
    axes[1].set(ylabel="Q, squeezed", xlabel="k [h/Mpc]")
    return figure


def plot_halo_bias(run):
    """The bias of halos by their own power and by that with matter, and the mean of Tinker et al. 2010."""
    tables = [t for t in tables_of(run.halo_power, run) if t.header["halos"] >= HALOS_LEAST]
    if not tables:
        return None
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 6), layout="constrained")

    def draw(table, style, name):
        for column, axis in zip(("bias", "bias_cross"), axes):
            some = table[column] > 0  # below the shot noise there is no bias
            axis.plot(table["k"], np.where(some, table[column], np.nan), label=name, **style)
            axis.plot(table["k"], table["bias_tinker"], **thin(style))

    draw_outputs(tables, figure, axes, draw)
    top = 2 * max(table["bias_tinker"][0] for table in tables) or None
    axes[0].set(ylabel="√((P$_{hh}$ - V/N) / P$_{mm}$)", xscale="log", ylim=(0, top))
    axes[1].set(ylabel="P$_{hm}$ / P$_{mm}$", xlabel="k [h/Mpc]", ylim=(0, top))
    return figure


FIGURES = {
    "multipoles": plot_multipoles,
    "correlation": plot_correlation,
    "bispectrum": plot_bispectrum,
    "halo_bias": plot_halo_bias,
}
