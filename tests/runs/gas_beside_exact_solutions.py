# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of gas_beside_exact_solutions.sh: initial conditions as arrays, settings of runs, and the mean errors of
the density of what runs have made of them."""

import functools
import itertools
import sys

import h5py
import numpy as np
from photons.gas import Mesh
from photons.gas_exact import Riemann

G = 1.4
RIEMANN = {  # left and right rho, u, p; the diaphragm; time; ratio of specific heats
    "toro1": ((1, 0.75, 1), (0.125, 0, 0.1), 0.3, 0.2, G),
    "toro2": ((1, -2, 0.4), (1, 2, 0.4), 0.5, 0.15, G),
    "toro3": ((1, 0, 1000), (1, 0, 0.01), 0.5, 0.012, G),
    "toro4": ((5.99924, 19.5975, 460.894), (5.99242, -6.19633, 46.095), 0.4, 0.035, G),
    "toro5": ((1, -19.59745, 1000), (1, -19.59745, 0.01), 0.8, 0.012, G),
    "noh": ((1, 1, 1e-6), (1, -1, 1e-6), 0.5, 1.0, 5 / 3),
}
SPEEDS = {"vortex0": 0.0, "vortex1": 1.0, "vortex3": 3.0}
BALLS = ("noh3", "sphere", "explosion")
CELLS = {"waves": (256, 16, 16)}  # of the finest level along x, y, z, where they are not 128, 16, 16
CELLS.update({problem: (64, 64, 16) for problem in SPEEDS}, **{problem: (32, 32, 32) for problem in BALLS})
LENGTH = {"waves": 10, "plane": 8}
TIME = {"waves": 1.8, "blasts": 0.038, "plane": 0.8, "noh3": 0.6, "sphere": 2.7, "explosion": 0.03}
SPHERE, CONSTANT = 0.25, 0.0397887  # radius, and pressure over density^2, with which it rests in its gravity
# The largest error of each solver; of vortices the least kinetic energy that is left; of the plane shock the
# largest speed across it; of the explosion the largest difference between axes; of the sphere the part of its mass
# that is elsewhere after 3 times its sound crosses it.
LIMITS = {
    "toro1-0": {"muscl": 0.0045, "rtvd": 0.0073, "ppm": 0.0024},
    "toro2-0": {"muscl": 0.0066, "rtvd": 0.0115, "ppm": 0.0036},
    "toro3-0": {"muscl": 0.115, "rtvd": 0.155, "ppm": 0.055},
    "toro4-0": {"muscl": 0.36, "ppm": 0.15},
    "toro5-0": {"muscl": 0.034, "rtvd": 0.075, "ppm": 0.024, "ppm-double": 0.024},
    "toro1-2": {"muscl": 0.0045, "rtvd": 0.0073, "ppm": 0.0024},
    "noh-0": {"muscl": 0.019, "rtvd": 0.037, "ppm": 0.019},
    "waves-0": {"muscl": 0.08, "ppm": 0.061},
    "blasts-0": {"muscl": 0.24, "ppm": 0.155},
    "vortex0-0": {"muscl": 0.97},
    "vortex1-0": {"muscl": 0.96},
    "vortex3-0": {"ppm": 0.93},
    "plane-0": {"muscl": 1e-5, "rtvd": 1e-5, "ppm": 1e-5},
    "noh3-0": {"muscl": 0.1, "rtvd": 0.4, "ppm": 0.13},
    "explosion-0": {"muscl": 0.02, "rtvd": 0.041, "ppm": 0.1},
    "sphere-0": {"muscl": 0.18, "ppm": 0.08},
}


def cells_of(problem, levels):
    """Of the root level, which has 16 along an axis at least."""
    return [max(16, cells >> levels) for cells in CELLS.get(problem, (128, 16, 16))]


def middles(cells, length=1):
    return (np.arange(cells) + 0.5) / cells * length


def start_riemann(problem, x):
    """Of cells with middles x: the means of mass, momentum and energy, also where the diaphragm is in a cell."""
    left, right, middle, _, gamma = RIEMANN[problem]
    part = np.clip(0.5 + (middle - x) / (x[1] - x[0]), 0, 1)
    states = [np.array([rho, rho * u, p / (gamma - 1) + 0.5 * rho * u * u]) for rho, u, p in (left, right)]
    rho, momentum, energy = np.outer(states[0], part) + np.outer(states[1], 1 - part)
    return rho, momentum / rho, (gamma - 1) * (energy - 0.5 * momentum**2 / rho)


def start(problem, x):
    """rho, u, p of a problem along x."""
    if problem in RIEMANN:
        return start_riemann(problem, x)
    if problem == "waves":
        behind = x < 1
        rho = np.where(behind, 3.857143, 1 + 0.2 * np.sin(5 * (x - 5)))
        return rho, np.where(behind, 2.629369, 0), np.where(behind, 10.33333, 1)
    if problem == "blasts":
        return np.ones_like(x), np.zeros_like(x), np.where(x < 0.1, 1e3, np.where(x < 0.9, 0.01, 100))
    mach, behind = 6, x < 0.5
    rho = (G + 1) * mach**2 / ((G - 1) * mach**2 + 2)
    p = (2 * G * mach**2 - (G - 1)) / (G + 1) / G
    return np.where(behind, rho, 1), np.where(behind, mach * (1 - 1 / rho), 0), np.where(behind, p, 1 / G)


def vortex(speed, x, y):
    """Gresho's vortex: rho, u, v, p."""
    r = np.hypot(x - 0.5, y - 0.5) + 1e-300
    inner, outer = r < 0.2, r < 0.4
    around = np.where(inner, 5 * r, np.where(outer, 2 - 5 * r, 0))
    shell = 9 - 4 * np.log(0.2) + 12.5 * r**2 - 20 * r + 4 * np.log(r)
    p = np.where(inner, 5 + 12.5 * r**2, np.where(outer, shell, 3 + 4 * np.log(2)))
    return np.ones_like(r), speed - around * (y - 0.5) / r, around * (x - 0.5) / r, p


