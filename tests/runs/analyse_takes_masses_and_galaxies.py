# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of analyse_takes_masses_and_galaxies.sh: makes the snapshots, and checks what was measured."""

import csv
import sys

import h5py
import numpy as np
import photons

GRAVITY = 43007.1  # kpc (km/s)^2 / (1e10 Msun)
MERGED, APART = 8, 0.25  # particles in a heavy one; their least distance from the halo, over the box
SIZE, MASS = 2.0, 10.0  # of the Plummer sphere, kpc and 1e10 Msun
wrong = 0


def check(what, good):
    global wrong
    wrong += not good
    print(f"{'ok' if good else 'FAILED'}: {what}")


def nearest(d, box):
    return d - box * np.rint(d / box)


def read(path):
    """Positions, masses, box, and the header of a snapshot of a box."""
    with h5py.File(path) as f:
        header = dict(f["Header"].attrs)
        kinds = [k for k in range(6) if f"PartType{k}" in f]
        x = [f[f"PartType{k}/Coordinates"][:].astype(float) for k in kinds]
        m = [np.full(len(part), header["MassTable"][k]) for k, part in zip(kinds, x)]
    return np.concatenate(x), np.concatenate(m), float(header["BoxSize"]), header


def write(path, header, parts):
    """parts -- {type: (x, v, ids, mass of one)}"""
    with h5py.File(path, "w") as f:
        attrs = f.create_group("Header").attrs
        for name, value in header.items():
            attrs[name] = value
        table, count = np.zeros(6), np.zeros(6, "u4")
        for kind, (x, v, ids, mass) in parts.items():
            group = f.create_group(f"PartType{kind}")
            group["Coordinates"], group["Velocities"] = x, v.astype("f4")
            group["ParticleIDs"] = ids.astype("u8")
            table[kind], count[kind] = mass, len(x)
        attrs["NumPart_ThisFile"] = attrs["NumPart_Total"] = count
        attrs["MassTable"], attrs["NumFilesPerSnapshot"] = table, 1


