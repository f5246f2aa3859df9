#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How block steps keep the energy of spheres: runs of King, Hernquist, NFW and Jaffe spheres, and a
table of the largest change of the energy with each choice of steps.

usage: bench_spheres.py PROGRAM [--out FOLDER] [--spheres king,hernquist,nfw,jaffe] [--particles N]
       [--periods N] [--setting 'NAME SECTION.KEY=VALUE ...'] ...

All spheres have 1e11 Msun (NFW: 1e12), a scale length of 5 kpc (NFW: 20), and a softening length of 0.03
of that. A period is that of a circular orbit at the scale length; a base step is a sixteenth of it.
King (King 1966, AJ 71, 64; W_0 = 6, the scale length is King's radius) and Jaffe (Jaffe 1983, MNRAS 202,
995) are drawn here from their distribution functions, the others by the program. Runs that are in the
folder already are not run again. Needs NumPy and SciPy.
"""
import argparse
import csv
import math
import os
import pathlib
import subprocess

import numpy as np
from scipy import integrate, special

G = 43007.1  # kpc (km/s)^2 / 1e10 Msun
MYR = 977.792  # of kpc/(km/s)
W0 = 6.0
CUTOFF = 50.0  # scale lengths, of Jaffe's sphere
SPHERES = {"king": (10.0, 5.0), "hernquist": (10.0, 5.0), "nfw": (100.0, 20.0), "jaffe": (10.0, 5.0)}
SETTINGS = ["acceleration", "shared time.step=adaptive", "pairs time.criterion=pairs time.eta_pair=0.2"]


def king_profile():
    """Radius in King's radii, W, and mass in units of 4 pi rho_0 r_0^3."""
    def density(w):
        w = np.maximum(w, 0.0)
        return np.exp(w) * special.erf(np.sqrt(w)) - np.sqrt(4 * w / np.pi) * (1 + 2 * w / 3)

    def slopes(x, y):
        return [-9 * y[1] / x**2, x**2 * density(y[0]) / density(W0)]

    def edge(_, y):
        return y[0]

    edge.terminal = True
    first = 1e-4
    solution = integrate.solve_ivp(slopes, (first, 1e3), [W0, first**3 / 3], events=edge,
                                   rtol=1e-9, atol=1e-12, max_step=0.02)
    return solution.t, np.maximum(solution.y[0], 0.0), solution.y[1]


def king(n, random):
    """Radii and speeds where G = mass = scale length = 1."""
    x, w, mass = king_profile()
    radius = np.interp(random.uniform(0, mass[-1], n), mass, x)
    depth = np.interp(radius, x, w)
    sigma = math.sqrt(1 / (9 * mass[-1]))  # sigma^2 = 4 pi G rho_0 r_0^2/9

    def weight(v, of):
        return v**2 * np.expm1(np.maximum(of - v**2 / 2, 0.0))

    return radius, sigma * speeds(np.sqrt(2 * depth), lambda v: weight(v, depth), random)


def jaffe(n, random):
    """As king(). The distribution function is Jaffe's, by Dawson's integral."""
    radius = 1 / (1 / random.uniform(0, CUTOFF / (1 + CUTOFF), n) - 1)
    depth = np.log1p(1 / radius)

    def rising(x):
        return np.exp(x**2) * special.erf(x) * math.sqrt(math.pi) / 2

    def distribution(energy):
        one, two = np.sqrt(energy), np.sqrt(2 * energy)
        return (rising(two) - math.sqrt(2) * rising(one) - math.sqrt(2) * special.dawsn(one) +
                special.dawsn(two))

    def weight(v):
        return v**2 * distribution(np.maximum(depth - v**2 / 2, 0.0))

    return radius, speeds(np.sqrt(2 * depth), weight, random)


def speeds(most, weight, random):
    """Draw speeds from weights, a function of as many speeds as there are particles."""
    grid = np.linspace(0, 1, 257)
    height = 1.1 * np.max([weight(u * most) for u in grid], axis=0)
    speed = np.zeros_like(most)
    left = np.ones(len(most), bool)
    while left.any():
        trial = random.uniform(0, 1, len(most)) * most
        taken = left & (random.uniform(0, 1, len(most)) * height < weight(trial))
        speed[taken] = trial[taken]
        left &= ~taken
    return speed


