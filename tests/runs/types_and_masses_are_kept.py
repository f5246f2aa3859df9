#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of types_and_masses_are_kept.sh: makes the particles, and checks the runs."""
import math
import os
import sys

import h5py
import numpy
import photons
from photons import halo_plots, spectra

BOX, Z, OMEGA = 10.0, 9.0, 0.3  # Mpc/h
SIDE, REGION = 8, (2, 6)  # cells; those of the region have eight light particles each
GRAVITY = 43.0071
CELL_MASS = 27.7536627 * OMEGA * (BOX / SIDE) ** 3  # 1e10 Msun/h
SOFTENING = {1: 0.05, 2: 0.3, 5: 0.5}  # Mpc/h
wrong = []


def collapse(places):
    """Two halos of 64 and 8 light particles, the first with two heavy ones in it."""
    for middle, reach in (4.0, 1.0), (5.5, 0.5):
        inside = numpy.all(abs(places[1] - middle) < reach, axis=1)
        places[1][inside] = middle + 0.1 * (places[1][inside] - middle)
    places[2][:2] = 4.0 + numpy.array([[0.05, 0, 0], [0, 0.03, 0.04]])


def make(path, halos=False):
    """Types: 1 light, 2 their neighbours with masses of their own, 5 the others. With halos every third light one is
    of type 3."""
    cells = numpy.indices((SIDE,) * 3).reshape(3, -1).T + 0.5
    inner = numpy.all((cells > REGION[0]) & (cells < REGION[1]), axis=1)
    edge = ~inner & numpy.all((cells > REGION[0] - 1) & (cells < REGION[1] + 1), axis=1)
    corners = numpy.indices((2, 2, 2)).reshape(3, -1).T * 0.5 - 0.25
    light = (cells[inner][:, None] + corners).reshape(-1, 3)
    places = {1: light, 2: cells[edge], 5: cells[~inner & ~edge]}
    if halos:
        collapse(places)
    masses = {t: numpy.full(len(x), CELL_MASS) for t, x in places.items()}
    masses[1] /= 8
    masses[2] *= 1 + 0.2 * (-1.0) ** numpy.arange(len(masses[2]))
    table = [0.0, masses[1][0], 0.0, 0.0, 0.0, CELL_MASS]
    if halos:
        third = numpy.arange(len(places[1])) % 3 == 0
        places[1], places[3] = places[1][~third], places[1][third]
        masses[1], masses[3] = masses[1][~third], masses[1][third]
        table[3] = table[1]
    next_id = 1
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = header["NumPart_Total"] = numpy.array(
            [len(places.get(t, ())) for t in range(6)], "u4")
        header["MassTable"] = table
        header["Time"], header["Redshift"], header["BoxSize"] = 1 / (1 + Z), Z, 1e3 * BOX
        header["Omega0"], header["OmegaLambda"], header["HubbleParam"] = OMEGA, 1 - OMEGA, 0.7
        header["NumFilesPerSnapshot"] = 1
        for kind, x in places.items():
            wave = numpy.sin(2 * numpy.pi * x[:, [1, 2, 0]] / SIDE + [0.3, 1.1, 2.0])
            group = file.create_group(f"PartType{kind}")
            group["Coordinates"] = 1e3 * BOX / SIDE * ((x + (0.0 if halos else 0.8) * wave) % SIDE)
            group["Velocities"] = (300 * wave).astype("f4")
            group["ParticleIDs"] = numpy.arange(next_id, next_id + len(x), dtype="u8")
            if kind == 2:
                group["Masses"] = masses[2].astype("f4")
            next_id += len(x)


def read(path):
    """All particles by id, with `type` and, by MassTable or block, `Masses`."""
    parts = []
    with h5py.File(path) as file:
        table = file["Header"].attrs["MassTable"]
        for kind in range(6):
            if f"PartType{kind}" not in file:
                continue
            part = {name: rows[:] for name, rows in file[f"PartType{kind}"].items()}
            count = len(part["ParticleIDs"])
            part["type"] = numpy.full(count, kind)
            part.setdefault("Masses", numpy.full(count, table[kind], "f4"))
            if table[kind] > 0 and not numpy.allclose(part["Masses"], table[kind], rtol=1e-6):
                wrong.append(f"{path}: Masses of type {kind} are not those of MassTable")
            if file["Header"].attrs["NumPart_Total"][kind] != count:
                wrong.append(f"{path}: NumPart_Total of type {kind}")
            parts.append(part)
    names = set.intersection(*(set(part) for part in parts))
    found = {name: numpy.concatenate([part[name] for part in parts]) for name in names}
    order = numpy.argsort(found["ParticleIDs"])
    return {name: rows[order] for name, rows in found.items()}


