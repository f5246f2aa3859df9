# SPDX-License-Identifier: GPL-3.0-or-later
"""Scale-free universes: Einstein-de Sitter with a linear spectrum k^n. They have no length but that where waves
become nonlinear, 1/k_NL, so that all statistics at one time are those at another time in units of k_NL
(Joyce, Garrison & Eisenstein 2021, MNRAS 501, 5051; Maleubre et al. 2022, MNRAS 512, 1829). What differs
comes from the particles' distance, softening, steps, or the box: it is an error that needs no other
program to be seen.

usage: scale_free.py CONFIG [--index N,N,...] [--side N] [--outputs N] [--factor F] [--fewest N] [--seconds S]
                     [--coarser N] [--set SECTION.KEY=VALUE]... [--program PROGRAM] [--ranks N]

CONFIG is params/scale_free.ini or one like it; index, side, amplitude, first redshift, ic.lattice_growth and
outputs are set here. Lengths are in units of the particles' distance, 1 Mpc/h. The rms of linear theory in spheres of half the box
is 0.25 at the last output, and at the start 0.04 in spheres of one particle. From output to output k_NL
falls by F. The runs are in folders n-1.5, n-2 ... of output.dir; one that has ended is not repeated. After S
seconds no run begins. Waves grow as in a fluid by the
time when the rms in spheres of one particle is 0.5 in linear theory. Tables of all outputs in self-similar variables are in selfsimilar_power.csv,
selfsimilar_correlation.csv, selfsimilar_friends.csv and selfsimilar_m200.csv of each folder, and a figure where there is matplotlib.

Printed is how far one output is from the next one, whose resolution is F times better, at equal k/k_NL, r k_NL or
M/M_NL: the rms over bins and outputs in bands of k/k_N (the particles' Nyquist wave number), r and particles of
the earlier output. Power beyond k_N is less shot noise. Mass functions are n(>M) M, of friends of friends and of M200,
for which mean density and critical density are the same here.

With --coarser N each index has a run of N particles a side, too, in the same number of nonlinear lengths with the same
waves, and printed is how far its outputs are from those of the run of --side: what differs comes from the particles'
distance, softening and steps alone, and neither from the box nor from chance. Needs no module but for the
figures."""

import bisect
import csv
import math
import os
import re
import time

from .ensemble import add_options, finish, settings_of
from .launch import RunFailed, output_folder
from .modules import Deferred, can_import, fail, parser_of
from .reading import FAULTS, explain

plt = Deferred("matplotlib.pyplot")
ticker = Deferred("matplotlib.ticker")
os.environ["MPLBACKEND"] = "Agg"  # figures go to files, which takes no display

LAST_RMS, LAST_PART = 0.25, 0.5  # linear rms at the end, in spheres of this part of the box
FIRST_RMS = 0.04  # linear rms at the start, in spheres of the volume of one particle
LATTICE_RMS = 0.5  # the same where waves on the grid of particles have grown as in a fluid
FIRST_RADIUS = (3 / (4 * math.pi)) ** (1 / 3)
SIGMA8_RADIUS = 8.0
FEWEST = 100  # modes, cells and halos in a bin
SHOT = 5  # P must be so many times V/N beyond k_N,
GRID_GONE = 0.5  # and k_NL below this part of k_N


class Statistic:
    """One function of scale that should not depend on time.

    points -- function of the run, the output's number and whether it is compared with one of other particles with the same
              waves (same_box): scale in `unit`, value and number in the bin, of all bins
    power  -- scale in lengths times k_NL to this power is the self-similar scale
    degree -- of the polynomials in logarithms between points
    bands  -- edges in `unit`"""

    def __init__(self, name, points, power, degree, bands, unit):
        self.name, self.points, self.power, self.degree = name, points, power, degree
        self.bands, self.unit = bands, unit


def power_points(run, number, same_box):
    """k/k_N, Delta^2, modes. Beyond k_N what is left of the grid of particles has as much power, until structures of
    several particles have formed."""
    for k, power, modes, shot, *_ in run.rows("powerspec", number):
        if k > math.pi:
            power -= shot
            if power < SHOT * shot or run.k_nl[number] > GRID_GONE * math.pi:
                continue
        yield k / math.pi, k**3 * power / (2 * math.pi**2), modes


