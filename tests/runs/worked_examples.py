# SPDX-License-Identifier: GPL-3.0-or-later
"""The worked examples of docs/dev, for worked_examples.sh.

    worked_examples.py follow TREE PAGE...   do in TREE what the pages say
    worked_examples.py peaks CHECKPOINT      peak_momentum is right beside the momenta
    worked_examples.py same CHECKPOINT OTHER every particle has the same peak_momentum in both
    worked_examples.py arrays FILE           write gas whose metals a wind carries
    worked_examples.py metals FOLDER         a run has moved them, and lost none
    worked_examples.py born FOLDER           particles on the mesh have the column
"""

import re
import sys
from pathlib import Path

import h5py
import numpy as np

# What a page says, and the piece of code after it.
EDIT = re.compile(r"In `([^`]+)`, (after|before|in place of) the line `([^`]+)`:\n\n```\w*\n(.*?)```", re.S)
NEW_FILE = re.compile(r"A new file, `([^`]+)`:\n\n```\w*\n(.*?)```", re.S)
CODE = re.compile(r"^```c\n", re.M)


def edit(tree, file, place, line, code):
    path = tree / file
    lines = path.read_text().splitlines(keepends=True)
    found = [i for i, text in enumerate(lines) if text.strip() == line.strip()]
    if len(found) != 1:
        sys.exit(f"{file} has the line {line!r} {len(found)} times")
    i = found[0]
    lines[i : i + 1] = {"after": [lines[i], code], "before": [code, lines[i]], "in place of": [code]}[place]
    path.write_text("".join(lines))


def follow(tree, *pages):
    for page in pages:
        text = Path(page).read_text()
        edits, files = EDIT.findall(text), NEW_FILE.findall(text)
        if not edits or CODE.search(NEW_FILE.sub("", EDIT.sub("", text))):
            sys.exit(f"{page}: a piece of code has no line before it that says where it goes")
        for file, place, line, code in edits:
            edit(Path(tree), file, place, line, code)
        for file, code in files:
            if (Path(tree) / file).exists():
                sys.exit(f"{page}: there is a file {file} already")
            (Path(tree) / file).write_text(code)


def read(path):
    """Of all particles by id: |p|, and the column. A block has one component after the other."""
    with h5py.File(path) as file:
        count, blocks = int(file.attrs["particles"]), int(file.attrs["blocks"])
        first = [count * b // blocks for b in range(blocks + 1)]
        momenta, ids, peak = file["momentum"][()].ravel(), file["id"][()].ravel(), file["peak_momentum"][()].ravel()
    size = np.concatenate([np.sqrt((momenta[3 * a : 3 * b].reshape(3, b - a).astype(float) ** 2).sum(0))
                           for a, b in zip(first[:-1], first[1:])])
    order = np.argsort(ids)
    return size[order], peak[order]


def peaks(path):
    size, peak = read(path)
    slower = np.count_nonzero(size < 0.99 * peak)
    if np.any(peak < size * (1 - 1e-6)):
        sys.exit(f"{path}: {np.count_nonzero(peak < size * (1 - 1e-6))} particles are faster than their peaks")
    # Most particles still gain momentum, some have passed a centre and lose it.
    if not 0 < slower < 0.5 * len(size):
        sys.exit(f"{path}: {slower} of {len(size)} particles are slower than they have been")


def same(path, other):
    if not np.array_equal(read(path)[1], read(other)[1]):
        sys.exit(f"{path} and {other} differ in peak_momentum")


def arrays(path):
    shape = (16, 16, 16)
    x = np.broadcast_to((np.arange(16) + 0.5) / 16, shape)
    with h5py.File(path, "w") as file:
        file["density"] = np.where(x < 0.5, 2.0, 1.0)
        file["metals"] = np.where(x < 0.5, 0.02, 0.01)
        file["pressure"] = np.ones(shape)
        for axis in "xyz":
            file[f"velocity_{axis}"] = np.full(shape, float(axis == "x"))


def metals(folder):
    with h5py.File(f"{folder}/checkpoint.hdf5") as file:
        dataset, density = file["GridData/Metal"], file["GridData/Dens"][()]
        part = dataset[()] / density
        if dataset.attrs["name"] != b"metals" or dataset.attrs["unit"] != b"mass/length^3":
            sys.exit(f"{folder}: the dataset Metal has other attributes: {dict(dataset.attrs)}")
    if part.min() < 0.01 - 1e-14 or part.max() > 0.02 + 1e-14 or np.all((part < 0.011) | (part > 0.019)):
        sys.exit(f"{folder}: parts of metals from {part.min()} to {part.max()}")
    table = np.genfromtxt(f"{folder}/log/statistics.csv", delimiter=",", names=True)
    if len(table) < 5 or abs(table["metals"] / 0.025 - 1).max() > 1e-13:
        sys.exit(f"{folder}: masses of metals {table['metals']}, not 0.025")


def born(folder):
    with h5py.File(f"{folder}/gas_000.hdf5") as file:
        dataset = file["Particle/ParCreTime"]
        if list(dataset[()]) != [0, 0] or dataset.attrs["unit"] != b"time":
            sys.exit(f"{folder}: ParCreTime is {dataset[()]}, with {dict(dataset.attrs)}")


if __name__ == "__main__":
    {"follow": follow, "peaks": peaks, "same": same, "arrays": arrays, "metals": metals, "born": born}[sys.argv[1]](*sys.argv[2:])