def spline(r, support):
    """F/d of a pair within the support of the spline (Springel et al. 2001, eq. 71)."""
    u = r / support
    near = 32 / 3 + u**2 * (32 * u - 38.4)
    safe = numpy.maximum(u, 0.25)
    far = 64 / 3 - 48 * u + 38.4 * u**2 - 32 / 3 * u**3 - 1 / (15 * safe**3)
    return numpy.where(u < 0.5, near, far) / support**3


def ewald(x, mass, kind, targets):
    """Accelerations of particles in a periodic box, G = 1, lengths in Mpc/h."""
    alpha, images, waves = 3.0 / BOX, numpy.arange(-1, 2), numpy.arange(-5, 6)
    shifts = BOX * numpy.array(numpy.meshgrid(images, images, images)).reshape(3, -1).T
    k = numpy.array(numpy.meshgrid(waves, waves, waves)).reshape(3, -1).T
    k = 2 * numpy.pi / BOX * k[numpy.any(k != 0, axis=1)]
    k2 = numpy.sum(k**2, axis=1)
    weight = 4 * numpy.pi / BOX**3 * numpy.exp(-k2 / (4 * alpha**2)) / k2
    erfc = numpy.vectorize(math.erfc)
    phase = numpy.exp(1j * x @ k.T)
    density = mass @ phase
    forces = []
    for i in targets:
        d = x - x[i]
        d -= BOX * numpy.round(d / BOX)
        r = numpy.sqrt(numpy.sum((d[:, None] + shifts) ** 2, axis=2))
        r[i] = numpy.inf
        near = 2 * alpha / numpy.sqrt(numpy.pi) * numpy.exp(-((alpha * r) ** 2))
        f = (erfc(alpha * r) / r + near) / r**2
        f[i] = 0.0
        force = numpy.sum((mass[:, None] * f)[:, :, None] * (d[:, None] + shifts), axis=(0, 1))
        force += numpy.imag((weight * density * phase[i].conj()) @ k)
        soft = 2.8 * numpy.maximum([SOFTENING[t] for t in kind], SOFTENING[kind[i]])
        nearest = numpy.sqrt(numpy.sum(d**2, axis=1))
        within = (nearest < soft) & (nearest > 0)
        change = spline(nearest[within], soft[within]) - nearest[within] ** -3
        force += (mass[within] * change) @ d[within]
        forces.append(force)
    return numpy.array(forces)


def check_forces(s):
    targets = numpy.arange(0, len(s["type"]), 12)
    x, mass = s["Coordinates"] / 1e3, s["Masses"].astype(float)
    right = GRAVITY * ewald(x, mass, s["type"], targets)
    found = 1e3 * s["Acceleration"][targets]  # lengths in kpc/h
    size = numpy.linalg.norm(right, axis=1)
    error = numpy.linalg.norm(found - right, axis=1) / numpy.maximum(size, numpy.median(size))
    print(f"forces against Ewald sums: median {numpy.median(error):.2g}, largest {error.max():.2g}")
    # Some twice what was found, of the mesh. The softening length of another type makes 0.01 or
    # more, the mass of another type 0.1 or more.
    if not (numpy.median(error) < 2e-3 and error.max() < 5e-3):
        wrong.append("forces")


