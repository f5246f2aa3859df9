# SPDX-License-Identifier: GPL-3.0-or-later
"""Growth by steps of the mesh alone against linear theory and a run with pairs; files with equal
particles.

usage: mesh_alone_grows_waves.py PLUS MINUS PAIRS FINE LATTICE EQUAL..."""

import sys

import h5py
import numpy as np
import photons
from photons import statistics_plots


def particles(folder, number):
    with h5py.File(f'{folder}/snapshot_{number:03d}.hdf5') as file:
        part = file['PartType1']
        order = np.argsort(part['ParticleIDs'][...])
        return [part[name][...][order] for name in ('Coordinates', 'Velocities')], file['Header'].attrs['BoxSize']


def modes(folder, number):
    """The three longest waves of the displacement along x."""
    (position, _), box = particles(folder, number)
    side = round(len(position) ** (1 / 3))
    grid = np.indices((side, side, side)).reshape(3, -1).T * box / side
    shift = position - grid
    shift -= box * np.round(shift / box)
    field = np.fft.rfftn(shift[:, 0].reshape(side, side, side))
    return np.array([field[1, 0, 0], field[1, 1, 0], field[1, 0, 1]])


def growth(omega_m=0.3144, a0=1 / 20):
    """D(1)/D(a0) of matter and a cosmological constant (Heath 1977)."""
    def integral(a):
        x = np.linspace(0, a, 200001)[1:]
        return np.sum((omega_m / x + (1 - omega_m) * x**2) ** -1.5) * x[0]
    hubble = np.sqrt(omega_m / a0**3 + 1 - omega_m)
    return integral(1) / (hubble * integral(a0))


plus, minus, pairs, fine, lattice, *equal = sys.argv[1:]
early = np.array([modes(plus, 0), modes(minus, 0)])
late = np.array([modes(plus, 1), modes(minus, 1)])
found = np.vdot(early, late).real / np.vdot(early, early).real
print(f'growth {found:.4f}, linear theory {growth():.4f}')
# The mean of a pair has no second order; the third is about k^2 sigma_psi^2, 2e-3.
assert abs(found / growth() - 1) < 3e-3
k, power = np.loadtxt(f'{plus}/powerspec_001.txt', usecols=(0, 1), unpack=True)
k_pairs, with_pairs = np.loadtxt(f'{pairs}/powerspec_001.txt', usecols=(0, 1), unpack=True)
low = k < 0.05  # h/Mpc: a quarter of the particles' Nyquist frequency. Beyond, pairs feel the lattice
off = power[low] / np.interp(k[low], k_pairs, with_pairs) - 1
print('P(k) over that with pairs, less 1:', off)
assert np.abs(off).max() < 0.03
long = k < 0.07  # h/Mpc: a third of the particles' Nyquist frequency
few, many = (np.loadtxt(f'{folder}/powerspec_001.txt', usecols=1)[long] for folder in (plus, fine))
print('P(k) of five steps over that of sixty, less 1:', few / many - 1)
assert np.abs(few / many - 1).max() < 1e-3  # 5e-3 with kicks of linear growth alone
# With gravity.pm_cut = 0.7 from the start on the mesh has the waves of the lattice, which at this spacing pulls.
pulled = np.loadtxt(f'{lattice}/powerspec_001.txt', usecols=1) / power
print('P(k) with the waves of the lattice over that without:', pulled[:6])
assert (pulled[:2] > 1.01).all() and pulled[5] > 1.1

# Statistics of the same particles: what two of them say of the same waves.
table = np.loadtxt(f'{equal[0]}/halopower_001.txt')
k_halos, matter, modes_of = table[:, 0], table[:, 3], table[:, 4]
same = np.abs(k_halos[:8, None] / k - 1).min(axis=1) < 1e-6  # bins that powerspec has, too
assert same.sum() > 5
assert np.allclose(matter[:8][same], np.interp(k_halos[:8][same], k, power), rtol=1e-4)  # floats
table = np.loadtxt(f'{equal[0]}/correlation_001.txt')
print('xi over linear theory:', table[:6, 1] / table[:6, 3])
assert np.abs(table[:6, 1] / table[:6, 3] - 1).max() < 0.15  # of a few hundred waves
multipoles = np.loadtxt(f'{equal[0]}/multipoles_001.txt')
boost = np.sum(modes_of[:5] * multipoles[:5, 1]) / np.sum(modes_of[:5] * matter[:5])
linear = np.interp(np.log(k_halos[:5]), np.log(k), np.loadtxt(f'{plus}/powerspec_001.txt', usecols=4))
kaiser = np.sum(modes_of[:5] * multipoles[:5, 5]) / np.sum(modes_of[:5] * linear)
print(f'P0 in redshift space over P {boost:.3f}, linear theory {kaiser:.3f}')
assert abs(boost / kaiser - 1) < 0.03  # of second order
run = photons.Run(equal[0])
figures = {name: draw(run) for name, draw in statistics_plots.FIGURES.items()}
assert all(figure is not None for figure in figures.values()), figures
for folder in equal:
    for a, b in zip(particles(plus, 1)[0], particles(folder, 1)[0]):
        assert np.array_equal(a, b), folder
