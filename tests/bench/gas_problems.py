# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what the runs of gas_problems.sh came out with, as tables of Markdown:

    python3 tests/bench/gas_problems.py FOLDER [GAMER_LINE]

FOLDER -- what gas_problems.sh was given; runs that are not there are left out.
GAMER_LINE -- GAMER's cells along x of the tube of run `gamer-rtvd`, as text."""

import csv
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
sys.path.insert(1, os.path.join(HERE, "..", "runs"))

import gas_beside_exact_solutions
import gas_cold_flows
import numpy as np
from photons import gas, gas_problems

# What `exact` runs: (name, that of GAMER's MHM, exact value of what is not an error)
EXACT = {
    "toro1": ("Toro's test 1, L1(ρ)", "4.0e-3, 3.6e-3", ""),
    "toro2": ("Toro's test 2 (Einfeldt's), L1(ρ)", "5.1e-3, 1.0e-2", ""),
    "toro3": ("Toro's test 3, L1(ρ)", "1.1e-1, 7.7e-2", ""),
    "toro4": ("Toro's test 4, L1(ρ)", "3.2e-1, 2.2e-1", ""),
    "toro5": ("Toro's test 5, L1(ρ)", "3.6e-2, 3.0e-2", ""),
    "noh": ("Noh's two shocks, L1(ρ)", "", ""),
    "noh3": ("Noh's ball, error over the mass within 0.35", "", ""),
    "waves": ("Shu and Osher's waves, L1(ρ)", "", ""),
    "blasts": ("Woodward and Colella's blasts, L1(ρ)", "", ""),
    "vortex0": ("Gresho's vortex at rest, kinetic energy left", "", "1"),
    "vortex1": ("the same at speed 1", "", "1"),
    "vortex3": ("the same at speed 3", "", "1"),
    "plane": ("Mach 6 in noise of 1e-6, speed across", "", "1e-6"),
    "explosion": ("an explosion, difference between axes", "3e-7", "0"),
    "mach": ("a wave at Mach 1000, change of the pressure", "", "0"),
    "fall": ("a cold fall, change of the entropy", "", "0"),
}


def runs(folder, pattern):
    """(name, path) of the runs that have ended."""
    paths = sorted(glob.glob(os.path.join(folder, pattern, "gas_000.hdf5")))
    return [(os.path.basename(os.path.dirname(path)), path) for path in paths]


def show(title, columns, rows):
    if rows:
        print(f"\n{title}\n\n| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|")
        for row in rows:
            print("| " + " | ".join(str(value) for value in row) + " |")


def edge(x, values, low, high):
    """Where a fall of values between two plateaus is, and how many cells have values between 10 %
    and 90 % of the jump, and between 5 % and 95 %. x rises by 1."""
    share = (values - low) / (high - low)
    above = np.flatnonzero(share >= 0.5)
    i = above[-1]
    place = x[i] + (share[i] - 0.5) / (share[i] - share[i + 1]) * (x[i + 1] - x[i])
    near = np.abs(x - place) < 30
    inside = [near & (share > part) & (share < 1 - part) for part in (0.1, 0.05)]
    return place, "{} ({})".format(*(np.count_nonzero(cells) for cells in inside))


def tube(name, path):
    """A row of the table of tubes. Lengths are in the finest cells."""
    mesh = gas.Mesh(path)
    problem = gas_problems.problem_of(mesh)
    t, waves = mesh.time, problem.waves
    table = problem.profile()
    x = table["position"]
    rho, u, p = (table[field] for field in gas_problems.FIELDS)
    head, tail = (speed * t for speed in waves.speeds(0))
    contact, shock = waves.u * t, waves.speeds(1)[0] * t
    margin = 10
    between = (x > tail + margin) & (x < shock - margin)
    left, right = between & (x < contact - margin), between & (x > contact + margin)
    around = (x > contact + margin) & (x < shock + 3 * margin)
    shock_found, shock_width = edge(x[around], rho[around], problem.right[0], waves.rho_right)
    around = (x > tail + margin) & (x < shock - margin)
    contact_found, contact_width = edge(x[around], rho[around], waves.rho_right, waves.rho_left)
    fan = (x > head) & (x < tail)
    fan_error = np.abs(rho[fan] / problem.exact(x[fan])["density"] - 1).max()
    worst = max(
        np.abs(values[here] / exact - 1).max()
        for values, here, exact in (
            (p, between, waves.p),
            (u, between, waves.u),
            (rho, left, waves.rho_left),
            (rho, right, waves.rho_right),
        )
    )
    inside = problem.compared()
    high = max(
        problem.found["density"][inside].max() / problem.left[0] - 1,
        problem.found["pressure"][inside].max() / problem.left[2] - 1,
        problem.found["velocity"][inside].max() / waves.u - 1,
    )
    return [
        name,
        f"{np.mean(p[between]):.5f}",
        f"{np.mean(u[between]):.5f}",
        f"{np.mean(rho[left]):.5f}, {np.mean(rho[right]):.5f}",
        f"{100 * worst:.2f} %",
        f"{100 * fan_error:.2f} %",
        f"{shock_found:.2f} ({shock:.2f}), {shock_width}",
        f"{contact_found:.2f} ({contact:.2f}), {contact_width}",
        f"{100 * high:.2f} %",
        f"{100 * mesh.volume_share(mesh.finest):.1f} %",
    ]


