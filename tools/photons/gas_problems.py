# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of gas beside exact solutions: which problem a file is of, where its cells are compared, and
how far off they are."""

import functools

from . import gas, gas_exact
from .files import read_config
from .modules import Deferred

np = Deferred("numpy")

FIELDS = ("density", "velocity", "pressure")


class Problem:
    """What the problems share. Cells are compared at a coordinate: the distance from the middle of
    the box along a direction, or in all directions.

    mesh -- gas.Mesh; ic -- section [ic] of its configuration. Subclasses have `axis`, the name of
    the coordinate, and `unit` of the shown values, and say what is exact."""

    axis, unit, rest = "distance from the middle", 1.0, {}
    units = {}  # of the fields for labels, where they are not those of the run
    fields, solved = FIELDS, True  # solved: whether there is an exact solution at this time

    def __init__(self, mesh, ic):
        self.mesh, self.ic = mesh, ic
        direction = ic.get("direction", "x")
        normal = np.array([direction in (axis, "diagonal") for axis in gas.AXES]) / mesh.box
        self.slope = np.linalg.norm(normal)  # of the phase, which grows by 1 along the box
        self.normal = normal / self.slope
        self.diagonal = direction == "diagonal"

    @functools.cached_property
    def _offsets(self):
        """Of the cells from the middle [3, cell]."""
        return np.array(self.mesh.positions()) - self.mesh.box[:, None] / 2

    @functools.cached_property
    def position(self):
        """Coordinates of the cells [cell]."""
        return self.normal @ self._offsets

    def _velocity(self):
        parts = zip(self.normal, gas.AXES)
        return sum(n * self.mesh.values(f"velocity_{axis}") for n, axis in parts)

    @functools.cached_property
    def found(self):
        """{density, velocity along the coordinate, pressure: [cell]}"""
        density, pressure = (self.mesh.values(name) for name in ("density", "pressure"))
        return {"density": density, "velocity": self._velocity(), "pressure": pressure}

    def compared(self):
        """Which cells the exact solution is for [cell]."""
        return np.full(self.position.shape, True)

    def exact(self, position):
        """{density, velocity, pressure: array}"""
        raise NotImplementedError

    def shown(self, name, values):
        """What figures show: values, or what they are above those at rest, over the amplitude."""
        return (values - self.rest.get(name, 0.0)) / self.unit

    def profile(self):
        """Of the cells compared: gas.profile() in bins as wide as the finest cells, and
        NAME_exact."""
        some = self.compared()
        columns = {name: values[some] for name, values in self.found.items()}
        width = self.mesh.side.min()
        table = gas.profile(self.position[some], self.mesh.volumes()[some], columns, width)
        for name, values in self.exact(table["position"]).items():
            table[f"{name}_exact"] = values
        return table

    def errors(self):
        """{L1_NAME: mean over the volume of |found - exact|} of the cells compared, and what the
        problem has of its own."""
        some = self.compared()
        volume = self.mesh.volumes()[some]
        exact = self.exact(self.position[some])
        off = {name: np.abs(self.found[name][some] - exact[name]) for name in self.fields}
        return {f"L1_{name}": float(np.average(off[name], weights=volume)) for name in self.fields}


class Sod(Problem):
    """Sod's shock tube."""

    left, right = (1.0, 0.0, 1.0), (0.125, 0.0, 0.1)

    @functools.cached_property
    def waves(self):
        return gas_exact.Riemann(self.left, self.right, self.mesh.gamma)

    def exact(self, position):
        if self.mesh.time > 0:
            return dict(zip(FIELDS, self.waves.at(position / self.mesh.time)))
        states = zip(FIELDS, self.left, self.right)
        return {name: np.where(position < 0, left, right) for name, left, right in states}

    def compared(self):
        """Along a diagonal the cells near it; all cells otherwise. In both cases not those that the
        sides of the box may have reached by waves."""
        reach = max(abs(speed) for side in (0, 1) for speed in self.waves.speeds(side))
        half = 0.5 / self.slope
        if not self.diagonal:
            return np.abs(self.position) <= half - reach * self.mesh.time * self._has_images()
        aside = self._offsets - self.normal[:, None] * self.position
        beside = np.sqrt(np.sum(aside**2, axis=0)) <= 0.1 * self.mesh.box.min()
        return beside & (np.abs(self.position) <= 2 * half - reach * self.mesh.time)

    def _has_images(self):
        """Whether the tube is repeated, so that waves come in from the sides, too."""
        boundaries = read_config(self.mesh.config_text).get("gas", {})
        axis = gas.AXES[int(np.argmax(self.normal))]
        return boundaries.get(f"{axis}_low", "periodic") == "periodic"

    def errors(self):
        """Also the values of the plateaus between the waves, and the place of the shock."""
        found = super().errors()
        table, t, waves = self.profile(), self.mesh.time, self.waves
        tail, shock = waves.speeds(0)[1] * t, waves.speeds(1)[0] * t
        contact, middle = waves.u * t, table["position"]
        star = (middle > tail + 0.2 * (contact - tail)) & (middle < shock - 0.2 * (shock - contact))
        left = star & (middle < contact - 0.3 * (contact - tail))
        right = star & (middle > contact + 0.3 * (shock - contact))
        places = {
            "pressure": ("pressure", star, waves.p),
            "velocity": ("velocity", star, waves.u),
            "density_left": ("density", left, waves.rho_left),
            "density_right": ("density", right, waves.rho_right),
        }
        for name, (field, where, exact) in places.items():
            if np.any(where):
                found[f"plateau_{name}"] = float(np.median(table[field][where]))
                found[f"plateau_{name}_exact"] = float(exact)
        if t > 0:
            found["shock"] = crossing(table, "density", (waves.rho_right + self.right[0]) / 2)
            found["shock_exact"] = float(shock)
        return found


