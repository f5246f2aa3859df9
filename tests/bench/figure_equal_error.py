#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Codes at equal error: how far P(k) from half the particles' Nyquist wave number to all of it is
from that of each code's own shortest steps, over the time to solution. Draws the figure, and prints
its table.

usage: figure_equal_error.py TABLE.csv --out FIGURE.png

The columns of the table, a row for each setting of a code:

  code, setting, seconds   from the command to its end; empty: not measured, and not drawn
  spectrum, reference      files powerspec_NNN.txt, or patterns of as many files, one for each seed,
                           in the same order; relative to the table's folder
  difference, error        in their place: the mean over seeds of P(k) over the reference's, less 1,
                           and its standard error

Each mode counts once. A single seed has the error of two runs of equal quality, whose P(k) differ
by 0.003 there in boxes of 64^3. Error 0: the setting is the reference itself. Needs matplotlib.
"""
import argparse
import csv
import glob
import math
import pathlib
import statistics
import sys

from bench_step_accuracy import mean_difference

BAND = (0.5, 1.0)  # of k_N
ONE_SEED = 3e-3
GOAL = 1e-3
MARKS = "osD^v"


def read_spectrum(name):
    """[(k/k_N, P, modes)]. k_N follows from the shot noise V/N of the fourth column."""
    lines = pathlib.Path(name).read_text(encoding="utf-8").splitlines()
    rows = [[float(word) for word in line.split()] for line in lines if line and line[0] != "#"]
    return [(row[0] * row[3]**(1 / 3) / math.pi, row[1], row[2]) for row in rows]


def spectra(folder, pattern):
    found = sorted(glob.glob(str(folder / pattern)))
    if not found:
        sys.exit(f"{folder / pattern}: expected files, found none")
    return [read_spectrum(name) for name in found]


def difference(row, folder):
    """Mean and error."""
    if row["difference"]:
        return float(row["difference"]), float(row["error"])
    own, reference = (spectra(folder, row[column]) for column in ("spectrum", "reference"))
    if len(own) != len(reference):
        sys.exit(f"{row['spectrum']}: {len(own)} spectra, but {len(reference)} references")
    values = [mean_difference(*pair, BAND) for pair in zip(own, reference)]
    if len(values) == 1:
        return values[0], ONE_SEED
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


def read_table(path):
    """[(code, setting, seconds or None, difference, error)]"""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [(row["code"], row["setting"], float(row["seconds"]) if row["seconds"] else None,
             *difference(row, path.parent)) for row in rows]


def print_table(rows):
    print("| code | setting | seconds | P(k) over that of its shortest steps, less 1 |")
    print("| --- | --- | --- | --- |")
    for code, setting, seconds, value, error in rows:
        time = "" if seconds is None else f"{seconds:.0f}"
        print(f"| {code} | {setting} | {time} | {value:+.1e} ± {error:.0e} |")


def draw(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.axhspan(-GOAL, GOAL, color="0.92")
    axes.axhline(0, color="0.5", linewidth=0.8)
    for code, mark in zip(dict.fromkeys(row[0] for row in rows), MARKS):
        own = [row[1:] for row in rows if row[0] == code and row[2] is not None]
        _, seconds, values, errors = zip(*own) if own else ((), (), (), ())
        axes.errorbar(seconds, values, errors, fmt=mark + "-", capsize=3, label=code)
        for setting, x, y, _ in own:
            axes.annotate(setting, (x, y), textcoords="offset points", xytext=(6, -16))
    axes.margins(x=0.35)
    axes.set(xscale="log", xlabel="time to solution [s]",
             ylabel=r"$P/P_\mathrm{shortest\ steps}-1$, 0.5 to 1 $k_\mathrm{N}$")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description="Codes at equal error of P(k).")
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--out", required=True, help="the figure")
    options = parser.parse_args()
    rows = read_table(options.table)
    print_table(rows)
    draw(rows, options.out)


if __name__ == "__main__":
    main()
