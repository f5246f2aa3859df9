#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of galaxies_merge.sh: makes spheres of particles, and checks the runs."""
import csv
import re
import struct
import sys

import h5py
import numpy

COUNT = {1: 200, 3: 100}  # of a sphere; particles of type 3 have masses of their own
SCALE, CUT = 0.5, 3.0  # kpc; the cut in scales
GRAVITY, MYR = 43007.1, 977.79222  # kpc (km/s)^2 / 1e10 Msun; of 1 kpc/(km/s)
UNITS = "UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"
random = numpy.random.default_rng(3)
wrong = []


def directions(count):
    vectors = random.normal(size=(count, 3))
    return vectors / numpy.linalg.norm(vectors, axis=1)[:, None]


def sphere(mass):
    """Positions, velocities [kpc, km/s] and masses by type of a Plummer sphere with an edge. Its
    centre of mass is at rest at 0."""
    m = {1: numpy.full(COUNT[1], 1.0), 3: 0.3 + 0.4 * random.uniform(size=COUNT[3])}
    m = numpy.concatenate(list(m.values()))
    m *= mass / m.sum()
    share = random.uniform(0, (CUT**2 / (1 + CUT**2)) ** 1.5, len(m))
    r = SCALE / numpy.sqrt(share ** (-2 / 3) - 1)
    x = directions(len(m)) * r[:, None]
    q = numpy.empty(0)  # shares of the escape speed, of density q^2 (1 - q^2)^(7/2)
    while len(q) < len(m):
        try_q, height = random.uniform(size=(2, 4000))
        q = numpy.append(q, try_q[0.1 * height < try_q**2 * (1 - try_q**2) ** 3.5])
    speed = q[: len(m)] * numpy.sqrt(2 * GRAVITY * mass / numpy.sqrt(r**2 + SCALE**2))
    v = directions(len(m)) * speed[:, None]
    x -= m @ x / mass
    v -= m @ v / mass
    return x, v, m


def parts(values):
    return {1: values[: COUNT[1]], 3: values[COUNT[1] :]}


def write(path, x, v, m, units=(), counts=None):
    counts = counts or COUNT
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = numpy.array([counts.get(t, 0) for t in range(6)], "u4")
        header["MassTable"] = [0.0, m[0], 0.0, 0.0, 0.0, 0.0]
        for name, value in zip(UNITS, units):
            header[name] = value
        ids = numpy.arange(1001, 1001 + len(m))[::-1]
        for kind in counts:
            part = file.create_group(f"PartType{kind}")
            part["Coordinates"], part["Velocities"] = parts(x)[kind], parts(v)[kind].astype("f4")
            part["ParticleIDs"] = parts(ids)[kind]
            if kind == 3:
                part["Masses"] = parts(m)[3]


def write_binary(path, x, v, m):
    counts = [COUNT.get(t, 0) for t in range(6)]
    header = struct.pack("<6i6d2d2i6i2i4d", *counts, 0, m[0], 0, 0, 0, 0, 0, 0, 0, 0, *counts, 0, 1,
                         0, 0, 0, 0)
    ids = numpy.arange(1001, 1001 + len(m), dtype="u4")[::-1]
    numbers = [x.astype("f4"), v.astype("f4"), ids, parts(m)[3].astype("f4")]
    with open(path, "wb") as file:
        for data in [header.ljust(256, b"\0")] + [block.tobytes() for block in numbers]:
            file.write(struct.pack("<I", len(data)) + data + struct.pack("<I", len(data)))


