# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of runs of gas: profile beside the exact solution, slices, conservation, computing time.
Profile and slices are of the last output."""

import functools
import os

from . import gas, gas_problems
from .galaxy_plots import new_figure, write_csv
from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
colors = Deferred("matplotlib.colors")

PIXELS_MOST = 1024  # of a side of a slice
PANELS = {  # of slices: field, label, colour map, logarithmic
    "density": ("density", "viridis", True),
    "pressure": ("pressure", "magma", True),
    "speed": ("|velocity|", "cividis", False),
    "level": ("level of the mesh", "Greys", False),
}
PANELS_COMOVING = {
    "density": ("comoving density", "viridis", True),
    "temperature": ("temperature [K]", "magma", True),
    "speed": ("a |velocity| [km/s]", "cividis", False),
    "level": PANELS["level"],
}
LEVEL_COLOURS = ["#332288", "#88ccee", "#117733", "#ddcc77", "#cc6677", "#aa4499", "#882255"]


class Outputs:
    """What figures of a run of gas show. Files are read when they are first needed.

    paths -- gas_NNN.hdf5, by time; timings, statistics -- tables of the logs, or None"""

    def __init__(self, paths, timings=None, statistics=None):
        self.paths, self.timings, self.statistics = paths, timings, statistics

    @functools.cached_property
    def last(self):
        """The last output, or None."""
        return gas.Mesh(self.paths[-1]) if self.paths else None

    @functools.cached_property
    def problem(self):
        """The problem with an exact solution, of the last output that has one, or None."""
        for path in reversed(self.paths):
            problem = gas_problems.problem_of(gas.Mesh(path))
            if problem is None or problem.solved:
                return problem
        return None

    @functools.cached_property
    def profile(self):
        return self.problem.profile()

    @functools.cached_property
    def errors(self):
        return self.problem.errors()

    def tables(self):
        """The numbers of the figures: {name: rows, each a dictionary}."""
        if self.problem is None:
            return {}
        rows = [dict(zip(self.profile, row)) for row in zip(*self.profile.values())]
        return {"profile": rows, "errors": [{"time": self.problem.mesh.time, **self.errors}]}


def write_tables(outputs, out, start=""):
    """Write the numbers of the figures as CSV files to a folder, and return their paths."""
    os.makedirs(out, exist_ok=True)
    tables = outputs.tables()
    paths = {name: os.path.join(out, f"{start}{name}.csv") for name in tables}
    for name, rows in tables.items():
        write_csv(paths[name], rows)
    return list(paths.values())


def plot_profile(outputs):
    """Means in bins along the coordinate of the problem, the range of values in each bin (grey),
    and the exact solution."""
    problem = outputs.problem
    if problem is None:
        return None
    table, errors = outputs.profile, outputs.errors
    figure, axes = new_figure(nrows=3, sharex=True, figsize=(7, 8))
    fine = np.linspace(table["position"][0], table["position"][-1], 4001)
    exact = problem.exact(fine)
    unit = ", over the amplitude" if problem.rest else ""
    for axis, name in zip(axes, problem.fields):
        low, high, mean = (
            problem.shown(name, table[name + end]) for end in ("_low", "_high", "")
        )
        axis.fill_between(table["position"], low, high, color="0.8", lw=0)
        axis.plot(fine, problem.shown(name, exact[name]), "-", color="#cc6677", lw=1, label="exact")
        axis.plot(table["position"], mean, ".", color="#332288", ms=3, label="cells")
        axis.set(ylabel=name + unit)
        error = errors[f"L1_{name}"] / problem.unit
        axis.set_title(f"mean error{unit}: {error:.3g}", fontsize="small", loc="right")
    axes[0].set_title(problem.mesh.moment, loc="left")
    axes[0].legend(frameon=False, fontsize="small")
    axes[-1].set_xlabel(problem.axis)
    return figure


def normal_of(mesh, problem):
    """The axis across which slices are cut: z, or y where the problem varies along z alone."""
    along_z = problem is not None and np.argmax(problem.normal) == 2 and not problem.diagonal
    return "y" if along_z else "z"


def plot_slices(outputs):
    """Density, pressure, speed and level in the plane through the middle of the box."""
    mesh = outputs.last
    if mesh is None:
        return None
    normal = normal_of(mesh, outputs.problem)
    panels = PANELS_COMOVING if mesh.comoving else PANELS
    across, up = [i for i in range(3) if gas.AXES[i] != normal]
    level = mesh.finest
    while level > 0 and mesh.root.max() * 2**level > PIXELS_MOST:
        level -= 1
    wide = mesh.box[across] > 1.5 * mesh.box[up]
    rows, columns = (4, 1) if wide else (2, 2)
    height = 8 * mesh.box[up] / mesh.box[across] + 0.9 if wide else 4.2
    figure, axes = new_figure(nrows=rows, ncols=columns, figsize=(9.5, rows * height))
    for axis, (name, (label, cmap, logarithmic)) in zip(np.ravel(axes), panels.items()):
        values = mesh.slice(name, normal, level=level)
        norm = None
        if name == "level":
            cmap, norm = plt.get_cmap(cmap, mesh.finest + 1), plt.Normalize(-0.5, mesh.finest + 0.5)
        elif logarithmic and values.min() > 0 and values.max() > 3 * values.min():
            norm = colors.LogNorm(values.min(), values.max())
        image = axis.imshow(
            values, origin="lower", norm=norm, cmap=cmap, interpolation="nearest",
            extent=[0, mesh.box[across], 0, mesh.box[up]],
        )  # fmt: skip
        figure.colorbar(image, ax=axis, label=label, shrink=0.85,
                        ticks=range(mesh.finest + 1) if name == "level" else None)  # fmt: skip
        axis.set(xlabel=gas.AXES[across], ylabel=gas.AXES[up])
    np.ravel(axes)[0].set_title(mesh.moment, loc="left")
    return figure


def conservation_errors(statistics):
    """Changes since the first row: of mass and energy over their first values, of the momentum over
    sqrt(2 mass energy), a speed of all gas times its mass.

    statistics -- from Run.statistics()"""
    mass = statistics["mass"]
    energy = statistics["energy"] + statistics.get("potential_energy", 0)
    momentum = np.array([statistics[f"momentum_{axis}"] for axis in gas.AXES])
    change = np.linalg.norm(momentum - momentum[:, :1], axis=0)
    return {
        "mass": np.abs(mass / mass[0] - 1),
        "energy": np.abs(energy / energy[0] - 1),
        "momentum": change / np.sqrt(2 * mass[0] * abs(energy[0])),
    }


def plot_conservation(outputs):
    """What mass, energy and momentum of all gas have changed by."""
    statistics = outputs.statistics
    if statistics is None or len(statistics.get("step", ())) < 2:
        return None
    figure, axis = new_figure(figsize=(7, 4))
    dashes = {"mass": "-", "energy": (0, (6, 1.5)), "momentum": (0, (2, 1))}
    errors, time = conservation_errors(statistics), "time"
    if time not in statistics:  # comoving gas, whose energy expansion changes
        time = "a"
        del errors["energy"]
    for i, (name, error) in enumerate(errors.items()):
        axis.plot(statistics[time], np.where(error > 0, error, np.nan), ls=dashes[name],
                  color=LEVEL_COLOURS[2 * i], label=name)  # fmt: skip
    some = any(np.any(error > 0) for error in errors.values())
    axis.set(xlabel=time[0], ylabel="relative change", yscale="log" if some else "linear")
    axis.legend(frameon=False, fontsize="small")
    return figure


SMALL = 0.02  # stages with a smaller share are drawn as one


def stage_shares(timings):
    """Shares of the stages in their busy time, {name: [step]}, the largest first; the small ones
    together are "other"."""
    busy = {name.removesuffix("_s").removeprefix("gas_"): seconds
            for name, seconds in timings.items()
            if name.endswith("_s") and name not in ("wall_s", "updates_per_s")}  # fmt: skip
    whole = np.maximum(sum(busy.values(), np.zeros_like(timings["step"])), 1e-300)
    shares = {name: seconds / whole for name, seconds in busy.items()}
    large = {name: share for name, share in shares.items() if share.mean() >= SMALL}
    large = dict(sorted(large.items(), key=lambda item: -item[1].mean()))
    small = [share for name, share in shares.items() if name not in large and share.any()]
    return {**large, "other": sum(small)} if small else large


def plot_timings(outputs):
    """Cell updates a second; patches by level; shares of the stages. Step 0 advances nothing."""
    timings = outputs.timings
    if timings is None or "updates_per_s" not in timings:
        return None
    some = timings["updates_per_s"] > 0
    timings = {name: column[some] for name, column in timings.items()}
    step = timings["step"]
    if not len(step):
        return None
    figure, axes = new_figure(nrows=3, sharex=True, figsize=(8, 8))
    axes[0].plot(step, timings["updates_per_s"] / 1e6, "k-", lw=1)
    axes[0].set(ylabel="10$^6$ cells a second", ylim=(0, None))
    for level, patches in enumerate(timings["level_patches"].T):
        colour = LEVEL_COLOURS[level % len(LEVEL_COLOURS)]
        shown = np.where(patches > 0, patches, np.nan)
        axes[1].plot(step, shown, lw=1.2, color=colour, label=f"level {level}")
    axes[1].set(ylabel="patches", yscale="log")
    shares = stage_shares(timings)
    stages = [100 * share for share in shares.values()]
    axes[2].stackplot(step, stages, labels=list(shares), colors=LEVEL_COLOURS, lw=0.3, ec="white")
    axes[2].set(ylabel="share of busy time [%]", ylim=(0, 100), xlabel="step")
    for axis in axes[1:]:
        axis.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    axes[0].margins(x=0)
    return figure


FIGURES = {
    "profile": plot_profile,
    "slices": plot_slices,
    "conservation": plot_conservation,
    "timings": plot_timings,
}


def figures_of(outputs):
    """{name: a function without arguments that draws the figure, or returns None}"""
    return {name: functools.partial(draw, outputs) for name, draw in FIGURES.items()}
