# SPDX-License-Identifier: GPL-3.0-or-later
"""Are particles on at least so many rungs of block time steps? A test of block steps whose particles
all take the same step proves nothing.

usage: occupied_rungs.py CHECKPOINT RUNGS
"""

import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1]) as file:
    particles = np.bincount(file['rung'][...].ravel())
print(f'{sys.argv[1]}: particles by rung: {" ".join(map(str, particles))}')
wanted = int(sys.argv[2])
if np.count_nonzero(particles) < wanted:
    sys.exit(f'the test itself: particles on fewer than {wanted} rungs')
