# SPDX-License-Identifier: GPL-3.0-or-later
"""Are the exact solutions, the reader of gas files, and what figures and page show right? Files are
made here, with cells that hold exact solutions."""

import argparse
import csv
import os
import shutil
import sys

import numpy as np
import photons
from photons import gas, gas_exact, gas_growth, gas_halos, gas_plots, gas_problems, plots
from photons.serve import LivePage

sys.path.insert(0, os.path.join(os.environ["PHOTONS_SOURCE"], "tests", "support"))
from gas_files import write_gas  # noqa: E402

# The Riemann problem: pressure, velocity and the two densities between the waves, from Toro 2009,
# table 4.3, to its digits; Sod's with gamma = 5/3 as commonly given.
TORO = [
    ((1, 0, 1), (0.125, 0, 0.1), (0.30313, 0.92745, 0.42632, 0.26557)),
    ((1, -2, 0.4), (1, 2, 0.4), (0.00189, 0.0, 0.02185, 0.02185)),
    ((1, 0, 1000), (1, 0, 0.01), (460.894, 19.5975, 0.57506, 5.99924)),
    ((1, 0, 0.01), (1, 0, 100), (46.0950, -6.19633, 5.99242, 0.57511)),
]
last = (1691.64, 8.68975, 14.2823, 31.0426)
TORO.append(((5.99924, 19.5975, 460.894), (5.99242, -6.19633, 46.0950), last))
for left, right, expected in TORO:
    waves = gas_exact.Riemann(left, right, 1.4)
    found = (waves.p, waves.u, waves.rho_left, waves.rho_right)
    assert np.allclose(found, expected, rtol=2e-5, atol=5e-6), (found, expected)
waves = gas_exact.Riemann((1, 0, 1), (0.125, 0, 0.1), 5 / 3)
found = (waves.p, waves.u, waves.rho_left, waves.rho_right)
assert np.allclose(found, (0.29395, 0.84119, 0.47969, 0.22981), atol=1e-5), found
# Mass, momentum and energy of the solution are those of the two states and of pressure at the ends.
x = (np.arange(400000) + 0.5) / 100000 - 2
rho, u, p = waves.at(x)
assert abs(np.mean(rho) * 4 - 2 * 1.125) < 1e-5
assert abs(np.mean(rho * u) * 4 - 0.9) < 1e-5
assert abs(np.mean(p / (2 / 3) + rho * u**2 / 2) * 4 - 2 * 1.5 * 1.1) < 1e-5
for bad in ((-1, 0, 1), (1, -30, 1)):
    try:
        gas_exact.Riemann(bad, (1, 0, 1), 1.4)
    except ValueError:
        continue
    raise AssertionError(f"{bad}: no error")

# Sedov: alpha of Kamm & Timmes 2007 for gamma 1.4; jumps at the shock; mass swept up is conserved.
blast = gas_exact.Sedov(1.4)
assert abs(blast.alpha - 0.851072) < 1e-6, blast.alpha
for gamma in (1.2, 1.4, 5 / 3):
    blast = gas_exact.Sedov(gamma)
    r = (np.arange(200000) + 0.5) / 200000
    rho, u, p = blast.at(r * blast.shock_radius(2.0, 3.0, 0.5), 2.0, 3.0, 0.5)
    speed = 0.4 * blast.shock_radius(2.0, 3.0, 0.5) / 0.5
    jump = 3 * (gamma + 1) / (gamma - 1), 2 / (gamma + 1) * speed, 6 / (gamma + 1) * speed**2
    assert np.allclose((rho[-1], u[-1], p[-1]), jump, rtol=1e-3)
    assert abs(np.mean(rho * 3 * r**2) / 3 - 1) < 1e-4
    volume = 4 / 3 * np.pi * blast.shock_radius(2.0, 3.0, 0.5) ** 3
    energy = np.mean((p / (gamma - 1) + rho * u**2 / 2) * 3 * r**2) * volume
    assert abs(energy / 2.0 - 1) < 1e-4