def check(ic, first, *others):
    start, early, late = read(ic), read(f"{first}/snapshot_000.hdf5"), read(f"{first}/snapshot_001.hdf5")
    for s in early, late:
        for name in "ParticleIDs", "type":
            if not numpy.array_equal(s[name], start[name]):
                wrong.append(f"{name} are not those of the file")
        if not numpy.allclose(s["Masses"], start["Masses"], rtol=1e-6):
            wrong.append("masses are not those of the file")
    if not numpy.allclose(early["Coordinates"], start["Coordinates"], atol=1e-5):
        wrong.append("positions of the first snapshot are not those of the file")
    check_forces(early)
    # Momenta m a^2 dx/dt: their sum stays, and that without masses does not.
    momenta = [a**1.5 * s["Velocities"].astype(float) for a, s in ((1 / 10, early), (1 / 6, late))]
    change = momenta[1] - momenta[0]
    mass = start["Masses"][:, None].astype(float)
    kept = numpy.linalg.norm(numpy.sum(mass * change, axis=0)) / numpy.sum(mass * abs(change))
    other = numpy.linalg.norm(numpy.sum(change, axis=0)) / numpy.sum(abs(change))
    print(f"momentum changes by {kept:.2g} of all changes; without masses by {other:.2g}")
    if not (kept < 1e-3 and other > 0.01):
        wrong.append("momentum")
    for folder in others:
        for number, s in enumerate((early, late)):
            t = read(f"{folder}/snapshot_00{number}.hdf5")
            wrong.extend(f"{folder}, snapshot {number}: {name}" for name in s
                         if not numpy.array_equal(s[name], t[name]))


def check_order(run):
    """A snapshot in the order of halos has the members of each halo and subhalo where the catalogue says, by type."""
    with h5py.File(f"{run}/fof_subhalo_tab_000.hdf5") as file, h5py.File(f"{run}/snapshot_000.hdf5") as snapshot:
        ids = file["IDs/ID"][:]
        here = {t: snapshot[f"PartType{t}/ParticleIDs"][:] for t in (1, 2, 3, 5)}
        for name, least in ("Group", 2), ("Subhalo", 1):
            first, number = file[f"{name}/{name}OffsetType"][:], file[f"{name}/{name}LenType"][:]
            mass = file[f"{name}/{name}MassType"][:]
            if len(first) < least or not numpy.array_equal(number.sum(1), file[f"{name}/{name}Len"][:]):
                wrong.append(f"{name}: {len(first)} rows, {number}")
            if not (number[0, 1] > 0 and number[0, 3] > 0 and numpy.allclose(mass, number * CELL_MASS / 8)):
                wrong.append(f"{name}: members {number[0]} of mass {mass[0]} by type")
            for row in range(len(first)):
                place = first[row].sum()
                right = set(ids[place : place + number[row].sum()])
                found = [here[t][first[row, t] : first[row, t] + number[row, t]] for t in (1, 3)]
                if set(numpy.concatenate(found)) != right or number[row, [0, 2, 4, 5]].any():
                    wrong.append(f"the snapshot has other particles where {name} {row} should be")
        if "SubhaloHalfmassRadType" in file["Subhalo"]:
            wrong.append("half-mass radii by type, which are not measured")


def check_tools(run):
    """Profiles count particles of all types that halos have, and leave out halos with heavy particles; the Nyquist
    wave number of particles is that of as many equal ones as have the same shot noise."""
    found = photons.Run(run)
    halos = found.halos(0)
    with h5py.File(f"{run}/snapshot_000.hdf5") as snapshot:
        for row in range(2):
            places = [(t, halos["GroupOffsetType"][row, t], halos["GroupLenType"][row, t]) for t in (1, 3)]
            ids = numpy.concatenate([snapshot[f"PartType{t}/ParticleIDs"][i : i + n] for t, i, n in places])
            if set(halos.members(row)) != set(ids):
                wrong.append(f"photons.Run: members of halo {row}")
    tables = halo_plots.snapshots_of_members(found, 0, halos)
    radius = halos["Group_R_Crit200"][0]
    inside = sum(len(halo_plots.distances(table, halos["GroupPeakPos"][0], radius)) for table in tables)
    if len(tables) != 2 or abs(inside - 8 * halos["Group_M_Crit200"][0] / CELL_MASS) > 1:
        wrong.append(f"profiles have {inside} particles of {len(tables)} types within R200c")
    halo_plots.PARTICLES_LEAST = 4
    if 0 in halo_plots.chosen_halos(halos):
        wrong.append("a profile of a halo with heavy particles")
    power = found.power(0)
    side = spectra.particles_nyquist(power) * BOX / numpy.pi
    if not math.isclose(side**-3 * BOX**3, power["P_shot"][0], rel_tol=1e-4):
        wrong.append(f"Nyquist wave number of {side} particles a side")


