# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as other programs write them, and what the program must have read from them.

usage: files_of_other_programs_are_read.py make FOLDER
       files_of_other_programs_are_read.py check RUN WHAT
"""
import os
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from faulty_gadget_files import BOX, COUNT, MASS, binary, hdf5, particles  # noqa: E402

BLOCKS = ('Coordinates', 'Velocities', 'ParticleIDs')
H, A = 0.7, 0.1
MPC, SUN10, KM = 3.08567758e24, 1.98841e43, 1e5


def velocities():
    """Peculiar velocities in km/s that differ from particle to particle."""
    return np.sin(np.arange(3 * COUNT, dtype='f8')).reshape(COUNT, 3) * 100


def replace(name, make):
    """Another dataset in the place of a block. @param make: of the group, name and old values"""
    def change(file):
        part = file['PartType1']
        values = part[name][:]
        del part[name]
        make(part, name, values)
    return change


def unwritten(part, name, values):
    part.create_dataset(name, values.shape, values.dtype)


def one_chunk(part, name, values):
    data = part.create_dataset(name, values.shape, 'f4', chunks=(512, 3), compression='gzip', fillvalue=2)
    data[:512] = 3


def huge(file):
    """As many particles as no machine has memory for, in a small file."""
    count = 1 << 40
    for name in BLOCKS:
        replace(name, lambda part, name, values: part.create_dataset(name, (count, *values.shape[1:]),
                                                                     values.dtype))(file)
    for key in 'NumPart_ThisFile', 'NumPart_Total':
        file['Header'].attrs[key] = np.array([0, count, 0, 0, 0, 0], 'u8')


def ids(kind, first):
    def make(part, name, values):
        part[name] = (np.arange(COUNT) + first).astype(kind)
    return replace('ParticleIDs', make)


def virtual(*sources):
    """All blocks show those of other files, one after the other."""
    def make(part, name, values):
        layout = h5py.VirtualLayout(values.shape, values.dtype)
        edges = np.linspace(0, COUNT, len(sources) + 1).astype(int)
        for source, low, high in zip(sources, edges, edges[1:]):
            shape = (high - low, *values.shape[1:])
            layout[low:high] = h5py.VirtualSource(source, f'PartType1/{name}', shape)
        part.create_virtual_dataset(name, layout)

    def change(file):
        for name in BLOCKS:
            replace(name, make)(file)
    return change


def link(target):
    def change(file):
        del file['PartType1']
        file['PartType1'] = h5py.ExternalLink(target, '/PartType1')
    return change


def lzf(part, name, values):
    part.create_dataset(name, data=values, compression='lzf')


def raw(part, name, values):
    part.create_dataset(name, values.shape, values.dtype, external=[('good.hdf5', 0, values.nbytes)])


def header(**values):
    def change(file):
        for name, value in values.items():
            file['Header'].attrs[name] = value
    return change


def part_of_set(folder, number, kind, table):
    """File `number` of two; each has particles of one type only."""
    def change(file):
        counts, total = np.zeros(6, 'u4'), np.zeros(6, 'u4')
        counts[kind], total[1:3] = COUNT // 2, COUNT // 2
        file['Header'].attrs['MassTable'] = np.array(table)
        for key, value in ('NumPart_ThisFile', counts), ('NumPart_Total', total), ('NumFilesPerSnapshot', 2):
            file['Header'].attrs[key] = value
        half = slice(0, COUNT // 2) if number == 0 else slice(COUNT // 2, COUNT)
        data = {name: file['PartType1'][name][half] for name in BLOCKS}
        del file['PartType1']
        for name, values in data.items():
            file[f'PartType{kind}/{name}'] = values
    hdf5(f'{folder}set.{number}.hdf5', change)


def numbers(group, **values):
    for name, value in values.items():
        group.attrs[name] = np.atleast_1d(value)


def swift(path, rows=slice(0, COUNT), files=1, gas=0.0, cube=True):
    """A snapshot as SWIFT writes it. @param gas: its share of all mass"""
    x, v = particles()[0][rows] / BOX * 50.0 / H, velocities()[rows]
    counts = {kind: len(x) for kind in ([0, 1] if gas else [1])}
    with h5py.File(path, 'w') as file:
        head = file.create_group('Header')
        head.attrs['Code'] = np.bytes_('SWIFT')
        head.attrs['BoxSize'] = np.array([50.0, 50.0, 50.0 if cube else 60.0]) / H
        head.attrs['NumPart_ThisFile'] = np.array([counts.get(t, 0) for t in range(7)], 'i8')
        head.attrs['NumPart_Total'] = np.array([COUNT * (t in counts) for t in range(7)], 'u4')
        head.attrs['NumPart_Total_HighWord'] = np.zeros(7, 'u4')
        head.attrs['MassTable'] = np.zeros(7)
        numbers(head, Dimension=3, NumFilesPerSnapshot=files, Redshift=1 / A - 1, Time=0.00056)
        numbers(head, **{'Scale-factor': A})
        units = {'length': ('L', MPC), 'mass': ('M', SUN10), 'time': ('t', MPC / KM)}
        numbers(file.create_group('Units'),
                **{f'Unit {name} in cgs (U_{u})': value for name, (u, value) in units.items()})
        cosmology = file.create_group('Cosmology')
        numbers(cosmology, Omega_m=0.3, Omega_lambda=0.7, Omega_r=0.0, h=H, w_0=-1.0, w_a=0.0,
                Redshift=1 / A - 1)
        numbers(cosmology, **{'Scale-factor': A, 'Cosmological run': 1})
        for kind, share in ((0, gas), (1, 1.0 - gas)):
            if kind not in counts:
                continue
            part = file.create_group(f'PartType{kind}')
            part['Coordinates'], part['Velocities'] = x, v.astype('f4')
            part['Masses'] = np.full(len(x), share * MASS / H, 'f4')
            part['ParticleIDs'] = np.arange(1, COUNT + 1)[rows] + (COUNT if kind == 0 else 0)
            numbers(part['Velocities'], **{'a-scale exponent': 0.0})


def swift_view(path, sources):
    """SWIFT's file that shows those of its ranks."""
    swift(path)
    with h5py.File(path, 'r+') as file:
        virtual(*sources)(file)
        layout = h5py.VirtualLayout((COUNT,), 'f4')
        for i, source in enumerate(sources):
            half = COUNT // 2
            layout[i * half:(i + 1) * half] = h5py.VirtualSource(source, 'PartType1/Masses', (half,))
        del file['PartType1/Masses']
        file['PartType1'].create_virtual_dataset('Masses', layout)