def correlation_points(run, number, same_box):
    """r in particles' distances, xi, and cells. The program's xi is that of P(k) exp(-(k s)^2), where s is a part of a cell: the
    same in both runs of a box, and otherwise undone. Where xi is small the box has too few waves."""
    rows = [row for row in run.rows("correlation", number) if row[1] > SMALLEST_XI / 2]
    if not rows:
        return
    s = smoothing_of(run.path("correlation", number))
    for before, (r, xi, cells, *_), after in zip(rows, rows[1:], rows[2:]):
        slope = math.log(before[1] / after[1]) / math.log(after[0] / before[0])
        if xi > SMALLEST_XI and same_box and 2 * s < r < run.side / 4:
            yield r, xi, cells
        elif xi > SMALLEST_XI and not same_box and 6 * s < r < run.side / 16:
            yield r, xi * sharpened(slope, (s / r) ** 2), cells


def smoothing_of(path):
    """s [Mpc/h] of a table of the correlation function of P(k) exp(-(k s)^2), from its comments."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.fullmatch(r"#.*exp\(-\(k s\)\^2\), s = (\S+) Mpc/h\n", line)
            if found:
                return float(found[1])
    raise ValueError(f"{path}: no length of smoothing; expected a comment that ends with: exp(-(k s)^2), s = ... Mpc/h")


def sharpened(slope, ratio):
    """A power law r^-slope over what is left of it after a smoothing by s, to fourth order in it; ratio: (s/r)^2."""
    second = slope * (slope - 1) * ratio
    return 1 - second * (1 - (slope + 2) * (slope + 1) * ratio / 2)


def mass_points(run, number, column):
    """Least particles of a halo, those in so many halos of as many over all particles, and halos."""
    halos = 0
    for row in reversed(run.rows("massfunc", number)):
        halos += row[column]
        particles = row[0] / PARTICLE_MASS
        yield particles, particles * halos / run.side**3, halos


def friends_points(run, number, same_box):
    return mass_points(run, number, 2)


def m200_points(run, number, same_box):
    return mass_points(run, number, 5)


PARTICLE_MASS = 2.77536627e11  # Msun/h in (Mpc/h)^3 with Omega_m = 1
SMALLEST_XI = 0.1
PARTICLES = (50, 100, 300, 1000, 10000)
POWER = Statistic("power", power_points, -1, 1, (0.1, 0.25, 0.5, 1.0, 2.0), "k/k_N")
STATISTICS = (
    POWER,
    Statistic("correlation", correlation_points, 1, 2, (0.75, 1.5, 2.25, 3.0, 6.0, 12.0), "r/spacing"),
    Statistic("friends", friends_points, 3, 2, PARTICLES, "particles"),
    Statistic("m200", m200_points, 3, 2, PARTICLES, "particles"),
)

TITLES = {"power": "P(k)", "correlation": "correlation function", "friends": "friends of friends", "m200": "M200"}


def plan(index, side, outputs, factor, mesh):
    """The parameters of a run, in units of the particles' distance. The mesh is that of the correlation function."""
    slope = (index + 3) / 2  # the rms in spheres falls as their radius to this power
    last = LAST_PART * side
    start = FIRST_RMS / (LAST_RMS * (last / FIRST_RADIUS) ** slope)
    times = [factor ** (-slope * i) for i in reversed(range(outputs))]
    if start > times[0] / 2:
        raise ValueError(
            f"index {index:g}, {side}^3 particles: the first of {outputs} outputs would be at a = {times[0]:.3g},"
            f" less than twice that of the start, {start:.3g}; expected fewer outputs or a smaller factor"
        )
    growth = LATTICE_RMS / FIRST_RMS
    if start * growth > 1:
        raise ValueError(
            f"index {index:g}, {side}^3 particles: waves grow by {1 / start:.3g}, less than the {growth:g} in which those"
            " on a grid come to linear theory; expected more particles or a larger index"
        )
    return {
        "cosmology.n_s": f"{index:g}",
        "cosmology.sigma8": f"{LAST_RMS * (last / SIGMA8_RADIUS) ** slope:.9g}",
        "box.size": str(side),
        "box.npart_side": str(side),
        "ic.z_init": f"{1 / start - 1:.9g}",
        "ic.lattice_growth": f"{growth:g}",
        "output.scale_factors": ", ".join(f"{a:.9g}" for a in times),
        "analysis.statistics_mesh": str(mesh),
    }


def refuse_planned(settings):
    """Tables are read as those of the index, particles and outputs that options say."""
    for key, option in (
        ("cosmology.n_s", "--index"),
        ("box.size", "--side"),
        ("box.npart_side", "--side"),
        ("output.scale_factors", "--outputs and --factor"),
    ):
        if key in settings:
            raise ValueError(f"--set {key}={settings[key]}: expected {option}, by which it is set")


def rows_of(path):
    """The rows of a text table as numbers."""
    with open(path, encoding="utf-8") as file:
        return [[float(word) for word in line.split()] for line in file if line[0] != "#"]


