# SPDX-License-Identifier: GPL-3.0-or-later
"""What grows or falls together in a run of gas, at all outputs, beside theory: waves that gravity
or shear makes unstable, and a ball in free fall. Numbers have the units of the run."""

from . import gas, gas_exact, gas_problems
from .files import read_config
from .galaxy_plots import new_figure
from .modules import Deferred

np = Deferred("numpy")

LINEAR = 0.05  # a wave of a larger relative size is not in linear theory


class JeansWave:
    """The relative amplitude of the density's wave, which grows as exp(rate t)."""

    name, label, logarithmic = "amplitude", "amplitude of the wave / mean density", True
    theory_label, linear = "linear theory", LINEAR

    def __init__(self, mesh, ic):
        self.problem = gas_problems.Jeans(mesh, ic)

    def found(self, mesh):
        """Twice the mean of the contrast times the wave of size 1."""
        here = gas_problems.Jeans(mesh, self.problem.ic)
        contrast = (here.found["density"] - 1) * np.sin(here.wave_number * here.position)
        return 2 * float(np.average(contrast, weights=mesh.volumes()))

    def theory(self, times):
        mesh, k = self.problem.mesh, self.problem.wave_number
        pressure = self.problem.pressure
        rate = gas_exact.jeans_rate(k, 1.0, pressure, mesh.gamma, gas_problems.newton_of(mesh))
        return self.problem.unit * np.exp(rate * times).real


class ShearWave:
    """The amplitude of the waves of the velocity along y at the edges of two layers that slide past
    each other, weighted as by McNally, Lyra & Passy (2012, ApJS 201, 18, equations 10 to 13)."""

    name, label, logarithmic = "amplitude", "amplitude of the velocity along y / shear", True
    theory_label, linear = "linear theory", LINEAR
    points = 128  # across the layers
    first, pressure, width = 0.01, 2.5, 0.025  # of the velocity along y; width of an edge

    def __init__(self, mesh, ic):
        del ic
        self.box, self.gamma = mesh.box, mesh.gamma

    def _weight(self, y):
        """Of the waves at the two edges, which fall off within a wave length."""
        height = self.box[1]
        from_side = np.where(y < height / 2, y, height - y)
        return np.exp(-4 * np.pi / self.box[0] * np.abs(from_side - height / 4))

    def found(self, mesh):
        x, y, _ = mesh.positions()
        weight = self._weight(y) * mesh.volumes()
        turn = np.exp(4j * np.pi * x / self.box[0])
        return 2 * float(abs(np.sum(mesh.values("velocity_y") * turn * weight)) / np.sum(weight))

    def _layer(self, y, outer, inner):
        """McNally's smooth change from one layer to the other; y over the height of the box."""
        middle, edge = (outer - inner) / 2, 0.25 - np.abs(y - 0.5)  # below 0 in the outer layer
        ramp = np.exp(-np.abs(edge) / self.width)
        return np.where(edge > 0, inner + middle * ramp, outer - middle * ramp)

    def theory(self, times):
        """The equations of gas to first order in the wave, whose shape across the layers changes:
        d/dt of density, velocity along x and y, and pressure, by Fourier derivatives and
        Runge and Kutta's method of fourth order."""
        y = (np.arange(self.points) + 0.5) / self.points
        layers = self._layer(y, 1.0, 2.0), self._layer(y, 0.5, -0.5)
        weight = self._weight(y * self.box[1])
        state = np.zeros((4, self.points), dtype=complex)
        state[2] = self.first
        change = LinearChange(*layers, self.pressure, self.gamma, self.box)
        found, now = [], 0.0
        for time in times:
            state, now = change.advance(state, time - now), time
            found.append(abs(np.sum(state[2] * weight)) / np.sum(weight))
        return np.array(found)


class LinearChange:
    """Small waves exp(4 pi i x/width of the box) on gas of one pressure, whose density and velocity
    along x change along y."""

    def __init__(self, density, velocity, pressure, gamma, box):
        self.density, self.velocity, self.pressure, self.gamma = density, velocity, pressure, gamma
        self.k = 4j * np.pi / box[0]
        self.wave = 2j * np.pi / box[1] * np.fft.fftfreq(len(density), 1 / len(density))
        self.slopes = self._slope(density).real, self._slope(velocity).real
        sound = np.sqrt(gamma * pressure / density.min()) + np.abs(velocity).max()
        self.step = 1 / (sound * (np.abs(self.wave).max() + abs(self.k)))

    def _slope(self, values):
        return np.fft.ifft(self.wave * np.fft.fft(values))

    def _rate(self, state):
        density, along, across, pressure = state
        spread = self.k * along + self._slope(across)
        return -self.k * self.velocity * state - np.array(
            [
                across * self.slopes[0] + self.density * spread,
                across * self.slopes[1] + self.k * pressure / self.density,
                self._slope(pressure) / self.density,
                self.gamma * self.pressure * spread,
            ]
        )

    def advance(self, state, time):
        steps = int(np.ceil(time / self.step))
        for _ in range(steps):
            h = time / steps
            first = self._rate(state)
            second = self._rate(state + h / 2 * first)
            third = self._rate(state + h / 2 * second)
            fourth = self._rate(state + h * third)
            state = state + h / 6 * (first + 2 * second + 2 * third + fourth)
        return state


