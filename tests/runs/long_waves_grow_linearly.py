# SPDX-License-Identifier: GPL-3.0-or-later
"""Growth of the longest waves against linear theory.

usage: long_waves_grow_linearly.py FIRST LAST FIRST_OF_PARTNER LAST_OF_PARTNER"""

import sys

import h5py
import numpy as np

TOLERANCE = 0.01


def linear_growth(a, omega_m):
    """D(a) up to a factor for matter and a cosmological constant (Heath 1977): H int da/(aH)^3."""

    def hubble(x):
        return np.sqrt(omega_m / x**3 + 1 - omega_m)

    nodes, weights = np.polynomial.legendre.leggauss(200)
    x = 0.5 * a * (nodes + 1)
    return hubble(a) * np.sum(0.5 * a * weights / (x * hubble(x)) ** 3)


def modes(path):
    """Fourier modes of the displacement from the grid along their wave vectors, their |n|^2, scale
    factor, Omega_m; net momentum over the sum of |p|."""
    with h5py.File(path) as file:
        head, part = file['Header'].attrs, file['PartType1']
        box, a, omega_m = head['BoxSize'], head['Time'], head['Omega0']
        order = np.argsort(part['ParticleIDs'][...])
        position, velocity = part['Coordinates'][...][order], part['Velocities'][...].astype(float)
    side = round(len(order) ** (1 / 3))
    grid = np.indices((side, side, side)).reshape(3, -1).T * box / side
    shift = position - grid
    shift -= box * np.round(shift / box)
    field = np.fft.rfftn(shift.T.reshape(3, side, side, side), axes=(1, 2, 3))
    whole, half = np.fft.fftfreq(side, 1 / side), np.arange(side // 2 + 1)
    n = np.stack(np.meshgrid(whole, whole, half, indexing='ij'))
    n2 = (n**2).sum(axis=0)
    return (
        (n * field).sum(axis=0) / np.sqrt(np.maximum(n2, 1)),
        n2,
        a,
        omega_m,
        np.abs(velocity.sum(axis=0)) / np.abs(velocity).sum(axis=0),
    )


pairs = [(modes(sys.argv[i]), modes(sys.argv[i + 1])) for i in (1, 3)]
(_, n2, a0, omega_m, _), (_, _, a1, _, _) = pairs[0]
expected = linear_growth(a1, omega_m) / linear_growth(a0, omega_m)
failures = []
# Growth in the cross-correlation with the initial field. The second order adds to it one mode's
# coupling with others, of some per cent in one realisation; it changes sign between the partners
# of a pair of opposite phases, so that their mean is free of it. What is left below k = 0.022
# h/Mpc is of third order, about k^2 sigma_psi^2, and a grid's departure from a continuum, about
# 0.07 (k spacing)^2: 2e-3 each.
for low, high in ((1, 1), (2, 3)):
    shell = (n2 >= low) & (n2 <= high)
    ratio = np.mean(
        [
            (
                np.sum(last[0][shell] * first[0][shell].conj()).real
                / np.sum(np.abs(first[0][shell]) ** 2)
                / expected
            )
            ** 2
            for first, last in pairs
        ]
    )
    print(f'|n|^2 = {low} .. {high}: growth^2 over linear theory {ratio:.5f}')
    if not abs(ratio - 1) <= TOLERANCE:
        failures.append(f'growth of |n|^2 = {low} .. {high}')
# Forces in pairs cancel but for rounding: some 1e-8 a step at random, against the momenta of the
# end.
for _, last in pairs:
    print('net momentum over sum of |p|', last[4])
    if not (last[4] <= 1e-6).all():
        failures.append('momentum')
sys.exit('FAILED: ' + ', '.join(failures) if failures else 0)