def noh3(x, y, z):
    """An octant of gas that falls to a point: rho, velocity, p."""
    r = np.sqrt(x**2 + y**2 + z**2)
    return np.ones_like(r), (-x / r, -y / r, -z / r), np.full_like(r, 1e-6)


def noh3_density(r, time):
    return np.where(r < time / 3, 64, (1 + time / r) ** 2)


def sphere(x, y, z):
    """A polytrope of index 1 in thin gas, whose gravity its pressure carries: rho, velocity, p."""
    r = np.pi / SPHERE * np.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2)
    rho = np.maximum(np.where(r < np.pi, np.sin(r) / r, 0), 1e-4)
    return rho, (0.0, 0.0, 0.0), np.maximum(CONSTANT * rho**2, 1e-6)


def explosion(x, y, z):
    """A ball of hot gas: rho, velocity, p."""
    r = np.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2)
    return np.ones_like(r), (0.0, 0.0, 0.0), np.where(r < 0.1, 100, 0.01)


def write(path, shape, rho, u, v, p, w=0.0):
    with h5py.File(path, "w") as file:
        names = ("density", "velocity_x", "velocity_y", "velocity_z", "pressure")
        for name, values in zip(names, (rho, u, v, w, p)):
            file[name] = np.broadcast_to(values, shape)


def make(*cases):
    """The arrays of cases PROBLEM-LEVELS, by default of all that have limits."""
    for case in cases or LIMITS:
        problem, levels = case.rsplit("-", 1)
        root = cells_of(problem, int(levels))
        shape = [n * 2 ** int(levels) for n in root[::-1]]
        x = middles(shape[2], LENGTH.get(problem, 1))
        if problem in SPEEDS:
            rho, u, v, p = vortex(SPEEDS[problem], x, x[:, None])
        elif problem in BALLS:
            rho, velocity, p = globals()[problem](x, x[:, None], x[:, None, None])
            write(f"{case}.hdf5", shape, rho, *velocity[:2], p, velocity[2])
            continue
        else:
            (rho, u, p), v = start(problem, x), 0.0
        if problem == "plane":
            rho = rho * (1 + 1e-6 * np.random.default_rng(1).uniform(-1, 1, shape))
        write(f"{case}.hdf5", shape, rho, u, v, p)


