#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of close_pair_keeps_its_energy.sh.
make FILE [TYPE]: two bodies on a circle; prints the config.ini of two orbits.
check FOLDER: the energies and the steps of a run.
hole FILE: a black hole and a star on an ellipse; prints the config.ini of three orbits.
ellipse FOLDER: the ellipse of the star in all snapshots.
long FILE, longer FOLDER: the same with a long ellipse and with steps of pairs.
equal FILE, pairs FOLDER: two equal bodies on a long ellipse, ten orbits with time.criterion = pairs.
near FILE, first FOLDER: the first steps of two equal bodies that begin at their pericentre.
least FILE: the least step that a dry run tells."""
import csv
import re
import sys

import h5py
import numpy

G, APART, MASS, SOFTENING = 43007.1, 1e-3, 0.01, 1e-4  # kpc, km/s, 1e10 Msun; Plummer's law
SPEED = (G * 2 * MASS * APART**2 / (APART**2 + SOFTENING**2) ** 1.5) ** 0.5
PERIOD = 2 * numpy.pi * APART / SPEED * 977.79222  # Myr
MAX_STEP = PERIOD / 50
HOLE, SEMI, SMALL = 0.01, 1e-3, 1e-5  # 1e10 Msun; kpc; softening of both types, kpc
ROUND, LONG = 0.5, 0.9  # eccentricities
SUB_STEPS = 3000  # of pairs; the accelerations alone ask for 4500, and the axis is then off by 1.2 %
ORBIT = 2 * numpy.pi * (SEMI**3 / (G * HOLE)) ** 0.5 * 977.79222  # Myr


def isolated(path):
    return f"""[box]
boundary = isolated
[ic]
source = gadget
file = {path}
[gravity]"""


def write_two(path, kind, apart, speed):
    place = numpy.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = header["NumPart_Total"] = [2 * (t == int(kind)) for t in range(6)]
        header["NumPart_Total_HighWord"], header["MassTable"] = [0] * 6, [0.0] * 6
        header["Time"] = header["Redshift"] = header["BoxSize"] = 0.0
        header["NumFilesPerSnapshot"], header["HubbleParam"] = 1, 1.0
        header["Omega0"] = header["OmegaLambda"] = 0.0
        group = file.create_group(f"PartType{kind}")
        group["Coordinates"] = apart * place
        group["Velocities"] = speed * place[:, [1, 0, 2]]
        group["ParticleIDs"] = [1, 2]
        group["Masses"] = [MASS] * 2


def make(path, kind="5"):
    write_two(path, kind, APART, SPEED)
    print(f"""{isolated(path)}
softening = {SOFTENING}
softening_kernel = plummer
[time]
end = {2 * PERIOD}
max_step = {MAX_STEP}
[output]
energy_steps = 1""")


def make_hole(path, eccentricity, more=""):
    nearest = SEMI * (1 - eccentricity)
    speed = (G * HOLE * (2 / nearest - 1 / SEMI)) ** 0.5
    with h5py.File(path, "w") as file:
        file.create_group("Header").attrs["NumPart_ThisFile"] = [0, 0, 0, 0, 1, 1]
        file["Header"].attrs["MassTable"] = [0, 0, 0, 0, 1e-10, HOLE]  # the star has 1 Msun
        for kind, x, v in (("4", nearest, speed), ("5", 0.0, 0.0)):
            group = file.create_group(f"PartType{kind}")
            group["Coordinates"], group["Velocities"] = [[x, 0.0, 0.0]], [[0.0, v, 0.0]]
            group["ParticleIDs"] = [int(kind)]
    times = ", ".join(f"{share * ORBIT:.12g}" for share in (0.0, 0.7, 1.3, 2.1, 3.0))
    print(f"""{isolated(path)}
softening_type_4 = {SMALL}
softening_type_5 = {SMALL}
[time]
step = block
end = {3 * ORBIT:.12g}
max_step = {ORBIT / 4}
{more}[output]
times = {times}""")


def make_equal(path):
    farthest = SEMI * (1 + LONG)
    write_two(path, "1", farthest, (G * 2 * MASS * (2 / farthest - 1 / SEMI)) ** 0.5)
    orbit = ORBIT * (HOLE / (2 * MASS)) ** 0.5
    print(f"""{isolated(path)}