class FallingBall:
    """The radius of the sphere that holds half of the mass of a ball, over the first one."""

    name, label, logarithmic = "radius", "radius of half of the mass / exact initial one", False
    theory_label, linear = "free fall without pressure", 0.0

    def __init__(self, mesh, ic):
        self.problem = gas_problems.Collapse(mesh, ic)
        self.half = 2 * np.pi / 3 * self.problem.first**3

    def found(self, mesh):
        """Between the middles of cells the mass grows with the volume."""
        here = gas_problems.Collapse(mesh, self.problem.ic)
        order = np.argsort(here.position)
        mass = np.cumsum((here.found["density"] * mesh.volumes())[order])
        cube = np.interp(self.half, mass, here.position[order] ** 3)
        return float(cube ** (1 / 3) / (0.5 ** (1 / 3) * self.problem.first))

    def theory(self, times):
        return self.problem.fall.radius(times)


KINDS = {"jeans": JeansWave, "kelvin_helmholtz": ShearWave, "collapse": FallingBall}


class Evolution:
    """One of these measures at all outputs of a run.

    Attributes: kind, of the classes above; time and found [output]."""

    def __init__(self, paths):
        meshes = [gas.Mesh(path) for path in paths]
        ic = read_config(meshes[0].config_text)["ic"]
        self.kind = KINDS[ic["source"]](meshes[0], ic)
        self.time = np.array([mesh.time for mesh in meshes])
        self.found = np.array([self.kind.found(mesh) for mesh in meshes])

    def theory(self, times):
        return self.kind.theory(np.asarray(times, dtype=float))

    def table(self):
        name = self.kind.name
        return {"time": self.time, name: self.found, f"{name}_theory": self.theory(self.time)}

    def rates(self):
        """Growth rates of the run and of theory over the outputs of the same times: the slopes of
        ln(amplitude) while waves are small, without the first output of more than two; None where
        there are no two such outputs."""
        exact = self.theory(self.time)
        some = (exact > 0) & (exact < self.kind.linear) & (self.found > 0)
        some[0] &= np.count_nonzero(some) < 3
        if np.count_nonzero(some) < 2:
            return None
        return tuple(
            float(np.polyfit(self.time[some], np.log(values[some]), 1)[0])
            for values in (self.found, exact)
        )


def evolution_of(paths):
    """The Evolution of the outputs of a run, by time, or None where there is no theory."""
    config = gas.Mesh(paths[0]).config_text if len(paths) > 1 else ""
    source = read_config(config + "\n").get("ic", {}).get("source") if config else None
    return Evolution(paths) if source in KINDS else None


def plot_evolution(outputs):
    """A wave that grows, or a ball that falls together, at all outputs beside theory; below, the
    run over theory."""
    evolution = outputs.evolution
    if evolution is None:
        return None
    kind, time, found = evolution.kind, evolution.time, evolution.found
    fine, rates = np.linspace(time[0], time[-1], 201), evolution.rates()
    figure, (top, bottom) = new_figure(
        nrows=2, sharex=True, figsize=(7, 6), height_ratios=[2.5, 1]
    )
    top.plot(fine, evolution.theory(fine), "-", color="#cc6677", lw=1.2, label=kind.theory_label)
    top.plot(time, found, "o", color="#332288", ms=5, label="run")
    top.set(yscale="log" if kind.logarithmic else "linear", ylabel=kind.label)
    top.legend(frameon=False)
    if rates is not None:
        top.set_title("growth rate: run {:.5g}, theory {:.5g}".format(*rates), fontsize="small")
    bottom.plot(time, found / evolution.theory(time), "o-", color="#332288", ms=4, lw=0.8)
    bottom.axhline(1, color="0.6", lw=0.8)
    bottom.set(xlabel="t" + gas.CODE_UNITS, ylabel="run / theory")
    return figure
