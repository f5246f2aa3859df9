#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of orbits_in_potentials.sh: tracers, and their orbits by another integration."""
import csv
import sys

import h5py
import numpy

G, MYR = 43007.1, 977.79222  # kpc (km/s)^2/1e10 Msun; of 1 kpc/(km/s)
wrong = []


def radius(x):
    return numpy.linalg.norm(x, axis=-1)


def miyamoto(x, mass, a, b):
    return -G * mass / numpy.hypot(numpy.hypot(x[..., 0], x[..., 1]),
                                   a + numpy.hypot(x[..., 2], b))


def needle(x, t, mass, a, b, c, speed, angle):
    """Long & Murali 1992, equation 8a, as it stands there."""
    turn = numpy.radians(angle) + speed * t
    u = numpy.cos(turn) * x[..., 0] + numpy.sin(turn) * x[..., 1]
    v = numpy.cos(turn) * x[..., 1] - numpy.sin(turn) * x[..., 0]
    side = v**2 + (b + numpy.hypot(x[..., 2], c)) ** 2
    below, above = numpy.sqrt((a - u) ** 2 + side), numpy.sqrt((a + u) ** 2 + side)
    return G * mass / (2 * a) * numpy.log((u - a + below) / (u + a + above))


def logarithmic(x, speed, core, q):
    return 0.5 * speed**2 * numpy.log(core**2 + x[..., 0] ** 2 + x[..., 1] ** 2
                                      + x[..., 2] ** 2 / q**2)


def hernquist(x):
    return -G * 5.0 / (radius(x) + 2.0)


def nfw(x, mass, scale):
    return -G * mass * numpy.log1p(radius(x) / scale) / radius(x)


# Names, texts of the configuration, and potentials at (x [kpc], t [kpc/(km/s)]).
CASES = {
    "point": (["point mass=2e10", "logarithmic speed=220 core=1 flattening=0.8"],
              lambda x, t: -G * 2.0 / radius(x) + logarithmic(x, 220.0, 1.0, 0.8)),
    "hernquist": (["hernquist mass=5e10 scale=2"], lambda x, t: hernquist(x)),
    "table": (["table"], lambda x, t: hernquist(x)),
    "pull": (["table"], lambda x, t: hernquist(x)),
    "disk": (["miyamoto_nagai mass=5e10 a=3 b=0.3", "nfw mass=2e11 scale=10"],
             lambda x, t: miyamoto(x, 5.0, 3.0, 0.3) + nfw(x, 20.0, 10.0)),
    "bar": (["bar mass=1e10 a=3 b=0.5 c=0.5 pattern_speed=40 angle=30"],
            lambda x, t: needle(x, t, 1.0, 3.0, 0.5, 0.5, 40.0, 30.0)),
    "global": (None, lambda x, t: needle(x, t, 1.0, 3.0, 0.5, 0.5, 40.0, 30.0)),
}
ROUND = "hernquist", "table", "pull"
RADII = numpy.array([3.0, 6.0, 12.0])


def pull(potential, x, t):
    """By differences of fourth order."""
    step, sum_ = 1e-3, numpy.empty_like(x)
    for k in range(3):
        d = numpy.zeros(3)
        d[k] = step
        at = [potential(x + n * d, t) for n in (-2, -1, 1, 2)]
        sum_[..., k] = -(at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)
    return sum_


def start():
    """Tracers at three radii in the plane, with the circular speed of the hernquist potential, and others
    that are slower, faster and inclined."""
    speed = numpy.sqrt(G * 5.0 * RADII) / (RADII + 2.0)
    x, v = [], []
    for r, c in zip(RADII, speed):
        for factor, lift in ((1.0, 0.0), (0.97, 0.0), (0.7, 0.4)):
            x.append([r, 0, 0])
            v.append([0, factor * c, lift * c])
    return numpy.array(x), numpy.array(v)


