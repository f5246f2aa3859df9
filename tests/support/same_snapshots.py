# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare two snapshots: are their times and particles the same, bit by bit?

usage: same_snapshots.py SNAPSHOT OTHER
"""

import sys

import h5py

with h5py.File(sys.argv[1]) as a, h5py.File(sys.argv[2]) as b:
    kinds = sorted(name for name in a if name.startswith('PartType'))
    wrong = [] if kinds and kinds == sorted(name for name in b if name.startswith('PartType')) else ['types']
    for kind in kinds if not wrong else []:
        ours, theirs = a[kind], b[kind]
        wrong += sorted(set(ours) ^ set(theirs))
        wrong += [
            name
            for name in ours
            if name in theirs and ours[name][...].tobytes() != theirs[name][...].tobytes()
        ]
        if not {'Coordinates', 'Velocities', 'ParticleIDs', 'Acceleration'} <= set(ours):
            wrong.append('the test itself lacks columns:')
    if a['Header'].attrs['Time'] != b['Header'].attrs['Time']:
        wrong.append('Time')
sys.exit(f'FAILED: {sys.argv[2]}: {", ".join(wrong)} differ' if wrong else 0)
