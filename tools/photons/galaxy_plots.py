# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of isolated systems, such as galaxies: pictures, density profile, rotation curve,
Lagrangian radii, height of the disk, energy, angular momentum. Figures of one time show the first
output (thin) and the last."""

import csv
import functools
import os

from . import galaxy, galaxy_disk, galaxy_log, galaxy_pictures
from .drawing import label_ends
from .files import Table
from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
ticker = Deferred("matplotlib.ticker")

STYLES = {  # colour and dashes of the components
    "total": ("black", "-"),
    "halo": ("#332288", (0, (6, 1.5))),
    "disk": ("#117733", (0, (4, 1, 1, 1))),
    "bulge": ("#cc6677", (0, (2, 1))),
    "stars": ("#aa4499", (0, (6, 1, 1, 1, 1, 1))),
    "gas": ("#88ccee", (0, (3, 2))),
    "boundary": ("0.6", (0, (1, 1))),
}
MEASURES = {
    "density_profile": galaxy.density_profile,
    "rotation_curve": galaxy.rotation_curve,
    "disk_rotation": galaxy.disk_rotation,
    "disk_height": galaxy.disk_height,
    "anisotropy": galaxy_disk.anisotropy,
}


class Evolution:
    """What the figures of an isolated run show. Snapshots are read when they are first needed, one
    after the other; the first and the last are kept.

    paths -- snapshots, by time; energy -- from Run.energy(), or None; components -- names of those
    in pictures, None: galaxy.pictured(); galaxies -- from Run.galaxies(), or None"""

    def __init__(self, paths, energy=None, components=None, galaxies=None):
        self.paths, self.energy, self.components = paths, energy, components
        self.galaxies = galaxies

    @functools.cached_property
    def shown(self):
        """The first and the last system, one where there is one, none where there is none."""
        return [galaxy.read_system(path) for path in self.paths[:1] + self.paths[1:][-1:]]

    @functools.cached_property
    def views(self):
        """What pictures of all outputs have in common."""
        last = self.shown[-1]
        names = self.components or galaxy.pictured(last)
        galaxy_pictures.check_components(names, last, self.paths[-1])
        return galaxy_pictures.Views(self.shown[0], last, names)

    @functools.cached_property
    def _read(self):
        """Lagrangian radii of all outputs, maps of those that are pictured, and measures of all."""
        pictured = galaxy_pictures.shown_numbers(len(self.paths))
        radii, maps, measures = [], [], []
        for i, path in enumerate(self.paths):
            known = {0: 0, len(self.paths) - 1: -1}.get(i)
            system = self.shown[known] if known is not None else galaxy.read_system(path)
            radii.append({"time_myr": system.time_myr, **galaxy.lagrangian_radii(system)})
            measures.append({"time_myr": system.time_myr, **galaxy_disk.measures(system)})
            if i in pictured:
                maps.append((system.time_myr, self.views.of(system)))
        return radii, maps, measures

    def measures(self):
        """Rows of galaxy_disk.measures() of all snapshots with time_myr, and the pattern_speed
        [km/s/kpc] since the output before."""
        rows = self._read[2]
        if len(rows) > 1 and all("bar_angle" in row for row in rows):
            time, angle = ([row[name] for row in rows] for name in ("time_myr", "bar_angle"))
            speed = galaxy_disk.pattern_speed(np.array(time), np.array(angle))
            rows = [{**row, "pattern_speed": value} for row, value in zip(rows, [np.nan, *speed])]
        return rows

    def maps(self):
        """Times [Myr] of the outputs that are pictured, with their maps, as from Views.of()."""
        return self._read[1]

    @functools.cached_property
    def _measured(self):
        return {
            name: [with_time(table, system.time_myr)
                   for system in self.shown if (table := measure(system)) is not None]
            for name, measure in MEASURES.items()
        }  # fmt: skip

    def measured(self, name):
        """Tables of one of MEASURES, with a column time_myr, of the systems shown that have it."""
        return self._measured[name]

    def radii(self):
        """Lagrangian radii of all snapshots, a Table of time_myr and rNN_NAME [kpc]."""
        rows = self._read[0]
        names = dict.fromkeys(name for row in rows for name in row)
        return Table({name: np.array([row.get(name, np.nan) for row in rows]) for name in names})

    def tables(self):
        """The numbers of the figures: {name of the figure: rows, each a dictionary}."""
        found = {name: self.measured(name) for name in MEASURES}
        found["lagrangian_radii"] = [self.radii()]
        rows = {name: [row for table in tables for row in rows_of(table)]
                for name, tables in found.items()}  # fmt: skip
        rows["galaxy"] = self.measures() if self.paths else []
        return {name: some for name, some in rows.items() if some}


def with_time(table, time_myr):
    """The table with a first column time_myr, the same in all rows."""
    rows = len(next(iter(table.values())))
    return Table({"time_myr": np.full(rows, time_myr), **table})


def rows_of(table):
    return [dict(zip(table, row)) for row in zip(*table.values())]


def write_csv(path, rows):
    """Write rows, dictionaries, as a CSV file; a column that a row lacks is empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {name: "" if np.isnan(value) else format(float(value), ".9g")
             for name, value in row.items()} for row in rows
        )


