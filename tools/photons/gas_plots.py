# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of runs of gas: profile beside the exact solution, slices, density of all outputs,
conservation, computing time; of universes also both kinds of matter, their power spectra, and the
largest halo. Profile, slices, matter and halo are of the last output."""

import functools
import os

from . import files, galaxy_maps, gas, gas_growth, gas_halos, gas_problems, sheet_maps
from .drawing import NAMED_MOST, add_redshifts, label_of, style_of
from .galaxy_plots import new_figure, write_csv
from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
colors, ticker = Deferred("matplotlib.colors"), Deferred("matplotlib.ticker")

PIXELS_MOST = 1024  # of a side of a slice
MATTER_PIXELS = 512  # a side of the picture of particles
SPACING_CELLS = 128  # a side of the finest mesh that tells how far particles are apart
SHOWN_MOST = 8  # outputs in one figure
LEAST_COLUMN = 0.01  # of column densities over the mean that is shown
OUTSIDE = 0.1, 99.9  # percentiles that colours end at
PANELS = {  # of slices: field, label, colour map, logarithmic
    "density": ("density" + gas.CODE_UNITS, "viridis", True),
    "pressure": ("pressure" + gas.CODE_UNITS, "magma", True),
    "speed": ("|velocity|" + gas.CODE_UNITS, "cividis", False),
    "level": ("level of the mesh", "Greys", False),
}
PANELS_COMOVING = {
    "density": ("comoving density [10$^{10}$ h$^2$ Msun/Mpc$^3$]", "viridis", True),
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

    @functools.cached_property
    def evolution(self):
        """A measure of all outputs beside theory, gas_growth.Evolution, or None."""
        return gas_growth.evolution_of(self.paths)

    @functools.cached_property
    def halo(self):
        """The largest halo of a universe with particles and gas, or None."""
        mesh = self.last
        both = mesh is not None and mesh.comoving and len(mesh.particles["mass"]) > 0
        return gas_halos.largest(mesh) if both and mesh.has_gas else None

    @functools.cached_property
    def spectra(self):
        """Of universes: for each output its redshift and {kind: power spectrum}, kind being gas or
        particles, as the run has measured them."""
        found = []
        for path in self.paths:
            folder, name = os.path.split(path)
            number = name.removeprefix("gas_").removesuffix(".hdf5")
            tables = {}
            for kind in ("gas", "particles"):
                spectrum = os.path.join(folder, f"powerspec_{kind}_{number}.txt")
                if os.path.exists(spectrum):
                    tables[kind] = files.read_power(spectrum)
            if tables:
                found.append((gas.Mesh(path).redshift, tables))
        return found

    def tables(self):
        """The numbers of the figures: {name: rows, each a dictionary}."""
        tables = {}
        if self.problem is not None:
            tables["profile"] = rows_of(self.profile)
            tables["errors"] = [{"time": self.problem.mesh.time, **self.errors}]
        if self.evolution is not None:
            tables["evolution"] = rows_of(self.evolution.table())
        if self.halo is not None:
            halo = self.halo
            tables["halo_profile"] = rows_of(halo.profile())
            tables["halo"] = [
                {**dict(zip(gas.AXES, halo.centre)), "mass": halo.mass, "radius": halo.radius,
                 "baryon_fraction": halo.baryon_fraction, "temperature": halo.temperature,
                 "virial_temperature": halo.virial_temperature}
            ]  # fmt: skip
        return tables


def rows_of(table):
    return [dict(zip(table, row)) for row in zip(*table.values())]


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
        axis.set(ylabel=name + (unit or problem.units.get(name, gas.CODE_UNITS)))
        error = errors[f"L1_{name}"] / problem.unit
        axis.set_title(f"mean error{unit}: {error:.3g}", fontsize="small", loc="right")
    axes[0].set_title(problem.mesh.moment, loc="left")
    axes[0].legend(frameon=False, fontsize="small", ncols=2, loc="lower center",
                   bbox_to_anchor=(0.5, 1))  # fmt: skip
    axes[-1].set_xlabel(problem.axis + ("" if problem.mesh.comoving else gas.CODE_UNITS))
    return figure


def normal_of(mesh, problem):
    """The axis across which slices are cut: z, or y where the problem varies along z alone."""
    along_z = problem is not None and np.argmax(problem.normal) == 2 and not problem.diagonal
    return "y" if along_z else "z"


def label_axes(axis, mesh, across, up):
    unit = " [Mpc/h]" if mesh.comoving else gas.CODE_UNITS
    axis.set(xlabel=gas.AXES[across] + unit, ylabel=gas.AXES[up] + unit)


def limits_of(images):
    """The limits of colours of all images: those of nearly all values."""
    values = np.concatenate([np.ravel(image) for image in images])
    low, high = np.percentile(values, OUTSIDE)
    return low, max(high, low * (1 + 1e-9), low + 1e-300)


def numbered(low, high):
    """Numbers of a logarithmic colour bar that may have less than two decades."""
    numbers = [digit * 10.0**power for power in range(-3, 5) for digit in (1, 2, 5)]
    return [number for number in numbers if low <= number <= high]


def number_decades(bar):
    """Give a logarithmic colour bar of less than two decades enough numbers."""
    norm = bar.norm
    if isinstance(norm, colors.LogNorm) and norm.vmax < 100 * norm.vmin:
        bar.set_ticks(numbered(norm.vmin, norm.vmax))
        bar.ax.yaxis.set_major_formatter("{x:g}")
        bar.ax.yaxis.set_minor_formatter(ticker.NullFormatter())


def slice_level(mesh):
    """The finest level of whose cells a slice has no more than PIXELS_MOST a side."""
    level = mesh.finest
    while level > 0 and mesh.root.max() * 2**level > PIXELS_MOST:
        level -= 1
    return level


def shown_paths(paths):
    """All outputs, or SHOWN_MOST at equal steps with the first and the last."""
    count = min(len(paths), SHOWN_MOST)
    return [paths[i] for i in np.linspace(0, len(paths) - 1, count).round().astype(int)]


def plot_outputs(outputs):
    """Density in the plane through the middle of the box, of all outputs with the same colours."""
    if len(outputs.paths) < 2 or not outputs.last.has_gas:
        return None
    last, shown = outputs.last, []
    normal = normal_of(last, outputs.problem)
    across, up = [i for i in range(3) if gas.AXES[i] != normal]
    for path in shown_paths(outputs.paths):
        mesh = gas.Mesh(path)
        shown.append((mesh.moment, mesh.slice("density", normal, level=slice_level(mesh))))
    low, high = limits_of([image for _, image in shown])
    norm = colors.LogNorm(low, high) if low > 0 and high > 10 * low else plt.Normalize(low, high)
    columns = min(len(shown), 4)
    rows = -(-len(shown) // columns)
    height = 3 * min(max(last.box[up] / last.box[across], 0.3), 3)
    figure, axes = new_figure(nrows=rows, ncols=columns, squeeze=False, sharex=True, sharey=True,
                              figsize=(3 * columns + 1.2, height * rows + 0.8))  # fmt: skip
    for axis in np.ravel(axes)[len(shown):]:
        axis.remove()
    for axis, (moment, image) in zip(np.ravel(axes), shown):
        drawn = axis.imshow(image, origin="lower", norm=norm, cmap="viridis",
                            interpolation="nearest",
                            extent=[0, last.box[across], 0, last.box[up]])  # fmt: skip
        axis.set_title(moment, fontsize="small")
        label_axes(axis, last, across, up)
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(ticker.MaxNLocator(4, prune="both"))
        axis.label_outer()
    panels = PANELS_COMOVING if last.comoving else PANELS
    bar = figure.colorbar(drawn, ax=list(np.ravel(axes)[:len(shown)]), label=panels["density"][0],
                          extend="both")  # fmt: skip
    number_decades(bar)
    return figure


def particle_columns(mesh, across, up, pixels):
    """Mean of the particles' density along the line of sight over its mean: of the sheet where they
    began on a lattice, in pixels of its own, else [pixels, pixels] where each particle is smoothed as widely as those about it are
    apart. The box is periodic."""
    part, more = mesh.particles, pixels // 8
    inside = np.stack([part[axis] / side for axis, side in zip(gas.AXES, mesh.box)], axis=1) % 1
    lattice = sheet_maps.lattice_of(part, mesh.config_text)
    if lattice:
        return sheet_maps.sheet_map(inside[:, [up, across]], lattice)
    spacing = galaxy_maps.spacing_of(inside, SPACING_CELLS)
    images = [inside[:, [up, across]] + [i, j] for i in (-1, 0, 1) for j in (-1, 0, 1)]
    place, mass, spacing = np.concatenate(images), np.tile(part["mass"], 9), np.tile(spacing, 9)
    side = 1 + 2 * more / pixels
    place = (place + more / pixels) / side
    whole = galaxy_maps.smoothed(place, mass, pixels + 2 * more, spacing / side)
    return whole[more:-more, more:-more]


def plot_slices(outputs):
    """Density, pressure, speed and level in the plane through the middle of the box."""
    mesh = outputs.last
    if mesh is None:
        return None
    normal = normal_of(mesh, outputs.problem)
    panels = PANELS_COMOVING if mesh.comoving else PANELS
    across, up = [i for i in range(3) if gas.AXES[i] != normal]
    level = slice_level(mesh)
    wide = mesh.box[across] > 1.5 * mesh.box[up]
    rows, columns = (4, 1) if wide else (2, 2)
    height = 8 * mesh.box[up] / mesh.box[across] + 0.9 if wide else 4.2
    figure, axes = new_figure(nrows=rows, ncols=columns, figsize=(9.5, rows * height))
    for axis, (name, (label, cmap, logarithmic)) in zip(np.ravel(axes), panels.items()):
        values = mesh.slice(name, normal, level=level)
        norm = None
        if name == "level":
            greys = plt.get_cmap(cmap)(np.linspace(0.15, 0.9, mesh.finest + 1))
            cmap, norm = colors.ListedColormap(greys), plt.Normalize(-0.5, mesh.finest + 0.5)
        elif logarithmic and values.min() > 0 and values.max() > 3 * values.min():
            norm = colors.LogNorm(*limits_of([values]))
        image = axis.imshow(
            values, origin="lower", norm=norm, cmap=cmap, interpolation="nearest",
            extent=[0, mesh.box[across], 0, mesh.box[up]],
        )  # fmt: skip
        bar = figure.colorbar(image, ax=axis, label=label, shrink=0.85,
                              ticks=range(mesh.finest + 1) if name == "level" else None)  # fmt: skip
        number_decades(bar)
        label_axes(axis, mesh, across, up)
    np.ravel(axes)[0].set_title(mesh.moment, loc="left")
    return figure


def plot_matter(outputs):
    """Column densities of gas and particles over their means, side by side."""
    mesh = outputs.last
    if mesh is None or not len(mesh.particles["mass"]):
        return None
    normal = normal_of(mesh, outputs.problem)
    across, up = (i for i in range(3) if gas.AXES[i] != normal)
    level = min(mesh.finest, max(0, int(np.log2(PIXELS_MOST / 4 / mesh.root.max()))))
    columns = particle_columns(mesh, across, up, MATTER_PIXELS)
    panels = {"gas": mesh.projection("density", normal, level)} if mesh.has_gas else {}
    panels["particles"] = columns
    panels = {name: values / values.mean() for name, values in panels.items()}
    low, high = limits_of(list(panels.values()))
    norm = colors.LogNorm(max(low, LEAST_COLUMN), high)
    figure, axes = new_figure(ncols=len(panels), figsize=(4.6 * len(panels) + 1, 4.8),
                              squeeze=False, sharey=True)  # fmt: skip
    for axis, (name, values) in zip(axes[0], panels.items()):
        image = axis.imshow(
            np.maximum(values, LEAST_COLUMN), origin="lower", norm=norm, cmap="inferno",
            interpolation="nearest", extent=[0, mesh.box[across], 0, mesh.box[up]],
        )  # fmt: skip
        label_axes(axis, mesh, across, up)
        axis.label_outer()
        axis.set_title(name, loc="right", fontsize="small")
    number_decades(
        figure.colorbar(image, ax=list(axes[0]), label="column density over the mean", extend="both",
                        shrink=0.85)
    )  # fmt: skip
    axes[0][0].set_title(mesh.moment, loc="left")
    return figure


def plot_spectra(outputs):
    """Power spectra of gas and particles at the outputs, beside linear theory, and their ratio."""
    if not outputs.spectra:
        return None
    figure, axes = new_figure(nrows=2, sharex=True, figsize=(6.5, 7), height_ratios=[2, 1])
    count = len(outputs.spectra)
    for i, (z, tables) in enumerate(outputs.spectra):
        colour = style_of(i, count)[0]
        most = min(table["k"][-1] for table in tables.values())
        for kind, style in (("particles", "-"), ("gas", (0, (4, 1.5)))):
            if kind in tables:
                table = tables[kind]
                some = table["k"] <= most
                name = f"{kind}, {label_of(z)}" if count <= NAMED_MOST else None
                axes[0].plot(table["k"][some], table["P"][some], ls=style, color=colour, lw=1.2,
                             label=name)  # fmt: skip
        if np.any(table["P_linear"] > 0):
            axes[0].plot(table["k"][some], table["P_linear"][some], ":", color=colour, lw=1)
        if len(tables) == 2:
            shown = tables["particles"]["k"] <= most
            some = tables["gas"]["k"] <= tables["particles"]["k"][shown][-1]
            k, ours = tables["gas"]["k"][some], tables["gas"]["P"][some]
            particles = np.interp(k, tables["particles"]["k"], tables["particles"]["P"])
            axes[1].plot(k, ours / particles, color=colour, lw=1.2)
    axes[0].set(xscale="log", yscale="log", ylabel="P [(Mpc/h)$^3$]")
    if count > NAMED_MOST:
        axes[0].plot([], [], "k-", lw=1.2, label="particles")
        axes[0].plot([], [], "k", ls=(0, (4, 1.5)), lw=1.2, label="gas")
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1)}
    axes[0].legend(frameon=False, fontsize="x-small", ncols=3, **place)
    add_redshifts(figure, axes, [z for z, _ in outputs.spectra])
    axes[1].set(xlabel="k [h/Mpc]", ylabel="gas over particles")
    axes[1].set_ylim(0, max(1.5, axes[1].get_ylim()[1]))
    axes[1].axhline(1, color="0.6", lw=0.8)
    return figure


def plot_halo(outputs):
    """Densities, baryon fraction and temperature about the centre of the largest halo."""
    halo = outputs.halo
    if halo is None:
        return None
    table = halo.profile()
    figure, axes = new_figure(nrows=3, sharex=True, figsize=(6.5, 8))
    radius = table["radius"]
    for name, colour in (("gas", "#cc6677"), ("particles", "#332288")):
        some = table[name] > 0
        axes[0].plot(radius[some], table[name][some], ".-", color=colour, label=name)
    axes[0].set(xscale="log", yscale="log", ylabel="density over its mean")
    axes[0].legend(frameon=False, fontsize="small")
    axes[0].set_title(
        f"{halo.matter.mesh.moment}, M200 = {1e10 * halo.mass:.3g} Msun/h", loc="left"
    )
    axes[1].plot(radius, table["baryon_fraction"], ".-", color="#117733")
    axes[1].axhline(1, color="0.6", lw=0.8)
    axes[1].set(ylabel="baryon fraction within,\nover the mean", ylim=(0, 1.5))
    axes[2].plot(radius, table["temperature"], ".-", color="#aa4499")
    axes[2].axhline(halo.virial_temperature, color="0.6", lw=0.8, label="virial temperature")
    axes[2].set(yscale="log", ylabel="temperature [K]", xlabel="distance [Mpc/h]")
    axes[2].legend(frameon=False, fontsize="small")
    for axis in axes:
        axis.axvline(halo.radius, color="0.6", ls=":", lw=0.8)
    return figure


def conservation_errors(statistics):
    """Changes since the first row: of the gas's mass and energy over their first values, of the momentum
    of gas and particles over sqrt(2 mass energy), a speed of all gas times its mass.

    statistics -- from Run.statistics()"""
    mass = statistics["mass"]
    energy = statistics["energy"] + statistics.get("potential_energy", 0)
    momentum = np.array([statistics[f"momentum_{axis}"] + statistics.get(f"particle_momentum_{axis}", 0)
                         for axis in gas.AXES])  # fmt: skip
    change = np.linalg.norm(momentum - momentum[:, :1], axis=0)
    return {
        "mass": np.abs(mass / mass[0] - 1),
        "energy": np.abs(energy / energy[0] - 1),
        "momentum": change / np.sqrt(2 * mass[0] * abs(energy[0])),
    }


def plot_conservation(outputs):
    """What mass and energy of all gas have changed by, and the momentum of gas and particles."""
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
    label = "scale factor a" if time == "a" else "t" + gas.CODE_UNITS
    axis.set(xlabel=label, ylabel="relative change", yscale="log" if some else "linear")
    axis.legend(frameon=False, fontsize="small")
    return figure


SMALL = 0.02  # stages with a smaller share are drawn as one


def stage_shares(timings):
    """Shares of the stages in their busy time, on cores and GPUs, {name: [step]}, the largest first;
    the small ones together are "other"."""
    busy = {}
    for name, seconds in timings.items():
        if name.endswith("_s") and name not in ("wall_s", "updates_per_s"):
            stage = name.removesuffix("_s").removeprefix("gpu_").removeprefix("gas_")
            busy[stage] = busy.get(stage, 0) + seconds
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
        if not patches.any():
            continue
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
    "evolution": gas_growth.plot_evolution,
    "slices": plot_slices,
    "outputs": plot_outputs,
    "matter": plot_matter,
    "spectra": plot_spectra,
    "halo": plot_halo,
    "conservation": plot_conservation,
    "timings": plot_timings,
}


def figures_of(outputs):
    """{name: a function without arguments that draws the figure, or returns None}"""
    return {name: functools.partial(draw, outputs) for name, draw in FIGURES.items()}