softening = {1e-3 * SEMI}
softening_kernel = plummer
[time]
end = {10 * orbit:.12g}
max_step = {orbit:.12g}
criterion = pairs
[output]
energy_steps = 1""")


def make_near(path):
    """The bodies are nearer than their softening length and fast: accelerations allow steps that are too long."""
    nearest, softening = 0.1 * SEMI, 0.5 * SEMI
    speed = (G * MASS / softening) ** 0.5
    step = softening / speed * 977.79222  # Myr
    write_two(path, "1", nearest, speed)
    print(f"""{isolated(path)}
softening = {softening}
softening_kernel = plummer
[time]
end = {step:.12g}
max_step = {step:.12g}
criterion = pairs
[output]
energy_steps = 1""")


def check_first(folder):
    energy = [float(row["total"]) for row in read(f"{folder}/log/energy.csv")]
    steps = sum(int(row["sub_steps"]) for row in read(f"{folder}/log/timings.csv"))
    change = abs(energy[-1] - energy[0]) / abs(energy[0])
    print(f"{folder}: energy changes by {change:.2g} in the first {steps} sub-steps")
    return change < 1e-3  # 2.8e-2 in 18 sub-steps, where the first ones follow accelerations alone


def check_equal(folder):
    energy = [float(row["total"]) for row in read(f"{folder}/log/energy.csv")]
    steps = sum(int(row["sub_steps"]) for row in read(f"{folder}/log/timings.csv"))
    change = max(abs(e / energy[0] - 1.0) for e in energy)
    print(f"{folder}: energy changes by {change:.2g} in ten orbits of {steps / 10} sub-steps")
    # By their accelerations the bodies take 3800 sub-steps an orbit, and the energy is off by 6e-3.
    return change < 5e-4 and steps < 4500


def check_ellipse(folder, eccentricity):
    """Semi-major axis, eccentricity and direction of the pericentre."""
    good = True
    for number in range(5):
        with h5py.File(f"{folder}/snapshot_00{number}.hdf5") as file:
            x, v = (file[f"PartType4/{name}"][0].astype(float) - file[f"PartType5/{name}"][0]
                    for name in ("Coordinates", "Velocities"))
        r = numpy.linalg.norm(x)
        semi = 1 / (2 / r - v @ v / (G * HOLE))
        towards = numpy.cross(v, numpy.cross(x, v)) / (G * HOLE) - x / r
        turned = numpy.arctan2(towards[1], towards[0])
        print(f"{folder}, {number}: a {semi / SEMI:.7f}, e {numpy.linalg.norm(towards):.7f}, turned by {turned:.2g}")
        # Leapfrog turns the ellipse by some (dt omega)^2 an orbit, where (dt omega)^2 = 2 eta softening/r.
        good = good and abs(semi / SEMI - 1) < 1e-3 and abs(numpy.linalg.norm(towards) - eccentricity) < 1e-3
        good = good and abs(turned) < 0.01
    return good


def check_pairs(folder):
    steps = sum(int(row["sub_steps"]) for row in read(f"{folder}/log/timings.csv"))
    print(f"{folder}: {steps} sub-steps")
    return check_ellipse(folder, LONG) and steps < SUB_STEPS


def check_least(path):
    with open(path, encoding="utf-8") as file:
        found = re.search(r"least step +about (\S+) Myr, beside a particle of 1e\+08 Msun of type 5", file.read())
    eta = 0.025  # the default of time.eta
    expected = (2 * eta * SMALL**3 / (0.3849 * G * HOLE)) ** 0.5 * 977.79222
    print(found and found[0], expected)
    return bool(found) and abs(float(found[1]) / expected - 1) < 0.01


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
    sys.exit({"make": make, "hole": lambda path: make_hole(path, ROUND),
              "long": lambda path: make_hole(path, LONG, "pair_type = 5\n"),
              "longer": lambda folder: not check_pairs(folder),
              "near": make_near, "first": lambda folder: not check_first(folder),
              "equal": make_equal, "pairs": lambda folder: not check_equal(folder),
              "check": lambda folder: not check(folder),
              "ellipse": lambda folder: not check_ellipse(folder, ROUND),
              "least": lambda path: not check_least(path)}[sys.argv[1]](*sys.argv[2:]))  # fmt: skip