def directions(n, random):
    d = random.normal(size=(n, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def write_sphere(name, n, path):
    """A text table in kpc, km/s and 1e10 Msun, its centre of mass at rest at 0."""
    random = np.random.default_rng(1)
    total, scale = SPHERES[name]
    radius, speed = {"king": king, "jaffe": jaffe}[name](n, random)
    x = scale * radius[:, None] * directions(n, random)
    v = math.sqrt(G * total / scale) * speed[:, None] * directions(n, random)
    np.savetxt(path, np.c_[x - x.mean(axis=0), v - v.mean(axis=0), np.full(n, total / n)],
               header="x y z vx vy vz m")


def mass_within_scale(name):
    """As a part of all mass."""
    if name == "king":
        x, _, mass = king_profile()
        return np.interp(1.0, x, mass) / mass[-1]
    concentration = 250 / 20  # of the program's NFW sphere; its cutoff takes nothing inside
    nfw = (math.log(2) - 0.5) / (math.log1p(concentration) - concentration / (1 + concentration))
    return {"hernquist": 0.25, "jaffe": 0.5 * (1 + CUTOFF) / CUTOFF, "nfw": nfw}[name]


def period(name):
    """Myr."""
    total, scale = SPHERES[name]
    return 2 * math.pi * math.sqrt(scale**3 / (G * total * mass_within_scale(name))) * MYR


def run(options, name, setting, changes):
    folder = pathlib.Path(options.out) / f"{name}-{options.particles}-{setting}"
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    turn = period(name)
    if name in ("king", "jaffe"):
        write_sphere(name, options.particles, folder / "sphere.txt")
        source = ["ic.source=gadget", f"ic.file={folder}/sphere.txt"]
    else:
        source = ["ic.source=galaxy", f"galaxy.model={name}", f"galaxy.particles={options.particles}"]
    sets = source + [
        "box.boundary=isolated", f"gravity.softening={0.03 * SPHERES[name][1]}",
        "gravity.softening_kernel=plummer", f"time.max_step={turn / 16}",
        f"time.end={options.periods * turn}", f"output.dir={folder}/run", "output.energy_steps=4",
        "output.snapshots=no"] + changes
    (folder / "empty.ini").write_text("")
    words = [word for text in sets for word in ("--set", text)]
    with open(folder / "log", "w", encoding="utf-8") as log:
        subprocess.run([options.program, folder / "empty.ini", "--overwrite"] + words, check=True,
                       stdout=log, stderr=log, env=dict(os.environ, STARPU_SILENT="1"))
    (folder / "done").write_text("")
    return folder


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measure(folder):
    """Largest and last change of the energy as a part of it; steps, pairs."""
    energy = [float(row["total"]) for row in rows(folder / "run/log/energy.csv")]
    change = [e / abs(energy[0]) - energy[0] / abs(energy[0]) for e in energy]
    timings = rows(folder / "run/log/timings.csv")
    steps = sum(max(int(row["sub_steps"] or 0), 1) for row in timings[1:])
    pairs = sum(float(row["p2p_pairs"] or 0) for row in timings[1:])
    return max(map(abs, change)), change[-1], steps, pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--out", default="spheres")
    parser.add_argument("--spheres", default=",".join(SPHERES))
    parser.add_argument("--particles", type=int, default=4096)
    parser.add_argument("--periods", type=float, default=10)
    parser.add_argument("--setting", action="append", default=[])
    options = parser.parse_args()
    print("| sphere | steps | largest change of E | last | steps | pairs |", flush=True)
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for name in options.spheres.split(","):
        for text in options.setting or SETTINGS:
            setting, *changes = text.split()
            most, last, steps, pairs = measure(run(options, name, setting, changes))
            print(f"| {name} | {setting} | {most:.1e} | {last:.1e} | {steps} | {pairs:.2e} |", flush=True)


if __name__ == "__main__":
    main()
