# SPDX-License-Identifier: GPL-3.0-or-later
"""Growth of the longest waves with a table of species over that without, against the table.

usage: species_grow_as_in_class.py FIRST LAST FIRST_WITH LAST_WITH TABLE RUN_WITH RUN

The same waves, of the same grid, have the same errors of discreteness and of second order. Linear theory beside
measured spectra has the table's growth and rate, too."""

import sys

import h5py
import numpy as np

# The species add 7e-2 to the growth. The table's response is right to 1e-4 of itself but at its first times.
TOLERANCE = 5e-4


def modes(path):
    """Modes of the displacement from the grid along x, and the scale factor."""
    with h5py.File(path) as file:
        head, part = file['Header'].attrs, file['PartType1']
        box, a = head['BoxSize'], head['Time']
        order = np.argsort(part['ParticleIDs'][...])
        position = part['Coordinates'][...][order]
    side = round(len(order) ** (1 / 3))
    grid = np.indices((side, side, side)).reshape(3, -1).T * box / side
    shift = position - grid
    shift -= box * np.round(shift / box)
    field = np.fft.rfftn(shift[:, 0].reshape(side, side, side))
    return np.array([field[1, 0, 0], field[1, 1, 0], field[1, 0, 1]]), a


def growth(first, last):
    (early, a0), (late, a1) = modes(first), modes(last)
    return np.vdot(early, late).real / np.vdot(early, early).real, a1 / a0


without, _ = growth(*sys.argv[1:3])
found, ratio = growth(*sys.argv[3:5])
a, k, delta, rate, response = np.loadtxt(sys.argv[5], unpack=True)
low = k < 0.05
assert np.allclose(response[low & (a > 0.02)], 0.03, atol=3e-4), response[low]
assert np.allclose(response[k > 0.2], 0), 'a response beyond the largest k of the correction'
table = np.log(np.interp(0.02, a[k == k[0]], delta[k == k[0]]))
expected = ratio ** (rate[low].mean() - 1)
print(f'growth {found:.5f}, without species {without:.5f}, ratio {found / without:.5f}, {expected:.5f}')
assert abs(rate[low].mean() - (np.sqrt(25 + 24 * 0.03) - 1) / 4) < 1e-4, rate[low].mean()
assert abs(np.exp(-table) / ratio ** rate[low].mean() - 1) < 1e-3, table
assert abs(found / without / expected - 1) < TOLERANCE, found / without / expected - 1

# Plinear and HALOFIT of the first output over those of the last, at the k of both
early, late = (np.loadtxt(f'{sys.argv[6]}/powerspec_{n:03d}.txt', usecols=(0, 4, 5)) for n in (0, 1))
long = (early[:, 0] < 0.05) & (late[:, 0] < 0.05)
for column in (1, 2):
    found = early[long, column] / late[long, column]
    assert long.any() and np.allclose(found, np.exp(2 * table), rtol=5e-3), (column, found, np.exp(2 * table))
# P2 over P0 of many waves in redshift space, with the table's rate over that without a table, where it is 1
seen = [np.divide(*np.loadtxt(f'{run}/multipoles_000.txt', usecols=(6, 5))[5]) for run in sys.argv[6:8]]
f = np.array([rate[low].mean(), 1])
quadrupole = (4 / 3 * f + 4 / 7 * f**2) / (1 + 2 / 3 * f + f**2 / 5)
found, expected = seen[0] / seen[1], quadrupole[0] / quadrupole[1]
assert abs(found / expected - 1) < 1e-3 < abs(expected - 1), (found, expected)
