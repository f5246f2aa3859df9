#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of lean_files_lose_little.sh: compares snapshots, and what was measured in them."""
import os
import sys

import h5py
import numpy
import photons

exact, lean, ranks, of_exact, of_lean = sys.argv[1:]
wrong = []


def expect(what, holds):
    if not holds:
        wrong.append(what)


def by_id(folder):
    with h5py.File(f"{folder}/snapshot_000.hdf5") as file:
        part = {name: rows[:] for name, rows in file["PartType1"].items()}
        bounds = {name: rows.attrs.get("error_bound") for name, rows in file["PartType1"].items()}
        box, a = file["Header"].attrs["BoxSize"], file["Header"].attrs["Time"]
    order = numpy.argsort(part["ParticleIDs"])
    return {name: rows[order] for name, rows in part.items()}, bounds, box, a


true, none, box, a = by_id(exact)
rounded, bounds, _, _ = by_id(lean)
expect("exact files state no errors", set(none.values()) == {None})
spacing = box / 32
shift = rounded["Coordinates"] - true["Coordinates"]
shift -= box * numpy.rint(shift / box)
largest = abs(shift).max()
expect("positions", 0.99 * bounds["Coordinates"] < largest <= bounds["Coordinates"])
expect("error of positions", bounds["Coordinates"] <= spacing / 30 / 128)
largest = abs(rounded["Velocities"].astype("f8") - true["Velocities"]).max()
expect("velocities", 0.99 * bounds["Velocities"] < largest <= bounds["Velocities"] * (1 + 1e-6))
expect("error of velocities", bounds["Velocities"] * a**0.5 <= 2)
expect("ids", numpy.array_equal(rounded["ParticleIDs"], true["ParticleIDs"]))
expect("masses", numpy.array_equal(rounded["Masses"], true["Masses"]))

# Headers and the like take 40 kB of each file.
size = os.path.getsize(f"{lean}/snapshot_000.hdf5") - 40000
print(f"{size / 32**3:.2f} bytes a particle")
expect("12 bytes a particle", size < 12 * 32**3)

with h5py.File(f"{lean}/snapshot_000.hdf5") as one, h5py.File(f"{ranks}/snapshot_000.hdf5") as two:
    for name, rows in one["PartType1"].items():
        expect(f"{name} on two ranks", rows[:].tobytes() == two[f"PartType1/{name}"][:].tobytes())
        for sum_of in ("xxh3_rows", "error_bound"):
            expect(f"{sum_of} of {name} on two ranks",
                   rows.attrs.get(sum_of) == two[f"PartType1/{name}"].attrs.get(sum_of))

power = [photons.load(f"{folder}/powerspec_000.txt") for folder in (of_exact, of_lean)]
ratio = power[1]["P"] / power[0]["P"] - 1
resolved = power[0]["k"] < numpy.pi * 32 / 32  # up to the particles' Nyquist wave number
print(f"P(k): {abs(ratio[resolved]).max():.1e} below the Nyquist wave number, {abs(ratio).max():.1e} in all")
expect("P(k)", abs(ratio[resolved]).max() < 1e-4)
halos = [photons.load(f"{folder}/fof_subhalo_tab_000.hdf5") for folder in (of_exact, of_lean)]
# A halo is cut where a link is as long as the linking length to the error of positions. Such links are few,
# but one of them can hold a part of a small halo.
lengths = [halo["GroupLen"][:] for halo in halos]
print("halos and members:", [(len(length), length.sum()) for length in lengths])
expect("the number of halos", len(lengths[0]) == len(lengths[1]))
same = numpy.mean([n in lengths[0] for n in lengths[1]])
print(f"halos with as many members: {same:.3f}")
expect("members of halos", same > 0.8)
for what in wrong:
    print("wrong:", what)
sys.exit(bool(wrong))
