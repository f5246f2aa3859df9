#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of watch_shows_a_run.sh: a command on a terminal; its last view; a view against files."""
import csv
import math
import os
import re
import sys

sys.path.append(os.environ["PHOTONS_SOURCE"] + "/tests/support")
from terminal import terminal  # noqa: E402

RECENT = 10  # steps whose mean is shown


def last_view(path, columns):
    """The lines of the last view on the terminal."""
    with open(path, encoding="utf-8", newline="") as file:
        view = file.read().split("\033[H")[-1]
    lines = view.replace("\033[K", "").replace("\033[J", "").split("\r\n")
    print("\n".join(lines))
    return any(len(line) > columns for line in lines)


def rows_of(path):
    """Complete rows."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        lines = [line for line in file if line.endswith("\n")]
    return list(csv.DictReader(lines))


def expected(folder):
    """What a view must say, by patterns of it: a number, and the largest relative error of its rounding."""
    rows = rows_of(f"{folder}/log/timings.csv")
    last, steps = rows[-1], rows[1:][-RECENT:]
    total = lambda name: sum(float(row[name]) for row in steps)
    wall = total("wall_s")
    mean = lambda name: sum(float(row[name]) * float(row["wall_s"]) for row in steps) / wall
    to_tenth = lambda value: 0.051 / max(abs(value), 1e-9)
    names = list(rows[0])
    stages = names[names.index("rung_pairs") + 1 : names.index("gpu_idle_share")]
    busy = {name[:-2]: total(name) for name in stages}
    largest = max(busy, key=busy.get)
    a, first = float(last["a"]), float(rows[0]["a"])
    share = math.log(a / first) / math.log(0.25 / first)
    yield r"in ln a, step (\d+)", float(last["step"]), 1e-9
    yield r"z = ([\d.]+) of 3$", float(last["z"]), 1e-3
    yield r"([\d.]+)% in ln a", 100 * share, to_tenth(100 * share)
    yield r"^speed +([\d.e+]+) particle-steps/s", mean("particles_per_s"), 6e-3
    yield r"([\d.e+-]+) s/step", wall / len(steps), 6e-3
    percent = 100 * busy[largest] / sum(busy.values())
    yield rf"^cores +{largest} (\d+)%", percent, 0.51 / percent
    for name, pattern in (("idle_share", "idle +cores"), ("imbalance", "imbalance")):
        yield pattern + r" ([\d.]+)%", 100 * mean(name), to_tenth(100 * mean(name))
    yield r"^memory +([\d.]+) GB", 1e-9 * float(last["peak_rss_bytes"]), 6e-3
    if float(last["sub_steps"]) > 0:
        rungs = [float(count) for count in last["rung_particles"].split(";")]
        yield r"^rungs 0-(\d+)", len(rungs) - 1, 1e-9
        yield r"to ([\d.e+]+), most", max(rungs), 6e-3
        yield r"most on rung (\d+)", rungs.index(max(rungs)), 1e-9
    errors = [row for row in rows_of(f"{folder}/log/statistics.csv") if row["layzer_irvine_error"]]
    if errors:
        yield r"Layzer-Irvine error ([\d.e+-]+)", float(errors[-1]["layzer_irvine_error"]), 6e-3
        yield r"Layzer-Irvine error \S+ at z = ([\d.]+)", float(errors[-1]["z"]), 1e-3
    spectra = sorted(name for name in os.listdir(folder) if name.startswith("powerspec_"))
    if spectra:
        with open(f"{folder}/{spectra[-1]}", encoding="ascii") as file:
            text = file.read().rpartition("\n")[0]
        table = [line.split() for line in text.splitlines() if not line.startswith("#")]
        power = [float(k) ** 3 * float(p) / (2 * math.pi**2) for k, p, *_ in table]
        yield r"^ +z = ([\d.]+), k", float(re.search(r", z = ([\d.]+)", text)[1]), 1e-3
        yield r"k from ([\d.e+-]+) to", float(table[0][0]), 6e-3
        yield r"to ([\d.e+-]+) h/Mpc", float(table[-1][0]), 6e-3
        yield r"k\^3 P/\(2 pi\^2\) from ([\d.e+-]+)", min(power), 0.06


def numbers(folder, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    wrong = []
    for pattern, value, tolerance in expected(folder):
        found = re.search(pattern, text, re.M)
        if not found:
            wrong.append(f"nothing like {pattern}")
        elif not abs(float(found[1]) - value) <= tolerance * abs(value) + 1e-12:
            wrong.append(f"{pattern}: {found[1]}, not {value}")
    return "\n".join(wrong + [text]) if wrong else 0


if sys.argv[1] == "terminal":
    sys.exit(terminal(int(sys.argv[2]), sys.argv[3:]))
if sys.argv[1] == "last_view":
    sys.exit(last_view(sys.argv[2], int(sys.argv[3])))
sys.exit(numbers(sys.argv[2], sys.argv[3]))
