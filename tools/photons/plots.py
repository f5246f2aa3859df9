# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a run of photons-starpu, to print: power spectra, mass functions, growth, multipoles in
redshift space, correlation functions, bispectra, bias of halos, the
merger tree of the largest halo, mass accretion histories, computing time of the stages. Each is written as PNG and as PDF. Outputs differ in colour, in brightness and
in the style of their lines, so that they can be told apart in grey, too.

usage: plot.py FOLDER... [--out DIR]
       plot.py --reference FOLDER [--labels A,B,...] FOLDER... [--out DIR]
       plot.py [--components A,B,...] [--csv] FOLDER|SNAPSHOT... [--out DIR]

The figures of a folder go to its subfolder figures/. With --reference the spectra of all FOLDERs
are compared with those of another run, output by output (figure compare_power).

Of an isolated system (box.boundary = isolated) the figures are pictures face-on and edge-on,
density profile, rotation curve, Lagrangian radii, height of the disk, and energy. Of a run of gas
(run.system = gas) they are the profile beside the exact solution where there is one, slices,
conservation, and computing time. SNAPSHOT stands for one snapshot of such a system, or one file of
gas; names of its figures begin with that of the file."""

import os
from functools import partial

from . import galaxy_plots, gas_plots, statistics_plots
from .drawing import (
    NAMED_MOST, add_redshifts, label_of, mark, name_of, plain, some_of, style_of,
    tables_of,
)  # fmt: skip
from .files import Run
from .halo_plots import plot_halo_profile
from .modules import Deferred, fail, need, parser_of
from .reading import FAULTS, explain
from .power_plots import plot_growth, plot_power
from .spectra import particles_nyquist
from .tree_plots import plot_mass_history, plot_tree

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
colors = Deferred("matplotlib.colors")
os.environ["MPLBACKEND"] = "Agg"  # figures go to files, which takes no display

# neighbours in the stack are dark and light in turn
STAGE_COLOURS = ["#332288", "#cc6677", "#117733", "#ddcc77", "#aa4499", "#88ccee", "#882255"]
PARTS = [  # of a step, in the order in which they are drawn, and their columns of timings.csv
    ("P2P", ["p2p_s"]),
    ("FMM", ["p2m_s", "m2l_s", "l2l_s", "l2p_s"]),
    ("walk", ["walk_s", "walk_fill_s", "refit_s", "neighbours_s", "pack_s"]),
    ("mesh", ["pm_assign_s", "patch_add_s", "fft_yz_s", "fft_z_s", "fft_y_s", "fft_x_s", "potential_x_s",
              "fields_x_s", "ifft_yz_s", "ifft_y_s", "ifft_z_s", "pm_read_s"]),
    (
        "exchange",
        ["ghost_parts_s", "ghost_cut_s", "ghost_paste_s", "patch_cut_s", "patches_s", "pieces_s",
         "pm_cut_s", "put_s", "get_s"],
    ),
    ("rebuild, sort", ["rebuild_s", "sort_s"]),
    ("kick, drift", ["kick_s", "kick_rungs_s", "drift_s", "move_s"]),
]


# Mass functions.

FOF_THEORIES = {
    "Press-Schechter": ":",
    "Sheth-Tormen": (0, (4, 1, 1, 1)),
    "Reed 2007": "-",
    "Tinker 2008 (200m)": (0, (5, 2)),
}
SPHERE_THEORIES = {"Tinker 2008 (200c)": "-"}


def poisson_errors(counts):
    """Distances to the lower and upper limits (84 %) of the mean of a Poisson distribution.
    Gehrels 1986, ApJ 303, 336, equations 7 and 12."""
    n = np.maximum(counts, 1)
    lower = n * (1 - 1 / (9 * n) - 1 / (3 * np.sqrt(n))) ** 3
    return np.array([n - lower, 1 + np.sqrt(n + 0.75)]) * (counts > 0)


def draw_mass_function(top, bottom, table, kind, theories, place, style, theory):
    """One output: halos counted by masses of one kind, theories as thin lines, and the ratio to the
    theory with the solid line. `place` is the position of points in a bin, from -1/2 to 1/2; `style`:
    colour, marker, and entry in the legend; `theory`: whether the theories are drawn."""
    colour, marker, name = style
    some = table[f"N_{kind}"] > 0
    low, high = table["low"][some], table["high"][some]
    mass = np.sqrt(low * high) * (high / low) ** (0.5 * place)
    counts, value = table[f"N_{kind}"][some], table[kind][some]
    errors = poisson_errors(counts) * value / counts
    points = {"fmt": marker, "ms": 3.5, "color": colour, "lw": 1, "zorder": 3}
    top.errorbar(mass, value, errors, **points, label=name)
    main = next(name for name, dashes in theories.items() if dashes == "-")
    if not np.all(table[main] > 0):
        return
    for name, dashes in theories.items() if theory else ():
        centre = np.sqrt(table["low"] * table["high"])
        top.plot(centre, table[name], color=colour, ls=dashes, lw=0.7)
    expected = table[main][some]
    bottom.errorbar(mass, value / expected, errors / expected, **points)


def plot_mass_function(run):
    """dn/dlnM of halos by FoF mass and by M200c, and theory; lower panels: ratios. Points of
    several redshifts stand side by side in their bin."""
    tables = [table for table in tables_of(run.mass_function, run) if np.any(table["N_FoF"])]
    if not tables:
        return None
    figure, axes = plt.subplots(
        2, 2, sharex=True, sharey="row", figsize=(10, 6.5), height_ratios=[2, 1],
        layout="constrained",
    )  # fmt: skip
    for column, (kind, theories) in enumerate((("FoF", FOF_THEORIES), ("200c", SPHERE_THEORIES))):
        top, bottom = axes[:, column]
        for i, table in enumerate(tables):
            place = (i - (len(tables) - 1) / 2) / len(tables)
            colour, _, marker = style_of(i, len(tables))
            style = colour, marker, name_of(table.header["z"], len(tables))
            theory = i in some_of(len(tables))
            draw_mass_function(top, bottom, table, kind, theories, place, style, theory)
        for name, dashes in theories.items():
            top.plot([], [], color="black", ls=dashes, lw=0.7, label=name)
        for members in (20, 100):
            mark(top, members * tables[0].header["particle mass"], f"{members} particles")
            bottom.axvline(
                members * tables[0].header["particle mass"], color="grey", lw=0.7, ls=(0, (1, 1))
            )
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1)}
        columns = 4 if len(tables) <= NAMED_MOST else 2
        top.legend(frameon=False, fontsize="x-small", ncols=columns, **place)
        bottom.axhline(1, color="grey", lw=0.5)
        name = "FoF mass" if kind == "FoF" else "M$_{200c}$"
        main = next(name for name, dashes in theories.items() if dashes == "-")
        bottom.set(xlabel=f"{name} [Msun/h]", ylim=(0, 2), ylabel=f"ratio to\n{main}")
        bottom.yaxis.set_tick_params(labelleft=True)
    smallest = min(np.min(table["FoF"][table["N_FoF"] > 0]) for table in tables)
    axes[0, 0].set(xscale="log", yscale="log", ylabel="dn/dlnM [(Mpc/h)$^{-3}$]")
    axes[0, 0].set_ylim(bottom=smallest / 5)
    add_redshifts(figure, axes, [table.header["z"] for table in tables])
    return figure


# Timings.


def device_shares(timings, kind):
    """Busy seconds of each part of a step on cores (kind "") or GPUs (kind "gpu_"), [part, step],
    the last part being what is in no other. None if the devices did nothing."""
    names = [name for _, columns in PARTS for name in columns]
    others = [name for name in timings if name.endswith("_s") and not name.endswith("per_s")]
    others = [name.removeprefix(kind) for name in others if name.startswith("gpu_") == bool(kind)]
    others = [name for name in others if name not in names and name != "wall_s"]
    groups = [*(columns for _, columns in PARTS), others]
    zero = np.zeros_like(timings["step"])
    parts = np.array([sum((timings.get(kind + c, zero) for c in group), zero) for group in groups])
    return parts if np.any(parts > 0) else None


def draw_shares(axis, step, parts, what):
    shares = 100 * parts / np.maximum(parts.sum(axis=0), 1e-300)
    names = [name for name, _ in PARTS] + ["other"]
    used = [i for i in range(len(names)) if shares[i].max() >= 0.5]
    axis.stackplot(
        step,
        shares[used],
        labels=[names[i] for i in used],
        colors=[[*STAGE_COLOURS, "0.8"][i] for i in used],
        edgecolor="white",
        lw=0.3,
    )
    axis.set(ylabel=f"share of {what} [%]", ylim=(0, 100))
    axis.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))


def draw_rungs(figure, axis, step, rungs):
    """Particles of each rung, by colour, at the beginning of each base step."""
    shown = np.where(rungs > 0, rungs, np.nan).T
    edges = np.append(step - 0.5, step[-1] + 0.5), np.arange(rungs.shape[1] + 1) - 0.5
    norm = colors.LogNorm(1, max(np.nanmax(shown), 10))
    mesh = axis.pcolormesh(*edges, shown, norm=norm, cmap="viridis_r", rasterized=True)
    figure.colorbar(mesh, cax=axis.inset_axes([1.02, 0, 0.02, 1]), label="particles")
    axis.set(ylabel="rung", yticks=range(rungs.shape[1]))


def plot_timings(run):
    """Seconds a step; shares of the parts of a step; with block steps, particles by rung."""
    timings = run.timings()
    if timings is None or len(timings.get("step", ())) == 0:
        return None
    kinds = {"cores' busy time": "", "GPUs' busy time": "gpu_"}
    shares = {what: device_shares(timings, kind) for what, kind in kinds.items()}
    shares = {what: parts for what, parts in shares.items() if parts is not None}
    rungs = timings.get("rung_particles")
    block = rungs is not None and rungs.shape[1] > 1
    panels = 1 + len(shares) + block
    figure, axes = plt.subplots(
        panels, 1, sharex=True, squeeze=False, figsize=(8, 1 + 2.3 * panels), layout="constrained"
    )
    axes, step = list(axes[:, 0]), timings["step"]
    axes[0].plot(step, timings["wall_s"], "k-", lw=1)
    axes[0].set(ylabel="seconds a step", ylim=(0, None))
    for axis, (what, parts) in zip(axes[1:], shares.items()):
        draw_shares(axis, step, parts, what)
    if block:
        draw_rungs(figure, axes[-1], step, rungs)
    axes[-1].set_xlabel("base step" if block else "step")
    axes[0].margins(x=0)
    return figure


# Comparison of runs.


def plot_comparison(runs, labels, reference):
    """Residuals of P(k) against another run with the same initial conditions, output by output."""
    numbers = [n for n in reference.numbers if reference.power(n) is not None]
    if not numbers:
        raise ValueError(f"{reference.folder} has no powerspec_*.txt to compare with")
    figure, axes = plt.subplots(
        len(numbers), 1, sharex=True, squeeze=False, figsize=(7, 2 + 2.2 * len(numbers)),
        layout="constrained",
    )  # fmt: skip
    for axis, number in zip(axes[:, 0], numbers):
        expected = reference.power(number)
        for i, (run, label) in enumerate(zip(runs, labels)):
            power = run.power(number) if number in run.numbers else None
            if power is None or len(power["k"]) != len(expected["k"]):
                continue
            colour, dashes, _ = style_of(i, len(runs))
            residual = 100 * (power["P"] / expected["P"] - 1)
            axis.semilogx(power["k"], residual, color=colour, ls=dashes, label=plain(label))
        for share, dashes in ((0.5, ":"), (1.0, "--")):
            k = share * particles_nyquist(expected)
            axis.axvline(k, color="grey", ls=dashes, lw=0.8)
        axis.axhline(0, color="grey", lw=0.5)
        axis.set(ylabel="ΔP/P [%]", ylim=(-2, 2), title=label_of(expected.header["z"]))
    axes[0, 0].legend(frameon=False, fontsize="small")
    axes[-1, 0].set_xlabel("k [h/Mpc]; lines: half the particles' Nyquist frequency, and all of it")
    return figure


FIGURES = {
    "power": plot_power,
    "mass_function": plot_mass_function,
    "growth": plot_growth,
    "halo_profile": plot_halo_profile,
    **statistics_plots.FIGURES,
    "tree": plot_tree,
    "mass_history": plot_mass_history,
    "timings": plot_timings,
}


def save(figure, out, name):
    """Write a figure as PNG and PDF, and return the path of the PNG."""
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"{name}.png")
    figure.savefig(path, dpi=150)
    figure.savefig(os.path.join(out, f"{name}.pdf"))
    plt.close(figure)
    return path


def evolution_of(run, components=None):
    """What the figures of an isolated run, or of one of gas, show; None for other runs.

    components -- names of those in pictures; None: all but the halo"""
    if run.gas:
        return gas_plots.Outputs(run.gas_files, run.timings(), run.statistics())
    if not run.isolated:
        return None
    return galaxy_plots.Evolution(run.snapshots, run.energy(), components, run.galaxies())


def figures_of(run, evolution):
    """The figures that a run of its kind may have: {name: a function without arguments that draws
    the figure, or returns None where the run has no data for it}.

    evolution -- evolution_of(run)"""
    if evolution is None:
        return {name: partial(draw, run) for name, draw in FIGURES.items()}
    if run.gas:
        return gas_plots.figures_of(evolution)
    return {**galaxy_plots.figures_of(evolution), "timings": partial(plot_timings, run)}


def save_figures(figures, out, start=""):
    """Draw and write the figures that there are data for; returns {name: path of the PNG}.

    figures -- {name: function}; start -- of the names of the files"""
    drawn = ((name, draw()) for name, draw in figures.items())
    return {name: save(figure, out, start + name) for name, figure in drawn if figure is not None}


def make_figures(folder, out=None, wanted=None):
    """Draw the wanted figures, all by default, that the folder has data for, as PNG and PDF;
    returns {name: path of the PNG}."""
    run = Run(folder)
    figures = figures_of(run, evolution_of(run))
    wanted = figures if wanted is None else wanted
    out = out or os.path.join(folder, "figures")
    return save_figures({name: figures[name] for name in wanted}, out)


def compare(options):
    runs = [Run(folder) for folder in options.folders]
    labels = options.labels.split(",") if options.labels else options.folders
    figure = plot_comparison(runs, labels, Run(options.reference))
    return save(figure, options.out or os.path.join(options.reference, "figures"), "compare_power")


PRODUCTS = "powerspec_*.txt, massfunc_*.txt or log/timings.csv"
GAS_PRODUCTS = "gas_*.hdf5, log/statistics.csv or log/timings.csv"
ISOLATED_PRODUCTS = "snapshot_*.hdf5, log/energy.csv or log/timings.csv"


def draw_folder(folder, options):
    """Draw a run; returns the paths of figures and tables."""
    run, out = Run(folder), options.out or os.path.join(folder, "figures")
    evolution = evolution_of(run, options.components)
    if options.components and not run.isolated or options.csv and evolution is None:
        raise ValueError(
            f"{folder} is not a run with box.boundary = isolated, which --components and --csv need"
        )
    paths = list(save_figures(figures_of(run, evolution), out).values())
    if not paths:
        products = GAS_PRODUCTS if run.gas else ISOLATED_PRODUCTS if run.isolated else PRODUCTS
        raise ValueError(f"{folder} holds nothing to draw: no {products}")
    module = gas_plots if run.gas else galaxy_plots
    return paths + (module.write_tables(evolution, out) if options.csv else [])


def draw_snapshot(path, options):
    """Draw one snapshot of an isolated system, or one file of gas; returns the paths of figures and
    tables."""
    if os.path.basename(path).startswith("gas_"):
        module, evolution = gas_plots, gas_plots.Outputs([path])
    else:
        module = galaxy_plots
        evolution = galaxy_plots.Evolution([path], components=options.components)
    out = options.out or os.path.join(os.path.dirname(path), "figures")
    start = os.path.basename(path).split(".")[0] + "_"  # snapshot_003_ of snapshot_003.0.hdf5
    paths = list(save_figures(module.figures_of(evolution), out, start).values())
    return paths + (module.write_tables(evolution, out, start) if options.csv else [])


def draw(options):
    if options.reference:
        return [compare(options)]
    paths = []
    for path in options.folders:
        one = os.path.isfile(path) or os.path.isfile(f"{path}.0.hdf5")
        paths += draw_snapshot(path, options) if one else draw_folder(path, options)
    return paths


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER|SNAPSHOT")
    parser.add_argument("--out", help="folder for the figures")
    parser.add_argument(
        "--reference", metavar="FOLDER", help="compare the spectra with those of this run"
    )
    parser.add_argument(
        "--labels", help="names of the FOLDERs in the comparison, separated by commas"
    )
    parser.add_argument(
        "--components",
        metavar="A,B,...",
        type=lambda text: text.split(","),
        help="of an isolated system that pictures show: gas, halo, disk, bulge, stars (default: all"
        " but the halo)",
    )
    parser.add_argument(
        "--csv",
        action="store_true",
        help="write the numbers of the figures of isolated systems and gas, too",
    )
    options = parser.parse_args()
    need("h5py", "matplotlib", "numpy")
    try:
        print("\n".join(draw(options)))
    except FAULTS as error:
        fail(explain(error))