class Outputs:
    """The outputs of a run that has ended."""

    def __init__(self, folder, index, side, times, fewest):
        self.folder, self.index, self.side, self.times, self.fewest = folder, index, side, times, fewest
        self.k_nl = [self.nonlinear_wave_number(number) for number in range(len(times))]

    def path(self, stem, number):
        return os.path.join(self.folder, f"{stem}_{number:03d}.txt")

    def rows(self, stem, number):
        path = self.path(stem, number)
        return rows_of(path) if os.path.exists(path) else []

    def nonlinear_wave_number(self, number):
        """k_NL [h/Mpc], where linear theory's Delta^2 is 1, from the column of linear theory."""
        row = rows_of(self.path("powerspec", number))[0]
        k, linear = row[0], row[4]
        return k * (k**3 * linear / (2 * math.pi**2)) ** (-1 / (self.index + 3))

    def curve(self, statistic, number, same_box=False):
        """Points of an output: scale in the statistic's unit, self-similar scale, value.

        same_box -- the output is compared with one of other particles with the same waves"""
        points = statistic.points(self, number, same_box)
        some = sorted((x, y) for x, y, count in points if y > 0 and count >= self.fewest)
        return [(x, x * self.k_nl[number] ** statistic.power, y) for x, y in some]


def at(points, scale, degree):
    """The value of a curve at a self-similar scale by a polynomial in logarithms through the points on both sides and the
    nearest others; None outside."""
    if len(points) <= degree or not points[0][1] * (1 - ROUNDING) <= scale <= points[-1][1] * (1 + ROUNDING):
        return None
    after = min(max(bisect.bisect([point[1] for point in points], scale), 1), len(points) - 1)
    others = points[: after - 1] + points[after + 1 :]
    others.sort(key=lambda point: abs(math.log(point[1] / scale)))
    near = [(math.log(x / scale), math.log(y)) for _, x, y in points[after - 1 : after + 1] + others[: degree - 1]]
    logarithm = 0.0
    for i, (x, y) in enumerate(near):
        logarithm += y * math.prod(u / (u - x) for j, (u, _) in enumerate(near) if j != i)
    return math.exp(logarithm)


ROUNDING = 1e-9


def distances(run, number, finer, finer_number, statistic, same_box=False):
    """Scale, and value over that of the finer output less 1, of all points that this one has, too."""
    later = finer.curve(statistic, finer_number, same_box)
    return [
        (x, y / value - 1)
        for x, scale, y in run.curve(statistic, number, same_box)
        for value in [at(later, scale, statistic.degree)]
        if value
    ]


def in_bands(found, bands):
    """For each band: rms and mean of the distances, and their number; None where there are none."""
    result = []
    for low, high in zip(bands, bands[1:]):
        inside = [d for x, d in found if low <= x < high]
        if inside:
            mean = sum(inside) / len(inside)
            rms = math.sqrt(sum(d * d for d in inside) / len(inside))
            result.append((rms, mean, len(inside)))
        else:
            result.append(None)
    return result


def write_curves(path, statistic, curves, times):
    """All points of all outputs, as csv. The file appears whole."""
    with open(path + ".tmp", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["a", statistic.unit, "selfsimilar_scale", "value"])
        for a, points in zip(times, curves):
            writer.writerows([a, *(f"{number:.7g}" for number in point)] for point in points)
    os.replace(path + ".tmp", path)


def plot(path, curves_of, times):
    """Each statistic of all outputs over its self-similar scale."""
    figure, axes = plt.subplots(1, len(curves_of), figsize=(15, 4.5), layout="constrained")
    for axis, (statistic, curves) in zip(axes, curves_of.items()):
        for a, points in zip(times, curves):
            axis.loglog([p[1] for p in points], [p[2] for p in points], ".-", ms=3, label=f"a = {float(a):.3g}")
        scale = {-1: "k/k_NL", 1: "r k_NL", 3: "M/M_NL"}[statistic.power]
        axis.set(xlabel=scale, title=TITLES[statistic.name])
    axes[0].legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def lines_of(statistic, found_at):
    """What to print of a statistic, by its distances."""
    for band, found in zip(zip(statistic.bands, statistic.bands[1:]), in_bands(found_at, statistic.bands)):
        where = f"  {statistic.name.replace('_', ' ')}, {statistic.unit} {band[0]:g} to {band[1]:g}: "
        yield where + (
            f"rms {100 * found[0]:.2f} %, mean {100 * found[1]:+.2f} %, {found[2]} bins" if found else "no bins"
        )


def write_tables(run):
    """Tables and figure of all outputs of a run."""
    numbers = range(len(run.times))
    curves_of = {statistic: [run.curve(statistic, number) for number in numbers] for statistic in STATISTICS}
    for statistic, curves in curves_of.items():
        write_curves(os.path.join(run.folder, f"selfsimilar_{statistic.name}.csv"), statistic, curves, run.times)
    if can_import("matplotlib"):
        plot(os.path.join(run.folder, "selfsimilar.png"), curves_of, run.times)


