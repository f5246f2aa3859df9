#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of close_pair_keeps_its_energy.sh.
make FILE: two bodies on a circle; prints the config.ini of two orbits.
check FOLDER: the energies and the steps of a run."""
import csv
import sys

import h5py
import numpy

G, APART, MASS, SOFTENING = 43007.1, 1e-3, 0.01, 1e-4  # kpc, km/s, 1e10 Msun; Plummer's law
SPEED = (G * 2 * MASS * APART**2 / (APART**2 + SOFTENING**2) ** 1.5) ** 0.5
PERIOD = 2 * numpy.pi * APART / SPEED * 977.79222  # Myr
MAX_STEP = PERIOD / 50


def make(path):
    place = numpy.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = header["NumPart_Total"] = [0, 0, 0, 0, 0, 2]
        header["NumPart_Total_HighWord"], header["MassTable"] = [0] * 6, [0.0] * 6
        header["Time"] = header["Redshift"] = header["BoxSize"] = 0.0
        header["NumFilesPerSnapshot"], header["HubbleParam"] = 1, 1.0
        header["Omega0"] = header["OmegaLambda"] = 0.0
        group = file.create_group("PartType5")
        group["Coordinates"] = APART * place
        group["Velocities"] = SPEED * place[:, [1, 0, 2]]
        group["ParticleIDs"] = [1, 2]
        group["Masses"] = [MASS] * 2
    print(f"""[box]
boundary = isolated
[ic]
source = gadget
file = {path}
[gravity]
softening = {SOFTENING}
softening_kernel = plummer
[time]
end = {2 * PERIOD}
max_step = {MAX_STEP}
[output]
energy_steps = 1""")


def read(path):
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))


def check(folder):
    energy = [float(row["total"]) for row in read(f"{folder}/log/energy.csv")]
    steps = [float(row["dt_myr"]) for row in read(f"{folder}/log/timings.csv")]
    change = max(abs(e / energy[0] - 1.0) for e in energy)
    print(f"{folder}: {len(steps)} steps of at most {max(steps) / MAX_STEP} max_step, "
          f"energy changes by {change:.2g}")
    # Leapfrog with 63 steps an orbit makes an ellipse of the eccentricity e = (2 pi/63)^2/8 of the
    # circle. Its energy varies by some e (2 pi/63)^2 within the orbit, and is the same after it.
    conserved = change < 5e-5 and abs(energy[-1] / energy[0] - 1.0) < 5e-6
    return conserved and max(steps) < MAX_STEP * (1.0 + 2e-6) and len(steps) > 100


if __name__ == "__main__":
    sys.exit({"make": make, "check": lambda folder: not check(folder)}[sys.argv[1]](sys.argv[2]))