def time_text(time_myr):
    return f"t = {time_myr:.1f} Myr"


def names_in(table, start):
    """Names of the components that have columns with this start."""
    return [name.removeprefix(start) for name in table if name.startswith(start)]


def draw_times(axis, tables):
    """Entries of the legend for the two times."""
    for i, table in enumerate(tables):
        width = 1.6 if i == len(tables) - 1 else 0.6
        axis.plot([], [], color="0.4", lw=width, label=time_text(table["time_myr"][0]))


def line_style(name, last):
    colour, dashes = STYLES[name]
    return {"color": colour, "ls": dashes, "lw": 1.6 if last else 0.6, "alpha": 1 if last else 0.7}


def new_figure(**size):
    return plt.subplots(layout="constrained", **size)


# Figures. Each returns None where the run has no data for it.


def plot_density_profile(evolution):
    """rho(r) by component with the shot noise as error bars."""
    tables = evolution.measured("density_profile")
    if not tables:
        return None
    figure, axis = new_figure(figsize=(7, 5))
    for i, table in enumerate(tables):
        last = i == len(tables) - 1
        middle = np.sqrt(table["r_low"] * table["r_high"])
        for name in names_in(table, "rho_"):
            some = table[f"N_{name}"] > 0
            rho, error = table[f"rho_{name}"][some], table[f"error_{name}"][some]
            axis.errorbar(
                middle[some], rho, np.minimum(error, 0.99 * rho), elinewidth=0.6,
                label=name if last else None, **line_style(name, last),
            )  # fmt: skip
    draw_times(axis, tables)
    axis.set(xscale="log", yscale="log", xlabel="r [kpc]", ylabel="density [10$^{10}$ Msun/kpc³]")
    axis.legend(frameon=False, fontsize="small")
    return figure


def plot_rotation_curve(evolution):
    """Circular velocity by component and in total, and the rotation of the disk's particles."""
    tables = evolution.measured("rotation_curve")
    if not tables:
        return None
    figure, axis = new_figure(figsize=(7.5, 5))
    for i, table in enumerate(tables):
        last = i == len(tables) - 1
        for name in names_in(table, "v_"):
            axis.plot(table["r"], table[f"v_{name}"], label=name if last else None,
                      **line_style(name, last))  # fmt: skip
    for i, table in enumerate(evolution.measured("disk_rotation")):
        last = i == len(evolution.measured("disk_rotation")) - 1
        axis.errorbar((table["R_low"] + table["R_high"]) / 2, table["v_phi"], table["error"],
                      fmt="o", ms=4, mfc=STYLES["disk"][0] if last else "white", elinewidth=0.8,
                      color=STYLES["disk"][0], alpha=1 if last else 0.5,
                      label="particles of the disk: mean rotation" if last else None)  # fmt: skip
    draw_times(axis, tables)
    axis.set(xlabel="distance from the centre [kpc]", ylabel="velocity [km/s]",
             xlim=(0, tables[-1]["r"][-1]), ylim=(0, None))  # fmt: skip
    axis.legend(frameon=False, fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(0, 1),
                title="lines: $\\sqrt{GM(<r)/r}$", alignment="left")  # fmt: skip
    return figure


def write_decades(axis):
    """Numbers such as 0.6, 1 and 20 at a logarithmic axis, between decades too where these are few."""

    class Plain(ticker.LogFormatter):
        def __call__(self, x, pos=None):
            return super().__call__(x, pos) and f"{x:g}"

    axis.set_major_formatter(Plain())
    axis.set_minor_formatter(Plain(minor_thresholds=(2, 0.5)))