def bar():
    """Positions in a bar along the x axis that is densest in its middle."""
    x, y = numpy.random.default_rng(5).uniform(-1, 1, size=(2, 2000))
    return numpy.array([4 * x * abs(x), 0.4 * y * abs(y), 0 * x]).T


def make_bar():
    """The bar turns with the speed of circles in the core of the logarithmic potential, 20 km/s/kpc."""
    x = bar()
    n = len(x)
    v = 20.0 * numpy.array([-x[:, 1], x[:, 0], numpy.zeros(n)]).T
    rows = numpy.c_[numpy.arange(1, n + 1), numpy.full(n, 1e-6), x, v, numpy.full(n, 2)]
    numpy.savetxt("turning.txt", rows, "%.9g", header="id m x y z vx vy vz type")


def check_turning():
    """log/galaxy.csv has the strength of the bar and its pattern speed."""
    with open("turning/log/galaxy.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    x, y, _ = bar().T
    R = numpy.hypot(x, y)
    some = R < 2 * numpy.median(R) / 1.67834699
    strength = abs(numpy.mean(numpy.exp(2j * numpy.arctan2(y, x)[some])))
    found = [float(row["bar_strength"]) for row in rows]
    speeds = [float(row["pattern_speed"]) for row in rows[1:]]
    print(f"a bar of A2 {strength:.3f} that turns with 20 km/s/kpc: {found} {speeds}")
    # The centre is that of the innermost hundred particles, which moves by a hundredth of the bar.
    if len(rows) != 6 or rows[0]["pattern_speed"] or max(abs(numpy.array(found) - strength)) > 0.02:
        wrong.append(f"strength of a bar that turns: {found}")
    if abs(numpy.mean(speeds) - 20.0) > 0.1 or max(abs(numpy.array(speeds) - 20.0)) > 1.0:
        wrong.append(f"pattern speed: {speeds}")


def make():
    x, v = start()
    with h5py.File("tracers.hdf5", "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = numpy.array([0, len(x), 0, 0, 0, 0], "u4")
        header["MassTable"] = [0, 1e-6, 0, 0, 0, 0]
        part = file.create_group("PartType1")
        part["Coordinates"], part["Velocities"] = x, v
        part["ParticleIDs"] = numpy.arange(1, len(x) + 1)
    make_bar()
    r = numpy.geomspace(0.01, 1e5, 1000)
    mass = 5.0 * r**2 / (r + 2.0) ** 2
    numpy.savetxt("mass.txt", numpy.c_[r, 1e10 * mass], header="radius [kpc], mass [Msun]")
    numpy.savetxt("pull.txt", numpy.c_[r, G * mass / r**2])


def orbit(potential, myr):
    """Classical Runge-Kutta: in 200 steps its error is 2e-6 of the radius."""
    x, v = start()
    steps = 200
    dt, t = myr / MYR / steps, 0.0
    for _ in range(steps):
        a1 = pull(potential, x, t)
        x2, v2 = x + 0.5 * dt * v, v + 0.5 * dt * a1
        a2 = pull(potential, x2, t + 0.5 * dt)
        x3, v3 = x + 0.5 * dt * v2, v + 0.5 * dt * a2
        a3 = pull(potential, x3, t + 0.5 * dt)
        x4, v4 = x + dt * v3, v + dt * a3
        a4 = pull(potential, x4, t + dt)
        x, v = x + dt / 6 * (v + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        t += dt
    return x, v, t


def read(folder, number):
    with h5py.File(f"{folder}/snapshot_00{number}.hdf5") as file:
        part = file["PartType1"]
        order = numpy.argsort(part["ParticleIDs"][:])
        return {name: rows[:][order] for name, rows in part.items()}


def energies(folder):
    with open(f"{folder}/log/energy.csv", encoding="ascii") as file:
        return [{k: float(v) if v else None for k, v in row.items()} for row in csv.DictReader(file)]


def check_case(name, potential):
    x, v, t = orbit(potential, 50.0)
    found = read(name, 2)
    # Steps of 0.25 Myr change the phase of the fastest orbit, of 80 Myr, by (w dt)^2/24 a radian.
    error = numpy.max(radius(found["Coordinates"] - x) / radius(x))
    depth = numpy.max(numpy.abs(found["Potential"] / potential(found["Coordinates"], t) - 1.0))
    rows = energies(name)
    key = "jacobi" if name in ("bar", "global") else "total"
    scale = abs(rows[0]["external"])
    change = max(abs(row[key] - rows[0][key]) for row in rows) / scale
    other = max(abs(row["total"] - rows[0]["total"]) for row in rows) / scale
    print(f"{name}: orbits wrong by {error:.2g}, potentials by {depth:.2g}, {key} changes by {change:.2g}"
          f" (total {other:.2g}) in {len(rows)} rows")
    # Near a point mass speeds change much within a step.
    if not (error < 3e-3 and depth < 1e-5 and change < (1e-4 if name == "point" else 2e-5)):
        wrong.append(name)
    if key == "jacobi" and not other > 1e-3:
        wrong.append(f"{name}: energy should not be conserved")
    if key == "total" and rows[0]["jacobi"] is not None:
        wrong.append(f"{name}: has a Jacobi integral")
    if name in ROUND:
        spin = [radius(numpy.array([row[f"angular_{c}"] for c in "xyz"])) for row in rows]
        if not max(spin) - min(spin) < 1e-6 * spin[0]:
            wrong.append(f"{name}: angular momentum")


def check_circles():
    """Circular speed, period and epicyclic frequency of the hernquist potential, from formulas."""
    for number, myr in ((1, 25.0), (2, 50.0)):
        x = read("hernquist", number)["Coordinates"]
        speed = numpy.sqrt(G * 5.0 * RADII) / (RADII + 2.0)
        angle = speed / RADII * myr / MYR
        if not numpy.max(numpy.abs(radius(x[::3]) / RADII - 1.0)) < 1e-4:
            wrong.append("circular orbits: radius")
        away = numpy.angle(numpy.exp(1j * (numpy.arctan2(x[::3, 1], x[::3, 0]) - angle)))
        if not numpy.max(numpy.abs(away)) < 1e-3:
            wrong.append("circular orbits: angle")
        # 0.97 of the circular speed: r = r_g + e cos(kappa t) about the guiding radius, to second order in 0.03.
        kappa = speed / RADII * numpy.sqrt((RADII + 6.0) / (RADII + 2.0))
        depth = 2 * 0.03 * RADII * (speed / RADII / kappa) ** 2
        radial = RADII - depth * (1 - numpy.cos(kappa * myr / MYR))
        if not numpy.max(numpy.abs(radius(x[1::3]) - radial) / depth) < 0.25:
            wrong.append(f"epicycles: {(radius(x[1::3]) - radial) / depth}")


def check_copies():
    for folder in "bar-on-two", "bar-parts":
        for number in range(2):  # the second is that of step 100
            one, two = read("bar", number), read(folder, number)
            wrong.extend(f"{folder}: {k}" for k in one if not numpy.array_equal(one[k], two[k]))


def check_heavy():
    rows = energies("heavy")
    change = max(abs(row["total"] / rows[0]["total"] - 1.0) for row in rows)
    spin = max(abs(row["angular_z"] - rows[0]["angular_z"]) for row in rows)
    print(f"self-gravity: energy changes by {change:.2g}, L_z by {spin:.2g}")
    # 10^11 Msun within 5 kpc: angular momenta of single particles add up to some 1e4.
    if not (change < 5e-3 and spin < 3.0 and rows[0]["potential"] < 0 and rows[0]["external"] < 0):
        wrong.append("heavy")


if sys.argv[1] == "list":
    for case, (texts, _) in CASES.items():
        if texts:
            print("|".join([case, *texts, ""][:3]))
elif sys.argv[1] == "make":
    make()
else:
    for case, (_, field) in CASES.items():
        check_case(case, field)
    check_circles()
    check_copies()
    check_heavy()
    check_turning()
sys.exit("\n".join(wrong) if wrong else 0)
