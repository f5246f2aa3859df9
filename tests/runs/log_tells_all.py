#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper of log_tells_all.sh: a command on a terminal; log/statistics.csv against snapshots."""
import csv
import glob
import os
import sys

import h5py
import numpy as np

sys.path.append(os.environ["PHOTONS_SOURCE"] + "/tests/support")
from terminal import terminal  # noqa: E402


def statistics(folder):
    """Velocities in snapshots are floats, which round to 6e-8: sums agree to 1e-5. The total
    momentum is 0 but for the errors of forces, which are far below 1e-3 of them."""
    with open(f'{folder}/log/statistics.csv', encoding='ascii') as file:
        rows = list(csv.DictReader(file))
    wrong, found = [], 0
    for row in rows:
        total = np.linalg.norm([float(row[f'momentum_{c}']) for c in 'xyz'])
        if not total < 1e-3 * float(row['momentum_sum']):
            wrong.append(f"step {row['step']}: the total momentum is {total}")
    for path in sorted(glob.glob(f'{folder}/snapshot_*.hdf5')):
        with h5py.File(path) as file:
            a, mass = file['Header'].attrs['Time'], file['Header'].attrs['MassTable'][1]
            velocity = file['PartType1/Velocities'][:].astype(float) * np.sqrt(a)
        row = min(rows, key=lambda r: abs(float(r['a']) - a))
        if abs(float(row['a']) / a - 1) > 1e-8:
            wrong.append(f'{path}: no row at a = {a}')
        speed = np.linalg.norm(velocity, axis=1)
        for name, value in (('kinetic_energy', 0.5 * mass * np.sum(speed**2)),
                            ('momentum_sum', mass * np.sum(speed))):
            if not abs(float(row[name]) / value - 1) < 1e-5:
                wrong.append(f'{path}: {name} is {row[name]}, not {value}')
        found += 1
    if found != 3:
        wrong.append(f'{found} snapshots, not 3')
    return '\n'.join(wrong) or 0


if sys.argv[1] == 'terminal':
    sys.exit(terminal(int(sys.argv[2]), sys.argv[3:]))
sys.exit(statistics(sys.argv[2]))
