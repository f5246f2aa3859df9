# SPDX-License-Identifier: GPL-3.0-or-later
"""Growth of the longest waves between two snapshots against linear theory: growth.py FIRST LAST PARTICLES_A_SIDE."""
import sys

import h5py
import numpy as np


def linear_growth(a, omega_m):
    """D(a) up to a factor for matter and a cosmological constant (Heath 1977): H int da/(aH)^3."""
    def hubble(x):
        return np.sqrt(omega_m / x**3 + 1 - omega_m)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    x = 0.5 * a * (nodes + 1)
    return hubble(a) * np.sum(0.5 * a * weights / (x * hubble(x))**3)


def displacement_modes(path, side):
    """Fourier modes of the displacement from the grid, [3][side][side][side//2 + 1], and scale factor, Omega_m, box."""
    with h5py.File(path) as file:
        head, part = file['Header'].attrs, file['PartType1']
        box = head['BoxSize']
        order = np.argsort(part['ParticleIDs'][...])
        position = part['Coordinates'][...][order]
        momentum = part['Velocities'][...][order].sum(axis=0) / np.abs(part['Velocities'][...]).sum(axis=0)
        a, omega_m = head['Time'], head['Omega0']
    grid = np.indices((side, side, side)).reshape(3, -1).T * box / side
    shift = position - grid
    shift -= box * np.round(shift / box)
    return np.fft.rfftn(shift.T.reshape(3, side, side, side), axes=(1, 2, 3)), a, omega_m, momentum


side = int(sys.argv[3])
(before, a0, omega_m, _), (after, a1, _, momentum) = (displacement_modes(path, side) for path in sys.argv[1:3])
expected = linear_growth(a1, omega_m) / linear_growth(a0, omega_m)
n = np.stack(np.meshgrid(np.fft.fftfreq(side, 1 / side), np.fft.fftfreq(side, 1 / side), np.arange(side // 2 + 1), indexing='ij'))
n2 = (n**2).sum(axis=0)
# The part along k carries the growing mode.
before, after = ((n * x).sum(axis=0) / np.sqrt(np.maximum(n2, 1)) for x in (before, after))
failures = 0
for low, high in ((1, 1), (2, 3), (4, 6), (7, 12)):
    shell = (n2 >= low) & (n2 <= high)
    growth = np.sum(after[shell] * before[shell].conj()).real / np.sum(np.abs(before[shell])**2)
    print(f'|n|^2 = {low}..{high}: {growth:.5f}, linear theory {expected:.5f}, ratio squared {(growth / expected)**2:.5f}')
print('net momentum', momentum)