def merge(x, v, box):
    """Neighbours, eight by eight, at their centres of mass: halves of halves along the widest axis."""
    groups, parts = [], [np.arange(len(x))]
    while parts:
        part = parts.pop()
        if len(part) == MERGED:
            groups.append(part)
            continue
        axis = np.argmax(np.ptp(x[part], axis=0))
        part = part[np.argsort(x[part, axis], kind="stable")]
        half = MERGED * (len(part) // MERGED // 2)
        parts += [part[:half], part[half:]]
    groups = np.array(groups)
    spread = (x[groups] - x[groups].mean(1, keepdims=True)).var(axis=1).sum(1)  # three axes
    return x[groups].mean(1) % box, v[groups].mean(1), spread


def make_zoom(source, analysis, path):
    x, m, box, header = read(source)
    with h5py.File(source) as f:
        part = f[next(k for k in f if k.startswith("PartType"))]
        v, ids = part["Velocities"][:].astype(float), part["ParticleIDs"][:].astype(int)
    peak = photons.Run(analysis).halos(0)["GroupPeakPos"][0]
    offset = nearest(x - peak, box)
    far = np.abs(offset).max(1) > APART * box
    far_places = np.flatnonzero(far)
    near_places = np.concatenate([np.flatnonzero(~far), far_places[len(far_places) // 8 * 8 :]])
    far_places = far_places[: len(far_places) // 8 * 8]
    heavy, speed, spread = merge(x[far_places], v[far_places], box)
    keep = ("BoxSize", "Redshift", "Time", "Omega0", "OmegaLambda", "HubbleParam")
    write(path, {name: header[name] for name in keep}, {
        1: (x[near_places], v[near_places], ids[near_places], m[0]),
        5: (heavy, speed, ids.max() + 1 + np.arange(len(heavy)), MERGED * m[0]),
    })  # fmt: skip
    np.save("spread.npy", spread.sum() * MERGED / len(x) / 3)  # of all particles, along an axis


def direct_power(x, m, box, bins):
    """P(k) by sums over the particles, in bins one fundamental mode wide from 0.5 on."""
    reach = np.arange(-bins, bins + 1)
    modes = np.array([(i, j, k) for i in reach for j in reach for k in reach])
    size = np.sqrt((modes**2).sum(1))
    power = np.zeros(bins)
    for b in range(bins):
        chosen = modes[(size >= 0.5 + b) & (size < 1.5 + b)]
        waves = np.array([(m * np.exp(-2j * np.pi / box * (x @ n))).sum() for n in chosen])
        power[b] = box**3 * np.mean(np.abs(waves / m.sum()) ** 2)
    return power


def compare_zoom(source, plain, zoom_path, zoom):
    x, m, box, _ = read(zoom_path)
    one, several = photons.Run(plain), photons.Run(zoom)
    a, b = one.power(0), several.power(0)
    bins = 3
    direct = direct_power(x / 1000, m, box / 1000, bins)  # Mpc/h
    error = np.abs(b["P"][:bins] / direct - 1).max()
    check(f"P(k) of the masses by direct sums: {error:.1e}", error < 1e-4)  # float transforms
    # A wave of eight particles at their centre of mass differs by (k spread)^2 / 2, and P by twice
    # that; twice as much is allowed, for spreads that go with the density.
    k = b["k"][:bins]
    loss = k**2 * np.load("spread.npy") / 1e6
    error = np.abs(b["P"][:bins] / a["P"][:bins] - 1)
    check(f"P(k) as of one mass: {error} of {2 * loss}", np.all(error < 2 * loss) and loss[0] < 0.05)
    shot = (box / 1000) ** 3 * (m**2).sum() / m.sum() ** 2
    check("shot noise", abs(b["P_shot"][0] / shot - 1) < 1e-5)
    p, z = one.halos(0), several.halos(0)
    check("members of the halo", np.array_equal(p.members(0), z.members(0)))
    for name in ("GroupMass", "Group_M_Crit200", "Group_R_Crit200", "GroupPos", "GroupPeakPos",
                 "GroupVel"):  # fmt: skip
        check(name, np.allclose(p[name][0], z[name][0], rtol=1e-6, atol=0))
    check("linking length", abs(p.header["LinkingLength"] / z.header["LinkingLength"] - 1) < 1e-6)
    check("fewer halos", 0 < len(z["GroupLen"]) < len(p["GroupLen"]))



def make_plummer(path):
    """Radii at equal steps of mass; pairs of particles at opposite places with opposite velocities.
    Half of the mass is of type 1, half of type 2, which has a third of the particles."""
    random, parts, first = np.random.default_rng(3), {}, 1
    for kind, count in ((1, 2000), (2, 1000)):
        half = count // 2
        share = (np.arange(half) + 0.5) / half
        r = SIZE / np.sqrt(share ** (-2 / 3) - 1)
        # f(q) ~ q^2 (1 - q^2)^(7/2), q = v over the speed of escape; by its integral, in random order
        q = np.linspace(0, 1, 20001)
        integral = np.cumsum(q**2 * (1 - q**2) ** 3.5)
        q = np.interp((random.permutation(half) + 0.5) / half, integral / integral[-1], q)
        v = q * np.sqrt(2 * GRAVITY * MASS) * (r**2 + SIZE**2) ** -0.25
        directions = [random.normal(size=(half, 3)) for _ in range(2)]
        x, v = (length[:, None] * d / np.linalg.norm(d, axis=1)[:, None]
                for length, d in zip((r, v), directions))  # fmt: skip
        x, v = (np.concatenate([column, -column]) for column in (x, v))
        parts[kind] = (x + (1, 2, 3), v + (10, 0, 0), np.arange(first, first + count), MASS / 2 / count)
        first += count
    header = {"BoxSize": 0.0, "Time": 0.5, "Redshift": 0.0, "Omega0": 0.0, "OmegaLambda": 0.0,
              "HubbleParam": 1.0}  # fmt: skip
    write(path, header, parts)


def rows_of(path):
    with open(path) as f:
        return [{k: v if k == "type" else float(v) for k, v in row.items()} for row in csv.DictReader(f)]


def check_sphere(path, folder):
    with h5py.File(path) as f:
        x, v, m = (np.concatenate(column) for column in zip(*(
            (p["Coordinates"][:], p["Velocities"][:].astype(float),
             np.full(len(p["Coordinates"]), f["Header"].attrs["MassTable"][k]))
            for k, p in ((1, f["PartType1"]), (2, f["PartType2"])))))  # fmt: skip
        kind = np.repeat([1, 2], [len(f["PartType1/ParticleIDs"]), len(f["PartType2/ParticleIDs"])])
    energy, = rows_of(f"{folder}/energy_000.csv")
    parts = {row["type"]: row for row in rows_of(f"{folder}/components_000.csv")}
    check("components", list(parts) == ["1", "2", "all"])
    pairs = 0.0
    for i in range(len(x) - 1):
        pairs -= GRAVITY * m[i] * (m[i + 1 :] / np.linalg.norm(x[i + 1 :] - x[i], axis=1)).sum()
    error = energy["potential"] / pairs - 1
    check(f"potential energy by direct sums: {error:.1e}", abs(error) < 2e-5)
    kinetic = 0.5 * (m * (v**2).sum(1)).sum()
    check("kinetic energy", abs(energy["kinetic"] / kinetic - 1) < 1e-6)
    # At rest, E = -3 pi/64 G M^2/a. Few particles: 2 %.
    total = energy["total"] - 0.5 * MASS * 10**2
    theory = -3 * np.pi / 64 * GRAVITY * MASS**2 / SIZE
    check(f"energy of a Plummer sphere: {total / theory - 1:.1e}", abs(total / theory - 1) < 0.02)
    momentum = [energy[f"momentum_{c}"] for c in "xyz"]
    check("momentum", np.allclose(momentum, m @ v, atol=1e-4) and abs(momentum[0] - 10 * MASS) < 1e-3)
    angular = [energy[f"angular_{c}"] for c in "xyz"]
    check("angular momentum", np.allclose(angular, m @ np.cross(x, v), rtol=1e-5, atol=1e-3))
    check("centre of mass", np.allclose([energy[f"centre_{c}"] for c in "xyz"], (1, 2, 3), atol=1e-5))
    check("time", abs(energy["time_myr"] - 0.5 * 977.792) < 1e-2)
    densest = np.array([parts["all"][f"densest_{c}"] for c in "xyz"])
    check(f"densest point: {densest}", np.linalg.norm(densest - (1, 2, 3)) < 0.1 * SIZE)
    for name, row in parts.items():
        chosen = (kind == int(name)) if name != "all" else kind > 0
        check(f"type {name}: number and mass", row["particles"] == chosen.sum()
              and abs(row["mass"] / m[chosen].sum() - 1) < 1e-6)  # fmt: skip
        r = np.linalg.norm(x[chosen] - densest, axis=1)
        order = np.argsort(r)
        inside = np.cumsum(m[chosen][order])
        for percent in (10, 25, 50, 75, 90):
            place = np.searchsorted(inside, percent / 100 * inside[-1] * (1 - 1e-9))
            near = r[order][max(place - 1, 0) : place + 2]
            check(f"type {name}: {percent} %",
                  near[0] * (1 - 1e-6) <= row[f"r{percent}"] <= near[-1] * (1 + 1e-6))  # fmt: skip
        theory = SIZE / np.sqrt(0.5 ** (-2 / 3) - 1)
        error = row["r50"] / theory - 1
        check(f"type {name}: half-mass radius of a Plummer sphere {error:.1e}", abs(error) < 0.02)
        check(f"type {name}: momentum", abs(row["momentum_x"] - 10 * row["mass"]) < 1e-3)


def check_same(run, again):
    first, = rows_of(f"{run}/log/energy.csv")
    second, = rows_of(f"{again}/energy_000.csv")
    check("columns", list(first) == list(second))
    for name, value in first.items():
        scale = 1e-5 * max(abs(value), 1e-2 * abs(first["total"]) if "momentum" not in name else 1)
        check(f"{name}: {value}, {second[name]}", name == "time_myr" or abs(value - second[name]) <= scale)


def check_ranks(zoom, zoom2, plummer, plummer2):
    for name in ("energy_000.csv", "components_000.csv"):
        for a, b in zip(rows_of(f"{plummer}/{name}"), rows_of(f"{plummer2}/{name}")):
            check(name, all(a[k] == b[k] or abs(a[k] - b[k]) <= 1e-6 * abs(a[k]) + 1e-6 for k in a))
    a, b = photons.Run(zoom).power(0), photons.Run(zoom2).power(0)
    check("P(k)", np.allclose(a["P"], b["P"], rtol=1e-6))
    with h5py.File(f"{zoom}/fof_subhalo_tab_000.hdf5") as p, h5py.File(f"{zoom2}/fof_subhalo_tab_000.hdf5") as q:
        for name in ["Group/" + name for name in p["Group"]] + ["IDs/ID"]:
            check(name, np.array_equal(p[name], q[name]))


{"zoom": make_zoom, "compare": compare_zoom, "plummer": make_plummer, "sphere": check_sphere,
 "same": check_same, "ranks": check_ranks}[sys.argv[1]](*sys.argv[2:])  # fmt: skip
sys.exit(wrong > 0)
