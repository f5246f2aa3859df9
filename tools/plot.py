#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a run of photons-starpu: power spectra with their residuals, mass functions, growth,
computing time of the stages.

usage: plot.py FOLDER [--out DIR] [--format png|pdf] [--reference FOLDER] [--labels A,B,...]
               [FOLDER...]
The figures of a folder go to its subfolder figures/. With --reference the spectra of all FOLDERs
are compared with those of another run, output by output (figure compare_power)."""

import argparse
import os
import sys

import photons
from needed_modules import Deferred, need

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
os.environ["MPLBACKEND"] = "Agg"  # figures go to files, which takes no display

COLOURS = ["#332288", "#cc6677", "#117733", "#ddcc77", "#88ccee", "#aa4499", "#44aa99", "#882255"]
PARTS = [  # of a step, in the order in which they are drawn, and their columns of timings.csv
    ("P2P", ["p2p_s"]),
    ("FMM", ["p2m_s", "m2m_s", "m2l_s", "l2l_s", "l2p_s"]),
    ("walk", ["walk_s", "walk_fill_s", "refit_s"]),
    ("mesh", ["pm_assign_s", "patch_add_s", "fft_yz_s", "fft_x_s", "ifft_yz_s", "pm_read_s"]),
    ("exchange", ["ghost_cut_s", "ghost_paste_s", "patch_cut_s", "pm_cut_s", "put_s", "get_s"]),
    ("rebuild, sort", ["rebuild_s", "sort_s"]),
    ("kick, drift", ["kick_s", "drift_s"]),
]


def label_of(z):
    return f"z = {z:.2f}".rstrip("0").rstrip(".")


def two_panels(height=6.0):
    figure, axes = plt.subplots(
        2, 1, sharex=True, figsize=(7, height), height_ratios=[2, 1], layout="constrained"
    )
    return figure, axes


def plot_power(run):
    """P(k) minus shot noise of all outputs, with linear theory and HALOFIT; lower panel: ratio to
    HALOFIT."""
    figure, (top, bottom) = two_panels()
    drawn = False
    for i, number in enumerate(run.numbers):
        power = run.power(number)
        if power is None or len(power["k"]) == 0:
            continue
        colour, k = COLOURS[i % len(COLOURS)], power["k"]
        signal, error = power["P"] - power["P_shot"], power["P"] / np.sqrt(power["modes"])
        good = signal > 0.1 * power["P_shot"]
        top.loglog(k[good], signal[good], color=colour, label=label_of(power.header["z"]))
        if np.all(power["P_halofit"] > 0):
            top.loglog(k, power["P_linear"], color=colour, ls=":", lw=0.8)
            top.loglog(k, power["P_halofit"], color=colour, ls="--", lw=0.8)
            ratio, width = signal / power["P_halofit"], error / power["P_halofit"]
            bottom.semilogx(k[good], ratio[good], color=colour)
            bottom.fill_between(
                k[good], (ratio - width)[good], (ratio + width)[good], color=colour, alpha=0.2, lw=0
            )
        drawn = True
    if not drawn:
        plt.close(figure)
        return None
    top.set_ylabel("P(k) − shot noise [(Mpc/h)³]")
    top.plot([], [], "k:", lw=0.8, label="linear")
    top.plot([], [], "k--", lw=0.8, label="HALOFIT (Takahashi et al. 2012)")
    top.legend(frameon=False)
    bottom.axhline(1, color="grey", lw=0.5)
    bottom.set(xlabel="k [h/Mpc]", ylabel="P / HALOFIT", ylim=(0.5, 1.5))
    return figure


def plot_mass_function(run):
    """dn/dlnM of FoF halos with Poisson errors, and theory; lower panel: ratio to Reed 2007."""
    figure, (top, bottom) = two_panels()
    drawn = False
    styles = {
        "Press-Schechter": ":",
        "Sheth-Tormen": "-.",
        "Reed 2007": "-",
        "Tinker 2008 (200m)": "--",
    }
    for i, number in enumerate(run.numbers):
        table = run.mass_function(number)
        if table is None or not np.any(table["N_FoF"]):
            continue
        colour, mass = COLOURS[i % len(COLOURS)], np.sqrt(table["low"] * table["high"])
        some = table["N_FoF"] > 0
        top.errorbar(
            mass[some],
            table["FoF"][some],
            table["FoF_error"][some],
            fmt="o",
            ms=3,
            color=colour,
            label=label_of(table.header["z"]),
        )
        for name, style in styles.items():
            top.plot(mass, table[name], style, color=colour, lw=0.8)
        with np.errstate(divide="ignore", invalid="ignore"):
            bottom.errorbar(
                mass[some],
                (table["FoF"] / table["Reed 2007"])[some],
                (table["FoF_error"] / table["Reed 2007"])[some],
                fmt="o",
                ms=3,
                color=colour,
            )
        drawn = True
    if not drawn:
        plt.close(figure)
        return None
    for name, style in styles.items():
        top.plot([], [], style, color="black", lw=0.8, label=name)
    top.set(xscale="log", yscale="log", ylabel="dn/dlnM [(Mpc/h)$^{-3}$]")
    top.legend(frameon=False, fontsize="small")
    bottom.axhline(1, color="grey", lw=0.5)
    bottom.set(xlabel="M [Msun/h]", ylabel="FoF / Reed 2007", ylim=(0, 2))
    return figure


def plot_growth(run):
    """Power of the lowest modes over linear theory, and the growth factor, against a."""
    rows = [
        (power.header["a"], power.header["D1"], power)
        for power in map(run.power, run.numbers)
        if power is not None
    ]
    rows = [row for row in rows if len(row[2]["k"]) and np.all(row[2]["P_linear"] > 0)]
    if len(rows) < 2:
        return None
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    a, growth = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    axis.plot(a, growth, "o-", color=COLOURS[0], label="linear growth D1")
    last = rows[-1][2]
    for i in range(min(3, len(last["k"]))):
        measured = np.array([np.sqrt(max(row[2]["P"][i] - row[2]["P_shot"][i], 0)) for row in rows])
        axis.plot(
            a,
            measured / measured[0] * growth[0],
            "x",
            color=COLOURS[i + 1],
            label=f"modes at k = {last['k'][i]:.3f} h/Mpc, from the first output on",
        )
    axis.set(xlabel="a", ylabel="growth")
    axis.legend(frameon=False, fontsize="small")
    return figure


def plot_timings(run):
    """Busy time of the stages in each step, stacked, and wall-clock time."""
    timings = run.timings()
    if timings is None or len(timings["step"]) == 0:
        return None
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    parts = [
        (
            name,
            sum(
                timings[kind + column]
                for column in columns
                for kind in ("", "gpu_")
                if kind + column in timings
            ),
        )
        for name, columns in PARTS
    ]
    axis.stackplot(
        timings["step"],
        *[part for _, part in parts],
        labels=[name for name, _ in parts],
        colors=COLOURS,
    )
    axis.plot(timings["step"], timings["wall_s"], "k-", lw=1, label="wall clock")
    axis.set(xlabel="step", ylabel="seconds, summed over cores and GPUs", ylim=(0, None))
    axis.margins(x=0)
    axis.legend(frameon=False, fontsize="small")
    return figure


def plot_comparison(runs, labels, reference):
    """Residuals of P(k) against another run with the same initial conditions, output by output."""
    numbers = [n for n in reference.numbers if reference.power(n) is not None]
    figure, axes = plt.subplots(
        len(numbers),
        1,
        sharex=True,
        squeeze=False,
        figsize=(7, 2 + 2.2 * len(numbers)),
        layout="constrained",
    )
    for axis, number in zip(axes[:, 0], numbers):
        expected = reference.power(number)
        for i, (run, label) in enumerate(zip(runs, labels)):
            power = run.power(number)
            if power is None or len(power["k"]) != len(expected["k"]):
                continue
            axis.semilogx(
                power["k"],
                100 * (power["P"] / expected["P"] - 1),
                color=COLOURS[i % len(COLOURS)],
                label=label,
            )
        nyquist = np.pi * np.cbrt(expected.header["N"]) / expected.header["box"]
        for share, style in ((0.5, ":"), (1.0, "--")):
            axis.axvline(share * nyquist, color="grey", ls=style, lw=0.8)
        axis.axhline(0, color="grey", lw=0.5)
        axis.set(ylabel="ΔP/P [%]", ylim=(-2, 2), title=label_of(expected.header["z"]))
    axes[0, 0].legend(frameon=False, fontsize="small")
    axes[-1, 0].set_xlabel("k [h/Mpc]; lines: half the particles' Nyquist frequency, and all of it")
    return figure


FIGURES = {
    "power": plot_power,
    "mass_function": plot_mass_function,
    "growth": plot_growth,
    "timings": plot_timings,
}


def make_figures(folder, out=None, ending="png"):
    """Draw all figures that the folder has data for; returns {name: path}."""
    run, out, paths = photons.Run(folder), out or os.path.join(folder, "figures"), {}
    os.makedirs(out, exist_ok=True)
    for name, function in FIGURES.items():
        figure = function(run)
        if figure is None:
            continue
        paths[name] = os.path.join(out, f"{name}.{ending}")
        figure.savefig(paths[name], dpi=150)
        plt.close(figure)
    return paths


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--out", help="folder for the figures")
    parser.add_argument("--format", default="png", choices=["png", "pdf"])
    parser.add_argument(
        "--reference", metavar="FOLDER", help="compare the spectra with those of this run"
    )
    parser.add_argument(
        "--labels", help="names of the FOLDERs in the comparison, separated by commas"
    )
    options = parser.parse_args()
    need("h5py", "matplotlib", "numpy")
    if options.reference:
        out = options.out or os.path.join(options.reference, "figures")
        os.makedirs(out, exist_ok=True)
        labels = options.labels.split(",") if options.labels else options.folders
        figure = plot_comparison(
            [photons.Run(folder) for folder in options.folders],
            labels,
            photons.Run(options.reference),
        )
        path = os.path.join(out, f"compare_power.{options.format}")
        figure.savefig(path, dpi=150)
        print(path)
        return
    for folder in options.folders:
        paths = make_figures(folder, options.out, options.format)
        if not paths:
            sys.exit(
                f"plot.py: {folder} holds nothing to draw: no powerspec_*.txt, massfunc_*.txt or"
                " log/timings.csv"
            )
        print("\n".join(paths.values()))


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"plot.py: {error}")