def write_rows(x, v, m):
    """A text table with a heading, and Tipsy in both orders of bytes."""
    ids, kinds = numpy.arange(1001, 1001 + len(m))[::-1], numpy.repeat(list(COUNT), list(COUNT.values()))
    numpy.savetxt("sphere.text", numpy.c_[m, x, v, ids, kinds], fmt=["%.17g"] * 7 + ["%d"] * 2,
                  header="made by a test\nm x y z vx vy vz id type")
    for name, order in (("tipsy", "<"), ("big-endian", ">")):
        with open(f"sphere.{name}", "wb") as file:
            file.write(struct.pack(f"{order}d6i", 0, len(m), 3, 0, COUNT[1], COUNT[3], 0))
            for i in range(len(m)):
                rest = [0.0] * (2 if i < COUNT[1] else 4)
                values = [m[i], *x[i], *v[i], *rest]
                file.write(struct.pack(f"{order}{len(values)}f", *values))
    with open("gas.tipsy", "wb") as file:
        file.write(struct.pack("<d6i12f", 0, 1, 3, 1, 0, 0, 0, *[1.0] * 12))


def write_amuse(path, top, x, v, m, units, leave_out=()):
    """A set of particles as AMUSE's write_set_to_file makes it, behind an older state of one particle."""
    values = {"mass": m, **dict(zip("xyz", x.T)), **dict(zip(("vx", "vy", "vz"), v.T))}
    with h5py.File(path, "w") as file:
        file.create_group("AMUSE_INF").attrs["version"] = "2.0"
        for state, count in (("0000000001", 1), ("0000000002", len(m))):
            group = file.create_group(f"{top}/{state}")
            group.attrs["number_of_particles"] = count
            group["keys"] = random.integers(1, 2**63, count, dtype="u8")
            for name, value in values.items():
                if name not in leave_out:
                    group[f"attributes/{name}"] = value[:count]
                    group[f"attributes/{name}"].attrs["units"] = units[name]


def make_newer(path):
    """The versions of all layout messages (type 8; version 3, contiguous) become those of a later HDF5."""
    with open(path, "rb") as file:
        data = file.read()
    layout = re.compile(rb"(\x08\x00.\x00.\x00\x00\x00)\x03(\x01)", re.DOTALL)
    data, count = layout.subn(b"\\1\x09\\2", data)
    assert count > 0
    with open(path, "wb") as file:
        file.write(data)


def write_all_amuse(x, v, m):
    """In SI with texts of variable length, and in N-body units with texts of fixed length; and what is wrong."""
    base = lambda name, system="S.I.": f"system.get('{system}').base('{name}')"
    si = {name: f"(3.085678e+22 * {base('length')})" for name in "xyz"}
    speed = f"((100000.0 * {base('length')}) * ({base('time')}**-1))"
    si.update({"mass": f"(1.989e+42 * {base('mass')})", "vx": speed, "vy": speed, "vz": speed})
    nbody = {name: base("length", "nbody") for name in "xyz"}
    speed = f"({base('length', 'nbody')} * ({base('time', 'nbody')}**-1))"
    nbody.update({"mass": base("mass", "nbody"), "vx": speed, "vy": speed, "vz": speed})
    write_amuse("sphere.amuse", "data", x, v, m, si)
    write_amuse("sphere.nbody", "particles", x, v, m, {name: text.encode() for name, text in nbody.items()})
    write_amuse("sphere.amuse-units", "data", x, v, m, {**si, "y": base("length")})
    write_amuse("sphere.amuse-mass", "data", x, v, m, {**si, "mass": base("length")})
    write_amuse("sphere.amuse-lacks", "data", x, v, m, si, ["vz"])
    write_amuse("sphere.amuse-newer", "data", x, v, m, si)
    make_newer("sphere.amuse-newer")


def make():
    units = (3.085678e24, 1.989e45, 1e7)  # Mpc, 1e12 Msun, 100 km/s
    x, v, m = sphere(1.0)
    x, v, m = x / 1e3, v / 1e2, m / 1e2
    write("sphere.hdf5", x, v, m, units)
    write_binary("sphere.gadget2", x, v, m)
    write_rows(x, v, m)
    write("small.hdf5", *sphere(0.3))
    write("unit.hdf5", x, v, m, (-1.0,))
    write("lone.hdf5", x, v, m, units, {1: 1})
    with h5py.File("lone.hdf5", "r+") as file:
        for name in list(file["PartType1"]):
            rows = file["PartType1"][name][:1]
            del file["PartType1"][name]
            file["PartType1"][name] = rows
    write("point.hdf5", 0 * x, v, m, units)
    far = numpy.arange(len(m)) >= COUNT[1]
    write("gone.hdf5", x + 0.1 * far[:, None], v, m, units)
    x_pile = 0 * x
    x_pile[7] = x[7]
    write("pile.hdf5", x_pile, v, m, units)
    for name, block, value in (("massless", "Masses", 0.0), ("nan", "Coordinates", numpy.nan),
                               ("far", "Coordinates", 1e6), ("fast", "Velocities", 1e4)):
        write(f"{name}.hdf5", x, v, m, units)
        with h5py.File(f"{name}.hdf5", "r+") as file:
            place = 3 if block == "Masses" else (3, 1)
            file["PartType3"][block][place] = value
    write_all_amuse(x, v, m)