# The standing wave solves the linear equations: d rho/dt = -rho_0 du/dx, du/dt = -(dp/dx)/rho_0.
k, sound, amplitude, step = 3.0, np.sqrt(5 / 3 * 0.6), 1e-6, 1e-4
phase = np.linspace(0, 6, 50)


def wave(dx, dt):
    x, t = phase + k * dx, k * sound * (0.7 + dt)
    return gas_exact.standing_wave(x, t, amplitude, 1.0, 0.6, 5 / 3)


(rho_t, u_t, _), (_, u_x, p_x) = (
    [(after - before) / (2 * step) for after, before in zip(wave(*d), wave(*(-v for v in d)))]
    for d in ((0, step), (step, 0))
)
assert np.allclose(rho_t, -u_x, atol=1e-5 * amplitude * k)
assert np.allclose(u_t, -p_x, atol=1e-5 * amplitude * k)

# Growth in an Einstein-de Sitter universe, and with a cosmological constant (Carroll, Press & Turner
# 1992); Zel'dovich's wave conserves mass.
assert np.allclose(gas_exact.growth(0.1, 1.0, 0.0), (0.1, 1.0), rtol=1e-4)
assert np.allclose(gas_exact.growth(1.0, 0.3, 0.7), (0.7789, 0.5130), rtol=1e-3)
phase = np.linspace(-np.pi, np.pi, 2001)[:-1]
density, q = gas_exact.pancake(phase, 0.9)
assert np.isclose(density.mean(), 1, atol=1e-3) and np.allclose(q - 0.9 * np.sin(q), phase, atol=1e-6)

# Reading: a mesh of three levels, refined off the middle, with a field that is linear in x, y, z.


def linear(x, y, z):
    return 1 + x + 2 * y + 4 * z, 0 * x + 0.5, 0 * x, 0 * x, 2 + x + 0 * y + 0 * z


def near(middle, place, reach):
    return np.all(np.abs(middle - place) < reach, axis=1)


def refined(level, middle):
    return near(middle, (0.6, 0.2, 0.3), (0.3, 0.16)[level])