def same_order(run, other):
    """The files of another run hold what those of the run do, in the same order."""
    for stem in "snapshot", "subsample":
        paths = [f"{folder}/{stem}_000.hdf5" for folder in (run, other)]
        if not os.path.exists(paths[1]):
            wrong.append(f"{paths[1]} is missing")
            continue
        with h5py.File(paths[0]) as ours, h5py.File(paths[1]) as theirs:
            for part in (name for name in ours if name.startswith("PartType")):
                wrong.extend(f"{paths[1]}: {part}/{name}" for name in ours[part]
                             if not numpy.array_equal(ours[part][name][:], theirs[part][name][:]))


def same_particles(ordered, plain):
    """Two snapshots have the same particles, the first in another order."""
    parts = read(ordered), read(plain)
    with h5py.File(ordered) as first, h5py.File(plain) as second:
        if numpy.array_equal(first["PartType1/ParticleIDs"][:], second["PartType1/ParticleIDs"][:]):
            wrong.append(f"{ordered}: nothing is ordered")
    if sorted(parts[0]) != sorted(parts[1]) or "Acceleration" not in parts[0]:
        wrong.append(f"{ordered} has {sorted(parts[0])}, {plain} {sorted(parts[1])}")
    wrong.extend(f"{ordered}: {name} of a particle" for name in parts[0]
                 if not numpy.array_equal(parts[0][name], parts[1][name]))


def check_subsample(run, whole):
    """A part of the particles with the masses of all."""
    part = read(f"{run}/subsample_000.hdf5")
    count, mass = len(part["Masses"]), part["Masses"].astype("f8").sum()
    if not (0.4 < count / len(whole["Masses"]) < 0.6 and numpy.isin(part["ParticleIDs"], whole["ParticleIDs"]).all()):
        wrong.append(f"{run}: a subsample of {count} particles, or with other ids")
    if not math.isclose(mass, whole["Masses"].astype("f8").sum(), rel_tol=1e-5):
        wrong.append(f"{run}: a subsample has {mass / whole['Masses'].astype('f8').sum()} of the mass")


def same_halos(run, *others):
    """Catalogues, spectra and pictures of one state; contamination is that of the snapshot."""
    with h5py.File(f"{run}/fof_subhalo_tab_000.hdf5") as file:
        group = {name: rows[:] for name, rows in file["Group"].items()}
    if group["GroupLen"].tolist() != [64, 8] or group["GroupHeavyLen"].tolist() != [2, 0]:
        wrong.append(f"halos of {group['GroupLen']} particles, {group['GroupHeavyLen']} heavy ones")
    check_order(run)
    check_tools(run)
    check_subsample(run, read(f"{run}/snapshot_000.hdf5"))
    s = read(f"{run}/snapshot_000.hdf5")
    heavy = s["Masses"] > 2 * s["Masses"].min()
    for h, centre in enumerate(group["GroupPeakPos"]):
        away = abs(s["Coordinates"] - centre)
        away = numpy.linalg.norm(numpy.minimum(away, 1e3 * BOX - away), axis=1)
        inside = heavy & (away < group["Group_R_Crit200"][h])
        if inside.sum() != group["GroupHeavyLen"][h] or not math.isclose(
                s["Masses"][inside].astype("f8").sum(), group["GroupHeavyMass"][h], rel_tol=1e-6):
            wrong.append(f"heavy particles in halo {h}")
    for other in others:
        with h5py.File(f"{other}/fof_subhalo_tab_000.hdf5") as file:
            wrong.extend(f"{other}: {name}" for name, rows in group.items()
                         if not numpy.array_equal(rows, file["Group"][name][:]))
        power = [numpy.loadtxt(f"{folder}/powerspec_000.txt") for folder in (run, other)]
        if not numpy.allclose(*power, rtol=1e-6):
            wrong.append(f"{other}: power spectrum")
        if other != "analysis":
            same_order(run, other)
        for picture in "density", "slice":
            files = [open(f"{folder}/{picture}_000.png", "rb").read() for folder in (run, other)]
            if files[0] != files[1]:
                wrong.append(f"{other}: {picture}")


command, *arguments = sys.argv[1:]
{"make": make, "check": check, "halos": same_halos, "order": same_particles}[command](*arguments)
sys.exit("\n".join(wrong) if wrong else 0)