def runs():
    """PROBLEM SOLVER LEVELS PRECISION of all runs that have limits."""
    for case, limits in LIMITS.items():
        problem, levels = case.rsplit("-", 1)
        for name in limits:
            solver, _, precision = name.partition("-")
            print(problem, solver, levels, precision or "single")


def settings(problem, levels):
    values = {
        "gas.root": ",".join(map(str, cells_of(problem, int(levels)))),
        "gas.length": LENGTH.get(problem, 1),
        "time.end": RIEMANN[problem][3] if problem in RIEMANN else TIME.get(problem, 1.0),
    }
    if problem in RIEMANN:
        values["gas.gamma"] = RIEMANN[problem][4]
    if problem == "noh3":
        values["gas.gamma"] = 5 / 3
        values.update({f"gas.{axis}_low": "reflecting" for axis in "xyz"})
        values.update({f"gas.{axis}_high": "outflow" for axis in "xyz"})
    elif problem == "sphere":
        values.update({"gas.gamma": 2, "gas.gravity": "self", "gas.newton_constant": 1})
        values.update({f"gas.{axis}_{end}": "outflow" for axis in "xyz" for end in ("low", "high")})
    elif problem not in (*SPEEDS, "explosion"):
        side = "reflecting" if problem == "blasts" else "outflow"
        values["gas.x_low"] = values["gas.x_high"] = side
    print(*(f"--set {key}={value}" for key, value in values.items()))


def primitive(q):
    return q[0], q[1] / q[0], (G - 1) * (q[2] - 0.5 * q[1] ** 2 / q[0])


def flux_of(rho, u, p):
    return np.array([rho * u, rho * u * u + p, u * (p * G / (G - 1) + 0.5 * rho * u * u)])


def hllc(a, b):
    """Toro 2009, section 10.4, with the simplest speeds."""
    states = [np.array([rho, rho * u, p / (G - 1) + 0.5 * rho * u * u]) for rho, u, p in (a, b)]
    sound = [np.sqrt(G * p / rho) for rho, _, p in (a, b)]
    left = np.minimum(a[1] - sound[0], b[1] - sound[1])
    right = np.maximum(a[1] + sound[0], b[1] + sound[1])
    mass = a[0] * (left - a[1]), b[0] * (right - b[1])
    middle = (b[2] - a[2] + mass[0] * a[1] - mass[1] * b[1]) / (mass[0] - mass[1])
    result = []
    for (rho, u, p), q, s, m in zip((a, b), states, (left, right), mass):
        star = m / (s - middle)
        energy = star * (q[2] / rho + (middle - u) * (middle + p / m))
        result.append(flux_of(rho, u, p) + s * (np.array([star, star * middle, energy]) - q))
    inside = np.where(middle > 0, result[0], result[1])
    return np.where(left > 0, flux_of(*a), np.where(right < 0, flux_of(*b), inside))