def make(folder):
    os.makedirs(folder + 'below')
    hdf5(folder + 'good.hdf5')
    hdf5(folder + 'unwritten.hdf5', replace('Velocities', unwritten))
    hdf5(folder + 'one_chunk.hdf5', replace('Velocities', one_chunk))
    hdf5(folder + 'huge.hdf5', huge)
    for kind in 'i4', 'i8', '>i2':
        hdf5(f'{folder}ids_{kind.strip(">")}.hdf5', ids(kind, -10))
    hdf5(folder + 'twice.hdf5', ids('i4', 0))
    with h5py.File(folder + 'twice.hdf5', 'r+') as file:
        file['PartType1/ParticleIDs'][:2] = -1
    for name, source in (('virtual', 'good.hdf5'), ('absolute', os.path.abspath(folder) + '/good.hdf5'),
                         ('above', '../ics/good.hdf5'), ('gone', 'missing.hdf5'), ('nested', 'virtual.hdf5'),
                         ('virtual_link', 'link_away.hdf5')):
        hdf5(f'{folder}{name}.hdf5', virtual(source))
    # The working folder of the test has a file of this name, this folder has not.
    hdf5(folder + '../elsewhere.hdf5')
    hdf5(folder + 'of_working_folder.hdf5', virtual('elsewhere.hdf5'))
    hdf5(folder + 'below/good.hdf5')
    hdf5(folder + 'link.hdf5', link('good.hdf5'))
    hdf5(folder + 'link_below.hdf5', link('below/good.hdf5'))
    hdf5(folder + 'link_away.hdf5', link(os.path.abspath(folder) + '/good.hdf5'))
    hdf5(folder + 'link_above.hdf5', link('below/../../ics/good.hdf5'))
    hdf5(folder + 'circle.hdf5', link('circle.hdf5'))
    hdf5(folder + 'lzf.hdf5', replace('Velocities', lzf))
    hdf5(folder + 'raw.hdf5', replace('ParticleIDs', raw))
    hdf5(folder + 'no_total.hdf5', header(NumPart_Total=np.zeros(6, 'u4')))
    binary(folder + 'no_total.gadget2', total=(0, 0, 0, 0, 0, 0))
    hdf5(folder + 'three_sides.hdf5', header(BoxSize=np.full(3, BOX)))
    hdf5(folder + 'other_sides.hdf5', header(BoxSize=np.array([BOX, BOX, 2 * BOX])))
    hdf5(folder + 'still.hdf5', replace('Velocities', lambda part, name, values: None))
    part_of_set(folder, 0, 1, [0, MASS, 0, 0, 0, 0])
    part_of_set(folder, 1, 2, [0, 0, MASS, 0, 0, 0])
    swift(folder + 'swift.hdf5')
    halves = slice(0, COUNT // 2), slice(COUNT // 2, COUNT)
    for i, half in enumerate(halves):
        swift(f'{folder}ranks.{i}.hdf5', half, 2)
    swift_view(folder + 'ranks.hdf5', ['ranks.0.hdf5', 'ranks.1.hdf5'])
    swift(folder + 'for_swift.hdf5')  # as monofonIC writes it
    with h5py.File(folder + 'for_swift.hdf5', 'r+') as file:
        del file['Cosmology']
        for name in ('Code', 'Scale-factor'):
            del file['Header'].attrs[name]
        del file['PartType1/Velocities'].attrs['a-scale exponent']
        numbers(file['Header'], Time=A)
    swift(folder + 'music_swift.hdf5')  # as MUSIC writes it: time, redshift and matter are in the header
    with h5py.File(folder + 'music_swift.hdf5', 'r+') as file:
        del file['Cosmology'], file['Header'].attrs['Scale-factor']
        numbers(file.create_group('Cosmology'), Omega_b=0.05, Omega_cdm=0.25, Omega_lambda=0.7, h=H)
        numbers(file['Header'], Time=A, Redshift=1 / A - 1, Omega0=0.3, OmegaLambda=0.7, HubbleParam=H)
    swift(folder + 'swift_gas.hdf5', gas=0.16)
    swift(folder + 'swift_sides.hdf5', cube=False)


def check(run, what):
    with h5py.File(f'{run}/snapshot_000.hdf5') as file:
        parts = [file[name] for name in sorted(file) if name.startswith('PartType')]
        x, v, number = (np.concatenate([part[name][:] for part in parts]) for name in BLOCKS)
    order = np.argsort(number)
    x, v, number = x[order], v[order], number[order]
    place = number.astype('i8')
    expected = particles()[0][place - 1] if number.max() <= COUNT else None
    if expected is not None:
        # Binary files have floats.
        assert np.abs(x - expected).max() < 1e-7 * BOX, 'positions'
    if what == 'still':
        assert np.all(v == 0.0), 'velocities are not 0'
    elif what == 'one_chunk':
        assert np.allclose(v[:512], 3.0, rtol=1e-6) and np.allclose(v[512:], 2.0, rtol=1e-6), 'velocities'
    elif what == 'swift':
        assert np.allclose(v, velocities() / np.sqrt(A), rtol=1e-5, atol=1e-5), 'velocities'
    elif what.startswith('ids'):
        bits = int(what[3:])
        assert sorted(map(int, number)) == sorted((i - 10) % 2**bits for i in range(COUNT)), number


if sys.argv[1] == 'make':
    make(sys.argv[2] + '/')
else:
    check(*sys.argv[2:])