def explosion(name, path):
    mesh = gas.Mesh(path)
    problem = gas_problems.problem_of(mesh)
    errors, table = problem.errors(), problem.profile()
    x, rho = table["position"], table["density"]
    front = (x >= x[np.argmax(rho)]) & (x < errors["shock"] + 15)
    along = mesh.line(["density"], "x")
    return [
        name,
        f"{errors['shock']:.2f} ({errors['shock_exact']:.2f})",
        f"{100 * (errors['shock'] / errors['shock_exact'] - 1):.2f} %",
        f"{errors['peak_density']:.3f}, {max(along['density']):.3f}",
        edge(x[front], rho[front], 1, rho.max())[1],
        f"{100 * mesh.volume_share(mesh.finest):.2f} %",
    ]


def conservation(folder, name):
    """The largest changes since the start, over mass, mass times speed of sound, and energy."""
    path = os.path.join(folder, name, "log", "statistics.csv")
    with open(path, encoding="utf-8") as file:
        rows = [[float(v) for v in row] for row in list(csv.reader(file))[1:]]
    table = np.array(rows)[:, 2:7]
    off = np.abs(table - table[0]).max(axis=0)
    first = table[0]
    with open(os.path.join(folder, name, "log", "timings.csv"), encoding="utf-8") as file:
        patches = {row["level_patches"] for row in csv.DictReader(file)}
    return [
        name,
        len(rows) - 1,
        len(patches),
        *(f"{v:.1e}" for v in (off[0] / first[0], max(off[1:4]) / first[0], off[4] / first[4])),
    ]


def waves(folder, kind):
    """Runs of a kind: along the diagonal of a cube, "acoustic", or along x, "wave"."""
    found = {}
    for name, path in runs(folder, f"{kind}-*"):
        _, solver, side = name.split("-")
        mesh = gas.Mesh(path)
        errors = gas_problems.problem_of(mesh).errors()
        found[solver, int(side)] = errors["L1_density"] / gas_problems.problem_of(mesh).unit
    rows = []
    for (solver, side), error in sorted(found.items()):
        before = found.get((solver, side // 2))
        order = f"{np.log2(before / error):.2f}" if before else ""
        rows.append([solver, side, f"{error:.3e}", order])
    return rows


def beside_gamer(folder, line):
    name = "gamer-rtvd"
    mesh = gas.Mesh(os.path.join(folder, name, "gas_000.hdf5"))
    theirs = np.loadtxt(line)
    tx, trho, tmom, teng = theirs[:, 3], theirs[:, 6], theirs[:, 7], theirs[:, 10]
    tp = 2 / 3 * (teng - tmom**2 / (2 * trho))
    rows = []
    problem = gas_problems.problem_of(mesh)
    ours = mesh.line(["density", "velocity_x", "pressure"], "x")
    exact = problem.exact(tx - 0.5)
    mine = problem.exact(ours["x"] - 0.5)
    width = np.gradient(tx)
    for field, own, their in (
        ("density", "density", trho),
        ("velocity", "velocity_x", tmom / trho),
        ("pressure", "pressure", tp),
    ):
        off = np.average(np.abs(their - exact[field]), weights=width)
        own_off = np.average(np.abs(ours[own] - mine[field]), weights=ours["side"])
        between = np.abs(np.interp(tx, ours["x"], ours[own]) - their)
        change = np.average(between, weights=width)
        rows.append([field, f"{own_off:.4f}", f"{off:.4f}", f"{change:.4f}"])
    print(f"\nGAMER has {len(tx)} cells on the line, this program {len(ours['x'])}.")
    return rows


def error_of(folder, problem, solver, levels):
    """The error of a run of `exact`, as text; "" if there is no run."""
    path = os.path.join(folder, f"{problem}-{solver}-{levels}", "gas_000.hdf5")
    if not os.path.exists(path):
        return ""
    if problem == "mach":
        error = gas_cold_flows.pressure_error(path)
    elif problem == "fall":
        error = gas_cold_flows.entropy_change(path)[0]
    else:
        error = gas_beside_exact_solutions.measure(f"{problem}-{levels}", solver, folder)
    return f"{error:.3f}" if problem.startswith("vortex") else f"{error:.2g}"


def errors(folder):
    """Rows of problems with known solutions: without levels; with two."""
    rows = []
    for problem, (name, gamer, exact) in EXACT.items():
        found = [
            [error_of(folder, problem, solver, levels) for levels in (0, 2)]
            for solver in ("muscl", "ppm", "rtvd")
        ]
        if any(sum(found, [])):
            rows.append([name, *("; ".join(filter(None, row)) for row in found), gamer, exact])
    return rows


def main(folder, line=None):
    show(
        "Problems with known solutions, without levels; with two",
        ["problem", "muscl", "ppm", "rtvd", "GAMER's MHM", "exact"],
        errors(folder),
    )
    for kind, where in (("acoustic", "the diagonal"), ("wave", "x")):
        show(
            f"Standing waves along {where}",
            ["solver", "cells of a side", "L1(ρ) over the amplitude", "order"],
            waves(folder, kind),
        )
    show(
        "Tubes",
        ["run", "P*", "u*", "ρ* left, right", "plateaus", "rarefaction", "shock, width",
         "contact, width", "overshoot", "finest level"],
        [tube(*run) for run in runs(folder, "sod-*")],
    )
    show(
        "Explosions",
        ["run", "radius (exact)", "off by", "largest ρ: mean of a shell, on the axis", "width",
         "finest level"],
        [explosion(*run) for run in runs(folder, "sedov-*")],
    )
    found = glob.glob(os.path.join(folder, "conservation-*-*-*"))
    names = sorted(os.path.basename(path) for path in found)
    show(
        "Conservation",
        ["run", "steps", "refinements", "mass", "momentum", "energy"],
        [conservation(folder, name) for name in names if os.path.isdir(os.path.join(folder, name))],
    )
    if line:
        show(
            "Mean deviation from the exact solution",
            ["", "this program", "GAMER", "between the two"],
            beside_gamer(folder, line),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
