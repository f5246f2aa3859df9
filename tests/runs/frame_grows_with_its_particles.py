#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of frame_grows_with_its_particles.sh: the frames, escapers and energies of the runs."""
import csv
import sys

import h5py
import numpy

N, RADIUS, STEP = 500, 2.0, 1.0  # particles; box.escape_radius, kpc; Myr
KPC = 977.79  # Myr at 1 km/s
wrong = []


def rows(folder, name):
    with open(f"{folder}/log/{name}.csv", encoding="ascii") as file:
        return list(csv.DictReader(file))


def particles(folder, number):
    with h5py.File(f"{folder}/snapshot_00{number}.hdf5") as file:
        groups = [file[key] for key in file if "PartType" in key]
        found = {name: numpy.concatenate([group[name][:] for group in groups])
                 for name in groups[0]}
    order = numpy.argsort(found["ParticleIDs"])
    return {name: values[order] for name, values in found.items()}


def log_lines(folder, text, side):
    """Lines of the log with a text: what is before it (side 0) or after it (1)."""
    with open(f"{folder}/log/run.log", encoding="utf-8") as file:
        return [line.split(text)[side] for line in file if text in line]


def check(holds, text):
    if not holds:
        wrong.append(text)


for folder in "all", "some":
    for number in 0, 1:
        one, parts = particles(folder, number), particles(f"{folder}-parts", number)
        for name in one:
            check(numpy.array_equal(one[name], parts[name]), f"{folder}, {name} {number}")
    for name in "energy", "escapers":
        check(rows(folder, name) == rows(f"{folder}-parts", name), f"{folder}: log/{name}.csv")

# Without escapers: straight paths from 4 Myr on, through several doublings.
grown = log_lines("all", "the frame grows to ", 1)
print(f"{len(grown)} times the frame grows; to {grown[-1].strip()}")
check(len(grown) >= 3, "the frame does not grow")
early, late = particles("all", 0), particles("all", 1)
away = early["Coordinates"] + early["Velocities"] * 4.0 / KPC
turn = numpy.linalg.norm(late["Coordinates"] - away, axis=1)
far = numpy.linalg.norm(late["Coordinates"], axis=1)
print(f"particles are up to {far.max():.3g} kpc away, and {turn.max():.2g} kpc off straight paths")
check(len(late["ParticleIDs"]) == N and far.max() > 10.0, "particles of the run without escapers")
check(turn.max() < 0.005 * far.max(), "paths are not straight")

# With escapers: each particle is in the file or in the last snapshot, and what they take with them
# balances the energy.
escapers, stay = rows("some", "escapers"), particles("some", 1)
ids = sorted([int(row["id"]) for row in escapers] + list(stay["ParticleIDs"]))
check(len(escapers) > N // 2 and len(stay["ParticleIDs"]) > 10, f"{len(escapers)} escapers")
check(ids == list(range(1, N + 1)), "escapers and the others are not all particles")
told = sum(int(text.split()[-2]) for text in log_lines("some", " escaped beyond ", 0))
check(told == len(escapers), f"the log counts {told} escapers")
for row in escapers:
    x, v = ([float(row[prefix + axis]) for axis in "xyz"] for prefix in ("", "v"))
    before = numpy.linalg.norm(x) - STEP * numpy.linalg.norm(v) / KPC
    check(numpy.linalg.norm(x) >= RADIUS and before < 1.1 * RADIUS, f"escaper {row}")
energy = [float(row["total"]) + float(row["escaped"]) for row in rows("some", "energy")][2:]
change = max(energy) / min(energy) - 1.0
print(f"{len(escapers)} particles escape; with them the energy changes by {change:.2g}")
check(change < 1e-3, "energy")
sys.exit("\n".join(wrong) if wrong else 0)
