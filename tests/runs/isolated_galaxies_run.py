#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of isolated_galaxies_run.sh: logs and snapshots of a run, and the same in others."""
import csv
import sys

import h5py
import numpy

first, *others = sys.argv[1:]
wrong = []
with open(f"{first}/log/energy.csv", encoding="ascii") as file:
    energy = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
if [row["time_myr"] for row in energy] != [0.0, 8.0, 16.0]:
    wrong.append(f"energies at {[row['time_myr'] for row in energy]} Myr")
change = max(abs(row["total"] / energy[0]["total"] - 1.0) for row in energy)
virial = max(abs(row["virial"] - 1.0) for row in energy)
print(f"energy changes by {change:.2g}, -2T/W differs from 1 by {virial:.2g}")
if not (change < 1e-3 and virial < 0.05):
    wrong.append("energy")
with open(f"{first}/log/timings.csv", encoding="ascii") as file:
    rebuilt = [int(row["rebuilt"]) for row in csv.DictReader(file)][1:]
print(f"base steps with new groups: {rebuilt}")
if sum(rebuilt) == 0:
    wrong.append("no new groups")


def particles(folder, number):
    with h5py.File(f"{folder}/snapshot_00{number}.hdf5") as file:
        header, groups = file["Header"].attrs, [file[key] for key in file if "PartType" in key]
        found = {name: numpy.concatenate([group[name][:] for group in groups])
                 for name in groups[0]}
        found["header"] = (header["BoxSize"], header["Redshift"], header["HubbleParam"])
        found["time"] = header["Time"]
    order = numpy.argsort(found["ParticleIDs"])
    return {name: value[order] if isinstance(value, numpy.ndarray) and value.ndim else value
            for name, value in found.items()}


for number, myr in ((0, 8.0), (1, 16.0)):
    s = particles(first, number)
    if s["header"] != (0.0, 0.0, 1.0):
        wrong.append(f"the header: BoxSize, Redshift and HubbleParam are {s['header']}")
    if abs(s["time"] * 977.79222 / myr - 1.0) > 1e-6:  # kpc/(km/s)
        wrong.append(f"Time is {s['time']}")
    if abs(s["Masses"].sum() / 4.0 - 1.0) > 1e-5:
        wrong.append(f"the mass is {s['Masses'].sum()}")
    row = next(row for row in energy if row["time_myr"] == myr)
    x, v, mass = s["Coordinates"], s["Velocities"].astype(float), s["Masses"][:, None].astype(float)
    for name, expected, tolerance in (
        ("potential", [0.5 * numpy.sum(mass[:, 0] * s["Potential"].astype(float))], 1e-6),
        ("angular", numpy.sum(mass * numpy.cross(x, v), axis=0), 1e-4),
        ("centre", numpy.sum(mass * x, axis=0) / mass.sum(), 1e-5),
    ):
        names = [name] if name in row else [f"{name}_{axis}" for axis in "xyz"]
        error = max(abs(row[key] - value) for key, value in zip(names, expected))
        if not error <= tolerance * max(1.0, numpy.max(numpy.abs(expected))):
            wrong.append(f"{name} at {myr} Myr differs by {error:.2g} from {expected}")
    # Hernquist (1990), equation 3.
    radius = numpy.median(numpy.linalg.norm(s["Coordinates"], axis=1))
    within = 0.75 * (radius / (1.0 + radius)) ** 2 + 0.25 * (radius / (2.0 + radius)) ** 2
    print(f"half of the particles are within {radius:.3g} kpc, where the model has {within:.3g}")
    if abs(within - 0.5) > 0.02:
        wrong.append("the radius of half of the mass")
    for folder in others:
        t = particles(folder, number)
        for name in s:
            if not numpy.array_equal(s[name], t[name]):
                wrong.append(f"{folder}, snapshot {number}: {name}")
sys.exit("\n".join(wrong) if wrong else 0)