class Radial(Problem):
    """A problem about the middle of the box, in all directions."""

    axis = "radius"

    @functools.cached_property
    def position(self):
        return np.sqrt(np.sum(self._offsets**2, axis=0))

    def _velocity(self):
        outwards = self._offsets / self.position
        return sum(n * self.mesh.values(f"velocity_{axis}") for n, axis in zip(outwards, gas.AXES))


class Sedov(Radial):
    """The explosion of an energy in the middle of the box, into gas of density 1."""

    background = 1e-5  # energy per volume outside

    @functools.cached_property
    def solution(self):
        return gas_exact.Sedov(self.mesh.gamma)

    @property
    def energy(self):
        return float(self.ic["energy"])

    def exact(self, position):
        pressure = (self.mesh.gamma - 1) * self.background
        if self.mesh.time > 0:
            values = self.solution.at(position, self.energy, 1.0, self.mesh.time, pressure)
        else:
            values = [np.full(position.shape, value) for value in (1.0, 0.0, pressure)]
        return dict(zip(FIELDS, values))

    def compared(self):
        """Not the corners of the box: shells there are not whole."""
        return self.position <= self.mesh.box.min() / 2

    def errors(self):
        """Also the largest density, and the radius of the shock: where the density falls through
        the middle between that and the gas outside."""
        found, table = super().errors(), self.profile()
        peak = int(np.argmax(table["density"]))
        found["peak_density"] = float(table["density"][peak])
        found["peak_density_exact"] = (self.mesh.gamma + 1) / (self.mesh.gamma - 1)
        if self.mesh.time > 0:
            half = (found["peak_density"] + 1) / 2
            found["shock"] = crossing(table, "density", half)
            radius = self.solution.shock_radius(self.energy, 1.0, self.mesh.time)
            found["shock_exact"] = float(radius)
        return found


class Acoustic(Problem):
    """A standing sound wave, one wave length along each side of the box in its direction."""

    pressure = 0.6
    rest = {"density": 1.0, "pressure": pressure}

    @property
    def unit(self):
        return float(self.ic["amplitude"])

    def exact(self, position):
        k = 2 * np.pi * self.slope
        sound = np.sqrt(self.mesh.gamma * self.pressure)
        values = gas_exact.standing_wave(
            k * position, k * sound * self.mesh.time, self.unit, 1.0, self.pressure, self.mesh.gamma
        )
        return dict(zip(FIELDS, values))


def newton_of(mesh):
    """The gravitational constant of a run of self-gravitating gas."""
    return float(read_config(mesh.config_text)["gas"]["newton_constant"])