write_gas("gas_linear.hdf5", (32, 16, 16), linear, refined, time=0.25)
mesh = photons.load("gas_linear.hdf5")
assert (mesh.time, mesh.finest, mesh.gamma) == (0.25, 2, 5 / 3) and np.all(mesh.patches > 0)
assert np.isclose(mesh.volumes().sum(), 0.25) and len(mesh.values("density")) == mesh.cells
x, y, z = mesh.positions()
assert np.allclose(mesh.values("density"), 1 + x + 2 * y + 4 * z)
assert np.allclose(mesh.values("pressure"), 2 + x) and np.allclose(mesh.values("speed"), 0.5)
assert np.isclose(mesh.integral("density"), 0.25 * (1 + 0.5 + 2 * 0.25 + 4 * 0.25))
line = mesh.line(["density", "level"], "x", (0.21, 0.31))
edges = np.append(line["x"] - line["side"] / 2, 1.0)
assert np.allclose(edges[1:], line["x"] + line["side"] / 2) and np.isclose(edges[0], 0)
assert set(line["level"]) == {0, 1, 2}
assert np.all(np.abs(line["density"] - (1 + line["x"] + 2 * 0.21 + 4 * 0.31)) <= 3 * line["side"])
fine = mesh.slice("density", "z", 0.3)
assert fine.shape == (64, 128)
rows, columns = (np.arange(n) / 128 + 1 / 256 for n in fine.shape)
off = np.abs(fine - (1 + columns + 2 * rows[:, None] + 4 * 0.3))
level = mesh.slice("level", "z", 0.3)
assert np.all(off <= 3.51 / 32 / 2**level) and len(np.unique(level)) == 3
for axis in "xyz":  # coarser pixels are means of finer ones
    picture = mesh.slice("density", axis)
    means = picture.reshape(picture.shape[0] // 4, 4, -1, 4).mean(axis=(1, 3))
    assert np.allclose(mesh.slice("density", axis, level=0), means)
    for level in range(3):
        area = 0.25 / mesh.box["xyz".index(axis)]
        projected = mesh.projection("density", axis, level)
        assert np.isclose(projected.mean() * area, mesh.integral("density"))
assert np.isclose(mesh.projection("density", "z")[3, 5], 0.5 * (1 + 5.5 / 128 + 2 * 3.5 / 128 + 1),
                  atol=2 / 32)  # fmt: skip

# Problems: cells that hold the exact solution have no error; of another time they have.


def sod(x, y, z, time=0.1, normal=(1, 0, 0)):
    away = [c - 0.5 * side for c, side in zip((x, y, z), (1, 0.5, 0.5))]
    along = sum(n * c for n, c in zip(normal, away))
    rho, u, p = gas_exact.Riemann((1, 0, 1), (0.125, 0, 0.1), 5 / 3).at(along / time)
    return rho, *(n * u for n in normal), p


SOD = "[run]\nsystem = gas\n[ic]\nsource = sod\ndirection = x\n[gas]\nx_low = outflow\n"


def around_waves(level, middle):
    return np.abs(middle[:, 0] - 0.55) < (0.3, 0.15)[level]


write_gas("sod.hdf5", (32, 16, 16), sod, around_waves, time=0.1, config=SOD)
problem = gas_problems.problem_of(gas.Mesh("sod.hdf5"))
errors = problem.errors()
assert errors["L1_density"] < 1e-14 and errors["L1_velocity"] < 1e-14, errors
for name in ("pressure", "velocity", "density_left", "density_right"):
    assert np.isclose(errors[f"plateau_{name}"], errors[f"plateau_{name}_exact"]), name
assert abs(errors["shock"] - errors["shock_exact"]) <= 1 / 128, errors
late = gas.Mesh("sod.hdf5")
late.time = 0.11
assert gas_problems.problem_of(late).errors()["L1_density"] > 5e-3

normal = np.array([1.0, 2.0, 2.0]) / 3  # normal of x + 2 y + 2 z, as in a box of 1, 1/2, 1/2
write_gas("diagonal.hdf5", (32, 16, 16), lambda x, y, z: sod(x, y, z, 0.03, normal), time=0.03,
          finest=0, config=SOD.replace("direction = x", "direction = diagonal"))  # fmt: skip
problem = gas_problems.problem_of(gas.Mesh("diagonal.hdf5"))
assert problem.errors()["L1_velocity"] < 1e-13 and 50 < np.count_nonzero(problem.compared()) < 4000

blast = gas_exact.Sedov(5 / 3)


def sedov(x, y, z, time=0.02):
    away = [c - 0.5 for c in (x, y, z)]
    r = np.sqrt(sum(c**2 for c in away))
    rho, u, p = blast.at(r, 1.0, 1.0, time, 2 / 3 * 1e-5)
    return rho, *(u * c / r for c in away), p


SEDOV = "[ic]\nsource = sedov\nenergy = 1\n"
write_gas("sedov.hdf5", (32, 32, 32), sedov, finest=1, time=0.02, config=SEDOV,
          refined=lambda level, middle: near(middle, (0.5, 0.5, 0.5), 0.3))  # fmt: skip
problem = gas_problems.problem_of(gas.Mesh("sedov.hdf5"))
errors = problem.errors()
assert errors["L1_density"] < 1e-13, errors
assert abs(errors["shock"] - errors["shock_exact"]) < 1 / 64, errors
assert np.isclose(errors["peak_density_exact"], 4) and 2 < errors["peak_density"] < 4


def acoustic(x, y, z):
    k = 2 * np.pi
    phase = k * (x + y + z - 1.5)
    rho, u, p = gas_exact.standing_wave(phase, k * np.sqrt(3) * 0.1, 1e-3, 1.0, 0.6, 5 / 3)
    return rho, *(u / np.sqrt(3) for _ in range(3)), p


WAVE = "[ic]\nsource = acoustic\ndirection = diagonal\namplitude = 1e-3\n"
write_gas("acoustic.hdf5", (32, 32, 32), acoustic, finest=0, time=0.1, config=WAVE)
problem = gas_problems.problem_of(gas.Mesh("acoustic.hdf5"))
assert problem.errors()["L1_velocity"] < 1e-15 and np.ptp(problem.profile()["density"]) > 8e-4
largest = np.max(problem.shown("density", problem.found["density"]))
assert 0.9 < largest / np.cos(0.2 * np.pi * 3**0.5) <= 1  # no cell is at the very crest
assert gas_problems.problem_of(mesh) is None  # without a configuration

# Free fall conserves energy, and ends at its time; the speed is the rate of change of the radius.
fall, t = gas_exact.FreeFall(2.0, 3.0), np.linspace(0.01, 0.99, 50)
t *= fall.time
r, speed = fall.radius(t), fall.rate(t) * fall.radius(t)
assert np.allclose(speed**2, 8 * np.pi / 3 * 3 * 2 * (1 / r - 1), rtol=1e-4)
assert np.allclose((fall.radius(t + 1e-4) - fall.radius(t - 1e-4)) / 2e-4, speed, rtol=2e-3)
assert fall.radius(0) == 1 and abs(fall.radius(fall.time)) < 1e-8

# Waves and a ball at several outputs: cells that hold the theory's values agree with it.
GRAVITY = "amplitude = 1e-6\n[gas]\nnewton_constant = 1e-3\n"
for number, t in enumerate((0.0, 10.0, 30.0)):

    def jeans(x, y, z, t=t):
        k = 2 * np.pi / 128
        arguments = k * (x + 0 * y + 0 * z - 64), t, k, 1e-6, 1.0, 0.6, 5 / 3, 1e-3
        rho, u, p = gas_exact.jeans_wave(*arguments)
        return rho, u, 0 * u, 0 * u, p

    write_gas(f"jeans_{number}.hdf5", (16, 16, 16), jeans, finest=0, length=128.0, time=t,
              config="[ic]\nsource = jeans\ndirection = x\n" + GRAVITY)  # fmt: skip
waves_grow = gas_growth.evolution_of([f"jeans_{number}.hdf5" for number in range(3)])
assert np.allclose(waves_grow.found, waves_grow.theory(waves_grow.time), rtol=1e-7)
assert np.allclose(waves_grow.rates(), 0.10078, rtol=1e-4), waves_grow.rates()
errors = gas_problems.problem_of(gas.Mesh("jeans_2.hdf5")).errors()
assert errors["L1_density"] < 1e-14 and errors["L1_velocity"] < 1e-14, errors
rate = gas_exact.jeans_rate(1.0, 1.0, 0.6, 5 / 3, 0.0)  # without gravity it is that of sound
still = gas_exact.jeans_wave(0.3, 2.0, 1.0, 1e-6, 1.0, 0.6, 5 / 3, 0.0)
sound = gas_exact.standing_wave(0.3 - np.pi / 2, 2.0, 1e-6, 1.0, 0.6, 5 / 3)
assert np.isclose(rate, 1j) and np.allclose(still, sound, rtol=1e-12)

BALL = "[ic]\nsource = collapse\n[gas]\nnewton_constant = 1\n"
fall = gas_exact.FreeFall(1.0, 1.0)
for number, t in enumerate((0.0, 0.4)):

    def ball(x, y, z, t=t):
        away = [c - 0.5 for c in (x, y, z)]
        inside = np.sqrt(sum(c**2 for c in away)) < 0.25 * fall.radius(t)
        rho = np.where(inside, fall.radius(t) ** -3, 1e-3)
        speeds = (fall.rate(t) * c * inside for c in away)
        pressure = 0.003 * 2 / 3 * 0.8 * np.pi / 16 * fall.radius(t) ** -5
        return rho, *speeds, np.full(rho.shape, pressure)

    write_gas(f"ball_{number}.hdf5", (64, 64, 64), ball, finest=0, time=t, config=BALL)
falls = gas_growth.evolution_of(["ball_0.hdf5", "ball_1.hdf5"])
assert falls.rates() is None
assert np.allclose(falls.found, fall.radius(falls.time), rtol=5e-3), falls.found  # cells are wide
assert gas_problems.problem_of(gas.Mesh("ball_1.hdf5")).errors()["L1_velocity"] < 1e-12
write_gas("late.hdf5", (16, 16, 16), ball, finest=0, time=0.6, config=BALL)
assert not gas_problems.problem_of(gas.Mesh("late.hdf5")).solved  # the ball has been a point


# Layers that slide: sound runs through uniform gas; thin edges grow at the rate of a vortex sheet,
# k shear sqrt(rho_1 rho_2)/(rho_1 + rho_2), to which two widths lead. Compression slows it by 2 %.
class Layers:
    box, gamma, time = np.array([1.0, 1.0, 0.25]), 5 / 3, 0.0


even_gas = gas_growth.LinearChange(np.ones(16), np.full(16, 0.3), 0.6, 5 / 3, Layers.box)
begin = np.outer((1, 1, 0, 1), np.ones(16)).astype(complex)  # a wave along x; the sound speed is 1
turn = np.exp(-4j * np.pi * 1.3 * 0.1)
assert np.allclose(even_gas.advance(begin, 0.1), begin * turn, atol=5e-5)  # of Runge and Kutta
rates = []
for width in (0.01, 0.005):
    layers = gas_growth.ShearWave(Layers, {})
    layers.points, layers.width = 256, width
    early, late = layers.theory([0.5, 0.6])
    rates.append(np.log(late / early) / 0.1)
sheet = 4 * np.pi * np.sqrt(2) / 3
assert abs((2 * rates[1] - rates[0]) / sheet - 1) < 0.04, (rates, sheet)


def shear(x, y, z):
    layer = np.where(np.abs(y - 0.5) < 0.25, 1.0, 0.0) + 0 * x + 0 * z
    wave = 0.01 * np.sin(4 * np.pi * x) + 0 * layer
    return 1 + layer, 0.5 - layer, wave, 0 * layer, np.full(layer.shape, 2.5)


for number in range(2):
    write_gas(f"shear_{number}.hdf5", (32, 32, 16), shear, finest=0, time=0.01 * number,
              config="[ic]\nsource = kelvin_helmholtz\n")  # fmt: skip
shears = gas_growth.evolution_of(["shear_0.hdf5", "shear_1.hdf5"])
assert np.allclose(shears.found, 0.01, rtol=1e-12)
assert abs(shears.theory([0.0])[0] / 0.01 - 1) < 1e-12
axes = gas_growth.plot_evolution(gas_plots.Outputs(["jeans_0.hdf5", "jeans_2.hdf5"])).axes
assert "run 0.10078, theory 0.10078" in axes[0].get_title() and "units" in axes[1].get_xlabel()
assert gas_growth.evolution_of(["sedov.hdf5", "sedov.hdf5"]) is None

# A halo of gas and particles that reaches over the sides of the box: particles whose mass within a
# radius grows with it, in gas of one density, whose temperature grows with the distance.
class Universe:
    path, comoving, time, molecular_weight = "universe", True, 0.5, 0.6
    box, root, side = np.full(3, 10.0), np.full(3, 32), np.array([10 / 32])
    config_text = "[cosmology]\nOmega_m = 0.3\nOmega_lambda = 0.7\n"
    middle, reach, gas_density = np.array([9.8, 5.0, 0.1]), 2.0, 500.0

    def __init__(self):
        random = np.random.default_rng(1)
        radius = self.reach * (np.arange(40000) + 0.5) / 40000
        way = random.normal(size=(40000, 3))
        way *= (radius / np.sqrt(np.sum(way**2, axis=1)))[:, None]
        place = ((self.middle + way) % self.box).T
        self.particles = {**dict(zip("xyz", place)), "mass": np.full(40000, 1.0)}

    def positions(self):
        return [(axis.ravel() + 0.5) * 10 / 32 for axis in np.indices((32,) * 3)]

    def volumes(self):
        return np.full(32**3, self.side[0] ** 3)

    def values(self, name):
        way = np.array(self.positions()).T - self.middle
        way -= self.box * np.round(way / self.box)
        distance = np.sqrt(np.sum(way**2, axis=1))
        return 1e6 * distance if name == "temperature" else np.full(32**3, self.gas_density)


def agree(found, exact, tolerance):
    assert np.all(np.abs(np.divide(found, exact) - 1) < tolerance), (found, exact)


universe = Universe()
halo = gas_halos.largest(universe)
dense = 200 * 27.755 * (0.3 + 0.7 * 0.5**3)
radius = np.sqrt(40000 / 2.0 / (4 / 3 * np.pi * (dense - universe.gas_density)))
baryons = universe.gas_density / dense / (5e5 / (5e5 + 4e4))
away = np.linalg.norm((halo.centre - universe.middle + 5) % 10 - 5)
assert radius < universe.reach and away < 0.1, away
agree(halo.radius, radius, 0.02)
agree(halo.mass, 4 / 3 * np.pi * dense * radius**3, 0.05)
agree(halo.baryon_fraction, baryons, 0.03)
agree(halo.temperature, 0.75e6 * radius, 0.03)
virial = 0.6 * 43.0071 * halo.mass / (2 * 0.00824999 * 0.5 * halo.radius)
agree(halo.virial_temperature, virial, 1e-9)
table = halo.profile()
outer = table["radius"] > 0.7
agree(table["gas"][outer], 1, 0.1)
agree(table["temperature"][outer], 1e6 * table["radius"][outer], 0.1)

# The ratio of two spectra ends where the first of their lines ends.
long, short = np.array([0.1, 0.2, 0.4, 0.8]), np.array([0.1, 0.2, 0.4, 1.2])
both_kinds = gas_plots.Outputs([])
both_kinds.spectra = [(0.0, {kind: {"k": k, "P": 3 * k, "P_linear": 0 * k}
                             for kind, k in (("gas", long), ("particles", short))})]  # fmt: skip
ratio = gas_plots.plot_spectra(both_kinds).axes[1].get_lines()[0]
assert np.array_equal(ratio.get_xdata(), long[:3]) and np.allclose(ratio.get_ydata(), 1)

# A run: logs, figures, page.
os.makedirs("run/log")
os.rename("sod.hdf5", "run/gas_000.hdf5")
with open("run/config-used.ini", "w") as file:
    file.write(SOD + "solver = muscl\ngamma = 1.6666\n")
with open("run/log/timings.csv", "w") as file:
    file.write("step,time,dt,wall_s,updates_per_s,level_patches,level_updates,peak_rss_bytes,"
               "gas_solve_s,gas_prepare_s,gas_fix_s\n0,0,0,1,0,16;8,0;0,1048576,0,0,0\n"
               "1,0.05,0.05,1,3e6,16;8;8,9;9;9,1048576,0.8,0.19,0.01\n"
               "2,0.1,0.05,1,5e6,16;16,9;9,2097152,0.6,0.39,0.01\n")  # fmt: skip
with open("run/log/statistics.csv", "w") as file:
    file.write("step,time,mass,momentum_x,momentum_y,momentum_z,energy\n"
               "0,0,2,0,0,0,4\n1,0.05,2.0002,0.3,0.4,0,4\n2,0.1,2,0,0,0,4.004\n")  # fmt: skip
run = photons.Run("run")
assert run.gas and not run.isolated and run.provenance() == {"program": "a test"}
outputs = plots.evolution_of(run)
lost = gas_plots.conservation_errors(run.statistics())
assert np.allclose(lost["mass"], [0, 1e-4, 0]) and np.allclose(lost["energy"], [0, 0, 1e-3])
assert np.allclose(lost["momentum"], [0, 0.5 / 4, 0])
pulled = {f"particle_momentum_{axis}": -run.statistics()[f"momentum_{axis}"] for axis in gas.AXES}
lost = gas_plots.conservation_errors({**run.statistics(), **pulled})
assert np.allclose(lost["momentum"], 0)  # what particles have given to the gas
assert run.timings()["level_patches"].tolist() == [[16, 8, 0], [16, 8, 8], [16, 16, 0]]
some = {name: column[1:] for name, column in run.timings().items()}
shares = gas_plots.stage_shares(some)
assert list(shares) == ["solve", "prepare", "other"] and np.allclose(shares["solve"], [0.8, 0.6])
top = gas_plots.plot_timings(outputs).axes[0].get_lines()[0]
top.figure.savefig("timings.png")
gas_plots.plot_conservation(outputs).savefig("conservation.png")
assert top.get_xdata().tolist() == [1, 2] and np.allclose(top.get_ydata(), [3, 5])
flat = {**run.timings(), "level_patches": np.array([[16, 0, 0]] * 3)}
patches = gas_plots.plot_timings(gas_plots.Outputs([], timings=flat)).axes[1]
named = [text.get_text() for text in patches.get_legend().get_texts()]
assert named == ["level 0"], named  # not those levels on which there are no patches
profile = gas_plots.plot_profile(outputs).axes[0]
exact, points = profile.get_lines()
assert np.allclose(points.get_ydata(), outputs.profile["density"])
assert np.allclose(exact.get_ydata(), waves.at(exact.get_xdata() / 0.1)[0])
images = [axis.get_images() for axis in gas_plots.plot_slices(outputs).axes]
shown = [image[0].get_array() for image in images if image]
assert np.array_equal(shown[0], outputs.last.slice("density"))
assert sorted(np.unique(shown[3])) == [0, 1, 2]

# All outputs with the same colours; without a cosmology lengths have the units of the run. Colours end at
# percentiles, so that a single cell does not take them all.
shutil.copy("run/gas_000.hdf5", "again.hdf5")
both = gas_plots.Outputs(["run/gas_000.hdf5", "again.hdf5"])
axes = gas_plots.plot_outputs(both).axes
limits = {axis.get_images()[0].get_clim() for axis in axes if axis.get_images()}
assert len(axes) == 3 and len(limits) == 1 and axes[0].get_ylabel() == "y [code units]"
drawn = np.ravel(gas_plots.new_figure()[1])[0].imshow([[0.48, 2.7]], norm=gas_plots.colors.LogNorm(0.48, 2.7))
bar = drawn.figure.colorbar(drawn)
gas_plots.number_decades(bar)
drawn.figure.canvas.draw()
labels = [text.get_text() for minor in (False, True) for text in bar.ax.get_yticklabels(minor=minor)]
assert [label for label in labels if label] == ["0.5", "1", "2"], labels
spike = np.ones((100, 100))
spike[3, 3] = 1e9
assert gas_plots.limits_of([spike])[1] < 1.1
assert gas_plots.plot_outputs(gas_plots.Outputs(["again.hdf5"])) is None

# Particles of a lattice, slightly moved, give an even picture, not points; across the edges, too.
class Lattice:
    box = np.array([10.0, 10.0, 10.0])
    grid = (np.indices((16, 16, 16)).reshape(3, -1) + 0.5) * 10 / 16
    particles = dict(zip("xyz", (grid + 0.1 * np.sin(grid)) % 10), mass=np.ones(4096))
    particles["number"], config_text = np.arange(4096), "[box]\nnpart_side = 16\n[ic]\nglass = some\n"


even = gas_plots.particle_columns(Lattice, 0, 1, 128)
assert abs(even.sum() / 4096 - 1) < 0.01 and even.std() / even.mean() < 0.35
assert abs(even[:4].mean() / even.mean() - 1) < 0.3
# Without the glass it is the sheet, whose density is that of x' = x + 0.1 sin x and y' alike: 1/(dx'/dx dy'/dy).
Lattice.config_text = "[box]\nnpart_side = 16\n[ic]\nglass =\n"
sheet, x = gas_plots.particle_columns(Lattice, 0, 1, 128), np.linspace(0, 10, 4001)[:-1]
per_x = np.interp((np.arange(256) + 0.5) * 10 / 256, x + 0.1 * np.sin(x), 1 / (1 + 0.1 * np.cos(x)))
wrong = np.abs(sheet / np.outer(per_x, per_x) - 1)[32:-32, 32:-32]  # away from the seam, where x' jumps
most = np.percentile(wrong, 99)
print("the sheet beside its density, mean error and that of 99 % of the pixels:", wrong.mean(), most)
# In a cell the sheet is even: off by the change in half a cell, 0.1 * 0.31 along each axis, at most.
assert wrong.mean() < 0.03 and most < 0.1

# The page, as it follows the run: outputs are drawn again only when there are new ones. Figures are
# not drawn here: gas_figures_are_right.sh draws them.


def save(figure, out, name):
    os.makedirs(out, exist_ok=True)
    for ending in ("png", "pdf"):
        with open(os.path.join(out, f"{name}.{ending}"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")  # what a page takes for a picture
    return os.path.join(out, f"{name}.png")


plots.save = save
options = argparse.Namespace(components=None, csv=True, out="single")
os.rename("acoustic.hdf5", "gas_007.hdf5")
names = {os.path.basename(path) for path in plots.draw_snapshot("gas_007.hdf5", options)}
ends = ("profile.png", "slices.png", "profile.csv", "errors.csv")
assert names == {f"gas_007_{end}" for end in ends}, names
names = [os.path.basename(path) for path in plots.draw_snapshot("gas_linear.hdf5", options)]
assert names == ["gas_linear_slices.png"], names  # no exact solution
live = LivePage("run")
page = live.get()
for text in (
    "32 × 16 × 16, 2 finer levels",
    "sod, direction = x",
    "<p>step 2, t = 0.1, 4e+06 cells a second",
    "solver = muscl",
    "2, to t = 0.1",
    "4e+06 cells a second",
    "plateau pressure",
    "2 MiB at most",
):
    assert text in page, text
DRAWN = [name for name, draw in gas_plots.figures_of(outputs).items() if draw()]
assert len(DRAWN) == 4, DRAWN  # the others are of universes
assert page.count("data:image/png") == len(DRAWN), page.count("data:image/png")
for text in ("HALOFIT", "Mpc/h", "particles"):
    assert text not in page.split("<h2>Parameters")[0].replace("base64", ""), text
tables = gas_plots.write_tables(outputs, "tables")
with open("tables/errors.csv") as file:
    (row,) = csv.DictReader(file)
assert float(row["L1_density"]) < 1e-14 and len(tables) == 2

os.remove("run/figures/slices.pdf")
os.remove("run/figures/timings.pdf")
live.next_time = 0.0
assert live.get().count("data:image/png") == len(DRAWN)
assert os.path.exists("run/figures/timings.pdf") and not os.path.exists("run/figures/slices.pdf")