def read(path):
    """All particles by id."""
    found = {}
    with h5py.File(path) as file:
        for key in sorted(key for key in file if "PartType" in key):
            part = {name: rows[:] for name, rows in file[key].items()}
            part["type"] = numpy.full(len(part["ParticleIDs"]), int(key[-1]))
            for name, rows in part.items():
                found[name] = numpy.concatenate([found[name], rows]) if name in found else rows
    order = numpy.argsort(found["ParticleIDs"])
    return {name: rows[order] for name, rows in found.items()}


def energy(folder, text=False):
    with open(f"{folder}/log/energy.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    return rows if text else [{key: float(row[key]) for key in row} for row in rows]


def check_types(folder, number, row):
    """The columns of types are sums over the particles of the snapshot."""
    s = read(f"{folder}/snapshot_00{number}.hdf5")
    for kind in COUNT:
        part = s["type"] == kind
        m = s["Masses"][part, None].astype(float)
        x, v = s["Coordinates"][part].astype(float), s["Velocities"][part].astype(float)
        for name, found, size in (
            (f"kinetic_type_{kind}", [0.5 * numpy.sum(m * v**2)], numpy.sum(m * v**2)),
            (f"potential_type_{kind}", [0.5 * m[:, 0] @ s["Potential"][part]], row["kinetic"]),
            (f"angular_type_{kind}", numpy.sum(m * numpy.cross(x, v), axis=0), numpy.sum(m * v**2)),
            (f"centre_type_{kind}", numpy.sum(m * x, axis=0) / m.sum(), 10.0),
        ):
            names = [name] if len(found) == 1 else [f"{name}_{axis}" for axis in "xyz"]
            if not numpy.allclose([row[key] for key in names], found, rtol=0, atol=1e-6 * size):
                wrong.append(f"{folder}, {name} at {row['time_myr']} Myr")


def centre_of(states):
    """Mass, position and velocity of the centre of mass of several."""
    m = sum(state[0] for state in states)
    return m, *(sum(state[0] * state[k] for state in states) / m for k in (1, 2))


def galaxies_of(folder, counts):
    """Mass, position and velocity of galaxies with so many particles."""
    s, states, first = read(f"{folder}/snapshot_000.hdf5"), [], 0
    for count in counts:
        part = slice(first, first + count)
        m, x, v = (s[name][part].astype(float) for name in ("Masses", "Coordinates", "Velocities"))
        states.append((m.sum(), m @ x / m.sum(), m @ v / m.sum()))
        first += count
    return states


def check_orbit(name, inner, outer, pericentre, separation, place=None, velocity=None):
    """Separation, angular momentum and energy of an orbit of eccentricity 0.5, and the centre of mass of both."""
    one, two, both = (centre_of(states) for states in (inner, outer, inner + outer))
    apart, moving = two[1] - one[1], two[2] - one[2]
    gm, semi = GRAVITY * both[0], pericentre / 0.5
    for what, found, expected in (
        ("separation", numpy.linalg.norm(apart), separation),
        ("energy", moving @ moving / 2 - gm / separation, -gm / (2 * semi)),
        ("spin", numpy.cross(apart, moving)[2], numpy.sqrt(gm * pericentre * 1.5)),
    ):
        if abs(found / expected - 1) > 1e-4:
            wrong.append(f"{name}: {what} is {found}, not {expected}")
    if apart @ moving >= 0:
        wrong.append(f"{name}: the galaxies do not approach")
    if place and not (numpy.allclose(both[1], place, atol=1e-4) and numpy.allclose(both[2], velocity, atol=1e-3)):
        wrong.append(f"{name}: the centre of mass is at {both[1]}, with {both[2]} km/s")


def check_orbits():
    two = galaxies_of("orbit", [400, 200])
    check_orbit("orbit", two[:1], two[1:], 5, 14, [1, 2, 3], [0, 0, 10])
    all_, here, there = sum(COUNT.values()), [3, -4, 5], [10, 20, -30]  # of one.ini
    three = galaxies_of("three", [all_] * 3)
    check_orbit("a pair of three", three[1:2], three[2:], 3, 8)
    check_orbit("three", three[:1], three[1:], 20, 50, here, there)
    five = galaxies_of("five", [all_, all_, 200, all_, 100])
    check_orbit("the first pair of five", five[:1], five[1:2], 4, 10)
    check_orbit("the second pair of five", five[2:3], five[3:4], 5, 14, [500, 0, 0], [0, 1, 2])
    check_orbit("five", five[:2], five[4:], 60, 150, here, there)
    rows = galaxy_rows("five")
    if [row["galaxy"] for row in rows[:5]] != list("12345") or any(
        abs(float(row["mass"]) / state[0] - 1) > 1e-5 for row, state in zip(rows, five)
    ):
        wrong.append("galaxies of log/galaxy.csv with five")


def check_gone():
    """Particles of type 3 are far away at the beginning and escape before the first step."""
    first, *others = energy("gone", text=True)
    for row in others:
        if [row[key] for key in ("kinetic_type_3", "potential_type_3", "centre_type_3_x")] != [
            "0", "0", "",
        ] or float(first["potential_type_3"]) >= 0 or row["kinetic_type_1"] == "0":  # fmt: skip
            wrong.append(f"energies without particles of type 3: {row}")
    left = read("gone/snapshot_001.hdf5")
    if set(left["type"]) != {1} or len(left["type"]) != COUNT[1]:
        wrong.append("the snapshot of a run whose particles of type 3 escape")
    if len(others) != 2 or energy("gone-parts", text=True) != [first, *others]:
        wrong.append("energies of a run whose particles of type 3 escape, and after a restart")


def check_file():
    """The particles of the file, turned by 90 degrees about x, then by 30 about z, and moved."""
    x, v, m = sphere(1.0)  # the same as in make()
    c, s = numpy.cos(numpy.pi / 6), numpy.sin(numpy.pi / 6)
    turn = numpy.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    for folder in "hdf5", "binary", "text", "tipsy", "big-endian", "amuse", "nbody":
        made = folder in ("tipsy", "big-endian", "amuse", "nbody")
        second_type = {"tipsy": 4, "big-endian": 4, "amuse": 1, "nbody": 1}.get(folder, 3)
        found = read(f"{folder}/snapshot_000.hdf5")
        if not numpy.array_equal(found["ParticleIDs"], numpy.arange(1, 1 + len(m)) + (0 if made else 1000)):
            wrong.append(f"{folder}: ids")
        back = {name: rows[:: 1 if made else -1] for name, rows in found.items()}
        for name, expected, tolerance in (
            ("Coordinates", x @ turn.T + [3, -4, 5], 1e-6),  # a frame of 2^7 kpc has steps of 3e-8
            ("Velocities", v @ turn.T + [10, 20, -30], 1e-4),
            ("Masses", m, 1e-9),
            ("type", numpy.repeat([1, second_type], list(COUNT.values())), 0),
        ):
            if not numpy.allclose(back[name], expected, rtol=1e-6, atol=tolerance):
                wrong.append(f"{folder}: {name} are not those of the file")


def kepler(r, v, mass, myr):
    """Two bodies about each other, by many small leapfrog steps."""
    steps = 2000
    dt = myr / MYR / steps
    pull = lambda r: -GRAVITY * mass * r / numpy.linalg.norm(r) ** 3
    for _ in range(steps):
        v = v + 0.5 * dt * pull(r)
        r = r + dt * v
        v = v + 0.5 * dt * pull(r)
    return r


def galaxy_rows(folder):
    with open(f"{folder}/log/galaxy.csv", encoding="ascii") as file:
        return list(csv.DictReader(file))


def check_galaxies(start, velocity):
    """log/galaxy.csv has both galaxies at each measured step, with their centres, on two ranks and after a restart, too."""
    rows, other = galaxy_rows("two"), galaxy_rows("parts")
    steps = [row["step"] for row in energy("two", text=True)]
    if [(row["step"], row["galaxy"]) for row in rows] != [(s, k) for s in steps for k in "12"]:
        wrong.append("steps and galaxies of log/galaxy.csv")
    if rows != other:
        wrong.append("parts: log/galaxy.csv")
    first = [[float(row[f"{key}_{axis}"]) for row in rows[:2]] for key in ("centre", "velocity")
             for axis in "xyz"]  # fmt: skip
    apart = numpy.array(first)[:, 1] - numpy.array(first)[:, 0]
    if numpy.linalg.norm(apart[:3] - start) > 0.5 * SCALE:
        wrong.append(f"centres of galaxies: {apart[:3]} apart, not {start}")
    if [int(row["particles"]) for row in rows[:2]] != [sum(COUNT.values())] * 2:
        wrong.append("particles of galaxies")


def check_merger():
    start, place = numpy.array([10.0, 0, 0]), numpy.array([-60.0, 40, 0])
    half = sum(COUNT.values())
    for number, myr in enumerate((0, 12, 24)):
        s = read(f"two/snapshot_00{number}.hdf5")
        m = s["Masses"][:, None].astype(float)
        centre = [numpy.sum((m * s["Coordinates"])[part], axis=0) / m[part].sum()
                  for part in (slice(half), slice(half, None))]
        if abs(m[:half].sum() - 1.0) + abs(m[half:].sum() - 0.3) > 1e-5:
            wrong.append("masses of the galaxies")
        expected = kepler(start, place, 1.3, myr)
        error = numpy.linalg.norm(centre[1] - centre[0] - expected)
        bent = numpy.linalg.norm(start + place * myr / MYR - expected)
        apart = numpy.linalg.norm(expected)
        print(f"{myr} Myr: {apart:.3g} kpc apart, wrong by {error:.2g}, bent by {bent:.2g}")
        # The spheres of few particles are not quite round.
        if not error < 1e-5 + 0.02 * bent:
            wrong.append(f"the orbit at {myr} Myr")
        with h5py.File(f"two/snapshot_00{number}.hdf5") as file:
            if abs(file["Parameters"].attrs["Time_GYR"] - 1e-3 * myr) > 1e-9:
                wrong.append(f"Time_GYR at {myr} Myr")
        other = read(f"parts/snapshot_00{number}.hdf5")
        wrong.extend(f"parts, snapshot {number}: {name}" for name in s
                     if not numpy.array_equal(s[name], other[name]))
    rows = energy("two")
    if energy("parts") != rows:
        wrong.append("parts: log/energy.csv")
    check_galaxies(start, place)
    for number, myr in enumerate((0, 12, 24)):
        check_types("two", number, next(row for row in rows if row["time_myr"] == myr))
    change = max(abs(row["total"] / rows[0]["total"] - 1.0) for row in rows)
    momentum = max(abs(row[f"momentum_{axis}"]) for row in rows for axis in "xyz")
    print(f"energy changes by {change:.2g}, momentum is up to {momentum:.2g}")
    # Expansions and block time steps conserve momentum by their accuracy only. A galaxy has a
    # momentum of 13, and it changes by 6.
    if not (change < 5e-3 and momentum < 0.5):
        wrong.append("energy or momentum")


if sys.argv[1] == "make":
    make()
else:
    check_file()
    check_merger()
    check_gone()
    check_orbits()
sys.exit("\n".join(wrong) if wrong else 0)
