# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: same_gas.py FILE PATCHES REFERENCE FOLDER...

Compares the gas, the particles and where the run stands, in this file of the folders, bit by bit. The
reference must have more patches than this number: fewer would mean that nothing is refined."""

import sys

import h5py


def gas(folder):
    with h5py.File(f"{folder}/{sys.argv[1]}") as file:
        groups = [group for group in ("GridData", "Particle") if group in file]
        names = ["Tree/Corner", *(f"{group}/{name}" for group in groups for name in file[group])]
        values = {name: file[name][()].tobytes() for name in names}
        for name in ("a", "start_a", "last_output", "step", "outputs_done"):
            values[name] = file.attrs[name].tobytes()
        return values, len(file["Tree/Corner"])


reference, patches = gas(sys.argv[3])
wrong = [
    f"{folder}: another {name}"
    for folder in sys.argv[4:]
    for name, values in gas(folder)[0].items()
    if values != reference[name]
]
if patches <= int(sys.argv[2]):
    wrong.append(f"{sys.argv[3]} has {patches} patches: nothing is refined")
sys.exit(f"FAILED: {', '.join(wrong)}" if wrong else 0)