def plot_lagrangian_radii(evolution):
    """Radii of 10, 50 and 90 % of the mass over time, by component and in total."""
    if len(evolution.paths) < 2:
        return None
    table = evolution.radii()
    (figure, axis), ends = new_figure(figsize=(7, 5)), []
    for column in [name for name in table if name != "time_myr"]:
        share, name = column.split("_")
        axis.plot(table["time_myr"], table[column], marker=".", ms=3,
                  label=name if share == "r50" else None, **line_style(name, True))  # fmt: skip
        ends.append((table["time_myr"][-1], table[column][-1], f"{share[1:]} %", STYLES[name][0]))
    label_ends(axis, ends)
    axis.set(xlabel="t [Myr]", ylabel="radius that holds 10, 50, 90 % of the mass [kpc]")
    write_decades(axis.yaxis)
    axis.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.06, 1))
    return figure


def plot_disk(evolution):
    """Over time: bar strength and pattern speed, scale length and height, dispersions of the disk."""
    rows = evolution.measures() if len(evolution.paths) > 1 else []
    if not rows or any("bar_strength" not in row for row in rows):
        return None
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    time, panels = table["time_myr"], (
        ("A2", (("bar_strength", "within 2 scale lengths"), ("A2_max", "largest of a ring"))),
        ("pattern speed [km/s/kpc]\n(faint: A2 < 0.1)", (("pattern_speed", None),)),
        ("kpc", (("scale_length", "scale length"), ("height", "height, root mean square"))),
        ("dispersion at 2 R$_d$ [km/s]", (("sigma_R", "σ$_R$"), ("sigma_phi", "σ$_φ$"),
                                          ("sigma_z", "σ$_z$"))),
    )  # fmt: skip
    figure, axes = new_figure(nrows=len(panels), sharex=True, figsize=(7, 9))
    for axis, (label, columns) in zip(axes, panels):
        for (name, text), colour in zip(columns, ("#332288", "#cc6677", "#117733")):
            if np.all(np.isnan(table[name])):
                continue
            values = table[name]
            if name == "pattern_speed":
                values = galaxy_log.barred(axis, time, values, table["bar_strength"], colour)
            axis.plot(time, values, marker=".", ms=4, lw=1.2, color=colour, label=text)
        axis.set_ylabel(label)
        if columns[0][1]:
            axis.set_ylim(bottom=0)
            axis.legend(frameon=False, fontsize="small", ncols=3, loc="lower right",
                        bbox_to_anchor=(1, 1), borderaxespad=0)  # fmt: skip
    axes[-1].set_xlabel("t [Myr]")
    return figure


def plot_anisotropy(evolution):
    """Dispersion of velocities and its anisotropy in shells, by component."""
    tables = evolution.measured("anisotropy")
    if not tables:
        return None
    figure, axes = new_figure(nrows=2, sharex=True, figsize=(7, 6.5))
    for i, table in enumerate(tables):
        last = i == len(tables) - 1
        middle = np.sqrt(table["r_low"] * table["r_high"])
        for name in names_in(table, "beta_"):
            if all(np.all(np.isnan(each[f"sigma_{name}"])) for each in tables):
                continue
            for axis, key in zip(axes, ("sigma", "beta")):
                axis.plot(middle, table[f"{key}_{name}"], label=name if last else None,
                          **line_style(name, last))  # fmt: skip
    draw_times(axes[0], tables)
    axes[0].set(xscale="log", ylabel="dispersion in one dimension [km/s]", ylim=(0, None))
    axes[1].axhline(0, color="grey", lw=0.5)
    axes[1].set(xlabel="r [kpc]", ylabel="anisotropy β", ylim=(-1, 1.05))
    axes[0].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def plot_disk_height(evolution):
    """Root mean square of z over R, of the disk."""
    tables = evolution.measured("disk_height")
    if not tables:
        return None
    figure, axis = new_figure(figsize=(7, 4))
    for i, table in enumerate(tables):
        middle = (table["R_low"] + table["R_high"]) / 2
        axis.errorbar(middle, table["rms_z"], table["error"], elinewidth=0.6,
                      label=time_text(table["time_myr"][0]),
                      **line_style("disk", i == len(tables) - 1))  # fmt: skip
    axis.set(xlabel="R [kpc]", ylabel="root mean square of z [kpc]", ylim=(0, None))
    axis.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def energy_error(energy):
    """|E - E(first row)| / |E(first row)| of each row, with the energy that escapers have taken."""
    total = energy["total"] + energy["escaped"] if "escaped" in energy else energy["total"]
    if total[0] == 0:
        raise ValueError("log/energy.csv: the first total energy is 0")
    return np.abs(total / total[0] - 1)


