# SPDX-License-Identifier: GPL-3.0-or-later
"""Write Gadget files with one fault each; good.hdf5 and good.gadget2 have none.

usage: faulty_gadget_files.py FOLDER
"""
import struct
import sys

import h5py
import numpy as np

BOX, SIDE = 50000.0, 16  # kpc/h
COUNT = SIDE**3
MASS = 27.7536627 * 0.3 * 50.0**3 / COUNT  # critical density times Omega_m, in 1e10 Msun/h


def particles():
    grid = (np.indices((SIDE, SIDE, SIDE)).reshape(3, -1).T + 0.5) * BOX / SIDE
    return grid + 300.0 * np.sin(grid[:, ::-1] * 2 * np.pi / BOX), np.zeros((COUNT, 3), 'f4')


def hdf5(path, change=lambda file: None):
    x, v = particles()
    with h5py.File(path, 'w') as file:
        header = file.create_group('Header').attrs
        counts = np.array([0, COUNT, 0, 0, 0, 0], 'u4')
        header['NumPart_ThisFile'] = header['NumPart_Total'] = counts
        header['NumPart_Total_HighWord'] = np.zeros(6, 'u4')
        header['MassTable'] = np.array([0, MASS, 0, 0, 0, 0])
        header['Time'], header['Redshift'], header['BoxSize'], header['NumFilesPerSnapshot'] = 0.1, 9.0, BOX, 1
        header['Omega0'], header['OmegaLambda'], header['HubbleParam'] = 0.3, 0.7, 0.7
        part = file.create_group('PartType1')
        part['Coordinates'], part['Velocities'] = x, v
        part['ParticleIDs'] = np.arange(1, COUNT + 1, dtype='u8')
        change(file)


def binary(path, x=None, counts=(0, COUNT, 0, 0, 0, 0), total=None, records=(256, 12 * COUNT, 12 * COUNT, 4 * COUNT)):
    grid, v = particles()
    header = struct.pack('<6i6d2d2i6i2i4d', *counts, 0.0, MASS, 0.0, 0.0, 0.0, 0.0, 0.1, 9.0, 0, 0, *(total or counts), 0, 1, BOX, 0.3, 0.7, 0.7)
    blocks = [header.ljust(256, b'\0'), (grid if x is None else x).astype('<f4').tobytes(), v.astype('<f4').tobytes(),
              np.arange(1, COUNT + 1, dtype='<u4').tobytes()]
    with open(path, 'wb') as file:
        for block, length in zip(blocks, records):
            file.write(struct.pack('<I', length) + block + struct.pack('<I', length))


def set_value(name, index, value):
    def change(file):
        file['PartType1'][name][index] = value
    return change


def set_header(name, value):
    def change(file):
        file['Header'].attrs[name] = value
    return change


def remove(name):
    def change(file):
        del file[name]
    return change


def shorten(name):
    def change(file):
        data = file['PartType1'][name][:-1]
        del file['PartType1'][name]
        file['PartType1'][name] = data
    return change


def cut(source, target, length):
    with open(source, 'rb') as file:
        data = file.read()
    with open(target, 'wb') as file:
        file.write(data[:length] if length > 0 else data[:len(data) + length])


def main(folder):
    hdf5(folder + 'good.hdf5')
    hdf5(folder + 'nan_position.hdf5', set_value('Coordinates', (7, 1), np.nan))
    hdf5(folder + 'infinite_position.hdf5', set_value('Coordinates', (COUNT - 1, 2), np.inf))
    hdf5(folder + 'nan_velocity.hdf5', set_value('Velocities', (9, 0), np.nan))
    hdf5(folder + 'outside.hdf5', set_value('Coordinates', (11, 0), 1.5 * BOX))
    hdf5(folder + 'negative.hdf5', set_value('Coordinates', (12, 0), -0.2 * BOX))
    hdf5(folder + 'no_header.hdf5', remove('Header'))
    hdf5(folder + 'no_positions.hdf5', remove('PartType1/Coordinates'))
    hdf5(folder + 'no_velocities.hdf5', remove('PartType1/Velocities'))
    hdf5(folder + 'few_positions.hdf5', shorten('Coordinates'))
    hdf5(folder + 'few_ids.hdf5', shorten('ParticleIDs'))
    hdf5(folder + 'counts.hdf5', set_header('NumPart_ThisFile', np.array([0, COUNT + 1, 0, 0, 0, 0], 'u4')))
    hdf5(folder + 'total.hdf5', set_header('NumPart_Total', np.array([0, COUNT + 1, 0, 0, 0, 0], 'u4')))
    hdf5(folder + 'no_particles.hdf5', set_header('NumPart_ThisFile', np.zeros(6, 'u4')))
    hdf5(folder + 'no_mass.hdf5', set_header('MassTable', np.zeros(6)))
    hdf5(folder + 'bad_box.hdf5', set_header('BoxSize', -1.0))
    hdf5(folder + 'bad_time.hdf5', set_header('Time', 0.2))
    hdf5(folder + 'more_files.hdf5', set_header('NumFilesPerSnapshot', 4))
    for name, values in {'HubbleParam': [50.0, np.nan], 'OmegaLambda': [-5.0, np.nan], 'Omega0': [-1.0, np.nan, np.inf],
                         'Redshift': [1e9, np.nan]}.items():
        for value in values:
            hdf5(f'{folder}header_{name}_{value}.hdf5', set_header(name, value))
    # A file has v/sqrt(a), and a = 0.1: v = 316000 km/s is above the speed of light.
    hdf5(folder + 'fast.hdf5', set_value('Velocities', (9, 0), 1e6))
    hdf5(folder + 'infinite_velocity.hdf5', set_value('Velocities', (9, 0), np.inf))
    cut(folder + 'good.hdf5', folder + 'truncated.hdf5', -20000)
    cut(folder + 'good.hdf5', folder + 'stump.hdf5', 600)
    binary(folder + 'good.gadget2')
    binary(folder + 'record.gadget2', records=(256, 12 * COUNT, 12 * COUNT - 12, 4 * COUNT))
    binary(folder + 'counts.gadget2', counts=(0, COUNT + 1, 0, 0, 0, 0))
    binary(folder + 'minus.gadget2', counts=(0, -5, 0, 0, 0, 0))
    outside = particles()[0]
    outside[3, 2] = 3 * BOX
    binary(folder + 'outside.gadget2', x=outside)
    outside[3, 2] = np.nan
    binary(folder + 'nan.gadget2', x=outside)
    cut(folder + 'good.gadget2', folder + 'truncated.gadget2', -1000)
    cut(folder + 'good.gadget2', folder + 'positions_only.gadget2', 264 + 12 * COUNT + 8)
    cut(folder + 'good.gadget2', folder + 'header_only.gadget2', 264)
    cut(folder + 'good.gadget2', folder + 'half_header.gadget2', 100)
    open(folder + 'empty', 'wb').close()
    with open(folder + 'text', 'w', encoding='ascii') as text:
        text.write('these are not the particles\n' * 1000)
    with open(folder + 'noise', 'wb') as noise:
        noise.write(np.random.default_rng(1).bytes(100000))


if __name__ == '__main__':
    main(sys.argv[1] + '/')
