# SPDX-License-Identifier: GPL-3.0-or-later
"""A pair of runs whose initial waves have fixed amplitudes and opposite phases (Angulo & Pontzen 2016, MNRAS
462, L1), and the mean of both: the second order in the waves cancels in it, and with it most of the
cosmic variance of P(k) at long waves.

usage: pairs.py CONFIG [--set SECTION.KEY=VALUE]... [--program PROGRAM] [--ranks N]

The runs are in the folders plus/ and minus/ of output.dir, with ic.fixed = yes, and minus/ with
ic.paired = yes. powerspec_NNN.txt in output.dir is the mean of both spectra, and massfunc_NNN.txt that of both
mass functions, with the halos of both counted: tools/plot.py and tools/report.py take the folder for a run. A run
that has ended is not repeated when the command is given again; one that has not begins anew."""

import os

from .ensemble import add_options, finish, settings_of, text_table, write_table
from .launch import RunFailed, output_folder
from .modules import Deferred, fail, need, parser_of
from .reading import FAULTS, explain

np = Deferred("numpy")

MEAN = "# mean of the runs in plus/ and minus/, whose initial phases are opposite\n"


def mean_power(pair, number):
    """The mean of both spectra, with the other columns of the first: comments and rows; None without them."""
    tables = [text_table(run, "powerspec", number) for run in pair]
    if None in tables:
        return None
    (comments, rows), (_, others) = tables
    rows[:, 1] = (rows[:, 1] + others[:, 1]) / 2
    return [MEAN, *comments], rows


def padded(rows, others):
    """Rows of all bins of mass that either table has: no halos where this one has no bin."""
    if len(rows) >= len(others):
        return rows
    more = others[len(rows):].copy()
    more[:, 2:8] = 0
    return np.concatenate([rows, more]) if len(rows) else more


def mean_mass_function(pair, number):
    """The mean of dn/dlnM with the halos of both runs: comments and rows, and the number of halos in each
    run; None without them."""
    tables = [text_table(run, "massfunc", number) for run in pair]
    if None in tables:
        return None
    (comments, plus), (_, minus) = tables
    halos = [int(rows[:, 2].sum()) if len(rows) else 0 for rows in (plus, minus)]
    plus, minus = padded(plus, minus), padded(minus, plus)
    rows = plus.copy()
    for counts, density, error in ((2, 3, 4), (5, 6, 7)) if len(rows) else ():
        rows[:, counts] += minus[:, counts]
        rows[:, density] = (plus[:, density] + minus[:, density]) / 2
        rows[:, error] = np.hypot(plus[:, error], minus[:, error]) / 2
    return [MEAN, *comments], rows, halos


def run_pair(options):
    """Run both, and write the means; returns the lines to print."""
    settings = {**settings_of(options.set), "ic.fixed": "yes"}
    folder = output_folder(options.config, settings, options.program)
    pair = [
        finish(options.config, {**settings, "ic.paired": paired}, os.path.join(folder, name), options)
        for name, paired in (("plus", "no"), ("minus", "yes"))
    ]
    lines = []
    for number in pair[0].numbers:
        power, counted = mean_power(pair, number), mean_mass_function(pair, number)
        if power:
            write_table(os.path.join(folder, f"powerspec_{number:03d}.txt"), *power)
        if counted:
            write_table(os.path.join(folder, f"massfunc_{number:03d}.txt"), *counted[:2])
            plus, minus = counted[2]
            z = max(pair[0].redshift(number), 0.0)
            lines.append(f"z = {z:.4g}: {plus} halos in plus/, {minus} in minus/")
    return [*lines, f"the means are in {folder}"]


def main():
    parser = parser_of(__doc__)
    add_options(parser)
    options = parser.parse_args()
    need("h5py", "numpy")
    try:
        print("\n".join(run_pair(options)))
    except RunFailed as error:
        fail(error)
    except FAULTS as error:
        fail(explain(error))