class Jeans(Acoustic):
    """A wave of gas that grows under its own gravity, one wave length along each side of the box in
    its direction."""

    def _arguments(self):
        return self.unit, 1.0, self.pressure, self.mesh.gamma, newton_of(self.mesh)

    @property
    def wave_number(self):
        return 2 * np.pi * self.slope

    def exact(self, position):
        k = self.wave_number
        return dict(
            zip(FIELDS, gas_exact.jeans_wave(k * position, self.mesh.time, k, *self._arguments()))
        )


class Collapse(Radial):
    """A ball of density 1, as wide as half the box, whose pressure is small: in free fall, its gas
    adiabatic."""

    def __init__(self, mesh, ic):
        super().__init__(mesh, ic)
        self.newton, self.first = newton_of(mesh), mesh.box[0] / 4
        self.fall = gas_exact.FreeFall(1.0, self.newton)
        self.solved = mesh.time < self.fall.time

    def exact(self, position):
        radius, energy = self.fall.radius(self.mesh.time), 0.8 * np.pi * self.newton * self.first**2
        density, pressure = radius**-3, 0.003 * (self.mesh.gamma - 1) * energy
        return {
            "density": np.full(position.shape, density),
            "velocity": position * self.fall.rate(self.mesh.time),
            "pressure": np.full(position.shape, pressure * density**self.mesh.gamma),
        }

    def compared(self):
        """The inner half of the mass, which waves from the surface have not reached."""
        return self.position <= 0.5 ** (1 / 3) * self.first * self.fall.radius(self.mesh.time)


class Pancake(Problem):
    """Zel'dovich's wave in an expanding universe, before it crosses itself: density over its mean,
    peculiar velocity in km/s, temperature in K."""

    axis = "distance from the middle [Mpc/h]"
    fields = ("density", "velocity", "temperature")
    units = {"density": " / mean", "velocity": " [km/s]", "temperature": " [K]"}

    def __init__(self, mesh, ic):
        super().__init__(mesh, ic)
        given = read_config(mesh.config_text)["cosmology"]
        self.omega = float(given["Omega_m"]), float(given["Omega_lambda"])
        self.start = 1 / (1 + float(ic["z_init"]))
        self.caustic = gas_exact.growth(1 / (1 + float(ic["z_caustic"])), *self.omega)[0]
        self.solved = self._size(mesh.time) < 1

    def _first_temperature(self):
        given, z = float(self.ic["temperature"]), 1 / self.start - 1
        return given or 2.7255 * (1 + z) * min((1 + z) / 138, 1)

    def _size(self, a):
        return gas_exact.growth(a, *self.omega)[0] / self.caustic

    @functools.cached_property
    def found(self):
        density = self.mesh.values("density")
        mean = np.average(density, weights=self.mesh.volumes())
        velocity, temperature = self._velocity(), self.mesh.values("temperature")
        return {
            "density": density / mean,
            "velocity": velocity / self.mesh.time,
            "temperature": temperature,
        }

    def exact(self, position):
        a, k = self.mesh.time, 2 * np.pi * self.slope
        density, q = gas_exact.pancake(k * position, self._size(a))
        matter, dark = self.omega
        hubble = 100 * np.sqrt(matter / a**3 + dark + (1 - matter - dark) / a**2)
        flow = -a * hubble * gas_exact.growth(a, *self.omega)[1] * self._size(a) * np.sin(q) / k
        first = 1 / (1 - self._size(self.start) * np.cos(q))
        heat = self._first_temperature() * (self.start / a) ** 2
        return {
            "density": density,
            "velocity": flow,
            "temperature": heat * (density / first) ** (2 / 3),
        }


PROBLEMS = {
    "sod": Sod,
    "sedov": Sedov,
    "acoustic": Acoustic,
    "jeans": Jeans,
    "collapse": Collapse,
    "pancake": Pancake,
}


def crossing(table, name, value):
    """The last place at which a column of a profile falls through a value, or NaN."""
    column, place = table[name], table["position"]
    falls = np.flatnonzero((column[:-1] >= value) & (column[1:] < value))
    if not len(falls):
        return float("nan")
    i = falls[-1]
    share = (column[i] - value) / (column[i] - column[i + 1])
    return float(place[i] + share * (place[i + 1] - place[i]))


def problem_of(mesh):
    """The problem with an exact solution that a file is of, by its configuration, or None."""
    config = read_config(mesh.config_text + "\n") if mesh.config_text else {}
    kind = PROBLEMS.get(config.get("ic", {}).get("source"))
    return kind(mesh, config["ic"]) if kind else None
