# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the files of light cones.

usage: light_cones_are_complete.py complete RUN... | same RUN OTHER... | parts SKY OCTANT PENCIL
"""

import os
import sys

import h5py
import numpy as np

FIELDS = ("Coordinates", "Velocities", "ParticleIDs", "Ascale")


def files(run, stem):
    folder = f"{run}/lightcone"
    return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name.startswith(stem)]


def particles(run):
    parts = {field: [] for field in FIELDS}
    for path in files(run, "particles"):
        with h5py.File(path) as file:
            header = dict(file["Header"].attrs)
            assert header["NumPart_ThisFile"][1] == len(file["PartType1/ParticleIDs"])
            a = file["PartType1/Ascale"][:]
            assert np.all((a >= header["TimeBegin"] - 1e-7) & (a <= header["TimeEnd"] + 1e-7))
            for field in FIELDS:
                parts[field].append(file["PartType1"][field][:])
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
        order = np.argsort(file["PartType1/ParticleIDs"][:])
        end = file["PartType1/Coordinates"][:][order]
        velocity = file["PartType1/Velocities"][:][order]
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
    maps(run, x, r, sure)
    return f"{len(keys)} crossings, of which {sure} had to be"


def maps(run, x, r, sure):
    """Counts are those of the particles, pixel by pixel."""
    import healpy  # which takes a second, and this function alone needs it

    total = 0
    for path in files(run, "shell"):
        with h5py.File(path) as file:
            header, counts = dict(file["Header"].attrs), file["Counts"][:]
            density = file["SurfaceDensity"][:]
        inner, outer = header["DistanceInner"], header["DistanceOuter"]
        there = (r >= inner) & (r < outer)
        assert counts.sum() == there.sum() and len(counts) == 12 * header["Nside"] ** 2
        area = 4 * np.pi / len(counts) * (outer**3 - inner**3) / (3 * (outer - inner))
        assert np.allclose(density, counts * header["ParticleMass"] / area, rtol=1e-6)
        total += counts.sum()
        pixel = healpy.vec2pix(int(header["Nside"]), *x[there].T)
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
    work = {"complete": complete, "same": same, "parts": parts}[sys.argv[1]]
    try:
        print(f"{sys.argv[2:]}: {work(*sys.argv[2:]) or 'right'}")
    except AssertionError as error:
        sys.exit(f"FAILED: {' '.join(sys.argv[1:])}: {error}")