def print_next(run):
    """How far outputs are from the next ones."""
    for statistic in STATISTICS:
        found = [distances(run, number, run, number + 1, statistic) for number in range(len(run.times) - 1)]
        for line in lines_of(statistic, [point for output in found for point in output]):
            print(line)
    print(end="", flush=True)


def differences(run, finer):
    """The distances of all outputs of a run from those of a finer one: by statistic a list for each output."""
    return {
        statistic: [distances(run, number, finer, number, statistic, same_box=True) for number in range(len(run.times))]
        for statistic in STATISTICS
    }


def mesh_of(options):
    """The same for the runs of an index, so that their correlation functions are smoothed in the same way."""
    return 2 * options.side


def print_finer(found_of, side):
    """How far outputs are from those of a finer run at the same time."""
    print(f"  over {side}^3 particles:")
    for statistic, found in found_of.items():
        for line in lines_of(statistic, [point for output in found for point in output]):
            print(line)
    print(end="", flush=True)


def plot_finer(path, found_of, times):
    """Each statistic over that of the finer run, in the scales of the bands; those without points are left out."""
    known = {statistic: found for statistic, found in found_of.items() if any(found)}
    if not known:
        return
    figure, axes = plt.subplots(1, len(known), figsize=(5 * len(known), 4.5), layout="constrained", squeeze=False)
    axes = axes[0]
    for axis, (statistic, found) in zip(axes, known.items()):
        for a, points in zip(times, found):
            axis.semilogx([p[0] for p in points], [100 * p[1] for p in points], ".-", ms=3, label=f"a = {float(a):.3g}")
        axis.axhspan(-1, 1, color="0.9")
        axis.set(xlabel=statistic.unit, title=TITLES[statistic.name])
        axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes[0].set_ylabel("over the finer run, minus 1 [%]")
    axes[0].legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def run(options, settings, folder, index, side):
    """Run an index with so many particles a side, if it has not ended; returns its outputs."""
    planned = plan(index, side, options.outputs, options.factor, mesh_of(options))
    place = os.path.join(folder, f"n{index:g}" if side == options.side else f"n{index:g}-{side}")
    finish(options.config, {**planned, **settings}, place, options)
    times = planned["output.scale_factors"].split(", ")
    outputs = Outputs(place, index, side, times, options.fewest)
    print(
        f"n = {index:g}, {side}^3 particles: k_NL/k_N from {outputs.k_nl[0] / math.pi:.3g}"
        f" to {outputs.k_nl[-1] / math.pi:.3g}"
    )
    write_tables(outputs)
    return outputs


def run_index(options, settings, folder, index):
    """The run of an index, and the coarser one."""
    fine = run(options, settings, folder, index, options.side)
    print_next(fine)
    if not options.coarser:
        return
    coarse = run(options, settings, folder, index, options.coarser)
    found_of = differences(coarse, fine)
    print_finer(found_of, options.side)
    if can_import("matplotlib"):
        plot_finer(os.path.join(coarse.folder, "finer.png"), found_of, coarse.times)


def main():
    parser = parser_of(__doc__)
    add_options(parser)
    parser.add_argument("--index", default="-1.5,-2,-2.25", metavar="N,N,...", help="indices n")
    parser.add_argument("--side", type=int, default=128, metavar="N", help="particles a side")
    parser.add_argument("--outputs", type=int, default=6, metavar="N", help="outputs of a run")
    parser.add_argument("--factor", type=float, default=1.5, metavar="F", help="of k_NL from output to output")
    parser.add_argument("--coarser", type=int, metavar="N", help="particles a side of one more run to compare")
    parser.add_argument("--seconds", type=float, default=math.inf, metavar="S", help="then no run begins")
    parser.add_argument(
        "--fewest", type=int, default=FEWEST, metavar="N", help="modes, cells or halos of a bin that counts"
    )  # fmt: skip
    options = parser.parse_args()
    end = time.time() + options.seconds
    try:
        if options.coarser is not None and not 0 < options.coarser < options.side:
            raise ValueError(f"--coarser {options.coarser}: expected fewer particles a side than --side {options.side}")
        settings = settings_of(options.set)
        refuse_planned(settings)
        folder = output_folder(options.config, settings, options.program)
        for index in map(float, options.index.split(",")):
            if time.time() > end:
                break
            run_index(options, settings, folder, index)
    except RunFailed as error:
        fail(error)
    except FAULTS as error:
        fail(explain(error))