@functools.cache
def reference(problem, finer=8):
    """The density of a second-order solution in one dimension with finer cells."""
    n, length, end = finer * cells_of(problem, 0)[0], LENGTH.get(problem, 1), TIME[problem]
    rho, u, p = start(problem, middles(n, length))
    q, time = np.array([rho, rho * u, p / (G - 1) + 0.5 * rho * u * u]), 0.0
    sign = np.array([1, -1 if problem == "blasts" else 1, 1])[:, None]
    while time < end:
        w = np.array(primitive(q))
        step = min(0.8 * length / n / (abs(w[1]) + np.sqrt(G * w[2] / w[0])).max(), end - time)
        w = np.concatenate([sign * w[:, 1::-1], w, sign * w[:, :-3:-1]], axis=1)
        a, b = w[:, 1:-1] - w[:, :-2], w[:, 2:] - w[:, 1:-1]
        d = np.where(a * b > 0, 2 * a * b / np.where(a * b > 0, a + b, 1), 0)
        rho, u, p = w[:, 1:-1]
        change = np.array([u * d[0] + rho * d[1], u * d[1] + d[2] / rho, u * d[2] + G * p * d[1]])
        half = w[:, 1:-1] - 0.5 * step * n / length * change
        fluxes = hllc((half + 0.5 * d)[:, :-1], (half - 0.5 * d)[:, 1:])
        q = q - step * n / length * (fluxes[:, 1:] - fluxes[:, :-1])
        time += step
    return q[0]


def reference_in(problem, x, side):
    """Its mean density in cells at x."""
    rho = reference(problem)
    mass = np.concatenate([[0], np.cumsum(rho)])
    low, high = (np.rint((x + s * side) / LENGTH.get(problem, 1) * len(rho)).astype(int) for s in (-0.5, 0.5))
    return (mass[high] - mass[low]) / (high - low)


def known(problem, x, side):
    """The mean density of cells at x."""
    left, right, middle, time, gamma = RIEMANN[problem]
    exact, parts = Riemann(left, right, gamma), (np.arange(20) + 0.5) / 20 - 0.5
    places = x[:, None] + side[:, None] * parts
    return exact.at((places - middle) / time)[0].mean(axis=1)


def vortex_left(mesh, problem):
    """The part of the kinetic energy of the vortex that is left."""
    u, v = mesh.values("velocity_x") - SPEEDS[problem], mesh.values("velocity_y")
    x, y, _ = mesh.positions()
    _, u0, v0, _ = vortex(0, x, y)
    volume = mesh.volumes()
    return ((u**2 + v**2) * volume).sum() / ((u0**2 + v0**2) * volume).sum()


def ball_error(mesh, problem, levels):
    rho = mesh.grid("density", levels)
    x = middles(len(rho))
    x, y, z = x, x[:, None], x[:, None, None]
    r = np.sqrt(x**2 + y**2 + z**2)
    right = noh3_density(r, TIME["noh3"]) if problem == "noh3" else sphere(x, y, z)[0]
    part = r < (0.35 if problem == "noh3" else 2)  # waves from open sides do not come so far
    return abs(rho - right)[part].sum() / right[part].sum()


def axes_differ(rho):
    """The largest change of the density where axes are exchanged, over the largest density."""
    exchanged = (rho.transpose(axes) for axes in itertools.permutations(range(3)))
    return max(abs(rho - other).max() for other in exchanged) / rho.max()


def line_error(mesh, problem):
    line = mesh.line(["density"], axis="x")
    x, side, rho = (np.array(line[name]) for name in ("x", "side", "density"))
    right = (known if problem in RIEMANN else reference_in)(problem, x, side)
    return (abs(rho - right) * side).sum() / side.sum()


def measure(case, solver, folder="."):
    problem, levels = case.rsplit("-", 1)
    mesh = Mesh(f"{folder}/{problem}-{solver}-{levels}/gas_000.hdf5")
    if problem == "plane":
        return max(abs(mesh.values(f"velocity_{axis}")).max() for axis in "yz")
    if problem in SPEEDS:
        return vortex_left(mesh, problem)
    if problem == "explosion":
        return axes_differ(mesh.grid("density", int(levels)))
    if problem in BALLS:
        return ball_error(mesh, problem, int(levels))
    return line_error(mesh, problem)


def check():
    failed = False
    for case, limits in LIMITS.items():
        for solver, limit in limits.items():
            value = measure(case, solver)
            bad = not (value >= limit if case.startswith("vortex") else value <= limit)
            failed = failed or bad
            print(f"{'FAILED: ' if bad else ''}{case} {solver}: {value:.3g}, limit {limit:g}")
    sys.exit(failed)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
