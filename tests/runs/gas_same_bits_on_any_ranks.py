# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: gas_same_bits_on_any_ranks.py REFERENCE FOLDER...

Compares the gas in the checkpoints of runs bit by bit."""

import sys

import h5py


def gas(folder):
    with h5py.File(f"{folder}/checkpoint.hdf5") as file:
        return {
            name: file[name][()].tobytes()
            for name in ("Tree/Corner", *(f"GridData/{field}" for field in file["GridData"]))
        }


reference = gas(sys.argv[1])
different = [
    f"{folder}: {name}"
    for folder in sys.argv[2:]
    for name, values in gas(folder).items()
    if values != reference[name]
]
sys.exit(f"FAILED: other gas: {', '.join(different)}" if different else 0)
