# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with many particles at one place, and what runs make of them.

usage: particles_at_one_place.py make | halos FOLDER... | energies FOLDER
"""
import csv
import sys

import h5py
import numpy as np

BOX, SIDE = 50.0, 16
PLACE = np.array([23.4375, 10.9375, 42.1875])  # of 11 of 20 friends; a fraction 2^-n of the box
ZEROS = 300  # rows
EPS, MASS = 0.1, 1e-3  # kpc, 1e10 Msun
GRAVITY = 43007.1  # kpc (km/s)^2 / 1e10 Msun
CLUMP, ALL = 700, 1500


def write(path, x, box, a, header_mass=0.0, mass=None, v=0.0):
    count = np.array([0, len(x), 0, 0, 0, 0])
    with h5py.File(path, 'w') as file:
        header = file.create_group('Header').attrs
        header['NumPart_ThisFile'] = header['NumPart_Total'] = count
        header['NumPart_Total_HighWord'] = np.zeros(6, 'u4')
        header['MassTable'] = np.where(count > 0, header_mass, 0.0)
        header['Time'], header['Redshift'] = a, 1 / a - 1 if a else 0.0
        header['BoxSize'], header['NumFilesPerSnapshot'] = box, 1
        if box:
            header['Omega0'], header['OmegaLambda'], header['HubbleParam'] = 0.3, 0.7, 0.7
        part = file.create_group('PartType1')
        part['Coordinates'], part['Velocities'] = x, np.zeros((len(x), 3)) + v
        part['ParticleIDs'] = np.arange(1, len(x) + 1)
        if mass is not None:
            part['Masses'] = np.full(len(x), mass)


def clumped():
    x = np.random.default_rng(2).normal(0, 10, (ALL, 3))
    x[:CLUMP] = x[0]
    return x


def make():
    rng = np.random.default_rng(1)
    x = (np.indices((SIDE, SIDE, SIDE)).reshape(3, -1).T + 0.5) * BOX / SIDE
    x[1000 : 1000 + ZEROS] = 0.0
    x[3000:3011] = PLACE
    x[3011:3020] = PLACE + rng.normal(0, 0.05, (9, 3))
    write('box.hdf5', x, BOX, 0.1, 0.3 * 27.7536627 * BOX**3 / len(x))
    write('isolated.hdf5', clumped(), 0.0, 0.0, mass=MASS)
    write('light.hdf5', clumped(), 0.0, 0.0, mass=1e-300)
    along = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    write('leaving.hdf5', along, 0.0, 0.0, mass=MASS, v=500 * along[[0, 1, 1]] * [[1], [1], [-1]])


def halos(folder):
    """The largest halo is that of the rows of zeros, the second that of the friends."""
    with h5py.File(f'{folder}/fof_subhalo_tab_000.hdf5') as file:
        scale = file['Header'].attrs['BoxSize'] / BOX
        length, centre = file['Group/GroupLen'][:2], file['Group/GroupPeakPos'][:2] / scale
    assert length[0] >= ZEROS and length[1] >= 20, length
    for expected, found in zip((np.zeros(3), PLACE), centre):
        distance = found - expected
        distance -= BOX * np.round(distance / BOX)
        # positions are multiples of 2^-32 of the box
        assert np.all(abs(distance) < 2**-31 * BOX), (expected, found)


def energies(folder):
    """The first potential energy is the sum over all pairs of Plummer spheres."""
    x = clumped()
    r2 = sum((x[:, None, c] - x[None, :, c]) ** 2 for c in range(3))
    pairs = 1 / np.sqrt(r2[np.triu_indices(ALL, 1)] + EPS**2)
    expected = -GRAVITY * MASS**2 * pairs.sum()
    with open(f'{folder}/log/energy.csv') as file:
        found = float(next(csv.DictReader(file))['potential'])
    # the tolerance of expansions; pairs at one place are most of it
    assert abs(found / expected - 1) < 1e-4, (found, expected)


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        make()
    for name in sys.argv[2:]:
        {'halos': halos, 'energies': energies}[sys.argv[1]](name)
