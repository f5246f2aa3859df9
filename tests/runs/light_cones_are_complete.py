# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the files of light cones.

usage: light_cones_are_complete.py make SNAPSHOT | complete RUN... | same RUN OTHER... | parts SKY OCTANT PENCIL
"""

import os
import sys

import h5py
import numpy as np
from photons import lightcone

FIELDS = ("Coordinates", "Velocities", "ParticleIDs", "Ascale")


def make(path):
    """Four files from a snapshot of particles of one mass: equal.hdf5 is the same with a mass for each particle; in
    several.hdf5 a third of the box has four light particles in the place of each one, its neighbours of another type differ in mass, and the
    others are heavy ones of a third type; apart.hdf5 is several.hdf5 with one mass that is far from the others,
    and in tiny.hdf5 this has too few digits in single precision."""
    with h5py.File(path) as file:
        header = dict(file["Header"].attrs)
        x, v = file["PartType1/Coordinates"][:], file["PartType1/Velocities"][:]
        ids = file["PartType1/ParticleIDs"][:]
    mass, side = header["MassTable"][1], header["BoxSize"]
    light, near = x[:, 0] < side / 3, (x[:, 0] >= side / 3) & (x[:, 0] < side / 2)
    heavy = ~light & ~near
    corners = 0.1 * side / 12 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    split = (x[light][:, None] + corners).reshape(-1, 3) % side
    differ = mass * np.where(np.arange(near.sum()) % 2, 0.75, 1.25)
    several = {
        1: (split, np.repeat(v[light], 4, axis=0), np.full(len(split), mass / 4)),
        2: (x[near], v[near], differ),
        5: (x[heavy], v[heavy], np.full(heavy.sum(), mass)),
    }
    write("equal.hdf5", header, {1: (x, v, np.full(len(x), mass))}, ids)
    write("several.hdf5", header, several)
    several[2][2][0] *= 1e-10
    write("apart.hdf5", header, several)
    several[2][2][0] *= 1e-30
    write("tiny.hdf5", header, several)


def write(path, header, types, ids=None):
    """Particles by type: places, velocities and masses."""
    counts = np.array([len(types[t][0]) if t in types else 0 for t in range(6)])
    first = 1
    with h5py.File(path, "w") as file:
        attributes = file.create_group("Header").attrs
        for name in "Time", "Redshift", "BoxSize", "Omega0", "OmegaLambda", "HubbleParam":
            attributes[name] = header[name]
        attributes["NumPart_ThisFile"] = attributes["NumPart_Total"] = counts.astype("u4")
        attributes["MassTable"], attributes["NumFilesPerSnapshot"] = np.zeros(6), 1
        for kind, (x, v, mass) in types.items():
            group = file.create_group(f"PartType{kind}")
            group["Coordinates"], group["Velocities"], group["Masses"] = x, v, mass
            group["ParticleIDs"] = np.arange(first, first + len(x), dtype="u8") if ids is None else ids
            first += len(x)


def read(file):
    """Datasets of all types of a file, with Masses and Types of all particles."""
    parts, header = [], dict(file["Header"].attrs)
    for kind in range(6):
        part = {name: rows[:] for name, rows in file.get(f"PartType{kind}", {}).items()}
        count = len(part.get("ParticleIDs", ()))
        assert header["NumPart_ThisFile"][kind] == count
        if count > 0:
            assert "Masses" in part or header["MassTable"][kind] > 0.0
            part.setdefault("Masses", np.full(count, header["MassTable"][kind], "f4"))
            part["Types"] = np.full(count, kind)
            parts.append(part)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, header


def files(run, stem):
    folder = f"{run}/lightcone"
    return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name.startswith(stem)]


def particles(run):
    parts = {field: [] for field in (*FIELDS, "Masses", "Types")}
    for path in files(run, "particles"):
        with h5py.File(path) as file:
            part, header = read(file)
        a = part["Ascale"]
        assert np.all((a >= header["TimeBegin"] - 1e-7) & (a <= header["TimeEnd"] + 1e-7))
        for field in parts:
            parts[field].append(part[field])
    return {field: np.concatenate(values) for field, values in parts.items()}, header


def distance(a, omega_m, omega_lambda):
    """Comoving distance in kpc/h, by Simpson's rule in a: c/H0 int da/(a^2 E). Between the 1001 points of
    a table it is a straight line to 0.003 kpc/h."""
    known = np.linspace(a.min(), 1.0, 1001)
    x = np.linspace(known, 1.0, 201)
    y = 1.0 / np.sqrt(omega_m * x + omega_lambda * x**4)
    weight = np.ones((201, 1))
    weight[1:-1:2], weight[2:-1:2] = 4, 2
    return np.interp(a, known, 2997924.58 * np.sum(weight * y, axis=0) * (1.0 - known) / 600.0)


def complete(*runs):
    return [crossings(run) for run in runs]


def crossings(run):
    """Each particle at the end of the run, in each copy of the box, was in the light cone once if it
    is nearer than its reach. The border may be off by how far particles move after they crossed."""
    found, header = particles(run)
    x, ids = found["Coordinates"], found["ParticleIDs"]
    r = np.sqrt(np.sum(x**2, axis=1))
    chi = distance(found["Ascale"].astype(float), header["Omega0"], header["OmegaLambda"])
    assert np.abs(r - chi).max() < 1.0, "not on the light cone"  # floats of a: 0.2 kpc/h
    with h5py.File(f"{run}/snapshot_000.hdf5") as file:
        snapshot, _ = read(file)
        order = np.argsort(snapshot["ParticleIDs"])
        end, velocity = snapshot["Coordinates"][order], snapshot["Velocities"][order]
        for name in "Masses", "Types":
            assert np.array_equal(found[name], snapshot[name][order][ids.astype(int) - 1]), name
        assert np.array_equal(np.sort(ids)[np.r_[True, np.diff(np.sort(ids)) > 0]], np.arange(len(end)) + 1)
    box, place = header["BoxSize"], x + header["Observer"]
    copy = np.rint((place - end[ids.astype(int) - 1]) / box).astype(int)
    moved = np.abs(place - end[ids.astype(int) - 1] - copy * box).max()
    speed = np.abs(velocity).max()
    assert 0.0 < moved < 3.0 * speed / 299792.458 * header["Reach"], f"particles jump: {moved}"
    most, slack, must = int(header["Reach"] / box) + 2, 2.0 * moved, []
    side = 2 * most + 1
    assert np.abs(copy).max() <= most

    def keys_of(ids, copy):
        x, y, z = np.transpose(copy + most)
        return ((ids.astype(int) * side + x) * side + y) * side + z

    keys = np.unique(keys_of(ids, copy))
    assert len(keys) == len(ids), f"{len(ids) - len(keys)} crossings are doubled"
    for k in np.ndindex(3 * (side,)):
        k = np.array(k) - most
        away = np.sqrt(np.sum((end + k * box - header["Observer"]) ** 2, axis=1))
        must.append(keys_of(np.flatnonzero(away < header["Reach"] - slack) + 1, k))
    lost = np.setdiff1d(np.concatenate(must), keys, assume_unique=True)
    assert not len(lost), f"{len(lost)} crossings are lost, the first of particle {lost[0] // side**3}"
    sure = sum(map(len, must))
    assert sure > 0.95 * len(keys)
    assert r.max() <= header["Reach"] * (1 + 1e-12)
    ours = {**{name: found[name] for name in (*FIELDS, "Masses")}, "ParticleTypes": found["Types"]}
    theirs = lightcone.LightCone(run).particles()
    assert all(np.array_equal(theirs[name], ours[name]) for name in ours), "photons.lightcone"
    maps(run, x, r, found["Masses"].astype(float), sure)
    return f"{len(keys)} crossings, of which {sure} had to be"


def maps(run, x, r, mass, sure):
    """Counts, or masses where these differ, are those of the particles, pixel by pixel."""
    import healpy  # which takes a second, and this function alone needs it

    total = 0
    for path in files(run, "shell"):
        with h5py.File(path) as file:
            header, density = dict(file["Header"].attrs), file["SurfaceDensity"][:]
            counts = file["Counts"][:] if "Counts" in file else None
            masses = counts * header["ParticleMass"] if "Counts" in file else file["Masses"][:]
            assert ("Counts" in file) == (mass.min() == mass.max()) != ("Masses" in file)
        inner, outer = header["DistanceInner"], header["DistanceOuter"]
        there = (r >= inner) & (r < outer)
        assert len(masses) == 12 * header["Nside"] ** 2
        area = 4 * np.pi / len(masses) * (outer**3 - inner**3) / (3 * (outer - inner))
        assert np.allclose(density, masses / area, rtol=1e-6)
        total += there.sum()
        pixel = healpy.vec2pix(int(header["Nside"]), *x[there].T)
        right = np.bincount(pixel, mass[there], len(masses))
        assert np.allclose(masses, right, rtol=1e-6, atol=0.0), path
        noise = np.sum(mass[there] ** 2) / np.sum(mass[there])
        assert abs(header["ParticleMass"] / noise - 1) < 1e-6, f"{path}: {header['ParticleMass']}, not {noise}"
        if counts is not None:
            assert np.array_equal(np.bincount(pixel, minlength=len(counts)), counts), path
    assert total == len(r) >= sure


def contents(path):
    values = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset):
            values[name] = item[()].tobytes()

    with h5py.File(path) as file:
        file.visititems(take)
        values["Header"] = {k: np.asarray(v).tobytes() for k, v in file["Header"].attrs.items()}
    return values


def same(run, *others):
    names = [os.path.basename(path) for path in files(run, "")]
    assert len(names) > 4, names
    ours = {name: contents(f"{run}/lightcone/{name}") for name in names}
    for other in others:
        assert names == [os.path.basename(path) for path in files(other, "")], other
        for name in names:
            assert ours[name] == contents(f"{other}/lightcone/{name}"), f"{other}: {name} differs"


def rows(found, choice):
    order = np.lexsort(found["Coordinates"][choice].T)
    return [found[field][choice][order].tobytes() for field in FIELDS]


def parts(sky, octant, pencil):
    whole, _ = particles(sky)
    x = whole["Coordinates"]
    axis = np.array([1, 2, 0.5]) / np.sqrt(5.25)
    views = {
        octant: (x[:, 0] >= 0) & (x[:, 1] <= 0) & (x[:, 2] >= 0),
        pencil: x @ axis >= np.cos(np.radians(20)) * np.sqrt(np.sum(x**2, axis=1)),
    }
    for run, view in views.items():
        part, header = particles(run)
        assert view.sum() > 1000 and rows(part, slice(None)) == rows(whole, view), run
        assert abs(view.mean() / header["SkyFraction"] - 1) < 0.1, run


if __name__ == "__main__":
    work = {"make": make, "complete": complete, "same": same, "parts": parts}[sys.argv[1]]
    try:
        print(f"{sys.argv[2:]}: {work(*sys.argv[2:]) or 'right'}")
    except AssertionError as error:
        sys.exit(f"FAILED: {' '.join(sys.argv[1:])}: {error}")