def vectors(energy, name):
    """The columns NAME_x, NAME_y, NAME_z of log/energy.csv, [row, axis]; None if it has none."""
    columns = [f"{name}_{axis}" for axis in "xyz"]
    return np.stack([energy[c] for c in columns], axis=1) if set(columns) <= set(energy) else None


def angular_momentum_error(energy, name="angular"):
    """|L - L(first row)| / |L(first row)| of each row; None where there is no L to compare with.

    name -- angular_type_2: of the particles of type 2, the disk"""
    angular = vectors(energy, name)
    if angular is None or not np.any(angular[0]):
        return None
    return np.linalg.norm(angular - angular[0], axis=1) / np.linalg.norm(angular[0])


def plot_conserved(evolution):
    """Change of the angular momentum, of all particles and of the disk, and of the centre of mass,
    over time."""
    energy = evolution.energy
    if energy is None or not len(energy["step"]) or vectors(energy, "centre") is None:
        return None
    figure, (top, bottom) = new_figure(nrows=2, sharex=True, figsize=(7, 5))
    centre = vectors(energy, "centre")
    for name, columns in (("total", "angular"), ("disk", "angular_type_2")):
        error = angular_momentum_error(energy, columns)
        if error is not None:
            top.plot(energy["time_myr"], np.where(error > 0, error, np.nan), marker=".", ms=3,
                     label=name, **line_style(name, True))  # fmt: skip
            top.set(yscale="log" if np.any(error > 0) else top.get_yscale())
            top.legend(frameon=False, fontsize="small")
    top.set(ylabel="|L - L₀|/|L₀|")
    for axis, dashes, shift in zip("xyz", ("-", "--", ":"), (centre - centre[0]).T):
        bottom.plot(energy["time_myr"], shift, "k", ls=dashes, lw=1, label=axis)
    bottom.set(xlabel="t [Myr]", ylabel="shift of the centre of mass [kpc]")
    bottom.legend(frameon=False, fontsize="small")
    return figure


def plot_energy(evolution):
    """Relative error of the energy, and the virial ratio, over time."""
    energy = evolution.energy
    if energy is None or not len(energy["step"]):
        return None
    figure, (top, bottom) = new_figure(nrows=2, sharex=True, figsize=(7, 5))
    error = energy_error(energy)
    top.plot(energy["time_myr"], np.where(error > 0, error, np.nan), "k-", marker=".", ms=3, lw=1)
    top.set(yscale="log" if np.any(error > 0) else "linear", ylabel="|E - E₀|/|E₀|")
    bottom.plot(energy["time_myr"], energy["virial"], "k-", marker=".", ms=3, lw=1)
    bottom.axhline(1, color="grey", lw=0.5)
    bottom.set(xlabel="t [Myr]", ylabel="-2T/W")
    return figure


FIGURES = {
    "picture": galaxy_pictures.plot_picture,
    "structure": galaxy_pictures.plot_structure,
    "density_profile": plot_density_profile,
    "rotation_curve": plot_rotation_curve,
    "lagrangian_radii": plot_lagrangian_radii,
    "disk_height": plot_disk_height,
    "disk": plot_disk,
    "galaxies": galaxy_log.plot_galaxies,
    "bar": galaxy_log.plot_bar,
    "anisotropy": plot_anisotropy,
    "energy": plot_energy,
    "conserved": plot_conserved,
}


def figures_of(evolution):
    """{name: a function without arguments that draws the figure, or returns None}"""
    return {name: functools.partial(draw, evolution) for name, draw in FIGURES.items()}


def write_tables(evolution, out, start=""):
    """Write the numbers of the figures as CSV files to a folder, and return their paths.

    start -- of the names of the files"""
    os.makedirs(out, exist_ok=True)
    tables = evolution.tables()
    paths = {name: os.path.join(out, f"{start}{name}.csv") for name in tables}
    for name, rows in tables.items():
        write_csv(paths[name], rows)
    return list(paths.values())
