# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane wave in an Einstein-de Sitter universe, which Zel'dovich's approximation solves until
shells cross at a = 1.

usage: pancake_follows_zeldovich.py make FILE SIDE AXIS      write the wave at a = 0.1
       pancake_follows_zeldovich.py error FOLDER             for each snapshot: the rms error of the
           displacements over their rms, and the largest displacement across the wave
       pancake_follows_zeldovich.py order A B C REFERENCE    by how much the distance from the
           reference falls from A to B and from B to C
"""

import glob
import sys

import h5py
import numpy as np

BOX = 64000.0  # kpc/h
K = 2 * np.pi / BOX


def grid(side):
    return (np.indices((side, side, side)).reshape(3, -1).T + 0.5) * BOX / side


def make(path, side, axis):
    a, count = 0.1, side**3
    x, v = grid(side), np.zeros((count, 3), 'f4')
    wave = np.sin(K * x[:, axis]) / K
    v[:, axis] = -100 * 1e-3 * wave  # sqrt(a) dx/dt with dx/dt = -a H wave, H = 100 a^-3/2, in km/s
    x[:, axis] -= a * wave
    with h5py.File(path, 'w') as file:
        header = file.create_group('Header').attrs
        header['NumPart_ThisFile'] = header['NumPart_Total'] = np.array(
            [0, count, 0, 0, 0, 0], 'u4'
        )
        header['NumPart_Total_HighWord'] = np.zeros(6, 'u4')
        header['MassTable'] = np.array([0, 27.7536627 * (1e-3 * BOX) ** 3 / count, 0, 0, 0, 0])
        header['Time'], header['Redshift'], header['BoxSize'], header['NumFilesPerSnapshot'] = (
            a,
            1 / a - 1,
            BOX,
            1,
        )
        header['Omega0'], header['OmegaLambda'], header['HubbleParam'] = 1.0, 0.0, 0.7
        part = file.create_group('PartType1')
        part['Coordinates'], part['Velocities'], part['ParticleIDs'] = (
            x % BOX,
            v,
            np.arange(1, count + 1, dtype='u8'),
        )


def read(path):
    with h5py.File(path) as file:
        order = np.argsort(file['PartType1/ParticleIDs'][...])
        return file['Header'].attrs['Time'], file['PartType1/Coordinates'][...][order]


def rms(x):
    return np.sqrt(np.mean(x**2))


def nearest(x):
    return x - BOX * np.round(x / BOX)


def error(folder):
    for path in sorted(glob.glob(folder + '/snapshot_*.hdf5')):
        a, x = read(path)
        start = grid(round(len(x) ** (1 / 3)))
        moved = nearest(x - start)
        axis = np.argmax([rms(column) for column in moved.T])
        exact = -a * np.sin(K * start[:, axis]) / K
        across = np.delete(moved, axis, axis=1)
        along = rms(moved[:, axis] - exact) / rms(exact)
        print(f'{a:.3f} {along:.2e} {np.abs(across).max() / rms(exact):.1e}')


def order(*paths):
    x = [read(path)[1] for path in paths]
    distance = [rms(nearest(y - x[-1])) for y in x[:-1]]
    print(*(f'{before / after:.3f}' for before, after in zip(distance, distance[1:])))


if sys.argv[1] == 'make':
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    {'error': error, 'order': order}[sys.argv[1]](*sys.argv[2:])
